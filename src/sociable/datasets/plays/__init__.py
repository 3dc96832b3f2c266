"""Plays and screenplays read from the layouts people have them in; no model is needed. ``read_play`` is the only way in."""

from sociable.datasets.plays.headings import to_roman
from sociable.datasets.plays.reading import read_play
from sociable.datasets.plays.records import CastMember, Direction, Entry, InlineDirection, Play, PlayScene, Speech

__all__ = ["CastMember", "Direction", "Entry", "InlineDirection", "Play", "PlayScene", "Speech", "read_play", "to_roman"]
