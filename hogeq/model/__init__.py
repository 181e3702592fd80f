"""A game as arrays: the compiler from rules, and the passes over them."""
