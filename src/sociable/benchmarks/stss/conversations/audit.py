"""What can be checked about frozen scenes without playing one: ``sociable audit stss-conversations``.

How even they are, how like one another what people remember is, and who has heard of the matter before the conversation
begins: with them a summary could be right though the words were not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations
from statistics import fmean

from sociable.benchmarks.stss.conversations.protocol import Setting
from sociable.benchmarks.stss.conversations.scene import Scene, Side
from sociable.benchmarks.stss.speech import said_of
from sociable.benchmarks.stss.task import Task, TaskType
from sociable.core.view import MISSING, Column, Document, Paragraph, Row, Section, Table, figure

ALIKE = 0.8
"""Memories that two scenes of one pair share, of those that either has, from which they count as nearly the same."""


def has_heard(side: Side, task: Task, setting: Setting) -> bool:
    """Whether somebody remembers the matter, or has agreed to it, when the conversation begins."""
    heard = any(
        said_of(task, [memory.text], memory.minute, setting.clock, task.places).parts
        for memory in side.memories
        if memory.memory in ("conversation", "told")
    )
    return heard or any(each.start is not None and task.start - 60 <= each.start < task.end for each in side.agreed)


def likeness(one: Scene, other: Scene) -> float:
    """Memories of both people that two scenes share, over those that either has."""
    first, second = _texts(one), _texts(other)
    return len(first & second) / len(first | second) if first | second else 1.0


def _texts(scene: Scene) -> set[tuple[str, str]]:
    return {(side.name, memory.text) for side in (scene.performer, scene.target) for memory in side.memories}


def alike_pairs(scenes: Sequence[Scene]) -> list[tuple[Scene, Scene, float]]:
    """Scenes of one pair of people in which both remember nearly the same; the most alike first."""
    of: dict[frozenset[str], list[Scene]] = defaultdict(list)
    for scene in scenes:
        of[frozenset((scene.performer.name, scene.target.name))].append(scene)
    found = [(one, other, likeness(one, other)) for several in of.values() for one, other in combinations(several, 2)]
    return sorted((each for each in found if each[2] >= ALIKE), key=lambda each: (-each[2], each[0].id, each[1].id))


def audit_document(scenes: Sequence[Scene], setting: Setting, source: str) -> Document:
    groups = {str(kind): [scene for scene in scenes if scene.type is kind] for kind in TaskType}
    templates: dict[str, list[Scene]] = defaultdict(list)
    for scene in scenes:
        templates[scene.template].append(scene)
    summary = _table("Scenes by type", {"all": scenes, **{kind: own for kind, own in groups.items() if own}}, setting)
    alike = alike_pairs(scenes)
    involved = {scene.id for one, other, _ in alike for scene in (one, other)}
    text = (
        f"{len(involved)} of {len(scenes)} scenes have another of the same two people in which both remember nearly the same "
        f"(at least {ALIKE:.0%} of what either has). No two are equal in it. Intervals are by template, not by pair."
    )
    worst = [Row([one.id, other.id, figure(value, 2)]) for one, other, value in alike[:10]]
    columns = [Column("Scene"), Column("Another"), Column("Shared", True)]
    sections = [
        Section("Templates", [_table("Scenes by template", dict(sorted(templates.items())), setting)]),
        Section("Alike", [Paragraph(text), *([Table("The most alike", columns, worst)] if worst else [])]),
    ]
    return Document("Audit of stss-conversations", f"{len(scenes)} scenes ({source})", summary, sections)


def _table(caption: str, groups: dict[str, Sequence[Scene]], setting: Setting) -> Table:
    rows = []
    for name, own in groups.items():
        rows.append(
            Row(
                [
                    name,
                    str(len(own)),
                    str(len({(scene.template, scene.performer.name) for scene in own})),
                    str(len({(scene.performer.name, scene.target.name) for scene in own})),
                    str(len({scene.source.seed for scene in own})),
                    _share(scene.performer_begins for scene in own),
                    figure(fmean(len(side.memories) for scene in own for side in (scene.performer, scene.target)), 1)
                    if own
                    else MISSING,
                    _share(has_heard(scene.target, scene.task, setting) for scene in own),
                    _share(scene.reference_residents for scene in own),
                ]
            )
        )
    columns = [
        Column(""),
        Column("Scenes", True),
        Column("Perf.", True, "performers of each template"),
        Column("Pairs", True),
        Column("Seeds", True),
        Column("Begun", True, "by the performer"),
        Column("Mem.", True, "a person has, beside facts"),
        Column("Heard", True, "the target remembers the matter, or has agreed to it, before a word is said"),
        Column("Rule", True, "made with reference residents"),
    ]
    note = (
        "Perf.: performers of each template. Mem.: memories that a person has beside facts. Shares of scenes: Begun, by the "
        "performer; Heard, the target knows of the matter before a word is said; Rule, made with reference residents."
    )
    return Table(caption, columns, rows, note)


def _share(flags: Iterable[bool]) -> str:
    counted = list(flags)
    return figure(fmean(counted), 2) if counted else MISSING
