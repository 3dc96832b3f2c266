"""Scores as people would have given them, from judges' verdicts on all pairs and people's on a sample."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from sociable.core.people_files import PeopleFiles, SheetItem
from sociable.core.records import Verdict
from sociable.core.view import Callout, Column, Row, Section, Table, Tone, format_interval
from sociable.engine.result import RunResult
from sociable.engine.study import Judged
from sociable.people.pairs import JudgedPair, find_shown_item, list_judged_pairs
from sociable.statistics.intervals import Interval, estimate_mean
from sociable.statistics.prediction_powered import JudgedUnit, correct_difference, correct_mean

FEW_VERDICTS, TOO_FEW_VERDICTS = 100, 30
"""Pairs judged by people below which intervals may be wider than they had to be, and below which they may be too narrow, if
the judges are others than those by whom pairs were drawn. Source: ``benchmarks/corrected_scores.py``."""
NO_OPINION = 0.5
"""The judges' opinion where none could be read: any number does, as people's verdicts on that stratum correct it."""


@dataclass(frozen=True)
class CorrectedMetric:
    """One metric that is a mean of verdicts, by judges and by people."""

    name: str
    stage: str
    judged: Interval
    """By the current panel."""
    units: Sequence[JudgedUnit]
    """All judged pairs of its stage, in the strata that people's were drawn from."""

    @property
    def verdicts(self) -> int:
        """The pairs that people gave a verdict on."""
        return sum(unit.given is not None for unit in self.units)


def list_corrected_metrics(run: RunResult, people: PeopleFiles) -> Iterator[CorrectedMetric]:
    """The metrics of the stages that sheets were drawn from; none where the run is no longer the one they were drawn from."""
    return list_metrics(run, people, find_drawn_strata(run, list(people.sheets)))


def list_metrics(run: RunResult, people: PeopleFiles, drawn: Sequence[tuple[JudgedPair, str]]) -> Iterator[CorrectedMetric]:
    """The metrics of the stages of these pairs, each with its stratum."""
    if not isinstance(run.study, Judged):
        return
    items = {(item.episode, item.criterion): item for item in people.sheets}
    given: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in people.verdicts:
        given[verdict.item].append(verdict.verdict)
    current = {pair.names: pair for pair in list_judged_pairs(run)}
    by_stage: dict[str, list[tuple[JudgedPair, str]]] = defaultdict(list)
    for pair, stratum in drawn:
        by_stage[pair.stage].append((pair, stratum))
    for stage, metrics in run.study.win_rates.items():
        for name, worth in metrics.items() if by_stage[stage] else ():
            yield CorrectedMetric(
                name,
                stage,
                _find_judged(run, name, worth, [current[pair.names] for pair, _ in by_stage[stage] if pair.names in current]),
                [
                    _make_unit(pair, stratum, worth, current.get(pair.names), items.get(pair.names), given)
                    for pair, stratum in by_stage[stage]
                ],
            )


def find_drawn_strata(run: RunResult, items: Sequence[SheetItem]) -> list[tuple[JudgedPair, str]]:
    """Every pair that sheets were drawn from, with its stratum; none where the run is no longer the one they were drawn from."""
    sizes = {item.stratum: item.size for item in items}
    if not items:
        return []
    pairs = [pair for pair in list_judged_pairs(run, items[0].panel) if find_shown_item(run, pair.episode, pair.criterion)]
    stages = {item.counted_as for item in items}
    # Sheets of version 0.1 were drawn by stage and verdict alone.
    for coarse in (False, True):
        strata = [(pair, f"{pair.stage}: {pair.verdict}" if coarse else pair.stratum) for pair in pairs if pair.stage in stages]
        counts = Counter(stratum for _, stratum in strata)
        if all(counts[stratum] == size for stratum, size in sizes.items()):
            return strata
    return []


def _make_unit(
    pair: JudgedPair,
    stratum: str,
    worth: Mapping[Verdict, float],
    current: JudgedPair | None,
    item: SheetItem | None,
    given: Mapping[str, Sequence[Verdict]],
) -> JudgedUnit:
    """A pair as a unit of statistics: the current judges' mean opinion, and people's where they gave one."""
    judges = [worth[verdict] for verdict in (current.by_judge.values() if current else ()) if verdict in worth]
    people = [worth[verdict] for verdict in given.get(item.id, ()) if verdict in worth] if item else []
    return JudgedUnit(
        case=f"{pair.episode.scenario}|{pair.criterion}",
        cluster=pair.episode.cluster,
        stratum=stratum,
        predicted=fmean(judges) if judges else NO_OPINION,
        given=fmean(people) if people else None,
        inclusion=(item and item.inclusion) or 1.0,
    )


def _find_judged(run: RunResult, name: str, worth: Mapping[Verdict, float], pairs: Sequence[JudgedPair]) -> Interval:
    """The metric as the run has it; the mean over the panel's verdicts where no metric of the run is just that."""
    if found := run.estimate(name):
        return Interval(found.value, found.low, found.high)
    counted = [pair for pair in pairs if pair.verdict in worth]
    return estimate_mean([worth[pair.verdict] for pair in counted], [pair.episode.cluster for pair in counted])


def show_corrected(run: RunResult, people: PeopleFiles) -> Iterator[Table | Callout]:
    """The table of scores by judges and corrected by people, and what a reader must know of it."""
    metrics = list(list_corrected_metrics(run, people))
    if not metrics and len(people.sheets):
        text = (
            "The run has other judged pairs than when its sheets were drawn: no score can be corrected by them. "
            "Move sheets.jsonl and people.jsonl away, draw a new sheet, and give verdicts back on that."
        )
        yield Callout(text, Tone.WARNING)
        return
    yield Table(
        "Scores as judges gave them, and corrected by people",
        [
            Column("Metric"),
            Column("By judges", True),
            Column("Corrected", True, "by prediction-powered inference: judges on all pairs, people on the sample"),
            Column("Human verdicts", True, "pairs that people looked at"),
            Column("of", True, "pairs of the run that were judged"),
        ],
        [
            Row(
                [
                    each.name,
                    format_interval(each.judged),
                    format_interval(correct_mean(each.units)),
                    str(each.verdicts),
                    str(len(each.units)),
                ]
            )
            for each in metrics
        ],
        "The corrected score is what people would have given to all pairs, without bias whatever the judges do. Both intervals "
        "are by cluster, for other cases of the kind. Several people on one pair count by the mean of their verdicts. What "
        "judges gave no verdict on counts here for people only. — : a stratum nobody has looked at yet.",
    )
    yield from _warn_of_missing(people)
    counts = {each.stage: each.verdicts for each in metrics if each.verdicts}
    if too_few := [f"{stage} ({count})" for stage, count in counts.items() if count < TOO_FEW_VERDICTS]:
        text = f"Under {TOO_FEW_VERDICTS} human verdicts: {', '.join(too_few)}. Corrected intervals cannot be relied on."
        yield Callout(text, Tone.WARNING)
    if few := [f"{stage} ({count})" for stage, count in counts.items() if TOO_FEW_VERDICTS <= count < FEW_VERDICTS]:
        text = f"Under {FEW_VERDICTS} human verdicts: {', '.join(few)}. Where judges seldom err, intervals are on the safe side."
        yield Callout(text, Tone.NEUTRAL)


def _warn_of_missing(people: PeopleFiles) -> Iterator[Callout]:
    """Warnings on verdicts that were skipped, and on items that nobody has looked at."""
    verdicts = list(people.verdicts)
    for person, count in sorted(Counter(each.person for each in verdicts).items()):
        if skipped := sum(each.person == person and each.verdict is Verdict.UNSCORED for each in verdicts):
            text = f"{person} skipped {skipped} of {count} items. They count as missing; others of their stratum stand for them."
            yield Callout(text, Tone.WARNING)
    if missing := len(set(people.sheets.list_ids()) - {each.item for each in verdicts}):
        text = (
            f"Nobody has looked at {missing} of {len(people.sheets)} items on sheets. They count as if they had not been drawn."
        )
        yield Callout(text, Tone.WARNING)


def note_corrected(runs: Sequence[RunResult]) -> Iterator[Section]:
    """The section that stands right below the scores: each one's correction in a sentence; none where nobody checked."""
    notes = []
    for run in runs:
        with PeopleFiles(Path(run.folder)) as people:
            # The first metric of a stage is the one that a summary shows; the table of the section on people has all.
            first: dict[str, CorrectedMetric] = {}
            for metric in list_corrected_metrics(run, people) if len(people.verdicts) else ():
                first.setdefault(metric.stage, metric)
            for each in first.values():
                if each.verdicts and (corrected := correct_mean(each.units)).value is not None:
                    whose = f"{run.label}, {each.name}" if len(runs) > 1 else each.name
                    by = f"corrected by {each.verdicts} human verdicts {format_interval(corrected)}"
                    notes.append(Callout(f"{whose}: judge {format_interval(each.judged)}; {by}"))
    if notes:
        yield Section("Corrected by people", notes)


def compare_corrected(first: RunResult, second: RunResult) -> Iterator[Section]:
    """The section with the differences of two runs that people checked both; none where they did not."""
    with PeopleFiles(Path(first.folder)) as one, PeopleFiles(Path(second.folder)) as other:
        if not (len(one.verdicts) and len(other.verdicts)):
            return
        sides = [{each.name: each for each in list_corrected_metrics(*side)} for side in ((first, one), (second, other))]
    rows = []
    for name, a in sides[0].items():
        if b := sides[1].get(name):
            alone = [format_interval(correct_mean(each.units)) for each in (a, b)]
            shown = format_interval(correct_difference(a.units, b.units))
            rows.append(Row([name, *alone, shown, f"{a.verdicts}, {b.verdicts}"]))
    if rows:
        columns = [Column("Metric"), *(Column(title, True) for title in ("A", "B", "B − A", "Human verdicts"))]
        note = (
            "A and B on all cases of each, B − A on the pairs that were judged in both. Intervals by cluster; that of B − A "
            "holds 0 where people's verdicts do not tell the two apart."
        )
        yield Section("Corrected by people", [Table("Scores corrected by people's verdicts", columns, rows, note)])
