"""How fast a simulation could be at best: the longest chain of calls that had to follow one another.

A call follows its mind's own earlier calls, and those calls of others that made what it was shown: a decision the state of
everybody in sight, an utterance the words before it. What it was *not* shown counts for nothing: that nobody came by is
known here, afterwards; a scheduler has to wait until it is certain.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from inspect import isawaitable
from typing import TypeVar

from sociable.town.minds import Decision, Mind, TakenAway, Talk, Utterance, View
from sociable.town.simulation import WORDS_PER_MINUTE

T = TypeVar("T")


class Trace:
    """Of one simulation: when everything would have been over if nobody had ever waited without need, in seconds."""

    def __init__(self) -> None:
        self.critical_seconds = 0.0
        self.one_at_a_time_seconds = 0.0
        self.calls = 0
        """Of minds; those that took no time are not counted."""
        self._own: dict[str, float] = {}
        self._states: dict[str, list[tuple[int, float]]] = {}
        """By name: what the resident is to be seen doing from the end of a minute on, and when that was certain."""
        self._words: dict[tuple[frozenset[str], int], tuple[int, float]] = {}
        """By who is talking and since when: until when they surely are, and when the last words were said."""

    def shown(self, name: str, minute: int) -> float:
        """When the state of a resident at the end of a minute was certain."""
        return next((seconds for since, seconds in reversed(self._states.get(name, ())) if since <= minute), 0.0)

    def seen(self, name: str, minute: int, seconds: float) -> None:
        """It is certain ``seconds`` after the beginning what the resident is to be seen doing from ``minute`` on."""
        states = self._states.setdefault(name, [(0, 0.0)])
        states.append((minute, max(seconds, states[-1][1])))

    def began(self, name: str, shown: Sequence[float]) -> float:
        return max([self._own.get(name, 0.0), *shown])

    def ended(self, name: str, began: float, took: float) -> float:
        seconds = began + took
        self._own[name] = seconds
        self.critical_seconds = max(self.critical_seconds, seconds)
        self.one_at_a_time_seconds += took
        self.calls += took > 0
        return seconds

    def met(self, first: str, second: str, minute: int) -> None:
        both = max(self._own.get(first, 0.0), self._own.get(second, 0.0))
        for each in (first, second):
            self.seen(each, minute, both)
        self._words[frozenset((first, second)), minute] = (minute + 1, 0.0)

    def heard(self, name: str, partner: str, minute: int) -> float:
        return self._words[frozenset((name, partner)), minute][1]

    def said(self, name: str, partner: str, minute: int, words: int, seconds: float) -> None:
        before, _ = self._words[frozenset((name, partner)), minute]
        for each in (name, partner):
            self.seen(each, before, seconds)
        until = minute + max(1, math.ceil(words / WORDS_PER_MINUTE))
        self._words[frozenset((name, partner)), minute] = (until, seconds)


class TracedMind:
    """A mind that notes how long each call took and what it had to follow."""

    def __init__(self, name: str, mind: Mind, trace: Trace) -> None:
        self._name = name
        self._mind = mind
        self._trace = trace

    @property
    def alarm(self) -> int | None:
        return self._mind.alarm

    def decide(self, view: View) -> Decision | Awaitable[Decision]:
        trace = self._trace
        began = trace.began(self._name, [trace.shown(each.name, view.minute - 1) for each in view.sightings])

        def note(decision: Decision, took: float) -> None:
            seconds = trace.ended(self._name, began, took)
            trace.seen(self._name, view.minute, seconds)

        return _timed(self._mind.decide(view), note)

    def speak(self, talk: Talk) -> Utterance | Awaitable[Utterance]:
        trace = self._trace
        if not talk.lines:
            trace.met(self._name, talk.partner, talk.minute)
        began = trace.began(self._name, [trace.heard(self._name, talk.partner, talk.minute)])

        def note(said: Utterance, took: float) -> None:
            words = sum(len(line.says.split()) for line in talk.lines) + len(said.says.split())
            trace.said(self._name, talk.partner, talk.minute, words, trace.ended(self._name, began, took))

        return _timed(self._mind.speak(talk), note)

    def conclude(self, talk: Talk, until: int) -> TakenAway | Awaitable[TakenAway]:
        trace = self._trace
        began = trace.began(self._name, [trace.heard(self._name, talk.partner, talk.minute)])

        def note(taken: TakenAway, took: float) -> None:
            trace.seen(self._name, until, trace.ended(self._name, began, took))

        return _timed(self._mind.conclude(talk, until), note)


def _timed(answer: T | Awaitable[T], note: Callable[[T, float], None]) -> T | Awaitable[T]:
    if not isawaitable(answer):
        note(answer, 0.0)
        return answer

    async def answered() -> T:
        loop = asyncio.get_running_loop()
        began = loop.time()
        value: T = await answer
        note(value, loop.time() - began)
        return value

    return answered()
