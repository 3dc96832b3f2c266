"""AntEval: intention expression."""
