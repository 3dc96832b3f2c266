"""The records of a hidden profile: its options, turns, an episode."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from sociable.benchmarks.anteval.hidden.dataset import ALL, Level
from sociable.core.records import Episode, Judgment, Record, Turn

UNSUPPORTED = "unsupported"
REPEATS = "repeats"
TOLD = "told"
"""What a judge is asked of a turn."""


class HiddenJudgment(Judgment):
    """A judgment; of which clues a turn tells, WIN for any."""

    clues: tuple[str, ...] = ()
    """The clues that the turn tells."""


class HiddenOptions(Record):
    """The switches of this benchmark."""

    levels: Annotated[tuple[Level, ...], Field(min_length=1)] = Field(default=ALL, description="the levels that are played")
    draws: int = Field(default=1, ge=1, description="how often the right option of each case is drawn at each level")
    rounds: int = Field(default=0, ge=0, description="rounds, at every level; 0: as the level has it")
    words: int = Field(default=0, ge=0, description="words of a turn, at every level; 0: as the level has it")
    vote: bool = Field(default=False, description="what each chose before the talk is read aloud to all")
    asides: bool = Field(default=False, description="a turn may be for one hearer alone")


class HiddenTurn(Turn):
    """A turn. ``content`` is what was said; empty: the member passed. ``addressees``: the one whom an aside is for."""

    round: int
    heard_by: tuple[str, ...]
    lean: str = ""
    """The option that the speaker is for at this moment, which nobody hears; empty: it has not said so."""
    clues: tuple[str, ...] = ()
    """The clues that it tells: a reference agent's by itself, else as the rule reads them. Judges are heard before it."""
    asks: bool = False
    """Whether a reference agent asks what the others have not said."""


class HiddenEpisode(Episode):
    """One case at one level as it was played."""

    turns: tuple[HiddenTurn, ...] = ()
    before: dict[str, str] = {}
    """The option by member that it would choose before the talk; empty: none that could be read."""
    after: dict[str, str] = {}
    """The option by member that it chooses after the talk."""
    informed: str = ""
    """The option that the model under test chooses when it is shown all clues at once."""
    partner_failure: str = ""
    """The reason why the partner's part cannot be trusted: then nothing is scored."""
