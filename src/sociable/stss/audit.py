"""What can be checked about the tasks and the filter without running a model."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sociable.core.view import MISSING, Block, Column, Document, Paragraph, Row, Section, Table, with_interval
from sociable.statistics.intervals import Interval, clustered_proportion
from sociable.stss.dataset import BUNDLED, TaskTemplate
from sociable.stss.keywords import is_doing
from sociable.stss.study import StssStudy
from sociable.stss.task import TaskType

ACTIVITY_TEXTS = BUNDLED / "activity_texts.json"


@dataclass(frozen=True, slots=True)
class Sorted:
    """What the keyword filter makes of a text, and what its readers said."""

    template: str
    taken: bool
    is_it: bool


def sorted_texts(templates: Sequence[TaskTemplate], texts: Sequence[dict[str, Any]]) -> list[Sorted]:
    """``texts``: template, text, is_it, and of help the number of the step (0: none)."""
    of = {template.id: template for template in templates}
    found = []
    for each in texts:
        template = of[each["template"]]
        if template.type is TaskType.HELP:
            steps = {number for number, step in enumerate(template.subtasks, start=1) if is_doing(each["text"], step.signs)}
            taken = each["subtask"] in steps if each["is_it"] else bool(steps)
        else:
            taken = is_doing(each["text"], template.signs)
        found.append(Sorted(template.id, taken, each["is_it"]))
    return found


def precision(texts: Sequence[Sorted]) -> Interval:
    """Of the texts that the filter takes, the share that is the activity; by template."""
    taken = [each for each in texts if each.taken]
    return clustered_proportion([float(each.is_it) for each in taken], [each.template for each in taken])


def recall(texts: Sequence[Sorted]) -> Interval:
    """Of the texts that are the activity, the share that the filter takes; by template."""
    real = [each for each in texts if each.is_it]
    return clustered_proportion([float(each.taken) for each in real], [each.template for each in real])


def labelled_texts() -> list[dict[str, Any]]:
    """The texts that come with the benchmark, with their readers' labels."""
    texts: list[dict[str, Any]] = json.loads(ACTIVITY_TEXTS.read_text(encoding="utf-8"))
    return texts


def audit_document(study: StssStudy) -> Document:
    known = {template.id for template in study.templates}
    texts = [each for each in labelled_texts() if each["template"] in known]
    sections = []
    if texts:
        sections.append(Section("The filter", list(_filter_words())))
    if study.remarks:
        sections.append(Section("What was noticed", [Paragraph(remark) for remark in study.remarks]))
    if study.templates:
        sections.append(Section("Templates", [_templates_table(study)]))
    summary = _filter_table(study, texts) if texts else _tasks_table(study)
    return Document("Audit of stss", f"{len(study.scenarios)} tasks ({study.source})", summary, sections)


def _tasks_table(study: StssStudy) -> Table:
    """Tasks that came ready made."""
    rows = [
        Row([task.id, str(task.type), task.performer, task.place or MISSING, str(task.expected)])
        for task in study.scenarios.values()
    ]
    columns = [Column("Task"), Column("Type"), Column("Performer"), Column("Place"), Column("Expected", True)]
    return Table("Tasks", columns, rows)


def _filter_table(study: StssStudy, texts: Sequence[dict[str, Any]]) -> Table:
    rows = []
    for title, chosen in (
        ("never looked at while the filter was written", [each for each in texts if not each["seen"]]),
        ("looked at", [each for each in texts if each["seen"]]),
    ):
        found = sorted_texts(study.templates, chosen)
        shares = [with_interval(each.value, each.low, each.high, 2) for each in (precision(found), recall(found))]
        rows.append(Row([title, str(len(found)), *shares]))
    return Table(
        "The keyword filter on texts of what residents do",
        [Column("Texts"), Column("Number", True), Column("Precision", True), Column("Recall", True)],
        rows,
        "95% intervals by template. Half of the texts are the activity, half come near it.",
    )


def _filter_words() -> Iterator[Block]:
    yield Paragraph(
        "The texts were written by language models that knew the activity and not the filter, to be clearly it or clearly "
        "something else, and read by three readers, language models too, who were shown neither the filter nor any label; "
        "they and the writers agreed on every one, so that the texts are clear cases. Half are near misses on purpose, which "
        "real days hold far fewer of, and in a simulation place and time must be right besides: precision there is higher, "
        "and both figures say how the filter does on its own."
    )


def _templates_table(study: StssStudy) -> Table:
    """What each template leaves to the seed."""
    rows = [
        Row(
            [
                template.id,
                str(template.type),
                str(len(template.performers)),
                str(len(template.places)) if template.places else MISSING,
                str(len(template.times)),
                str(len(template.subtasks) or MISSING),
            ]
        )
        for template in study.templates
    ]
    columns = [Column("Template"), Column("Type"), Column("Performers", True), Column("Places", True), Column("Times", True)]
    return Table("What the seed draws from", [*columns, Column("Steps", True)], rows)
