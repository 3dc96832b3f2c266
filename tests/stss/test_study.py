"""STSS as a benchmark: options, seats, what is imported, what an estimate and a report say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sociable import api
from sociable.core.errors import DataError, InputError
from sociable.reports.html import render_html
from sociable.stss.records import StssEpisode
from sociable.stss.study import background_failure
from sociable.stss.task import TaskType
from sociable.town.events import Line, Noted, Planned, Talked

SHARED = Path(__file__).parents[3] / "shared" / "data"
RESIDENTS = "reference/residents"
MODEL = f"python:{Path(__file__).parent / 'town_model.py'}:reply"


def test_a_limit_takes_as_many_of_each_type_as_can_be() -> None:
    kinds = [task.type for task in api.study("stss", limit=10).scenarios.values()]
    assert {kind: kinds.count(kind) for kind in TaskType} == dict.fromkeys(TaskType, 2)


def test_the_same_seed_gives_the_same_tasks_and_another_others() -> None:
    one, same, other = (api.study("stss", seed=seed).scenarios for seed in (4, 4, 5))
    assert one == same
    assert one != other
    assert set(one) == set(other)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tasks": ["no-such-task"]}, "there is no task 'no-such-task'; there are: soup-swap"),
        ({"agent": "no-such-agent"}, "There is no architecture 'no-such-agent'; there are: generative"),
        ({"tiles_per_minute": 9}, "tiles_per_minute"),
        ({"town": "/no/such/town.json"}, "no such file"),
        ({"scheduler": "chaos"}, "'ahead' or 'lockstep'"),
        ({"embeddings": "some-model"}, "pip install"),
    ],
)
def test_bad_options_are_named_before_anything_is_spent(options: dict[str, object], message: str) -> None:
    if "embeddings" in options:
        pytest.importorskip("sociable")
        try:
            import sentence_transformers  # noqa: F401
        except ImportError:
            pass
        else:
            pytest.skip("sentence-transformers is installed")
    with pytest.raises(InputError, match=message):
        api.study("stss", options=options)


def test_nobody_judges_and_nothing_is_compared_with(tmp_path: Path) -> None:
    for wrong in ({"judges": ("reference/rule",)}, {"reference": "openai/gpt-4o"}, {"stages": (1,)}):
        with pytest.raises(InputError):
            api.run("stss", "reference/silent", out=tmp_path / "run", **wrong)
    assert not (tmp_path / "run").exists()


def test_people_and_places_that_are_not_there(tmp_path: Path) -> None:
    task = next(iter(json.loads((Path(api.__file__).parent / "stss" / "data" / "tasks.json").read_text())))
    for change, message in (
        ({"performers": ["Nobody At All"]}, "nobody is called 'Nobody At All'"),
        ({"places": ["The Moon: crater"]}, "there is no 'The Moon: crater'"),
    ):
        (tmp_path / "tasks.json").write_text(json.dumps([task | change]))
        with pytest.raises(DataError, match=message):
            api.study("stss", dataset=str(tmp_path / "tasks.json"))


def test_without_a_partner_the_model_plays_everybody_and_the_report_says_so(tmp_path: Path) -> None:
    result = api.run("stss", MODEL, out=tmp_path / "run", options={"tasks": ["the-dripping-tap"]})
    assert any("played the background residents as well" in note for note in result.notes)
    assert {"subject", "partner"} <= result.manifest["usage"].keys()
    page = render_html(api.report_document([tmp_path / "run"]))
    # Calls per resident and day stand beside the original's.
    assert "Per resident and day" in page
    assert "1,290" in page


def test_scores_as_the_authors_score(tmp_path: Path) -> None:
    """Presence for one minute, and places as planned, can only give more people."""
    options = {"tasks": ["soup-swap", "dumpling-table"]}
    ours = api.run("stss", "reference/heuristic", out=tmp_path / "ours", options=options)
    theirs = {**options, "place": "planned", "attendance": "authors"}
    authors = api.run("stss", "reference/heuristic", out=tmp_path / "theirs", options=theirs)
    one, other = ours.estimate("score"), authors.estimate("score")
    assert one is not None
    assert other is not None
    assert (other.value or 0) >= (one.value or 0)
    assert any("as the authors score" in note for note in authors.notes)


def test_an_estimate_comes_before_two_days_of_calls() -> None:
    document = api.estimate("stss", "openai/gpt-4o-mini", partner="openai/gpt-4o-mini", limit=1)
    rows = {row.cells[0]: int(row.cells[2].replace(",", "")) for row in document.summary.rows}
    assert rows["all"] == rows["subject"] + rows["partner"]
    assert rows["partner"] > 5 * rows["subject"] > 0
    assert "habits" in document.summary.caption


def test_repeats_live_the_same_task_again(tmp_path: Path) -> None:
    api.run("stss", "reference/heuristic", out=tmp_path / "run", options={"tasks": ["soup-swap"]}, repeats=2)
    one, other = (json.loads(line) for line in (tmp_path / "run" / "episodes.jsonl").read_text().splitlines())
    assert one["task"] == other["task"]
    assert one["events"] != other["events"]


def test_lockstep_and_ahead_give_the_same_run(tmp_path: Path) -> None:
    for scheduler in ("ahead", "lockstep"):
        options = {"tasks": ["the-dripping-tap"], "scheduler": scheduler}
        api.run("stss", MODEL, partner=MODEL, out=tmp_path / scheduler, options=options)
    assert (tmp_path / "ahead" / "episodes.jsonl").read_bytes() == (tmp_path / "lockstep" / "episodes.jsonl").read_bytes()


def test_the_authors_tasks_run_in_smallville_and_remarks_are_told(tmp_path: Path) -> None:
    if not SHARED.exists():
        pytest.skip("../shared/data is not there")
    options = {
        "town": str(SHARED / "smallville" / "matrix"),
        "residents": str(SHARED / "smallville" / "clipped_the_ville_n25"),
    }
    tasks = SHARED / "stss" / "task_0905"
    result = api.run("stss", "reference/oracle", dataset=str(tasks), out=tmp_path / "run", limit=5, options=options)
    score = result.estimate("score")
    assert score is not None
    assert score.value == 1.0
    assert any("target_num" in note for note in result.notes)
    audit = api.audit("stss", tasks, options=options)
    assert any("Hobbs" in str(block) for section in audit.sections for block in section.blocks)


def broken(events: list[object]) -> StssEpisode:
    task = next(iter(api.study("stss", limit=1).scenarios.values()))
    return StssEpisode(id="x#0", scenario="x", cluster="x", task=task, events=tuple(events))  # type: ignore[arg-type]


def test_a_background_that_cannot_plan_or_speak_leaves_the_episode_unscored() -> None:
    task = next(iter(api.study("stss", limit=1).scenarios.values()))
    name = task.cast[0]
    plan = Planned(minute=0, resident=name, plan="")
    unread = Noted(minute=0, resident=name, about="unreadable plan", text="")
    assert background_failure(broken([plan])) == ""
    assert background_failure(broken([plan, unread])) == ""
    assert "2 of 3" in background_failure(broken([plan, unread, unread]))
    # The performer's own plans are the agent's: they are scored, whatever they are.
    own = Noted(minute=0, resident=task.performer, about="unreadable plan", text="")
    assert background_failure(broken([own, own, own])) == ""
    mute = [Line(speaker=task.performer, says="Hello"), Line(speaker=name, says="")]
    talk = Talked(minute=0, resident=task.performer, partner=name, until=1, lines=tuple(mute))
    assert "said nothing in 1 of 1 turns" in background_failure(broken([talk]))
