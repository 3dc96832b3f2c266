"""Virtual dungeon masters."""
