"""Intention expression: whether a game master who learned from these sessions understands real players."""
