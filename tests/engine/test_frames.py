"""A run's tables: what stands in them, how they are typed, and that the reference page says the same."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import sociable
from sociable.core.records import Record
from sociable.core.tables import TEXTS, list_columns
from sociable.engine.frames import TABLES, TableName, name_runs, read_rows
from sociable.engine.result import RunResult
from sociable.judging.rubric import RubricJudgment

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "tables.md"


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    """A judged run of six cases."""
    out = tmp_path_factory.mktemp("runs") / "judged"
    settings = {"options": {"stages": [1, 2, 3]}, "judges": ["reference/rule"], "limit": 1, "repeats": 2}
    return sociable.run("hsii", "reference/oracle@0.3", out=out, **settings)


def render_columns(rows: type[Record]) -> str:
    lines = ["| column | type | may be empty | meaning |", "|---|---|---|---|"]
    for each in list_columns(rows):
        kind = (
            "list of texts" if each.kind == TEXTS else {str: "text", int: "integer", float: "number", bool: "boolean"}[each.kind]
        )
        lines.append(f"| `{each.name}` | {kind} | {'yes' if each.nullable else ''} | {each.meaning} |")
    return "\n".join(lines)


def test_the_reference_page_lists_the_columns_as_they_are_declared(request: pytest.FixtureRequest) -> None:
    sections = [f"## {name}\n\n{table.meaning.capitalize()}.\n\n{render_columns(table.rows)}\n" for name, table in TABLES.items()]
    page = PAGE.read_text(encoding="utf-8")
    heading = page.partition("\n## ")[0].rstrip("\n") + "\n\n"
    expected = heading + "\n".join(sections)
    if request.config.getoption("--renew"):
        PAGE.write_text(expected, encoding="utf-8")
    else:
        assert page == expected, f"{PAGE} lists other columns. Run: pytest {Path(__file__).name} --renew"


def test_every_column_has_a_meaning() -> None:
    for table in TABLES.values():
        assert all(column.meaning for column in list_columns(table.rows))


def test_scores_are_those_of_the_run(result: RunResult) -> None:
    frame = result.frame()
    assert len(frame) == len(result.scores)
    assert frame["value"].dtype == "float64"
    # None becomes NaN, and nothing else does.
    assert list(frame["value"].isna()) == [score.value is None for score in result.scores]
    assert set(frame["outcome"]) == {score.outcome.value for score in result.scores}
    estimate = result.estimate("r2")
    assert estimate is not None
    assert frame[frame["metric"] == "r2"]["value"].mean() == pytest.approx(estimate.value)


def test_tables_join_by_episode(result: RunResult) -> None:
    episodes = result.frame("episodes")
    keys = ["run", "scenario", "cluster", "repeat", "episode"]
    for table in ("scores", "turns", "judgments"):
        frame = result.frame(table)
        assert len(frame), table
        assert len(frame.merge(episodes[keys], on=keys)) == len(frame), table


def test_turns_are_whole(result: RunResult) -> None:
    turns = result.frame("turns")
    said = [(episode.id, turn.index, turn.content) for episode in result.episodes() for turn in episode.turns]
    assert list(turns[["episode", "turn", "content"]].itertuples(index=False, name=None)) == said


def test_judgments_of_an_earlier_panel_are_there_and_do_not_count(tmp_path: Path) -> None:
    settings = {"options": {"stages": [1, 2, 3]}, "limit": 1}
    sociable.run("hsii", "reference/oracle", out=tmp_path / "run", judges=["reference/rule"], **settings)
    frame = sociable.judge(tmp_path / "run", ["reference/rule@0.5"]).frame("judgments")
    assert dict(frame.groupby("judge")["counts"].all()) == {"reference/rule": False, "reference/rule@0.5": True}


def test_ratings_are_a_row_for_each_dimension(result: RunResult) -> None:
    episode = next(result.episodes())
    fields = {
        "episode": episode.id,
        "scenario": episode.scenario,
        "criterion": "sotopia",
        "judge": "a-judge",
        "participant": "Ann",
    }
    given = RubricJudgment(id="one", ratings={"goal": 7}, reasons={"goal": "got it"}, failures={"secret": "no rating"}, **fields)
    result.records.rubrics.append(given)
    try:
        rows = result.frame("judgments").set_index("judgment").loc["one"]
        assert list(rows["dimension"]) == ["goal", "secret"]
        assert rows["rating"].iloc[0] == 7 and pd.isna(rows["rating"].iloc[1])
        assert list(rows["reason"]) == ["got it", "no rating"]
        assert not rows["counts"].any() and rows["verdict"].isna().all()
    finally:
        result.records.rubrics.close()
        (Path(result.folder) / "rubrics.jsonl").unlink()
        result.records.rubrics.leave_out(["one"])


def test_calls_belong_to_episodes_and_hold_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "canary-key")
    (tmp_path / "agent.py").write_text("def answer(messages):\n    return 'I could not say.'\n")
    made = sociable.run("hsii", f"python:{tmp_path / 'agent.py'}:answer", out=tmp_path / "run", limit=1, options={"stages": [1]})
    calls, episodes = made.frame("calls"), made.frame("episodes")
    assert len(calls) == episodes["calls"].sum() > 0
    assert set(calls["episode"]) == set(episodes["episode"])
    assert (calls["reply"] == "I could not say.").all()
    assert json.loads(calls["request"].iloc[0])["messages"]
    assert "canary-key" not in calls.to_json()
    # Calls of an episode that a killed run did not come to write are still those of that episode.
    made.records.close()
    (Path(made.folder) / "episodes.jsonl").write_text("")
    alone = sociable.load_result(made.folder).frame("calls")
    keys = ["scenario", "cluster", "repeat", "episode"]
    assert alone[keys].equals(calls[keys])


def test_conversations_of_a_town_are_turns(tmp_path: Path) -> None:
    played = sociable.run("stss", "reference/oracle", out=tmp_path / "town", options={"tasks": ["portrait-sitting"]})
    turns = played.frame("turns")
    events = [event for episode in played.episodes() for event in episode.events if event.kind == "talked"]
    said = [(event, line) for event in events for line in event.lines]
    assert list(turns["content"]) == [line.says for _, line in said]
    for turn, (event, line) in zip(turns.itertuples(), said, strict=True):
        assert {turn.speaker, *turn.addressees} == {event.resident, event.partner}
        assert turn.speaker == line.speaker and json.loads(turn.details) == {"minute": event.minute}


def test_an_unknown_table_is_told(result: RunResult) -> None:
    with pytest.raises(sociable.InputError, match="There is no table 'score'; there are: runs, scores, "):
        result.frame("score")


def test_runs_of_one_name_are_told_apart() -> None:
    folders = [Path("/a/x/run"), Path("/a/y/run"), Path("/a/y/other")]
    assert name_runs(folders) == {folders[0]: "x/run", folders[1]: "y/run", folders[2]: "other"}


def test_a_row_has_a_cell_for_each_column(result: RunResult) -> None:
    for name in TableName:
        columns = list_columns(TABLES[name].rows)
        for row in read_rows(result, name):
            for cell, column in zip(row, columns, strict=True):
                if cell is None:
                    assert column.nullable, (name, column.name)
                elif column.kind == TEXTS:
                    assert isinstance(cell, tuple), (name, column.name)
                else:
                    assert isinstance(cell, column.kind), (name, column.name, cell)
