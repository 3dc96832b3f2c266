"""Figures on what people have said of a run, worked out in a thread of their own while pages show the last ones."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sociable.api.results import load_result
from sociable.api.surveys import show_figures
from sociable.core.errors import SociableError
from sociable.core.view import Callout, Section, Tone
from sociable.engine.result import RunResult
from sociable.people.surveys import PersonState

SECONDS_BETWEEN = 3.0
"""The least time between two rounds of work on one run."""

_RESTS_ON = ("manifest.json", "scores.json", "judgments.jsonl", "episodes.jsonl", "references.jsonl")
_PEOPLE = ("people.jsonl", "ratings.jsonl", "words.jsonl", "sheets.jsonl")


@dataclass(frozen=True)
class Worked:
    """The sections on what everybody said, and on what those said who are not left out, where somebody is."""

    everybody: Sequence[Section] = ()
    without: Sequence[Section] = ()
    is_new: bool = False
    """Whether nothing was worked out yet."""


class Figures:
    """The figures of one run."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._worked = Worked(is_new=True)
        self._stamp: object = None
        self._is_busy = False
        self._begun = float("-inf")
        self._run: tuple[object, RunResult] | None = None

    def look(self, people: Sequence[PersonState]) -> Worked:
        """The last figures, at once; newer ones are worked out meanwhile if anything has changed."""
        left_out = frozenset(each.name for each in people if each.is_left_out)
        stamp = (_stamp(self._folder, (*_RESTS_ON, *_PEOPLE)), left_out)
        with self._lock:
            is_due = stamp != self._stamp and not self._is_busy and time.monotonic() >= self._begun + SECONDS_BETWEEN
            if is_due:
                self._is_busy, self._begun = True, time.monotonic()
                threading.Thread(target=self._work, args=(stamp, left_out), daemon=True).start()
            return self._worked

    def _work(self, stamp: object, left_out: frozenset[str]) -> None:
        try:
            run = self._load()
            worked = Worked(show_figures(run), show_figures(run, left_out) if left_out else ())
        except SociableError as error:
            worked = Worked([Section("People", [Callout(str(error), Tone.WARNING)])])
        finally:
            with self._lock:
                self._is_busy = False
        with self._lock:
            self._worked, self._stamp = worked, stamp

    def _load(self) -> RunResult:
        stamp = _stamp(self._folder, _RESTS_ON)
        if self._run is None or self._run[0] != stamp:
            self._run = (stamp, load_result(self._folder))
        return self._run[1]


def _stamp(folder: Path, names: Sequence[str]) -> object:
    """Something that is another once one of these files is."""
    states = [path.stat() if path.exists() else None for path in (folder / name for name in names)]
    return [(state.st_mtime_ns, state.st_size) if state else None for state in states]


@cache
def find_figures(folder: Path) -> Figures:
    """The figures of one run: one object for each."""
    return Figures(folder)
