"""Best responses: searched for, bounded from above, and proved optimal on small games."""
