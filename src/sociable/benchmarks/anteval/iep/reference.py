"""Reference agents of information exchange: players and an NPC that need no model. What each must score stands in the README."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import chain
from random import Random

from sociable.benchmarks.anteval.characters import in_words
from sociable.benchmarks.anteval.iep.players import IepPlayer
from sociable.benchmarks.anteval.iep.records import Recall, When
from sociable.benchmarks.anteval.iep.scenario import IepScenario
from sociable.benchmarks.anteval.session import Move, TableTurn
from sociable.core.records import Usage
from sociable.core.seeding import make_generator

AGENTS = ("oracle", "heuristic", "random", "silent")
RULE = "rule"
"""The name of the only reference agent that judges."""

_QUESTIONS = (
    "What can you tell us of it?",
    "And what else is there?",
    "Go on, please. I want all of it.",
    "Is there anything one should be warned of?",
    "Who else had to do with it, and when?",
    "What have you left out?",
    "How do you come to know?",
)
_NOTHING = (
    "We shall have rain before dark, I think.",
    "My cousin walked that road once and spoke of nothing but her boots.",
    "There is bread, if anybody is hungry.",
    "People ask the strangest things.",
    "I have never liked the smell of this place.",
    "It was different when I was young, or I was.",
    "Somebody ought to see to that door.",
)


class ReferenceIepPlayer(ABC):
    """``draw(*names)`` is a generator of its own for the thing named; ``knows`` whether it plays the NPC."""

    def __init__(self, scenario: IepScenario, name: str, draw: Callable[..., Random], turns: int) -> None:
        self.scenario = scenario
        self.name = name
        self.knows = name == scenario.card.npc.name
        self.draw = draw
        self.turns = turns

    @property
    def usage(self) -> Usage:
        return Usage()

    async def take_turn(self, seen: Sequence[TableTurn]) -> Move:
        return Move(words=self.tell(seen) if self.knows else self.ask(seen))

    async def recall(self, seen: Sequence[TableTurn], when: When) -> Recall:
        claims = [] if self.knows else self.claims(seen)
        return Recall(player=self.name, when=when, claims=tuple(claims[: len(self.scenario.card.key_points)]))

    @abstractmethod
    def ask(self, seen: Sequence[TableTurn]) -> str: ...

    @abstractmethod
    def tell(self, seen: Sequence[TableTurn]) -> str: ...

    @abstractmethod
    def claims(self, seen: Sequence[TableTurn]) -> list[str]: ...

    def heard(self, seen: Sequence[TableTurn]) -> list[str]:
        """What the NPC has said, a key point each where it said some, else a turn each."""
        npc, points = self.scenario.card.npc.name, [each.point for each in self.scenario.card.key_points]
        said = [turn.words for turn in seen if turn.speaker == npc and turn.words]
        told = [point for point in points if any(point in words for words in said)]
        return told or said


class Oracle(ReferenceIepPlayer):
    """The NPC tells everything when asked; players ask and remember.

    With ``error_rate`` p the NPC keeps back a share p of its key points. Errors are nested: a point has one draw, and is kept
    back at every p above it.
    """

    def __init__(
        self, scenario: IepScenario, name: str, draw: Callable[..., Random], turns: int, error_rate: float = 0.0
    ) -> None:
        super().__init__(scenario, name, draw, turns)
        self.error_rate = error_rate

    def ask(self, seen: Sequence[TableTurn]) -> str:
        return self.draw("question", self.name, len(seen)).choice(_QUESTIONS)

    def tell(self, seen: Sequence[TableTurn]) -> str:
        """As many points at a time as it takes to be done by the end."""
        points = [
            each.point
            for place, each in enumerate(self.scenario.card.key_points)
            if self.draw("keeps", place).random() >= self.error_rate
        ]
        seats = len(self.scenario.players) + 1
        own = sum(turn.speaker == self.name for turn in seen)
        at_once = -(-len(points) // max(self.turns // seats, 1))
        return " ".join(points[own * at_once : (own + 1) * at_once]) or _NOTHING[own % len(_NOTHING)]

    def claims(self, seen: Sequence[TableTurn]) -> list[str]:
        return self.heard(seen)


class Heuristic(ReferenceIepPlayer):
    """Asks nothing and tells nothing; claims what all were told before: title, scene and its own sheet, sentence by sentence."""

    def ask(self, seen: Sequence[TableTurn]) -> str:
        return self.draw("talk", self.name, len(seen)).choice(_NOTHING)

    tell = ask

    def claims(self, seen: Sequence[TableTurn]) -> list[str]:
        card = self.scenario.card
        sheet = next(each for each in self.scenario.players if each.name == self.name)
        sentences = chain.from_iterable(text.split(". ") for text in (card.scene, card.npc.who, in_words(sheet)))
        return list(sentences)


class RandomPlayer(ReferenceIepPlayer):
    """Asks and answers beside the point; claims single words of the scene."""

    def ask(self, seen: Sequence[TableTurn]) -> str:
        return self.draw("talk", self.name, len(seen)).choice((*_QUESTIONS, *_NOTHING))

    tell = ask

    def claims(self, seen: Sequence[TableTurn]) -> list[str]:
        words = self.scenario.card.scene.split()
        return [" ".join(self.draw("claim", self.name, place).sample(words, min(6, len(words)))) for place in range(8)]


class Silent(ReferenceIepPlayer):
    def ask(self, seen: Sequence[TableTurn]) -> str:
        return ""

    tell = ask

    def claims(self, seen: Sequence[TableTurn]) -> list[str]:
        return []


_KINDS: dict[str, type[ReferenceIepPlayer]] = {"heuristic": Heuristic, "random": RandomPlayer, "silent": Silent}


def reference_player(agent: str, scenario: IepScenario, name: str, turns: int, seed: int, repeat: int) -> IepPlayer:
    """All agents of a session share their draws."""

    def draw(*names: str | int) -> Random:
        return make_generator(seed, "reference", scenario.id, repeat, *names)

    kind, at, rate = agent.partition("@")
    if kind == "oracle":
        return Oracle(scenario, name, draw, turns, float(rate) if at else 0.0)
    return _KINDS[kind](scenario, name, draw, turns)
