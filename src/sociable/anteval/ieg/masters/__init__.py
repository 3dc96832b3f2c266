"""Virtual dungeon masters: what reads a window and says who means to do what."""
