"""Data sets on a hub: a layout of ours is read over a real socket, its revision is kept, and what is wrong is told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engine.fake_hub import FakeHub

import sociable
from sociable.api import datasets
from sociable.engine.hub import find_data, pin

pytestmark = pytest.mark.extra

FIRST, SECOND = "1" * 40, "2" * 40


@pytest.fixture(scope="module")
def layouts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two commits of one data set: the bundled one, and its first 24 records."""
    whole, part = tmp_path_factory.mktemp("layouts") / "whole", tmp_path_factory.mktemp("layouts") / "part"
    datasets.lay_out("hsii-memory", whole)
    (part / "more").mkdir(parents=True)
    lines = (whole / "dataset.jsonl").read_text().splitlines(keepends=True)
    (part / "dataset.jsonl").write_text("".join(lines[:24]))
    (part / "more" / "a.jsonl").write_text("".join(lines[24:]))
    return {FIRST: whole, SECOND: part}


@pytest.fixture
def hub(layouts: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    library = pytest.importorskip("huggingface_hub", reason="needs the extra sociable[hub]")
    constants = pytest.importorskip("huggingface_hub.constants")
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    hub = FakeHub({"someone/memory": layouts, "someone/notes": {FIRST: Path(__file__).parent / "fake_hub.py"}})
    # The library reads these from the environment once, when it is imported.
    monkeypatch.setattr(constants, "ENDPOINT", hub.address)
    template = constants.HUGGINGFACE_CO_URL_TEMPLATE
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template.replace("https://huggingface.co", hub.address))
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    library.close_session()
    try:
        yield hub
    finally:
        library.close_session()
        hub.stop()


def run(dataset: str, out: Path) -> sociable.RunResult:
    return sociable.run("hsii-memory", "reference/oracle", dataset=dataset, out=out, limit=2)


def test_a_layout_gives_the_data_set_that_it_was_made_of(hub: FakeHub, tmp_path: Path) -> None:
    found = run(f"hf://someone/memory@{FIRST}", tmp_path / "run")
    bundled = sociable.run("hsii-memory", "reference/oracle", out=tmp_path / "bundled", limit=2)
    assert found.manifest["digests"] == bundled.manifest["digests"]
    assert [score.value for score in found.scores] == [score.value for score in bundled.scores]


def test_a_branch_is_pinned_and_kept_in_the_manifest(hub: FakeHub, tmp_path: Path) -> None:
    found = run("hf://someone/memory", tmp_path / "run")
    assert found.manifest["settings"]["dataset"] == f"hf://someone/memory@{SECOND}"
    assert (tmp_path / "run" / found.manifest["inputs"]["dataset"]).read_text().count("\n") == 24
    # What the run kept is enough: the hub is not asked again.
    hub.asked.clear()
    assert sociable.resume(tmp_path / "run").estimates == found.estimates
    assert sociable.score(tmp_path / "run").estimates == found.estimates
    assert not hub.asked


def test_a_commit_that_is_in_the_cache_needs_no_network(hub: FakeHub) -> None:
    named = f"hf://someone/memory@{FIRST}"
    first = find_data(named)
    hub.asked.clear()
    assert pin(named) == named
    assert find_data(named) == first
    assert not hub.asked


@pytest.mark.parametrize(("path", "records"), [("more/a.jsonl", 48), ("more", 48)])
def test_a_path_names_a_file_or_a_folder(path: str, records: int, hub: FakeHub) -> None:
    found = find_data(f"hf://someone/memory@{SECOND}/{path}")
    assert found is not None
    (file,) = [found] if found.is_file() else found.iterdir()
    assert len([json.loads(line) for line in file.read_text().splitlines()]) == records


def test_a_folder_is_whole_though_one_of_its_files_is_in_the_cache(hub: FakeHub, layouts: dict[str, Path]) -> None:
    named = f"hf://someone/memory@{SECOND}/more"
    other = layouts[SECOND] / "more" / "b.jsonl"
    other.write_text("{}\n")
    try:
        find_data(f"{named}/a.jsonl")
        found = find_data(named)
    finally:
        other.unlink()
    assert found is not None and {file.name for file in found.iterdir()} == {"a.jsonl", "b.jsonl"}


@pytest.mark.parametrize("answer", [b"<html>Log in first</html>", b"[]", b"{}", b'{"id": 3, "sha": null, "siblings": null}'])
def test_another_server_than_a_hub_is_told(answer: bytes, hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "answer", lambda *_: (200, {"Content-Type": "application/json"}, answer))
    with pytest.raises(sociable.InputError) as error:
        find_data("hf://someone/memory")
    assert "\n" not in str(error.value) and str(error.value).startswith("hf://someone/memory@")


@pytest.mark.parametrize(
    ("dataset", "said"),
    [
        ("hf://someone", "'hf://someone' names no data set on the hub: write hf://OWNER/NAME@REVISION"),
        ("hf://someone/memory@v9", "hf://someone/memory@v9: it has no revision 'v9': name a branch, a tag or a commit"),
        ("hf://nobody/memory", "has no such data set, or it is private"),
        ("hf://someone/notes", "it has no dataset.jsonl, so it is not of our layout. Name a file"),
        (
            f"hf://someone/memory@{FIRST}/b.jsonl",
            "it has no records at b.jsonl. Name a file or folder of .json or .jsonl behind the revision. It has: croissant.json, dataset.jsonl.",
        ),
        (f"hf://someone/memory@{FIRST}/../../x.jsonl", "its path, or what "),
        (f"hf://someone/memory@{FIRST}/none", "it has no records at none"),
    ],
)
def test_what_is_not_there_is_told_in_one_sentence(dataset: str, said: str, hub: FakeHub, tmp_path: Path) -> None:
    with pytest.raises(sociable.InputError) as error:
        run(dataset, tmp_path / "run")
    assert said in str(error.value) and "\n" not in str(error.value)
    assert not (tmp_path / "run").exists()


def test_a_process_of_its_own_reads_it_over_the_socket(hub: FakeHub, tmp_path: Path) -> None:
    command = [
        "run",
        "hsii-memory",
        "--model",
        "reference/oracle",
        "--limit",
        "1",
        "--dataset",
        "hf://someone/memory",
        "--out",
        "run",
    ]
    free = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    own = {**free, "HF_ENDPOINT": hub.address, "HF_HOME": str(tmp_path / "home")}
    done = subprocess.run(
        [sys.executable, "-m", "sociable", *command], cwd=tmp_path, env=own, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["settings"]["dataset"] == f"hf://someone/memory@{SECOND}"
    assert f"/datasets/someone/memory/resolve/{SECOND}/dataset.jsonl" in hub.asked


def test_without_a_network_it_is_told(hub: FakeHub, tmp_path: Path) -> None:
    hub.stop()
    with pytest.raises(sociable.InputError, match=r"cannot be reached \(.*\): try again with a network, or name a file"):
        run("hf://someone/memory", tmp_path / "run")
    with pytest.raises(sociable.InputError, match="cannot be reached"):
        run(f"hf://someone/memory@{FIRST}", tmp_path / "run")
