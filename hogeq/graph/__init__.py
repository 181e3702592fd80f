"""A game as arrays, below all algorithms; `docs/graph.md` describes every array."""
