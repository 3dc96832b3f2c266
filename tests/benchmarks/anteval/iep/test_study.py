"""Information exchange as users run it: over a socket, with a partner, judged by models, bad replies among them."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sociable
from sociable.api import cases, people, reports, runs
from sociable.benchmarks.anteval.iep.judge import list_questions
from sociable.benchmarks.anteval.iep.records import IepEpisode, When
from sociable.benchmarks.anteval.published import TABLE_1
from sociable.core.errors import DataError, InputError
from sociable.render.html import render_html

MakeCard = Callable[..., dict[str, Any]]


@pytest.fixture
def cards(raw_card: MakeCard, tmp_path: Path) -> str:
    path = tmp_path / "cards.json"
    path.write_text(json.dumps([raw_card(), raw_card(id="another", npc={**raw_card()["npc"], "name": "Old Berta"})]))
    return str(path)


def agent(tmp_path: Path, code: str) -> str:
    path = tmp_path / "agent.py"
    path.write_text(code)
    return f"python:{path}:reply"


TALKS = """
def reply(messages):
    system, last = messages[0]["content"], messages[-1]["content"]
    if "claims to know" in system or "You compare" in system:
        return JUDGE
    if '{"claims"' in last:
        heard = "\\n".join(m["content"] for m in messages[1:-1])
        return '{"claims": ["The water is salt since Tuesday."]}' if "Salt since Tuesday" in heard else '{"claims": []}'
    if "whom the players meet" in system:
        return "*feeds her hens* Salt since Tuesday, it is."
    return "What of the well?"
JUDGE = '{"reason": "x", "matches": [[1, "A"]]}'
"""


def test_a_model_plays_and_a_model_judges(cards: str, tmp_path: Path) -> None:
    model = agent(tmp_path, TALKS)
    result = runs.run("anteval-iep", model, dataset=cards, judges=(model,), out=tmp_path / "run", options={"turns": 8})
    values = {each.metric: each.value for each in result.estimates}
    assert values["iep"] == pytest.approx(1 / 3)
    assert (values["iep_before"], values["told"], values["passed"]) == (0.0, pytest.approx(1 / 3), 0.0)
    episode = json.loads((tmp_path / "run" / "episodes.jsonl").read_text().splitlines()[0])
    assert [turn["speaker"] for turn in episode["turns"]][3::4] == ["Old Hanna", "Old Hanna"]
    assert episode["turns"][3]["act"] == "feeds her hens"
    # 8 turns, 6 probes, and one call of the judge for each of three players after the session.
    assert result.manifest["usage"]["subject"]["calls"] == 2 * 14
    assert result.manifest["usage"]["judge"]["calls"] == 2 * 3
    # Judgments that were lost are asked for again, and a call is booked once, whichever were lost.
    judgments = tmp_path / "run" / "judgments.jsonl"
    judgments.write_text("".join(judgments.read_text().splitlines(keepends=True)[:2]))
    assert runs.resume(tmp_path / "run").manifest["usage"]["judge"]["calls"] == 2 * 3
    page = render_html(reports.make_report_document([tmp_path / "run"]))
    assert "tells key point 1" in page
    assert "no → yes" in page
    assert "misprint" in page and f"{TABLE_1[0].iep:.2f}" in page


def test_what_players_know_is_a_curve_over_the_turns(cards: str, tmp_path: Path) -> None:
    """The NPC speaks in turn 4 for the first time, and tells one of three points."""
    model = agent(tmp_path, TALKS)
    options = {"turns": 8, "marks": [2, 4, 6, 8, 20]}
    result = runs.run("anteval-iep", model, dataset=cards, judges=(model,), out=tmp_path / "run", options=options)
    values = {each.metric: each.value for each in result.estimates}
    assert [values[f"iep@{turn}"] for turn in (2, 4, 6)] == [0.0, pytest.approx(1 / 3), pytest.approx(1 / 3)]
    assert not {"iep@8", "iep@20"} & {*values}, "the end is asked about anyway"
    assert values["iep_area"] == pytest.approx((1 / 3 + 2 / 3 + 2 / 3) / 8)
    plain = runs.run("anteval-iep", model, dataset=cards, judges=(model,), out=tmp_path / "plain", options={"turns": 8})
    assert [each.claims for each in next(iter(plain.episodes())).recalls if each.when is When.AFTER] == [
        each.claims for each in next(iter(result.episodes())).recalls if each.when is When.AFTER
    ], "to be asked on the way changes nothing"
    assert "iep_area" not in {each.metric for each in plain.estimates}
    page = render_html(reports.make_report_document([tmp_path / "run"]))
    assert all(part in page for part in ("Turn by turn", "iep@2", "iep@4", "iep@6"))
    assert "claims to know after turn 4" in page


@pytest.mark.parametrize("points", [False, True])
def test_the_npc_has_its_knowledge_as_prose_and_on_demand_as_a_list(cards: str, tmp_path: Path, points: bool) -> None:
    model = agent(tmp_path, "def reply(messages):\n    return messages[0]['content'] if len(messages) < 9 else '[]'\n")
    options = {"turns": 4, "points": points}
    runs.run("anteval-iep", model, dataset=cards, judges=("reference/rule",), limit=1, out=tmp_path / "run", options=options)
    (episode,) = map(json.loads, (tmp_path / "run" / "episodes.jsonl").read_text().splitlines())
    (told,) = [turn["content"] for turn in episode["turns"] if "whom the players meet" in turn["content"]]
    assert "Her nephew Ruprecht cut the rope." in told
    assert ("- Ruprecht, the nephew, cut the rope." in told) is points


@pytest.mark.parametrize("judge", ['{"matches": [[9, "A"]]}', "I cannot say.", ""])
def test_a_judge_that_cannot_be_read_leaves_it_unscored(judge: str, cards: str, tmp_path: Path) -> None:
    model = agent(tmp_path, TALKS + f"\nJUDGE = {judge!r}\n")
    result = runs.run("anteval-iep", model, dataset=cards, judges=(model,), out=tmp_path / "run", options={"turns": 4})
    iep, before = result.estimate("iep"), result.estimate("iep_before")
    assert iep is not None and before is not None
    assert (iep.value, iep.unscored) == (None, 2)
    # Nobody claimed anything before, which needs no judge.
    assert (before.value, before.unscored) == (0.0, 0)


def test_a_partner_plays_the_npc_and_its_failure_is_not_the_models(cards: str, tmp_path: Path) -> None:
    model = agent(tmp_path, TALKS)
    told = runs.run(
        "anteval-iep", model, partner="reference/oracle", dataset=cards, judges=("reference/rule",), out=tmp_path / "a"
    )
    assert told.label.endswith("+ reference/oracle")
    assert {each.metric: each.value for each in told.estimates}["told"] == 1.0
    (tmp_path / "mute.py").write_text("def reply(messages): return ''")
    mute = f"python:{tmp_path / 'mute.py'}:reply"
    failed = runs.run("anteval-iep", model, partner=mute, dataset=cards, judges=("reference/rule",), out=tmp_path / "b")
    iep = failed.estimate("iep")
    assert iep is not None
    assert (iep.value, iep.unscored) == (None, 2)
    assert "Old Hanna's turn 4: empty" in "".join(score.reason for score in failed.scores)
    # A player who says nothing is a result.
    silent = runs.run("anteval-iep", mute, dataset=cards, judges=("reference/rule",), out=tmp_path / "c")
    assert {each.metric: each.value for each in silent.estimates}["iep"] == 0.0
    assert {each.metric: each.value for each in silent.estimates}["passed"] == 1.0


def test_it_runs_against_a_server_and_resumes(cards: str, tmp_path: Path, chat_server: Any) -> None:
    asked = {"dataset": cards, "judges": ("openai-compatible/social:judge-iep",), "base_url": chat_server.url}
    result = runs.run("anteval-iep", "openai-compatible/social:iep", out=tmp_path / "run", **asked)
    calls = chat_server.requests("social:iep")["total"]
    assert calls == 2 * (30 + 6)
    assert result.estimate("iep") is not None
    again = runs.resume(tmp_path / "run")
    assert again.estimates == result.estimates
    assert chat_server.requests("social:iep")["total"] == calls


def test_each_point_is_a_question_of_its_own_but_one_call(cards: str) -> None:
    study = cases.load_study("anteval-iep", dataset=cards)
    scenario = study.scenarios["the-well"]
    from sociable.benchmarks.anteval.iep.records import Recall

    player = scenario.players[0].name
    episode = IepEpisode(
        id="the-well#0",
        scenario="the-well",
        cluster="the-well",
        recalls=(Recall(player=player, when=When.AFTER, claims=("x",)), Recall(player=player, when=When.BEFORE)),
    )
    assert list(list_questions(scenario, episode.recalls)) == [f"after|{player}|{n}" for n in (1, 2, 3)]
    shown = study.show(episode, f"after|{player}|2", None)
    assert shown is not None
    assert "- x" in shown.conversation and "Ruprecht" in shown.question


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"options": {"turns": 0}}, "turns"),
        ({"options": {"rounds": 3}}, "has no option 'rounds'"),
        ({"options": {"players": 10, "sheets": "{few}"}}, "3 characters are too few for 10 players"),
        ({"stages": (1,)}, "stages"),
        ({"reference": "reference/oracle"}, "compares with no reference|cannot be the reference"),
    ],
)
def test_what_makes_no_sense_is_said_before_anything_is_spent(settings: dict[str, Any], said: str, tmp_path: Path) -> None:
    few = tmp_path / "few.jsonl"
    lines = (Path(sociable.__file__).parent / "benchmarks" / "anteval" / "data" / "sheets.jsonl").read_text().splitlines()
    few.write_text("\n".join(lines[:3]))
    options = {key: str(few) if value == "{few}" else value for key, value in settings.get("options", {}).items()}
    with pytest.raises(InputError, match=said):
        runs.run("anteval-iep", "reference/oracle", out=tmp_path / "run", **{**settings, "options": options})


def test_readers_say_in_one_word_what_went_badly(tmp_path: Path) -> None:
    """Section 5.4: sessions below half of the key points, one word each, counted."""
    runs.run("anteval-iep", "reference/oracle@0.6", judges=("reference/rule",), out=tmp_path / "run", limit=24)
    asked = people.export_word_sheet(tmp_path / "run", tmp_path / "low.csv")
    with (tmp_path / "low.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert 5 < asked == len(rows) <= 20
    for name, said in (("low.csv", "is there already"), ("words.jsonl", "a sheet is a .csv file")):
        with pytest.raises(InputError, match=said):
            people.export_word_sheet(tmp_path / "run", tmp_path / name)
    assert all(float(row["score"]) < 0.5 and row["episode"] in row["read_it_with"] for row in rows)
    for person, words in (("eve", ("Boring", "stiff")), ("adam", ("boring!", "boring"))):
        with (tmp_path / f"{person}.csv").open("w", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows([row | {"word": words[place % 2]} for place, row in enumerate(rows[:4])])
    table = people.add_words(tmp_path / "run", [tmp_path / "eve.csv", tmp_path / "adam.csv"]).summary
    assert table.caption == "8 words of 2 people on 4 episodes"
    assert [list(row.cells) for row in table.rows] == [["boring", "6", "0.75"], ["stiff", "2", "0.25"]]
    assert "8 words of 2 people" in render_html(reports.make_report_document([tmp_path / "run"]))
    (tmp_path / "bad.csv").write_text(f"episode,word\n{rows[0]['episode']},not one word\n")
    with pytest.raises(DataError, match="expected a single word"):
        people.add_words(tmp_path / "run", [tmp_path / "bad.csv"])
    (tmp_path / "none.csv").write_text(f"episode,word\n{rows[0]['episode']},\n")
    with pytest.raises(InputError, match="no word in it"):
        people.add_words(tmp_path / "run", [tmp_path / "none.csv"])
