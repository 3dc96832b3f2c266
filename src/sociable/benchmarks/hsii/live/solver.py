"""The best that can be reached within a level's budget, by an assistant who knows no more than it has been told.

A policy knows what may lie behind every hint, and how likely it is, but not what was drawn. It asks only what it has a reason to
ask, tells only what it has been told and may tell, and in the end proposes what is best on average over all draws that agree with
what it then knows. The search goes round by round over what is known, with a beam that is widened until it finds the welfare that
one who knows all could reach, or has looked at everything; then it is exact, else it says so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sociable.benchmarks.hsii.live.dataset import Arrangement, Dossier, Topic
from sociable.benchmarks.hsii.live.outcome import LEAST, count_gains, find_majority, measure_welfare
from sociable.benchmarks.hsii.live.scenario import Scenario

BEAMS = (30, 300, 3000)
"""The states that are kept of a round; more are tried where fewer do not lead to the best there is."""

FINALISTS = 20
"""The states after the last round for which the proposal is weighed together with the decisions that were served."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Step:
    """One message: to whom, what it asks one of them, what it tells."""

    to: tuple[str, ...]
    topic: str = ""
    tells: tuple[str, ...] = ()


@dataclass(frozen=True)
class Solution:
    """The best policy that was found."""

    welfare: float
    baseline: float
    """The welfare of what takes no asking."""
    bound: float
    """The welfare that one who knows all could reach."""
    plan: tuple[tuple[Step, ...], ...]
    """The messages of each round."""
    arrangement: Arrangement
    is_exact: bool

    def measure_share(self, welfare: float) -> float:
        """Where a welfare lies between the baseline (0) and the best policy (1); below the baseline it is negative."""
        return (welfare - self.baseline) / (self.welfare - self.baseline)


@dataclass(frozen=True)
class _State:
    """What has come of the rounds so far."""

    known: frozenset[str]
    told: frozenset[tuple[str, str]]
    """(person, fact)"""
    asked: tuple[tuple[str, int], ...]
    """How often each person has been asked."""
    plan: tuple[tuple[Step, ...], ...] = ()
    due: frozenset[str] = frozenset()
    """Facts that are on their way."""
    waiting: tuple[tuple[int, str, Step], ...] = ()
    """(round, person, message): what somebody who is away reads in that round."""

    @property
    def key(self) -> tuple[object, ...]:
        return self.known, self.told, self.asked, self.due, self.waiting


@lru_cache(maxsize=100)
def _list_sides(dossier: Dossier) -> tuple[list[str], Floats]:
    """(all sides, the last one empty: always there; [worlds, sides]: 1 where it was drawn)."""
    sides = [*sorted(frozenset().union(*dossier.worlds)), ""]
    return sides, np.array([[not side or side in world for side in sides] for world in dossier.worlds], float)


# Scenarios come dossier by dossier; a large one takes 5 MB.
@lru_cache(maxsize=16)
def _count_worths(dossier: Dossier) -> Floats:
    """[worlds, people, arrangements]: what an arrangement is worth to somebody, at every level and in every draw."""
    sides, drawn = _list_sides(dossier)
    arrangements = dossier.arrangements
    chosen = {matter.id: np.array([each[matter.id] for each in arrangements]) for matter in dossier.matters}
    # [sides, people, arrangements]: what it is worth by that side.
    by_side = np.zeros((len(sides), len(dossier.people), len(arrangements)))
    for row, person in enumerate(dossier.people):
        for worth in person.worths:
            fits = np.logical_and.reduce([chosen[matter] == option for matter, option in worth.when.items()])
            by_side[sides.index(worth.side), row] += worth.points * fits
    return np.tensordot(drawn, by_side, axes=1)


@lru_cache(maxsize=1000)
def solve(scenario: Scenario) -> Solution:
    """The best policy for a scenario. Several runs in one process ask for the same ones."""
    return Solver(scenario).solve()


class Solver:
    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self._names = tuple(scenario.people)
        self._useful = self._find_useful()
        self._tellings = self._find_tellings()
        self._topics = self._find_telling_topics()
        self._worlds = scenario.dossier.worlds
        surplus = self._count_surpluses()
        self._surplus = surplus
        """[worlds, people, arrangements]"""
        self._true: Floats = surplus[self._worlds.index(scenario.draw)]
        """[people, arrangements]: points above 1, where all say yes"""
        self._welfare: Floats = _measure_welfare(surplus)
        """[worlds, arrangements]"""
        self._choices: dict[frozenset[str], int] = {}
        self._decided: dict[frozenset[tuple[str, str]], Floats] = {}
        self.bound = self._find_bound()
        """The welfare that one who knows all could reach."""
        self.baseline = self._find_baseline()
        """The welfare of what takes no asking: the best of what lies open, the majority's, and what is best over all draws."""

    def _find_baseline(self) -> float:
        scenario = self.scenario
        by_heart = self.find_best(())
        guesses = (scenario.dossier.open, find_majority(scenario, self._list_open()), by_heart)
        return max(measure_welfare(count_gains(scenario, each)) for each in guesses)

    def _count_surpluses(self) -> Floats:
        """[worlds, people, arrangements]: each one's points above 1; 0 where somebody says no."""
        dossier = self.scenario.dossier
        (sides, drawn), own = _list_sides(dossier), _count_worths(dossier)
        found = own - self.scenario.budget.least
        for row, person in enumerate(dossier.people):
            for bond in person.bonds:
                if self.scenario.level in bond.levels:
                    does_well = own[:, self._names.index(bond.other)] >= bond.least
                    found[:, row] += bond.points * drawn[:, sides.index(bond.side), None] * does_well
        accepted = (found >= 0).all(axis=1, keepdims=True)
        return np.where(accepted, found, 0.0)

    def solve(self) -> Solution:
        bound = self.bound
        for beam in BEAMS:
            state, is_whole = self._search(beam)
            chosen = self._choose_finally(state)
            value = self._value(state, chosen)
            if is_whole or value >= bound - 1e-9:
                break
        arrangement = self.scenario.arrangements[chosen]
        return Solution(value, self.baseline, bound, state.plan, arrangement, is_whole or value >= bound - 1e-9)

    def _search(self, beam: int) -> tuple[_State, bool]:
        """(the best state after the last round, whether every state was looked at)."""
        states, is_whole = [_State(frozenset(), frozenset(), ())], True
        for number in range(1, self.scenario.budget.rounds + 1):
            found: dict[object, _State] = {}
            for state in states:
                for after in self._list_next(self._receive(state, number), number):
                    found.setdefault(after.key, after)
            states = sorted(found.values(), key=self._rank, reverse=True)
            is_whole = is_whole and len(states) <= beam
            states = states[:beam]
        finalists = sorted(states, key=self._value, reverse=True)[:FINALISTS]
        best = max(finalists, key=lambda state: self._value(state, self._choose_finally(state)))
        return best, is_whole and len(states) <= FINALISTS

    def find_best(self, known: Collection[str], told: Collection[tuple[str, str]] = ()) -> Arrangement:
        """The arrangement that is best on average over the draws that agree with these facts; of several the first.

        ``told``, as (person, fact): what people have heard, and will decide by.
        """
        if not told:
            return self.scenario.arrangements[self._choose(frozenset(known))]
        return self.scenario.arrangements[self._choose_finally(_State(frozenset(known), frozenset(told), ()))]

    # What happens.

    def _receive(self, state: _State, number: int) -> _State:
        scripted = {fact for each in self.scenario.messages if each.round == number for fact in each.gives}
        heard = {
            (name, fact)
            for each in self.scenario.messages
            if each.round == number
            for fact in each.gives
            for name in (*each.to, each.sender)
            if (name, fact) in self._useful
        }
        return replace(state, known=state.known | state.due | scripted, told=state.told | heard, due=frozenset())

    def _list_next(self, state: _State, number: int) -> Iterator[_State]:
        """The states after a round's messages: as many as the budget allows, each to another person."""
        budget = self.scenario.budget
        asked = dict(state.asked)
        known = sorted(state.known & self._tellings.keys())
        choices: list[Step] = []
        reading = {name: self.scenario.find_reading(name, number) for name in self._names}
        reached = [name for name in self._names if reading[name] <= budget.rounds]
        for name in reached:
            tells = tuple(fact for fact in known if self._may_tell(name, fact, state))
            topics = (
                []
                if reading[name] == budget.rounds or asked.get(name, 0) >= budget.patience
                else list(self._list_topics(name, state, tells))
            )
            choices += [Step((name,), topic.id, tells) for topic in topics]
            if tells and not topics:
                choices.append(Step((name,), "", tells))
        shared: dict[tuple[str, ...], None] = {}
        for fact in known:
            to = tuple(name for name in reached if self._may_tell(name, fact, state))
            if len(to) > 1:
                shared[to] = None
        for to in shared:
            tells = tuple(f for f in known if all(self._is_allowed(name, f) for name in to))
            tells = tuple(f for f in tells if any(self._may_tell(name, f, state) for name in to))
            choices.append(Step(to, "", tells))
        yielded = False
        for count in range(min(budget.messages, len(choices)), -1, -1):
            for chosen in combinations(choices, count):
                if len({name for step in chosen for name in step.to}) == sum(len(step.to) for step in chosen):
                    yielded = True
                    yield self._send(state, chosen, number)
            if yielded:
                # Fewer messages are never better: nobody is worse off for being asked.
                return

    def _send(self, state: _State, chosen: Sequence[Step], number: int) -> _State:
        told, due, asked = set(state.told), set(), dict(state.asked)
        sent = [(self.scenario.find_reading(name, number), name, step) for step in chosen for name in step.to]
        for _, name, step in sent:
            if step.topic:
                asked[name] = asked.get(name, 0) + 1
        waiting = (*state.waiting, *sent)
        read = [(name, step) for when, name, step in waiting if when == number]
        for name, step in read:
            told |= {(name, fact) for fact in step.tells if (name, fact) in self._useful}
            if step.topic:
                due |= set(self._answer(self.scenario.topics[step.topic], told))
        told |= {
            (hearer, fact)
            for name, step in read
            for fact in step.tells
            for hearer in self.scenario.find_hearers(name, fact)
            if (hearer, fact) in self._useful
        }
        return replace(
            state,
            told=frozenset(told),
            asked=tuple(sorted(asked.items())),
            due=frozenset(due),
            waiting=tuple(each for each in waiting if each[0] > number),
            plan=(*state.plan, tuple(chosen)),
        )

    def _answer(self, topic: Topic, told: Collection[tuple[str, str]]) -> tuple[str, ...]:
        return topic.gives if all((topic.person, fact) in told for fact in topic.needs) else topic.instead_gives

    def _list_topics(self, name: str, state: _State, tells: Sequence[str]) -> Iterator[Topic]:
        told = state.told | {(name, fact) for fact in tells}
        for topic in self._topics:
            if topic.person != name or not state.known.issuperset(topic.lead):
                continue
            if any(step.topic == topic.id for _, _, step in state.waiting):
                continue
            if not state.known.issuperset(self._answer(topic, told)):
                yield topic

    # What is worth asking and telling, and allowed.

    def _find_telling_topics(self) -> list[Topic]:
        """The topics whose answers show worths, or open others, or serve a decision; the rest need never be asked about."""
        facts, topics = self.scenario.facts, list(self.scenario.topics.values())
        wanted = {each.id for each in facts.values() if each.side}
        wanted |= {fact for _, fact in self._useful} | {fact for topic in topics for fact in topic.lead}
        return [topic for topic in topics if wanted & {*topic.gives, *topic.instead_gives}]

    def _find_useful(self) -> frozenset[tuple[str, str]]:
        needed = {(topic.person, fact) for topic in self.scenario.topics.values() for fact in topic.needs}
        return frozenset(needed | {(each.person, fact) for each in self.scenario.decisions.values() for fact in each.needs})

    def _find_tellings(self) -> dict[str, dict[str, frozenset[tuple[str, str]]]]:
        """By fact and person whom it may be told: the (person, fact) whom that serves, where it serves somebody."""
        found: dict[str, dict[str, frozenset[tuple[str, str]]]] = {}
        for fact in {fact for _, fact in self._useful} & self.scenario.facts.keys():
            for name in self._names:
                reached = {(hearer, fact) for hearer in (name, *self.scenario.find_hearers(name, fact))}
                if reached & self._useful and self._is_allowed(name, fact):
                    found.setdefault(fact, {})[name] = frozenset(reached & self._useful)
        return found

    def _may_tell(self, name: str, fact: str, state: _State) -> bool:
        """Whether it is of use to somebody who hears of it, and allowed."""
        served = self._tellings[fact].get(name, frozenset())
        return not served <= state.told

    def _is_allowed(self, name: str, fact: str) -> bool:
        """Whether neither this person nor anybody who hears it from him is one from whom the fact is to be kept."""
        return not {name, *self.scenario.find_hearers(name, fact)} & {*self.scenario.facts[fact].keep_from}

    # What it is worth.

    def _list_open(self) -> set[str]:
        return {fact for each in self.scenario.messages if each.round == 1 for fact in each.gives}

    def _find_bound(self) -> float:
        gains = np.array([[self._count_decisions(name, None)] for name in self._names]) + self._true
        return float(_measure_welfare(gains).max())

    def _count_decisions(self, name: str, told: Collection[tuple[str, str]] | None) -> float:
        """Points by decisions; with ``told`` None, of one to whom all can be told."""
        own = (each for each in self.scenario.decisions.values() if each.person == name)
        return sum(each.points for each in own if told is None or all((name, fact) in told for fact in each.needs))

    def _choose(self, known: frozenset[str]) -> int:
        """The place of ``find_best``."""
        facts = self.scenario.facts
        drawn = frozenset(facts[fact].side for fact in known if facts[fact].side)
        if drawn not in self._choices:
            agreeing = [drawn <= world for world in self._worlds]
            expected = self._welfare[agreeing].mean(axis=0)
            self._choices[drawn] = int(np.flatnonzero(expected >= expected.max() - 1e-9)[0])
        return self._choices[drawn]

    def _choose_finally(self, state: _State) -> int:
        """As ``_choose``, by one who also weighs what people's own decisions have gained."""
        facts = self.scenario.facts
        drawn = frozenset(facts[fact].side for fact in state.known if facts[fact].side)
        agreeing = [drawn <= world for world in self._worlds]
        expected = _measure_welfare(self._surplus[agreeing] + self._list_decided(state)[:, None]).mean(axis=0)
        return int(np.flatnonzero(expected >= expected.max() - 1e-9)[0])

    def _list_decided(self, state: _State) -> Floats:
        """[people]: points by decisions."""
        if state.told not in self._decided:
            self._decided[state.told] = np.array([self._count_decisions(name, state.told) for name in self._names])
        return self._decided[state.told]

    def _value(self, state: _State, chosen: int | None = None) -> float:
        """The welfare of the arrangement ``chosen`` (None: that looks best), with the decisions that were served."""
        chosen = self._choose(state.known) if chosen is None else chosen
        gains = self._list_decided(state) + self._true[:, chosen]
        return float(_measure_welfare(gains[:, None])[0])

    def _rank(self, state: _State) -> tuple[float, int]:
        told = {
            (name, fact) for _, name, step in state.waiting for fact in step.tells if (name, fact) in self._useful
        } | state.told
        asked = [self.scenario.topics[step.topic] for _, _, step in state.waiting if step.topic]
        coming = {fact for topic in asked for fact in self._answer(topic, told)}
        after = replace(state, known=state.known | state.due | coming, told=frozenset(told))
        return self._value(after), len(after.known)


def _measure_welfare(gains: Floats) -> Floats:
    """``measure_welfare`` of every arrangement: [..., people, arrangements] → [..., arrangements]."""
    return np.asarray(np.exp(np.log(np.maximum(1.0 + gains, LEAST)).mean(axis=-2)))
