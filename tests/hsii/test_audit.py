"""Shortcuts: rules that look at names and places only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sociable.hsii.audit import AVOIDANCES, SHORTCUTS, audit_document, measure_shortcuts, printed_cases, rule_faults
from sociable.hsii.dataset import ASSISTANT, Case, cut_cases, load_dataset

ANN, BEN, CARA = "Ann Lee", "Ben Cole", "Cara Diaz"


@pytest.fixture
def talk(raw_case: dict[str, Any]) -> Callable[..., Case]:
    """A case with these turns, (from, to) or (from, to, words), whose golden addressee is Cara."""

    def make(*turns: tuple[str, ...]) -> Case:
        messages = [
            {"role_from": one, "role_to": other, "content": words[0] if words else "…words…"} for one, other, *words in turns
        ]
        changed = raw_case | {"messages": messages, "private_facts": [], "golden": raw_case["golden"] | {"index": None}}
        return next(cut_cases(changed, "test", "x"))

    return make


def picks(case: Case) -> dict[str, str | None]:
    return {name: pick(case) for name, pick in SHORTCUTS.items()}


def test_every_shortcut_picks_as_its_name_says(talk: Callable[..., Case]) -> None:
    case = talk(
        (BEN, ANN, "Ann Lee, ask the miller."),
        (CARA, ASSISTANT),
        (BEN, ASSISTANT),
        (ASSISTANT, CARA),
        (ASSISTANT, ANN),
        (CARA, ASSISTANT),
        (ANN, BEN),
        (ASSISTANT, CARA),
        (BEN, CARA),
        (BEN, ANN),
    )
    assert picks(case) == {
        "last speaker": BEN,
        "last to address the assistant": CARA,
        "last person addressed by anybody": ANN,
        "first speaker": BEN,
        "first character listed": ANN,
        "last character listed": CARA,
        "speaks most": BEN,  # 4 times; Cara 2, Ann 1
        "speaks least": ANN,
        "most mentioned": ANN,
        "addresses the assistant most": CARA,  # twice; Ben once
        "most frequent addressee of the assistant": CARA,
        "addressed by the assistant last": CARA,
        "waiting longest for an answer": BEN,  # both of Cara's were answered
        "last to ask and still waiting": BEN,
    }


def test_a_shortcut_with_nothing_to_go_by_picks_nobody(talk: Callable[..., Case]) -> None:
    found = picks(talk())
    assert {name for name, pick in found.items() if pick is not None} == {
        "first character listed",
        "last character listed",
        "speaks least",
        "most mentioned",
    }


def test_hits_are_the_share_of_cases(talk: Callable[..., Case]) -> None:
    # The golden addressee is Cara: the last speaker is in 1 of 2. Never the last speaker: Ann or Cara, 1/2, and 0.
    cases = [talk((BEN, ASSISTANT)), talk((CARA, ASSISTANT))]
    results = {result.name: result for result in measure_shortcuts(cases)}
    assert results["last speaker"].hits.value == 1 / 2
    assert results["never the last speaker"].hits.value == 1 / 4
    assert results["last speaker"].chance == pytest.approx(1 / 3)
    assert results["last character listed"].distance == pytest.approx(2 / 3)
    assert set(results) == {*SHORTCUTS, *AVOIDANCES}


def test_the_farthest_from_chance_stands_first(talk: Callable[..., Case]) -> None:
    distances = [abs(result.distance) for result in measure_shortcuts([talk((BEN, ASSISTANT))])]
    assert distances == sorted(distances, reverse=True)


def test_the_papers_printed_cases_can_be_guessed() -> None:
    cases = printed_cases()
    results = {result.name: result for result in measure_shortcuts(cases)}
    assert [len(case.characters) for case in cases] == [5, 5, 5]
    assert {round(result.chance, 9) for result in results.values()} == {0.2}
    hits = {name: round(3 * (result.hits.value or 0.0), 2) for name, result in results.items()}
    assert hits == {
        "last speaker": 2,
        "last to address the assistant": 2,
        "last person addressed by anybody": 1,
        "first speaker": 0,
        "first character listed": 0,
        "last character listed": 0,
        "speaks most": 1,
        "speaks least": 0,
        "most mentioned": 0,
        "addresses the assistant most": 1,
        "most frequent addressee of the assistant": 1,
        "addressed by the assistant last": 1,
        "waiting longest for an answer": 1,
        "last to ask and still waiting": 2,
        # A random pick among the other four.
        "never the last speaker": 0.25,
        "never the last to address the assistant": 0.25,
        "never whom the assistant addressed last": 0.5,
        "logistic regression, other dialogues": 1,
        "random forest, other dialogues": 1,
    }


def test_a_rule_that_does_not_hold_is_named(case: Case) -> None:
    assert rule_faults([case]) == []
    assert case.weaker is not None
    golden_misses = case.model_copy(update={"golden": case.golden.model_copy(update={"content": "He is hurt."})})
    assert rule_faults([golden_misses]) == ["mill:3: the golden response conveys 1 of 2 points; misses 'Where he is.'"]
    weaker_earns = case.model_copy(update={"weaker": case.weaker.model_copy(update={"content": case.golden.content})})
    assert rule_faults([weaker_earns]) == ["mill:3: the weaker response earns as much as the golden one"]


def test_the_document_says_what_is_far_from_chance(talk: Callable[..., Case]) -> None:
    document = audit_document([talk((CARA, ASSISTANT))], "test")
    assert "last speaker" in document.sections[0].blocks[0].text  # type: ignore[union-attr]
    assert len(document.summary.rows) == len(SHORTCUTS) + len(AVOIDANCES)


def test_the_bundled_data_has_no_fault() -> None:
    document = audit_document(load_dataset().cases, "bundled")
    (verdict,) = document.sections[0].blocks  # no callout of a rule's fault beside it
    assert verdict.text == "No shortcut is further than 0.15 from chance."  # type: ignore[union-attr]
