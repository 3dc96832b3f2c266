"""Leaderboards: what stands in which cell, who is ranked, and what never is."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from markdown_it import MarkdownIt

import sociable
from sociable.api.leaderboard import load_standings, write_leaderboard
from sociable.cli.main import app
from sociable.core.errors import InputError, RunFolderError
from sociable.core.spreadsheets import render_csv
from sociable.core.view import Document, Section, Table

LIMIT = 10
ASKED: dict[str, dict[str, Any]] = {
    "hsii": {"options": {"stages": [1, 2]}},
    "agentsense-duels": {"opponent": "reference/concede"},
}
Finish = Callable[..., Path]


@pytest.fixture(scope="module")
def finish(tmp_path_factory: pytest.TempPathFactory) -> Finish:
    """The folder of a finished run, which nobody changes."""
    parent = tmp_path_factory.mktemp("runs")

    def run(agent: str, benchmark: str = "hsii", **settings: Any) -> Path:
        folder = parent / "-".join([benchmark, agent, *(f"{name}{value}" for name, value in settings.items())])
        if not folder.exists():
            sociable.run(benchmark, f"reference/{agent}", out=folder, **{"limit": LIMIT, **ASKED[benchmark], **settings})
        return folder

    return run


def rename(folder: Path, to: Path, model: str, **changes: Any) -> Path:
    """A copy of a run as if ``model`` had played it."""
    shutil.copytree(folder, to)
    manifest = json.loads((to / "manifest.json").read_text())
    manifest["models"]["subject"] = manifest["settings"]["model"] = model
    (to / "manifest.json").write_text(json.dumps(manifest | changes))
    return to


def read_cells(document: Document) -> dict[str, dict[str, str]]:
    """The cells of the summary, by row and column."""
    titles = [column.title for column in document.summary.columns]
    return {row.cells[0]: dict(zip(titles[1:], row.cells[1:], strict=True)) for row in document.summary.rows}


def find_section(document: Document, title: str) -> Section:
    return next(section for section in document.sections if section.title == title)


def read_table(section: Section) -> dict[str, list[str]]:
    return {row.cells[0]: [*row.cells[1:]] for block in section.blocks if isinstance(block, Table) for row in block.rows}


def read_csv(folder: Path) -> list[dict[str, str]]:
    return list(csv.DictReader((folder / "leaderboard.csv").read_text(encoding="utf-8-sig").splitlines()))


def test_reference_agents_alone_are_ranked_by_the_main_metric(finish: Finish, tmp_path: Path) -> None:
    folders = [finish(agent) for agent in ("random", "oracle", "oracle@0.3")]
    document = write_leaderboard(folders, tmp_path)
    # Without judges the cascade is the share of cases with the right target: all, and by chance.
    assert [*read_cells(document)] == ["reference/oracle", "reference/oracle@0.3", "reference/random"]
    assert read_cells(document)["reference/oracle"]["hsii"] == "1.000"
    assert document.summary.columns[1].explanation.startswith("hsii_cascade: ")
    ranks = {name: cells[0] for name, cells in read_table(find_section(document, "Ranks")).items()}
    # Ten dialogues are too few to tell that one errs in three cases of ten.
    assert ranks == {"reference/oracle": "1–2 a", "reference/oracle@0.3": "1–2 a", "reference/random": "3 b"}


def test_beside_models_reference_agents_are_the_scale(finish: Finish, tmp_path: Path) -> None:
    models = [rename(finish(agent), tmp_path / agent, f"openai/{agent}") for agent in ("oracle@0.3", "random")]
    document = write_leaderboard([*models, finish("oracle")], tmp_path)
    assert [*read_cells(document)] == ["openai/oracle@0.3", "openai/random", "reference/oracle"]
    assert [*read_table(find_section(document, "Ranks"))] == ["openai/oracle@0.3", "openai/random"]
    profiles = [section.title for section in document.sections if section.title.startswith("Profile: ")]
    assert profiles == ["Profile: openai/oracle@0.3", "Profile: openai/random"]
    profile = find_section(document, "Profile: openai/random")
    (plot, table) = profile.blocks
    assert next(mark for mark in plot.marks if mark.label == "hsii: r2").scale == [1.0]  # type: ignore[union-attr]
    assert all(row.cells[4].startswith("oracle ") for row in table.rows)  # type: ignore[union-attr]
    paired = read_table(find_section(document, "hsii: cascade"))
    assert paired["openai/oracle@0.3 – openai/random"][-2:] == ["yes", "—"]


def test_the_order_of_folders_does_not_matter(finish: Finish, tmp_path: Path) -> None:
    folders = [finish(agent) for agent in ("random", "oracle", "silent", "oracle@0.3")]
    first = write_leaderboard(folders, tmp_path / "one")
    again = write_leaderboard([*reversed(folders), folders[0]], tmp_path / "other")
    assert first == again
    for name in ("leaderboard.csv", "leaderboard.md", "leaderboard.html"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "other" / name).read_bytes()


def make_series(folder: Path, runs: Mapping[str, Path], **noted: Any) -> Path:
    """A folder of several runs; those whose path is not there are not begun."""
    folder.mkdir()
    described = {}
    for name, run in runs.items():
        described[name] = json.loads((run / "manifest.json").read_text())["settings"]
        if "absent" not in name:
            shutil.copytree(run, folder / name)
    (folder / "series.json").write_text(json.dumps({"runs": described, **noted}))
    return folder


def test_what_was_not_run_not_finished_or_failed_says_so(finish: Finish, tmp_path: Path) -> None:
    series = make_series(
        tmp_path / "grid",
        {
            "a": finish("oracle"),
            "b": finish("oracle", "agentsense-duels", limit=2),
            "c": finish("random"),
            "d": finish("silent"),
            "absent": finish("heuristic"),
        },
    )
    (series / "c" / "scores.json").unlink()
    lines = (series / "c" / "episodes.jsonl").read_text().splitlines(keepends=True)
    (series / "c" / "episodes.jsonl").write_text("".join(lines[:3]))
    scores = json.loads((series / "d" / "scores.json").read_text())
    for score in scores["scores"]:
        score.update(outcome="errored", value=None)
    for estimate in scores["estimates"]:
        estimate.update(value=None, low=None, high=None)
    (series / "d" / "scores.json").write_text(json.dumps(scores))
    cells = read_cells(sociable.leaderboard(series))
    count = json.loads((series / "c" / "manifest.json").read_text())["episodes"]
    assert cells["reference/random"] == {"agentsense-duels": "not run", "hsii": f"3 of {count} episodes"}
    assert cells["reference/silent"]["hsii"] == "errored"
    assert cells["reference/heuristic"] == {"agentsense-duels": "not run", "hsii": "not run"}
    states = {(row["row"], row["column"]): row["state"] for row in read_csv(series)}
    assert states["reference/heuristic", "hsii"] == "not run"
    assert states["reference/random", "hsii"] == f"3 of {count} episodes"
    notes = find_section(sociable.leaderboard(series), "Notes on the runs")
    assert any(f"sociable resume {series / 'c'}" in block.text for block in notes.blocks)  # type: ignore[union-attr]


def test_seeds_are_pooled_as_repeats_of_the_same_cases(finish: Finish, tmp_path: Path) -> None:
    folders = [finish("oracle@0.3", seed=seed) for seed in (0, 1)]
    alone = [sociable.load_result(folder) for folder in folders]
    (column,) = load_standings([*folders, finish("random")]).columns
    entry = column.find("reference/oracle@0.3")
    assert entry and entry.pooled
    # r1 is known of every case that was played: each counts once, by the mean of its seeds, and in one cluster.
    by_case: dict[str, list[float]] = defaultdict(list)
    for run in alone:
        for score in run.scores:
            if score.metric == "r1":
                by_case[score.scenario].append(score.value or 0.0)
    assert {len(values) for values in by_case.values()} == {1, 2}
    assert entry.pooled.estimate("r1").value == pytest.approx(fmean(map(fmean, by_case.values())))  # type: ignore[union-attr]
    assert {score.cluster for score in entry.pooled.scores} == {score.cluster for run in alone for score in run.scores}
    # The other has seed 0 only: the pair rests on that.
    (pair,) = column.pairs.values()
    assert alone[0].estimate("hsii_cascade").value in pair.means  # type: ignore[union-attr]


def test_who_has_no_seed_in_common_is_not_told_apart(finish: Finish, tmp_path: Path) -> None:
    document = write_leaderboard([finish("oracle", seed=0), finish("silent", seed=1)], tmp_path)
    assert not read_table(find_section(document, "Ranks"))


def test_what_cannot_be_compared_stands_apart_with_the_reason(finish: Finish, tmp_path: Path) -> None:
    other = finish("silent", options={"stages": [1]})
    document = write_leaderboard([finish("oracle"), finish("random"), other], tmp_path)
    assert read_cells(document)["reference/silent"] == {"hsii": "not run", "hsii (2)": "0.000"}
    assert "reference/silent" not in read_table(find_section(document, "Ranks"))
    said = [block.text for block in find_section(document, "What the columns measure").blocks if not isinstance(block, Table)]  # type: ignore[union-attr]
    assert said == ["hsii (2) is not comparable with hsii, and stands apart. They differ in: option stages ([1, 2] and [1])."]


def test_conditions_of_a_study_are_rows_of_their_own(finish: Finish, tmp_path: Path) -> None:
    runs = {"a": finish("oracle"), "b": finish("oracle", repeats=2), "c-absent": finish("oracle", seed=1)}
    series = make_series(tmp_path / "grid", runs, study={"conditions": {"b": "twice", "c-absent": "twice"}})
    cells = read_cells(sociable.leaderboard(series, series / "b", out=tmp_path))
    # Of the second a seed is missing, which the cell says.
    assert {name: cell["hsii"] for name, cell in cells.items()} == {
        "reference/oracle": "1.000",
        "reference/oracle · twice": "1.000*",
    }


def test_conditions_with_other_prompts_are_ranked_together_unless_judges_read_others(finish: Finish, tmp_path: Path) -> None:
    ours = Path(str(files("sociable.benchmarks.hsii") / "prompts"))

    def run(changed: str) -> Path:
        shutil.copytree(ours, prompts := tmp_path / changed)
        with (prompts / f"{changed}.txt").open("a") as stream:
            stream.write(" Be brief.")
        sociable.run(
            "hsii",
            "reference/oracle",
            prompts=str(prompts),
            out=(out := tmp_path / f"run-{changed}"),
            limit=LIMIT,
            **ASKED["hsii"],
        )
        return out

    runs = {"a": finish("oracle"), "b": run("choose_and_speak"), "c": run("judge_first_utterance"), "d-absent": finish("silent")}
    named = {"a": "plain", "b": "brief", "c": "brief judge", "d-absent": "brief judge"}
    series = make_series(tmp_path / "grid", runs, study={"conditions": named})
    document = sociable.leaderboard(series, out=tmp_path)
    assert read_cells(document) == {
        "reference/oracle · plain": {"hsii": "1.000", "hsii · brief judge": "not run"},
        "reference/oracle · brief": {"hsii": "1.000", "hsii · brief judge": "not run"},
        "reference/oracle": {"hsii": "not run", "hsii · brief judge": "1.000"},
        "reference/silent": {"hsii": "not run", "hsii · brief judge": "not run"},
    }
    (said,) = [block.text for block in find_section(document, "What the columns measure").blocks if not isinstance(block, Table)]  # type: ignore[union-attr]
    assert said.startswith("hsii · brief judge is not comparable with hsii, and stands apart. They differ in: prompts digest")
    # Where no study says that prompts are tried out, they make scores incomparable.
    assert len(load_standings([runs["a"], runs["b"]]).columns) == 2


def test_mean_ranks_are_of_those_in_every_column(finish: Finish, tmp_path: Path) -> None:
    folders = [finish(agent, "agentsense-duels", limit=8) for agent in ("oracle", "silent")]
    folders += [finish(agent) for agent in ("oracle", "silent", "random")]
    standings = load_standings(folders)
    assert [*standings.mean_ranks] == ["reference/oracle", "reference/silent"]
    assert [mean.value for mean in standings.mean_ranks.values()] == [1.0, 2.0]
    for mean in standings.mean_ranks.values():
        assert 1.0 <= mean.low <= mean.value <= mean.high <= 2.0
    document = write_leaderboard(folders, tmp_path)
    assert read_table(find_section(document, "Ranks"))["reference/random"][0] == "—"


def test_published_rows_stand_in_a_table_of_their_own(finish: Finish, tmp_path: Path) -> None:
    document = write_leaderboard([finish("oracle"), finish("random")], tmp_path)
    published = read_table(find_section(document, "Published figures"))
    assert published["GPT4 (paper)"] == ["0.701", "0.732", "0.67", "0.69", "1.399"]
    for section in document.sections:
        rows = read_table(section)
        assert section.title == "Published figures" or not any("paper" in name for name in rows)


def test_cost_and_time_stand_beside_quality(finish: Finish, tmp_path: Path) -> None:
    usage = {role: {"calls": 5, "input_tokens": 1000, "output_tokens": 100} for role in ("subject", "judge")}
    priced = {"usage": usage, "cost": {"subject": 0.5, "judge": 0.25}, "seconds": {"subject": {"median": 1.5}}}
    known = rename(finish("oracle"), tmp_path / "a", "openai/known", **priced)
    unknown = rename(finish("random"), tmp_path / "b", "openai/unknown", **{**priced, "cost": {"judge": 0.25}})
    table = read_table(find_section(write_leaderboard([known, unknown], tmp_path), "Cost and time beside quality"))
    episodes = json.loads((known / "manifest.json").read_text())["episodes"]
    assert table["openai/known"] == ["hsii", "1.000", "0.7500", f"{0.75 / episodes:.5f}", "10", "2,000", "200", "1.50"]
    assert table["openai/unknown"][2:4] == ["unknown", "unknown"]


HOSTILE = (
    "<script>alert(1)</script>|`x`",
    '=HYPERLINK("http://evil.example")',
    "[click](http://evil.example) \x1b[31m",
    "@SUM(1)",
    "\uff1dSUM(1)",
    "$x$",
)


def test_names_of_models_are_only_text(finish: Finish, tmp_path: Path) -> None:
    models = [rename(finish("oracle"), tmp_path / f"{place}", name) for place, name in enumerate(HOSTILE)]
    write_leaderboard(models, tmp_path)
    page, text = ((tmp_path / f"leaderboard.{kind}").read_text(encoding="utf-8") for kind in ("html", "md"))
    assert "<script>alert" not in page
    assert "\x1b" not in page + text and "http://evil" not in text
    shown = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    assert not re.search("<(script|a|img|code) ?", shown)
    assert not re.search(r"(?<!\\)\$", text)  # between two of them some would typeset mathematics
    assert "<td>&lt;script&gt;alert(1)&lt;/script&gt;|`x`</td>" in shown
    for row in read_csv(tmp_path):
        assert not any(cell.lstrip().startswith(("=", "+", "@", "\uff1d")) for cell in row.values())
        assert row["row"].removeprefix("'") in HOSTILE


def test_people_who_checked_a_judge_are_told_of(tmp_path: Path) -> None:
    asked = {"partner": "reference/heuristic", "reference": "reference/oracle", "judges": ("reference/rule",), "limit": 6}
    folder = tmp_path / "run"
    sociable.run("hsii", "reference/better", out=folder, **asked)
    from sociable.api.people import add_corrections, export_sheet

    export_sheet(folder, 8, tmp_path / "sheet.csv")
    rows = list(csv.DictReader((tmp_path / "sheet.csv").read_text(encoding="utf-8-sig").splitlines(keepends=True)))
    filled = [[*({**row, "verdict": "0", "person": "Ada"}).values()] for row in rows]
    (tmp_path / "sheet.csv").write_text(render_csv([*rows[0]], filled), encoding="utf-8")
    add_corrections(folder, [tmp_path / "sheet.csv"])
    document = write_leaderboard([folder], tmp_path)
    assert "†" in read_cells(document)["reference/better"]["hsii"]
    assert "corrected by" in find_section(document, "Corrected by people").blocks[0].text  # type: ignore[union-attr]
    corrected = {row["metric"]: row["corrected"] for row in read_csv(tmp_path)}
    assert corrected["r1"] == "" and float(corrected["r3"]) < 1.0
    judges = read_table(find_section(document, "What the columns measure"))["hsii"][-1]
    assert judges == "Judged by reference/rule (not audited)."


def test_what_holds_no_runs_is_refused(finish: Finish, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Name at least one run folder"):
        sociable.leaderboard()
    (tmp_path / "empty").mkdir()
    with pytest.raises(RunFolderError, match="not a run folder"):
        sociable.leaderboard(tmp_path / "empty")
    series = make_series(tmp_path / "league", {"a": finish("oracle")}, tournament={})
    with pytest.raises(InputError, match=f"sociable report {series}"):
        sociable.leaderboard(series)


def test_the_command_says_where_it_wrote(finish: Finish, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    app(["leaderboard", str(finish("oracle")), str(finish("random")), "--out", str(tmp_path / "board")], standalone_mode=False)
    shown = capsys.readouterr().out
    assert "Models and benchmarks" in shown and "Ranks" in shown and "leaderboard.html" in shown
    assert {file.name for file in (tmp_path / "board").iterdir()} == {f"leaderboard.{kind}" for kind in ("csv", "html", "md")}
