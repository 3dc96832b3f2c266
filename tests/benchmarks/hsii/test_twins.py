"""Twins: two cases that differ in one thing, by which somebody else must be addressed."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from sociable import run
from sociable.benchmarks.hsii.audit import SHORTCUTS
from sociable.benchmarks.hsii.dataset import ASSISTANT, Case, Split, cut_cases, load_dataset
from sociable.core.errors import DataError, InputError

Raw = dict[str, Any]

PEOPLE = ["Ana Roth", "Ben Omar", "Cleo Diaz"]
TWINS: Raw = {
    "id": "the-key",
    "topic": "community",
    "background": {"scene": "An allotment; Ben Omar opens the gate at nine.", "characters": PEOPLE},
    "messages": [
        {"role_from": "Ana Roth", "role_to": ASSISTANT, "content": "The key hangs in my shed today, not in the box."},
        {"role_from": "Cleo Diaz", "role_to": ASSISTANT, "content": "Which is my row? I begin to dig at noon."},
    ],
    "change": {"message": 1, "said": "in my shed today, not in the box", "instead": "in the box, as ever"},
    "twins": [
        {"golden": {"role_from": ASSISTANT, "role_to": "Ben Omar", "content": "Ben, the key is in Ana's shed today."}},
        {"golden": {"role_from": ASSISTANT, "role_to": "Cleo Diaz", "content": "Cleo, I'll find out which row is yours."}},
    ],
}


def change(**fields: Any) -> Raw:
    return deepcopy(TWINS) | fields


def test_twins_differ_in_one_thing_and_in_who_is_right() -> None:
    first, second = cut_cases(TWINS, "test", "x")
    assert (first.id, second.id) == ("the-key:1", "the-key:2")
    assert first.dialogue == second.dialogue == "the-key"
    assert first.messages[0].content == "The key hangs in my shed today, not in the box."
    assert second.messages[0].content == "The key hangs in the box, as ever."
    assert first.messages[1:] == second.messages[1:]
    assert first.background == second.background
    assert (first.golden.role_to, second.golden.role_to) == ("Ben Omar", "Cleo Diaz")


def test_the_scene_can_be_what_differs() -> None:
    first, second = cut_cases(change(change={"said": "at nine", "instead": "in the evening"}), "test", "x")
    assert second.background.scene == first.background.scene.replace("at nine", "in the evening")
    assert first.messages == second.messages


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"change": TWINS["change"] | {"said": "on the roof"}}, "must stand once in message 1"),
        ({"change": TWINS["change"] | {"message": 3}}, "there is no message 3, only 2"),
        ({"twins": [TWINS["twins"][0]] * 2}, "both golden responses are to 'Ben Omar'"),
        ({"twins": TWINS["twins"][:1]}, "twins"),
    ],
)
def test_what_is_no_pair_of_twins_is_refused(wrong: Raw, told: str) -> None:
    with pytest.raises(DataError, match=told):
        list(cut_cases(change(**wrong), "test", "x"))


def test_a_split_is_of_the_bundled_data_only(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="leave one of them out"):
        load_dataset(tmp_path, split=Split.HARD)


@pytest.fixture(scope="module")
def hard() -> tuple[Case, ...]:
    return load_dataset(split=Split.HARD).items


def test_no_rule_of_places_and_names_can_have_both_twins_right(hard: tuple[Case, ...]) -> None:
    pairs = list(zip(hard[0::2], hard[1::2], strict=True))
    for name, pick in SHORTCUTS.items():
        both = [pick(one) == one.golden.role_to and pick(other) == other.golden.role_to for one, other in pairs]
        # What is mentioned can depend on the words that differ; who speaks when cannot.
        assert sum(both) <= (len(pairs) // 4 if name == "most mentioned" else 0), name


def score(agent: str, folder: Path) -> dict[str, float | None]:
    run("hsii", model=agent, out=folder, options={"split": "hard", "stages": [1, 2]})
    scores = json.loads((folder / "scores.json").read_text())
    return {each["metric"]: each["value"] for each in scores["estimates"]}


def test_a_pair_counts_if_both_of_its_addressees_are_right(tmp_path: Path) -> None:
    oracle, silent, random = (score(f"reference/{name}", tmp_path / name) for name in ("oracle", "silent", "random"))
    assert oracle["twins"] == oracle["r2"] == 1.0
    assert silent["twins"] == 0.0
    assert (random["twins"] or 0.0) < 0.4


def test_what_has_no_twins_has_no_such_metric(tmp_path: Path) -> None:
    run("hsii", model="reference/oracle", out=tmp_path / "run", limit=1, options={"stages": [1, 2]})
    assert "twins" not in (tmp_path / "run" / "scores.json").read_text()
