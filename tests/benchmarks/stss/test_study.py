"""STSS as a benchmark: options, seats, what is imported, what an estimate and a report say."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import sociable
from sociable.api import cases, datasets, estimation, reports, results, runs, towns
from sociable.benchmarks.stss.measure import find_background_failure
from sociable.benchmarks.stss.records import Attendance, Measured, Stage, StssEpisode
from sociable.benchmarks.stss.task import TaskType
from sociable.benchmarks.stss.views import TALKS_SHOWN, _tabulate_people, shorten_labels
from sociable.core.errors import DataError, InputError
from sociable.core.plots import IntervalPlot
from sociable.core.records import Outcome
from sociable.core.view import Case, Paragraph, Table, Transcript
from sociable.engine.registry import find_benchmark
from sociable.render.html import render_html
from sociable.town.clock import Clock, format_time_of_day
from sociable.town.events import Line, Noted, Planned, Talked

SHARED = Path(__file__).parents[4] / "shared" / "data"
RESIDENTS = "reference/residents"
MODEL = f"python:{Path(__file__).parent / 'town_model.py'}:reply"


def test_a_limit_takes_as_many_of_each_type_as_can_be() -> None:
    kinds = [task.type for task in cases.load_study("stss", limit=10).scenarios.values()]
    assert {kind: kinds.count(kind) for kind in TaskType} == dict.fromkeys(TaskType, 2)


def test_the_same_seed_gives_the_same_tasks_and_another_others() -> None:
    one, same, other = (cases.load_study("stss", seed=seed).scenarios for seed in (4, 4, 5))
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
        cases.load_study("stss", options=options)


def test_nothing_is_compared_with(tmp_path: Path) -> None:
    for wrong in ({"reference": "openai/gpt-4o"}, {"stages": (1,)}):
        with pytest.raises(InputError):
            runs.run("stss", "reference/silent", out=tmp_path / "run", **wrong)
    assert not (tmp_path / "run").exists()


def test_a_judge_that_is_the_filter_changes_no_score_and_agrees(tmp_path: Path) -> None:
    options = {"tasks": ["soup-swap", "portrait-sitting", "the-dripping-tap", "read-through"]}
    alone = runs.run("stss", "reference/heuristic", out=tmp_path / "alone", options=options)
    # A judge can be named afterwards, too.
    judged = runs.judge(tmp_path / "alone", judges=("reference/rule",))
    assert judged.estimate("score") == alone.estimate("score")
    assert alone.estimate("filter_agreement") is None or alone.estimate("filter_agreement").value is None  # type: ignore[union-attr]
    agreement = judged.estimate("filter_agreement")
    assert agreement is not None and agreement.value == 1.0
    asked = list((tmp_path / "alone" / "judgments.jsonl").read_text().splitlines())
    assert len(asked) > 10
    page = render_html(reports.make_report_document([tmp_path / "alone"]))
    assert "How often both agree" in page


def test_people_and_places_that_are_not_there(tmp_path: Path) -> None:
    task = next(iter(json.loads((Path(sociable.__file__).parent / "benchmarks" / "stss" / "data" / "tasks.json").read_text())))
    for change, message in (
        ({"performers": ["Nobody At All"]}, "nobody is called 'Nobody At All'"),
        ({"places": ["The Moon: crater"]}, "there is no 'The Moon: crater'"),
    ):
        (tmp_path / "tasks.json").write_text(json.dumps([task | change]))
        with pytest.raises(DataError, match=message):
            cases.load_study("stss", dataset=str(tmp_path / "tasks.json"))


def test_without_a_partner_the_model_plays_everybody_and_the_report_says_so(tmp_path: Path) -> None:
    result = runs.run("stss", MODEL, out=tmp_path / "run", options={"tasks": ["the-dripping-tap"]})
    assert any("background residents were played by" in note for note in result.notes)
    assert {"subject", "partner"} <= result.manifest["usage"].keys()
    page = render_html(reports.make_report_document([tmp_path / "run"]))
    # Calls per resident and day stand beside the original's.
    assert "Per resident and day" in page
    assert "1,290" in page


def test_an_episode_that_its_background_spoilt_is_shown_as_not_scored(tmp_path: Path) -> None:
    (tmp_path / "babble.py").write_text("async def reply(messages):\n    return 'la la la'\n")
    run = tmp_path / "run"
    options = {"tasks": ["soup-swap"]}
    result = runs.run("stss", "reference/silent", partner=f"python:{tmp_path / 'babble.py'}:reply", out=run, options=options)
    assert [(score.value, score.outcome) for score in result.scores if score.metric == "score"] == [(None, Outcome.UNSCORED)]
    blocks = reports.make_report_document([run]).sections[-1].blocks
    (case,) = [block for block in blocks if isinstance(block, Case)]
    assert [tag.text for tag in case.tags] == ["public activity", "not scored"]
    assert "plans could not be read" in str(case.blocks)
    assert not any("Lowest scores" in str(block) for block in blocks)
    page = towns.write_replay(run, "soup-swap").read_text()
    assert '"score":null' in page
    assert "plans could not be read" in page


def test_whoever_has_no_model_is_not_among_those_whose_calls_are_counted(tmp_path: Path) -> None:
    options = {"tasks": ["the-dripping-tap"]}
    result = runs.run("stss", MODEL, partner=RESIDENTS, out=tmp_path / "run", options=options)
    cost = next(section for section in reports.make_report_document([tmp_path / "run"]).sections if section.title == "Cost")
    table = next(block for block in cost.blocks if isinstance(block, Table) and block.caption == "Per resident and day")
    # The performer alone is a model, and lives for two days.
    calls = result.manifest["usage"]["subject"]["calls"]
    assert table.rows[0].cells[1] == f"{calls / 2:,.0f}"


def test_every_conversation_of_the_performer_stands_by_itself_those_about_the_task_first(tmp_path: Path) -> None:
    options = {"tasks": ["soup-swap"]}
    runs.run("stss", "reference/heuristic", partner=RESIDENTS, out=tmp_path / "run", options=options)
    run = results.load_result(tmp_path / "run")
    episode = run.find_episode("soup-swap")
    assert isinstance(episode, StssEpisode)
    (case,) = find_benchmark("stss").load_views().show_episode(run, episode)
    assert episode.task
    assert isinstance(case, Case)
    performer = episode.task.performer
    talks = [event for event in episode.events if isinstance(event, Talked) and performer in (event.resident, event.partner)]
    shown = [block for block in case.blocks if isinstance(block, Transcript)]
    assert len(shown) == min(len(talks), TALKS_SHOWN)
    assert all(each.folded for each in shown)
    # Title and lines are those of one conversation; the clock's first day is a Monday.
    titles = {f"{'Mon' if each.minute < 1440 else 'Tue'} {format_time_of_day(each.minute)}": each for each in talks}
    about = []
    for each in shown:
        talk = titles[each.title.partition(" with ")[0]]
        assert [line.text for line in each.lines] == [line.says for line in talk.lines]
        assert ({talk.resident, talk.partner} - {performer}).pop() in each.title
        assert each.title.endswith(f" {talk.until - talk.minute} min")
        about.append("soup swap" in " ".join(line.text for line in each.lines))
    assert True in about
    assert about == sorted(about, reverse=True)
    (count,) = [block.text for block in case.blocks if isinstance(block, Paragraph) and "conversation" in block.text]
    assert f"{performer} had {len(talks)} conversations" in count
    people = next(block for block in case.blocks if isinstance(block, Table) and block.caption == "People")
    first = next(row.cells[2] for row in people.rows if row.cells[2] != "—")
    assert re.fullmatch(r"[\w ]+, (Mon|Tue) \d\d:\d\d", first)


def test_half_a_point_of_an_appointment_is_said_of_the_person() -> None:
    task = next(each for each in cases.load_study("stss").scenarios.values() if each.type is TaskType.APPOINTMENT)
    there = [
        Attendance(resident=name, start=task.start, end=task.start + 20, counts=True) for name in (task.performer, task.target)
    ]
    for score, came in ((1.0, "done"), (0.5, "done, in another place: half a point")):
        measured = Measured(id="x", score=score, reason="", attendance=tuple(there), stages={task.target: Stage.DONE})
        target, performer = _tabulate_people(task, measured, Clock()).rows
        assert target.cells[:2] == [task.target, came]
        # It takes two: when the performer was at it stands beside.
        assert performer.cells[0] == task.performer
        assert performer.cells[3] == target.cells[3] != "—"


def test_several_runs_are_told_apart_in_a_figure_and_stages_fit_a_page(tmp_path: Path) -> None:
    options = {"tasks": ["the-dripping-tap"]}
    for agent in ("silent", "oracle"):
        runs.run("stss", f"reference/{agent}", out=tmp_path / agent, options=options)
    document = reports.make_report_document([tmp_path / "silent", tmp_path / "oracle"])
    blocks = [block for section in document.sections for block in section.blocks]
    (plot,) = [block for block in blocks if isinstance(block, IntervalPlot)]
    assert [mark.label for mark in plot.marks] == ["silent (n = 1)", "oracle (n = 1)"]
    (stages,) = [block for block in blocks if isinstance(block, Table) and block.caption.startswith("How far")]
    assert not any("[" in cell for row in stages.rows for cell in row.cells[1:-1])
    # What differs in the provider only keeps it.
    assert shorten_labels(["a/m among reference/residents", "b/m among reference/residents"])[0].startswith("a/m")
    assert shorten_labels(["openai/m generative+tdp among openai/p", "openai/m"]) == ["m generative+tdp among p", "m"]


def test_templates_without_labelled_texts_are_audited_by_their_own_words(tmp_path: Path) -> None:
    bundled = json.loads((Path(sociable.__file__).parent / "benchmarks" / "stss" / "data" / "tasks.json").read_text())
    soup = next(each for each in bundled if each["id"] == "soup-swap")
    ducks = next(each for each in bundled if each["type"] == "asking for help")
    mine = soup | {"id": "mine", "activity": "festival", "wordings": ["ladling pumpkin soup", "eating a sandwich"]}
    first, *steps = ducks["subtasks"]
    step = first | {"doing": "playing the xylophone", "keywords": [["xylophone"]], "wordings": ["tuning a drum"]}
    (tmp_path / "tasks.json").write_text(json.dumps([mine, ducks | {"id": "help", "subtasks": [step, *steps]}]))
    document = datasets.audit("stss", tmp_path / "tasks.json")
    (section,) = [each for each in document.sections if each.title.startswith("Keywords")]
    words, missed = [block for block in section.blocks if isinstance(block, Table)]
    assert words.rows[0].cells == ["mine", "festival", "no", "1 of 2"]
    assert words.rows[1].cells == ["help", "playing the xylophone", "yes", "0 of 1"]
    assert len(words.rows) == 1 + len(ducks["subtasks"])
    assert [row.cells for row in missed.rows][:2] == [["mine", "eating a sandwich"], ["help", "tuning a drum"]]
    # Those that come with the benchmark have labelled texts.
    assert not any(each.title.startswith("Keywords") for each in datasets.audit("stss").sections)


def test_scores_as_the_authors_score(tmp_path: Path) -> None:
    options = {"tasks": ["soup-swap", "dumpling-table"], "place": "planned", "attendance": "authors"}
    result = runs.run("stss", "reference/heuristic", out=tmp_path / "run", options=options)
    assert any("as the authors score" in note for note in result.notes)
    score = result.estimate("score")
    assert score is not None
    assert score.value


def test_an_estimate_comes_before_two_days_of_calls() -> None:
    document = estimation.estimate("stss", "openai/gpt-4o-mini", partner="openai/gpt-4o-mini", limit=1)
    rows = {row.cells[0]: int(row.cells[2].replace(",", "")) for row in document.summary.rows}
    assert rows["all"] == rows["subject"] + rows["partner"]
    assert rows["partner"] > 5 * rows["subject"] > 0
    assert "habits" in document.summary.caption


def test_repeats_live_the_same_task_again(tmp_path: Path) -> None:
    runs.run("stss", "reference/heuristic", out=tmp_path / "run", options={"tasks": ["soup-swap"]}, repeats=2)
    one, other = (json.loads(line) for line in (tmp_path / "run" / "episodes.jsonl").read_text().splitlines())
    assert one["task"] == other["task"]
    assert one["events"] != other["events"]


def test_lockstep_and_ahead_give_the_same_run(tmp_path: Path) -> None:
    for scheduler in ("ahead", "lockstep"):
        options = {"tasks": ["the-dripping-tap"], "scheduler": scheduler}
        runs.run("stss", MODEL, partner=MODEL, out=tmp_path / scheduler, options=options)
    assert (tmp_path / "ahead" / "episodes.jsonl").read_bytes() == (tmp_path / "lockstep" / "episodes.jsonl").read_bytes()


def test_the_authors_tasks_run_in_smallville_and_remarks_are_told(tmp_path: Path) -> None:
    if not SHARED.exists():
        pytest.skip("../shared/data is not there")
    options = {
        "town": str(SHARED / "smallville" / "matrix"),
        "residents": str(SHARED / "smallville" / "clipped_the_ville_n25"),
    }
    tasks = SHARED / "stss" / "task_0905"
    result = runs.run("stss", "reference/oracle", dataset=str(tasks), out=tmp_path / "run", limit=5, options=options)
    score = result.estimate("score")
    assert score is not None
    assert score.value > 0.8
    assert any("target_num" in note for note in result.notes)
    audit = datasets.audit("stss", tasks, options=options)
    assert any("Hobbs" in str(block) for section in audit.sections for block in section.blocks)


def broken(events: list[object]) -> StssEpisode:
    task = next(iter(cases.load_study("stss", limit=1).scenarios.values()))
    starts = dict.fromkeys(task.residents, (0, 0))
    return StssEpisode(id="x#0", scenario="x", cluster="x", task=task, starts=starts, events=tuple(events))  # type: ignore[arg-type]


def test_a_background_that_cannot_plan_or_speak_leaves_the_episode_unscored() -> None:
    task = next(iter(cases.load_study("stss", limit=1).scenarios.values()))
    name = task.cast[0]
    plan = Planned(minute=0, resident=name, plan="")
    unread = Noted(minute=0, resident=name, about="unreadable plan", text="")
    assert find_background_failure(broken([plan])) == ""
    assert find_background_failure(broken([plan, unread])) == ""
    assert "2 of 3" in find_background_failure(broken([plan, unread, unread]))
    # The performer's own plans are the agent's: they are scored, whatever they are.
    own = Noted(minute=0, resident=task.performer, about="unreadable plan", text="")
    assert find_background_failure(broken([own, own, own])) == ""
    mute = [Line(speaker=task.performer, says="Hello"), Line(speaker=name, says="")]
    talk = Talked(minute=0, resident=task.performer, partner=name, until=1, lines=tuple(mute))
    assert "said nothing in 1 of 1 turns" in find_background_failure(broken([talk]))


def test_an_errored_episode_has_nothing_to_judge() -> None:
    study = cases.load_study("stss", limit=1)
    assert study.list_criteria(StssEpisode(id="x", scenario="x", cluster="x", repeat=0)) == []
