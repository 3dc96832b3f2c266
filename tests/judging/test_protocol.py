"""What holds for every kind of judge: one call, its usage kept, no answer guessed."""

from __future__ import annotations

import asyncio

import pytest

from sociable.core.errors import RunFailure
from sociable.core.records import Episode, Usage, Verdict
from sociable.engine.seats import Role, Seat
from sociable.judging.protocol import (
    Answer,
    Asked,
    Question,
    Reading,
    SharedAnswers,
    Unread,
    ask_judge,
    judge_question,
    make_scope,
)
from sociable.models.protocol import ChatMessage, FinishReason, Reply, Request, Sampling
from sociable.models.scripted import ScriptedModel

EPISODE = Episode(id="e", scenario="s", cluster="c")
COST = Usage(calls=1, input_tokens=7, output_tokens=3)
RULE = Seat(Role.JUDGE, "reference/rule", None, Sampling())


def seat(*replies: str | Reply) -> tuple[Seat, ScriptedModel]:
    model = ScriptedModel(replies, "m")
    return Seat(Role.JUDGE, "m", model, Sampling(temperature=0.5)), model


def write() -> list[ChatMessage]:
    return [{"role": "user", "content": "How many?"}]


def parse_digits(text: str) -> Reading[int]:
    return Answer(int(text), "counted") if text.isdecimal() else Unread("no number in the reply", text)


COUNT = Question(write, parse_digits, {"type": "integer"})


async def ask(judge: Seat, question: Question[int] = COUNT) -> Asked[int]:
    return await ask_judge(question, judge, make_scope(judge, EPISODE, "count"))


async def test_a_question_is_asked_once_in_the_scope_of_judge_and_criterion() -> None:
    judge, model = seat(Reply("12", COST))
    assert await ask(judge) == Asked(Answer(12, "counted"), COST)
    (request,) = model.requests
    assert (request.messages, request.schema, request.sampling) == (write(), COUNT.schema, judge.sampling)
    assert request.scope.name == "e/judge/m|count"


@pytest.mark.parametrize(
    ("reply", "problem", "why"),
    [
        (Reply("many", COST), "no number in the reply", "no number in the reply: many"),
        (Reply(" ", COST), "empty", "empty:  "),
        (Reply("12", COST, FinishReason.LENGTH), "cut off at its token limit", "cut off at its token limit: counted"),
        (Reply("12", COST, FinishReason.REFUSAL), "refused", "refused: counted"),
        (Reply("x", COST, FinishReason.CONTENT_FILTER), "stopped by a content filter", "stopped by a content filter: x"),
    ],
)
async def test_a_reply_without_an_answer_is_paid_for_and_says_why(reply: Reply, problem: str, why: str) -> None:
    judge, _ = seat(reply)
    asked = await ask(judge)
    assert isinstance(asked.answer, Unread)
    assert (asked.answer.problem, asked.answer.why, asked.answer.value, asked.usage) == (problem, why, None, COST)
    judgment = await judge_question(COUNT, lambda _: Verdict.WIN, seat(reply)[0], EPISODE, "count")
    assert (judgment.verdict, judgment.reason, judgment.usage) == (Verdict.UNSCORED, f"m: {why}", COST)


async def test_a_rule_answers_without_a_call() -> None:
    def fail() -> list[ChatMessage]:
        raise AssertionError("a rule is shown nothing")

    question: Question[int] = Question(fail, parse_digits, apply_rule=lambda: Answer(4, "by rule"))
    assert await ask(RULE, question) == Asked(Answer(4, "by rule"), Usage())
    judgment = await judge_question(
        question, (Verdict.LOSS, Verdict.TIE, Verdict.LOSS, Verdict.TIE, Verdict.WIN).__getitem__, RULE, EPISODE, "count"
    )
    assert (judgment.id, judgment.verdict, judgment.reason) == ("e|count|reference/rule", Verdict.WIN, "by rule")
    assert (judgment.episode, judgment.scenario, judgment.criterion, judgment.judge) == ("e", "s", "count", RULE.name)


async def test_a_question_without_a_rule_has_no_answer_by_rule() -> None:
    assert (await ask(RULE)).answer == Unread("the question has no rule")


async def test_a_shared_answer_is_asked_for_once_in_each_scope() -> None:
    judge, model = seat("1", "2")
    answers: SharedAnswers[int] = SharedAnswers()

    async def share(criterion: str) -> int | None:
        return (await answers.ask(COUNT, judge, make_scope(judge, EPISODE, criterion))).answer.value

    assert await asyncio.gather(share("a"), share("a"), share("b"), share("a")) == [1, 1, 2, 1]
    assert await share("b") == 2
    assert len(model.requests) == 2


async def test_a_call_that_failed_is_asked_for_again() -> None:
    failing = True

    def answer(_: Request) -> str:
        if failing:
            raise RunFailure("gone")
        return "5"

    judge = Seat(Role.JUDGE, "m", ScriptedModel(answer, "m"), Sampling())
    answers: SharedAnswers[int] = SharedAnswers()
    scope = make_scope(judge, EPISODE, "a")
    both = await asyncio.gather(*(answers.ask(COUNT, judge, scope) for _ in range(2)), return_exceptions=True)
    assert [type(each) for each in both] == [RunFailure, RunFailure]
    failing = False
    assert (await answers.ask(COUNT, judge, scope)).answer.value == 5


async def test_whoever_gives_up_does_not_take_the_answer_from_the_others() -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    class Slow(ScriptedModel):
        async def generate(self, request: Request) -> Reply:
            begun.set()
            await go_on.wait()
            return await super().generate(request)

    judge = Seat(Role.JUDGE, "m", Slow(["3"], "m"), Sampling())
    answers: SharedAnswers[int] = SharedAnswers()
    first, second = (asyncio.ensure_future(answers.ask(COUNT, judge, make_scope(judge, EPISODE, "a"))) for _ in range(2))
    await begun.wait()
    first.cancel()
    await asyncio.sleep(0)
    third = asyncio.ensure_future(answers.ask(COUNT, judge, make_scope(judge, EPISODE, "a")))
    await asyncio.sleep(0)
    go_on.set()
    assert [(await each).answer.value for each in (second, third)] == [3, 3]
