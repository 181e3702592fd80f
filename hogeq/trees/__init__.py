"""Game trees of any finite two-player zero-sum game: laid out, solved, audited, exported."""
