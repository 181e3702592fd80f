"""One page to explore runs: a single HTML file that opens without a network."""
