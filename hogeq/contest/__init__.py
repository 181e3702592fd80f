"""What contests are made of: tournaments, fields, play."""
