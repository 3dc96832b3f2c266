"""AntEval: characters drawn by the rules."""
