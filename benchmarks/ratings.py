"""How often the limits of ratings hold, on tournaments whose truth is known: see README.md here.

    python benchmarks/ratings.py [--quick] [--tournaments 1000]

In every scene each model is better or worse than usual, and so is the first seat: bouts of a scene depend on one another. The
truth is what the same model says of 20,000 such scenes.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sociable.statistics.intervals import Interval
from sociable.statistics.ratings import Bout, Ratings, rate

ENDLESS = 20_000
SEAT, WIDTH = 0.3, 0.4
"""The first seat's advantage, and what is too little to win by, in logits."""


@dataclass(frozen=True)
class Design:
    """Abilities in logits, number of scenes, and how much models and seats vary from scene to scene (standard deviations)."""

    abilities: tuple[float, ...]
    scenes: int
    model_spread: float = 0.0
    seat_spread: float = 0.0


DESIGNS = (
    Design((0.4, -0.4), 24),
    Design((0.4, -0.4), 24, 0.8, 0.8),
    Design((0.8, 0.3, -0.3, -0.8), 12, 0.8, 0.8),
    Design((0.8, 0.3, -0.3, -0.8), 24, 0.8, 0.8),
    Design((1.0, 0.5, 0.1, 0.0, -0.6, -1.0), 48),
    Design((1.0, 0.5, 0.1, 0.0, -0.6, -1.0), 48, 0.8, 0.8),
    Design((0.0, 0.0, 0.0, 0.0, 0.0, 0.0), 48, 0.8, 0.8),
    Design((3.0, 0.0, -0.5, -2.5), 24, 0.8, 0.8),
    Design((1.75, -1.75), 24, 0.8, 0.8),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tournaments", type=int, default=1000, help="of each design")
    parser.add_argument("--quick", action="store_true", help="100 of each design")
    asked = parser.parse_args()
    count = 100 if asked.quick else asked.tournaments
    print("| abilities | scenes | spread | ratings | differences | seat | ties | all ranks | no wrong order | ms |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for design in DESIGNS:
        print(measure_coverage(design, count), flush=True)


def measure_coverage(design: Design, count: int) -> str:
    """A row of the table: the share of limits that hold, over ``count`` tournaments."""
    truth = rate(play(Design(design.abilities, ENDLESS, design.model_spread, design.seat_spread), 0), imaginary=1e-6)
    points = {rating.model: value(rating.points) for rating in truth.models}
    held: Counter[str] = Counter()
    seconds = 0.0
    for seed in range(1, count + 1):
        bouts = play(design, seed)
        began = time.perf_counter()
        found = rate(bouts, seed=seed)
        seconds += time.perf_counter() - began
        held["ratings"] += sum(holds(rating.points, points[rating.model]) for rating in found.models)
        gaps = [(each, points[each.better] - points[each.worse]) for each in found.differences]
        held["differences"] += sum(holds(each.points, gap) for each, gap in gaps)
        held["orders"] += not any(each.is_sure and gap < 0 for each, gap in gaps)
        held["seat"] += holds(found.seat, value(truth.seat))
        held["tie"] += holds(found.tie, value(truth.tie))
        held["ranks"] += has_true_ranks(found, design)
    models = len(design.abilities)
    pairs = models * (models - 1) // 2
    shares = [
        held["ratings"] / models,
        held["differences"] / pairs,
        *(held[name] for name in ("seat", "tie", "ranks", "orders")),
    ]
    cells = [", ".join(f"{each:g}" for each in design.abilities), str(design.scenes), f"{design.model_spread:g}"]
    return f"| {' | '.join([*cells, *(f'{share / count:.3f}' for share in shares), f'{1000 * seconds / count:.0f}'])} |"


def play(design: Design, seed: int) -> list[Bout]:
    """Every pair in every scene, twice."""
    generator = np.random.default_rng(seed)
    models = len(design.abilities)
    here = np.array(design.abilities) + design.model_spread * generator.standard_normal((design.scenes, models))
    seat = SEAT + design.seat_spread * generator.standard_normal(design.scenes)
    found = []
    for first, second in [seats for pair in combinations(range(models), 2) for seats in (pair, pair[::-1])]:
        ahead = here[:, first] - here[:, second] + seat + generator.logistic(size=design.scenes)
        found += [
            Bout(str(scene), f"model {first}", f"model {second}", outcome) for scene, outcome in enumerate(judge(ahead).tolist())
        ]
    return found


def judge(ahead: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(np.abs(ahead) < WIDTH, 0.5, ahead > 0)


def has_true_ranks(found: Ratings, design: Design) -> bool:
    """Whether all ranges of ranks hold the true one; of equals any order is true."""
    for rating in found.models:
        own = design.abilities[int(rating.model.removeprefix("model "))]
        best = 1 + sum(other > own for other in design.abilities)
        worst = sum(other >= own for other in design.abilities)
        assert rating.best_rank is not None and rating.worst_rank is not None
        if not (rating.best_rank <= best and worst <= rating.worst_rank):
            return False
    return True


def holds(interval: Interval, truth: float) -> bool:
    assert interval.low is not None and interval.high is not None
    return interval.low <= truth <= interval.high


def value(interval: Interval) -> float:
    assert interval.value is not None
    return interval.value


if __name__ == "__main__":
    main()
