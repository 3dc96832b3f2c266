"""STSS at the level of language."""
