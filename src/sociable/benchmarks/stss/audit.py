"""What can be checked about the tasks and the filter without running a model."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sociable.benchmarks.stss.dataset import BUNDLED, TaskTemplate
from sociable.benchmarks.stss.keywords import is_doing, names
from sociable.benchmarks.stss.study import StssStudy
from sociable.benchmarks.stss.task import TaskType
from sociable.core.view import MISSING, Block, Column, Document, Paragraph, Row, Section, Table, with_interval
from sociable.statistics.intervals import Interval, estimate_mean

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
    return estimate_mean([float(each.is_it) for each in taken], [each.template for each in taken])


def recall(texts: Sequence[Sorted]) -> Interval:
    """Of the texts that are the activity, the share that the filter takes; by template."""
    real = [each for each in texts if each.is_it]
    return estimate_mean([float(each.taken) for each in real], [each.template for each in real])


def labelled_texts() -> list[dict[str, Any]]:
    """The texts that come with the benchmark, with their readers' labels."""
    texts: list[dict[str, Any]] = json.loads(ACTIVITY_TEXTS.read_text(encoding="utf-8"))
    return texts


@dataclass(frozen=True, slots=True)
class OwnWords:
    """A thing to be done as its template speaks of it, and what the template's own keywords make of that."""

    template: str
    doing: str
    """The template's ``activity``; of help a step's ``doing``."""
    named: bool
    """Whether the keywords find it in that name."""
    wordings: int
    missed: tuple[str, ...]
    """Wordings that the filter does not take."""


def own_words(template: TaskTemplate) -> list[OwnWords]:
    """One record a template; of help one a step."""
    steps = [(step.doing, step.signs, step.wordings) for step in template.subtasks]
    return [
        OwnWords(
            template.id, doing, names(doing, signs), len(wordings), tuple(each for each in wordings if not is_doing(each, signs))
        )
        for doing, signs, wordings in steps or [(template.activity, template.signs, template.wordings)]
    ]


def audit_document(study: StssStudy) -> Document:
    known = {template.id for template in study.templates}
    texts = [each for each in labelled_texts() if each["template"] in known]
    labelled = {each["template"] for each in texts}
    unread = [template for template in study.templates if template.id not in labelled]
    sections = []
    if texts:
        sections.append(Section("The filter", list(_filter_words())))
    if unread:
        sections.append(Section("Keywords and their own templates", list(_own_words(unread))))
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


def _own_words(templates: Sequence[TaskTemplate]) -> Iterator[Block]:
    """What stands in for labelled texts where there are none."""
    found = [each for template in templates for each in own_words(template)]
    yield Paragraph(
        "There are no labelled texts for these templates: what the filter takes is checked against their own words only. Whoever "
        "is said to do what it does not take would not be counted. An activity that its keywords do not name is heard of only "
        "where it is said word by word, such a step never: whether somebody has been told is read by keywords, too."
    )
    rows = [
        Row(
            [
                each.template,
                each.doing,
                "yes" if each.named else "no",
                f"{each.wordings - len(each.missed)} of {each.wordings}" if each.wordings else MISSING,
            ]
        )
        for each in found
    ]
    columns = [Column("Template"), Column("Activity or step"), Column("Named by its keywords"), Column("Wordings taken", True)]
    yield Table("What the keywords make of the templates' own words", columns, rows)
    missed = [Row([each.template, wording]) for each in found for wording in each.missed]
    if missed:
        yield Table("Wordings that the filter does not take", [Column("Template"), Column("Wording")], missed)


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
