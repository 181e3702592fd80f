"""A game as arrays: compiled from rules, and passed over by kernels."""
