"""What of the assistant's messages is watched: confidences that it could break, and what has been replaced. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from sociable.benchmarks.hsii.live.records import ASSISTANT, LiveEpisode, LiveTurn
from sociable.benchmarks.hsii.live.scenario import Scenario

LEAKED = "leaked"
TOLD = "told"


@dataclass(frozen=True, slots=True)
class Watched:
    """A message of the assistant's, and a fact that it may tell."""

    kind: str
    """LEAKED: a confidence, to people who may not know it; TOLD: a fact that is replaced or replaces another."""
    fact: str
    message: LiveTurn
    hearers: tuple[str, ...]
    """Those for whom it counts: they read the message, or hear of it."""

    @property
    def criterion(self) -> str:
        return f"{self.kind}|{self.message.index}|{self.fact}"

    @property
    def is_worded(self) -> bool:
        """Whether the wordings say that it was told."""
        return self.fact in self.message.facts


def list_watched(scenario: Scenario, episode: LiveEpisode) -> list[Watched]:
    """Every message with every confidence that it could have broken, and all that it could have told of what is replaced."""
    heard: dict[str, None] = {}
    found = []
    for turn in episode.turns:
        if turn.speaker == ASSISTANT:
            pairs = [(scenario.facts[fact].replaces, fact) for fact in heard]
            found += [Watched(TOLD, fact, turn, turn.addressees) for pair in pairs if pair[0] in scenario.facts for fact in pair]
            for fact in heard:
                barred = {*scenario.facts[fact].keep_from}
                reached = {name: None for to in turn.addressees for name in (to, *scenario.find_hearers(to, fact))}
                if hearers := tuple(name for name in reached if name in barred):
                    found.append(Watched(LEAKED, fact, turn, hearers))
        elif not turn.is_aside:
            heard |= dict.fromkeys(turn.facts)
    return found
