"""What cases tell of runs: `audit --runs`, and the warning of a model beyond what they can measure."""

from pathlib import Path

import pytest

from sociable.api import datasets, results, runs
from sociable.core.errors import InputError
from sociable.core.records import Estimate
from sociable.core.view import Callout, Table
from sociable.reports.headroom import touches_ceiling, warn_of_ceilings
from sociable.statistics.metrics import Metric, Metrics, Value, mean

RIGHT = Metric[float]("right", "right", "right answers", value=Value, best=1.0)
LEAKS = Metric[float]("leaks", "leaks", "leaks", value=Value, best=0.0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for agent in ("oracle", "oracle@0.5", "random"):
        runs.run("hsii", f"reference/{agent}", out=folder / agent, limit=12, options={"stages": [1, 2]})
    return folder


def test_audit_tells_what_each_case_told_of_the_runs(folder: Path) -> None:
    document = datasets.audit("hsii", runs=[folder])
    headroom, cases = (each for each in document.sections if each.title in ("Headroom", "Cases"))
    summary = next(block for block in headroom.blocks if isinstance(block, Table))
    rows = {row.cells[0]: row.cells for row in summary.rows}
    assert list(rows)[:2] == ["r1", "r2"]
    assert rows["r2"][6] == "reference/oracle"
    assert rows["r2"][7].startswith("0.000")
    assert float(rows["r2"][5].split()[0]) > 0.0
    (table,) = cases.blocks
    assert isinstance(table, Table)
    played = results.load_result(folder / "oracle").study.scenarios
    assert {row.cells[0] for row in table.rows} <= set(played)
    # The best run gets everything right.
    assert any(isinstance(each, Callout) and "No room is left" in each.text for each in headroom.blocks)


def test_one_model_alone_tells_nothing_of_cases(folder: Path) -> None:
    with pytest.raises(InputError, match=r"at least two different models; these are of reference/oracle alone"):
        datasets.audit("hsii", runs=[folder / "oracle", folder / "oracle"])
    with pytest.raises(InputError, match="no run of agentsense"):
        datasets.audit("agentsense", runs=[folder])


def test_runs_over_other_data_are_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="over other data"):
        datasets.audit("hsii", dataset=_write_part(tmp_path), runs=[folder])


def _write_part(folder: Path) -> Path:
    bundled = sorted((Path(runs.__file__).parents[1] / "benchmarks/hsii/data/dialogues").glob("*.json"))[0]
    path = folder / bundled.name
    path.write_bytes(bundled.read_bytes())
    return path


def estimate(value: float, low: float | None, high: float | None, scored: int, metric: str = "right") -> Estimate:
    return Estimate(metric=metric, value=value, low=low, high=high, scored=scored)


def test_the_ceiling_is_touched_within_half_a_case() -> None:
    assert touches_ceiling(RIGHT, estimate(60 / 61, 0.913, 0.997, 61))
    assert not touches_ceiling(RIGHT, estimate(59 / 61, 0.888, 0.991, 61))
    assert touches_ceiling(LEAKS, estimate(0.0, 0.0, 0.07, 53, "leaks"))
    assert not touches_ceiling(LEAKS, estimate(1.0, 0.93, 1.0, 53, "leaks"))


def test_a_few_cases_are_no_ceiling() -> None:
    assert not touches_ceiling(RIGHT, estimate(1.0, 0.44, 1.0, 3))
    assert not touches_ceiling(RIGHT, estimate(0.5, 0.09, 0.91, 2))
    assert touches_ceiling(RIGHT, estimate(1.0, None, None, 6)), "all alike: no limits, and no room either"


def test_reports_warn_of_a_model_beyond_the_cases_but_not_of_reference_agents() -> None:
    metrics, found = Metrics(RIGHT, LEAKS), [estimate(1.0, 0.9, 1.0, 40), estimate(0.2, 0.1, 0.3, 40, "leaks")]
    (warning,) = warn_of_ceilings(metrics, "openai-compatible/m", found)
    assert "At the ceiling, as far as these cases tell: right." in warning
    assert warn_of_ceilings(metrics, "reference/oracle", found) == []


def test_a_best_value_is_one_of_the_bounds() -> None:
    with pytest.raises(ValueError, match="must be the least or the greatest possible value"):
        Metric[float]("calls", "calls", "calls", value=Value, aggregate=mean, high=None, best=0.0)
