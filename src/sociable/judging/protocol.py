"""One way to ask a judge, whatever kind of question it is asked.

A question has two hooks: it writes the messages that a judge is sent, and it reads the reply. ``ask_judge`` does the rest;
``judge_question`` makes a judgment of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from sociable.core.records import Episode, Judgment, Usage, Verdict
from sociable.judging.questions import Answer, Judge, Leaning, Question, Reading, Unread
from sociable.judging.reference import answer_as_reference
from sociable.models.protocol import Request, Scope

__all__ = ["Answer", "Judge", "Leaning", "Question", "Reading", "Unread"]

V = TypeVar("V")
_NO_CALL = Usage()


@dataclass(frozen=True, slots=True)
class Asked(Generic[V]):
    """The outcome of a question; ``usage`` is what the call consumed, whether or not the reply could be read."""

    answer: Reading[V]
    usage: Usage


async def ask_judge(question: Question[V], judge: Judge, scope: Scope) -> Asked[V]:
    """Asks a judge once. Raises RunFailure and RunStopped."""
    if judge.model is None:
        return Asked(answer_as_reference(question, judge, scope), _NO_CALL)
    messages, make_form = question.write(), question.form
    form = partial(make_form, messages) if make_form else None
    reply = await judge.model.generate(Request(messages, scope, judge.sampling, question.schema, form))
    answer = question.parse(reply.text)
    if reply.defect:
        # What stands in a reply that was cut off need not be what it would have come to.
        answer = Unread(reply.defect, answer.reason)
    return Asked(answer, reply.usage)


class SharedAnswers(Generic[V]):
    """Asks once within each scope and hands the answer to all who ask for it, at the same time or later."""

    def __init__(self) -> None:
        self._asked: dict[str, asyncio.Future[Asked[V]]] = {}

    async def ask(self, question: Question[V], judge: Judge, scope: Scope) -> Asked[V]:
        """The answer within a scope. Raises RunFailure and RunStopped, to all who wait."""
        call = self._asked.get(scope.name)
        if call is None or (call.done() and (call.cancelled() or call.exception())):
            call = self._asked[scope.name] = asyncio.ensure_future(ask_judge(question, judge, scope))
        # Whoever gives up does not take the answer from the others.
        return await asyncio.shield(call)


async def judge_question(
    question: Question[V], as_verdict: Callable[[V], Verdict], judge: Judge, episode: Episode, criterion: str
) -> Judgment:
    """One judge's answer as a judgment on one criterion; UNSCORED where there is none. Raises RunFailure and RunStopped."""
    asked = await ask_judge(question, judge, make_scope(judge, episode, criterion))
    answer = asked.answer
    if isinstance(answer, Unread):
        return make_judgment(judge, episode, criterion, Verdict.UNSCORED, f"{judge.name}: {answer.why}", asked.usage)
    return make_judgment(judge, episode, criterion, as_verdict(answer.value), answer.reason, asked.usage)


def make_scope(judge: Judge, episode: Episode, criterion: str) -> Scope:
    """The scope of what one judge is asked about one criterion of an episode."""
    return judge.make_scope(episode.id, f"{judge.name}|{criterion}")


def make_judgment(
    judge: Judge, episode: Episode, criterion: str, verdict: Verdict, reason: str, usage: Usage = _NO_CALL
) -> Judgment:
    """A judge's verdict on an episode, as it is kept."""
    return Judgment(
        id=make_judgment_id(episode.id, criterion, judge.name),
        episode=episode.id,
        scenario=episode.scenario,
        criterion=criterion,
        judge=judge.name,
        verdict=verdict,
        reason=reason,
        usage=usage,
    )


def make_judgment_id(episode: str, criterion: str, judge: str) -> str:
    return f"{episode}|{criterion}|{judge}"
