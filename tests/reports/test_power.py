"""What `sociable power` says of runs, and of reference agents where there are none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sociable
from sociable.api.power import plan_power
from sociable.core.errors import InputError
from sociable.core.view import Document
from sociable.engine.result import RunResult
from sociable.reports.comparison import compare_metrics
from sociable.reports.power import score_by_judge
from sociable.statistics.components import measure_components

JUDGE = """
def reply(messages):
    import hashlib
    return str(int(hashlib.sha256((NAME + messages[-1]["content"]).encode()).hexdigest(), 16) % 2 + 1)
"""


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> list[RunResult]:
    folder = tmp_path_factory.mktemp("pair")
    return [run_memory(f"reference/{agent}", folder / agent, repeats=2, limit=36) for agent in ("oracle@0.3", "random")]


def run_memory(model: str, out: Path, **settings: Any) -> RunResult:
    return sociable.run("hsii-memory", model, out=out, judges=("reference/rule",), **settings)


def read(document: Document) -> dict[str, dict[str, str]]:
    """The cells of both tables, by metric and column."""
    tables = [document.summary, *(block for section in document.sections for block in section.blocks)]
    found: dict[str, dict[str, str]] = {}
    for table in tables:
        for row in table.rows:  # type: ignore[union-attr]
            cells = zip((each.title for each in table.columns), row.cells, strict=True)  # type: ignore[union-attr]
            found.setdefault(row.cells[0], {}).update(cells)
    return found


def test_the_difference_of_two_runs_is_projected_to_all_the_data(pair: list[RunResult]) -> None:
    document = plan_power("hsii-memory", pair)
    found = read(document)
    assert "reference/oracle@0.3 and reference/random" in document.subtitle
    # 36 of the 72 scenarios were run, and this metric is of every second case.
    (row,) = [row for row in document.summary.rows if row.cells[0] == "retention"]
    assert row.cells[1:3] == ["72", "36"]
    assert float(found["retention"]["Alone"]) < float(found["retention"]["Smallest"])
    once, twice, thrice = (float(found["retention"][f"{count} ×"]) for count in (1, 2, 3))
    assert once > twice > thrice
    assert twice == float(found["retention"]["Smallest"])
    assert found["retention"]["+ judge"] == "—"


def test_what_is_larger_than_promised_is_told_apart(pair: list[RunResult], tmp_path: Path) -> None:
    """All the data, run as planned: a comparison says of the differences what the plan said."""
    whole = [run_memory(f"reference/{agent}", tmp_path / agent, repeats=2) for agent in ("oracle@0.3", "random")]
    planned, compared = read(plan_power("hsii-memory", pair)), sociable.compare(*whole)
    (table,) = compared.sections[0].blocks
    said = {row.cells[0]: row.cells[1] for row in table.rows}  # type: ignore[union-attr]
    differences = {row.cells[0]: abs(float(row.cells[3].split()[0])) for row in compared.summary.rows}
    clear = [name for name in planned if differences[name] > 1.5 * float(planned[name]["Smallest"])]
    assert len(clear) > 1 and {said[name] for name in clear} == {"told apart"}


def test_a_larger_difference_takes_fewer_clusters_and_more_power_takes_more(pair: list[RunResult]) -> None:
    def count(difference: float, power: float = 0.8) -> int:
        needed = read(plan_power("hsii-memory", pair, difference=difference, power=power))
        return int(needed["retention"]["Clusters"].replace(",", ""))

    assert count(0.2) < count(0.1) < count(0.1, power=0.9)


def test_without_runs_a_reference_agent_is_run_and_named(tmp_path: Path) -> None:
    document = plan_power("hsii-memory", out=tmp_path / "power.html")
    assert "two agents like reference/oracle@0.3" in document.subtitle
    assert "reference/oracle@0.3" in (tmp_path / "power.html").read_text()
    assert "each run once" in document.summary.note
    assert [path.name for path in tmp_path.iterdir()] == ["power.html"]


def test_judges_that_differ_are_told_from_one_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        Path(f"{name}.py").write_text(f"NAME = {name!r}\n{JUDGE}")
    judges = tuple(f"python:{name}.py:reply" for name in ("one", "two"))
    settings: dict[str, Any] = {"partner": "reference/heuristic", "reference": "reference/oracle", "judges": judges}
    result = sociable.run("hsii", "reference/better", out="judged", options={"stages": [1, 2, 3]}, **settings)
    sides = score_by_judge(result)
    assert set(sides) == {"", *judges}
    values = [{each.scenario: each.value for each in sides[judge] if each.metric == "r3_ties_half"} for judge in judges]
    assert values[0].keys() == values[1].keys() and values[0] != values[1]
    cells = read(plan_power("hsii", [result]))["r3_ties_half"]
    assert float(cells["+ judge"]) < float(cells["Smallest"])


def test_wrong_runs_and_numbers_are_refused(pair: list[RunResult], tmp_path: Path) -> None:
    other = run_memory("reference/oracle", tmp_path / "other", seed=7, limit=12)
    with pytest.raises(InputError, match="is a run of hsii-memory, not of hsii"):
        plan_power("hsii", pair)
    with pytest.raises(InputError, match="these are 3"):
        plan_power("hsii-memory", [*pair, other])
    with pytest.raises(InputError, match=r"not comparable. They differ in: seed"):
        plan_power("hsii-memory", [pair[0], other])
    for asked in ({"difference": 0.0}, {"difference": float("nan")}, {"power": 1.0}):
        with pytest.raises(InputError, match="--difference must be above 0"):
            plan_power("hsii-memory", pair, **asked)
    with pytest.raises(InputError, match=r"--difference 3 is more than any two models can differ by"):
        plan_power("hsii-memory", pair, difference=3.0)
    with pytest.raises(InputError, match="In no metric of these runs as many as 6 clusters varied"):
        plan_power("hsii-memory", [other])


def test_the_variance_is_that_of_the_cases_that_a_comparison_has(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"partner": "reference/heuristic", "reference": "reference/oracle", "judges": ("reference/rule",)}
    runs = [
        sociable.run("hsii", f"reference/{agent}", out=tmp_path / agent, limit=20, options={"stages": [1, 2, 3]}, **settings)
        for agent in ("better", "heuristic")
    ]
    compared = {pair.metric: pair.found for pair in compare_metrics(*runs)}
    sides = [score_by_judge(run) for run in runs]
    seen = []
    for metric in runs[0].study.metrics.values():
        components = measure_components(sides, metric.find_means) if metric.name in compared else None
        if components and (spread := compared[metric.name].spread):
            found, own = compared[metric.name], components.spread
            assert (components.cases, own.clusters, own.differing) == (found.cases, found.clusters, spread.differing), metric.name
            assert (own.standard_error, own.step) == pytest.approx((spread.standard_error, spread.step), abs=1e-9), metric.name
            seen.append((metric.name, found.cases))
    # The one has every case at stage 2 right, the other a quarter: 80 were run, and of what comes after fewer are compared.
    assert ("r2", 80) in seen and ("hsii_cascade", 80) in seen
    assert next(cases for name, cases in seen if name == "evades_conflict") < 40


def test_what_hardly_varied_is_left_out_and_named() -> None:
    """The oracle that errs ties with the reference conversations, of which it says the same, in all cases but one."""
    document = plan_power("hsii", difference=0.01)
    assert document.summary.note.endswith("clusters varied in these runs: r3_ties_half, r4_ties_half.")
    assert [row.cells[1] for row in document.summary.rows if row.cells[0] == "r1"] == ["249"]
    table = document.sections[0].blocks[0]
    assert "each run once" in table.caption and table.note.startswith("Too few clusters for a difference of 0.01 in: r1")  # type: ignore[union-attr]
