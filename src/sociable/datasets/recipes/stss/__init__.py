"""STSS: conversations frozen from runs of the town."""
