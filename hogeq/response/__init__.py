"""Best responses: searched, bounded, and proved on small games."""
