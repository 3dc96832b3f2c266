"""What HSII keeps of an episode, and of the reference conversation it is judged against."""

from __future__ import annotations

from enum import StrEnum

from sociable.core.records import Episode, Record, Turn, Usage


class Stage(StrEnum):
    """The four stages of section 5.2.1."""

    FORMAT = "format"
    TARGET = "target"
    FIRST_UTTERANCE = "first utterance"
    LONG_RUN = "long run"


STAGES = tuple(Stage)

JUDGED = (Stage.FIRST_UTTERANCE, Stage.LONG_RUN)
"""The stages whose score is an opinion."""


class HSIIEpisode(Episode):
    """One case played by one model. ``turns`` begins with the first utterance; the rest is the long run."""

    reply: str = ""
    """The first reply as it came (the beginning of it, if it was enormous)."""
    thinking: str = ""
    format_failure: str = ""
    """Why no addressee and words were found in it; empty when they were."""
    strict_format: bool = False
    """Whether the reply was one line of JSON and nothing else."""
    role_to: str = ""
    """The addressee as the model wrote it."""
    target_given: bool = False
    """Whether the model was told whom to address (--forced-target) and had only to find the words."""
    target: str | None = None
    """The character that is; None when it names nobody or more than one."""
    target_correct: bool = False
    long_run_failure: str = ""
    """What the partner failed at: the long run is then Unscored."""


class ReferenceConversation(Record):
    """The golden side of the long run: it begins with the golden utterance. Made once, used for every model compared."""

    id: str
    """Of the case."""
    case_digest: str
    prompts_digest: str
    long_run_turns: int
    reference: str
    partner: str
    turns: tuple[Turn, ...] = ()
    failure: str = ""
    """Why there is none: the long run of this case is then Unscored."""
    usage: dict[str, Usage] = {}
