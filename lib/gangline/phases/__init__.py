"""What gang sessions did, step by step: saves, loads, training, told from storage and GPU use (analyses 6)."""
