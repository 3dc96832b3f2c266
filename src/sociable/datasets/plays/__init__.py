"""Plays and screenplays read from the layouts people have them in; no model is needed."""

from sociable.datasets.plays.reading import read_play
from sociable.datasets.plays.records import CastMember, Direction, Entry, InlineDirection, Play, PlayScene, Speech
from sociable.datasets.plays.stage import (
    FEWEST_SPEAKERS,
    FEWEST_SPEECHES,
    SPEECHES_TO_BE_ACTIVE,
    PlayScenario,
    french_scenes,
    scenarios_of,
)

__all__ = [
    "FEWEST_SPEAKERS",
    "FEWEST_SPEECHES",
    "SPEECHES_TO_BE_ACTIVE",
    "CastMember",
    "Direction",
    "Entry",
    "InlineDirection",
    "Play",
    "PlayScenario",
    "PlayScene",
    "Speech",
    "french_scenes",
    "read_play",
    "scenarios_of",
]
