"""Maps of others that a town can be read from."""
