"""Errors, sorted by who failed: the user's input, an instrument, the run.

Three kinds are never mixed (what failed: what is recorded):

* the agent under test: a Score with its real value and the reason. No exception: it is a result.
* the instrument (judge, partner, reference): ``InstrumentFailure``, recorded as ``Unscored(reason)``.
* the run (network, bug, limits): ``RunFailure`` marks one episode errored and lets its siblings go on;
  ``RunStopped`` ends the whole run cleanly. Both can be resumed.

``InputError`` is the user's to mend before anything is spent: a file, an option, a setting.
"""

from __future__ import annotations

import os
from pathlib import Path


class SociableError(Exception):
    """Base of all errors raised on purpose. Its text names place, expectation and remedy."""


class InputError(SociableError):
    """A file, an option or a setting that cannot be used."""


class DataError(InputError):
    """A bad record in a data file.

    ``place`` is the file with its line (or record number), ``field`` the path inside the record.
    """

    def __init__(self, place: str, field: str, problem: str) -> None:
        self.place = place
        self.field = field
        self.problem = problem
        super().__init__(f"{place}: field '{field}': {problem}" if field else f"{place}: {problem}")


class RunFolderError(InputError):
    """A run folder that is locked, of another version, damaged, or not one at all."""


class InstrumentFailure(SociableError):
    """Raised when a judge, partner or reference gave nothing usable; the values that rest on it are unscored."""


class RunFailure(SociableError):
    """Raised when one episode cannot be finished now; it is recorded as errored and run again on resume."""


class ContextLengthExceeded(RunFailure):
    """The prompt is longer than the model's context window."""


class RunStopped(SociableError):
    """Raised when the whole run ends here, cleanly; ``sociable resume`` goes on."""


class Interrupted(RunStopped):
    """The user asked the run to stop."""


class CostLimitReached(RunStopped):
    """The next call could exceed ``--max-cost``."""


class EndpointUnusable(RunStopped):
    """Wrong key, unknown model, or nobody answers at that address: no call can succeed."""


class StorageFailure(RunStopped):
    """The disk is full, the folder read-only, or the file system failing."""

    @classmethod
    def at(cls, path: Path, error: Exception) -> StorageFailure:
        # Only a run folder can be resumed.
        if os.path.exists(path.parent / "manifest.json"):
            remedy = f"Make room or restore write access, then run: sociable resume {path.parent}"
        else:
            remedy = f"Its folder {path.parent} must exist, have room and be writable; or choose another place."
        return cls(f"Cannot write {path}: {error}. What was written before is safe. {remedy}")
