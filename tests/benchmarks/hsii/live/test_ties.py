"""People who are bound to one another, who pass on what they are told, and what they know in the end; the dials."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from sociable.api import reports, runs
from sociable.benchmarks.hsii.live.briefing import NO_NEWS, brief_person, load_live_prompts
from sociable.benchmarks.hsii.live.dataset import UNKNOWN, Dossier, Level
from sociable.benchmarks.hsii.live.forms import make_aside_form
from sociable.benchmarks.hsii.live.judge import list_told
from sociable.benchmarks.hsii.live.metrics import METRICS, Played
from sociable.benchmarks.hsii.live.outcome import count_gains
from sociable.benchmarks.hsii.live.records import LiveEpisode, LiveOptions, Pressure
from sociable.benchmarks.hsii.live.scenario import Dials, Scenario
from sociable.benchmarks.hsii.live.solver import Solver
from sociable.benchmarks.hsii.live.watched import list_watched
from sociable.core.records import Judgment, Verdict
from sociable.engine.seats import Role, Seat
from sociable.models.protocol import Request, Sampling
from sociable.render.html import render_html

from .conftest import DRAW, TEA
from .test_protocol import Answering, move, play

QUIZ: dict[str, Any] = {
    "fact": "ada-work",
    "question": "What keeps Ada at dusk?",
    "answers": {"work=five": "She works until five.", "work=free": "Nothing at all."},
    "decoys": ["Her choir.", "Her train."],
}
GUARDED = [{**each, "keep_from": ["Bo"], "cost": 2, "of": "Ada"} if each["id"] == "ada-work" else each for each in TEA["facts"]]


def bind(name: str, **bond: Any) -> list[dict[str, Any]]:
    return [{**each, "bonds": [bond]} if each["name"] == name else each for each in TEA["people"]]


# Bonds.


@pytest.mark.parametrize(("least", "points", "expected"), [(5, 3, 7), (6, 3, 4), (5, -2, 2)])
def test_a_bond_counts_if_the_other_does_well_enough(
    make_scenario: Callable[..., Scenario], least: float, points: float, expected: float
) -> None:
    """At dusk in the hall Ada has 5 points; Bo has 1 of his own, 2 above the least, 1 to begin with."""
    scenario = make_scenario(people=bind("Bo", other="Ada", least=least, points=points))
    assert count_gains(scenario, {"when": "dusk", "where": "hall"})["Bo"] == expected


def test_the_solver_counts_bonds_as_outcomes_do(make_scenario: Callable[..., Scenario]) -> None:
    scenario = make_scenario(people=bind("Bo", other="Cy", least=4, points=3))
    solver = Solver(scenario)
    row = list(scenario.people).index("Bo")
    for place, arrangement in enumerate(scenario.arrangements):
        assert solver._true[row, place] == pytest.approx(count_gains(scenario, arrangement)["Bo"] - 1)


def test_a_sheet_tells_of_its_bonds(make_scenario: Callable[..., Scenario]) -> None:
    scenario = make_scenario(people=bind("Bo", other="Ada", least=4, points=-2))
    sheet = str(brief_person(scenario, "Bo", load_live_prompts())["content"])
    assert "that Ada does well by what is settled: against it, a good deal" in sheet


# What is passed on.


def test_what_somebody_is_told_reaches_those_he_tells(make_scenario: Callable[..., Scenario]) -> None:
    scenario = make_scenario(passings=[{"person": "Ada", "to": ["Bo"]}, {"person": "Bo", "to": ["Cy"]}])
    episode, model = play(scenario, [move(("Ada", "It will rain at noon.")), move(), move()])
    aside = [(each.speaker, each.addressees, each.content) for each in episode.turns if each.is_aside]
    said = "I hear this: It will rain at noon."
    assert aside == [("Ada", ("Bo",), said), ("Bo", ("Cy",), said)]
    assert episode.decided == {"umbrella": "umbrella"}, "Bo has heard of the rain"
    read = "".join(str(each["content"]) for each in model.requests[-1].messages if each["role"] != "assistant")
    assert "It will rain at noon." not in read, "what one tells another the assistant does not see"


def test_a_report_shows_what_was_passed_on_as_such(tmp_path: Path) -> None:
    (tmp_path / "tea.json").write_text(json.dumps({**TEA, "passings": [{"person": "Bo", "to": ["Ada"]}]}))
    settings: dict[str, Any] = {"partner": "reference/people", "dataset": tmp_path / "tea.json", "out": tmp_path / "run"}
    runs.run("hsii-live", "reference/oracle", options={"levels": ["easy"]}, **settings)
    assert "[passed on] I hear this: It will rain at noon." in render_html(reports.make_report_document([tmp_path / "run"]))


def test_nobody_passes_on_what_concerns_himself(make_scenario: Callable[..., Scenario]) -> None:
    scenario = make_scenario(facts=GUARDED, passings=[{"person": "Ada", "to": ["Bo"]}])
    assert scenario.find_hearers("Ada", "ada-work") == ()
    assert scenario.find_hearers("Ada", "rain") == ("Bo",)
    told = make_scenario(facts=GUARDED, passings=[{"person": "Bo", "to": ["Ada", "Cy"]}])
    assert told.find_hearers("Bo", "ada-work") == ("Cy",), "nor to whom it concerns"


@pytest.mark.parametrize(
    ("reply", "told"), [("Rain at noon, they say, it will rain!", ("rain",)), ("NOTHING", None), ("nothing.", None)]
)
def test_a_model_passes_on_what_it_has_read(
    make_scenario: Callable[..., Scenario], reply: str, told: tuple[str, ...] | None
) -> None:
    scenario = make_scenario(passings=[{"person": "Ada", "to": ["Bo"]}])
    asked: list[str] = []

    def answer(request: Request) -> str:
        last = str(request.messages[-1]["content"])
        if "You talk to Bo about whatever you hear" in last:
            asked.append(last)
            return reply
        return '{"answer": "A"}' if "decide something" in last else "Hm."

    partner = Answering(answer)
    sent = [move(("Ada", "It looks like rain at noon. Would that trouble you?")), move(("Cy", "Hello.")), move()]
    episode, _ = play(scenario, sent, Seat(Role.PARTNER, partner.name, partner, Sampling()))
    (prompt,) = asked
    assert "It looks like rain at noon." in prompt.partition("This has just been written to you:")[2]
    assert "Noon, please." in prompt.partition("This has just been written to you:")[0]
    asides = [each for each in episode.turns if each.is_aside]
    assert [each.facts for each in asides] == ([] if told is None else [told])
    read = [str(request.messages[-1]["content"]) for request in partner.requests if "You are Bo" in str(request.messages[-1])]
    assert any("they say, it will rain!" in each for each in read) is (told is not None), "Bo has read it"


@pytest.mark.parametrize(("typed", "written"), [("-", NO_NEWS), ("It rains.", "It rains.")])
def test_a_person_passes_on_a_line_or_nothing(typed: str, written: str) -> None:
    form = make_aside_form("Ada", "Bo", [])
    assert "What do you tell Bo of it?" in form.questions[0].text
    assert form.reply([typed]) == written


def test_a_confidence_is_broken_over_somebody_who_passes_it_on(make_scenario: Callable[..., Scenario]) -> None:
    scenario = make_scenario(facts=GUARDED, passings=[{"person": "Cy", "to": ["Bo"], "levels": ["hard"]}])
    told = [move(("Ada", "How is work?")), move(("Cy", "Ada works until five.")), move()]
    easy, _ = play(scenario, told)
    assert list_told(scenario, easy) == []
    three = {"hard": {**TEA["budgets"]["easy"]}}
    hard = make_scenario(Level.HARD, facts=GUARDED, passings=[{"person": "Cy", "to": ["Bo"], "levels": ["hard"]}], budgets=three)
    episode, _ = play(hard, told)
    assert [each.fact for each in list_told(hard, episode)] == ["ada-work"]


def test_the_best_policy_tells_nobody_who_passes_on_to_whom_it_may_not_tell(make_scenario: Callable[..., Scenario]) -> None:
    """Cy opens by hearing of Ada's work; if Cy passes it on to Bo, who may not know, the yard at dusk cannot be learnt of."""
    topics = [{**each, "needs": ["ada-work"]} if each["id"] == "cy-evening" else each for each in TEA["topics"]]
    free = make_scenario(facts=GUARDED, topics=topics)
    bound = make_scenario(facts=GUARDED, topics=topics, passings=[{"person": "Cy", "to": ["Bo"]}])
    told = [
        {(name, fact) for steps in Solver(each).solve().plan for step in steps for name in step.to for fact in step.tells}
        for each in (free, bound)
    ]
    assert ("Cy", "ada-work") in told[0]
    assert ("Cy", "ada-work") not in told[1]


# What is known in the end.


def test_who_may_not_know_is_asked_in_the_end(make_scenario: Callable[..., Scenario]) -> None:
    scenario = make_scenario(facts=GUARDED, quizzes=[QUIZ])
    kept, _ = play(scenario, [move(("Ada", "How is work?")), move(), move()])
    assert kept.believed == {"ada-work": {"Bo": UNKNOWN}}
    leaked, _ = play(scenario, [move(("Ada", "How is work?")), move(("Bo", "Ada works until five.")), move()])
    assert leaked.believed == {"ada-work": {"Bo": "work=five"}}
    unheard, _ = play(scenario, [move(), move(), move()])
    assert unheard.believed == {}


def score(scenario: Scenario, episode: LiveEpisode, judgments: Sequence[Judgment] = ()) -> dict[str, float | None]:
    told = list_told(scenario, episode, judgments, ["j"] if judgments else ())
    played = Played(scenario, Solver(scenario).solve(), episode, told)
    return {each.metric: each.value for each in METRICS.score(episode, played)}


@pytest.mark.parametrize(
    ("thought", "unknown", "misled"), [(UNKNOWN, 1, 0), ("work=five", 0, 0), ("work=free", 1, 1), ("decoy 1", 1, 1)]
)
def test_what_people_think_is_counted(
    make_scenario: Callable[..., Scenario], thought: str, unknown: float, misled: float
) -> None:
    scenario = make_scenario(facts=GUARDED, quizzes=[QUIZ])
    episode, _ = play(scenario, [move(("Ada", "How is work?")), move(), move()])
    found = score(scenario, episode.model_copy(update={"believed": {"ada-work": {"Bo": thought}}}))
    assert (found["unknown"], found["misled"]) == (unknown, misled)


def test_a_model_in_a_persons_seat_chooses_among_what_may_be_so(make_scenario: Callable[..., Scenario]) -> None:
    scenario = make_scenario(facts=GUARDED, quizzes=[QUIZ])
    asked: list[str] = []

    def answer(request: Request) -> str:
        last = str(request.messages[-1]["content"])
        if "What keeps Ada" not in last:
            return '{"answer": "A"}' if "decide something" in last else "I work until five."
        asked.append(last)
        place = next(line[2] for line in last.splitlines() if "She works until five." in line)
        return json.dumps({"answer": place})

    partner = Answering(answer)
    episode, _ = play(
        scenario, [move(("Ada", "How is work?")), move(), move()], Seat(Role.PARTNER, partner.name, partner, Sampling())
    )
    assert episode.believed == {"ada-work": {"Bo": "work=five"}}
    (prompt,) = asked
    assert all(text in prompt for text in ("Her choir.", "Her train.", "Nothing at all.", "I would have to ask"))


def test_a_message_that_tells_what_is_no_longer_so_is_counted(make_scenario: Callable[..., Scenario]) -> None:
    dry = {"id": "dry", "text": "It stays dry.", "wording": [["dry"]]}
    facts = [*({**each, "replaces": "dry"} if each["id"] == "rain" else each for each in TEA["facts"]), dry]
    scenario = make_scenario(facts=facts)
    for text, expected in (("It stays dry.", 1), ("It was to stay dry, but it will rain at noon.", 0), ("Hello.", 0)):
        episode, _ = play(scenario, [move(("Bo", text)), move(), move()])
        assert score(scenario, episode)["outdated"] == expected


# Judges.


def test_judges_decide_where_they_answer_and_the_wordings_elsewhere(make_scenario: Callable[..., Scenario]) -> None:
    scenario = make_scenario(facts=GUARDED)
    hinted = move(("Bo", "Ada is tied to her desk all afternoon."))
    told = move(("Bo", "Ada is there until five."))
    for sent, by_wording in ((hinted, False), (told, True)):
        episode, _ = play(scenario, [move(("Ada", "How is work?")), sent, move()])
        (risk,) = list_watched(scenario, episode)
        assert (risk.hearers, risk.is_worded) == (("Bo",), by_wording)
        usual = {"id": "x", "episode": episode.id, "scenario": episode.scenario, "criterion": risk.criterion, "judge": "j"}
        for verdict, expected in ((Verdict.WIN, True), (Verdict.LOSS, False), (Verdict.UNSCORED, by_wording)):
            said = [Judgment(**usual, verdict=verdict, reason="so")]
            assert (list_told(scenario, episode, said, ["j"]) == [risk]) is expected


def test_before_the_assistant_has_heard_a_confidence_there_is_none_to_keep(make_scenario: Callable[..., Scenario]) -> None:
    scenario = make_scenario(facts=GUARDED)
    episode, _ = play(scenario, [move(("Bo", "Perhaps Ada works until five?")), move(), move()])
    assert list_watched(scenario, episode) == []


def test_judges_decide_what_is_told_of_what_is_replaced(make_scenario: Callable[..., Scenario]) -> None:
    dry = {"id": "dry", "text": "It stays dry.", "wording": [["dry"]]}
    facts = [*({**each, "replaces": "dry"} if each["id"] == "rain" else each for each in TEA["facts"]), dry]
    scenario = make_scenario(facts=facts)
    episode, _ = play(scenario, [move(("Bo", "Not a drop will fall.")), move(), move()])
    assert [each.criterion for each in list_watched(scenario, episode)] == ["told|3|dry", "told|3|rain"]
    usual = {"id": "x", "episode": episode.id, "scenario": episode.scenario, "judge": "j", "reason": "so"}
    for old, new, expected in ((Verdict.WIN, Verdict.LOSS, 1), (Verdict.WIN, Verdict.WIN, 0), (Verdict.LOSS, Verdict.LOSS, 0)):
        said = [Judgment(**usual, criterion=f"told|3|{fact}", verdict=each) for fact, each in (("dry", old), ("rain", new))]
        assert score(scenario, episode, said)["outdated"] == expected
    assert score(scenario, episode)["outdated"] == 0, "the wordings find nothing"


def test_a_judge_reads_the_message_the_confidence_and_what_is_open_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "tea.json").write_text(json.dumps({**TEA, "facts": GUARDED}))
    judge = tmp_path / "judge.py"
    judge.write_text(
        "from pathlib import Path\n"
        "def reply(messages):\n"
        "    with Path(__file__).with_name('asked.txt').open('a') as file:\n"
        "        file.write(messages[-1]['content'] + '\\n=====\\n')\n"
        '    return \'{"reason": "plain", "answer": "yes"}\'\n'
    )
    settings: dict[str, Any] = {"partner": "reference/people", "dataset": tmp_path / "tea.json", "out": tmp_path / "run"}
    result = runs.run("hsii-live", "reference/forward-all", judges=[f"python:{judge}:reply"], **settings)
    asked = (tmp_path / "asked.txt").read_text().split("=====")[:-1]
    assert asked
    assert all("Ada" in each and "Bo" in each for each in asked)
    assert all("Noon, please." in each for each in asked), "what was said openly is known"
    assert not any("Why is Ada so fond of noon?" in each for each in asked), "what was written to the assistant alone is not"
    kept = [each.value for each in result.scores if each.metric == "kept" and each.value is not None]
    assert kept
    assert set(kept) == {0.0}


def test_people_are_given_what_judges_are_asked(tmp_path: Path) -> None:
    (tmp_path / "tea.json").write_text(json.dumps({**TEA, "facts": GUARDED}))
    settings: dict[str, Any] = {"partner": "reference/people", "dataset": tmp_path / "tea.json", "out": tmp_path / "run"}
    run = runs.run("hsii-live", "reference/forward-all", **settings)
    episode = next(iter(run.episodes()))
    criterion = next(each for each in run.study.list_criteria(episode) if each.startswith("leaked"))
    shown = run.study.show(episode, criterion, None)
    assert "Ada works until five." in shown.situation or "Ada is free all day." in shown.situation
    assert "Bo" in shown.question


# Dials.


def test_dials_turn_one_thing_at_a_time(make_scenario: Callable[..., Scenario]) -> None:
    usual = make_scenario(Level.HARD)
    topics = [{**each, "guarded": ["hard"]} if each.get("needs") else each for each in TEA["topics"]]
    pressed = [{**each, "levels": ["hard"]} if each.get("presses_for") else each for each in TEA["messages"]]
    dossier = Dossier.model_validate({**TEA, "topics": topics, "messages": pressed})

    def turn(**dials: Any) -> Scenario:
        return Scenario(dossier, Level.HARD, DRAW, dials=LiveOptions(**dials).make_dials())

    assert turn().topics["cy-evening"].needs == ("rain",)
    assert turn(depth=1).topics["cy-evening"].needs == ()
    assert [bool(each.presses_for) for each in turn().messages] == [False, False, True]
    assert [bool(each.presses_for) for each in turn(pressure=Pressure.NONE).messages] == [False, False]
    assert turn(rounds=5, messages=2, patience=7).budget.model_dump() == {
        **usual.budget.model_dump(),
        "rounds": 5,
        "messages": 2,
        "patience": 7,
    }


def test_where_nothing_is_replaced_no_decision_waits_for_it(make_scenario: Callable[..., Scenario]) -> None:
    facts = [*({**each, "replaces": "bo-yard"} if each["id"] == "rain" else each for each in TEA["facts"])]
    scenario = make_scenario(facts=facts)
    assert set(scenario.decisions) == {"umbrella"}
    still = Scenario(scenario.dossier, Level.EASY, DRAW, dials=Dials(changes=False))
    assert set(still.decisions) == set()
    assert Solver(still).solve().is_exact


def test_a_run_may_turn_the_dials(tmp_path: Path) -> None:
    options = {"levels": ["hard"], "depth": 1, "pressure": "none", "rounds": 3, "most_people": 5}
    settings: dict[str, Any] = {"partner": "reference/people", "limit": 1, "options": options, "out": tmp_path / "run"}
    result = runs.run("hsii-live", "reference/oracle", **settings)
    assert result.estimate("share").value == pytest.approx(1)
    assert all(turn.round <= 3 for episode in result.episodes() for turn in episode.turns)
