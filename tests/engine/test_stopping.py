"""Runs that end by rule: what is refused, where they end, what they say, and how they go on after a kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sociable
from sociable.api import reports, runs
from sociable.core.errors import InputError
from sociable.core.view import Callout, Tone
from sociable.engine.result import RunResult
from sociable.engine.settings import change_settings, load_settings
from sociable.engine.stopping import StoppingRule, parse_rule
from sociable.reports.comparison import find_differences

COMMAND = (sys.executable, "-c", "from sociable.cli.main import main; main()")
DEMO: dict[str, Any] = {"partner": "reference/heuristic", "reference": "reference/oracle", "judges": ("reference/rule",)}


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    folder = tmp_path_factory.mktemp("stopped") / "run"
    return sociable.run("hsii", "reference/oracle@0.3", out=folder, until="r2 ± 0.12", **DEMO)


@pytest.mark.parametrize("text", ["r2 ± 0.03", "r2±0.03", "r2 +- 0.03", "  r2 +/- 3e-2 "])
def test_a_rule_can_be_written_in_several_ways(text: str) -> None:
    assert parse_rule(text) == StoppingRule("r2", 0.03)
    assert load_settings("hsii", model="m", until=text).until == "r2 ± 0.03"


def test_a_metric_whose_name_has_spaces_and_signs() -> None:
    assert parse_rule("stage: not met ± 0.1") == StoppingRule("stage: not met", 0.1)
    assert parse_rule(str(StoppingRule("a + b", 0.1))) == StoppingRule("a + b", 0.1)


@pytest.mark.parametrize(
    "text", ["", "r2", "± 0.1", "r2 0.1", "r2 ± 0", "r2 ± -1", "r2 ± wide", "r2 ± inf", "r2 ± nan", "r2 ± 1.2.3"]
)
def test_what_is_no_rule_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InputError, match=r"'until'.*as in 'r2 ± 0\.03'"):
        change_settings(load_settings("hsii", model="m"), until=text)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"until": "r9 ± 0.1"}, r"no mean called 'r9' here. There are: r1"),
        ({"until": "r2 ± 0.001"}, "cannot be reached: no result of 249 cases has an interval narrower than ± 0.01"),
        ({"until": "r2 ± 0.1", "limit": 3}, "no result of 12 cases"),
        ({"until": "r2 ± 0.5"}, "asks for nothing: r2 lies between 0 and 1. Name a width below 0.5"),
        ({"until": "r2 ± 0.1", "scenarios": ("the-red-cap:6",)}, "leave --scenario out"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_spent(tmp_path: Path, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        sociable.run("hsii", "reference/oracle", out=tmp_path / "run", **DEMO, **settings)
    assert not (tmp_path / "run").exists()


def test_a_run_ends_at_the_first_look_at_which_the_interval_is_narrow(stopped: RunResult) -> None:
    found, estimate = stopped.manifest["stopped"], stopped.estimate("r2")
    assert found["is_met"] and 1 < found["look"] < found["looks"] and found["of"] == 64
    assert len({score.cluster for score in stopped.scores}) == found["clusters"]
    assert len({score.scenario for score in stopped.scores}) == stopped.manifest["episodes"] < 249
    assert estimate and estimate.low is not None and estimate.high is not None
    assert (estimate.high - estimate.low) / 2 == pytest.approx(found["half_width"]) and found["half_width"] <= 0.12
    # The interval that would hold at one look only is narrower.
    usual = next(each for each in stopped.study.estimate(stopped.scores) if each.metric == "r2")
    assert usual.low is not None and usual.high is not None
    assert estimate.low < usual.low and usual.high < estimate.high
    assert stopped.estimate("r1") == next(each for each in stopped.study.estimate(stopped.scores) if each.metric == "r1")


def test_the_clusters_are_drawn_by_lot_and_the_same_for_every_model(stopped: RunResult, tmp_path: Path) -> None:
    other = sociable.run("hsii", "reference/heuristic", out=tmp_path / "run", until="r1 ± 0.15", **DEMO)
    one, another = ({score.cluster for score in run.scores} for run in (stopped, other))
    assert one <= another or another <= one
    assert one != set(sorted(map(stopped.study.find_cluster, stopped.study.scenarios))[: len(one)])
    # What the rule was does not matter for what is compared: the cases of both.
    assert not find_differences(stopped, other)
    assert int(reports.compare(stopped, other).summary.rows[0].cells[5]) == min(
        stopped.manifest["episodes"], other.manifest["episodes"]
    )


def test_it_is_not_called_unfinished_and_says_why_it_ended(stopped: RunResult) -> None:
    assert not any("have not been run yet" in note for note in stopped.notes)
    document = reports.make_report_document(stopped)
    callouts = [block for section in document.sections for block in section.blocks if isinstance(block, Callout)]
    (said,) = [each for each in callouts if "Ended by its rule r2 ± 0.12" in each.text]
    assert f"{stopped.manifest['stopped']['clusters']} of 64" in said.text and "over all looks" in said.text
    assert said.tone is Tone.NEUTRAL  # all went as it was asked
    assert f"{stopped.manifest['episodes']} cases of {stopped.manifest['stopped']['clusters']} dialogues" in document.subtitle


def test_a_probe_tries_a_few_cases_and_the_rule_holds_from_then_on(tmp_path: Path) -> None:
    settings = DEMO | {"until": "r2 ± 0.12"}
    sociable.estimate("hsii", "reference/oracle@0.3", probe=3, out=tmp_path / "run", **settings)
    result = sociable.resume(tmp_path / "run")
    assert result.manifest["stopped"]["is_met"]
    assert not any("have not been run" in note for note in result.notes)


def test_scoring_resuming_and_judging_again_change_nothing(stopped: RunResult) -> None:
    folder = Path(stopped.folder)
    before = {
        name: (folder / name).read_bytes() for name in ("episodes.jsonl", "judgments.jsonl", "scores.json", "references.jsonl")
    }
    assert runs.score(folder).estimates == stopped.estimates
    assert runs.resume(folder).manifest["stopped"] == stopped.manifest["stopped"]
    runs.judge(folder, ("reference/rule",))
    assert {name: (folder / name).read_bytes() for name in before} == before


def test_a_rule_that_is_not_met_plays_everything_and_says_so(tmp_path: Path) -> None:
    # So few dialogues could give so narrow an interval only if their cases agreed.
    result = sociable.run("hsii", "reference/oracle@0.5", out=tmp_path / "run", until="r2 ± 0.1", limit=5, **DEMO)
    assert not result.manifest["stopped"]["is_met"]
    assert len({score.scenario for score in result.scores}) == len(result.study.scenarios) == result.manifest["episodes"]
    assert any("The rule r2 ± 0.1 was not met: with all 5 units the interval was" in note for note in result.notes)


def test_a_killed_run_takes_the_same_looks_and_buys_nothing_twice(
    start_chat_server: Callable[[float], Any], tmp_path: Path
) -> None:
    whole, slow = start_chat_server(0.0), start_chat_server(15.0)

    def run(server: Any, out: Path) -> list[str]:
        model = f"openai-compatible/social@{server.url}"
        rule = ("--stages", "1", "--until", "r1 ± 0.13", "--max-connections", "4")
        return [*COMMAND, "run", "hsii", "--model", model, *rule, "--out", str(out)]

    subprocess.run(run(whole, tmp_path / "whole"), check=True, capture_output=True, timeout=60)
    expected = whole.requests()["total"]
    with subprocess.Popen(run(slow, tmp_path / "killed"), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while slow.requests()["total"] < 0.7 * expected:
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
    again = [*COMMAND, "resume", str(tmp_path / "killed")]
    subprocess.run(again, check=True, capture_output=True, timeout=60)
    for name in ("episodes.jsonl", "scores.json"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
    looks = [json.loads((tmp_path / name / "manifest.json").read_text())["stopped"] for name in ("whole", "killed")]
    assert looks[0] == looks[1] and 1 < looks[0]["look"] < looks[0]["looks"]
    assert slow.requests()["total"] <= expected + 4


def test_a_metric_can_be_called_by_its_title(tmp_path: Path) -> None:
    result = sociable.run("hsii", "reference/oracle@0.3", out=tmp_path / "run", until="cascade ± 0.2", **DEMO)
    assert result.manifest["stopped"]["rule"] == "hsii_cascade ± 0.2" and result.manifest["stopped"]["is_met"]


def test_a_metric_without_any_value_ends_the_run_at_its_first_look(tmp_path: Path) -> None:
    settings = DEMO | {"options": {"stages": [1, 2]}}
    result = sociable.run("hsii", "reference/oracle", out=tmp_path / "run", until="r3 ± 0.1", **settings)
    assert result.manifest["stopped"]["clusters"] == 10 and result.manifest["episodes"] < 60
    assert any("no case has a value of that metric" in note for note in result.notes)


def test_an_outage_ends_a_run_without_a_look_and_to_resume_mends_it(tmp_path: Path) -> None:
    broken, model = tmp_path / "broken", tmp_path / "model.py"
    model.write_text(
        "from pathlib import Path\n\ndef reply(messages):\n"
        f"    if Path({str(broken)!r}).exists():\n        raise ConnectionError('down')\n    return 'A'\n"
    )
    broken.touch()
    asked = {"until": "r1 ± 0.12", "options": {"stages": [1]}}
    result = sociable.run("hsii", f"python:{model}:reply", out=tmp_path / "run", **asked)
    assert "stopped" not in result.manifest and len({score.cluster for score in result.scores}) == 10
    assert any("Resume the run" in note for note in result.notes)
    broken.unlink()
    again = sociable.resume(tmp_path / "run")
    assert again.manifest["stopped"]["is_met"] and not any(score.outcome == "errored" for score in again.scores)
