"""What a comparison says of each metric."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from statsmodels.stats.multitest import multipletests

import sociable
from sociable.core.errors import InputError
from sociable.core.view import Document
from sociable.reports.comparison import compare_metrics

DEMO: dict[str, Any] = {"partner": "reference/heuristic", "reference": "reference/oracle", "judges": ("reference/rule",)}
WOULD = r"not told apart, and a difference of ([0-9.]+) would have been"


def compare(folder: Path, *agents: str, **settings: Any) -> Document:
    one, other = (
        sociable.run("hsii", f"reference/{agent}", out=folder / f"{place}", **DEMO, **settings)
        for place, agent in enumerate(agents)
    )
    return sociable.compare(one, other, out=folder / "compared.html")


def read_conclusions(document: Document) -> dict[str, str]:
    (table,) = document.sections[0].blocks
    return {row.cells[0]: row.cells[1] for row in table.rows}  # type: ignore[union-attr]


def test_what_differs_enough_is_told_apart_and_what_does_not_differ_at_all_has_no_conclusion(tmp_path: Path) -> None:
    document = compare(tmp_path, "oracle", "oracle@0.5")
    said = read_conclusions(document)
    assert said["r1"] == said["r2"] == said["hsii"] == said["hsii_cascade"] == "told apart"
    assert said["r3"] == said["r4_minus_r3"] == "—"
    assert [*said] == [row.cells[0] for row in document.summary.rows]
    assert "What follows" in (tmp_path / "compared.html").read_text()


def test_what_would_have_been_told_apart_is_larger_than_what_was_seen(tmp_path: Path) -> None:
    document = compare(tmp_path, "oracle@0.3", "oracle@0.35")
    seen = {row.cells[0]: (float(row.cells[3].split()[0]), row.cells[4]) for row in document.summary.rows if row.cells[3] != "—"}
    would = {name: found[1] for name, said in read_conclusions(document).items() if (found := re.fullmatch(WOULD, said))}
    assert would
    for name, smallest in would.items():
        assert abs(seen[name][0]) < float(smallest) < 0.2
        assert seen[name][1] == "—" or float(seen[name][1]) > 0.05


def test_over_five_dialogues_nothing_could_have_been_told_apart(tmp_path: Path) -> None:
    said = read_conclusions(compare(tmp_path, "oracle", "random", limit=5))
    assert set(said.values()) <= {"not told apart, and could not have been", "—"}
    assert said["r2"] == "not told apart, and could not have been"


def test_what_no_test_could_tell_has_no_p_value_and_what_no_case_has_is_not_measured(tmp_path: Path) -> None:
    document = compare(tmp_path, "better", "heuristic", limit=20, options={"stages": [1, 2, 3]})
    said, rows = read_conclusions(document), {row.cells[0]: row.cells for row in document.summary.rows}
    # One has r3 in a quarter of the cases that both reach, the other never: five dialogues differ.
    assert rows["r3"][3].startswith("-0.") and rows["r3"][4] == "—" and re.fullmatch(WOULD, said["r3"])
    assert "too few clusters for any test (5 or fewer)" in document.summary.note
    assert (said["r1"], said["r4"]) == ("—", "not measured")
    assert f"sociable power hsii --runs {tmp_path / '0'} {tmp_path / '1'}" in (tmp_path / "compared.html").read_text()


def test_runs_that_may_not_be_compared_are_warned_of_first(tmp_path: Path) -> None:
    one, other = (
        sociable.run("hsii", "reference/oracle", out=tmp_path / f"{seed}", limit=2, seed=seed, **DEMO) for seed in (0, 1)
    )
    document = sociable.compare(one, other, anyway=True)
    assert [section.title for section in document.sections[:2]] == ["Warning", "What follows"]


def test_more_than_two_are_compared_pair_by_pair_and_corrected_together(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"options": {"stages": [1, 2]}, "limit": 12}
    agents = ("oracle", "oracle@0.3", "random")
    runs = [sociable.run("hsii", f"reference/{agent}", out=tmp_path / agent, **asked) for agent in agents]
    document = sociable.compare(*runs, out=tmp_path / "compared.html")
    tables = {table.caption: table for section in document.sections for table in section.blocks}
    shown = {row.cells[0]: row.cells for row in tables["r2"].rows}  # type: ignore[union-attr]
    assert [*shown] == ["A – B", "A – C", "B – C"]
    alone = {row.cells[0]: row.cells for row in sociable.compare(runs[1], runs[2]).summary.rows}["r2"]
    # The same means, difference, cases and clusters; p is corrected for more.
    assert [*shown["B – C"][1:4], *shown["B – C"][5:7]] == [*alone[1:4], *alone[5:7]]
    (raw,) = {pair.found.p_value for pair in compare_metrics(runs[1], runs[2]) if pair.metric == "r2"}
    tested = sum(row.cells[4] != "—" for table in tables.values() for row in table.rows)  # type: ignore[union-attr]
    p_values = sorted(
        pair.found.p_value
        for one, other in combinations(runs, 2)
        for pair in compare_metrics(one, other)
        if pair.found.p_value is not None and pair.spread and pair.spread.differing >= 6
    )
    assert len(p_values) == tested > 3
    corrected = dict(zip(p_values, multipletests(p_values, method="holm")[1], strict=True))
    assert shown["B – C"][4] == ("< 0.001" if corrected[raw] < 0.001 else f"{corrected[raw]:.3f}")
    assert shown["A – C"][7] == "yes"
    assert "A – C" in (tmp_path / "compared.html").read_text()


def test_of_several_runs_every_two_must_be_comparable(tmp_path: Path) -> None:
    runs = [
        sociable.run("hsii", "reference/oracle", out=tmp_path / f"{place}", limit=2, seed=place // 2, **DEMO)
        for place in range(3)
    ]
    with pytest.raises(InputError, match="differ in: seed"):
        sociable.compare(*runs)
    assert sociable.compare(*runs, anyway=True).sections[0].title == "Warning"
    with pytest.raises(InputError, match="two runs or more"):
        sociable.compare(runs[0])
