"""A benchmark of decisions under imperfect recall: instances in one form of plain arrays."""
