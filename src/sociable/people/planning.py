"""Sheets that are as long as a wanted precision needs, and hold the pairs that tell most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sociable.core.errors import InputError
from sociable.core.people_files import PeopleFiles, SheetItem
from sociable.core.records import Verdict
from sociable.engine.result import RunResult
from sociable.people.corrected import CorrectedMetric, list_metrics
from sociable.people.pairs import JudgedPair
from sociable.people.sampling import draw_items
from sociable.statistics.prediction_powered import VerdictPlan, correct_mean, plan_verdicts

CONTRADICTED = 0.2
"""The share of verdicts that people are guessed to contradict where judges agree, and nobody has looked yet.

Where judges disagree, or gave no verdict, it is guessed to be half.
"""


@dataclass(frozen=True)
class PlannedSheet:
    """A sheet that was drawn for a precision."""

    items: Sequence[SheetItem]
    remarks: Sequence[str]
    """For each metric, how many verdicts it needs, and what they give."""


def draw_planned_sheet(
    run: RunResult, people: PeopleFiles, strata: Mapping[str, Sequence[JudgedPair]], precision: float, seed: int
) -> PlannedSheet:
    """The pairs to add to earlier sheets so that every corrected score is expected to be known to ± ``precision``.

    Metrics of one stage share its verdicts; those whose corrected interval is that narrow already need none. Raises InputError
    where no pair needs to be added, or none can tell.
    """
    if not 0 < precision < 0.5:
        raise InputError(f"--precision {precision:g}: half the width of an interval of scores, between 0 and 0.5, was expected.")
    undecided = {verdict.item for verdict in people.verdicts if verdict.verdict is Verdict.UNSCORED}
    undecided -= {verdict.item for verdict in people.verdicts if verdict.verdict is not Verdict.UNSCORED}
    drawn = {(item.episode, item.criterion): item for item in people.sheets}
    there = {
        name: sum(pair.names in drawn and drawn[pair.names].id not in undecided for pair in own) for name, own in strata.items()
    }
    guesses = {name: _guess_spread(own[0]) for name, own in strata.items()}
    wanted = dict.fromkeys(strata, 0)
    remarks = []
    for metric in list_metrics(run, people, [(pair, name) for name, own in strata.items() for pair in own]):
        if len({unit.cluster for unit in metric.units}) < 2:
            raise InputError(f"{run.folder} has one cluster only: no number of verdicts tells of other cases. Run more cases.")
        found = correct_mean(metric.units)
        half = (found.high - found.low) / 2 if found.low is not None and found.high is not None else None
        if half is not None and half <= precision:
            remarks.append(f"{metric.name}: ±{precision:g} is reached: {metric.verdicts} verdicts give ±{half:.3f}.")
            continue
        # What longer sheets hold already is no part of what the precision needs.
        remarks.append(_describe_plan(metric, plan_verdicts(metric.units, precision, guesses, {}), precision, half))
        for name, count in plan_verdicts(metric.units, precision, guesses, there).verdicts.items():
            wanted[name] = max(count, wanted[name])
    left = {name: sum(pair.names not in drawn for pair in own) for name, own in strata.items()}
    taken = {name: min(max(0, count - there[name]), left[name]) for name, count in wanted.items()}
    if not any(taken.values()):
        raise InputError(f"Nothing need be added to the {len(people.sheets)} items on earlier sheets. {' '.join(remarks)}")
    return PlannedSheet(draw_items(run, strata, taken, seed, ("planned", len(drawn)), drawn), remarks)


def _guess_spread(pair: JudgedPair) -> float:
    """The guessed variance of people's verdicts in the stratum of ``pair``."""
    share = 0.5 if pair.is_disputed or pair.verdict is Verdict.UNSCORED else CONTRADICTED
    return share * (1 - share)


def _describe_plan(metric: CorrectedMetric, plan: VerdictPlan, precision: float, half: float | None) -> str:
    count, size = sum(plan.verdicts.values()), len(metric.units)
    there = f", {metric.verdicts} of which are there" if metric.verdicts else ""
    needs = f"{count} of {size} pairs need a verdict{there}{'' if half is None else f' and give ±{half:.3f}'}"
    if plan.half_width <= precision:
        return f"{metric.name}: for ±{precision:g} {needs}."
    clusters = len({unit.cluster for unit in metric.units})
    out = "out of reach" if plan.least_half_width > precision else "nearly out of reach"
    return (
        f"{metric.name}: ±{precision:g} is {out}: verdicts on all {size} pairs would give ±{plan.least_half_width:.3f}, "
        f"as there are {clusters} clusters. More cases would help. For ±{plan.half_width:.3f} {needs}."
    )
