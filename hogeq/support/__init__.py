"""Helpers that every room may use and that know nothing of games: messages, files, workers."""
