"""The language level's record of an episode, and its options."""

from __future__ import annotations

from pydantic import Field

from sociable.core.records import Episode, Record
from sociable.town.events import Line


class ConversationEpisode(Episode):
    """One scene, played. ``turns`` hold what was said, in order."""

    summary: str = ""
    """The listener's own words of what it takes away; empty where nobody said anything."""
    partner_failure: str = ""
    """The reason why the other's part cannot be trusted: then nothing is scored."""
    summary_failure: str = ""
    """The reason why there is no summary though there should be one: then nothing is scored on it."""
    played_by: dict[str, str] = {}
    """The model or reference agent, by the name of the person it plays."""

    def has_words_of(self, name: str) -> bool:
        """Whether somebody said anything."""
        return any(turn.content.strip() and turn.speaker == name for turn in self.turns)

    @property
    def lines(self) -> list[Line]:
        return [Line(speaker=turn.speaker, says=turn.content, note=turn.note) for turn in self.turns]


class ConversationOptions(Record):
    """Defaults are the paper's, or say why not in the README."""

    agent: str = Field(default="generative", description="the performer's architecture; only its words are asked for")
    background_agent: str = Field(default="generative", description="the architecture of the other, who listens and summarises")
    turns_each: int = Field(default=8, ge=1, description="how often each may speak")
    plain: bool = Field(
        default=False, description="ask the performer's model for its words only, if it is too weak for JSON (A.2)"
    )
    embeddings: str | None = Field(default=None, description="sentence-transformers model by which memories are alike")
    agent_prompts: str | None = Field(default=None, description="folder of prompts in place of the generative agent's")
    town: str | None = Field(default=None, description="another map, for scenes frozen elsewhere")
