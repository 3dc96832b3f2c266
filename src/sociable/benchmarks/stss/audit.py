"""Checks of the tasks and of the keyword filter that need no model: ``sociable audit stss``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sociable.benchmarks.stss.dataset import BUNDLED, Inputs
from sociable.benchmarks.stss.keywords import is_about, is_doing
from sociable.benchmarks.stss.obstacles import Will
from sociable.benchmarks.stss.task import Task, TaskType
from sociable.benchmarks.stss.templates import TaskTemplate
from sociable.core.view import MISSING, Block, Callout, Column, Document, Paragraph, Row, Section, Table, format_interval
from sociable.statistics.intervals import estimate_mean
from sociable.town.clock import format_time_of_day

ACTIVITY_TEXTS = BUNDLED / "activity_texts.json"

_ABOUT_TEXTS = (
    "The texts were written by language models that knew the activity and not the filter, to be clearly it or clearly "
    "something else, and read by two or three readers, language models too, who were shown neither the filter nor any label; "
    "they and the writers agreed on every one, so that the texts are clear cases. Half are near misses on purpose, which "
    "real days hold far fewer of, and in a simulation place and time must be right besides: precision there is higher, "
    "and both figures say how the filter does on its own."
)
_ABOUT_OWN_WORDS = (
    "There are no labelled texts for these templates: what the filter takes is checked against their own words only. Whoever "
    "is said to do what it does not take would not be counted. An activity that its keywords do not name is heard of only "
    "where it is said word by word, such a step never: whether somebody has been told is read by keywords, too."
)


def is_taken(template: TaskTemplate, text: Mapping[str, Any]) -> bool:
    """Whether the filter takes a labelled text for the activity; of help for the step that it is, or for any if it is none."""
    if template.type is not TaskType.HELP:
        return is_doing(text["text"], template.signs)
    steps = {number for number, step in enumerate(template.subtasks, start=1) if is_doing(text["text"], step.signs)}
    return text["subtask"] in steps if text["is_it"] else bool(steps)


def make_audit(inputs: Inputs) -> Document:
    templates = {template.id: template for template in inputs.templates}
    texts = [each for each in json.loads(ACTIVITY_TEXTS.read_text(encoding="utf-8")) if each["template"] in templates]
    unread = [templates[name] for name in templates if name not in {each["template"] for each in texts}]
    sections: Mapping[str, Sequence[Block]] = {
        "The filter": [Paragraph(_ABOUT_TEXTS)] if texts else [],
        "What stands in the way": list(_check_obstacles(inputs)),
        "Keywords and their own templates": list(_check_own_words(unread)) if unread else [],
        "What was noticed": [Callout(remark) for remark in inputs.remarks],
        "Templates": [_make_templates_table(inputs)] if templates else [],
    }
    summary = _make_filter_table(templates, texts) if texts else _make_tasks_table(inputs)
    shown = [Section(title, blocks) for title, blocks in sections.items() if blocks]
    return Document("Audit of stss", f"{len(inputs.tasks)} tasks ({inputs.source})", summary, shown)


def _make_tasks_table(inputs: Inputs) -> Table:
    """Tasks that came ready made."""
    tasks = inputs.tasks.values()
    rows = [Row([each.id, str(each.type), each.performer, each.place or MISSING, str(each.expected)]) for each in tasks]
    columns = [Column("Task"), Column("Type"), Column("Performer"), Column("Place"), Column("Expected", True)]
    return Table("Tasks", columns, rows)


def _make_filter_table(templates: Mapping[str, TaskTemplate], texts: Sequence[dict[str, Any]]) -> Table:
    """The filter's precision and recall on labelled texts.

    Precision is the share of texts taken that are the activity, recall the share of texts of the activity that are taken.
    """
    rows = []
    for title, seen in (("never looked at while the filter was written", False), ("looked at", True)):
        found = [each for each in texts if each["seen"] is seen]
        taken = [each for each in found if is_taken(templates[each["template"]], each)]
        shares = [
            estimate_mean([float(each in taken and each["is_it"]) for each in among], [each["template"] for each in among])
            for among in (taken, [each for each in found if each["is_it"]])
        ]
        rows.append(Row([title, str(len(found)), *(format_interval(each, 2) for each in shares)]))
    return Table(
        "The keyword filter on texts of what residents do",
        [Column("Texts"), Column("Number", True), Column("Precision", True), Column("Recall", True)],
        rows,
        "95% intervals by template. Half of the texts are the activity, half come near it.",
    )


def _check_own_words(templates: Sequence[TaskTemplate]) -> Iterator[Block]:
    """Reports, for templates without labelled texts, how the keywords read their names and wordings, or those of their steps."""
    yield Paragraph(_ABOUT_OWN_WORDS)
    rows, missed = [], []
    for template in templates:
        steps = [(step.doing, step.signs, step.wordings) for step in template.subtasks]
        for doing, signs, wordings in steps or [(template.activity, template.signs, template.wordings)]:
            lost = [wording for wording in wordings if not is_doing(wording, signs)]
            taken = f"{len(wordings) - len(lost)} of {len(wordings)}" if wordings else MISSING
            rows.append(Row([template.id, doing, "yes" if is_about(doing, signs) else "no", taken]))
            missed += [Row([template.id, wording]) for wording in lost]
    columns = [Column("Template"), Column("Activity or step"), Column("Named by its keywords"), Column("Wordings taken", True)]
    yield Table("What the keywords make of the templates' own words", columns, rows)
    if missed:
        yield Table("Wordings that the filter does not take", [Column("Template"), Column("Wording")], missed)


def _check_obstacles(inputs: Inputs) -> Iterator[Block]:
    """Reports, of tasks of level 2 and 3, the best possible, whether every reason can be learnt, and whether its words move."""
    tasks = [task for task in inputs.tasks.values() if task.obstacles is not None]
    if not tasks:
        return
    rows, faults = [], []
    for task in tasks:
        assert task.obstacles is not None
        obstacles = task.obstacles
        extra = {"secret": obstacles.secret, "rumour": obstacles.rumour, "skill": obstacles.skill}
        besides = [
            *(name for name, found in extra.items() if found),
            *([f"{obstacles.budget} talks"] if obstacles.budget else []),
        ]
        if obstacles.notice is not None:
            besides.append(f"by {format_time_of_day(obstacles.notice)}")
        told = sum(will.tells for will in obstacles.wills)
        best = f"{obstacles.best} of {len(task.cast)}"
        counts = [str(task.expected), best, str(len(obstacles.wills)), str(told), ", ".join(besides) or MISSING]
        rows.append(Row([task.id, task.performer, *counts]))
        faults += [Row([task.id, will.who, problem]) for will in obstacles.wills for problem in _find_faults(task, will)]
    columns = [Column("Task"), Column("Performer"), Column("Expected", True), Column("Best", True)]
    columns += [Column("Reasons", True), Column("Told", True), Column("Besides")]
    yield Table("As drawn by this seed", columns, rows, "Best: the most that can be won, of the cast. Told: by whoever has it.")
    if faults:
        yield Table("Faults", [Column("Task"), Column("Person"), Column("What is wrong")], faults)
    else:
        yield Paragraph("Every reason can be learnt there, and is moved by its own words and not by goal or description.")


def _find_faults(task: Task, will: Will) -> Iterator[str]:
    """Finds what makes a reason impossible to learn, or too easy to meet."""
    if not will.tells and not set(will.known_by) & set(task.cast):
        yield "nobody in the cast tells the reason"
    if not will.is_moved_by([will.say]):
        yield f"is not moved by its own words: {will.say}"
    if will.third and will.third not in task.cast:
        yield f"{will.third} is not in the cast"
    for text in (task.first_person, task.description):
        if will.is_moved_by([text]):
            yield "is moved by the goal or the description alone"


def _make_templates_table(inputs: Inputs) -> Table:
    """The number of things in each template from which the seed draws."""
    rows = []
    for template in inputs.templates:
        counts = map(len, (template.performers, template.places, template.times, template.subtasks))
        rows.append(Row([template.id, str(template.type), *(str(count or MISSING) for count in counts)]))
    numbers = [Column(title, True) for title in ("Performers", "Places", "Times", "Steps")]
    return Table("What the seed draws from", [Column("Template"), Column("Type"), *numbers], rows)
