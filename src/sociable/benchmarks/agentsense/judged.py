"""Scenes judged by independent readers: the rules of ``reference/rule`` are measured against them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Literal

from sociable.benchmarks.agentsense.rule import is_reached
from sociable.benchmarks.agentsense.scenario import Scenario
from sociable.core.data_files import Text, read_records, validate_record
from sociable.core.records import Record
from sociable.core.view import Column, Row, Table, format_figure, format_interval
from sociable.statistics.agreement import measure_cohen, measure_fleiss
from sociable.statistics.intervals import Interval, estimate_mean


class ReadTurn(Record):
    speaker: Text
    content: Text


class GoalReading(Record):
    """The answers, one each, of readers of the turns alone to whether a goal was reached."""

    owner: Text
    item: int
    """Place among the owner's goals, from 0."""
    reached: tuple[bool, ...]


class JudgedScene(Record):
    """A scene as it was played, and its goals as readers judged them."""

    scenario: Text
    manner: Literal["kept", "lively", "plain"]
    """The manner of playing: with the secrets kept and betrayed by behaviour; or, of earlier secrets, as people talk, with
    images and half answers, or as assistants do, saying things outright."""
    turns: tuple[ReadTurn, ...]
    readings: tuple[GoalReading, ...]


def load_judged_scenes() -> list[JudgedScene]:
    """The bundled judged scenes. Raises DataError when their file is damaged."""
    path = Path(__file__).parent / "data" / "judged_scenes.jsonl"
    return [validate_record(JudgedScene, raw.value, raw.place) for raw in read_records(path, None)]


@dataclass(frozen=True, slots=True)
class RuleAgreement:
    """The rules beside the majority of the readers, over the goals of all judged scenes."""

    scenes: int
    goals: int
    reached: float
    """Share of goals that most readers found reached."""
    agreement: Interval
    """Share of goals on which rule and majority agree; clusters are templates."""
    kappa: float | None
    """Cohen's, between rule and majority."""
    missed: int
    """Goals that most readers found reached and the rule did not."""
    invented: int
    """Goals that the rule found reached and most readers did not."""
    readers: float | None
    """Fleiss' kappa among the readers."""
    reader_agreement: float | None
    """Share of pairs of readers that agree, over all goals."""


def measure_rules(scenes: Sequence[JudgedScene], scenarios: Mapping[str, Scenario]) -> RuleAgreement | None:
    """The agreement of rules and readers; None when none of the judged scenes is among ``scenarios``."""
    rule: list[bool] = []
    clusters: list[str] = []
    readings: list[tuple[bool, ...]] = []
    known = [scene for scene in scenes if _has_its_goals(scenarios.get(scene.scenario), scene)]
    for scene in known:
        scenario = scenarios[scene.scenario]
        said = [(turn.speaker, turn.content) for turn in scene.turns]
        for reading in scene.readings:
            verdict = is_reached(scenario, reading.owner, reading.item, said)
            if verdict is not None:
                rule.append(verdict)
                clusters.append(scenario.template)
                readings.append(reading.reached)
    if not rule:
        return None
    majority = [2 * sum(reading) > len(reading) for reading in readings]
    both = list(zip(rule, majority, strict=True))
    usual = Counter(map(len, readings)).most_common(1)[0][0]
    full = [reading for reading in readings if len(reading) == usual]
    pairs = [a == b for reading in full for a, b in combinations(reading, 2)]
    return RuleAgreement(
        scenes=len(known),
        goals=len(rule),
        reached=sum(majority) / len(majority),
        agreement=estimate_mean([float(a == b) for a, b in both], clusters),
        kappa=measure_cohen(rule, majority).value,
        missed=both.count((False, True)),
        invented=both.count((True, False)),
        readers=measure_fleiss(full).value,
        reader_agreement=sum(pairs) / len(pairs) if pairs else None,
    )


def _has_its_goals(scenario: Scenario | None, scene: JudgedScene) -> bool:
    """Whether the scene is of this scenario: a user's own data may use the same names for others."""
    goals = {character.name: len(character.goals) for character in scenario.characters} if scenario else {}
    return bool(scenario) and all(reading.item < goals.get(reading.owner, 0) for reading in scene.readings)


def tabulate_rules(by_manner: Mapping[str, RuleAgreement]) -> Table:
    """One column for all scenes, and one for each manner of playing them."""
    every = by_manner.values()
    agreement = [format_interval(each.agreement, 2) for each in every]
    rows = [
        ["scenes played and read", *(str(each.scenes) for each in every)],
        ["goals", *(str(each.goals) for each in every)],
        ["reached, as most readers say", *(format_figure(each.reached, 2) for each in every)],
        ["rule and most readers agree", *agreement],
        ["Cohen's kappa of the two", *(format_figure(each.kappa, 2) for each in every)],
        ["reached for readers, not for the rule", *(str(each.missed) for each in every)],
        ["reached for the rule, not for readers", *(str(each.invented) for each in every)],
        ["Fleiss' kappa among readers", *(format_figure(each.readers, 2) for each in every)],
        ["two readers agree", *(format_figure(each.reader_agreement, 2) for each in every)],
    ]
    columns = [Column(""), *(Column(manner, True) for manner in by_manner)]
    note = (
        "kept: with secrets kept and betrayed by behaviour; of earlier secrets, and goals that are the same today: lively, as "
        "people talk, with images and half answers, and plain, as assistants do, saying things outright."
    )
    return Table("reference/rule beside independent readers of the same scenes", columns, [Row(row) for row in rows], note)
