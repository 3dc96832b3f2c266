"""Tournaments over the command line: played, added to, stopped, killed, reported, refused."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import sociable

from sociable import duel
from sociable.api import estimation, tournaments
from sociable.statistics.ratings import Bout, rate

COMMAND = (sys.executable, "-c", "from sociable.cli.main import main; main()")
THREE = ("reference/tit-for-tat", "reference/concede", "reference/random")
CONNECTIONS = 4


def name_models(*models: str) -> list[str]:
    return [part for model in models for part in ("--model", model)]


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def played() -> Path:
    """A tournament of three reference agents."""
    assert sociable("duel", "agentsense", *name_models(*THREE), "--limit", "2", "--out", "league") == 0
    return Path("league")


def read_record(folder: Path) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((folder / "tournament.json").read_text(encoding="utf-8"))
    return record


def list_bouts(folder: Path) -> list[Bout]:
    """The bouts by the runs' own files: #1 has the subject in the first seat."""
    found = []
    for run in sorted(folder.glob("*/scores.json")):
        models = json.loads((run.parent / "manifest.json").read_text())["models"]
        for score in json.loads(run.read_text())["scores"]:
            if score["metric"] == "won" and score["value"] is not None:
                first, second = models["subject"], models["opponent"]
                if score["scenario"].endswith("#1"):
                    found.append(Bout(score["cluster"], first, second, score["value"]))
                else:
                    found.append(Bout(score["cluster"], second, first, 1 - score["value"]))
    return found


def list_bytes(folder: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in sorted(folder.glob("*/**/*")) if file.is_file()}


def test_three_agents_meet_in_three_runs_and_are_rated(capsys: pytest.CaptureFixture[str]) -> None:
    played = Path("league")
    assert sociable("duel", "agentsense", *name_models(*THREE), "--limit", "2", "--out", played) == 0
    shown = capsys.readouterr().out
    assert "3 pairs, 12 scenarios in all" in shown
    assert shown.endswith("Report: league/tournament.html\n")
    runs = sorted(each.parent.name for each in played.glob("*/report.html"))
    assert runs == sorted(f"{a}--{b}".replace("/", "-") for a, b in combinations(THREE, 2))
    bouts, record = list_bouts(played), read_record(played)
    # Two scenes, two seats, three pairs; where nothing was agreed there is no bout.
    assert 0 < len(bouts) == record["bouts"] <= 12
    expected = rate(bouts, anchor="reference/tit-for-tat")
    assert {each["model"]: each["points"]["value"] for each in record["participants"]} == {
        rating.model: rating.points.value for rating in expected.models
    }
    for each in record["participants"]:
        results = [
            bout.outcome if bout.first == each["model"] else 1 - bout.outcome
            for bout in bouts
            if each["model"] in (bout.first, bout.second)
        ]
        assert [each["won"], each["tied"], each["lost"]] == [results.count(value) for value in (1, 0.5, 0)]
    # The share of the opponent is its own: over all duels nobody is left out.
    assert {each["metrics"]["share"]["scored"] for each in record["participants"]} == {8}
    assert not record["missing"]
    page = (played / "tournament.html").read_text(encoding="utf-8")
    assert "who wins by false statements" in page.casefold()
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_a_participants_metrics_are_its_own_in_both_roles(played: Path) -> None:
    record = read_record(played)
    random = next(each for each in record["participants"] if each["model"] == "reference/random")
    own = []
    for run in played.glob("*random*/scores.json"):
        metric = "share" if run.parent.name.startswith("reference-random") else "opponent_share"
        own += [score["value"] for score in json.loads(run.read_text())["scores"] if score["metric"] == metric]
    assert len(own) == 8
    assert random["metrics"]["share"]["value"] == pytest.approx(sum(own) / 8)


def test_a_fourth_is_added_and_nothing_is_played_again(played: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = list_bytes(played)
    assert sociable("duel", "agentsense", "--model", "reference/hard-bargainer", "--out", played) == 0
    after = list_bytes(played)
    assert {name: after[name] for name in before} == before
    assert len(list(played.glob("*/manifest.json"))) == 6
    added = json.loads((played / "reference-concede--reference-hard-bargainer" / "manifest.json").read_text())
    scores = json.loads((played / "reference-concede--reference-hard-bargainer" / "scores.json").read_text())["scores"]
    assert len({score["scenario"] for score in scores}) == 4
    assert added["settings"]["limit"] == 2
    record = read_record(played)
    assert len(record["participants"]) == 4
    assert record["missing"] == []
    agreed = [json.loads(file.read_text())["scores"] for file in played.glob("*/scores.json")]
    assert record["bouts"] == sum(score["value"] for each in agreed for score in each if score["metric"] == "agreed") < 24
    # Reported again, and gone on with, nothing changes.
    capsys.readouterr()
    assert sociable("report", played) == 0
    assert sociable("resume", played) == 0
    assert list_bytes(played) == after
    assert read_record(played) == record


def test_anchors_make_a_scale(capsys: pytest.CaptureFixture[str]) -> None:
    named = name_models("reference/oracle", "reference/random")
    assert sociable("duel", "agentsense-duels", *named, "--anchors", "--limit", "1", "--out", "league") == 0
    record = read_record(Path("league"))
    assert len(record["participants"]) == 6
    assert record["anchor"] == "reference/concede@0.5"
    points = {each["model"]: each["points"]["value"] for each in record["participants"]}
    assert points["reference/concede@0.5"] == 1000
    assert points["reference/oracle"] > points["reference/random"]
    assert "need duels in 8 scenes, and these are in 1: the order below may be chance" in " ".join(
        capsys.readouterr().out.split()
    )
    assert sociable("duel", "agentsense", "--anchors", "--out", "league") == 2
    assert "Nobody is named who is not in league already" in capsys.readouterr().err


def test_what_is_missing_is_said_and_the_others_are_rated(played: Path) -> None:
    everything = read_record(played)
    shutil.rmtree(played / "reference-concede--reference-random")
    half = played / "reference-tit-for-tat--reference-concede"
    episodes = (half / "episodes.jsonl").read_text().splitlines(keepends=True)
    (half / "episodes.jsonl").write_text("".join(episodes[:3]))
    (half / "scores.json").unlink()
    assert sociable("report", played) == 0
    record = read_record(played)
    assert [(each["subject"], each["opponent"], each["played"], each["why"]) for each in record["missing"]] == [
        ("reference/tit-for-tat", "reference/concede", 3, "1 not played"),
        ("reference/concede", "reference/random", 0, "not begun"),
    ]
    assert 0 < record["bouts"] < everything["bouts"]
    assert "What is missing" in (played / "tournament.html").read_text()
    assert sociable("resume", played) == 0
    assert read_record(played) == everything


def test_who_has_met_nobody_is_not_rated(played: Path) -> None:
    for folder in played.glob("*random*"):
        shutil.rmtree(folder)
    assert sociable("report", played) == 0
    last = read_record(played)["participants"][-1]
    assert (last["model"], last["points"]) == ("reference/random", None)
    assert "Not rated, since no duel of theirs with the others" in (played / "tournament.html").read_text()


def test_an_estimate_spends_nothing_and_writes_nothing(chat_server: Any, capsys: pytest.CaptureFixture[str]) -> None:
    model = f"openai-compatible/social:estimate@{chat_server.url}"
    assert sociable("duel", "agentsense", *name_models(model, *THREE), "--limit", "1", "--estimate", "--out", "league") == 0
    shown = capsys.readouterr().out
    assert "6 pairs, 12 scenarios in all" in shown
    # Only in three of the six pairs is a model asked: as much as `sociable estimate` says of each.
    alone = (estimation.estimate("agentsense-duels", model, opponent=other, limit=1).summary.rows[-1] for other in THREE)
    calls = sum(int(row.cells[2]) for row in alone)
    assert calls > 0
    assert [line.split()[1] for line in shown.splitlines() if line.startswith("all ")] == [str(calls)]
    assert chat_server.requests("social:estimate")["total"] == 0
    assert not Path("league").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("agentsense", "--model", "reference/concede"), "needs two models or more"),
        (("agentsense",), "needs two models or more"),
        (("agentsense", *name_models("reference/concede", "reference/concede")), "named twice"),
        (
            ("hsii", *name_models("reference/oracle", "reference/random")),
            "no two models meet; they do in: agentsense, agentsense-duels",
        ),
        (("agentsense", *name_models("reference/concede", "reference/nobody")), "'reference/nobody' cannot be the opponent"),
    ],
)
def test_refusals(arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert sociable("duel", *arguments, "--out", "league") == 2
    assert message in capsys.readouterr().err
    assert not Path("league").exists()


def test_additions_that_do_not_fit_are_refused(played: Path, capsys: pytest.CaptureFixture[str]) -> None:
    noted = (played / "series.json").read_bytes()

    def refuse(*more: str | Path, model: str = "reference/oracle", out: Path = played) -> str:
        assert sociable("duel", "agentsense", "--model", model, *more, "--out", out) == 2
        return capsys.readouterr().err

    said = refuse("--seed", "3", "--option", "turns=6", "--limit", "1")
    assert "These differ: limit (2, now 1); seed (0, now 3); turns (16, now 6)" in said
    Path("own.toml").write_text("[roles.judge]\ntemperature = 0.5\n[roles.subject]\ntemperature = 0.1\n")
    assert "These differ: roles.judge; roles.subject." in refuse("--config", "own.toml")
    Path("own.toml").write_text("[roles.opponent]\ntemperature = 0.1\n")
    assert "Write [roles.subject]; it holds for both" in refuse("--config", "own.toml")
    assert f"reference/concede takes part in {played} already" in refuse(model="reference/concede")
    assert "holds a single run" in refuse(out=played / "reference-concede--reference-random")
    assert (played / "series.json").read_bytes() == noted
    # What is said and is the same is no difference.
    assert (
        sociable(
            "duel",
            "agentsense",
            "--model",
            "reference/oracle",
            "--seed",
            "0",
            "--option",
            "turns=16",
            "--limit",
            "2",
            "--out",
            played,
        )
        == 0
    )


def test_judged_later_as_a_whole_and_added_to_by_the_same_judges(played: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gone = played / "reference-concede--reference-random"
    shutil.move(gone, "elsewhere")
    assert sociable("judge", played, "--judge", "reference/rule") == 2
    assert f"{gone} is not finished" in capsys.readouterr().err
    shutil.move("elsewhere", gone)
    assert sociable("judge", played, "--judge", "reference/rule") == 0
    assert capsys.readouterr().out.endswith("Report: league/tournament.html\n")
    assert sociable("duel", "agentsense", "--model", "reference/oracle", "--out", played) == 0
    judges = {tuple(json.loads(file.read_text())["models"]["judges"]) for file in played.glob("*/manifest.json")}
    assert judges == {("reference/rule",)}
    assert sociable("score", played) == 0


def test_another_version_is_not_added_to(played: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for file in played.glob("*/manifest.json"):
        manifest = json.loads(file.read_text())
        file.write_text(json.dumps(manifest | {"version": "0.0.1"}))
    assert sociable("duel", "agentsense", "--model", "reference/oracle", "--out", played) == 2
    assert "with another version" in capsys.readouterr().err


def test_names_are_data_and_never_markup_or_paths(chat_server: Any) -> None:
    hostile = f"openai-compatible/social:<img src=x onerror=alert(1)>/../../{'x' * 20}@{chat_server.url}"
    assert (
        sociable(
            "duel",
            "agentsense",
            *name_models(hostile, "reference/concede"),
            "--limit",
            "1",
            "--option",
            "turns=2",
            "--out",
            "league",
        )
        == 0
    )
    assert [each.name for each in Path().iterdir()] == ["league"]
    (run,) = Path("league").glob("*/manifest.json")
    assert run.parent.parent == Path("league")
    page = Path("league/tournament.html").read_text(encoding="utf-8")
    assert "<img src=x" not in page
    assert "&lt;img src=x" in page
    assert chat_server.url not in page + Path("league/tournament.json").read_text()


def test_where_every_episode_fails_the_command_fails(capsys: pytest.CaptureFixture[str]) -> None:
    Path("agent.py").write_text("def one(messages):\n    raise RuntimeError('no')\n\ntwo = one\n")
    models = name_models("python:agent.py:one", "python:agent.py:two")
    assert sociable("duel", "agentsense", *models, "--limit", "1", "--out", "league") == 3
    said = capsys.readouterr()
    assert "sociable: every episode failed. Mend the cause, then: sociable resume league" in said.err
    assert "No duel has a result yet" in said.out
    assert read_record(Path("league"))["missing"][0]["why"] == "2 errored"
    Path("agent.py").write_text("def one(messages):\n    return 'No.'\n\ntwo = one\n")
    assert sociable("resume", "league") == 0
    assert not read_record(Path("league"))["missing"]


def test_a_limit_holds_for_all_pairs_together(chat_server: Any, capsys: pytest.CaptureFixture[str]) -> None:
    models = [f"openai-compatible/social:{name}@{chat_server.url}" for name in ("limit-a", "limit-b", "limit-c")]
    prices = "".join(
        f'prices."openai-compatible/social:{name}" = {{input = 100, output = 100}}\n'
        for name in ("limit-a", "limit-b", "limit-c")
    )
    Path("own.toml").write_text(prices)
    command = (
        "duel",
        "agentsense",
        *name_models(*models),
        "--limit",
        "1",
        "--option",
        "turns=4",
        "--config",
        "own.toml",
        "--out",
        "league",
    )
    assert sociable(*command, "--max-cost", "2.5") == 3
    said = capsys.readouterr().err
    assert "That is what was left of $2.5000 for all pairs together." in said
    assert "Go on with: sociable resume league" in said

    def spend() -> float:
        manifests = [json.loads(file.read_text()) for file in Path("league").glob("*/manifest.json")]
        return float(sum(sum(manifest.get("cost", {}).values()) for manifest in manifests))

    first = spend()
    assert 0 < first <= 2.5
    assert sociable("resume", "league") == 3
    assert spend() <= 2.5
    assert sociable("resume", "league", "--max-cost", "100") == 0
    record = read_record(Path("league"))
    assert (record["missing"], record["bouts"]) == ([], 0), "these models never sign"
    assert spend() > 2.5
    manifests = [json.loads(file.read_text()) for file in Path("league").glob("*/manifest.json")]
    bought = sum(usage["calls"] for manifest in manifests for usage in manifest["usage"].values())
    assert bought == sum(chat_server.requests(f"social:limit-{name}")["total"] for name in "abc")


def test_a_killed_tournament_goes_on_and_buys_nothing_twice(
    start_chat_server: Callable[[float], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    def start(*arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def name_duel(server: Any, out: str) -> list[str]:
        models = name_models(*(f"openai-compatible/social:{name}@{server.url}" for name in "ab"), "reference/concede")
        return [
            "duel",
            "agentsense",
            *models,
            "--limit",
            "1",
            "--option",
            "turns=4",
            "--max-connections",
            str(CONNECTIONS),
            "--out",
            out,
        ]

    def count(server: Any) -> Counter[str]:
        return Counter({request["digest"]: request["count"] for request in server.requests()["requests"]})

    whole, slow = start_chat_server(0.0), start_chat_server(100.0)
    assert sociable(*name_duel(whole, "whole")) == 0
    expected = count(whole)
    process = start(*name_duel(slow, "killed"))
    while slow.requests()["total"] < sum(expected.values()) // 2:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    assert sociable("duel", "agentsense", "--model", "reference/random", "--out", "killed") == 2
    assert "killed is in use by another process" in capsys.readouterr().err
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert not Path("killed/tournament.json").exists()
    assert sociable("resume", "killed") == 0
    repeated = count(slow) - expected
    assert count(slow) - repeated == expected
    assert sum(repeated.values()) <= CONNECTIONS
    assert read_record(Path("killed")) == read_record(Path("whole"))


def test_in_python_as_on_the_command_line(played: Path) -> None:
    league = duel("agentsense", THREE, limit=2, out="other")
    assert league.ratings == tournaments.load_tournament(played).ratings
    assert read_record(Path("other")) == read_record(played)
    assert [pair.name for pair in duel("agentsense", ["reference/oracle"], out="other").pairs[3:]] == [
        f"{name}--reference-oracle".replace("/", "-") for name in THREE
    ]
