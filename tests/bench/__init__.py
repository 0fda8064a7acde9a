"""Benchmarks of `make bench`: each figure is a ratio to a limit or a peer in the same run."""
