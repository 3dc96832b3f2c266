"""Checks of frozen scenes that need none to be played: ``sociable audit stss-conversations``.

The audit tells how even the scenes are, how much alike people's memories are, and how many people have heard of the matter
before the conversation begins: their summary could be right though the words were not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import fmean

from sociable.benchmarks.stss.conversations.records import Scene, Side
from sociable.benchmarks.stss.speech import parse_speech
from sociable.benchmarks.stss.task import Task, TaskType
from sociable.core.view import Column, Document, Paragraph, Row, Section, Table, format_figure
from sociable.town.clock import Clock

ALIKE = 0.8
"""The share of memories of two scenes of one pair, from which on they count as nearly the same."""

_COLUMNS = (
    Column(""),
    Column("Scenes", True),
    Column("Perf.", True, "performers of each template"),
    Column("Pairs", True),
    Column("Seeds", True),
    Column("Begun", True, "by the performer"),
    Column("Mem.", True, "a person has, beside facts"),
    Column("Heard", True, "the target remembers the matter, or has agreed to it, before a word is said"),
    Column("Rule", True, "made with reference residents"),
)
_NOTE = (
    "Perf.: performers of each template. Mem.: memories that a person has beside facts. Shares of scenes: Begun, by the "
    "performer; Heard, the target knows of the matter before a word is said; Rule, made with reference residents."
)


def has_heard(side: Side, task: Task, clock: Clock) -> bool:
    """Whether somebody remembers the matter, or has agreed to it, when the conversation begins."""
    told = (memory for memory in side.memories if memory.memory in ("conversation", "told"))
    return any(parse_speech(task, [memory.text], memory.minute, clock).parts for memory in told) or any(
        each.start is not None and task.start - 60 <= each.start < task.end for each in side.agreed
    )


def find_alike_pairs(scenes: Sequence[Scene]) -> list[tuple[Scene, Scene, float]]:
    """Scenes of one pair of people in which both remember nearly the same, with their likeness; the most alike first."""
    by_pair: dict[frozenset[str], list[tuple[Scene, set[tuple[str, str]]]]] = defaultdict(list)
    for scene in scenes:
        memories = {(side.name, memory.text) for side in (scene.performer, scene.target) for memory in side.memories}
        by_pair[frozenset((scene.performer.name, scene.target.name))].append((scene, memories))
    found = []
    for (one, first), (other, second) in (pair for several in by_pair.values() for pair in combinations(several, 2)):
        # Memories that two scenes share, over those that either has.
        likeness = len(first & second) / len(first | second) if first | second else 1.0
        if likeness >= ALIKE:
            found.append((one, other, likeness))
    return sorted(found, key=lambda each: (-each[2], each[0].id, each[1].id))


def make_audit(scenes: Sequence[Scene], clock: Clock, source: str) -> Document:
    types: dict[str, list[Scene]] = {str(kind): [] for kind in TaskType}
    templates: dict[str, list[Scene]] = defaultdict(list)
    for scene in scenes:
        types[scene.type].append(scene)
        templates[scene.template].append(scene)
    summary = _make_table("Scenes by type", {"all": scenes, **types}, clock)
    alike = find_alike_pairs(scenes)
    involved = {scene.id for one, other, _ in alike for scene in (one, other)}
    text = (
        f"{len(involved)} of {len(scenes)} scenes have another of the same two people in which both remember nearly the same "
        f"(at least {ALIKE:.0%} of what either has). No two are equal in it. Intervals are by template, not by pair."
    )
    worst = [Row([one.id, other.id, format_figure(value, 2)]) for one, other, value in alike[:10]]
    columns = [Column("Scene"), Column("Another"), Column("Shared", True)]
    sections = [
        Section("Templates", [_make_table("Scenes by template", dict(sorted(templates.items())), clock)]),
        Section("Alike", [Paragraph(text), *([Table("The most alike", columns, worst)] if worst else [])]),
    ]
    return Document("Audit of stss-conversations", f"{len(scenes)} scenes ({source})", summary, sections)


def _make_table(caption: str, groups: Mapping[str, Sequence[Scene]], clock: Clock) -> Table:
    """One row a group that has a scene."""
    rows = []
    for name, own in groups.items():
        if not own:
            continue
        performers = {(scene.template, scene.performer.name) for scene in own}
        pairs = {(scene.performer.name, scene.target.name) for scene in own}
        counts = map(len, (own, performers, pairs, {scene.source.seed for scene in own}))
        memories = fmean(len(side.memories) for scene in own for side in (scene.performer, scene.target))
        begun, rule = fmean(scene.performer_begins for scene in own), fmean(scene.reference_residents for scene in own)
        heard = fmean(has_heard(scene.target, scene.task, clock) for scene in own)
        rows.append(
            Row(
                [
                    name,
                    *map(str, counts),
                    format_figure(begun, 2),
                    format_figure(memories, 1),
                    format_figure(heard, 2),
                    format_figure(rule, 2),
                ]
            )
        )
    return Table(caption, _COLUMNS, rows, _NOTE)
