"""Reference agents of information exchange: players and an NPC that need no model. What each must score stands in the README."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from sociable.benchmarks.anteval.characters import describe_sheet
from sociable.benchmarks.anteval.iep.cards import IepScenario
from sociable.benchmarks.anteval.iep.records import Recall, When
from sociable.benchmarks.anteval.players import ReferencePlayer
from sociable.benchmarks.anteval.session import Move, TableTurn
from sociable.core.seeding import make_generator

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


class ReferenceIepPlayer(ReferencePlayer[IepScenario]):
    """Passes and claims nothing, unless a kind of its own says more."""

    async def take_turn(self, seen: Sequence[TableTurn]) -> Move:
        return Move(words=self.speak(seen))

    async def recall(self, seen: Sequence[TableTurn], when: When) -> Recall:
        claims = self.claim(seen)[: len(self.scenario.card.key_points)]
        return Recall(player=self.name, when=when, turn=len(seen) if when is When.DURING else 0, claims=tuple(claims))

    def speak(self, seen: Sequence[TableTurn]) -> str:
        return ""

    def claim(self, seen: Sequence[TableTurn]) -> list[str]:
        return []


class Oracle(ReferenceIepPlayer):
    """The NPC tells everything when asked; players ask and remember.

    With ``error_rate`` p the NPC keeps back a share p of its key points. Errors are nested: a point has one draw, and is kept
    back at every p above it.
    """

    def speak(self, seen: Sequence[TableTurn]) -> str:
        """A player's question, or as many of the NPC's points as it takes to be done by the end."""
        if self.name != self.scenario.npc.name:
            return self.draw("question", self.name, len(seen)).choice(_QUESTIONS)
        points = [
            each.point
            for place, each in enumerate(self.scenario.card.key_points)
            if self.draw("keeps", place).random() >= self.error_rate
        ]
        own = sum(turn.speaker == self.name for turn in seen)
        at_once = -(-len(points) // self.own_turns)
        return " ".join(points[own * at_once : (own + 1) * at_once]) or _NOTHING[own % len(_NOTHING)]

    def claim(self, seen: Sequence[TableTurn]) -> list[str]:
        """Claims all that the NPC has said: one claim a key point where it said some, else one claim a turn."""
        said = [turn.words for turn in seen if turn.speaker == self.scenario.npc.name and turn.words]
        points = (each.point for each in self.scenario.card.key_points)
        return [point for point in points if any(point in words for words in said)] or said


class Heuristic(ReferenceIepPlayer):
    """Asks nothing and tells nothing; claims the sentences of what it was told before: the scene, who the NPC is, its sheet."""

    def speak(self, seen: Sequence[TableTurn]) -> str:
        return self.draw("talk", self.name, len(seen)).choice(_NOTHING)

    def claim(self, seen: Sequence[TableTurn]) -> list[str]:
        sheet = next(each for each in self.scenario.players if each.name == self.name)
        told = (self.scenario.card.scene, self.scenario.npc.who, describe_sheet(sheet))
        return [sentence for text in told for sentence in text.split(". ")]


class RandomPlayer(ReferenceIepPlayer):
    """Asks and answers beside the point; claims single words of the scene."""

    def speak(self, seen: Sequence[TableTurn]) -> str:
        return self.draw("talk", self.name, len(seen)).choice((*_QUESTIONS, *_NOTHING))

    def claim(self, seen: Sequence[TableTurn]) -> list[str]:
        words = self.scenario.card.scene.split()
        return [" ".join(self.draw("claim", self.name, place).sample(words, min(6, len(words)))) for place in range(8)]


_KINDS = {"oracle": Oracle, "heuristic": Heuristic, "random": RandomPlayer, "silent": ReferenceIepPlayer}


def make_reference_player(agent: str, scenario: IepScenario, name: str, turns: int, seed: int, repeat: int) -> ReferenceIepPlayer:
    kind, _, rate = agent.partition("@")
    draw = partial(make_generator, seed, "reference", scenario.id, repeat)
    return _KINDS[kind](scenario, name, turns, draw, float(rate or 0.0))
