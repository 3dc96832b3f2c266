"""Every registered benchmark, end to end, offline, with every reference agent it has."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import pytest

from sociable.api import cases, reports, runs
from sociable.api.leaderboard import load_standings
from sociable.engine.registry import find_benchmark, list_benchmark_names
from sociable.engine.seats import Role
from sociable.render.html import render_html
from sociable.reports.leaderboard import make_leaderboard
from sociable.statistics.metrics import make_markdown

AGENTS = [(name, agent) for name in list_benchmark_names() for agent in ("oracle", "oracle@0.3", "silent")]
"""The best, one that errs, and nobody; all of them are run for the README's table."""
SMALL: dict[str, dict[str, object]] = {
    "agentsense": {"limit": 5},
    "anteval-ieg": {"options": {"real": "stand-in", "sessions": 12, "resamples": 0, "curve": False}},
    "anteval-iep": {"limit": 16},
    "stss": {"options": {"tasks": ["portrait-sitting", "cradle-quilt", "a-poem-at-the-bandstand"]}},
    "stss-conversations": {"limit": 10},
}
"""Settings that keep the suite short: whole templates, so that every metric is there."""
LIMITED: dict[str, dict[str, object]] = {
    "anteval-hidden": {"limit": 4},
    "anteval-informants": {"limit": 3},
    "hsii": {"limit": 8},
    "hsii-cot": {"limit": 8},
    "hsii-live": {"limit": 4, "options": {"draws": 1}},
}
"""The same for tests that look at no value."""
LONG = {"agentsense", "anteval-hidden", "anteval-ieg", "anteval-informants", "hsii-cot", "hsii-live", "stss"}
TABLES = [pytest.param(name, marks=pytest.mark.long) if name in LONG else name for name in list_benchmark_names()]
"""The READMEs' tables; some of them rest on thousands of episodes."""
SCORES_FILE = Path(__file__).with_name("scores_sha256.json")
SCORES = json.loads(SCORES_FILE.read_text())
"""By benchmark and agent the digest of ``scores.json``: the same seeds give the same scores, byte for byte.

Whoever changes a number on purpose moves the benchmark's version; a new metric does not, and moves digests only.
"""
RENEW = "If that is meant, run: pytest tests/test_conformance.py --renew"
RECORDS = ("episodes.jsonl", "judgments.jsonl", "references.jsonl", "scores.json")


def run_offline(benchmark: str, agent: str, out: Path, *, whole: bool = False, **settings: object) -> runs.RunResult:
    """``whole``: on as much of the data as values in the READMEs rest on."""
    small = SMALL.get(benchmark, {}) if whole else {**SMALL, **LIMITED}.get(benchmark, {})
    asked = {**find_benchmark(benchmark).demo, **small, **settings}
    return runs.run(benchmark, f"reference/{agent}", out=out, **asked)


Finish = Callable[..., tuple[runs.RunResult, Path]]


@pytest.fixture(scope="module")
def finish(tmp_path_factory: pytest.TempPathFactory) -> Finish:
    """A run as of ``run_offline`` and its folder, which nobody changes: several tests look at the same one."""
    finished: dict[str, tuple[runs.RunResult, Path]] = {}

    def finish_once(benchmark: str, agent: str, *, whole: bool = False) -> tuple[runs.RunResult, Path]:
        key = f"{benchmark} {agent} {whole and benchmark in LIMITED}"
        if key not in finished:
            folder = tmp_path_factory.mktemp("finished") / "run"
            finished[key] = run_offline(benchmark, agent, folder, whole=whole), folder
        return finished[key]

    return finish_once


@pytest.mark.parametrize(("benchmark", "agent"), AGENTS)
def test_runs_end_to_end_and_reports(benchmark: str, agent: str, finish: Finish) -> None:
    result, folder = finish(benchmark, agent)
    scores = json.loads((folder / "scores.json").read_text())
    assert {"benchmark", "version", "estimates"} <= scores.keys()
    assert all(
        {"metric", "value", "low", "high", "confidence", "scored", "unscored", "errored"} <= estimate.keys()
        for estimate in scores["estimates"]
    )
    assert result.estimates
    assert all(score.outcome != "errored" for score in result.scores)
    page = render_html(reports.make_report_document([folder]))
    assert f"reference/{agent}" in page


@pytest.mark.parametrize("benchmark", list_benchmark_names())
def test_leaderboards_have_a_main_metric_by_which_the_oracle_is_first(benchmark: str, finish: Finish) -> None:
    folders = [finish(benchmark, agent)[1] for agent in ("silent", "oracle")]
    standings = load_standings(folders)
    (column,) = standings.columns
    assert column.metric is not None, "name one in main_metrics"
    assert standings.names == ["reference/oracle", "reference/silent"]
    values = [column.sign * (entry.find_value(column.metric) or 0.0) for entry in column.ordered]
    assert values[0] > values[1]
    assert make_leaderboard(standings).summary.rows[0].cells[1][0].isdigit()


@pytest.mark.parametrize("benchmark", list_benchmark_names())
def test_same_seed_same_bytes_whatever_the_connections(benchmark: str, tmp_path: Path) -> None:
    for connections in (1, 50):
        run_offline(benchmark, "random", tmp_path / str(connections), seed=11, max_connections=connections, repeats=2)
    made = [name for name in RECORDS if (tmp_path / "1" / name).exists()]
    assert {"episodes.jsonl", "scores.json"} <= set(made)
    for name in made:
        assert len({(tmp_path / folder / name).read_bytes() for folder in ("1", "50")}) == 1, name


@pytest.mark.parametrize("benchmark", list_benchmark_names())
def test_another_seed_gives_other_episodes(benchmark: str, tmp_path: Path) -> None:
    for seed in (1, 2):
        run_offline(benchmark, "random", tmp_path / str(seed), seed=seed)
    assert (tmp_path / "1" / "episodes.jsonl").read_bytes() != (tmp_path / "2" / "episodes.jsonl").read_bytes()


@pytest.mark.parametrize("benchmark", TABLES)
def test_reference_agents_meet_the_table_of_the_readme(benchmark: str, finish: Finish, request: pytest.FixtureRequest) -> None:
    renews = request.config.getoption("--renew")
    table = expected_values(benchmark)
    digests = dict(SCORES[benchmark])
    assert {row["agent"] for row in table} >= set(find_benchmark(benchmark).reference_agents[Role.SUBJECT])
    for row in table:
        agent = row.pop("agent")
        row.pop("why")
        rates = (0.0, 0.3, 0.6, 1.0) if agent.endswith("@p") else (None,)
        names = [agent if rate is None else agent.replace("@p", f"@{rate}") for rate in rates]
        results, folders = zip(*(finish(benchmark, name, whole=True) for name in names), strict=True)
        for name, folder in zip(names, folders, strict=True):
            if name in digests:
                digest = hashlib.sha256((folder / "scores.json").read_bytes()).hexdigest()
                SCORES[benchmark][name] = digest if renews else SCORES[benchmark][name]
                assert digests.pop(name) == digest or renews, f"{name} has other scores than before. {RENEW}"
        for metric, expectation in row.items():
            found = [result.estimate(metric) for result in results]
            assert all(estimate is not None for estimate in found), metric
            check(expectation, [estimate.value for estimate in found if estimate is not None], results[0], f"{agent} {metric}")
    assert not digests, "agents that the table lacks"
    if renews:
        # Others may be renewing theirs at the same time.
        known = json.loads(SCORES_FILE.read_text()) | {benchmark: SCORES[benchmark]}
        SCORES_FILE.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")


@pytest.mark.parametrize("benchmark", list_benchmark_names())
def test_the_readme_lists_the_metrics_as_they_are_declared(benchmark: str, request: pytest.FixtureRequest) -> None:
    opened = find_benchmark(benchmark).open(SMALL.get(benchmark, {}).get("options"))
    declared, text = make_markdown(opened.metrics), readme(benchmark)
    if request.config.getoption("--renew"):
        heading = declared.splitlines()[0]
        listed = heading + text.partition(heading)[2].partition("\n\n")[0]
        find_readme(benchmark).write_text(text.replace(listed, declared), encoding="utf-8")
    else:
        assert declared in text, f"{find_readme(benchmark)} lists other metrics. {RENEW}"


def check(expectation: str, values: list[float | None], result: runs.RunResult, what: str) -> None:
    """One cell of the table: a number, —, any, falls, rises, chance, < and > a number, ≈ (it lies in the interval)."""
    if expectation == "any":
        return
    if expectation == "—":
        assert values == [None], what
    elif expectation in ("falls", "rises"):
        sign = 1 if expectation == "falls" else -1
        defined = [sign * value for value in values if value is not None]
        assert all(after <= before + 1e-9 for before, after in itertools.pairwise(defined)), (what, values)
        assert defined[-1] < defined[0], (what, values)
    elif expectation[0] in "<>":
        bound = float(expectation[1:])
        assert all(value is not None and (value < bound if expectation[0] == "<" else value > bound) for value in values), (
            what,
            values,
        )
    elif expectation[0] == "≈":
        found = result.estimate(what.rpartition(" ")[2])
        assert found is not None and found.low is not None and found.high is not None
        assert found.low <= float(expectation[1:]) <= found.high, (what, found)
    elif expectation == "chance":
        scenarios = cases.load_study(result.manifest["benchmark"]).scenarios.values()
        chance = sum(1 / len(scenario.characters) for scenario in scenarios) / len(scenarios)
        # Of n cases a random pick is right in a share with a standard deviation of at most .5 / sqrt(n); allow three.
        assert values[0] is not None
        assert abs(values[0] - chance) < 1.5 / len(scenarios) ** 0.5, what
    else:
        assert all(value == pytest.approx(float(expectation)) for value in values), (what, values)


def find_readme(benchmark: str) -> Path:
    package = find_benchmark(benchmark).load_study_type().__module__.rpartition(".")[0]
    return Path(str(resources.files(package).joinpath("README.md")))


def readme(benchmark: str) -> str:
    return find_readme(benchmark).read_text(encoding="utf-8")


def expected_values(benchmark: str) -> list[dict[str, str]]:
    """The rows of the README's table of reference agents."""
    lines = [
        line
        for line in readme(benchmark).partition("## Reference agents")[2].partition("\n## ")[0].splitlines()
        if line.startswith("|")
    ]
    heading, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [dict(zip(heading, row, strict=True)) for row in rows]


@pytest.mark.parametrize("benchmark", [name for name in list_benchmark_names() if find_benchmark(name).demo.get("judges")])
def test_a_finished_run_is_scored_judged_and_reported_again_without_running_an_episode(
    benchmark: str, tmp_path: Path, finish: Finish
) -> None:
    run_offline(benchmark, "oracle@0.3", tmp_path / "run", judges=())
    before = {name: (tmp_path / "run" / name).read_bytes() for name in ("episodes.jsonl", "scores.json")}
    judged = runs.judge(tmp_path / "run", find_benchmark(benchmark).demo["judges"])
    assert (tmp_path / "run" / "episodes.jsonl").read_bytes() == before["episodes.jsonl"]
    assert (tmp_path / "run" / "scores.json").read_bytes() != before["scores.json"]
    assert runs.score(tmp_path / "run").estimates == judged.estimates
    # Judging afterwards gives what judging at once gives.
    _, at_once = finish(benchmark, "oracle@0.3")
    for name in ("judgments.jsonl", "scores.json"):
        assert (tmp_path / "run" / name).read_bytes() == (at_once / name).read_bytes()


def test_a_run_compared_with_itself_shows_no_difference(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        run_offline("hsii", "oracle@0.3", tmp_path / folder)
    table = reports.compare(tmp_path / "a", tmp_path / "b").summary
    assert [row.cells[0] for row in table.rows][:2] == ["r1", "r2"]
    assert all(re.match(r"0\.000|—", row.cells[3]) for row in table.rows)


def test_runs_of_different_data_or_judging_are_not_compared_silently(tmp_path: Path) -> None:
    run_offline("hsii", "oracle", tmp_path / "a")
    run_offline("hsii", "oracle", tmp_path / "b", seed=5)
    with pytest.raises(runs.InputError, match=r"not comparable.*seed \(0 and 5\)"):
        reports.compare(tmp_path / "a", tmp_path / "b")
    assert reports.compare(tmp_path / "a", tmp_path / "b", anyway=True).sections


def test_limit_takes_whole_dialogues_and_repeats_are_no_new_cases(tmp_path: Path) -> None:
    once = run_offline("hsii", "oracle", tmp_path / "once", limit=3)
    thrice = run_offline("hsii", "oracle", tmp_path / "thrice", limit=3, repeats=3)
    assert len({score.cluster for score in once.scores}) == 3
    one, three = once.estimate("r2"), thrice.estimate("r2")
    assert one is not None
    assert three is not None
    assert (one.low, one.high) == (three.low, three.high)
    assert three.scored == 3 * one.scored
