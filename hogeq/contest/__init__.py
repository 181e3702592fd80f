"""Contests: submissions that are read, judged, ranked and graded."""
