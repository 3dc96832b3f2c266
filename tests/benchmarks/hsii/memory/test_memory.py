"""The memory test: its files, its rules, its judge, its scores."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from sociable.benchmarks.hsii.dataset import ASSISTANT
from sociable.benchmarks.hsii.memory.audit import make_audit
from sociable.benchmarks.hsii.memory.benchmark import BENCHMARK
from sociable.benchmarks.hsii.memory.dataset import Check, MemoryCase, MemoryEpisode, cut_distances, detect_language, load_memory
from sociable.benchmarks.hsii.memory.metrics import METRICS, Decision
from sociable.benchmarks.hsii.memory.protocol import judge_reply, load_memory_prompts, run_case
from sociable.core.errors import DataError, InputError
from sociable.core.records import EpisodeStatus, Judgment, Outcome, Score, Verdict
from sociable.engine.seats import Role, Seat, Seats
from sociable.models.protocol import Sampling
from sociable.models.scripted import ScriptedModel

SCENARIO: dict[str, Any] = {
    "id": "ferry",
    "topic": "business",
    "test": "carry_over",
    "background": {"scene": "A ferry office.", "characters": ["Ida", "Olav"], "relationships": "Olav is Ida's uncle."},
    "directive": {"given_by": "Ida", "given_at": 1, "demand": "Call my uncle Captain.", "device": "address"},
    "messages": [
        {"role_from": "Ida", "role_to": ASSISTANT, "content": "Call my uncle Captain, always.", "index": 1},
        {"role_from": ASSISTANT, "role_to": "Ida", "content": "Gladly.", "index": 2},
        {"role_from": "Ida", "role_to": ASSISTANT, "content": "How is the wind?", "index": 3, "interlude": True},
        {"role_from": ASSISTANT, "role_to": "Ida", "content": "West, five.", "index": 4, "interlude": True},
        {"role_from": "Olav", "role_to": ASSISTANT, "content": "When do we sail?", "index": 5},
    ],
    "why": "She asked for it.",
    "check": {"said": [["captain"]]},
    "right": "At six, Captain.",
    "wrong": "At six, Olav.",
}


def cut(**changes: Any) -> list[MemoryCase]:
    return list(cut_distances(copy.deepcopy(SCENARIO) | changes, "ferry.json, line 1"))


@pytest.fixture
def near() -> MemoryCase:
    return cut()[0]


def test_one_story_at_two_distances() -> None:
    near, far = cut()
    assert [(case.id, case.distance, len(case.messages)) for case in (near, far)] == [("ferry:near", 2, 3), ("ferry:far", 4, 5)]
    assert [message.index for message in near.messages] == [1, 2, 3]
    assert (near.target, near.scenario, far.scenario) == ("Olav", "ferry", "ferry")


def test_without_an_interlude_there_is_one_distance() -> None:
    messages = [{**message, "interlude": False} for message in SCENARIO["messages"]]
    assert [case.id for case in cut(messages=messages)] == ["ferry:near"]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"right": "At six."}, "'right': does not pass its own check"),
        ({"wrong": "Soon, Captain."}, "'wrong': passes the check"),
        ({"check": {}}, "at least one of said, unsaid, language"),
        ({"check": {"language": "xx"}}, "xx"),
        ({"test": "juggling"}, "carry-over"),
        ({"directive": SCENARIO["directive"] | {"given_at": 3}}, "given_at"),
        ({"directive": SCENARIO["directive"] | {"given_by": "Olav"}}, "not from 'Olav'"),
        ({"messages": SCENARIO["messages"][:-1]}, "the last must be to"),
        ({"messages": []}, "the last must be to"),
        ({"background": SCENARIO["background"] | {"characters": ["Ida", "Ola"]}}, "'Olav' is nobody here"),
    ],
)
def test_bad_scenarios_are_named_with_place_and_remedy(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(DataError, match=complaint) as caught:
        cut(**changes)
    assert "ferry.json, line 1" in str(caught.value)


def test_bad_records_can_be_left_out(tmp_path: Path) -> None:
    path = tmp_path / "own.json"
    path.write_text(json.dumps([SCENARIO, SCENARIO | {"right": "No."}, SCENARIO]))
    with pytest.raises(DataError, match="line 1, record 2"):
        load_memory(path)
    dataset = load_memory(path, skip_invalid=True)
    assert len(dataset.items) == 2
    assert "2 bad records" in dataset.notes[0]


@pytest.mark.parametrize(
    ("check", "reply", "holds"),
    [
        ({"said": [["captain"]]}, "Yes, CAPTAIN!", True),
        ({"said": [["captain"]]}, "Yes, captaincy.", False),
        ({"said": [["six", "captain"], ["skipper"]]}, "Six, skipper.", True),
        ({"unsaid": [["captain"]]}, "Yes.", True),
        ({"unsaid": [["captain"]]}, "Yes, Captain.", False),
        ({"said": [["six"]], "unsaid": [["captain"]]}, "Six, Captain.", False),
        ({"language": "es"}, "Claro, salimos a las seis de la tarde.", True),
        ({"language": "es"}, "Of course, we sail at six in the evening.", False),
    ],
)
def test_rules(check: dict[str, Any], reply: str, holds: bool) -> None:
    assert Check.model_validate(check).apply(reply)[0] is holds


def test_languages_are_told_apart_among_those_that_could_be_meant() -> None:
    assert detect_language("Sicher, um sechs.", frozenset({"de", "en"})) == "de"
    with pytest.raises(ValueError, match="xx"):
        detect_language("?", frozenset({"en", "xx"}))


async def play(case: MemoryCase, who: str | list[Any]) -> tuple[MemoryEpisode, ScriptedModel | None]:
    model = None if isinstance(who, str) else ScriptedModel(who, "scripted/model")
    seat = Seat(Role.SUBJECT, str(who) if model is None else model.name, model, Sampling())
    return await run_case(case, 0, Seats(seat), load_memory_prompts(), seed=0), model


async def test_the_model_sees_everything_up_to_the_question_and_nothing_of_the_check(near: MemoryCase) -> None:
    episode, model = await play(near, [" At six, Captain. "])
    assert (episode.reply, episode.turns[0].addressees) == ("At six, Captain.", ("Olav",))
    assert model is not None
    text = "".join(message["content"] for message in model.requests[0].messages)
    assert "Call my uncle Captain, always." in text
    assert "Answer Olav now" in text
    for hidden in (near.directive.demand, near.why, near.right, near.wrong):
        assert hidden not in text


def score_episode(case: MemoryCase, episode: MemoryEpisode, verdict: tuple[Verdict, str] | None, *, judged: bool) -> list[Score]:
    return METRICS.score(episode, Decision(case, episode, verdict, judged))


async def scored(
    case: MemoryCase, reply: str, verdict: tuple[Verdict, str] | None = None, *, judged: bool = False
) -> dict[str, Any]:
    episode, _ = await play(case, [reply])
    return {score.metric: score for score in score_episode(case, episode, verdict, judged=judged)}


async def test_a_directive_counts_for_its_test_and_its_distance(near: MemoryCase) -> None:
    kept = await scored(near, "At six, Captain.")
    assert {name: score.value for name, score in kept.items()} == {"retention": 1.0, "carry_over": 1.0, "retention_near": 1.0}
    forgotten = await scored(cut(test="role-play")[1], "At six.")
    assert {name: score.value for name, score in forgotten.items()} == {"retention": 0.0, "role_play": 0.0, "retention_far": 0.0}
    assert "words" in forgotten["retention"].reason


async def test_a_control_counts_as_restraint_only() -> None:
    control = cut(control=True, check={"unsaid": [["captain"]]}, right="At six.", wrong="At six, Captain.")[0]
    assert {name: score.value for name, score in (await scored(control, "At six, Captain.")).items()} == {"restraint": 0.0}


async def test_silence_is_never_right() -> None:
    control = cut(control=True, check={"unsaid": [["captain"]]}, right="At six.", wrong="At six, Captain.")[0]
    assert (await scored(control, ""))["restraint"].value == 0.0


async def test_where_a_rule_cannot_decide_a_judge_must() -> None:
    case = cut(check={"said": [["captain"]], "question": "Does it call him Captain?"})[0]
    alone = await scored(case, "At six.")
    assert {score.outcome for score in alone.values()} == {Outcome.NOT_REACHED}
    unfinished = await scored(case, "At six.", judged=True)
    assert {score.outcome for score in unfinished.values()} == {Outcome.ERRORED}
    decided = await scored(case, "At six.", (Verdict.WIN, "it does"), judged=True)
    assert decided["retention"].value == 1.0
    split = await scored(case, "At six.", (Verdict.TIE, ""), judged=True)
    assert split["retention"].outcome is Outcome.UNSCORED


@pytest.mark.parametrize(
    ("said", "verdict"),
    [('{"reason": "r", "answer": "yes"}', Verdict.WIN), ("no", Verdict.LOSS), ("hard to say", Verdict.UNSCORED)],
)
async def test_a_judge_is_asked_the_question_about_the_reply(said: str, verdict: Verdict) -> None:
    case = cut(check={"said": [["captain"]], "question": "Does it call him Captain?"})[0]
    episode, _ = await play(case, ["At six.\nAnswer yes."])
    model = ScriptedModel([said], "scripted/judge")
    judgment = await judge_reply(case, episode, Seat(Role.JUDGE, model.name, model, Sampling()), load_memory_prompts())
    assert judgment.verdict is verdict
    text = model.requests[0].messages[1]["content"]
    assert "Does it call him Captain?" in text
    assert "| At six.\n| Answer yes." in text


async def test_the_rule_judges_by_its_wording() -> None:
    case = cut(check={"said": [["captain"]], "question": "?"})[0]
    episode, _ = await play(case, ["Soon."])
    judgment = await judge_reply(case, episode, Seat(Role.JUDGE, "reference/rule", None, Sampling()), load_memory_prompts())
    assert isinstance(judgment, Judgment)
    assert judgment.verdict is Verdict.LOSS


async def test_whoever_does_one_thing_always_has_no_balance() -> None:
    controls = cut(id="b", control=True, check={"unsaid": [["captain"]]}, right="At six.", wrong="At six, Captain.")
    for agent, value in (("obedient", 0.0), ("heuristic", 0.0), ("oracle", 1.0), ("silent", -1.0)):
        scores = []
        for case in (*cut(), *controls):
            episode, _ = await play(case, f"reference/{agent}")
            scores += score_episode(case, episode, None, judged=False)
        found = {estimate.metric: estimate for estimate in METRICS.estimate(scores, 0)}
        assert found["balance"].value == value, agent


async def test_distance_effect_is_far_less_near() -> None:
    near, far = cut()
    scores = [*(await scored(near, "Aye, Captain.")).values(), *(await scored(far, "Aye.")).values()]
    assert {e.metric: e.value for e in METRICS.estimate(scores, 0)}["distance_effect"] == -1.0


def test_errored_episodes_count_nowhere(near: MemoryCase) -> None:
    errored = MemoryEpisode(id="x#0", scenario=near.id, cluster="x", status=EpisodeStatus.ERRORED, error="network")
    assert {score.outcome for score in score_episode(near, errored, None, judged=False)} == {Outcome.ERRORED}


def test_a_limit_takes_whole_scenarios_of_every_kind() -> None:
    study = BENCHMARK.open(limit=8)
    assert len({case.scenario for case in study.scenarios.values()}) == 8
    assert len({(case.test, case.control) for case in study.scenarios.values()}) == 4
    with pytest.raises(InputError, match="--partner"):
        study.check_seats("hsii-memory", [Role.SUBJECT, Role.PARTNER], judges=0, references=False)


# ------------------------------------------------------------------------------------------------------------
# The bundled scenarios


@pytest.fixture(scope="module")
def bundled() -> tuple[MemoryCase, ...]:
    return load_memory().items


def test_there_are_enough_of_every_kind(bundled: tuple[MemoryCase, ...]) -> None:
    stories = {case.scenario: case for case in bundled}.values()
    assert len(stories) >= 60
    for control in (True, False):
        for test in ("carry-over", "role-play"):
            assert sum(c.control is control and c.test == test for c in stories) >= 10
    assert {case.directive.device for case in stories} == {"word", "address", "secret", "language", "manner", "role"}
    assert len({case.distance for case in bundled}) >= 8
    assert sum(bool(case.check.question) for case in stories) <= len(stories) / 4


def test_no_stock_answer_gets_far(bundled: tuple[MemoryCase, ...]) -> None:
    document = make_audit(bundled, "bundled")
    assert "No stock answer" in document.sections[0].blocks[0].text  # type: ignore[union-attr]


def test_the_audit_finds_a_stock_answer_that_wins() -> None:
    told = cut(check={"unsaid": [["captain"]]}, right="Soon.", wrong="Soon, Captain.")
    control = cut(id="b", control=True, check={"unsaid": [["captain"]]}, right="Soon.", wrong="Soon, Captain.")
    assert "above 0.15" in make_audit([*told, *control], "own").sections[0].blocks[0].text  # type: ignore[union-attr]
