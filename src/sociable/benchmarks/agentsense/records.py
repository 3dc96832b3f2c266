"""The benchmark's own options, and the record of an AgentSense episode."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from sociable.core.records import Episode, Numbers, Record

RANDOM = "random"
"""The word in place of a character's name that has one drawn by the run's seed, scene by scene."""


def _sort_turns(turns: tuple[int, ...]) -> tuple[int, ...]:
    if any(turn < 1 for turn in turns):
        raise ValueError("turns are counted from 1")
    return tuple(sorted(set(turns)))


class AgentSenseOptions(Record):
    """Defaults are the paper's, or say why not in the README."""

    turns: int = Field(default=15, ge=1, le=1000, description="turns of a scene after the greeting (section 3.3)")
    greeting_counts: bool = Field(default=False, description="count the greeting among the turns, as the authors' runs do")
    opening: bool = Field(default=True, description="begin with the scene's own first words, where it has some")
    policy: Literal["random", "round-robin", "addressed-next", "bidding"] = Field(
        "addressed-next", description="the rule that chooses who speaks next"
    )
    casts: int | None = Field(default=None, ge=1, description="casts of each template that are played, as in 1 (Table 9)")
    first_lines: bool = Field(
        default=False,
        description="show others and judges only the part before a turn's first line break, as the authors do",
    )
    blind: bool = Field(default=True, description="ask the quiz before the scene too, for the blind baseline")
    rounds: Annotated[Numbers, AfterValidator(_sort_turns)] = Field(
        default=(), description="turns after which judges look too, as in 3,6,9,12"
    )
    probe_rounds: bool = Field(default=False, description="ask participants about goals after those turns too")
    probe_tokens: int = Field(
        default=1024, ge=1, description="tokens that an answer outside the scene may have, however few a turn may have"
    )
    script: bool = Field(default=False, description="ask the model which film or play each scene comes from (section 4.3)")
    plays: Literal["all", "one", "others", "senders"] | None = Field(
        default=None,
        description="the characters of the model under test: all without a partner; with one, one of each scene by default",
    )
    character: str = Field(
        default=RANDOM, description="the one character, by name, or random; scenes without that character are left out"
    )

    @model_validator(mode="after")
    def _check_rounds(self) -> Self:
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


SUBJECT, PARTNER = "subject", "partner"
"""The roles that characters are played by."""


class ProbeKind(StrEnum):
    """Kinds of questions that a participant is asked outside the scene (section 3.4)."""

    OWN_GOAL = "own goal"
    OTHERS_GOAL = "another's goal"
    QUIZ = "quiz"
    BLIND_QUIZ = "blind quiz"
    """The same quiz, before anybody has spoken (section 4.3)."""
    BID = "bid"
    """A wish to be the next to speak, under the policy of that name."""
    SCRIPT = "script"
    """The film or play from which the background was made (section 4.3)."""


class ProbeAnswer(Record):
    """One participant's answer to one probe. The probe was put to a copy of its view, and stands in nobody's history."""

    kind: ProbeKind
    asked: str
    """The character who answered."""
    about: str = ""
    """The character whose goal or secret it is about; empty where the data do not say."""
    item: int = 0
    """Place among the goals of ``about``, or among the quiz questions of ``asked``, from 0."""
    wording: int = 0
    """Place among the questions asked about one goal, from 0."""
    after: int
    """Turns taken before it was asked, the greeting not counted."""
    answer: bool | None = None
    """Goals: yes or no. Quizzes and scripts: right or wrong. Bids: True. None: no answer could be read."""
    choice: int | None = None
    """The option chosen, by its place in the data."""
    order: tuple[int, ...] = ()
    """The order in which the options were shown, as places in the data."""
    reply: str = ""
    """The beginning of the reply as it came."""
    defect: str = ""


class AgentSenseEpisode(Episode):
    """One scene played. ``turns`` begins with the greeting, turn 0; an empty turn is one in which somebody said nothing."""

    played_by: dict[str, str] = {}
    """The role (subject or partner) that played each character."""
    probes: tuple[ProbeAnswer, ...] = ()
    both_tested: bool = False
    """Whether the partner is under test as much as the subject: senders with receivers."""
    partner_failure: str = ""
    """The reason why a partner failed: the scene cannot be scored then."""

    def list_characters(self, role: str) -> frozenset[str]:
        """The characters played by a role."""
        return frozenset(name for name, by in self.played_by.items() if by == role)

    @cached_property
    def tested(self) -> frozenset[str]:
        """The characters played by a model under test."""
        return frozenset(self.played_by) if self.both_tested else self.list_characters(SUBJECT)

    @cached_property
    def answers(self) -> Mapping[tuple[ProbeKind, str, int], Sequence[ProbeAnswer]]:
        """The answers by kind, character and item, the character being the goal's owner, or who was asked the question."""
        found = defaultdict(list)
        for probe in self.probes:
            is_goal = probe.kind in (ProbeKind.OWN_GOAL, ProbeKind.OTHERS_GOAL)
            found[probe.kind, probe.about if is_goal else probe.asked, probe.item].append(probe)
        return found


def name_goal_criterion(owner: str, item: int, wording: int, after: int) -> str:
    """The criterion of a judgment on a goal, as it stands after so many turns; goal and wording are places from 0."""
    return f"{owner}|goal {item + 1}.{wording + 1}|{after}"
