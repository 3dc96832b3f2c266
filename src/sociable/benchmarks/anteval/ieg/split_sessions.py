"""Real sessions, parted: those that a virtual DM learns from, and those that it is tested on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from sociable.benchmarks.anteval.ieg.intentions import Marginals, marginals_of
from sociable.benchmarks.anteval.ieg.logs import Log
from sociable.benchmarks.anteval.ieg.real import RealSessions
from sociable.benchmarks.anteval.ieg.records import PAPER_SESSIONS, STAND_IN, IegOptions
from sociable.benchmarks.anteval.ieg.stand_in import EVEN
from sociable.benchmarks.anteval.ieg.windows import Window, windows_of
from sociable.core.errors import InputError
from sociable.core.seeding import make_generator

FEW_SESSIONS = 40
"""Real sessions below which a virtual DM learns little (measured on CRD3)."""
FEW_HELD_OUT = 5


@dataclass(frozen=True)
class SplitSessions:
    """``real`` sessions with a call for a check in them: for ``training``, and ``held_out`` for testing."""

    real: RealSessions
    training: Sequence[Log]
    held_out: Sequence[Log]
    options: IegOptions

    @cached_property
    def training_windows(self) -> Sequence[Window]:
        return windows_of(self.training, self.options.window)

    @property
    def sessions_to_play(self) -> int:
        """As many as asked for; or as there are windows to learn from in the real sessions, at most the authors' number."""
        windows = sum(bool(window.checks) for window in self.training_windows)
        return self.options.sessions or min(PAPER_SESSIONS, round(windows * (1 + self.options.quiet)))

    @cached_property
    def marginals(self) -> Marginals:
        """What intentions are drawn from: the real training windows only."""
        return EVEN if self.real.source == STAND_IN else marginals_of(self.training_windows)

    def notes(self) -> Iterator[str]:
        """What a reader must know of the real sessions."""
        real, width = self.real, self.options.window
        if real.source == STAND_IN:
            yield (
                "The real sessions are stand-ins: reference players, out of lines that the agents under test do not use. "
                "G says nothing here about real people."
            )
            return
        calls = [len(windows_of(logs, width)) for logs in (self.training, self.held_out)]
        dropped = [(reason.removeprefix("dropped: "), count) for reason, count in real.counts.items() if "dropped" in reason]
        lost = f" Calls dropped: {', '.join(f'{count} ({reason})' for reason, count in dropped)}." if dropped else ""
        none = len(real.logs) - len(self.training) - len(self.held_out)
        without = f" {none} without a call are left out." if none else ""
        yield (
            f"Real sessions: {len(real.logs)} of {real.source}, {len(self.training)} for training ({calls[0]} calls for checks), "
            f"{len(self.held_out)} held out ({calls[1]}).{without}{lost}{self._unheard()}"
        )
        if real.source == "CRD3":
            yield (
                "The paper's real sessions are not public; these are transcripts of a show (CRD3), with labels found by rule: "
                "G is not comparable with the paper's."
            )
        few = [f"{len(self.training)} to learn from" if len(self.training) < FEW_SESSIONS else ""]
        few += [f"{len(self.held_out)} held out" if len(self.held_out) < FEW_HELD_OUT else ""]
        if any(few):
            yield (
                f"Few real sessions: {' and '.join(filter(None, few))}. Below some {FEW_SESSIONS} episodes the DM tuned on them "
                f"may be no better than the untuned one; with fewer than {FEW_HELD_OUT} held out intervals are too narrow."
            )

    def _unheard(self) -> str:
        """How often nobody could know who is meant."""
        windows = windows_of([*self.training, *self.held_out], self.options.window)
        count = sum(any(who not in window.players for who, _ in window.checks) for window in windows)
        return f" {count} are for somebody who says nothing in the {self.options.window} turns before." if count else ""


def split_sessions(real: RealSessions, options: IegOptions, seed: int) -> SplitSessions:
    """Parts the sessions that have a call in them, at least one on each side. Raises InputError where there are too few."""
    called = [log for log in real.logs if any(window.checks for window in windows_of([log], options.window))]
    if len(called) < 2:
        raise InputError(
            f"{options.real}: a call for a check that follows something said is in {len(called)} of its {len(real.logs)} "
            "sessions. At least two are needed: what a virtual DM is tested on must be held out from what it learns."
        )
    count = min(max(round(options.held_out * len(called)), 1), len(called) - 1)
    tested = set(make_generator(seed, "held out").sample([log.id for log in called], count))
    training, held_out = ([log for log in called if (log.id in tested) is side] for side in (False, True))
    return SplitSessions(real, training, held_out, options)
