"""Ratings of models that have met in pairs: Bradley and Terry's model with ties and an advantage of the first seat.

Models A in the first seat and B in the second have abilities a and b, in logits. With d = a - b, the seat's advantage s and
the width of ties t > 0, and F(x) = 1 / (1 + exp(-x)):

    P(A wins) = F(d + s - t)        P(B wins) = F(-d - s - t)        P(tie) = the rest

Source: Bradley and Terry 1952, "Rank analysis of incomplete block designs", Biometrika 39; Rao and Kupper 1967, "Ties in
paired-comparison experiments", JASA 62, for the ties. It is the proportional-odds model of McCullagh 1980, in which the seat
moves both thresholds. Chosen rather than Davidson 1970, whose ties are as natural: here a tie is what it is in a duel, a
difference too small to count; its likelihood is concave, hence has one maximum; and other programs fit it, to compare with.

A prior of a few imaginary bouts keeps everything finite when somebody wins every time, and says how sure one can be then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import exp, log, sqrt

import numpy as np

from sociable.core.errors import InputError
from sociable.statistics.intervals import CONFIDENCE, FEWEST_CLUSTERS, Floats, Interval

POINTS_PER_LOGIT = 400 / log(10)
"""The scale is that of chess: who is 400 points ahead has ten times the other's odds."""

AVERAGE_POINTS = 1000.0
"""The points of the anchor; without an anchor, of the average participant."""

IMAGINARY_SCENES = 2.0
"""Scenes that every model is taken to have played against an average one, in both seats, every result a third of the time.

Two scenes are four bouts: two won and two lost, ties counting as half of each, as Agresti and Coull 1998 ("Approximate is better
than 'exact'", American Statistician 52) add to a proportion so that its interval holds near 0 and 1 too. Among the 48 bouts of
the smallest tournament they draw a difference in by two to nine hundredths, a large one more; among several opponents by less.
"""

RESAMPLES = 2000
RESAMPLES_AT_ONCE = 250
"""Resamples that are fitted together: some tens of megabytes for twenty models."""

_MOST_STEPS = 100
_LEAST_DRAWN = 0.5
"""A smaller prior is not drawn: gamma weights of so few bouts are mostly 0 to a computer."""
_LEAST_WEIGHT = 1e-6
"""The weight of an imaginary bout that is drawn: with it no resample has ratings that are infinite to a computer."""
_LONGEST_STEP = 4.0
"""The longest step of the search, in logits."""
_CLOSE_ENOUGH = 1e-10
"""Twice the log likelihood that another step would gain."""


@dataclass(frozen=True, slots=True)
class Bout:
    """One meeting of two models in a scene. ``outcome`` is the result of whoever sits in the first seat: 1, .5 or 0."""

    scene: str
    first: str
    second: str
    outcome: float


@dataclass(frozen=True, slots=True)
class Rating:
    """One model's rating. ``logits`` and ``points`` are the same on two scales, relative to the anchor or to the average.

    The data allow every rank from ``best_rank`` to ``worst_rank``, 1 being the top; None where nothing has limits.
    """

    model: str
    logits: Interval
    points: Interval
    best_rank: int | None
    worst_rank: int | None


@dataclass(frozen=True, slots=True)
class Difference:
    """``better``'s rating less ``worse``'s, in points, and the chances of the next bout, the seats drawn by lot.

    ``is_sure``: whether the sign holds at 95% for all pairs of the tournament at once.
    """

    better: str
    worse: str
    points: Interval
    win: float
    tie: float
    is_sure: bool


@dataclass(frozen=True, slots=True)
class Ratings:
    """All that bouts say about models. ``models`` are in order of rating, ``differences`` one for each pair.

    ``seat`` is the first seat's advantage in points; ``tie`` the share of ties between equals, in [0, 1].
    """

    models: tuple[Rating, ...]
    differences: tuple[Difference, ...]
    seat: Interval
    tie: Interval
    bouts: int
    scenes: int
    anchor: str = ""

    @property
    def has_limits(self) -> bool:
        """Whether there were scenes enough for intervals."""
        return self.seat.low is not None


def rate(bouts: Iterable[Bout], *, anchor: str = "", seed: int = 0, imaginary: float = IMAGINARY_SCENES) -> Ratings:
    """Ratings by penalised maximum likelihood, with 95% limits from resampling scenes.

    Source: see above for the model. Limits: Davison and Hinkley 1997, "Bootstrap Methods and their Application", section 3.8
    (whole clusters are drawn), with percentiles taken further out for few clusters (Hesterberg 2015, "What teachers should know
    about the bootstrap", American Statistician 69). The imaginary bouts are drawn as well, with gamma weights (Rubin 1981, "The
    Bayesian bootstrap"), else somebody who won every bout would seem known exactly. Ranks: Mogstad, Romano, Shaikh and Wilhelm
    2024, "Inference for ranks with applications to mobility across neighbourhoods and academic achievement across countries",
    Review of Economic Studies 91: a model is surely better than another where their difference is further from 0 than the largest
    studentised error over all pairs is in 95% of the resamples; that corrects for the number of pairs. Errors are studentised on
    each side by its own spread, since whoever wins nearly always has limits that are far from even.

    Args:
        bouts: in any order; a scene may hold any number of them and is what intervals resample.
        anchor: the model that has 1000 points, exactly; empty: the average has.
        seed: fixes the resamples.
        imaginary: the weight of the prior, in scenes a model, above 0. Towards 0 it becomes plain maximum likelihood, which is
            infinite where a model has won or lost every time.

    Returns:
        Limits and ranks are None where there are fewer than 8 scenes. One more win never lowers a model where every pair meets as
        often in both seats.

    Raises:
        InputError: no bouts, an outcome that is not 1, .5 or 0, a model against itself, models that never met even indirectly,
            or an unknown anchor.
    """
    played = sorted(bouts, key=lambda bout: (bout.scene, bout.first, bout.second, bout.outcome))
    _check(played, anchor)
    table = _Table.count(played, imaginary)
    fit = _maximise(table, table.add_up(np.ones((1, table.scenes))), None)
    resampled = _resample(table, fit, seed) if table.scenes >= FEWEST_CLUSTERS else None
    return _describe(table, fit[0], resampled, anchor, len(played))


def find_groups(bouts: Iterable[Bout]) -> list[list[str]]:
    """The groups of models that have met, directly or through others; the largest first, models in order of name.

    Ratings compare only within a group.
    """
    from scipy.sparse.csgraph import connected_components  # type: ignore[import-untyped]

    pairs = {(bout.first, bout.second) for bout in bouts}
    models = sorted({model for pair in pairs for model in pair})
    met = np.zeros((len(models), len(models)))
    for first, second in pairs:
        met[models.index(first), models.index(second)] = 1
    count, labels = connected_components(met, directed=False)
    groups = [[model for model, label in zip(models, labels, strict=True) if label == group] for group in range(count)]
    return sorted(groups, key=lambda group: (-len(group), group))


def _check(bouts: Sequence[Bout], anchor: str) -> None:
    if not bouts:
        raise InputError("There is no bout to rate anybody by: play at least one scene.")
    for bout in bouts:
        if bout.outcome not in (0, 0.5, 1):
            raise InputError(f"Scene {bout.scene}: the outcome {bout.outcome!r} is not 1, 0.5 or 0.")
        if bout.first == bout.second:
            raise InputError(f"Scene {bout.scene}: {bout.first} meets itself, which says nothing.")
    groups = find_groups(bouts)
    if len(groups) > 1:
        apart = "; ".join(", ".join(group) for group in groups)
        raise InputError(f"Models that never met, not even through others, cannot be compared: {apart}. Let them meet.")
    if anchor and anchor not in groups[0]:
        raise InputError(f"The anchor {anchor} has played no bout; there are: {', '.join(groups[0])}.")


@dataclass(frozen=True)
class _Table:
    """How bouts ended: all that the likelihood needs. Parameters are n-1 contrasts of abilities, which sum to 0; s; t."""

    models: Sequence[str]
    contrasts: Floats
    """[n, n-1], orthonormal: abilities are ``contrasts @ parameters``."""
    rows: Floats
    """[2P, K]: what F is taken of, for each ordered pair: the win's threshold, then for each the loss's."""
    counts: Floats
    """[scenes, P - imaginary ones, 3]: wins, ties and losses of the first seat."""
    imaginary: float

    @property
    def scenes(self) -> int:
        return len(self.counts)

    @classmethod
    def count(cls, bouts: Sequence[Bout], imaginary: float) -> _Table:
        models = sorted({model for bout in bouts for model in (bout.first, bout.second)})
        scenes = {scene: place for place, scene in enumerate(dict.fromkeys(bout.scene for bout in bouts))}
        pairs = {pair: place for place, pair in enumerate(sorted({(bout.first, bout.second) for bout in bouts}))}
        counts = np.zeros((len(scenes), len(pairs), 3))
        for bout in bouts:
            counts[scenes[bout.scene], pairs[bout.first, bout.second], round(2 - 2 * bout.outcome)] += 1
        one_each = np.eye(len(models))
        differences = [one_each[models.index(first)] - one_each[models.index(second)] for first, second in pairs]
        # The imaginary opponent is the average, 0: the models sit in the first seat, then in the second.
        abilities = np.array([*differences, *one_each, *-one_each])
        contrasts = np.linalg.qr(one_each - 1 / len(models))[0][:, :-1]
        signs = np.ones((len(abilities), 1))
        halves = [np.hstack([abilities @ contrasts, signs, side * signs]) for side in (-1, 1)]
        return cls(models, contrasts, np.vstack(halves), counts, imaginary)

    def add_up(self, weights: Floats, imagined: Floats | None = None) -> Floats:
        """[B, P, 3]: results in resamples that count each scene as often as ``weights`` [B, scenes] say.

        ``imagined`` [B, 2n, 3] weights the imaginary bouts: the model in the first seat, then in the second.
        """
        real = (weights @ self.counts.reshape(self.scenes, -1)).reshape(len(weights), -1, 3)
        each = np.ones((len(weights), 2 * len(self.models), 3)) if imagined is None else imagined
        return np.concatenate([real, each * self.imaginary / 3], axis=1)


def _maximise(table: _Table, counts: Floats, start: Floats | None) -> Floats:
    """[B, K]: the parameters at which the likelihood of each of ``counts`` [B, P, 3] is greatest, by Newton's method."""
    rows = table.rows
    products = (rows[:, :, None] * rows[:, None, :]).reshape(len(rows), -1)
    found = np.zeros((len(counts), rows.shape[1]))
    found[:, -1] = 0.5
    if start is not None:
        found[:] = start
    value, slope, bend = _evaluate(found, counts, rows, products)
    for _ in range(_MOST_STEPS):
        # The trace on the diagonal leaves the maximum where it is, and the step finite where hardly anything is known.
        step = np.linalg.solve(bend + 1e-12 * np.eye(bend.shape[-1]), slope[..., None])[..., 0]
        gain = (step * slope).sum(axis=1)
        if (gain < _CLOSE_ENOUGH).all():
            return found
        # t stays above 0, and nobody goes where F cannot be told from 1 and has no slope.
        ahead = np.where(step[:, -1] < 0, 0.9 * found[:, -1] / np.maximum(-step[:, -1], 1e-300), 1.0)
        length = np.minimum.reduce([ahead, np.ones(len(step)), _LONGEST_STEP / np.maximum(np.abs(step).max(axis=1), 1e-300)])
        while True:
            tried = found + length[:, None] * step
            value_there, slope_there, bend_there = _evaluate(tried, counts, rows, products)
            worse = value_there < value - 1e-9 * np.abs(value)
            if not worse.any():
                break
            length[worse] /= 2
        found, value, slope, bend = tried, value_there, slope_there, bend_there
    raise FloatingPointError(f"ratings are not settled after {_MOST_STEPS} steps")


def _evaluate(parameters: Floats, counts: Floats, rows: Floats, products: Floats) -> tuple[Floats, Floats, Floats]:
    """(log likelihood [B], its gradient [B, K], its negated second derivatives [B, K, K]).

    F(u) - F(l) = F(u) F(-l) (1 - exp(l - u)), and u - l = 2t: so a bout is a logistic regression at each of its thresholds,
    beside one term for all ties.
    """
    from scipy.special import expit, log_expit  # type: ignore[import-untyped]

    wins, ties, losses = np.moveaxis(counts, -1, 0)
    above, below = np.concatenate([wins, ties], axis=1), np.concatenate([ties, losses], axis=1)
    lines = parameters @ rows.T
    rising, tied = expit(lines), ties.sum(axis=1)
    shrunk, left = np.exp(-2 * parameters[:, -1]), -np.expm1(-2 * parameters[:, -1])
    value = (above * log_expit(lines) + below * log_expit(-lines)).sum(axis=1) + tied * np.log(left)
    slope = (above - (above + below) * rising) @ rows
    slope[:, -1] += tied * 2 * shrunk / left
    bend = (((above + below) * rising * (1 - rising)) @ products).reshape(len(parameters), rows.shape[1], -1)
    bend[:, -1, -1] += tied * 4 * shrunk / left**2
    return value, slope, bend


def _resample(table: _Table, fit: Floats, seed: int) -> Floats:
    """[RESAMPLES, K]: the parameters in resamples of scenes and of imaginary bouts."""
    return np.concatenate([_maximise(table, counts, fit) for counts in _draw(table, seed)])


def _draw(table: _Table, seed: int) -> Iterator[Floats]:
    generator = np.random.default_rng(seed)
    shares = np.full(table.scenes, 1 / table.scenes)
    for _ in range(0, RESAMPLES, RESAMPLES_AT_ONCE):
        weights = generator.multinomial(table.scenes, shares, size=RESAMPLES_AT_ONCE).astype(np.float64)
        imagined = None
        if table.imaginary >= _LEAST_DRAWN:
            # Mean 1, and together, over both seats and all results, as varied as so many scenes of exponential weight.
            worth = table.imaginary / 6
            drawn = generator.gamma(worth, 1 / worth, size=(RESAMPLES_AT_ONCE, 2 * len(table.models), 3))
            imagined = np.maximum(drawn, _LEAST_WEIGHT)
        yield table.add_up(weights, imagined)


def _describe(table: _Table, fit: Floats, resampled: Floats | None, anchor: str, bouts: int) -> Ratings:
    models, freedom = table.models, table.scenes - 1
    both = fit[None] if resampled is None else np.vstack([fit, resampled])
    # The first line is the fit itself, the others are the resamples.
    abilities = both[:, :-2] @ table.contrasts.T
    abilities = abilities - (abilities[:, [models.index(anchor)]] if anchor else 0)
    pairs = list(combinations(range(len(models)), 2))
    apart = np.array([abilities[:, first] - abilities[:, second] for first, second in pairs]).T
    sure = _find_sure_pairs(apart, freedom)
    better = np.zeros((len(models), len(models)), dtype=bool)
    for (first, second), difference, is_sure in zip(pairs, apart[0], sure, strict=True):
        better[(first, second) if difference > 0 else (second, first)] = is_sure
    ranked = sorted(range(len(models)), key=lambda place: (-abilities[0, place], models[place]))
    ranks = [(1 + int(better[:, place].sum()), len(models) - int(better[place].sum())) for place in range(len(models))]
    known = resampled is not None
    rated = [
        Rating(
            models[place],
            _make_interval(abilities[:, place], freedom),
            _make_interval(AVERAGE_POINTS + POINTS_PER_LOGIT * abilities[:, place], freedom),
            *(ranks[place] if known else (None, None)),
        )
        for place in ranked
    ]
    order = {place: number for number, place in enumerate(ranked)}
    differences = []
    for number, (first, second) in enumerate(pairs):
        ahead, behind, sign = (first, second, 1) if order[first] < order[second] else (second, first, -1)
        difference = sign * apart[:, number]
        win, loss = (_average_over_seats(float(way * difference[0]), fit) for way in (1, -1))
        points = _make_interval(POINTS_PER_LOGIT * difference, freedom)
        differences.append(Difference(models[ahead], models[behind], points, win, 1 - win - loss, bool(sure[number])))
    seat = _make_interval(POINTS_PER_LOGIT * both[:, -2], freedom)
    # Between equals F(t) - F(-t) = tanh(t / 2), the seats' advantage aside.
    tie = _make_interval(np.tanh(both[:, -1] / 2), freedom)
    return Ratings(tuple(rated), tuple(differences), seat, tie, bouts, table.scenes, anchor)


def _average_over_seats(difference: float, fit: Floats) -> float:
    """The chance to win of a model that is so much better, the seats drawn by lot."""
    seat, width = float(fit[-2]), float(fit[-1])
    return sum(1 / (1 + exp(-(difference + side - width))) for side in (seat, -seat)) / 2


def _widen(freedom: int) -> float:
    """How many standard errors a 95% limit is away: Student's quantile, and a resample's variance lacks C / (C - 1)."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + CONFIDENCE) / 2)) * sqrt((freedom + 1) / freedom)


def _make_interval(values: Floats, freedom: int) -> Interval:
    """An interval from the estimate, which comes first, and its resamples; without limits where there are none."""
    from scipy.special import ndtr

    if len(values) == 1:
        return Interval(float(values[0]))
    tail = float(ndtr(-_widen(freedom)))
    low, high = np.quantile(values[1:], [tail, 1 - tail])
    # The prior's bouts are skewed: a quantile may just miss the value.
    return Interval(float(values[0]), min(float(low), float(values[0])), max(float(high), float(values[0])))


def _find_sure_pairs(apart: Floats, freedom: int) -> list[bool]:
    """Whether each pair's difference, [1 + resamples, pairs], has a sure sign, at 95% for all pairs at once."""
    from scipy.special import ndtr, ndtri

    value, errors = apart[0], apart[1:] - apart[0]
    if not len(errors):
        return [False] * len(value)
    # The distance that is a standard error where errors are normal.
    below, above = np.maximum(np.abs(np.quantile(errors, [float(ndtr(-1)), float(ndtr(1))], axis=0)), 1e-12)
    largest = np.quantile(np.maximum(errors / above, -errors / below).max(axis=1), CONFIDENCE)
    limit = float(largest) * _widen(freedom) / float(ndtri((1 + CONFIDENCE) / 2))
    return [bool(sure) for sure in np.abs(value) > limit * np.where(value > 0, below, above)]
