"""Real sessions, wherever they come from: CRD3's transcripts, FIREBALL's events, or a user's own logs as JSON Lines."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from pydantic import ValidationError

from sociable.benchmarks.anteval.ieg.interop.crd3 import is_crd3, read_crd3
from sociable.benchmarks.anteval.ieg.interop.fireball import is_fireball, read_fireball
from sociable.benchmarks.anteval.ieg.logs import Imported, Log
from sociable.core.data_files import make_data_error, read_records
from sociable.core.errors import DataError, InputError

_EXPECTED = (
    "Expected a folder of CRD3's cleaned transcripts (files such as C1E001.json), a file of FIREBALL's events, or your own logs "
    "as JSON Lines, each with id, players, turns and calls."
)


@dataclass(frozen=True)
class RealSessions:
    logs: tuple[Log, ...]
    source: str
    """What they are, in words."""
    counts: dict[str, int]
    digest: str


def read_real_sessions(path: Path) -> RealSessions:
    """Raises InputError or DataError where there is nothing that can be read, or no call in it."""
    if not path.exists():
        raise InputError(f"real = {path}: no such file or folder. {_EXPECTED}")
    if path.is_dir() and (inside := next((each for each in sorted(path.iterdir()) if is_crd3(each)), None)):
        raise InputError(f"real = {path}: CRD3's transcripts are in its folder '{inside.name}'. Name that: {inside}")
    if is_crd3(path):
        found, source = read_crd3(path), "CRD3"
    else:
        first = next(islice(read_records(path, None), 1), None)
        if first is not None and is_fireball(first.value):
            found, source = read_fireball(path), "FIREBALL"
        else:
            found, source = _own(path), "logs"
    if not any(log.calls for log in found.logs):
        raise InputError(f"real = {path}: no call for a skill check in it. {_EXPECTED}")
    digest = hashlib.sha256("\n".join(log.model_dump_json() for log in found.logs).encode("utf-8", "replace")).hexdigest()
    return RealSessions(found.logs, source, found.counts, digest)


def _own(path: Path) -> Imported:
    logs: list[Log] = []
    for raw in read_records(path, None):
        try:
            log = Log.model_validate({"id": raw.default_id, **raw.value} if isinstance(raw.value, dict) else raw.value)
        except ValidationError as error:
            found = make_data_error(error, raw.place)
            raise DataError(found.place, found.field, f"{found.problem}. (Read as a log of your own. {_EXPECTED})") from None
        if any(log.id == other.id for other in logs):
            raise DataError(raw.place, "id", f"'{log.id}' is used already; ids must be unique")
        logs.append(log)
    calls = [call for log in logs for call in log.calls]
    counts = {"attributed": sum(bool(call.before and call.checks) for call in calls)}
    counts["dropped: nothing was said before"] = sum(not call.before for call in calls)
    counts["for nobody"] = sum(bool(call.before and not call.checks) for call in calls)
    return Imported(logs=tuple(logs), counts={reason: count for reason, count in counts.items() if count})
