"""The bundled dialogues: as many, as long, as complete and as different from each other as promised."""

from __future__ import annotations

import json
from collections import Counter
from importlib import resources
from itertools import combinations, pairwise
from typing import Any

import pytest

from sociable.benchmarks.hsii.audit import measure_readings
from sociable.benchmarks.hsii.briefing import render_setting
from sociable.benchmarks.hsii.dataset import ASSISTANT, load_dataset
from sociable.benchmarks.hsii.measure import is_evading_conflict, list_repeated_questions, measure_leaks, measure_points
from sociable.benchmarks.hsii.records import HSIIEpisode
from sociable.core.names import find_words
from sociable.core.records import Turn
from sociable.core.wording import has_wording

FOLDER = resources.files("sociable.benchmarks.hsii").joinpath("data", "dialogues")
RAW: dict[str, dict[str, Any]] = {
    file.name: json.loads(file.read_text(encoding="utf-8")) for file in FOLDER.iterdir() if file.name.endswith(".json")
}
DATASET = load_dataset()
DIALOGUES = {
    name: [case for case in DATASET.items if case.dialogue == name]
    for name in dict.fromkeys(case.dialogue for case in DATASET.items)
}


def test_there_are_enough() -> None:
    assert len(DIALOGUES) == len(RAW) >= 60
    assert len(DATASET.items) >= 200
    assert DATASET.source == "bundled"
    assert {case.stage for case in DATASET.items} == {"single", "multi"}


def test_a_part_of_a_name_is_enough_where_it_is_nobody_elses() -> None:
    missed = []
    for case in {case.dialogue: case for case in DATASET.items}.values():
        words = Counter(word for name in case.characters for word in {*find_words(name)})
        for name in case.characters:
            parts = [word for word in name.split() if len(word) > 3 and words[find_words(word)[0]] == 1]
            missed += [(name, part) for part in parts if case.find_character(f"Mr {part}") != name]
    assert not missed


def test_who_overhears_is_told_no_secret() -> None:
    told = [
        f"{case.dialogue} {message.index}: {hearer}, {fact.fact}"
        for case in DATASET.items
        for fact in case.private_facts
        for message in case.messages
        if message.index == fact.told_at
        for hearer in message.heard_by
        if hearer in [name for name in case.characters if fact in case.list_hidden_facts(name)]
    ]
    assert not told
    overheard = {case.dialogue for case in DATASET.items if any(message.heard_by for message in case.messages)}
    assert len(overheard) >= 10
    for case in DATASET.items:
        hidden = [fact for hearer in case.list_hearers(case.golden.role_to) for fact in case.list_hidden_facts(hearer)]
        assert not any(has_wording(case.golden.content, fact.wording) for fact in hidden)


def test_a_tenth_of_the_cases_or_more_has_something_better() -> None:
    better = [case for case in DATASET.items if case.better]
    assert len(better) >= len(DATASET.items) / 10
    for case in better:
        assert case.better
        golden, found = (measure_points(case, text) for text in (case.golden.content, case.better.content))
        assert golden and found and found[0] > golden[0], case.id


def test_every_field_of_life_has_its_share() -> None:
    counts = Counter(record["topic"] for record in RAW.values())
    assert set(counts) == {"sports", "politics", "education", "environment", "research", "business", "health", "community"}
    assert min(counts.values()) >= 6


def test_every_file_can_be_found_in_a_training_corpus() -> None:
    (canary,) = {record["canary"] for record in RAW.values()}
    assert canary in FOLDER.parent.joinpath("README.md").read_text(encoding="utf-8")
    for case in DATASET.items:
        assert canary not in render_setting(case)


def test_independent_readers_agree_with_every_golden_target() -> None:
    readings = measure_readings(DATASET.items)
    assert readings is not None
    assert readings.cases == len(DATASET.items)
    assert readings.readers[0] >= 3
    assert not readings.contested
    assert readings.kappa is not None
    assert readings.kappa > 0.8


@pytest.mark.parametrize("name", DIALOGUES)
def test_the_golden_side_faces_the_conflict_and_asks_nothing_again(name: str) -> None:
    for case in DIALOGUES[name]:
        assert is_evading_conflict(case, case.golden.content) is False, case.id
        for message in (case.golden, *case.continuation):
            if message.role_from == ASSISTANT:
                assert list_repeated_questions(case, message.content) == (), case.id


@pytest.mark.parametrize("name", RAW)
def test_a_dialogue_has_a_few_people_and_a_fair_length(name: str) -> None:
    assert 3 <= len(RAW[name]["background"]["characters"]) <= 5
    assert 6 <= len(RAW[name]["messages"]) <= 20
    assert RAW[name]["id"] == name.removesuffix(".json")


@pytest.mark.parametrize("name", RAW)
def test_a_dialogue_has_everything_that_is_optional(name: str) -> None:
    record = RAW[name]
    for field in ("stage", "aliases", "private_facts", "cases"):
        assert record[field], field
    assert record["background"]["relationships"]
    assert record["background"]["conflicts"]
    assert set(record["aliases"]) == set(record["background"]["characters"])
    turns = {message["index"] for message in record["messages"][1:] if message["role_from"] == ASSISTANT}
    assert {note["index"] for note in record["cases"]} == turns, "each of the assistant's turns has its notes"
    for note in record["cases"]:
        for field in ("why", "weaker", "must_convey", "already_said", "readings", "continuation"):
            assert note[field], f"{note['index']}: {field}"


@pytest.mark.parametrize("name", DIALOGUES)
def test_every_spelling_names_its_character(name: str) -> None:
    case = DIALOGUES[name][0]
    for who in case.characters:
        for spelling in (who, who.upper(), f"the {who}", f"{who}.", *case.aliases[who]):
            assert case.find_character(spelling) == who


@pytest.mark.parametrize("name", DIALOGUES)
def test_the_golden_side_keeps_confidences(name: str) -> None:
    for case in DIALOGUES[name]:
        turns = tuple(
            Turn(index=number, speaker=message.role_from, addressees=(message.role_to,), content=message.content)
            for number, message in enumerate([case.golden, *case.continuation], start=1)
        )
        target = case.golden.role_to
        episode = HSIIEpisode(id="x", scenario=case.id, cluster="x", target=target, target_correct=True, turns=turns)
        assert not measure_leaks(case, episode), case.id


def five_grams(record: dict[str, Any]) -> set[tuple[str, ...]]:
    """The runs of five words in all that is said or told."""
    texts = [record["background"]["scene"], *(message["content"] for message in record["messages"])]
    for note in record["cases"]:
        texts += [note["why"], note["weaker"]["content"], *(line["content"] for line in note["continuation"])]
    found = set()
    for text in texts:
        own = find_words(text)
        found |= set(zip(*(own[start:] for start in range(5)), strict=False))
    return found


def test_no_two_dialogues_share_their_wording() -> None:
    grams = {name: five_grams(record) for name, record in RAW.items()}
    assert min(map(len, grams.values())) > 100
    for (one, first), (other, second) in combinations(grams.items(), 2):
        assert len(first & second) / len(first | second) <= 0.05, f"{one} and {other}"


def test_ids_come_in_the_order_of_the_files() -> None:
    ids = [case.dialogue for case in DATASET.items]
    assert all(one <= other for one, other in pairwise(ids))
