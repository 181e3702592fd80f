"""Strategies as arrays and as files."""
