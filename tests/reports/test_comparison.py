"""What a comparison says of each metric."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import sociable
from sociable.core.view import Document

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
