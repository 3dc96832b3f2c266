"""HSII live: several people who want different things, and an assistant who is to find what serves them best."""
