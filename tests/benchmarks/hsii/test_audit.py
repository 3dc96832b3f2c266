"""Shortcuts: rules that look at names and places only."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from sociable.benchmarks.hsii.audit import (
    AVOIDANCES,
    SHORTCUTS,
    classify_addressees,
    find_alike_dialogues,
    find_rule_faults,
    load_printed_cases,
    make_audit,
    measure_readings,
    measure_shortcuts,
    measure_tells,
)
from sociable.benchmarks.hsii.dataset import ASSISTANT, Case, cut_cases, load_dataset
from sociable.core.view import Table, Tone

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
    spoken = {"last person addressed by anybody", "most frequent addressee of the assistant", "addressed by the assistant last"}
    assert set(results) == {*SHORTCUTS, *AVOIDANCES} - spoken, "the assistant has not spoken yet"


def test_the_farthest_from_chance_stands_first(talk: Callable[..., Case]) -> None:
    distances = [abs(result.distance) for result in measure_shortcuts([talk((BEN, ASSISTANT))])]
    assert distances == sorted(distances, reverse=True)


def test_the_papers_printed_cases_can_be_guessed() -> None:
    cases = load_printed_cases()
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
        "nobody whom the assistant has addressed before": 1.25,
    }


def test_a_rule_that_does_not_hold_is_named(case: Case) -> None:
    assert find_rule_faults([case]) == []
    assert case.weaker is not None
    golden_misses = case.model_copy(update={"golden": case.golden.model_copy(update={"content": "He is hurt."})})
    assert find_rule_faults([golden_misses]) == ["mill:3: the golden response conveys 1 of 2 points; misses 'Where he is.'"]
    change_weaker = {"weaker": case.weaker.model_copy(update={"content": case.golden.content})}
    assert find_rule_faults([case.model_copy(update=change_weaker)]) == []
    assert "mill:3: the weaker response earns more than the golden one" in find_rule_faults(
        [golden_misses.model_copy(update=change_weaker)]
    )


def test_acceptable_responses_are_counted_and_may_reveal_nothing(case: Case) -> None:
    short = "Shut the tap first."
    kept = case.model_copy(update={"acceptable": (short, case.golden.content)})
    assert find_rule_faults([kept]) == []
    assert kept.shortest == short
    page = make_audit([kept], "test")
    (section,) = [each for each in page.sections if each.title == "Acceptable responses"]
    (table,) = section.blocks
    assert isinstance(table, Table)
    rows = {str(row.cells[0]): str(row.cells[1]) for row in table.rows}
    assert rows["responses"] == "2"
    assert rows["words of the shortest, of the golden one's"] == f"{4 / len(case.golden.content.split()):.2f}"
    secret = case.private_facts[0]
    said = " ".join(secret.wording[0])
    told = case.model_copy(update={"acceptable": (said,), "private_facts": (secret.model_copy(update={"permitted": ()}),)})
    assert any(f"an acceptable response reveals '{secret.fact}'" in each for each in find_rule_faults([told]))


def test_length_and_words_that_tell_the_weaker_response_are_found(case: Case) -> None:
    def make_cases(weaker: str) -> list[Case]:
        assert case.weaker is not None
        own = case.weaker.model_copy(update={"content": weaker})
        golden = case.golden.model_copy(update={"content": "First shut the tap, then ask Lin."})
        return [case.model_copy(update={"dialogue": f"d{k}", "golden": golden, "weaker": own}) for k in range(12)]

    told = {result.name: result.hits.value for result in measure_tells(make_cases("Stay calm."))}
    assert told == {"the longer one": 1.0, "words, other dialogues": 1.0, "words and pairs of words, other dialogues": 1.0}
    exchanged = {result.name: result.hits.value for result in measure_tells(make_cases("First ask Lin, then shut the tap."))}
    assert exchanged["the longer one"] == exchanged["words, other dialogues"] == 0.5
    assert exchanged["words and pairs of words, other dialogues"] == 1.0
    assert measure_tells([case.model_copy(update={"weaker": None})]) == []


def test_the_document_says_what_is_far_from_chance(talk: Callable[..., Case]) -> None:
    document = make_audit([talk((CARA, ASSISTANT))], "test")
    assert "last speaker" in document.sections[0].blocks[0].text  # type: ignore[union-attr]
    # Three shortcuts look at whom the assistant addressed: here it has not spoken, and they pick nobody.
    assert len(document.summary.rows) == len(SHORTCUTS) - 3 + len(AVOIDANCES)


def test_the_bundled_data_has_no_fault() -> None:
    document = make_audit(load_dataset().items, "bundled")
    (verdict,) = document.sections[0].blocks  # no callout of a rule's fault beside it
    # What a forest finds is more than chance, and the audit says how much.
    assert verdict.text.startswith("No shortcut is further than 0.15 from chance. The farthest is 'random forest")  # type: ignore[union-attr]
    assert verdict.tone is Tone.NEUTRAL  # type: ignore[union-attr]


# ------------------------------------------------------------------------------------------------------------
# Classifiers, readers, likeness


def dialogues(count: int, golden: Callable[[int], str]) -> list[Case]:
    """Dialogues in which three people speak in another order each, and the golden addressee is whoever ``golden`` says."""
    found = []
    for number in range(count):
        names = [ANN, BEN, CARA]
        Random(number).shuffle(names)
        raw = {
            "id": f"d{number}",
            "topic": "t",
            "background": {"scene": f"Scene {number}.", "characters": [ANN, BEN, CARA]},
            "messages": [{"role_from": name, "role_to": ASSISTANT, "content": f"{name} {number}"} for name in names],
            "golden": {"role_from": ASSISTANT, "role_to": golden(number), "content": "Come."},
        }
        found += cut_cases(raw, "test", "x")
    return found


def last_speaker(number: int) -> str:
    names = [ANN, BEN, CARA]
    Random(number).shuffle(names)
    return names[-1]


def test_classifiers_learn_a_shortcut_from_other_dialogues() -> None:
    hits = classify_addressees(dialogues(30, last_speaker))
    assert set(hits) == {"logistic regression", "random forest"}
    assert all(sum(found) / len(found) > 0.95 for found in hits.values())


def test_classifiers_learn_nothing_where_there_is_nothing() -> None:
    hits = classify_addressees(dialogues(60, lambda number: [ANN, BEN, CARA][Random(f"golden {number}").randrange(3)]))
    assert all(sum(found) / len(found) < 1 / 3 + 0.2 for found in hits.values())


def test_the_dialogue_itself_is_no_part_of_the_training() -> None:
    """One dialogue goes against the rule of the others: trained with it, a forest would know."""
    cases = dialogues(30, lambda number: last_speaker(number) if number else next(n for n in (ANN, BEN) if n != last_speaker(0)))
    assert all(found[0] == 0.0 for found in classify_addressees(cases).values())


def test_too_few_dialogues_train_nothing() -> None:
    assert classify_addressees(dialogues(9, last_speaker)) == {}


def read(case: Case, *readings: str) -> Case:
    return case.model_copy(update={"readings": readings})


def test_readers_are_counted_against_the_golden_addressee_and_among_themselves() -> None:
    first, second, third, fourth = dialogues(4, lambda _: CARA)
    found = measure_readings(
        [read(first, CARA, CARA, "cara diaz"), read(second, CARA, CARA, BEN), read(third, BEN, BEN, BEN), fourth]
    )
    assert found is not None
    assert (found.cases, found.readers, found.unanimous, found.contested) == (3, (3, 3), 1, (third.id,))
    # Two items with one label of three, one with two and one: P = 7/9; marginals 4/9 and 5/9.
    chance = (5 / 9) ** 2 + (4 / 9) ** 2
    assert found.kappa == pytest.approx((7 / 9 - chance) / (1 - chance))
    assert measure_readings([fourth]) is None


def test_dialogues_that_are_too_alike_are_named() -> None:
    one, other, third = dialogues(3, lambda _: CARA)
    same = [
        message.model_copy(update={"content": f"{n} the same seven words stand in here {n}"})
        for n, message in enumerate(one.messages * 3)
    ]
    pair = [one.model_copy(update={"messages": tuple(same)}), other.model_copy(update={"messages": tuple(same)})]
    (words, speakers) = find_alike_dialogues(pair)
    assert "runs of five words" in words
    assert "same sequence of speakers" in speakers
    assert not [found for found in find_alike_dialogues([one, third]) if "five words" in found]


def test_of_many_alike_the_most_alike_are_named_and_the_others_counted() -> None:
    (one,) = dialogues(1, lambda _: CARA)
    said = [
        message.model_copy(update={"content": f"{n} the same seven words stand in here {n}"})
        for n, message in enumerate(one.messages)
    ]
    many = [one.model_copy(update={"id": f"d{n}", "dialogue": f"d{n}", "messages": tuple(said * 3)}) for n in range(8)]
    found = find_alike_dialogues(many)
    assert len(found) == 22 and found[10] == found[21] == "And 18 more like these."
