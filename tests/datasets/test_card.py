"""The data card of a build, as others read it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from sociable.api import datasets
from sociable.core.errors import InputError
from sociable.datasets.card import write_parquet


@pytest.fixture
def build(tmp_path: Path) -> Path:
    said = [("Ann", "Bo, hold the rope."), ("Bo", "I have it."), ("Ann", "Cy, the | lamp."), ("Cy", "It is out.")]
    turns = [{"speaker": who, "text": text} for who, text in said]
    (tmp_path / "talk.jsonl").write_text(json.dumps({"id": "pier", "title": "fog", "turns": turns}))
    datasets.construct("hsii-dialogues", tmp_path / "talk.jsonl", tmp_path / "build", licence="CC BY 4.0 | so")
    return tmp_path / "build"


def test_it_says_where_the_data_come_from_and_what_fell_out(build: Path) -> None:
    _, front, text = (build / "README.md").read_text().split("---\n", 2)
    # JSON is YAML: what the hub reads is a mapping.
    fields = {line.partition(": ")[0]: json.loads(line.partition(": ")[2]) for line in front.splitlines()}
    assert fields["license_name"] == "CC BY 4.0 | so"
    assert fields["configs"][0]["data_files"] == [{"split": "test", "path": "dataset.jsonl"}]
    assert "| records | 1 |" in text and "no model was asked" in text and "CC BY 4.0 \\| so" in text


@pytest.mark.extra
def test_croissant_is_read_by_its_own_library(build: Path) -> None:
    croissant = pytest.importorskip("mlcroissant", reason="needs the extra sociable[hub]")
    dataset = croissant.Dataset(str(build / "croissant.json"))
    assert not dataset.metadata.ctx.issues.errors
    (record,) = dataset.records("records")
    assert record["records/id"] == b"pier-1-3"
    said = [each["records/messages/content"] for each in record["records/messages"]]
    assert said == [b"Bo, hold the rope.", b"I have it."]
    assert record["records/background"]["records/background/characters"] == [b"Bo", b"Cy"]


@pytest.mark.extra
def test_parquet_holds_what_the_lines_hold(build: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="needs the extra sociable[hub]")
    (row,) = datasets.Dataset.from_parquet(str(write_parquet(build)), keep_in_memory=True, cache_dir=str(build / "cache"))
    assert row == json.loads((build / "dataset.jsonl").read_text())


def test_without_the_extra_it_is_named(build: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(InputError, match=r"pip install 'sociable\[hub\]'"):
        write_parquet(build)
