"""Pairwise judging in both orders."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sociable.core.records import Episode, Usage, Verdict
from sociable.engine.seats import Role, Seat
from sociable.judging.pairwise import Comparison, Pair, PairJudgment, combine_orders, judge_pair
from sociable.models.protocol import ChatMessage, FinishReason, Reply, Request, Sampling
from sociable.models.scripted import ScriptedModel

WIN, TIE, LOSS, NONE = Verdict.WIN, Verdict.TIE, Verdict.LOSS, Verdict.UNSCORED
MIRROR = {WIN: LOSS, LOSS: WIN, TIE: TIE, NONE: NONE}
PAIR = Pair(subject="SUBJECT", golden="GOLDEN")
EPISODE = Episode(id="e", scenario="s", cluster="s")


def ask(first: str, second: str) -> list[ChatMessage]:
    return [{"role": "user", "content": f"{first}\n{second}"}]


COMPARISON = Comparison(ask, lambda text: (float(len(text)), f"{len(text)} letters"))


def model_judge(script: object) -> Seat:
    return Seat(Role.JUDGE, "judge", ScriptedModel(script, "judge"), Sampling())  # type: ignore[arg-type]


def says(subject_first: int | str, subject_second: int | str) -> Seat:
    """A judge that says one thing when the subject stands first, another when it stands second."""

    def answer(request: Request) -> str:
        first = request.messages[0]["content"].startswith("SUBJECT")
        said = subject_first if first else subject_second
        return f'{{"reason": "because", "verdict": {said}}}'

    return model_judge(answer)


async def judged(judge: Seat, pair: Pair = PAIR) -> PairJudgment:
    return await judge_pair(pair, COMPARISON, judge, EPISODE, "c")


@pytest.mark.parametrize(
    ("subject_first", "subject_second", "verdict", "disagree"),
    [
        (1, 2, WIN, False),
        (2, 1, LOSS, False),
        (0, 0, TIE, False),
        (1, 1, TIE, True),  # always the first: position bias
        (2, 2, TIE, True),
        (1, 0, TIE, True),
        (0, 1, TIE, True),
        ("maybe", 2, NONE, None),
        (1, 7, NONE, None),
    ],
)
async def test_a_win_or_a_loss_needs_combine_orders(
    subject_first: int | str, subject_second: int | str, verdict: Verdict, disagree: bool | None
) -> None:
    judgment = await judged(says(subject_first, subject_second))
    assert (judgment.verdict, judgment.orders_disagree) == (verdict, disagree)


async def test_each_order_is_asked_once_with_the_sides_swapped() -> None:
    model = ScriptedModel(lambda _: '{"verdict": 0}', "judge")
    judgment = await judged(Seat(Role.JUDGE, "judge", model, Sampling()))
    assert sorted(request.messages[0]["content"] for request in model.requests) == ["GOLDEN\nSUBJECT", "SUBJECT\nGOLDEN"]
    # Both stand in one scope, and are paid for together.
    assert {request.scope.name for request in model.requests} == {"e/judge/judge|c"}
    assert (judgment.id, judgment.usage.calls) == ("e|c|judge", 2)


async def test_an_unread_order_leaves_the_pair_unscored_with_the_reason() -> None:
    judgment = await judged(says(1, '"perhaps"'))
    assert judgment.verdict is NONE
    assert judgment.reason == "judge: no verdict in the reply: because"
    assert [order.preference for order in judgment.orders] == [WIN, NONE]


@pytest.mark.parametrize(
    ("finish", "words"),
    [
        (FinishReason.LENGTH, "cut off"),
        (FinishReason.REFUSAL, "refused"),
        (FinishReason.CONTENT_FILTER, "content filter"),
    ],
)
async def test_a_judge_that_is_cut_off_or_refuses_has_given_no_verdict(finish: FinishReason, words: str) -> None:
    # The verdict that was cut off may not be the one that stands in the beginning.
    judgment = await judged(model_judge(lambda _: Reply("verdict: 1", Usage(), finish)))
    assert judgment.verdict is NONE
    assert words in judgment.reason


async def test_an_empty_reply_is_no_verdict() -> None:
    judgment = await judged(model_judge(lambda _: ""))
    assert (judgment.verdict, judgment.reason) == (NONE, "judge: empty")


async def test_a_rule_compares_points_whatever_the_side() -> None:
    judge = Seat(Role.JUDGE, "reference/rule", None, Sampling())
    assert (await judged(judge, Pair("long", "abc"))).verdict is WIN
    assert (await judged(judge, Pair("abc", "long"))).verdict is LOSS
    tie = await judged(judge, Pair("abc", "abc"))
    assert (tie.verdict, tie.orders_disagree, tie.reason) == (TIE, False, "subject: 3 letters; golden: 3 letters")


@given(st.sampled_from(list(Verdict)), st.sampled_from(list(Verdict)))
def test_swapping_the_sides_turns_a_win_into_a_loss(first: Verdict, second: Verdict) -> None:
    assert combine_orders(MIRROR[first], MIRROR[second]) is MIRROR[combine_orders(first, second)]
    assert combine_orders(second, first) is combine_orders(first, second)


@given(st.dictionaries(st.sampled_from(["A B", "B A"]), st.sampled_from([0, 1, 2, 9]), min_size=2))
async def test_swapping_subject_and_golden_turns_the_judgment_round(opinions: dict[str, int]) -> None:
    # The judge is any function of the two texts in their order.
    def judge() -> Seat:
        return model_judge(lambda request: f'{{"verdict": {opinions[request.messages[0]["content"].replace(chr(10), " ")]}}}')

    one, other = await judged(judge(), Pair("A", "B")), await judged(judge(), Pair("B", "A"))
    assert other.verdict is MIRROR[one.verdict]
    assert other.orders_disagree == one.orders_disagree
