"""AntEval: information exchange."""
