"""Contests: tournaments, fields of entries, games turn by turn."""
