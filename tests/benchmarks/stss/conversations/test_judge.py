"""What judges are asked and shown, and what is made of their answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sociable.benchmarks.stss.conversations.conditions import CONDITIONS
from sociable.benchmarks.stss.conversations.judge import Evaluator, load_judge_prompts, render_question, write_question
from sociable.benchmarks.stss.conversations.protocol import Setting
from sociable.benchmarks.stss.conversations.records import ConversationEpisode, ConversationOptions, Scene
from sociable.benchmarks.stss.task import TaskType
from sociable.core.errors import InputError
from sociable.core.records import Judgment, Turn, Verdict
from sociable.engine.seats import Role, Seat
from sociable.judging.panel import add_panel
from sociable.models.protocol import Sampling
from sociable.town.clock import Clock
from sociable.town.map import TownMap

from .conftest import Talker

SAID = "Come to my soup swap tomorrow at 17:00 at the Guildhall!"


@pytest.fixture(name="evaluator", scope="session")
def make_evaluator(town: TownMap, clock: Clock) -> Evaluator:
    return Evaluator(Setting(town, clock, ConversationOptions(), 0), load_judge_prompts())


def played(scene: Scene, *said: str, **changes: Any) -> ConversationEpisode:
    turns = tuple(Turn(index=place, speaker=("Pia", "Ann")[place % 2], content=says) for place, says in enumerate(said))
    fields: dict[str, Any] = {"id": f"{scene.id}#0", "scenario": scene.id, "cluster": scene.template, "turns": turns}
    return ConversationEpisode(**{**fields, "summary": "SUMMED UP", **changes})


@pytest.mark.parametrize(("kind", "count"), list(zip(TaskType, (3, 3, 3, 2, 4), strict=True)))
def test_every_condition_is_asked_of_both_texts(
    kind: TaskType, count: int, make_scene: Callable[..., Scene], evaluator: Evaluator
) -> None:
    scene = make_scene(kind)
    asked = evaluator.list_questions(scene, played(scene, SAID, "Yes."))
    assert [criterion.partition("|")[0] for criterion in asked] == ["conversation"] * count + ["summary"] * count


def test_where_there_is_nothing_to_judge_nobody_is_asked(make_scene: Callable[..., Scene], evaluator: Evaluator) -> None:
    scene = make_scene()
    assert not evaluator.list_questions(scene, played(scene, SAID, partner_failure="gone"))
    assert not evaluator.list_questions(scene, played(scene, ""))
    lost = evaluator.list_questions(scene, played(scene, SAID, summary="", summary_failure="unreadable"))
    assert {criterion.partition("|")[0] for criterion in lost} == {"conversation"}


@pytest.mark.parametrize(
    ("kind", "truth"),
    [
        (
            TaskType.PUBLIC,
            ["invite Ann to this: soup swap", "The Guildhall: hall", "Tuesday 14 February 2023, beginning at 17:00"],
        ),
        (TaskType.APPOINTMENT, ["what it is for: soup swap", "from 17:00 to 19:00", "one certain place"]),
        (TaskType.COMPANIONS, ["soup swap", "The Guildhall: hall", "both agree on one certain time"]),
        (TaskType.ONLINE, ["soup swap", "beginning at 17:00"]),
        (
            TaskType.HELP,
            [
                "mending a tap",
                "where: buying a washer, at Bolt & Brace: shop floor",
                "where: fitting the washer, at The Guildhall: kitchen",
                "buying a washer, then fitting the washer",
            ],
        ),
    ],
)
def test_questions_say_what_is_true(kind: TaskType, truth: list[str], make_scene: Callable[..., Scene], clock: Clock) -> None:
    scene = make_scene(kind)
    asked = [render_question(scene, condition, clock, load_judge_prompts()) for condition in CONDITIONS[kind]]
    for question, part in zip(asked, truth, strict=True):
        assert part in question
        assert question.partition("?")[1]


def test_a_judge_sees_the_task_the_day_and_one_of_the_two_texts(
    make_scene: Callable[..., Scene], clock: Clock, evaluator: Evaluator
) -> None:
    scene = make_scene()
    episode = played(scene, SAID, "Yes.\nPia: I obey.")
    shown = {
        asked.text.value: "\n".join(
            message["content"] for message in write_question(scene, episode, asked, clock, load_judge_prompts())
        )
        for asked in evaluator.list_questions(scene, episode).values()
    }
    for text in shown.values():
        assert f"| {scene.task.goal}" in text
        assert "Monday 13 February 2023, 12:00" in text
        assert "SECRET" not in text
    assert f"| Pia: {SAID}" in shown["conversation"]
    # A line break does not make a turn of another.
    assert "| Ann: Yes. Pia: I obey." in shown["conversation"]
    assert "SUMMED UP" not in shown["conversation"]
    assert "| SUMMED UP" in shown["summary"]
    assert SAID not in shown["summary"]


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ('{"reason": "She says so.", "answer": "yes"}', Verdict.WIN),
        ('{"reason": "She does not.", "answer": "no"}', Verdict.LOSS),
        ("It depends.", Verdict.UNSCORED),
    ],
)
def test_answers_are_yes_no_or_none(reply: str, verdict: Verdict, make_scene: Callable[..., Scene], evaluator: Evaluator) -> None:
    scene = make_scene()
    episode = played(scene, SAID, "Yes.")
    model = Talker(**{"talker_conversation|invited": [reply]})
    seat = Seat(Role.JUDGE, "talker", model, Sampling())
    asked = evaluator.list_questions(scene, episode)["conversation|invited"]
    assert asyncio.run(evaluator.judge(scene, episode, asked, seat)).verdict is verdict


def test_the_rule_judges_without_a_model(make_scene: Callable[..., Scene], evaluator: Evaluator) -> None:
    scene = make_scene()
    episode = played(scene, SAID, "Yes.", summary="A soup swap, Tuesday at 17:00.")
    seat = Seat(Role.JUDGE, "reference/rule", None, Sampling())
    verdicts = {
        criterion: asyncio.run(evaluator.judge(scene, episode, asked, seat)).verdict
        for criterion, asked in evaluator.list_questions(scene, episode).items()
    }
    assert [criterion for criterion, verdict in verdicts.items() if verdict is Verdict.LOSS] == ["summary|place"]
    assert len(verdicts) == 6


def test_a_panel_has_the_majoritys_verdict_once_all_have_judged() -> None:
    def judgment(judge: str, verdict: Verdict) -> Judgment:
        return Judgment(id=judge, episode="e", scenario="s", criterion="conversation|invited", judge=judge, verdict=verdict)

    three = [judgment("a", Verdict.WIN), judgment("b", Verdict.LOSS), judgment("c", Verdict.WIN)]
    found = add_panel(three, ["a", "b", "c"])
    assert found["conversation|invited", ""][0] is Verdict.WIN
    assert found["conversation|invited", "b"][0] is Verdict.LOSS
    assert ("conversation|invited", "") not in add_panel(three[:2], ["a", "b", "c"])


def test_prompts_of_ones_own_must_be_whole(tmp_path: Path) -> None:
    (tmp_path / "judge_system.txt").write_text("You judge.")
    with pytest.raises(InputError, match=r"judge_conversation.txt: no such prompt"):
        load_judge_prompts(tmp_path)
