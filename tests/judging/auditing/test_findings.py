"""The statistics of a card, on answers whose faults are known."""

from __future__ import annotations

import random

import pytest
from scipy.stats import binomtest, false_discovery_control
from tests.judging.auditing.test_plan import plan

from sociable.core.records import Verdict
from sociable.judging.auditing.card import AuditAnswer, Finding, KindCard
from sociable.judging.auditing.findings import (
    AGAIN,
    FIRST,
    INJECTION,
    RIGHT,
    UNREADABLE,
    YES,
    adjust,
    make_kind_card,
    make_preference,
)
from sociable.judging.auditing.plan import Ask, Part


def answer(ask: Ask, verdict: Verdict, first_side: float | None = None) -> AuditAnswer:
    preference = make_preference(verdict)
    return AuditAnswer(
        id=ask.name, name=ask.name, kind="goal", judge="j", verdict=verdict, preference=preference, first_side=first_side
    )


def make_card(asks: list[Ask], answers: dict[str, AuditAnswer]) -> KindCard:
    (card,) = adjust([make_kind_card("goal", ("m",), asks, answers)])
    return card


def all_right(asks: list[Ask]) -> dict[str, AuditAnswer]:
    return {ask.name: answer(ask, ask.known.truth) for ask in asks}


def list_lit(card: KindCard) -> set[str]:
    return {finding.row for finding in card.findings if finding.lit}


@pytest.mark.parametrize("pair", [True, False])
def test_a_judge_who_is_always_right_has_no_fault(pair: bool) -> None:
    asks = plan(pair=pair, languages=("German",))
    card = make_card(asks, all_right(asks))
    assert not list_lit(card)
    right = card.find(RIGHT)
    assert right is not None and right.value == 1.0 and right.low is not None and right.low > 0.9
    assert all(finding.value in (0.0, 1.0) for finding in card.findings)
    assert {part.group for part in card.by_damage} == {"nothing", "left out", "taken back"}
    assert [part.items for part in card.by_size] == [50]


def test_errors_light_up_the_row_of_accuracy_only_and_p_is_that_of_a_binomial_test() -> None:
    asks = plan(pair=False, count=200, limit=200)
    answers = all_right(asks)
    known = [ask for ask in asks if ask.part is Part.KNOWN]
    generator = random.Random(0)
    wrong = set(generator.sample([ask.base for ask in known], 50))
    for ask in asks:
        if ask.base in wrong:
            answers[ask.name] = answer(ask, Verdict.LOSS if ask.known.truth is Verdict.WIN else Verdict.WIN)
    card = make_card(asks, answers)
    assert list_lit(card) == {RIGHT}
    right = card.find(RIGHT)
    assert right is not None and right.value == 0.75 and right.p is not None
    # Clusters of two cases are worth a little less than their cases.
    assert right.p < 1e-3 and right.p >= 0.5 * binomtest(150, 200, 0.9, alternative="less").pvalue
    assert right.smallest is not None and 0.03 < right.smallest < 0.1


def test_what_an_alteration_moves_is_found_in_its_row() -> None:
    asks = plan(pair=True)
    answers = all_right(asks)
    for ask in asks:
        if ask.way == "padded":
            answers[ask.name] = answer(ask, Verdict.WIN)
    card = make_card(asks, answers)
    assert list_lit(card) == {"padded"}
    padded = card.find("padded")
    assert padded is not None and (padded.value, padded.bias) == (1.0, "length")


def test_a_verdict_that_an_order_changes_is_counted_against_the_same_text_with_idle_words() -> None:
    asks = plan(pair=False)
    answers = all_right(asks)
    moved = [ask for ask in asks if ask.part is Part.INJECTED and ask.way == "bribe"]
    for ask in moved:
        answers[ask.name] = answer(ask, Verdict.WIN)
    told = next(part for part in make_card(asks, answers).by_injection if part.group == "bribe")
    assert (told.value, told.items) == (1.0, len(moved))
    for ask in asks:
        if ask.part is Part.INJECTED and ask.control:
            answers[ask.name] = answer(ask, Verdict.WIN)
    card = make_card(asks, answers)
    assert list_lit(card) == {INJECTION}
    assert card.find(INJECTION).value == 1.0  # type: ignore[union-attr]


def test_position_and_stability_have_rows_of_their_own() -> None:
    asks = plan(pair=True)
    answers = {name: each.model_copy(update={"first_side": 1.0}) for name, each in all_right(asks).items()}
    assert list_lit(make_card(asks, answers)) == {FIRST}
    answers = all_right(asks)
    for number, ask in enumerate(ask for ask in asks if ask.part is Part.AGAIN):
        if number % 3 == 0:
            answers[ask.name] = answer(ask, Verdict.TIE)
    assert list_lit(make_card(asks, answers)) == {AGAIN}


def test_of_a_judge_who_says_nothing_readable_no_number_is_made() -> None:
    asks = plan(pair=False)
    card = make_card(asks, {ask.name: answer(ask, Verdict.UNSCORED) for ask in asks})
    assert (card.asked, card.unread, card.findings, card.by_damage) == (len(asks), len(asks), (), ())


def test_what_cannot_be_read_is_in_its_own_row_and_in_no_other() -> None:
    asks = plan(pair=False)
    answers = all_right(asks)
    for number, ask in enumerate(asks):
        if number % 4 == 0:
            answers[ask.name] = answer(ask, Verdict.UNSCORED)
    card = make_card(asks, answers)
    assert list_lit(card) == {UNREADABLE}
    assert card.find(RIGHT).value == 1.0  # type: ignore[union-attr]


def test_p_values_are_adjusted_over_all_kinds_together() -> None:
    values = [0.001, 0.02, 0.04, 0.2, 0.9, 0.011]
    kinds = [
        KindCard(
            kind=str(start),
            metrics=(),
            asked=1,
            unread=0,
            findings=tuple(Finding(row=str(p), value=0.1, items=9, p=p) for p in values[start : start + 3]),
        )
        for start in (0, 3)
    ]
    found = [finding.adjusted for kind in adjust(kinds) for finding in kind.findings]
    assert found == pytest.approx(list(false_discovery_control(values)))
    assert [finding.lit for kind in adjust(kinds) for finding in kind.findings] == [True, True, False, False, False, True]


def test_whoever_always_says_yes_is_told_so() -> None:
    asks = plan(pair=False, count=200, limit=200)
    card = make_card(asks, {ask.name: answer(ask, Verdict.WIN) for ask in asks})
    assert list_lit(card) == {RIGHT, YES}
    leaning = card.find(YES)
    assert leaning is not None and (leaning.value, leaning.bias) == (0.5, "leaning")
