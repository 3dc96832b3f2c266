"""Sessions with reference players and models, over the public functions, judged and reported."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sociable
from sociable.api import reports, results, runs
from sociable.benchmarks.anteval.informants.briefing import load_informants_prompts
from sociable.benchmarks.anteval.informants.protocol import run_scenario
from sociable.benchmarks.anteval.informants.records import InformantsEpisode, InformantsOptions
from sociable.benchmarks.anteval.informants.scenario import Scenario
from sociable.core.errors import DataError
from sociable.engine.seats import Role, Seat, Seats
from sociable.models.protocol import Sampling
from sociable.render.html import render_html

from .conftest import WELL

MakeScenario = Callable[..., Scenario]


def play(agent: str, scenario: Scenario, turns: int = 30) -> InformantsEpisode:
    seats = Seats(Seat(Role.SUBJECT, f"reference/{agent}", None, Sampling()))
    options = InformantsOptions(turns=turns, marks=())
    return asyncio.run(run_scenario(scenario, 0, seats, load_informants_prompts(), options, seed=0))


def run(tmp_path: Path, model: str, **settings: Any) -> sociable.RunResult[Any]:
    (tmp_path / "well.json").write_text(json.dumps(WELL))
    return runs.run("anteval-informants", model, dataset=tmp_path / "well.json", out=tmp_path / "run", **settings)


def write_model(tmp_path: Path, name: str, code: str) -> str:
    (tmp_path / f"{name}.py").write_text(code)
    return f"python:{tmp_path}/{name}.py:reply"


def test_who_is_spoken_to_answers_at_once_and_a_word_aside_is_heard_by_one(make_scenario: MakeScenario) -> None:
    scenario = make_scenario()
    first, second, third = (each.name for each in scenario.players)
    turns = play("oracle", scenario).turns
    assert (turns[0].speaker, turns[0].to, turns[0].aside) == (first, "Hanna", True)
    assert turns[0].heard_by == ("Hanna",)
    assert (turns[1].speaker, turns[1].told, turns[1].heard_by) == ("Hanna", ("f4",), (first,))
    assert turns[2].speaker == second
    assert set(turns[2].heard_by) == {first, third, "Hanna", "Berta", "Ilse"}


def test_a_round_in_which_all_pass_ends_the_session_and_so_do_its_turns(make_scenario: MakeScenario) -> None:
    assert len(play("silent", make_scenario()).turns) == 3
    assert len(play("lister", make_scenario(), turns=5).turns) == 5


def test_what_one_heard_aside_the_others_learn_only_when_it_is_passed_on(make_scenario: MakeScenario) -> None:
    told = {recall.player: " ".join(recall.claims) for recall in play("oracle", make_scenario()).recalls}
    assert all("frogs" in claims for claims in told.values())
    alone = {recall.player: " ".join(recall.claims) for recall in play("oracle", make_scenario(), turns=3).recalls}
    assert [("frogs" in claims) for claims in alone.values()] == [True, False, False]


def test_reference_players_are_told_apart_and_what_is_not_so_counts_against(tmp_path: Path) -> None:
    """Asker: f1, f5, f7 of seven, and of two things that are not so both; whatever has a price is left."""
    found: dict[str, dict[str, Any]] = {}
    for agent in ("oracle", "listener", "asker", "silent"):
        (tmp_path / agent).mkdir()
        result = run(tmp_path / agent, f"reference/{agent}", judges=["reference/rule"], options={"levels": ["hard"]})
        found[agent] = {each.metric: each.value for each in result.estimates}
    assert found["oracle"]["net"] == 1
    assert (found["asker"]["found"], found["asker"]["misled"]) == (pytest.approx(3 / 7), 1)
    assert found["asker"]["net"] == pytest.approx(3 / 7 - 2 / 7)
    assert found["asker"]["found/price"] == 0
    assert found["asker"]["net"] < found["listener"]["net"] <= 1
    assert found["silent"]["net"] == 0
    assert "net@6" not in found["silent"], "three turns were taken"
    assert "net@6" in found["oracle"]


def test_models_play_players_and_informants_and_a_model_judges(tmp_path: Path) -> None:
    model = write_model(
        tmp_path,
        "player",
        "import json\n"
        "def reply(messages):\n"
        "    last = messages[-1]['content']\n"
        "    if '\"claims\"' in last:\n"
        "        return json.dumps({'claims': ['A goat cut it.'] if 'goat' in last else []})\n"
        "    return json.dumps({'to': 'Hanna', 'aside': 'Turns left: 4' in last, 'say': 'Who cut the rope?'})\n",
    )
    partner = write_model(
        tmp_path,
        "partner",
        "def reply(messages):\n"
        "    assert 'You play Hanna' in messages[0]['content']\n"
        "    return 'Hanna: A goat did.' if messages[-1]['content'].count('Who cut') == 1 else 'I do not know.'\n",
    )
    judge = write_model(
        tmp_path,
        "judge",
        "import json, re\n"
        "def reply(messages):\n"
        "    number = re.search(r'(\\d+)\\. The rope was cut', messages[-1]['content'])[1]\n"
        "    return json.dumps({'reason': 'so', 'matches': [[int(number), 'A']]})\n",
    )
    settings: dict[str, Any] = {"partner": partner, "judges": [judge], "options": {"turns": 4, "levels": ["easy"], "marks": [2]}}
    result = run(tmp_path, model, **settings)
    values = {each.metric: each.value for each in result.estimates}
    assert values["net"] == pytest.approx(1 / 3 / 4), "one of three players heard one of four facts"
    assert values["net@2"] == pytest.approx(1 / 3 / 4)
    assert values["area"] == pytest.approx((1 / 12 / 2 * 2 + 1 / 12 * 2) / 4)
    assert values["told"] == 1 / 4
    page = render_html(reports.make_report_document([tmp_path / "run"]))
    for part in ("Who states what afterwards", "A goat did.", "Turn by turn", "By what gets a fact", "aside to Hanna"):
        assert part in page


def test_an_informant_who_cannot_be_understood_leaves_the_session_unscored(tmp_path: Path) -> None:
    silent = write_model(tmp_path, "partner", "def reply(messages):\n    return ''\n")
    result = run(tmp_path, "reference/asker", partner=silent, judges=["reference/rule"], options={"levels": ["easy"]})
    scores = {each.metric: each for each in result.scores}
    assert scores["net"].value is None
    assert "Hanna, turn 2" in (scores["net"].reason or "")


def test_a_card_with_a_fault_is_refused_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text(json.dumps({**WELL, "facts": []}))
    with pytest.raises(DataError, match=r"bad\.json.*facts"):
        runs.run("anteval-informants", "reference/oracle", dataset=tmp_path / "bad.json", out=tmp_path / "run")


def test_a_person_may_play_the_informants(tmp_path: Path, open_terminal: Callable[..., Any]) -> None:
    (tmp_path / "well.json").write_text(json.dumps(WELL))
    terminal = open_terminal(
        "run", "anteval-informants", "--model", "reference/asker", "--partner", "human", "--dataset", "well.json",
        "--option", "levels=easy", "--option", "turns=2", "--option", "marks=1", "--out", "run",
    )  # fmt: skip
    terminal.wait_for("What do you answer to")
    terminal.type("A goat cut the rope.")
    assert terminal.end() == 0
    (episode,) = results.load_result(tmp_path / "run").episodes()
    assert episode.turns[1].told == ("f1",)
