"""What is asked of strategies and of games that were played: losses, changes, ranks, luck."""
