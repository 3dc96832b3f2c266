"""Real sessions: read, or played in their place, and split into those that a virtual DM learns from and those it is tested on.

They are CRD3's transcripts, FIREBALL's events, or a user's own logs as JSON Lines. Where there are none, sessions of the
expressive agent stand in for them, so that everything can be tried.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import Path

from platformdirs import user_cache_dir

from sociable.benchmarks.anteval.characters import load_sheets
from sociable.benchmarks.anteval.ieg.interop.crd3 import find_crd3, list_episodes, read_crd3
from sociable.benchmarks.anteval.ieg.interop.fireball import is_fireball, read_fireball
from sociable.benchmarks.anteval.ieg.logs import Imported, Log
from sociable.benchmarks.anteval.ieg.protocol import load_ieg_prompts, run_session
from sociable.benchmarks.anteval.ieg.records import PAPER_SESSIONS, STAND_IN, IegOptions
from sociable.benchmarks.anteval.ieg.scenario import Marginals, count_marginals, draw_scenarios, make_log
from sociable.benchmarks.anteval.ieg.windows import Window, cut_windows
from sociable.benchmarks.anteval.rules import DATA, load_rules
from sociable.core.data_files import load_items, make_cut, read_records
from sociable.core.errors import DataError, InputError, StorageFailure
from sociable.core.run_folder import write_atomically
from sociable.core.seeding import make_generator
from sociable.engine.event_loop import run_to_end
from sociable.engine.seats import Role, Seat, Seats
from sociable.models.protocol import Sampling

STAND_IN_SESSIONS = 90
STAND_IN_SEED = 777_777
EVEN = Marginals(dict.fromkeys(load_rules().skills, 1), {1: 6, 2: 3, 3: 1})
"""Every skill as often as any other; mostly one player who means to do something."""
FEW_SESSIONS = 40
"""Real sessions below which a virtual DM learns little (measured on CRD3)."""
FEW_HELD_OUT = 5
_EXPECTED = (
    "Expected a folder of CRD3's cleaned transcripts (files such as C1E001.json), a file of FIREBALL's events, or your own logs "
    "as JSON Lines, each with id, players, turns and calls."
)


@dataclass(frozen=True)
class RealSessions:
    logs: tuple[Log, ...]
    source: str
    """A description of the sessions, in words."""
    counts: dict[str, int]
    """The number of calls that were found, and of those dropped, by reason."""
    digest: str


def load_real_sessions(options: IegOptions) -> RealSessions:
    """The real sessions that the options name, or what stands in for them. Raises InputError and DataError."""
    if options.real is None:
        raise InputError(
            "anteval-ieg needs sessions of real players: --real FOLDER of CRD3's cleaned transcripts, a file of "
            f"FIREBALL's events, or your own logs as JSON Lines. To try it out without: --real {STAND_IN}."
        )
    if options.real == STAND_IN:
        alike = IegOptions(**options.model_dump(include={"turns", "players", "quiet", "windows"}))
        return RealSessions(play_stand_in_sessions(alike), STAND_IN, {}, STAND_IN)
    return read_real_sessions(Path(options.real))


@lru_cache(4)
def play_stand_in_sessions(options: IegOptions) -> tuple[Log, ...]:
    """Sessions out of the half of the agent's lines that agents under test do not use: nothing is known by heart."""
    drawn = draw_scenarios(load_sheets(None).items, STAND_IN_SESSIONS, EVEN, options, STAND_IN_SEED)
    prompts = load_ieg_prompts()
    seats = Seats(Seat(Role.SUBJECT, "reference/expressive", None, Sampling()))

    async def play() -> list[Log]:
        return [make_log(each, await run_session(each, 0, seats, prompts, seed=STAND_IN_SEED, half=1)) for each in drawn]

    return tuple(run_to_end(play()))


def read_real_sessions(path: Path) -> RealSessions:
    """The sessions in a file or folder. Raises InputError or DataError where none can be read, or none has a call in it."""
    if not path.exists():
        raise InputError(f"real = {path}: no such file or folder. {_EXPECTED}")
    if folder := find_crd3(path):
        found, source = _read_once(list_episodes(folder), lambda: read_crd3(folder)), "CRD3"
    elif any(is_fireball(first.value) for first in islice(read_records(path, None), 1)):
        files = sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]
        found, source = _read_once(files, lambda: read_fireball(path)), "FIREBALL"
    else:
        found, source = _read_own(path), "logs"
    if not any(log.calls for log in found.logs):
        raise InputError(f"real = {path}: no call for a skill check in it. {_EXPECTED}")
    digest = hashlib.sha256("\n".join(log.model_dump_json() for log in found.logs).encode("utf-8", "replace")).hexdigest()
    return RealSessions(found.logs, source, found.counts, digest)


def _read_once(files: Sequence[Path], read: Callable[[], Imported]) -> Imported:
    """What ``read`` makes of the files: looking for calls takes long, so what was found is kept in the user's cache.

    It is known again by the files' content and by the code that reads them. Nothing is kept where nothing can be.
    """
    own = Path(__file__).parent
    code = [*sorted((own / "interop").glob("*.py")), own / "calls.py", own / "logs.py", DATA / "crd3_people.json"]
    digest = hashlib.sha256()
    for file in (*code, *files):
        with file.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
        digest.update(file.name.encode("utf-8", "replace"))
    kept = Path(user_cache_dir("sociable")) / "sessions" / f"{digest.hexdigest()}.json"
    with contextlib.suppress(OSError, ValueError):
        return Imported.model_validate_json(kept.read_bytes())
    found = read()
    with contextlib.suppress(OSError, StorageFailure):
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(kept, found.model_dump_json())
    return found


def _read_own(path: Path) -> Imported:
    """A user's own logs."""
    expected = "logs, each with id, players, turns and calls"
    try:
        logs = load_items(path, path, make_cut(Log), skip_invalid=False, expected=expected).items
    except DataError as error:
        raise DataError(error.place, error.field, f"{error.problem}. (Read as a log of your own. {_EXPECTED})") from None
    calls = [call for log in logs for call in log.calls]
    counts = {
        "attributed": sum(bool(call.before and call.checks) for call in calls),
        "dropped: nothing was said before": sum(not call.before for call in calls),
        "for nobody": sum(bool(call.before and not call.checks) for call in calls),
    }
    return Imported(logs=logs, counts={reason: count for reason, count in counts.items() if count})


@dataclass(frozen=True)
class SplitSessions:
    """``real`` sessions with a call for a check in them: for ``training``, and ``held_out`` for testing."""

    real: RealSessions
    training: Sequence[Log]
    held_out: Sequence[Log]
    options: IegOptions

    @cached_property
    def training_windows(self) -> Sequence[Window]:
        return cut_windows(self.training, self.options.window)

    @property
    def sessions_to_play(self) -> int:
        """The number asked for; by default as many as there are real windows to learn from, at most the authors' number."""
        windows = sum(bool(window.checks) for window in self.training_windows)
        return self.options.sessions or min(PAPER_SESSIONS, round(windows * (1 + self.options.quiet)))

    @property
    def marginals(self) -> Marginals:
        """The distributions from which intentions are drawn: of the real training windows only."""
        return EVEN if self.real.source == STAND_IN else count_marginals(self.training_windows)

    def list_notes(self) -> Iterator[str]:
        """The notes on the real sessions that a reader must know."""
        real, width = self.real, self.options.window
        if real.source == STAND_IN:
            yield (
                "The real sessions are stand-ins: reference players, out of lines that the agents under test do not use. "
                "G says nothing here about real people."
            )
            return
        training, held_out = (cut_windows(logs, width) for logs in (self.training, self.held_out))
        dropped = [(reason.removeprefix("dropped: "), count) for reason, count in real.counts.items() if "dropped" in reason]
        lost = f" Calls dropped: {', '.join(f'{count} ({reason})' for reason, count in dropped)}." if dropped else ""
        none = len(real.logs) - len(self.training) - len(self.held_out)
        without = f" {none} without a call are left out." if none else ""
        # Nobody could know who is meant there.
        unheard = sum(any(who not in window.players for who, _ in window.checks) for window in [*training, *held_out])
        unknown = f" {unheard} are for somebody who says nothing in the {width} turns before." if unheard else ""
        yield (
            f"Real sessions: {len(real.logs)} of {real.source}, {len(self.training)} for training ({len(training)} calls for "
            f"checks), {len(self.held_out)} held out ({len(held_out)}).{without}{lost}{unknown}"
        )
        if real.source == "CRD3":
            yield (
                "The paper's real sessions are not public; these are transcripts of a show (CRD3), with labels found by rule: "
                "G is not comparable with the paper's."
            )
        few = [f"{len(self.training)} to learn from"] if len(self.training) < FEW_SESSIONS else []
        few += [f"{len(self.held_out)} held out"] if len(self.held_out) < FEW_HELD_OUT else []
        if few:
            narrow = f"; with fewer than {FEW_HELD_OUT} held out intervals are too narrow" if self.options.resamples else ""
            yield (
                f"Few real sessions: {' and '.join(few)}. Below some {FEW_SESSIONS} episodes the DM tuned on them "
                f"may be no better than the untuned one{narrow}."
            )


def split_sessions(real: RealSessions, options: IegOptions, seed: int) -> SplitSessions:
    """Splits the sessions that have a call in them, at least one on each side. Raises InputError where there are too few."""
    called = [log for log in real.logs if any(window.checks for window in cut_windows([log], options.window))]
    if len(called) < 2:
        raise InputError(
            f"{options.real}: a call for a check that follows something said is in {len(called)} of its {len(real.logs)} "
            "sessions. At least two are needed: what a virtual DM is tested on must be held out from what it learns."
        )
    count = min(max(round(options.held_out * len(called)), 1), len(called) - 1)
    tested = set(make_generator(seed, "held out").sample([log.id for log in called], count))
    training, held_out = ([log for log in called if (log.id in tested) is side] for side in (False, True))
    return SplitSessions(real, training, held_out, options)
