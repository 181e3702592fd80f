"""Game trees: their export to other programs, and the audit of recall."""
