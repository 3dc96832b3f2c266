"""A judge beside the keyword filter: whether the text of an activity says that somebody does the thing.

The filter knows words, and real plans name a thing in many others. Where a judge is named it decides, of everybody who was at
the place while the thing went on; what it cannot answer the filter decides. How often both agree is told with the scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from sociable.benchmarks.stss.keywords import is_doing
from sociable.benchmarks.stss.records import ActivityText, StssEpisode
from sociable.benchmarks.stss.task import Task
from sociable.core.prompts import Prompts, load_package_prompts, put_on_one_line, quote
from sociable.core.records import PANEL, Judgment, Verdict
from sociable.engine.seats import Seat
from sociable.engine.study import ShownQuestion
from sociable.judging.answers import judge_yes_no
from sociable.judging.panel import add_panel
from sociable.judging.protocol import Answer
from sociable.models.protocol import ChatMessage

_PLACEHOLDERS = {"judge_system": frozenset[str](), "judge_activity": frozenset({"activity", "where", "doing"})}


@cache
def load_judge_prompts() -> Prompts:
    return load_package_prompts("sociable.benchmarks.stss", _PLACEHOLDERS)


def name_criteria(texts: Sequence[ActivityText]) -> dict[str, ActivityText]:
    """The texts by the criterion under which a judge is asked about each."""
    return {f"activity|{number}": each for number, each in enumerate(texts)}


async def judge_activity(task: Task, asked: ActivityText, seat: Seat, episode: StssEpisode, criterion: str) -> Judgment:
    """One judge's answer. An unreadable answer is UNSCORED, never no."""
    return await judge_yes_no(
        lambda: write_question(task, asked),
        lambda: Answer(is_doing(asked.text, asked.find_signs(task))),
        seat,
        episode,
        criterion,
    )


def write_question(task: Task, asked: ActivityText) -> list[ChatMessage]:
    prompts = load_judge_prompts()
    text = prompts["judge_activity"].render(
        activity=quote(put_on_one_line(_describe(task, asked))),
        where=_say_where(task, asked),
        doing=quote(put_on_one_line(asked.text)),
    )
    return [{"role": "system", "content": prompts["judge_system"].render()}, {"role": "user", "content": text}]


def show_question(task: Task, asked: ActivityText) -> ShownQuestion:
    """The question as a person reads it."""
    situation = f"{_describe(task, asked)} While it went on, the resident was {_say_where(task, asked)}."
    return ShownQuestion(situation, "a resident", asked.text, "Does the resident take part in it, or do it?")


def _describe(task: Task, asked: ActivityText) -> str:
    if asked.step:
        return f"{task.subtasks[asked.step - 1].doing}, as a favour for {task.performer}."
    return f"{task.activity}: {task.description}"


def _say_where(task: Task, asked: ActivityText) -> str:
    place = task.subtasks[asked.step - 1].place if asked.step else task.place
    return f"at its place, {put_on_one_line(place)}" if place else "somewhere in the town; the thing has no place of its own"


def read_decisions(
    texts: Mapping[str, ActivityText], judgments: Sequence[Judgment], panel: Sequence[str]
) -> dict[ActivityText, bool]:
    """What the judges decided together, of each text that they could answer."""
    verdicts = add_panel(judgments, panel)
    said = {text: verdicts.get((criterion, PANEL), (Verdict.UNSCORED, ""))[0] for criterion, text in texts.items()}
    return {text: verdict is Verdict.WIN for text, verdict in said.items() if verdict in (Verdict.WIN, Verdict.LOSS)}
