"""Game trees: what other programs and the audit of recall walk over."""
