"""The benchmark's own options."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from sociable.core.records import Numbers, Record

Policy = Literal["random", "round-robin", "addressed-next", "bidding"]

RANDOM = "random"
"""In place of a character's name: drawn by the run's seed, scene by scene."""


def _sort_turns(turns: tuple[int, ...]) -> tuple[int, ...]:
    if any(turn < 1 for turn in turns):
        raise ValueError("turns are counted from 1")
    return tuple(sorted(set(turns)))


class AgentSenseOptions(Record):
    """Defaults are the paper's, or say why not in the README."""

    turns: int = Field(default=15, ge=1, le=1000, description="turns of a scene after the greeting (section 3.3)")
    greeting_counts: bool = Field(default=False, description="count the greeting among the turns, as the authors' runs do")
    policy: Policy = Field(default="random", description="who speaks next")
    first_lines: bool = Field(
        default=False,
        description="show others and judges only what stands before a turn's first line break, as the authors do",
    )
    blind: bool = Field(default=True, description="ask the quiz before the scene too, for the blind baseline")
    rounds: Annotated[Numbers, AfterValidator(_sort_turns)] = Field(
        default=(), description="turns after which judges look too, as in 3,6,9,12"
    )
    probe_rounds: bool = Field(default=False, description="ask participants about goals after those turns too")
    script: bool = Field(default=False, description="ask the model which script each scene comes from (section 4.3)")
    plays: Literal["all", "one", "others", "senders"] | None = Field(
        default=None,
        description="whom the model under test plays: all without a partner; with one, by default one character of each scene",
    )
    character: str = Field(default=RANDOM, description="which one character, by name, or random; scenes without it are left out")

    @model_validator(mode="after")
    def _rounds_within_the_scene(self) -> Self:
        if self.rounds and self.rounds[-1] > self.generated_turns:
            raise ValueError(f"rounds: {self.rounds[-1]} is beyond the {self.generated_turns} turns of a scene")
        if self.probe_rounds and not self.rounds:
            raise ValueError("probe_rounds asks participants after the turns in rounds; name some, as in rounds = [3, 6, 9, 12]")
        if self.character != RANDOM and self.plays == "senders":
            raise ValueError("character says which one character somebody plays; with plays = senders there is none")
        return self

    @property
    def generated_turns(self) -> int:
        """Turns that are taken after the greeting."""
        return self.turns - self.greeting_counts

    @property
    def judged_after(self) -> tuple[int, ...]:
        """The turns after which judges look, the end last."""
        return (*(after for after in self.rounds if after < self.generated_turns), self.generated_turns)
