"""What every room may use and that knows nothing of games: messages, files, workers."""
