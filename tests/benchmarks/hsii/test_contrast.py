"""What a difference between two runs is made of."""

from __future__ import annotations

from pathlib import Path

import pytest

from sociable.api.reports import compare
from sociable.api.results import load_result
from sociable.api.runs import run
from sociable.benchmarks.hsii.metrics import RATES
from sociable.core.view import Case, Paragraph, Quotation, Table, Transcript

DEMO = {"partner": "reference/heuristic", "reference": "reference/oracle", "judges": ("reference/rule",), "limit": 12}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("contrast")
    for name, agent in (("a", "oracle@0.5"), ("b", "heuristic")):
        run("hsii", f"reference/{agent}", out=folder / name, **DEMO)
    return folder / "a", folder / "b"


def test_every_episode_in_which_one_wins_stands_once_under_its_stage(runs: tuple[Path, Path]) -> None:
    document = compare(*runs)
    shown = {block.title: section.title for section in document.sections for block in section.blocks if isinstance(block, Case)}
    one, other = map(load_result, runs)
    values = [{(s.metric, f"{s.scenario}#{s.repeat}"): s.value for s in run.scores} for run in (one, other)]
    expected = {}
    for episode in one.records.episodes.list_ids():
        for metric, title in zip(RATES, ("Format", "Target", "First utterance", "Long run"), strict=True):
            first, second = (own[metric, episode] for own in values)
            if first is not None and second is not None and first != second:
                expected[episode] = f"{title}: cases that differ"
                break
    assert shown == expected
    assert {"Format: cases that differ", "Target: cases that differ"} <= set(expected.values())


def test_the_counts_by_stage_and_topic_add_up(runs: tuple[Path, Path]) -> None:
    document = compare(*runs)
    _, table = [b for section in document.sections for b in section.blocks if isinstance(b, Table)]
    shown = sum(isinstance(block, Case) for section in document.sections for block in section.blocks)
    totals = [list(map(int, row.cells[2:])) for row in table.rows if row.cells[1] == "all"]
    parts = [list(map(int, row.cells[2:])) for row in table.rows if row.cells[1] != "all"]
    assert sum(map(sum, totals)) == shown == sum(map(sum, parts))


def test_both_responses_the_golden_one_and_why(runs: tuple[Path, Path], tmp_path: Path) -> None:
    document = compare(*runs, out=tmp_path / "compared.html")
    cases = [b for section in document.sections for b in section.blocks if isinstance(b, Case)]
    run = load_result(runs[0])
    for view in cases:
        case = run.study.scenarios[view.title.removesuffix("#0")]
        labels = [block.label for block in view.blocks if isinstance(block, Quotation)]
        assert [label[0] for label in labels] == ["A", "B"]
        golden = next(block for block in view.blocks if isinstance(block, Transcript) and block.title == "Golden")
        assert [(line.addressee, line.text) for line in golden.lines] == [(case.golden.role_to, case.golden.content)]
        assert any(isinstance(block, Paragraph) and block.text.endswith(case.why) for block in view.blocks)
    assert cases[0].title in (tmp_path / "compared.html").read_text()


def test_a_run_beside_itself_differs_nowhere(runs: tuple[Path, Path]) -> None:
    document = compare(runs[0], runs[0])
    assert not [block for section in document.sections for block in section.blocks if isinstance(block, Case)]
