"""How often the limits of scores corrected by people hold, over judges of known bias: see README.md here.

    python benchmarks/corrected_scores.py [--quick] [--runs 2000]

People are right by definition. The truth is the share of cases with a success among all clusters there could be; clusters differ
in it. Verdicts are drawn as on a sheet: evenly over strata of the judge's verdict, disputed or not.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from statistics import fmean

import numpy as np

from sociable.statistics.intervals import Floats, Interval, estimate_mean
from sociable.statistics.prediction_powered import JudgedUnit, correct_difference, correct_mean, plan_verdicts

ENDLESS = 400_000
SPREAD = 0.8
"""The standard deviation of clusters' successes, in logits."""


@dataclass(frozen=True)
class Judge:
    """A judge by the share of failures taken for successes, and of successes taken for failures."""

    name: str
    too_kind: float
    too_strict: float


RIGHT, ACCURATE = Judge("always right", 0.0, 0.0), Judge("accurate", 0.03, 0.03)
GENEROUS, HARSH = Judge("generous", 0.3, 0.02), Judge("harsh", 0.02, 0.3)
NOISY, BLIND = Judge("noisy", 0.25, 0.25), Judge("blind", 0.5, 0.5)
JUDGES = (RIGHT, ACCURATE, GENEROUS, HARSH, NOISY, BLIND)


@dataclass(frozen=True)
class Design:
    """A run: clusters, cases in each, the usual share of successes, and the cases that people judge."""

    clusters: int = 40
    cases: int = 5
    successes: float = 0.5
    verdicts: int = 60
    has_strata: bool = True
    """Whether verdicts are drawn by what the judge said; else the judge's opinion counts by a weight that is estimated."""


DESIGNS = (
    Design(verdicts=12),
    Design(verdicts=30),
    Design(),
    Design(verdicts=100),
    Design(verdicts=200),
    Design(clusters=200, cases=1),
    Design(clusters=12, cases=20),
    Design(clusters=6, cases=40, verdicts=100),
    Design(successes=0.05),
    Design(successes=0.05, verdicts=100),
    Design(verdicts=12, has_strata=False),
    Design(verdicts=30, has_strata=False),
    Design(verdicts=100, has_strata=False),
    Design(clusters=12, cases=20, verdicts=30, has_strata=False),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=2000, help="of each design and judge")
    parser.add_argument("--quick", action="store_true", help="200 of each")
    asked = parser.parse_args()
    count = 200 if asked.quick else asked.runs
    print(f"Standard error of a coverage of 0.95: {(0.95 * 0.05 / count) ** 0.5:.3f}\n")
    print(f"| clusters × cases | successes | verdicts | strata | people's alone | {' | '.join(judge.name for judge in JUDGES)} |")
    print("|---" * (5 + len(JUDGES)) + "|")
    for design in DESIGNS:
        print(measure_coverage(design, count), flush=True)
    print("\n| judges of A and B | clusters × cases | verdicts | difference | holds | bias of the judges | of the corrected |")
    print("|---|---|---|---|---|---|---|")
    for judges in ((ACCURATE, ACCURATE), (ACCURATE, GENEROUS), (HARSH, GENEROUS), (NOISY, NOISY)):
        for design in (Design(), Design(clusters=12, cases=20), Design(clusters=200, cases=1, verdicts=100)):
            print(measure_difference(design, judges, count), flush=True)
    print("\n| drawn by, corrected with | 30 verdicts | 40 | 60 | 100 |")
    print("|---|---|---|---|---|")
    for judges in ((GENEROUS, HARSH), (HARSH, GENEROUS), (GENEROUS, ACCURATE), (NOISY, GENEROUS), (GENEROUS, BLIND)):
        print(measure_other_judge(judges, count), flush=True)
    print("\n| judge | planned ± | verdicts | found ± |")
    print("|---|---|---|---|")
    for judge in JUDGES:
        print(measure_plan(judge, max(20, count // 10)), flush=True)


def measure_coverage(design: Design, count: int) -> str:
    """A row of the first table, over ``count`` runs by each judge: how often corrected limits hold, width, the judge's own."""
    truth = find_truth(design.successes)
    cells, alone = [], []
    for judge in JUDGES:
        corrected, judged = [], []
        for seed in range(count):
            generator = np.random.default_rng(seed)
            units = play(design, judge, generator)
            corrected.append(correct_mean(ask(units, design.verdicts, generator)))
            judged.append(estimate_mean([unit.predicted for unit in units], [unit.cluster for unit in units]))
            asked = [units[place] for place in generator.permutation(len(units))[: design.verdicts]]
            alone.append(estimate_mean([require(unit.given) for unit in asked], [unit.cluster for unit in asked]))
        own = measure_holding(judged, truth)
        cells.append(f"{measure_holding(corrected, truth):.3f}, {measure_width(corrected):.2f} ({own:.2f})")
    named = [f"{design.clusters} × {design.cases}", f"{design.successes:g}", str(design.verdicts)]
    named += ["yes" if design.has_strata else "no", f"{measure_width(alone):.2f}"]
    return f"| {' | '.join([*named, *cells])} |"


def measure_difference(design: Design, judges: Sequence[Judge], count: int) -> str:
    """A row of the second table: B succeeds more often than A, in the same clusters; each is judged by its own judge."""
    shares = (0.5, 0.6)
    truth = find_truth(shares[1]) - find_truth(shares[0])
    found, judged = [], []
    for seed in range(count):
        generator = np.random.default_rng(seed)
        deviations = generator.standard_normal(design.clusters)
        played = [
            play(replace(design, successes=each), judge, generator, deviations)
            for each, judge in zip(shares, judges, strict=True)
        ]
        found.append(correct_difference(*(ask(units, design.verdicts, generator) for units in played)))
        first, second = (fmean(unit.predicted for unit in units) for units in played)
        judged.append(second - first)
    bias = fmean(require(each.value) for each in found) - truth
    names = ", ".join(judge.name for judge in judges)
    cells = [names, f"{design.clusters} × {design.cases}", str(design.verdicts), f"{truth:.3f}"]
    return f"| {' | '.join([*cells, *(f'{x:.3f}' for x in (measure_holding(found, truth), fmean(judged) - truth, bias))])} |"


def measure_other_judge(judges: Sequence[Judge], count: int) -> str:
    """A row of the third table: verdicts were drawn by what one judge said, and correct what another says later."""
    first, later = judges
    cells = [f"{first.name}, {later.name}"]
    for verdicts in (30, 40, 60, 100):
        found = []
        for seed in range(count):
            generator = np.random.default_rng([2, seed])  # no other table has these runs
            units = play(Design(verdicts=verdicts), first, generator)
            truths = [require(unit.given) > 0 for unit in units]
            errs = generator.random(len(units)) < np.where(truths, later.too_strict, later.too_kind)
            said = [replace(unit, predicted=float(win)) for unit, win in zip(units, (truths ^ errs).tolist(), strict=True)]
            found.append(correct_mean(ask(said, verdicts, generator)))
        cells.append(f"{measure_holding(found, find_truth(0.5)):.3f}, {measure_width(found):.2f}")
    return f"| {' | '.join(cells)} |"


def measure_plan(judge: Judge, count: int) -> str:
    """A row of the fourth table: the precision that a plan without any verdict promises, and what its verdicts give."""
    wanted, verdicts, found = 0.12, [], []
    for seed in range(count):
        generator = np.random.default_rng(seed)
        units = play(Design(), judge, generator)
        strata = {unit.stratum for unit in units}
        guesses = {name: 0.25 if "disputed" in name else 0.16 for name in strata}
        plan = plan_verdicts([replace(unit, given=None) for unit in units], wanted, guesses, {})
        found.append(correct_mean(draw(units, plan.verdicts, generator)))
        verdicts.append(sum(plan.verdicts.values()))
    return f"| {judge.name} | {wanted:g} | {fmean(verdicts):.0f} | {measure_width(found) / 2:.3f} |"


@cache
def find_truth(successes: float) -> float:
    """The share of successes over all clusters there could be."""
    return float(make_shares(successes, np.random.default_rng(0).standard_normal(ENDLESS)).mean())


def make_shares(successes: float, deviations: Floats) -> Floats:
    shares: Floats = 1 / (1 + (1 - successes) / successes * np.exp(-SPREAD * deviations))
    return shares


def play(design: Design, judge: Judge, generator: np.random.Generator, deviations: Floats | None = None) -> list[JudgedUnit]:
    """A run that judge and people have judged in full. Half of the errors of the judge are disputed, and a tenth of the rest."""
    deviations = generator.standard_normal(design.clusters) if deviations is None else deviations
    shares = np.repeat(make_shares(design.successes, deviations), design.cases)
    right = generator.random(len(shares)) < shares
    errs = generator.random(len(shares)) < np.where(right, judge.too_strict, judge.too_kind)
    disputed = generator.random(len(shares)) < np.where(errs, 0.5, 0.1)
    said = right ^ errs
    return [
        JudgedUnit(
            str(place),
            str(place // design.cases),
            f"{win}{', disputed' * doubt}" if design.has_strata else "",
            float(win),
            float(truth),
        )
        for place, (win, doubt, truth) in enumerate(zip(said.tolist(), disputed.tolist(), right.tolist(), strict=True))
    ]


def ask(units: Sequence[JudgedUnit], count: int, generator: np.random.Generator) -> list[JudgedUnit]:
    """The run as it is when people judge ``count`` cases, as many of each stratum as there can be."""
    sizes = Counter(unit.stratum for unit in units)
    taken = dict.fromkeys(sizes, 0)
    for _ in range(min(count, len(units))):
        taken[min((name for name in sorted(sizes) if taken[name] < sizes[name]), key=taken.__getitem__)] += 1
    return draw(units, taken, generator)


def draw(units: Sequence[JudgedUnit], taken: Mapping[str, int], generator: np.random.Generator) -> list[JudgedUnit]:
    left = dict(taken)
    found = list(units)
    for place in generator.permutation(len(units)):
        unit = units[place]
        if left[unit.stratum] == 0:
            found[place] = replace(unit, given=None)
        else:
            left[unit.stratum] -= 1
    return found


def measure_holding(found: Sequence[Interval], truth: float) -> float:
    return fmean(require(each.low) <= truth <= require(each.high) for each in found)


def measure_width(found: Sequence[Interval]) -> float:
    return fmean(require(each.high) - require(each.low) for each in found)


def require(number: float | None) -> float:
    assert number is not None
    return number


if __name__ == "__main__":
    main()
