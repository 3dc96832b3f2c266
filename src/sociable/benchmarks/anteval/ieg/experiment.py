"""The experiment behind G (section 4.2): two virtual dungeon masters from one base, tuned on equally many windows, and tested on
held-out real sessions only.

Beside them stand the base itself (f_0), the last speaker with the most frequent skill, and a control tuned on generated
windows whose labels were shuffled among them: what it knows is the prior, not the play. How near real sessions are to one
another says the floor: G of one half of those for training, as if it had been generated, against the other.

Intervals are by half-sampling: DMs are trained again on random halves of the sessions, real and generated, drawn without
replacement, and the deviations from their mean are laid about the value (McCarthy 1969; with halves a delete-d jackknife, Shao
and Wu 1989, needs no scaling). Sessions drawn with replacement would be fewer different ones, and every draw a little worse.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from sociable.benchmarks.anteval.ieg.fscore import FScores, measure_f_scores, measure_gap, measure_signed_gap
from sociable.benchmarks.anteval.ieg.logs import Log
from sociable.benchmarks.anteval.ieg.masters.interface import Master, MasterKind, Predictions
from sociable.benchmarks.anteval.ieg.masters.making import Made, Making, make_masters
from sociable.benchmarks.anteval.ieg.real import SplitSessions
from sociable.benchmarks.anteval.ieg.results import (
    CONTROLS,
    KINDS,
    Bounds,
    Confusion,
    CurvePoint,
    Figures,
    Predictor,
    Results,
    name_gap_metric,
    name_margin_metric,
)
from sociable.benchmarks.anteval.ieg.windows import Window, count_skills, cut_windows, draw_quiet_windows, mask_skills
from sociable.core.errors import InputError
from sociable.core.seeding import derive_seed, make_generator
from sociable.core.spreading import Spread, work_here

T = TypeVar("T")

TUNED = (Predictor.GENERATED, Predictor.REAL)
CURVE = (0.125, 0.25, 0.5, 1.0)
"""Shares of the training windows at which f is measured."""
CURVE_DRAWS = 3
FLOOR_DRAWS = 20
"""Ways in which the real sessions are halved."""
CONFIDENCE = 0.95

Draws = Sequence[Mapping[Predictor, FScores]]
"""The F-scores of each resample."""


def run_experiment(
    generated: Sequence[Sequence[Log]],
    sessions: SplitSessions,
    kind: MasterKind,
    seed: int,
    keep: Path | None = None,
    begin: Callable[[int], Callable[[], None]] = lambda _steps: lambda: None,
    spread: Spread = work_here,
) -> Results | None:
    """The results. ``generated``: the sessions played, by scenario. None where there is no window to train or test on.

    Masters are saved in the folder ``keep``; those in it, or of the run that the options name, are used again where they were
    tuned on the very same.
    ``begin`` is told how many steps there are, and gives what is called after each. Masters are made, and drawn halves worked
    on, wherever ``spread`` has a processor. Raises InputError where there are too few
    windows for such masters.
    """
    # Sums must not depend on how many threads share them.
    with threadpool_limits(1):
        experiment = _Experiment(kind, generated, sessions, seed, keep, spread)
        made, real, test = experiment.made, experiment.real, experiment.test
        size, options = experiment.size, sessions.options
        if not size or not test:
            return None
        if size < kind.fewest:
            raise InputError(
                f"A {kind.name} virtual DM needs {kind.fewest} windows or more to be tuned on, and there are {size} for each. "
                "Have more sessions played, or add real ones."
            )
        has_curve, has_floor = options.curve and kind.quick, kind.quick and options.resamples > 0
        experiment.step = begin(2 + 2 * options.resamples + has_floor + (len(TUNED) * len(CURVE) if has_curve else 0))
        masked = experiment.mask()
        asked, masked_asked = experiment.list_makings(), masked.list_makings()
        made_masters = make_masters([*asked.values(), *masked_asked.values()], spread)
        predicted, masked_predicted = experiment.predict(asked, made_masters), masked.predict(masked_asked, made_masters)
        found, draws = experiment.measure(predicted)
        masked_found, masked_draws = masked.measure(masked_predicted)
        floor = experiment.measure_floor() if has_floor else {}
        return Results(
            trained_on=size,
            tested_on=len(test),
            real_sessions=(len(sessions.training), len(sessions.held_out)),
            generated_sessions=sum(map(len, generated)),
            taken_over=tuple(experiment.taken_over),
            retrained=kind.quick and bool(draws),
            resamples=len(draws),
            figures=_bound_figures(found, draws),
            masked=_bound_figures(masked_found, masked_draws),
            gaps=_bound_gaps(found, draws) | _bound_gaps(masked_found, masked_draws, " masked"),
            margins=_bound_margins(found, draws),
            floor=floor,
            shares={key: _bound_share(key, floor[key], found, draws) for key in floor},
            drawn=_list_draws(found, draws),
            curve=tuple(experiment.measure_curve()) if has_curve else (),
            confusion=tuple(count_confusion(name, predicted[name], test) for name in TUNED),
            unseen=tuple(
                f"{name}: {', '.join(lacking)}"
                for name, windows in zip(TUNED, (made, real), strict=True)
                if (lacking := sorted(count_skills(test).keys() - count_skills(windows)))
            ),
        )


@dataclass
class _Experiment:
    """The windows of an experiment, and the steps that are taken on them: as they are, or with the names of skills masked."""

    kind: MasterKind
    generated: Sequence[Sequence[Log]]
    sessions: SplitSessions
    seed: int
    keep: Path | None
    spread: Spread
    suffix: str = ""
    """Stands behind the names of masters."""
    step: Callable[[], None] = lambda: None
    taken_over: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        width, quiet = self.sessions.options.window, self.sessions.options.quiet
        # By identity: sessions of different sources may have the same names.
        self.windows = {id(log): cut_windows([log], width) for log in chain(*self.generated)}
        # Real sessions have quiet windows for each with a call as well: as many in all, and each time the same.
        due = 0.0
        for log in (*self.sessions.training, *self.sessions.held_out):
            called = cut_windows([log], width)
            before, due = round(due), due + quiet * sum(bool(window.checks) for window in called)
            draw = make_generator(self.seed, "quiet", log.id)
            self.windows[id(log)] = called + draw_quiet_windows(log, width, round(due) - before, draw)
        self._find_sets()

    def _find_sets(self) -> None:
        self.made = self.find_windows(chain(*self.generated))
        self.real = self.find_windows(self.sessions.training)
        self.test = self.find_windows(self.sessions.held_out)
        self.size = min(len(self.made), len(self.real))

    def find_windows(self, logs: Iterable[Log]) -> list[Window]:
        """The windows of these logs: of each log, however often it was drawn, the same."""
        return [window for log in logs for window in self.windows[id(log)]]

    def mask(self) -> _Experiment:
        """The same with the names of skills taken out of all windows."""
        other = object.__new__(_Experiment)
        other.__dict__.update(self.__dict__)
        other.suffix = " masked"
        other.windows = {log: [mask_skills(window) for window in windows] for log, windows in self.windows.items()}
        other._find_sets()
        return other

    def __getstate__(self) -> dict[str, Any]:
        """What a worker needs: identities are others there, and the run's folder is not."""
        logs = {id(log): log for log in chain(*self.generated, self.sessions.training, self.sessions.held_out)}
        pairs = [(logs[log], windows) for log, windows in self.windows.items()]
        return {**self.__dict__, "windows": pairs, "keep": None, "spread": work_here, "step": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, windows={id(log): windows for log, windows in state["windows"]})

    def list_makings(self) -> dict[Predictor, Making]:
        """What the masters are made of that read the held-out windows."""
        shuffled = shuffle_labels(self.made, make_generator(self.seed, "shuffled"))
        learned = {Predictor.GENERATED: self.made, Predictor.REAL: self.real, Predictor.SHUFFLED: shuffled}
        return {
            name: Making(
                kind=self.kind,
                windows=self._draw_subset(learned[name], self.size, name) if name in learned else None,
                seed=self.seed,
                purpose=f"{name}{self.suffix}",
                test=self.test,
                keep=self._find_folder(self.keep, name),
                take=self._find_folder(self.sessions.options.masters_folder, name),
            )
            for name in (Predictor.BASE, *learned)
        }

    def predict(self, asked: Mapping[Predictor, Making], made: Iterator[Made]) -> dict[Predictor, Predictions]:
        """The predictions of every predictor on the held-out windows, of which masters are the next to be ``made``."""
        predicted = {}
        for name, making in asked.items():
            master = next(made)
            predicted[name] = master.predicted
            self.taken_over += [making.purpose] * master.taken_over
        predicted[Predictor.LAST] = predict_last_speaker(self.test, find_most_frequent_skill(self.real))
        self.step()
        return predicted

    def _find_folder(self, folder: Path | None, name: str) -> Path | None:
        return folder / f"{name}{self.suffix}".replace(" ", "-") if folder is not None else None

    def _draw_subset(self, windows: Sequence[Window], size: int, *names: str | int) -> list[Window]:
        """``size`` of the windows, drawn by seed."""
        places = make_generator(self.seed, "subset", *names).sample(range(len(windows)), min(size, len(windows)))
        return [windows[place] for place in sorted(places)]

    def measure(self, predicted: Mapping[Predictor, Predictions]) -> tuple[dict[Predictor, FScores], Draws]:
        """(the F-scores of these predictions, those of every resample)."""
        draws = self._resample() if self.kind.quick else self._test_again(predicted)
        return {name: _score(found, self.test) for name, found in predicted.items()}, list(draws)

    def _resample(self) -> Iterator[dict[Predictor, FScores]]:
        """Every predictor on halves of the sessions, all three kinds of them, trained anew each time.

        A scenario is drawn with all the sessions played of it: repeats are no new cases.
        """
        for found in self.spread(self._score_draw, range(self.sessions.options.resamples)):
            self.step()
            if found:
                yield found

    def _score_draw(self, draw: int) -> dict[Predictor, FScores]:
        """The F-scores of one draw; none where it has no window to train or test on."""
        generator = make_generator(self.seed, "resample", draw)
        # Real sessions first: another model's run draws the same.
        split = (self.sessions.training, self.sessions.held_out)
        real, test = (self.find_windows(_draw_half(logs, draw, generator)) for logs in split)
        made = self.find_windows(chain(*_draw_half(self.generated, draw, generator)))
        size = min(len(made), len(real))
        if not size or not test:
            return {}
        shuffled = shuffle_labels(made, make_generator(self.seed, "shuffled", draw))
        # Sums must not depend on how many threads share them, in a worker's process either.
        with threadpool_limits(1):
            found = {
                Predictor.BASE: self.kind.make_untrained().predict(test),
                Predictor.LAST: predict_last_speaker(test, find_most_frequent_skill(real)),
            }
            for name, windows in ((Predictor.GENERATED, made), (Predictor.REAL, real), (Predictor.SHUFFLED, shuffled)):
                found[name] = self._train_quickly(windows, size, name, draw).predict(test)
        return {name: _score(predicted, test) for name, predicted in found.items()}

    def _train_quickly(self, windows: Sequence[Window], size: int, name: str, *draw: str | int) -> Master:
        """A master for one draw, which is not kept."""
        return self.kind.train(self._draw_subset(windows, size, name, *draw), derive_seed(self.seed, *draw) % 2**31, name)

    def measure_floor(self) -> dict[str, Bounds]:
        """By kind, the mean of G over ways of halving the real sessions for training, and where 95% of them lie."""
        gaps: dict[str, list[float]] = {kind: [] for kind in KINDS}
        for draw in range(min(FLOOR_DRAWS, self.sessions.options.resamples)):
            logs = make_generator(self.seed, "floor", draw).sample(self.sessions.training, len(self.sessions.training))
            halves = [self.find_windows(logs[start::2]) for start in (0, 1)]
            size = min(map(len, halves))
            if not size:
                continue
            masters = (self._train_quickly(half, size, f"floor {place}", draw) for place, half in enumerate(halves))
            found = [_score(master.predict(self.test), self.test) for master in masters]
            for kind, known in gaps.items():
                if (gap := measure_gap(*(getattr(each, kind) for each in found))) is not None:
                    known.append(gap)
        self.step()
        return {kind: _describe_spread(known) for kind, known in gaps.items()}

    def _test_again(self, predicted: Mapping[Predictor, Predictions]) -> Iterator[dict[Predictor, FScores]]:
        """The same predictions on halves of the held-out sessions, where training again is too dear."""
        places: dict[str, list[int]] = {}
        for place, window in enumerate(self.test):
            places.setdefault(window.session, []).append(place)
        for draw in range(self.sessions.options.resamples):
            sessions = _draw_half(sorted(places), draw, make_generator(self.seed, "resample", draw))
            drawn = [place for session in sessions for place in places[session]]
            self.step()
            windows = [self.test[place] for place in drawn]
            yield {name: _score([found[place] for place in drawn], windows) for name, found in predicted.items()}

    def measure_curve(self) -> Iterator[CurvePoint]:
        """f over the size of the training set, each the mean over a few draws."""
        for name, windows in zip(TUNED, (self.made, self.real), strict=True):
            for share in CURVE:
                size = max(round(share * len(windows)), 1)
                found = []
                for draw in range(1 if share == 1.0 else CURVE_DRAWS):
                    master = self.kind.train(self._draw_subset(windows, size, name, "curve", draw), self.seed, name)
                    found.append(_score(master.predict(self.test), self.test))
                self.step()
                means = {kind: _average_known([getattr(each, kind) for each in found]) for kind in KINDS}
                yield CurvePoint(master=name, windows=size, **means)


def _draw_half(things: Sequence[T], draw: int, generator: random.Random) -> list[T]:
    """A random half; of an odd number one more in every second draw. One thing alone is always drawn."""
    return generator.sample(things, max((len(things) + draw % 2) // 2, 1))


def _score(predicted: Predictions, windows: Sequence[Window]) -> FScores:
    return measure_f_scores(predicted, [window.checks for window in windows])


def shuffle_labels(windows: Sequence[Window], generator: random.Random) -> list[Window]:
    """Each window with as many checks as it had, for players of its own drawn at random, with skills of other windows."""
    skills = [skill for window in windows for _, skill in sorted(window.checks)]
    generator.shuffle(skills)
    drawn = iter(skills)
    found = []
    for window in windows:
        count = len(window.checks)
        who = generator.sample(window.players, count) if count <= len(window.players) else list(window.players)
        found.append(replace(window, checks=frozenset((player, next(drawn)) for player in who)))
    return found


def find_most_frequent_skill(windows: Sequence[Window]) -> str:
    counts = count_skills(windows)
    return min(counts, key=lambda skill: (-counts[skill], skill)) if counts else ""


def predict_last_speaker(windows: Sequence[Window], skill: str) -> Predictions:
    """The baseline that reads nothing: by window its last speaker, with this skill."""
    spoke = ([turn.speaker for turn in window.turns if turn.speaker in window.players] for window in windows)
    return [frozenset((speaker, skill) for speaker in speakers[-1:]) for speakers in spoke]


def count_confusion(name: str, predicted: Predictions, windows: Sequence[Window]) -> Confusion:
    """Counts of which player a DM picked, and of which skill it named for those whom it picked rightly."""
    skills: dict[str, Counter[str]] = {}
    who: Counter[str] = Counter()
    for found, window in zip(predicted, windows, strict=True):
        said, called = dict(sorted(found)), dict(sorted(window.checks))
        who["picked, and meant"] += len(said.keys() & called.keys())
        who["picked, and not meant"] += len(said.keys() - called.keys())
        who["meant, and not picked"] += len(called.keys() - said.keys())
        for player in called.keys() & said.keys():
            skills.setdefault(called[player], Counter())[said[player]] += 1
    return Confusion(master=name, skills=dict(sorted(skills.items())), who=who)


def _average_known(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _bound_figures(found: Mapping[Predictor, FScores], draws: Draws) -> dict[str, Figures]:
    """The figures of every predictor; not all are in every resample."""
    figures: dict[str, Figures] = {}
    for name, own in found.items():
        drawn = [draw[name] for draw in draws if name in draw]
        bounds = {
            figure: _bound(getattr(own, figure), [getattr(each, figure) for each in drawn]) for figure in Figures.model_fields
        }
        figures[name] = Figures(**bounds)
    return figures


def _measure_gaps(found: Mapping[Predictor, FScores]) -> dict[str, float | None]:
    gaps: dict[str, float | None] = {}
    for kind in KINDS:
        pair = getattr(found[Predictor.REAL], kind), getattr(found[Predictor.GENERATED], kind)
        gaps |= {kind: measure_gap(*pair), f"signed {kind}": measure_signed_gap(*pair)}
    return gaps


def _bound_gaps(found: Mapping[Predictor, FScores], draws: Draws, suffix: str = "") -> dict[str, Bounds]:
    drawn = [_measure_gaps(draw) for draw in draws]
    return {
        f"{name}{suffix}": _bound(gap, [each[name] for each in drawn], -1.0 if "signed" in name else 0.0)
        for name, gap in _measure_gaps(found).items()
    }


def _bound_margins(found: Mapping[Predictor, FScores], draws: Draws) -> dict[str, Bounds]:
    """The F-score of each tuned DM less that of each of its controls."""

    def measure(scores: Mapping[Predictor, FScores], master: Predictor, control: Predictor, kind: str) -> float | None:
        pair = getattr(scores[master], kind), getattr(scores[control], kind)
        return None if None in pair else pair[0] - pair[1]

    return {
        name_margin_metric(master, control, kind): _bound(
            measure(found, master, control, kind), [measure(draw, master, control, kind) for draw in draws], -1.0
        )
        for master, controls in CONTROLS.items()
        for control in controls
        for kind in KINDS
    }


def _bound_share(kind: str, floor: Bounds, found: Mapping[Predictor, FScores], draws: Draws) -> Bounds:
    """How far G has come from the floor to that of shuffled labels; None where shuffled labels are no further than the floor."""

    def measure(scores: Mapping[Predictor, FScores]) -> float | None:
        real = getattr(scores[Predictor.REAL], kind)
        own, control = (measure_gap(real, getattr(scores[each], kind)) for each in (Predictor.GENERATED, Predictor.SHUFFLED))
        if own is None or control is None or floor.value is None or control <= floor.value:
            return None
        return min(max((own - floor.value) / (control - floor.value), 0.0), 1.0)

    return _bound(measure(found), [measure(draw) for draw in draws])


def _list_draws(found: Mapping[Predictor, FScores], draws: Draws) -> dict[str, tuple[float | None, ...]]:
    generated, listed = Predictor.GENERATED, {}
    for kind in KINDS:
        scores = [getattr(draw[generated], kind) for draw in draws]
        listed[generated.name_f_metric(kind)] = _center(getattr(found[generated], kind), scores)
        listed[name_gap_metric(kind)] = _center(_measure_gaps(found)[kind], [_measure_gaps(draw)[kind] for draw in draws])
    return listed


def _center(value: float | None, draws: Sequence[float | None]) -> tuple[float | None, ...]:
    """The draws moved so that their mean is the value: DMs trained on halves are a little worse than those trained on all."""
    mean = _average_known(draws)
    return tuple(None if value is None or mean is None or draw is None else value + draw - mean for draw in draws)


def _bound(value: float | None, draws: Sequence[float | None], least: float = 0.0) -> Bounds:
    """The value with its interval: the percentiles of the draws laid about it, between ``least`` and 1."""
    known = [draw for draw in _center(value, draws) if draw is not None]
    if value is None or len(known) < 10 or max(known) - min(known) < 1e-12:
        # Where all draws are alike, they do not say how others would be.
        return Bounds(value=value)
    low, high = np.clip(np.quantile(known, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]), least, 1.0)
    return Bounds(value=value, low=float(low), high=float(high))


def _describe_spread(values: Sequence[float]) -> Bounds:
    """The mean of the values, and between which 95% of them lie."""
    if len(values) < 10:
        return Bounds(value=_average_known(values))
    low, high = np.quantile(values, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Bounds(value=_average_known(values), low=float(low), high=float(high))
