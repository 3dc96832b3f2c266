"""Information exchange: what one participant alone knows, and who comes to learn it."""
