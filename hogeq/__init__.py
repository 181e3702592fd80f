"""Hog, the dice game: exact win rates, equilibria without memory, how exploitable they are."""

__version__ = "0.1.0"
