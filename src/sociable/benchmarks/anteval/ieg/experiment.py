"""From sessions to G (section 4.2): two virtual dungeon masters from one base, tuned on equally many windows, and tested on
held-out real sessions only.

Beside them stand the base itself (f_0), the last speaker with the most frequent skill, and a control tuned on generated
windows whose labels were shuffled among them: what it knows is the prior, not the play. Intervals resample sessions, real and
generated, and train again.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from sociable.benchmarks.anteval.ieg.fscore import FScores, f_scores, gap, signed_gap
from sociable.benchmarks.anteval.ieg.logs import Log
from sociable.benchmarks.anteval.ieg.masters.interface import Master, MasterKind, Predictions, digest_training, find_master
from sociable.benchmarks.anteval.ieg.results import (
    BASE,
    GENERATED,
    KINDS,
    LAST,
    REAL,
    SHUFFLED,
    Bounds,
    Confusion,
    CurvePoint,
    Figures,
    Results,
    f_metric,
    gap_metric,
)
from sociable.benchmarks.anteval.ieg.windows import Window, masked, quiet_windows, windows_of
from sociable.core.errors import InputError
from sociable.core.seeding import make_generator

TUNED = (GENERATED, REAL)
CURVE = (0.125, 0.25, 0.5, 1.0)
"""Shares of the training windows at which f is measured."""
CURVE_DRAWS = 3
CONFIDENCE = 0.95


def run_experiment(
    generated: Sequence[Sequence[Log]],
    training: Sequence[Log],
    held_out: Sequence[Log],
    kind: MasterKind,
    *,
    width: int,
    quiet: float,
    resamples: int,
    curve: bool,
    seed: int,
    keep: Path | None = None,
    take: Path | None = None,
    begun: Callable[[int], Callable[[], None]] = lambda _steps: lambda: None,
) -> Results | None:
    """``generated``: by scenario the sessions played of it. None where there is no window to train or to test on.

    Masters are saved in the folder ``keep``; those in it, or in ``take``, that were tuned on the very same are used again.
    ``begun`` is told how many steps there are, and gives what is called after each. Raises InputError where there are too few
    windows for such masters.
    """
    # Sums must not depend on how many threads share them.
    with threadpool_limits(1):
        experiment = _Experiment(kind, width, seed, keep, take)
        experiment.add_quiet([*training, *held_out], quiet)
        made, real, test = (experiment.windows(logs) for logs in (_all(generated), training, held_out))
        size = min(len(made), len(real))
        if not size or not test:
            return None
        if size < kind.fewest:
            raise InputError(
                f"A {kind.name} virtual DM needs {kind.fewest} windows or more to be tuned on, and there are {size} for each. "
                "Have more sessions played, or add real ones."
            )
        curve = curve and kind.quick
        experiment.step = begun(2 + 2 * resamples + (len(TUNED) * len(CURVE) if curve else 0))
        predicted, labels = experiment.predicted(made, real, test, size), [window.checks for window in test]
        figures = {name: f_scores(found, labels) for name, found in predicted.items()}
        unnamed = [[masked(window) for window in windows] for windows in (made, real, test)]
        unnamed_predicted = experiment.predicted(unnamed[0], unnamed[1], unnamed[2], size, " masked")
        blind = {name: f_scores(found, labels) for name, found in unnamed_predicted.items()}
        if kind.quick:
            draws = list(experiment.resampled(generated, training, held_out, resamples))
            blind_draws = list(experiment.unnamed().resampled(generated, training, held_out, resamples))
        else:
            draws = list(experiment.tested_again(predicted, test, resamples))
            blind_draws = list(experiment.tested_again(unnamed_predicted, test, resamples))
        return Results(
            trained_on=size,
            tested_on=len(test),
            real_sessions=(len(training), len(held_out)),
            generated_sessions=len(_all(generated)),
            taken_over=tuple(experiment.taken_over),
            retrained=kind.quick and bool(draws),
            resamples=len(draws),
            figures={name: _figures(found, [draw[name] for draw in draws if name in draw]) for name, found in figures.items()},
            masked={name: _figures(found, [draw[name] for draw in blind_draws if name in draw]) for name, found in blind.items()},
            gaps={**_gaps(figures, draws), **{f"{name} masked": each for name, each in _gaps(blind, blind_draws).items()}},
            drawn=_drawn(draws),
            curve=tuple(experiment.curve(made, real, test)) if curve else (),
            confusion=tuple(confusion_of(name, predicted[name], test) for name in TUNED),
            unseen=tuple(
                f"{name}: {', '.join(lacking)}"
                for name, windows in ((GENERATED, made), (REAL, real))
                if (lacking := sorted(_skills(test) - _skills(windows)))
            ),
        )


class _Experiment:
    """What all steps share."""

    def __init__(self, kind: MasterKind, width: int, seed: int, keep: Path | None = None, take: Path | None = None) -> None:
        self.kind = kind
        self.width = width
        self.seed = seed
        self.keep = keep
        self.take = take
        self.step: Callable[[], None] = lambda: None
        self.taken_over: list[str] = []
        # Sessions of different sources may have the same names.
        self._of: dict[int, Sequence[Window]] = {}

    def add_quiet(self, logs: Sequence[Log], share: float) -> None:
        """Windows without a call for each with one, in these sessions: as many in all, and each time the same."""
        due = 0.0
        for log in logs:
            called = windows_of([log], self.width)
            before, due = round(due), due + share * sum(bool(window.checks) for window in called)
            draw = make_generator(self.seed, "quiet", log.id)
            self._of[id(log)] = [*called, *quiet_windows(log, self.width, round(due) - before, draw)]

    def windows(self, logs: Sequence[Log]) -> list[Window]:
        """Of each log, however often it was drawn, the same windows."""
        return [window for log in logs for window in self._of.setdefault(id(log), windows_of([log], self.width))]

    def unnamed(self) -> _Experiment:
        """The same with the names of skills taken out of all windows that have been looked at."""
        other = _Experiment(self.kind, self.width, self.seed)
        other.step = self.step
        other._of = {log: [masked(window) for window in windows] for log, windows in self._of.items()}
        return other

    def predicted(
        self,
        made: Sequence[Window],
        real: Sequence[Window],
        test: Sequence[Window],
        size: int,
        suffix: str = "",
    ) -> dict[str, Predictions]:
        """What every master says of the held-out windows."""
        shuffled = shuffled_labels(made, make_generator(self.seed, "shuffled"))
        sets = {GENERATED: made, REAL: real, SHUFFLED: shuffled}

        base = self._folder(self.keep, BASE, suffix)
        predicted: dict[str, Predictions] = {BASE: self.kind.untrained(base).predict(test)}
        for name, windows in sets.items():
            predicted[name] = self._master(name, self.subset(windows, size, name), suffix).predict(test)
        predicted[LAST] = last_speaker(test, most_frequent_skill(real))
        self.step()
        return predicted

    def _master(self, name: str, windows: Sequence[Window], suffix: str) -> Master:
        """One that was tuned on the same before, or a new one."""
        keep, take = (self._folder(folder, name, suffix) for folder in (self.keep, self.take))
        of = digest_training(self.kind, windows, self.seed)
        known = find_master(self.kind, of, keep, keep)
        if known is None and (known := find_master(self.kind, of, take, keep)):
            self.taken_over.append(f"{name}{suffix}")
        if known is not None:
            return known
        master = self.kind.train(windows, self.seed, f"{name}{suffix}", keep)
        if keep is not None:
            master.made_of["of"] = of
            master.save(keep)
        return master

    def _folder(self, folder: Path | None, name: str, suffix: str) -> Path | None:
        return folder / f"{name}{suffix}".replace(" ", "-") if folder is not None else None

    def subset(self, windows: Sequence[Window], size: int, *names: str | int) -> list[Window]:
        """``size`` of them, drawn by seed."""
        places = make_generator(self.seed, "subset", *names).sample(range(len(windows)), min(size, len(windows)))
        return [windows[place] for place in sorted(places)]

    def resampled(
        self, generated: Sequence[Sequence[Log]], training: Sequence[Log], held_out: Sequence[Log], count: int
    ) -> Iterator[dict[str, FScores]]:
        """f_0, f_g and f_r on sessions drawn with replacement, all three kinds of them, trained anew each time.

        A scenario is drawn with all the sessions played of it: repeats are no new cases.
        """
        for draw in range(count):
            generator = make_generator(self.seed, "resample", draw)
            # Real sessions first: another model's run draws the same.
            real, test = (self.windows(generator.choices(logs, k=len(logs))) for logs in (training, held_out))
            made = self.windows(_all(generator.choices(generated, k=len(generated))))
            size = min(len(made), len(real))
            self.step()
            if not size or not test:
                continue
            labels = [window.checks for window in test]
            found = {BASE: f_scores(self.kind.untrained().predict(test), labels)}
            for name, windows in ((GENERATED, made), (REAL, real)):
                master = self.kind.train(self.subset(windows, size, name, draw), self.seed + draw + 1, name)
                found[name] = f_scores(master.predict(test), labels)
            yield found

    def tested_again(self, predicted: dict[str, Predictions], test: Sequence[Window], count: int) -> Iterator[dict[str, FScores]]:
        """The same masters on held-out sessions drawn with replacement, where training again is too dear."""
        places: dict[str, list[int]] = {}
        for place, window in enumerate(test):
            places.setdefault(window.session, []).append(place)
        for draw in range(count):
            sessions = make_generator(self.seed, "resample", draw).choices(sorted(places), k=len(places))
            drawn = [place for session in sessions for place in places[session]]
            self.step()
            labels = [test[place].checks for place in drawn]
            yield {name: f_scores([found[place] for place in drawn], labels) for name, found in predicted.items()}

    def curve(self, made: Sequence[Window], real: Sequence[Window], test: Sequence[Window]) -> Iterator[CurvePoint]:
        """f over the size of the training set, each mean over a few draws."""
        labels = [window.checks for window in test]
        for name, windows in ((GENERATED, made), (REAL, real)):
            for share in CURVE:
                size = max(round(share * len(windows)), 1)
                draws = range(1 if share == 1.0 else CURVE_DRAWS)
                found = [
                    f_scores(
                        self.kind.train(self.subset(windows, size, name, "curve", draw), self.seed, name).predict(test), labels
                    )
                    for draw in draws
                ]
                self.step()
                yield CurvePoint(
                    master=name,
                    windows=size,
                    character=_mean([each.character for each in found]),
                    tuple=_mean([each.tuple for each in found]),
                )


def _all(groups: Sequence[Sequence[Log]]) -> list[Log]:
    return [log for group in groups for log in group]


def shuffled_labels(windows: Sequence[Window], generator: random.Random) -> list[Window]:
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


def most_frequent_skill(windows: Sequence[Window]) -> str:
    counts = Counter(skill for window in windows for _, skill in window.checks)
    return min(counts, key=lambda skill: (-counts[skill], skill)) if counts else ""


def last_speaker(windows: Sequence[Window], skill: str) -> Predictions:
    """The baseline that reads nothing."""
    found: Predictions = []
    for window in windows:
        last = next((turn.speaker for turn in reversed(window.turns) if turn.speaker in window.players), None)
        found.append(frozenset({(last, skill)}) if last is not None else frozenset())
    return found


def confusion_of(name: str, predicted: Predictions, windows: Sequence[Window]) -> Confusion:
    skills: dict[str, Counter[str]] = {}
    who: Counter[str] = Counter()
    for found, window in zip(predicted, windows, strict=True):
        said, called = dict(sorted(found)), dict(sorted(window.checks))
        who["picked, and meant"] += len(said.keys() & called.keys())
        who["picked, and not meant"] += len(said.keys() - called.keys())
        who["meant, and not picked"] += len(called.keys() - said.keys())
        for player in called.keys() & said.keys():
            skills.setdefault(called[player], Counter())[said[player]] += 1
    return Confusion(master=name, skills={skill: dict(each) for skill, each in sorted(skills.items())}, who=dict(who))


def _skills(windows: Sequence[Window]) -> set[str]:
    return {skill for window in windows for _, skill in window.checks}


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _figures(found: FScores, draws: Sequence[FScores]) -> Figures:
    def bounds(get: Callable[[FScores], float | None]) -> Bounds:
        return _bounds(get(found), [get(draw) for draw in draws])

    return Figures(
        character=bounds(lambda each: each.character),
        tuple=bounds(lambda each: each.tuple),
        character_macro=bounds(lambda each: each.character_macro),
        tuple_macro=bounds(lambda each: each.tuple_macro),
    )


def _gaps(found: dict[str, FScores], draws: Sequence[dict[str, FScores]]) -> dict[str, Bounds]:
    gaps = {}
    for what in KINDS:
        for label, of in ((what, gap), (f"signed {what}", signed_gap)):
            value, *drawn = (of(getattr(each[REAL], what), getattr(each[GENERATED], what)) for each in (found, *draws))
            gaps[label] = _bounds(value, drawn)
    return gaps


def _drawn(draws: Sequence[dict[str, FScores]]) -> dict[str, tuple[float | None, ...]]:
    found = {}
    for kind in KINDS:
        pairs = [(getattr(each[REAL], kind), getattr(each[GENERATED], kind)) for each in draws]
        found[f_metric(GENERATED, kind)] = tuple(generated for _, generated in pairs)
        found[gap_metric(kind)] = tuple(gap(real, generated) for real, generated in pairs)
    return found


def _bounds(value: float | None, draws: Sequence[float | None]) -> Bounds:
    """The percentiles of the draws, widened to the value: fewer different sessions make every draw a little worse."""
    known = [draw for draw in draws if draw is not None]
    if value is None or len(known) < 10:
        return Bounds(value=value)
    low, high = (float(each) for each in np.quantile(known, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]))
    if low == high == value:
        # Where all draws are alike, they do not say how others would be.
        return Bounds(value=value)
    return Bounds(value=value, low=min(low, value), high=max(high, value))
