"""Judges who compare two texts, in both orders.

The same two responses are judged twice with sides swapped, "to avoid positional bias" (HSII, Definition 1). A win or a
loss needs both orders to agree; otherwise it is a tie. An order that cannot be read leaves the pair Unscored. The
share of pairs in which the orders disagree is the judge's position bias.

Judges answer 0 (equal), 1 (the first response is better) or 2 (the second is better), the three figures of HSII's
rebuttal.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sociable.core.records import Episode, Judgment, Record, Verdict, make_storable
from sociable.judging.forms import make_preference_form
from sociable.judging.protocol import Answer, Judge, Leaning, Question, Reading, Unread, ask_judge, make_judgment, make_scope
from sociable.models.protocol import ChatMessage
from sociable.models.replies import MAX_REASON, find_closing_object, find_field, find_reason, make_schema

VERDICT_SCHEMA = make_schema(reason={"type": "string"}, verdict={"type": "integer", "enum": [0, 1, 2]})


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts to compare: the one under test and the golden one."""

    subject: str
    golden: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """A way to compare two texts, by a model and by a rule."""

    write: Callable[[str, str], Sequence[ChatMessage]]
    """Writes the messages about the first and the second text."""
    count_points: Callable[[str], tuple[float, str]] | None = None
    """The points a text earns by rule, whichever side it stands on, and why; None: there is no rule."""


class OrderVerdict(Record):
    """One judge's answer in one order. ``preference`` is for the subject's side; UNSCORED with the problem as reason."""

    subject_first: bool
    preference: Verdict
    reason: str = ""


class PairJudgment(Judgment):
    """A judgment with both orders. ``orders_disagree`` is None unless both orders could be read."""

    orders: tuple[OrderVerdict, ...] = ()
    orders_disagree: bool | None = None


async def judge_pair(pair: Pair, comparison: Comparison, judge: Judge, episode: Episode, criterion: str) -> PairJudgment:
    """One judge's opinion on one pair, both orders asked at once. Raises RunFailure and RunStopped."""
    scope = make_scope(judge, episode, criterion)
    places = (True, False)
    asked = await asyncio.gather(
        *(ask_judge(make_pair_question(pair, comparison, subject_first=place), judge, scope) for place in places)
    )
    orders = tuple(
        OrderVerdict(subject_first=place, preference=each.answer.value or Verdict.UNSCORED, reason=each.answer.why)
        for place, each in zip(places, asked, strict=True)
    )
    unread = next((order for order in orders if order.preference is Verdict.UNSCORED), None)
    verdict = combine_orders(*(order.preference for order in orders))
    reason = f"{judge.name}: {unread.reason}" if unread else orders[0].reason
    return PairJudgment(
        **dict(make_judgment(judge, episode, criterion, verdict, reason, asked[0].usage + asked[1].usage)),
        orders=orders,
        orders_disagree=None if unread else orders[0].preference != orders[1].preference,
    )


def make_pair_question(pair: Pair, comparison: Comparison, *, subject_first: bool) -> Question[Verdict]:
    """The question about a pair in one order; its answer is the subject's verdict."""
    first, second = (pair.subject, pair.golden) if subject_first else (pair.golden, pair.subject)

    def parse(text: str) -> Reading[Verdict]:
        read = parse_preference(text)
        return read if subject_first or isinstance(read, Unread) else Answer(_SECOND_SIDE[read.value], read.reason)

    def apply_rule() -> Reading[Verdict]:
        if comparison.count_points is None:
            return Unread("these pairs have no rule")
        (subject, why_subject), (golden, why_golden) = map(comparison.count_points, (pair.subject, pair.golden))
        verdict = Verdict.TIE if subject == golden else Verdict.WIN if subject > golden else Verdict.LOSS
        return Answer(verdict, f"subject: {why_subject}; golden: {why_golden}")

    sides = (Verdict.WIN, Verdict.LOSS) if subject_first else (Verdict.LOSS, Verdict.WIN)
    leaning = Leaning(sides, _err, (first, second), Verdict.TIE)
    return Question(lambda: comparison.write(first, second), parse, VERDICT_SCHEMA, apply_rule, make_preference_form, leaning)


def _err(right: Verdict, generator: random.Random) -> Verdict:
    won = generator.random() < 0.5 if right is Verdict.TIE else right is Verdict.LOSS
    return Verdict.WIN if won else Verdict.LOSS


def combine_orders(first: Verdict, second: Verdict) -> Verdict:
    """The verdict of a pair from the verdicts of its two orders, both for the subject's side."""
    if Verdict.UNSCORED in (first, second):
        return Verdict.UNSCORED
    return first if first == second else Verdict.TIE


_FIRST_SIDE = {"0": Verdict.TIE, "1": Verdict.WIN, "2": Verdict.LOSS}
_SECOND_SIDE = {Verdict.TIE: Verdict.TIE, Verdict.WIN: Verdict.LOSS, Verdict.LOSS: Verdict.WIN}
_FIGURE = r"""verdict[\s"'*_`]*(?:\bis\b|[:=])[\s"'*_`]*"""
_STATED = re.compile(_FIGURE + r"(-?\d+(?:[.,/]\d+)*)", re.IGNORECASE)
_CLOSING = re.compile(
    r"""(?:\A|[\n.!?,{])[\s*_`#>"'-]*(?:(?:so|thus|therefore|hence|my|the|final|overall)\s+)*"""
    + _FIGURE
    + r"""([012])[\s"'*_`.!})\]]*\Z""",
    re.IGNORECASE,
)
_CLOSING_CHARACTERS = 200
_LONE = re.compile(r"[\s*\"'`]*([012])[\s*\"'`.]*")


def parse_preference(text: str) -> Reading[Verdict]:
    """The verdict on the first text that a reply gives; a reply that does not give exactly one gives none.

    The verdict is what the reply ends with: a JSON object, or a statement in words. One in the midst of it may be
    quoted from a response that asks for it. Several statements count only if they agree.
    """
    text = make_storable(text).strip()
    fields, reason, figure = find_closing_object(text), text[:MAX_REASON], ""
    if fields and "verdict" in dict(fields):
        verdict, reason = find_field(fields, "verdict"), find_reason(fields)
        figure = str(verdict).strip() if isinstance(verdict, str) or type(verdict) is int else ""
    elif lone := _LONE.fullmatch(text):
        figure, reason = lone[1], ""
    elif (closing := _CLOSING.search(text[-_CLOSING_CHARACTERS:])) and {closing[1]} == set(_STATED.findall(text)):
        figure = closing[1]
    return Answer(_FIRST_SIDE[figure], reason) if figure in _FIRST_SIDE else Unread("no verdict in the reply", reason)
