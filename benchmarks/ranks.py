"""How often ranges of ranks hold, over models whose true order is known: see README.md here.

    python benchmarks/ranks.py [--quick] [--runs 1000]

Models play the same cases. Clusters differ in difficulty for all, and single models are better or worse in single clusters.
A range is wrong where it leaves out a rank that its model truly has; of equal models each truly has every rank that they share.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sociable.statistics.conclusions import Contrasted, draw_conclusions
from sociable.statistics.paired import choose_sign_flips, compare_paired
from sociable.statistics.ranks import RankRange, find_better, rank

COMMON, OWN = 0.8, 0.5
"""Standard deviations in logits: of a cluster's difficulty for all models, and of a model's own part in a cluster."""

COLUMNS = 3
"""The columns of the leaderboard, of which this is one: for so many pairs it has flips enough."""


@dataclass(frozen=True)
class Design:
    """The models' abilities in logits, and the cases that they play."""

    abilities: Sequence[float]
    clusters: int = 40
    cases: int = 4


DESIGNS = {
    "5 equal": Design((0.0,) * 5),
    "5 equal, 12 clusters": Design((0.0,) * 5, clusters=12, cases=10),
    "8 equal": Design((0.0,) * 8),
    "5 a little apart": Design((0.0, 0.2, 0.4, 0.6, 0.8)),
    "two groups": Design((0.0, 0.0, 0.0, 1.0, 1.0, 1.0)),
    "5 far apart": Design((-2.0, -1.0, 0.0, 1.0, 2.0)),
    "one of 4 ahead, one case a cluster": Design((0.0, 0.0, 0.0, 1.0), clusters=100, cases=1),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=1000, help="of each design")
    parser.add_argument("--quick", action="store_true", help="50 of each")
    asked = parser.parse_args()
    count = 50 if asked.quick else asked.runs
    print(f"Standard error of a share of 0.95: {(0.95 * 0.05 / count) ** 0.5:.3f}\n")
    print("| models | clusters × cases | all ranges hold | ranks in a range | of |\n|---|---|---|---|---|")
    for name, design in DESIGNS.items():
        ranges = [play(design, seed) for seed in range(count)]
        held = np.mean([are_right(each, design.abilities) for each in ranges])
        width = np.mean([own.worst - own.best + 1 for each in ranges for own in each.values()])
        print(f"| {name} | {design.clusters} × {design.cases} | {held:.3f} | {width:.2f} | {len(design.abilities)} |", flush=True)


def play(design: Design, seed: int) -> Mapping[str, RankRange]:
    """The ranges from one draw of clusters and cases; models are named after their places in the design."""
    generator = np.random.default_rng([3, seed])
    common = COMMON * generator.standard_normal(design.clusters)
    cases = [f"{cluster}:{case}" for cluster in range(design.clusters) for case in range(design.cases)]
    clusters = {case: case.partition(":")[0] for case in cases}
    scores = {}
    for place, ability in enumerate(design.abilities):
        logits = np.repeat(ability + common + OWN * generator.standard_normal(design.clusters), design.cases)
        right = generator.random(len(cases)) < 1 / (1 + np.exp(-logits))
        scores[str(place)] = dict(zip(cases, map(float, right), strict=True))
    names = sorted(scores, key=lambda name: -sum(scores[name].values()))
    pairs = list(combinations(names, 2))
    flips = choose_sign_flips(COLUMNS * len(pairs))
    found = [compare_paired(scores[a], scores[b], clusters, replicates=1, sign_flips=flips) for a, b in pairs]
    drawn = draw_conclusions([Contrasted(each.p_value, each.spread, 0.5) for each in found])
    return rank(names, find_better(zip(pairs, (each.difference for each in found), drawn, strict=True)))


def are_right(ranges: Mapping[str, RankRange], abilities: Sequence[float]) -> bool:
    """Whether no range leaves out a rank that its model truly has."""
    return all(
        own.best <= 1 + sum(other > abilities[int(name)] for other in abilities)
        and own.worst >= len(abilities) - sum(other < abilities[int(name)] for other in abilities)
        for name, own in ranges.items()
    )


if __name__ == "__main__":
    main()
