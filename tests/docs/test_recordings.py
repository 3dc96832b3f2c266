"""The recordings of the small language model are played again, offline, and give the tables that stand beside them."""

from __future__ import annotations

import importlib.util
import re
import sys
import tarfile
from pathlib import Path
from types import ModuleType

import pytest

import sociable
from sociable.engine.registry import list_benchmark_names

ROOT = Path(__file__).parents[2]
RECORDINGS = ROOT / "docs" / "recordings"


def load_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("record", RECORDINGS / "record.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["record"] = module
    spec.loader.exec_module(module)
    return module


def test_every_benchmark_has_a_recording_and_a_place_on_the_page() -> None:
    page = (ROOT / "docs" / "benchmarks" / "small_model.md").read_text(encoding="utf-8")
    included = re.findall(r"^```\{include\} \.\./recordings/([^/]+)/summary\.md$", page, re.MULTILINE)
    assert sorted(included) == load_script().list_recordings() == list_benchmark_names()


@pytest.mark.parametrize("benchmark", list_benchmark_names())
def test_a_recording_gives_what_the_page_shows(benchmark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with tarfile.open(RECORDINGS / benchmark / "recording.tar.xz") as archive:
        assert sorted(archive.getnames()) == [f"{benchmark}/calls.sqlite", f"{benchmark}/manifest.json"]
        archive.extractall(tmp_path, filter="data")
    monkeypatch.chdir(tmp_path)
    result = sociable.resume(benchmark, offline=True)
    assert result.manifest["models"]["subject"] == "local/smollm2"
    assert not any(score.outcome == "errored" for score in result.scores)
    summary = (RECORDINGS / benchmark / "summary.md").read_text(encoding="utf-8")
    assert load_script().summarize(Path(benchmark)) == summary


def test_recordings_are_small() -> None:
    assert sum(file.stat().st_size for file in RECORDINGS.rglob("*.tar.xz")) < 2_000_000


def test_the_page_on_a_bad_judge_shows_its_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(RECORDINGS))
    spec = importlib.util.spec_from_file_location("audit", RECORDINGS / "audit.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    cards = module.list_cards()
    assert {card.benchmark for card in cards} == set(module.KNOWN)
    assert sum(len(card.kinds) for card in cards) == 7
    assert all(card.judge == "local/smollm2" for card in cards)
    assert module.summarize(cards) == (RECORDINGS / "audits" / "summary.md").read_text(encoding="utf-8")
