"""Dossiers are whole or refused; the bundled ones, checked."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sociable.api import datasets, estimation, reports, results, runs
from sociable.benchmarks.hsii.live.dataset import Level, load_dossiers
from sociable.benchmarks.hsii.live.drawing import select_scenarios
from sociable.benchmarks.hsii.live.records import LiveOptions
from sociable.benchmarks.hsii.live.scenario import Scenario
from sociable.core.errors import DataError, InputError
from sociable.core.view import Callout, Tone
from sociable.render.html import render_html

from .conftest import TEA

NAME = "hsii-live"


def change(part: str, place: int, **fields: Any) -> dict[str, Any]:
    own = TEA[part]
    assert isinstance(own, list)
    return {**TEA, part: [{**each, **fields} if number == place else each for number, each in enumerate(own)]}


@pytest.mark.parametrize(
    ("dossier", "complaint"),
    [
        ({**TEA, "open": {"when": "noon"}}, "open: expected one option for each of when, where"),
        ({**TEA, "open": {"when": "noon", "where": "roof"}}, "open: there is no option 'roof' of a matter 'where'"),
        (change("topics", 0, person="Dee"), "topics.ada-work.person: there is nobody called 'Dee'"),
        (change("topics", 0, gives=["ada-noone"]), "topics.ada-work: there is no fact 'ada-noone'"),
        (change("facts", 3, id="rain"), "'rain' is there twice"),
        (change("facts", 1, of=""), "facts.ada-work: 'of' must say whose"),
        (change("facts", 1, side="work=six"), "there is no side 'six' of a lot 'work'"),
        (change("topics", 0, side="play=six"), "there is no side 'six' of a lot 'play'"),
        (change("decisions", 0, unknowing="umbrella"), "decisions.umbrella: 'best' and 'unknowing' must be two of"),
        (change("messages", 2, presses_for="nothing"), "messages: there is no fact 'nothing'"),
        (change("people", 0, name="Bo"), "people: 'Bo' is there twice"),
        (change("facts", 3, claims="work=six"), "there is no side 'six' of a lot 'work'"),
        (change("facts", 1, claims="work=free"), "facts.ada-work.claims: expected a fact without a side of its own"),
    ],
)
def test_a_dossier_that_is_not_whole_is_refused_with_its_place(dossier: dict[str, Any], complaint: str, tmp_path: Path) -> None:
    file = tmp_path / "tea.json"
    file.write_text(json.dumps(dossier))
    with pytest.raises(DataError) as refused:
        load_dossiers(file, skip_invalid=False)
    assert str(file) in str(refused.value)
    assert complaint in str(refused.value)
    with pytest.raises(InputError, match="dossiers: people, matters"):
        load_dossiers(file, skip_invalid=True)


def test_a_topic_may_be_another_at_another_level(make_scenario: Callable[..., Scenario]) -> None:
    usual = make_scenario().dossier.model_dump(mode="json")["topics"]
    easy, hard = {**usual[0], "levels": ["easy"], "says": "Easily said."}, {**usual[0], "levels": ["hard"]}
    topics = [easy, hard, *usual[1:]]
    assert make_scenario(Level.EASY, topics=topics).topics["ada-work"].says == "Easily said."
    assert make_scenario(Level.HARD, topics=topics).topics["ada-work"].says == "I work until five."


def test_levels_that_a_dossier_has_are_played(make_scenario: Callable[..., Scenario]) -> None:
    dossier = make_scenario().dossier
    assert [each.id for each in select_scenarios([dossier], LiveOptions(), None, 0)] == ["tea@easy", "tea@hard"]
    twice = select_scenarios([dossier], LiveOptions(levels=(Level.HARD,), draws=2), None, 0)
    assert [each.id for each in twice] == ["tea@hard", "tea@hard+2"]


def test_parts_of_a_side_are_there_when_it_was_drawn(make_scenario: Callable[..., Scenario]) -> None:
    for side, text, says in (
        ("five", "Ada works until five.", "I work until five."),
        ("free", "Ada is free all day.", "None today!"),
    ):
        scenario = make_scenario(draw=frozenset({f"work={side}", "lamps=dark"}))
        assert (scenario.facts["ada-work"].text, scenario.topics["ada-work"].says) == (text, says)
        assert len(scenario.people["Ada"].worths) == 1
        assert len(scenario.dossier.worlds) == 4


def test_the_bundled_dossiers_have_nothing_to_remark_and_can_be_solved_to_the_end() -> None:
    document = datasets.audit(NAME)
    assert len(document.summary.rows) % 3 == 0
    assert [
        block.text for block in document.sections[0].blocks if isinstance(block, Callout) and block.tone is Tone.WARNING
    ] == []


def test_the_audit_says_what_is_wrong_with_a_dossier(tmp_path: Path) -> None:
    file = tmp_path / "tea.json"
    file.write_text(json.dumps(change("facts", 6, wording=[["thunder"]])))
    said = " ".join(block.text for block in datasets.audit(NAME, dataset=file).sections[0].blocks if isinstance(block, Callout))
    for part in ("the wording of 'rain' does not take its own sentence", "nobody presses for 'ada-work' twice"):
        assert part in said


def test_a_report_shows_what_was_settled_and_what_it_is_worth(tmp_path: Path) -> None:
    quiz = {"fact": "ada-work", "question": "What keeps Ada?", "answers": {"work=five": "Her work.", "work=free": "Nothing."}}
    facts = [{**each, "keep_from": ["Bo"], "of": "Ada"} if each["id"] == "ada-work" else each for each in TEA["facts"]]
    tea = {**TEA, "facts": facts, "quizzes": [{**quiz, "decoys": ["A cold.", "A guest."]}]}
    (tmp_path / "tea.json").write_text(json.dumps(tea))
    settings: dict[str, Any] = {"partner": "reference/people", "dataset": tmp_path / "tea.json"}
    result = runs.run(NAME, "reference/forward-all", out=tmp_path / "run", **settings)
    page = render_html(reports.make_report_document([tmp_path / "run"]))
    for part in (
        "What was settled",
        "Points of each person",
        "What people decided",
        "What those think who may not know",
        "Told to somebody who was not to know",
        "By level",
    ):
        assert part in page
    assert not any("No partner was named" in note for note in result.notes)
    alone = runs.run(NAME, "reference/silent", dataset=tmp_path / "tea.json", out=tmp_path / "alone")
    assert any("No partner was named" in note for note in alone.notes)
    assert {"share/easy", "share/hard"} <= {each.metric for each in result.estimates}


def play_at_terminal(terminal: Any, answers: dict[str, str]) -> list[str]:
    """Types the answer to whichever question comes; returns what was shown before each."""
    screens = []
    while (came := terminal.wait_for_either(*answers, "Report:")) != "Report:":
        screens.append(terminal.before)
        terminal.type(answers[came])
    assert terminal.end() == 0
    return screens


def test_a_person_may_be_the_assistant(tmp_path: Path, open_terminal: Callable[..., Any]) -> None:
    (tmp_path / "tea.json").write_text(json.dumps(TEA))
    terminal = open_terminal(
        "run", NAME, "--model", "human", "--partner", "reference/people", "--dataset", "tea.json", "--levels", "hard", "--out", "run",
    )  # fmt: skip
    screens = play_at_terminal(terminal, {"NAME: WORDS": "Ada: How is work?", "1  at noon": "2", "1  in the hall": "in the yard"})
    shown = "".join(screens)
    assert shown.count("Three people choose when and where to have tea.") == 1
    assert "Noon, please." in screens[0]
    assert "I work until five." in screens[1] or "None today!" in screens[1]
    (episode,) = results.load_result(tmp_path / "run").episodes()
    assert episode.arrangement == {"when": "dusk", "where": "yard"}
    sent = next(turn for turn in episode.turns if turn.speaker == "the assistant")
    assert (sent.addressees, sent.content) == (("Ada",), "How is work?")
    assert not episode.unread


def test_a_person_may_play_the_people(tmp_path: Path, open_terminal: Callable[..., Any]) -> None:
    (tmp_path / "tea.json").write_text(json.dumps(TEA))
    terminal = open_terminal(
        "run", NAME, "--model", "reference/polite-only", "--partner", "human", "--dataset", "tea.json", "--levels", "hard", "--out", "run",
    )  # fmt: skip
    screens = play_at_terminal(
        terminal, {"What do you answer?": "Leave me alone.", "Which lines": "1", "1  an umbrella": "an umbrella"}
    )
    assert "You play Ada" in screens[0]
    (episode,) = results.load_result(tmp_path / "run").episodes()
    said = {turn.speaker: turn.facts for turn in episode.turns if turn.content == "Leave me alone."}
    assert said["Ada"] == ("ada-work",), "the line that she says she told"
    assert episode.decided == {"umbrella": "umbrella"}


def test_a_person_may_play_one_of_the_people(tmp_path: Path, open_terminal: Callable[..., Any]) -> None:
    (tmp_path / "tea.json").write_text(json.dumps(TEA))
    terminal = open_terminal(
        "run", NAME, "--model", "reference/polite-only", "--partner", "human", "--character", "Ada", "--dataset", "tea.json",
        "--levels", "hard", "--out", "run",
    )  # fmt: skip
    screens = play_at_terminal(terminal, {"What do you answer?": "Leave me alone.", "Which lines": "-"})
    assert "You play Ada" in screens[0]
    assert "Bo decides" not in "".join(screens)
    (episode,) = results.load_result(tmp_path / "run").episodes()
    assert "Leave me alone." in [turn.content for turn in episode.turns if turn.speaker == "Ada"]
    assert episode.decided  # by Bo, who is a written one


def test_a_level_that_there_is_not_is_refused() -> None:
    with pytest.raises(InputError, match="option 'levels' of hsii-live: Input should be 'easy', 'middle' or 'hard'"):
        runs.run(NAME, "reference/random", options={"levels": ["easy", "nightmare"]})


def test_a_character_that_nobody_is_called_is_refused() -> None:
    with pytest.raises(InputError, match="nobody is called 'Zoe'; there are "):
        select_scenarios(load_dossiers(None, skip_invalid=False).items, LiveOptions(character="Zoe"), None, 0)


def test_what_a_run_costs_is_told_before() -> None:
    rows = estimation.estimate(NAME, "openai-compatible/m", partner="openai-compatible/p", limit=1).summary.rows
    assert [row.cells[0] for row in rows]
