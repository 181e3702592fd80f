"""The board: one HTML page to play Hog on, with exact probabilities and nothing hidden."""
