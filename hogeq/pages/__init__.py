"""Pages that open in a browser: of runs, tournaments, submissions, and to play on."""
