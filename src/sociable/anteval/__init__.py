"""AntEval: information exchange and intention expression at the game table."""
