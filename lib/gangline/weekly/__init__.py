"""What a week's first page says: key figures, GPU-hours lost by cause, nodes to act on, what changed."""
