"""Studies: bought once, added to, stopped, killed, played again offline; against a real server."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import sociable
from sociable.api import pooled_runs, studies
from sociable.cli import main as cli

COMMAND = (sys.executable, "-c", "from sociable.cli.main import main; main()")
PRICES = "".join(
    f'[prices."{model}"]\ninput = 1\noutput = 1\n'
    for model in ("social:a", "social:b", "social:c", "social:p", "social:j", "social:r")
)


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def no_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures take most of the time, and most tests look at none."""
    monkeypatch.setattr(pooled_runs, "report", lambda _: None)


@pytest.fixture
def server(no_reports: None, start_chat_server: Callable[[float], Any]) -> Any:
    """One of this test's own, to count all that it asks."""
    return start_chat_server(0.0)


def call(*arguments: str | Path) -> int:
    """Runs the command line in this process; returns its exit code."""
    before, sys.argv = sys.argv, ["sociable", *map(str, arguments)]
    try:
        cli.main()
    except SystemExit as stop:
        return int(stop.code or 0)
    finally:
        sys.argv = before
    return 0


def write_file(server: Any, *models: str, more: str = "", benchmarks: str = '"hsii"', limit: int = 1) -> Path:
    """A study of models of the server, with partner, judge and reference there as well."""
    file = Path("study.toml")
    file.write_text(
        f"""\
models = [{", ".join(f'"openai-compatible/social:{model}"' for model in models)}]
benchmarks = [{benchmarks}]
partner = "openai-compatible/social:p"
judges = ["openai-compatible/social:j"]
reference = "openai-compatible/social:r"
base_url = "{server.url}"
limit = {limit}
{more}
"""
    )
    return file


def list_calls(*folders: Path) -> list[tuple[str, str, bytes, str | None]]:
    """(folder, role, key, who bought it) of every call in these folders' journals."""
    found = []
    for folder in folders:
        with closing(sqlite3.connect(folder / "calls.sqlite")) as journal:
            found += [(folder.name, *row) for row in journal.execute("SELECT role, key, bought_by FROM calls")]
    return found


def measure_spend(*folders: Path) -> tuple[float, int]:
    """(US dollars at ``PRICES``, calls) that these folders' runs bought themselves."""
    tokens = calls = 0
    for folder in folders:
        with closing(sqlite3.connect(folder / "calls.sqlite")) as journal:
            row = journal.execute(
                "SELECT SUM(input_tokens + output_tokens), COUNT(*) FROM calls WHERE bought_by IS NULL"
            ).fetchone()
            tokens, calls = tokens + (row[0] or 0), calls + row[1]
    return tokens / 1_000_000, calls


def list_folders(study: Path = Path("runs/study")) -> list[Path]:
    return sorted(path.parent for path in study.glob("*/manifest.json"))


def read_records(folder: Path) -> dict[str, str]:
    names = ("references.jsonl", "episodes.jsonl", "judgments.jsonl", "scores.json")
    return {name: (folder / name).read_text() for name in names if (folder / name).exists()}


def test_a_run_of_a_study_is_a_run_like_any_other() -> None:
    Path("agents.toml").write_text('models = ["reference/oracle"]\nbenchmarks = ["hsii-cot"]\nlimit = 1')
    (run,) = sociable.study("agents.toml").runs
    folder = Path("runs/agents") / run.name
    names = {"manifest.json", "calls.sqlite", "episodes.jsonl", "scores.json", "report.html"}
    assert names <= {file.name for file in folder.iterdir()}
    assert sociable.load_result(folder).manifest["settings"]["limit"] == 1


def test_reference_agents_on_four_benchmarks(no_reports: None) -> None:
    file = Path("agents.toml")
    file.write_text(
        """\
models = ["reference/oracle", "reference/random", "reference/silent"]
benchmarks = ["hsii", "agentsense", "anteval-iep", "hsii-memory"]
judges = ["reference/rule"]
limit = 2
[hsii]
stages = [1, 2, 3]
"""
    )
    result = sociable.study(file)
    assert len(result.runs) == 12 and all(run.is_finished for run in result.runs) and not result.problems
    values = {
        run.manifest["models"]["subject"]: run.estimate("r1") for run in result.load_results() if run.study.metrics.get("r1")
    }
    assert values["reference/oracle"].value > values["reference/silent"].value  # type: ignore[union-attr]


def test_calls_of_others_are_bought_once_and_each_run_has_all_of_its_own(server: Any) -> None:
    result = sociable.study(write_file(server, "a", "b", more=PRICES))
    assert all(run.is_finished for run in result.runs)
    calls = list_calls(*list_folders())
    bought = [row for row in calls if row[3] is None]
    assert server.requests()["total"] == len(bought)
    # Each call of a partner, judge or reference was bought by one run only, and is in the journals of all that made it.
    keys = [key for _, role, key, _ in bought if role != "subject"]
    assert len(keys) == len(set(keys))
    shared = [row for row in calls if row[3] is not None]
    assert shared and {by for *_, by in shared} <= {folder.name for folder in list_folders()}
    assert {role for _, role, _, _ in shared} <= {"partner", "judge", "reference"}
    references = [
        {key for name, role, key, _ in calls if name == folder.name and role == "reference"} for folder in list_folders()
    ]
    assert references[0] == references[1] != set()
    # The runs say what they used, and how much of it another had bought.
    manifests = [json.loads((folder / "manifest.json").read_text()) for folder in list_folders()]
    assert sum(usage["calls"] for each in manifests for usage in each["usage"].values()) == len(calls)
    assert sum(usage["calls"] for each in manifests for usage in each.get("shared", {}).values()) == len(shared)


def test_the_model_under_test_speaks_for_itself(server: Any) -> None:
    """Two conditions that change nothing in what is asked: the calls of the model under test are the same, and made twice."""
    conditions = '[[conditions]]\nname = "one"\n[[conditions]]\nname = "two"\n[conditions.options]\nstages = [1, 2, 3]\n'
    sociable.study(write_file(server, "a", more=conditions))
    calls = list_calls(*list_folders())
    subject = [key for _, role, key, _ in calls if role == "subject"]
    assert len(set(subject)) < len(subject)
    assert all(by is None for _, role, _, by in calls if role == "subject")


def test_another_seed_draws_anew(server: Any) -> None:
    sociable.study(write_file(server, "a", more="seeds = [0, 1]"))
    assert not [row for row in list_calls(*list_folders()) if row[3] is not None]


def test_a_model_that_is_added_buys_only_what_is_missing(server: Any) -> None:
    sociable.study(write_file(server, "a"))
    before = {folder.name: read_records(folder) for folder in list_folders()}
    first = server.requests()["total"]
    result = sociable.study(write_file(server, "a", "b"))
    assert [run.name for run in result.runs] == ["hsii-openai-compatible-social-a", "hsii-openai-compatible-social-b"]
    assert {name: read_records(Path("runs/study") / name) for name in before} == before
    added = [row for row in list_calls(Path("runs/study/hsii-openai-compatible-social-b")) if row[3] is None]
    assert server.requests()["total"] - first == len(added)
    assert server.requests("social:r")["total"] == len([row for row in list_calls(list_folders()[0]) if row[1] == "reference"])


def test_a_run_that_is_no_longer_named_stays_on_disk_and_comes_back(server: Any, capsys: pytest.CaptureFixture[str]) -> None:
    sociable.study(write_file(server, "a", "b"))
    asked = server.requests()["total"]
    result = sociable.study(write_file(server, "a"))
    assert [run.name for run in result.runs] == ["hsii-openai-compatible-social-a"]
    assert call("report", "runs/study") == 0
    assert "No part of it any more: hsii-openai-compatible-social-b" in " ".join(capsys.readouterr().out.split())
    # Prices, connections and attempts decide nothing; another limit does, and is another run.
    sociable.study(write_file(server, "a", "b", more="max_connections = 3\n[roles.subject]\nattempts = 2\n" + PRICES))
    assert server.requests()["total"] == asked and len(list_folders()) == 2
    result = sociable.study(write_file(server, "a", more="repeats = 2"))
    assert [run.name for run in result.runs] == ["hsii-openai-compatible-social-a-2"]
    # What others said to the run that is no part of the study any more is not bought again.
    calls = list_calls(Path("runs/study") / result.runs[0].name)
    assert {by for _, role, _, by in calls if role == "reference"} <= {f"hsii-openai-compatible-social-{model}" for model in "ab"}


def test_a_limit_of_cost_is_one_for_all_and_can_be_raised(server: Any, capsys: pytest.CaptureFixture[str]) -> None:
    file = write_file(server, "a", "b", "c", more=PRICES)
    whole = sociable.study(file, out="whole")
    cost, bought = measure_spend(*list_folders(Path("whole")))
    assert cost < sum(run.cost for run in whole.runs)  # what others had bought is part of what a run costs
    assert call("study", file, "--max-cost", str(cost / 3)) == 3
    assert "sociable resume runs/study" in capsys.readouterr().err
    assert 0.1 * cost < measure_spend(*list_folders())[0] <= cost / 3
    # There must be room for the longest reply of the last call.
    assert call("resume", "runs/study", "--max-cost", str(1.5 * cost)) == 0
    assert measure_spend(*list_folders())[0] == pytest.approx(cost)
    assert server.requests()["total"] == 2 * bought
    assert "3 of 3 runs finished" in capsys.readouterr().out


def test_a_dead_endpoint_ends_its_own_run_alone(server: Any, capsys: pytest.CaptureFixture[str]) -> None:
    file = write_file(server, "a", more='[roles."openai-compatible/x"]\nattempts = 1')
    file.write_text(file.read_text().replace("models = [", 'models = ["openai-compatible/x@http://127.0.0.1:9/v1", '))
    assert call("study", file) == 3
    said = capsys.readouterr()
    assert "sociable: hsii-openai-compatible-x: openai-compatible/x at http://127.0.0.1:9" in said.err
    assert "1 of 2 runs finished" in said.out
    assert "every episode" not in said.err


def test_what_was_played_is_played_again_offline(server: Any) -> None:
    sociable.study(write_file(server, "a", "b", benchmarks='"hsii", "agentsense"', more="[settings.agentsense]\nlimit = 1"))
    before = {folder.name: read_records(folder) for folder in list_folders()}
    server.stop()
    for folder in list_folders():
        for name in before[folder.name]:
            (folder / name).unlink()
    assert call("resume", "runs/study", "--offline") == 0
    assert {folder.name: read_records(folder) for folder in list_folders()} == before
    # Each run can be taken out of the study and replayed by itself.
    alone = shutil.copytree(list_folders()[1], "alone")
    (Path(alone) / "episodes.jsonl").unlink()
    sociable.resume("alone", offline=True)
    assert read_records(Path("alone"))["episodes.jsonl"] == before[list_folders()[1].name]["episodes.jsonl"]


def test_a_killed_study_buys_nothing_twice(start_chat_server: Callable[[float], Any]) -> None:
    server = start_chat_server(15.0)
    connections = 4
    file = write_file(server, "a", "b", more=f"max_connections = {connections}")
    with subprocess.Popen([*COMMAND, "study", str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        until = time.monotonic() + 30
        while server.requests()["total"] < 60 and time.monotonic() < until:
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
    assert server.requests()["total"] >= 60
    assert call("resume", "runs/study") == 0
    calls = [row for row in list_calls(*list_folders()) if row[3] is None]
    # What was under way at the kill is lost: at the most as many calls as each of the five models gets at once.
    assert len(calls) <= server.requests()["total"] <= len(calls) + 5 * connections


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_all_runs_and_keeps_what_was_bought(
    start_chat_server: Callable[[float], Any], sign: signal.Signals
) -> None:
    server = start_chat_server(15.0)
    file = write_file(server, "a", "b", more="max_connections = 4")
    with subprocess.Popen([*COMMAND, "study", str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        until = time.monotonic() + 30
        while server.requests()["total"] < 60 and time.monotonic() < until:
            time.sleep(0.01)
        process.send_signal(sign)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Interrupted." in said and "Go on with: sociable resume runs/study" in said
    asked = server.requests()["total"]
    assert len([row for row in list_calls(*list_folders()) if row[3] is None]) == asked


def test_an_estimate_counts_what_all_models_meet_alike_once(server: Any) -> None:
    def estimate(*models: str) -> dict[str, int]:
        file = write_file(server, *models)
        folder = studies.find_folder(file)
        rows = studies.estimate_study(studies.plan_study(file, folder), folder).summary.rows
        found: dict[str, int] = {}
        for row in rows:
            found[row.cells[0]] = found.get(row.cells[0], 0) + int(row.cells[2].replace(",", ""))
        return found

    one, two = estimate("a"), estimate("a", "b")
    assert two["subject"] == 2 * one["subject"]
    assert one["reference"] == two["reference"] > 0
    assert one["judge"] < two["judge"] <= 2 * one["judge"]
    sociable.study(write_file(server, "a"))
    assert estimate("a")["all"] == 0
    assert server.requests()["total"] > 0


@pytest.mark.parametrize(
    "text, said",
    [
        ('models = ["reference/oracl"]\nbenchmarks = ["hsii"]', "line 1: hsii with reference/oracl, seed 0: 'reference/oracl' cannot be the subject"),
        ('models = ["reference/oracl"]\nbenchmarks = ["hsii"]', "Did you mean 'reference/oracle'?"),
        ('models = ["reference/oracle",\n"opnai/gpt-4o"]\nbenchmarks = ["hsii-cot"]', "line 2: hsii-cot with opnai/gpt-4o, seed 0: 'opnai/gpt-4o' is no model name"),
        ('models = ["opnai/gpt-4o"]\nbenchmarks = ["hsii-cot"]', "Did you mean 'openai/gpt-4o'?"),
        ('models = ["reference/oracle"]\nbenchmarks = ["hsii-cot"]\ndataset = "absent.jsonl"', "line 3: hsii-cot with reference/oracle, seed 0: /"),
        ('judges = ["reference/rule"]\nmodels = ["reference/oracle"]\nbenchmarks = [\n"hsii"]', "line 4: hsii with reference/oracle, seed 0: Stage 4 needs somebody to talk with"),
        ('models = ["reference/oracle"]\nbenchmarks = ["hsii"]\n[hsii]\nstage = [1]', "line 4: hsii with reference/oracle, seed 0: hsii has no option 'stage'"),
        ('models = ["reference/oracle"]\nbenchmarks = ["hsii-cot"]\n[settings.hsii-cot]\npartner = "reference/oracle"', "line 4: hsii-cot with reference/oracle, seed 0: 'reference/oracle' cannot be the partner"),
        ('models = ["reference/oracle"]\nbenchmarks = ["hsii-cot"]\n[settings.hsii-cot]\npartner = "openai-compatible/x@http://h/v1"', "hsii-cot asks the model under test only: leave --partner out"),
        ('models = ["reference/oracle"]\nbenchmarks = ["hsii-cot"]\n[[conditions]]\nname = "a"\n[[conditions]]\nname = "b"', "condition b, seed 0: its settings are those of another run"),
        ('max_cost = 1\nmodels = ["openai-compatible/q@http://127.0.0.1:9/v1"]\nbenchmarks = ["hsii-cot"]', "line 2: hsii-cot with openai-compatible/q, seed 0: --max-cost needs the price"),
    ],
)  # fmt: skip
def test_every_run_is_checked_before_anything_is_written(text: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("study.toml").write_text(text)
    assert call("study", "study.toml") == 2
    assert said in capsys.readouterr().err
    assert not Path("runs").exists()


def test_a_key_that_is_missing_is_not_taken_for_a_wrong_name(capsys: pytest.CaptureFixture[str]) -> None:
    Path("study.toml").write_text('models = ["openai/gpt-4o"]\nbenchmarks = ["hsii-cot"]')
    assert call("study", "study.toml") == 2
    said = capsys.readouterr().err
    assert "needs a key" in said and "Did you mean" not in said


@pytest.mark.parametrize("limit", ["0", "nan", "inf"])
def test_a_limit_of_cost_is_a_number_above_nothing(limit: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("study.toml").write_text('models = ["reference/oracle"]\nbenchmarks = ["hsii-cot"]')
    assert call("study", "study.toml", "--max-cost", limit) == 2
    assert f"--max-cost {limit}: " in capsys.readouterr().err


def test_names_too_long_for_a_file_system_are_cut(no_reports: None) -> None:
    conditions = "".join(f'[[conditions]]\nname = "{"長" * 100}{number}"\nlimit = {number}\n' for number in (1, 2))
    Path("study.toml").write_text(f'models = ["reference/oracle"]\nbenchmarks = ["hsii-cot"]\n{conditions}')
    runs = sociable.study("study.toml").runs
    assert all(run.is_finished for run in runs) and runs[1].name == f"{runs[0].name}-2"


def test_a_folder_that_lost_its_list_goes_on_with_the_same_file_and_with_no_other(
    no_reports: None, capsys: pytest.CaptureFixture[str]
) -> None:
    file = Path("study.toml")
    file.write_text('models = ["reference/oracle"]\nbenchmarks = ["hsii"]\nlimit = 1\n[hsii]\nstages = [1]')
    assert call("study", file) == 0
    (run,) = list_folders()
    before = read_records(run)
    for name in ("series.json", "study.toml"):
        (run.parent / name).unlink()
    file.write_text(file.read_text().replace("limit = 1", "limit = 2"))
    assert call("study", file) == 2
    assert f"{run} holds a run of other settings" in capsys.readouterr().err
    file.write_text(file.read_text().replace("limit = 2", "limit = 1"))
    assert call("study", file) == 0
    assert read_records(run) == before


@pytest.mark.parametrize("text", ["[1]", '"runs"', "3", "[[[", '{"runs": [], "study": {}}', '{"runs": {}, "study": 3}'])
def test_a_list_that_is_damaged_is_told(text: str, no_reports: None, capsys: pytest.CaptureFixture[str]) -> None:
    Path("study.toml").write_text('models = ["reference/oracle"]\nbenchmarks = ["hsii-cot"]\nlimit = 1')
    Path("runs/study").mkdir(parents=True)
    Path("runs/study/series.json").write_text(text)
    for command in (("study", "study.toml"), ("resume", "runs/study")):
        assert call(*command) == 2
        assert "series.json: cannot be read" in capsys.readouterr().err


def test_a_study_goes_on_without_the_copy_of_its_file(no_reports: None) -> None:
    Path("study.toml").write_text('models = ["reference/oracle"]\nbenchmarks = ["hsii-cot"]\nlimit = 1')
    assert call("study", "study.toml") == 0
    Path("runs/study/study.toml").unlink()
    assert call("resume", "runs/study") == 0
    assert call("study", "study.toml") == 0
    assert Path("runs/study/study.toml").exists()


def test_no_more_runs_are_open_at_once_than_the_system_has_files_for() -> None:
    pytest.importorskip("resource")
    Path("study.toml").write_text(f'models = ["reference/oracle"]\nbenchmarks = ["hsii-cot"]\nlimit = 1\nseeds = {[*range(25)]}')
    code = """
import resource, sociable
from sociable.api import pooled_runs
resource.setrlimit(resource.RLIMIT_NOFILE, (160, 160))
pooled_runs.report = lambda _: None
print(sum(run.is_finished for run in sociable.study("study.toml").runs))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["25"], done.stderr[-1000:]


def test_a_study_that_another_process_plays_is_left_alone(server: Any, capsys: pytest.CaptureFixture[str]) -> None:
    from sociable.core.run_folder import hold_lock

    file = write_file(server, "a")
    Path("runs/study").mkdir(parents=True)
    with hold_lock(Path("runs/study")):
        assert call("study", file) == 2
    assert "in use by another process" in capsys.readouterr().err
