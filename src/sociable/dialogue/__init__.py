"""Conversations: who speaks next, and who may see what."""
