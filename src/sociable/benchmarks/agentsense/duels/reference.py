"""Reference agents: they read papers alone, and what is worth what by their own sheet (the oracle by both).

A *level* is what a side gains, as a share of what it could gain at the most: 1 is its best paper, 0 its fallback.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from sociable.benchmarks.agentsense.duels.briefing import describe_offer
from sociable.benchmarks.agentsense.duels.dataset import BEST, Agreement
from sociable.benchmarks.agentsense.duels.records import BREAKS, KEEPS, DuelTurn, Move, find_offer
from sociable.benchmarks.agentsense.duels.scenario import Scenario
from sociable.core.records import Usage
from sociable.core.seeding import make_generator

HARD = 0.2
"""A concession, in levels, below which somebody was hard."""
ACCEPTS = 0.2
"""How likely the random agent signs."""

Step = tuple[Move | None, Agreement]


class ReferenceSide:
    """A side that makes offers by a rule."""

    usage = Usage()

    def __init__(self, agent: str, scenario: Scenario, side: int, seed: int, repeat: int) -> None:
        kind, _, number = agent.partition("@")
        # The lot does not depend on the error rate, so that errors are nested.
        if kind == "oracle" and make_generator(seed, "reference", kind, scenario.id, repeat).random() < float(number or 0.0):
            kind = "random"
        self.name = scenario.bargain.names[side]
        self.kind = kind
        self.rate = float(number or 0.5)
        """The share of its range that ``concede`` gives up by the end."""
        self.scenario = scenario
        self.side = side
        self.generator = make_generator(seed, "reference", kind, scenario.id, repeat, side)

    async def speak(self, number: int, turns: Sequence[DuelTurn]) -> DuelTurn:
        move, offer = _AGENTS[self.kind](self, number, turns)
        said = {Move.ACCEPT: "I accept your offer.", Move.LEAVE: "I will not agree.", None: ""}
        bargain = self.scenario.bargain
        words = f"I can do: {describe_offer(bargain, offer)}. That is my offer." if offer else said[move]
        return DuelTurn(index=0, speaker=self.name, side=self.side, number=number, content=words, move=move, offer=offer)

    async def choose_deed(self, turns: Sequence[DuelTurn], agreement: Agreement) -> str:
        if self.kind == "random":
            return self.generator.choice((KEEPS, BREAKS))
        was_hard = self.measure_concession(turns) < HARD
        return BREAKS if self.kind in ("hard-bargainer", "oracle") or (self.kind == "tit-for-tat" and was_hard) else KEEPS

    async def read_other(self, turns: Sequence[DuelTurn]) -> int | None:
        """The issue in which the other changed its option least often; of equals the first."""
        count = len(self.scenario.bargain.issues)
        if self.kind == "silent":
            return None
        if self.kind == "random":
            return self.generator.randrange(count)
        if self.kind == "oracle":
            return self.scenario.bargain.sides[1 - self.side].main_issue
        offers = self.list_offers(turns)
        changes = [sum(one[issue] != next_[issue] for one, next_ in pairwise(offers)) for issue in range(count)]
        return changes.index(min(changes))

    def find_level(self, agreement: Agreement, side: int | None = None) -> float:
        """The level of a side by a paper; by default its own."""
        whose = self.side if side is None else side
        return self.scenario.bargain.gains[agreement][whose] / (BEST - self.scenario.bargain.sides[whose].fallback)

    def list_offers(self, turns: Sequence[DuelTurn]) -> list[Agreement]:
        """The other's papers, in their order."""
        return [turn.offer for turn in turns if turn.side == 1 - self.side and turn.offer]

    def measure_concession(self, turns: Sequence[DuelTurn]) -> float:
        """How much the other has given way so far, in its own levels."""
        offers = self.list_offers(turns)
        return max(self.find_level(offers[-1]) - self.find_level(offers[0]), 0.0) if offers else 0.0

    def measure_time(self, number: int) -> float:
        """How far its own turns have come: 0 at the first, 1 at the last."""
        whole = self.scenario.count_own_turns(self.side)
        return (self.scenario.count_own_turns(self.side, number) - 1) / (whole - 1) if whole > 1 else 1.0

    def find_nearest(self, level: float, turns: Sequence[DuelTurn]) -> Agreement:
        """Of the papers that reach a level the one most like the other's latest, so that it trades; of equals its best.

        As long as the other has offered nothing, the one nearest to the level, so that it moves all the same.
        """
        latest = find_offer(turns, 1 - self.side)

        def rate(agreement: Agreement) -> tuple[int, float]:
            if not latest:
                return 0, -self.find_level(agreement)
            return sum(own == other for own, other in zip(agreement, latest, strict=True)), self.find_level(agreement)

        return max((each for each in self.scenario.bargain.gains if self.find_level(each) >= level - 1e-9), key=rate)

    def aim(self, level: float, least: float, turns: Sequence[DuelTurn]) -> Step:
        """Signs what is at least at ``least``; otherwise offers a paper that reaches ``level``."""
        latest = find_offer(turns, 1 - self.side)
        if latest and self.find_level(latest) >= least - 1e-9:
            return Move.ACCEPT, ()
        return Move.OFFER, self.find_nearest(level, turns)


def _be_hard(agent: ReferenceSide, number: int, turns: Sequence[DuelTurn]) -> Step:
    """Gives up a fifth by the end; signs four fifths, and half at its last turn."""
    time = agent.measure_time(number)
    return agent.aim(1 - 0.2 * time, 0.5 if time == 1 else 0.8, turns)


def _concede(agent: ReferenceSide, number: int, turns: Sequence[DuelTurn]) -> Step:
    level = 1 - agent.rate * agent.measure_time(number)
    return agent.aim(level, level, turns)


def _give_as_given(agent: ReferenceSide, number: int, turns: Sequence[DuelTurn]) -> Step:
    """Comes down as far as the other has come, and a quarter by itself over the turns; never below a third."""
    level = max(1 - 0.25 * agent.measure_time(number) - agent.measure_concession(turns), 1 / 3)
    return agent.aim(level, level, turns)


def _offer_anything(agent: ReferenceSide, number: int, turns: Sequence[DuelTurn]) -> Step:
    if find_offer(turns, 1 - agent.side) and agent.generator.random() < ACCEPTS:
        return Move.ACCEPT, ()
    return Move.OFFER, agent.generator.choice(list(agent.scenario.bargain.gains))


def _say_nothing(agent: ReferenceSide, number: int, turns: Sequence[DuelTurn]) -> Step:
    return None, ()


def _follow_frontier(agent: ReferenceSide, number: int, turns: Sequence[DuelTurn]) -> Step:
    """Offers what is best for it of all that leaves the other a level, which rises from near nothing to three fifths.

    It signs what is no worse than that, and at its last turn whatever is better than its fallback.
    """
    time, gains = agent.measure_time(number), agent.scenario.bargain.gains
    leaves = [each for each in gains if agent.find_level(each, 1 - agent.side) >= 0.05 + 0.55 * time]
    offer = max(leaves, key=lambda each: (gains[each][agent.side], gains[each][1 - agent.side]))
    latest = find_offer(turns, 1 - agent.side)
    least = 1 if time == 1 else gains[offer][agent.side]
    if latest and gains[latest][agent.side] >= least:
        return Move.ACCEPT, ()
    return Move.OFFER, offer


_AGENTS: dict[str, Callable[[ReferenceSide, int, Sequence[DuelTurn]], Step]] = {
    "oracle": _follow_frontier,
    "hard-bargainer": _be_hard,
    "concede": _concede,
    "tit-for-tat": _give_as_given,
    "random": _offer_anything,
    "silent": _say_nothing,
}
