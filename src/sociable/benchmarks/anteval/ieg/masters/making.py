"""Masters made one by one, here or by workers elsewhere, and kept in the run's folder wherever they were made."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from sociable.benchmarks.anteval.ieg.masters.interface import (
    MADE_OF,
    MasterKind,
    Predictions,
    digest_training,
    find_master,
    read_made_of,
)
from sociable.benchmarks.anteval.ieg.windows import Window
from sociable.core.errors import InputError
from sociable.core.run_folder import write_atomically
from sociable.core.spreading import Spread, work_here

Files = Mapping[str, bytes]
"""The files of a saved master, by their place in its folder; none where it was not saved."""


@dataclass(frozen=True)
class Making:
    """All that a master is made of, and what it is to read."""

    kind: MasterKind
    windows: Sequence[Window] | None
    """The windows to learn from; None for the base."""
    seed: int
    purpose: str
    test: Sequence[Window]
    """The windows to read."""
    keep: Path | None
    """The folder in which it is kept, and may be already."""
    take: Path | None
    """The folder of a master of another run, which may be the same."""


@dataclass(frozen=True)
class Made:
    """What became of it."""

    predicted: Predictions
    """What the master found in the windows that it was to read."""
    taken_over: bool = False
    """Whether it is that of another run."""


def make_masters(asked: Sequence[Making], spread: Spread) -> Iterator[Made]:
    """Makes each master, unless it was made of the same before, keeps it, and has it read; in order."""
    if spread is work_here or any(each.kind.at_home for each in asked):
        yield from map(_make, asked)
        return
    sent = (_Sent(each, _read_files(each, each.keep), _read_files(each, each.take)) for each in asked)
    made_elsewhere = spread(_make_elsewhere, sent, on_gpu=any(each.kind.on_gpu for each in asked))
    for each, (made, files) in zip(asked, made_elsewhere, strict=True):
        if each.keep is not None and files:
            _write_files(each.keep, files)
        yield made


def _make(asked: Making) -> Made:
    kind, windows, keep = asked.kind, asked.windows, asked.keep
    if windows is None:
        return Made(kind.make_untrained(keep).predict(asked.test))
    of = digest_training(kind, windows, asked.seed)
    if known := find_master(kind, of, keep, keep):
        return Made(known.predict(asked.test))
    if known := find_master(kind, of, asked.take, keep):
        return Made(known.predict(asked.test), taken_over=True)
    master = kind.train(windows, asked.seed, asked.purpose, keep)
    if keep is not None:
        master.made_of["of"] = of
        master.save(keep)
    return Made(master.predict(asked.test))


@dataclass(frozen=True)
class _Sent:
    """A ``Making`` with the files of its folders, which a worker cannot see."""

    asked: Making
    keep: Files
    take: Files


def _make_elsewhere(sent: _Sent) -> tuple[Made, Files]:
    """The same in a folder of a worker's own, whose files then go to the driver."""
    # Sums must not depend on how many threads share them.
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        keep, take = Path(folder, "keep"), Path(folder, "take")
        _write_files(keep, sent.keep)
        _write_files(take, sent.take)
        asked = replace(sent.asked, keep=keep, take=take)
        return _make(asked), _read_files(asked, keep)


def _read_files(asked: Making, folder: Path | None) -> Files:
    """The files of the master in a folder, if it was made of the same."""
    try:
        if folder is None or asked.windows is None:
            return {}
        if read_made_of(folder).get("of") != digest_training(asked.kind, asked.windows, asked.seed):
            return {}
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    except (InputError, OSError):
        # Another can be trained.
        return {}


def _write_files(folder: Path, files: Files) -> None:
    """Writes a saved master, and last what says that it is whole."""
    for place in sorted(files, key=lambda place: place == MADE_OF):
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        if place == MADE_OF:
            write_atomically(folder / place, files[place].decode())
        else:
            (folder / MADE_OF).unlink(missing_ok=True)
            (folder / place).write_bytes(files[place])
