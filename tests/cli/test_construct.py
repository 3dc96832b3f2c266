"""``sociable construct`` as it is typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import sociable


@pytest.fixture
def talk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    said = [("Ann", "Bo, hold the rope."), ("Bo", "I have it."), ("Ann", "Cy, the lamp."), ("Cy", "It is out.")]
    turns = [{"speaker": who, "text": text} for who, text in said]
    (tmp_path / "talk.jsonl").write_text(json.dumps({"id": "pier", "turns": turns}))
    return tmp_path / "talk.jsonl"


def test_dialogues_become_cases(talk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sociable("construct", "hsii", talk, "--dialogues", "--out", "build") == 0
    shown = capsys.readouterr().out
    assert "What came in and what is left" in shown and "addressees" in shown
    assert Path("build/dataset.jsonl").read_text().count("\n") == 1


def test_a_build_is_a_data_set_by_its_folder(talk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sociable("construct", "hsii", talk, "--dialogues", "--out", "build")
    assert sociable("describe", "hsii", "--dataset", "build") == 0
    assert sociable("describe", "build") == sociable("audit", "build") == 0
    assert "Audit of hsii" in capsys.readouterr().out
    # A benchmark's name is that, whatever folders there are.
    Path("hsii").mkdir()
    assert sociable("describe", "hsii") == 0
    sociable("construct", "hsii", talk, "--out", "begun")
    (Path("waits") / "x").mkdir(parents=True)
    Path("waits/manifest.json").write_text('{"kind": "build", "format": 1}')
    assert sociable("describe", "hsii", "--dataset", "waits") == 2
    assert "the build is not finished" in " ".join(capsys.readouterr().err.split())
    assert sociable("audit", ".") == 2
    assert "is no build that knows its benchmark" in " ".join(capsys.readouterr().err.split())
    Path("build/dataset.reviewed.jsonl").write_text(Path("build/dataset.jsonl").read_text())
    assert sociable("describe", "hsii", "--dataset", "build") == 2
    assert "there are two data sets in it" in " ".join(capsys.readouterr().err.split())


def test_an_empty_data_set_is_no_success(talk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sociable("construct", "hsii", talk, "--dialogues", "--assistant", "Bo", "--out", "build") == 1
    assert "Nothing came through" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("construct", "hsii", "--out", "b"), "'hsii' takes one source: a file of articles"),
        (("construct", "poems", "talk.jsonl", "--out", "b"), "There is no recipe 'poems'; there are: agentsense"),
        (("construct", "hsii --dialogues", "talk.jsonl", "--out", "b"), "There is no recipe 'hsii --dialogues'"),
        (
            ("construct", "hsii", "talk.jsonl", "--inferred", "--out", "b"),
            "--inferred does not go with 'hsii', but with 'hsii-dialogues'",
        ),
        (
            ("construct", "hsii", "talk.jsonl", "--dialogues", "--model", "x", "--out", "b"),
            "--model does not go with 'hsii-dialogues'",
        ),
        (("construct", "hsii", "talk.jsonl", "--dialogues", "--search", "fog", "--out", "b"), "--search does not go with"),
        (("construct", "hsii", "talk.jsonl", "--search", "fog, rain, hail", "--out", "b"), "field 'text'|one or two keywords"),
        (("construct", "stss-conversations", "talk.jsonl", "--model", "x", "--out", "b"), "No such option: --model"),
        (
            ("construct", "agentsense", "talk.jsonl", "--most", "3", "--out", "b"),
            "--most does not go with 'agentsense', but with 'hsii'",
        ),
        (("construct", "anteval-characters", "talk.jsonl", "--out", "b"), "has no source: name none"),
        (("construct", "hsii", "talk.jsonl", "--out", "b"), "field 'text': is missing"),
    ],
)
def test_mistakes_end_in_one_clear_sentence(
    arguments: tuple[str, ...], said: str, talk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sociable(*arguments) == 2
    errors = " ".join(capsys.readouterr().err.split())
    assert any(part in errors for part in said.split("|"))
    assert not Path("b").exists()
