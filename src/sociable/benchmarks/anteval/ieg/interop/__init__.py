"""Game logs of others that intention expression can read."""
