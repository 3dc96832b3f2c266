"""What AgentSense keeps of an episode."""

from __future__ import annotations

from enum import StrEnum

from sociable.core.records import Episode, Record


class ProbeKind(StrEnum):
    """What a participant is asked outside the scene (section 3.4)."""

    OWN_GOAL = "own goal"
    OTHERS_GOAL = "another's goal"
    QUIZ = "quiz"
    BLIND_QUIZ = "blind quiz"
    """The same quiz, before anybody has spoken (section 4.3)."""
    BID = "bid"
    """How much somebody wants to be the next to speak, under the policy of that name."""
    SCRIPT = "script"
    """Which film or play the background was made from (section 4.3)."""


class ProbeAnswer(Record):
    """One participant's answer to one probe. It was asked of a copy of its view, and stands in nobody's history."""

    kind: ProbeKind
    asked: str
    """Who answered."""
    about: str = ""
    """Whose goal, or whose secret; empty where the data do not say."""
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
    """In which the options were shown, as places in the data."""
    reply: str = ""
    """As it came, its beginning."""
    defect: str = ""


class AgentSenseEpisode(Episode):
    """One scene played. ``turns`` begins with the greeting, turn 0; an empty turn is one in which somebody said nothing."""

    played_by: dict[str, str] = {}
    """By character, the role (subject or partner) that played it."""
    probes: tuple[ProbeAnswer, ...] = ()
    both_tested: bool = False
    """Whether the partner is under test as much as the subject: senders with receivers."""
    partner_failure: str = ""
    """What a partner failed at: the scene cannot be scored then."""

    def played_as(self, role: str) -> frozenset[str]:
        """The characters played by a role."""
        return frozenset(name for name, by in self.played_by.items() if by == role)
