"""The results of an experiment with virtual dungeon masters: plain records, kept in a run's folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Any

from sociable.benchmarks.anteval.ieg.records import MASTERS_FOLDER
from sociable.core.records import Record
from sociable.core.run_folder import write_atomically

KINDS = ("character", "tuple")
"""Kinds of F-score: for who acts; for who acts and with which skill."""


class Predictor(StrEnum):
    """A predictor, which says of held-out windows who is to make which checks; named as in metrics."""

    BASE = "f_0"
    """The base of the virtual DMs, without tuning."""
    GENERATED = "f_g"
    REAL = "f_r"
    """The DMs tuned on generated and on real sessions."""
    SHUFFLED = "shuffled"
    """The DM tuned on generated sessions with shuffled labels."""
    LAST = "last speaker"
    """The baseline that reads nothing."""

    def name_f_metric(self, kind: str) -> str:
        return f"{self}/{kind}"


CONTROLS = {
    Predictor.REAL: (Predictor.BASE, Predictor.LAST),
    Predictor.GENERATED: (Predictor.BASE, Predictor.LAST, Predictor.SHUFFLED),
}
"""What each tuned DM must do better than, to have learned something."""


class Bounds(Record):
    """A figure with its interval; None where there is none."""

    value: float | None = None
    low: float | None = None
    high: float | None = None


class Figures(Record):
    """The F-scores of one predictor on the held-out windows."""

    character: Bounds = Bounds()
    tuple: Bounds = Bounds()
    character_macro: Bounds = Bounds()
    tuple_macro: Bounds = Bounds()


class CurvePoint(Record):
    master: str
    windows: int
    character: float | None
    tuple: float | None


class Confusion(Record):
    """The counts of a tuned master's predictions, by the skill called for and the skill it said; and of whom it picked."""

    master: str
    skills: dict[str, dict[str, int]]
    who: dict[str, int]


class Results(Record):
    """All that came of one experiment."""

    trained_on: int
    """Windows, the same number for both."""
    tested_on: int
    real_sessions: tuple[int, int]
    """The numbers of sessions for training and for testing."""
    generated_sessions: int
    taken_over: tuple[str, ...] = ()
    """Masters of another run, tuned on the very same."""
    retrained: bool
    """Whether intervals come from training again, and not only from other held-out sessions."""
    resamples: int
    figures: dict[str, Figures]
    masked: dict[str, Figures]
    """The same with the names of skills taken out of all windows."""
    gaps: dict[str, Bounds]
    """``character``, ``tuple``, and each with ``signed `` before it; with `` masked`` behind it."""
    margins: dict[str, Bounds] = {}
    """By ``name_margin_metric``: the F-score of a tuned DM less that of a control."""
    floor: dict[str, Bounds] = {}
    """By kind, G of real sessions as if they had been generated: two halves of the training sessions against one another. The
    value is the mean over several ways of halving them; low and high are between which 95% of them lie."""
    shares: dict[str, Bounds] = {}
    """By kind, how far G has come on the way from the floor (0) to that of the DM with shuffled labels (1)."""
    drawn: dict[str, tuple[float | None, ...]]
    """The value in each resample, by metric (``f_g/character``, ``g/tuple``, …): runs on the same real sessions drew the same."""
    curve: tuple[CurvePoint, ...]
    confusion: tuple[Confusion, ...]
    unseen: tuple[str, ...]
    """Skills called for in the held-out sessions that no training window has, by master."""


def name_gap_metric(kind: str) -> str:
    return f"g/{kind}"


def name_margin_metric(master: Predictor, control: Predictor, kind: str) -> str:
    return f"{master} over {control}/{kind}"


def find_results(folder: Path, made_of: Any, run: Callable[[], Results | None]) -> Results | None:
    """The results that a run's folder keeps, if they were found on the same; or what ``run`` finds, which is kept.

    ``made_of`` is all that the results depend on, as JSON.
    """
    of = hashlib.sha256(json.dumps(made_of).encode()).hexdigest()
    kept = read_results(folder)
    if kept is not None and kept[0] == of:
        return kept[1]
    results = run()
    (folder / MASTERS_FOLDER).mkdir(exist_ok=True)
    found = {"of": of, "results": results.model_dump(mode="json") if results else None}
    write_atomically(folder / MASTERS_FOLDER / "results.json", json.dumps(found, indent=1) + "\n")
    return results


def read_results(folder: Path) -> tuple[str, Results | None] | None:
    """(what they were found on, the results) of a run; None where there are none that can be read."""
    try:
        raw = json.loads((folder / MASTERS_FOLDER / "results.json").read_text(encoding="utf-8"))
        return str(raw["of"]), Results.model_validate(raw["results"]) if raw["results"] else None
    except (OSError, ValueError, KeyError, TypeError):
        # Whatever stands there, or nothing, it can be found again.
        return None
