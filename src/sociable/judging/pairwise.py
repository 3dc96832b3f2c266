"""Pairwise judging in both orders.

The same two responses are judged twice with sides swapped, "to avoid positional bias" (HSII, Definition 1). A win or a
loss needs both orders to agree; otherwise it is a tie. An order that cannot be read leaves the pair Unscored. The
share of pairs in which the orders disagree is the judge's position bias.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from sociable.core.records import Judgment, Record, Usage, Verdict
from sociable.judging.verdicts import VERDICT_SCHEMA, Preference, parse_verdict
from sociable.models.protocol import ChatMessage, Model, Request, Sampling, Scope


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts to compare: the one under test and the golden one."""

    subject: str
    golden: str


class OrderVerdict(Record):
    """What one judge said in one order. ``preference`` is for the subject's side; UNSCORED with the defect as reason."""

    subject_first: bool
    preference: Verdict
    reason: str = ""


class PairJudgment(Judgment):
    """A judgment with both orders. ``orders_disagree`` is None unless both orders could be read."""

    orders: tuple[OrderVerdict, ...] = ()
    orders_disagree: bool | None = None


class PairJudge(Protocol):
    """Whoever compares two texts: a model or a rule. Its name stands in the judgments."""

    @property
    def name(self) -> str: ...

    async def compare(self, pair: Pair, subject_first: bool) -> tuple[Verdict, str]:
        """(the subject's verdict or UNSCORED, the reason)."""

    @property
    def usage(self) -> Usage: ...


class ModelPairJudge:
    """A model that sees the two texts in the order asked for. ``ask(first, second)`` writes the messages."""

    def __init__(
        self, model: Model, ask: Callable[[str, str], Sequence[ChatMessage]], *, scope: Scope, sampling: Sampling
    ) -> None:
        self._model = model
        self._ask = ask
        self._scope = scope
        self._sampling = sampling

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def usage(self) -> Usage:
        return self._scope.usage

    async def compare(self, pair: Pair, subject_first: bool) -> tuple[Verdict, str]:
        first, second = (pair.subject, pair.golden) if subject_first else (pair.golden, pair.subject)
        request = Request(self._ask(first, second), self._scope, self._sampling, VERDICT_SCHEMA)
        reply = await self._model.generate(request)
        preference, reason = parse_verdict(reply.text)
        if preference is None or reply.defect:
            # What stands in a reply that was cut off need not be what it would have come to.
            return Verdict.UNSCORED, f"{reply.defect or 'no verdict in the reply'}: {reason}".removesuffix(": ")
        if preference is Preference.EQUAL:
            return Verdict.TIE, reason
        return (Verdict.WIN if (preference is Preference.FIRST) == subject_first else Verdict.LOSS), reason


class RulePairJudge:
    """Compares by a number each text earns, whichever side it stands on."""

    def __init__(self, name: str, points: Callable[[str], tuple[float, str]]) -> None:
        self._name = name
        self._points = points

    @property
    def name(self) -> str:
        return self._name

    @property
    def usage(self) -> Usage:
        return Usage()

    async def compare(self, pair: Pair, subject_first: bool) -> tuple[Verdict, str]:
        (subject, why_subject), (golden, why_golden) = self._points(pair.subject), self._points(pair.golden)
        reason = f"subject: {why_subject}; golden: {why_golden}"
        if subject == golden:
            return Verdict.TIE, reason
        return (Verdict.WIN if subject > golden else Verdict.LOSS), reason


async def judge_pair(judge: PairJudge, pair: Pair, *, episode: str, scenario: str, criterion: str) -> PairJudgment:
    """One judge's opinion on one pair, both orders asked at once."""
    (first, first_reason), (second, second_reason) = await asyncio.gather(
        judge.compare(pair, subject_first=True), judge.compare(pair, subject_first=False)
    )
    orders = (
        OrderVerdict(subject_first=True, preference=first, reason=first_reason),
        OrderVerdict(subject_first=False, preference=second, reason=second_reason),
    )
    verdict = both_orders(first, second)
    unread = next((order for order in orders if order.preference is Verdict.UNSCORED), None)
    return PairJudgment(
        id=judgment_id(episode, criterion, judge.name),
        episode=episode,
        scenario=scenario,
        criterion=criterion,
        judge=judge.name,
        verdict=verdict,
        reason=f"{judge.name}: {unread.reason}" if unread else first_reason,
        usage=judge.usage,
        orders=orders,
        orders_disagree=None if unread else first != second,
    )


def judgment_id(episode: str, criterion: str, judge: str) -> str:
    return f"{episode}|{criterion}|{judge}"


def both_orders(first: Verdict, second: Verdict) -> Verdict:
    """The verdict of a pair from the verdicts of its two orders, both for the subject's side."""
    if Verdict.UNSCORED in (first, second):
        return Verdict.UNSCORED
    return first if first == second else Verdict.TIE
