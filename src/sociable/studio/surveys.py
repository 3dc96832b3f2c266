"""The surveys that a studio has open: whose link a secret is, and answers on their way into the runs' records."""

from __future__ import annotations

import threading
import time
from functools import cache
from pathlib import Path

from sociable.api.surveys import has_surveys, keep_answers
from sociable.core.errors import SociableError
from sociable.people.surveys import Person, Surveys
from sociable.studio.folders import find_run_folders

SECONDS_TO_GATHER = 1.0
"""The time for which answers are gathered, before they are put into the run's records together."""
SECONDS_TO_WAIT = 5.0
"""The time until a folder that was in use is tried again."""
SECONDS_BETWEEN_SEARCHES = 2.0


def make_path(secret: str) -> str:
    """The path of a person's page."""
    return f"/desk/check/{secret}"


class OpenSurveys:
    """The surveys of all runs below one folder. Its methods may be called from several threads."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._searching = threading.Lock()
        self._open: dict[Path, Surveys] = {}
        self._due: set[Path] = set()
        self._searched = float("-inf")
        self.links: dict[tuple[Path, str], str] = {}
        """The secrets of links made since the studio was started, by run and person: they are kept nowhere else."""
        self.problems: dict[Path, str] = {}
        """The reason why answers could not be made records, by run."""

    def open(self, run: Path) -> Surveys:
        """The surveys of a run; their file is made where there is none."""
        with self._lock:
            if run not in self._open:
                self._open[run] = Surveys(run)
            return self._open[run]

    def find(self, secret: str) -> tuple[Path, Surveys, Person] | None:
        """The person whose link has this secret, and the run; None where there is none."""
        found = self._look(secret)
        if found is None:
            self.search()
            found = self._look(secret)
        return found

    def _look(self, secret: str) -> tuple[Path, Surveys, Person] | None:
        with self._lock:
            known = list(self._open.items())
        return next(((run, each, person) for run, each in known if (person := each.find_person(secret))), None)

    def search(self) -> None:
        """Opens the surveys that others have begun, and sees to their answers, unless that was done just now."""
        # Whoever comes while another searches waits for what that one finds.
        with self._searching:
            if time.monotonic() < self._searched + SECONDS_BETWEEN_SEARCHES:
                return
            for run in find_run_folders(self._folder):
                try:
                    if has_surveys(run) and run not in self._open and self.open(run).count_waiting():
                        self.keep_soon(run)
                except SociableError as error:
                    self.problems[run] = str(error)  # A damaged file closes no other.
            self._searched = time.monotonic()

    def keep_soon(self, run: Path, seconds: float = SECONDS_TO_GATHER) -> None:
        """Makes records of the answers that wait in a run, in a moment, and again and again while its folder is in use."""
        with self._lock:
            if run in self._due:
                return
            self._due.add(run)
        timer = threading.Timer(seconds, self._keep, [run])
        timer.daemon = True
        timer.start()

    def _keep(self, run: Path) -> None:
        with self._lock:
            self._due.discard(run)
        try:
            waiting = keep_answers(run, self.open(run))
            self.problems.pop(run, None)
        except SociableError as error:
            waiting, self.problems[run] = 1, str(error)
        if waiting:
            self.keep_soon(run, SECONDS_TO_WAIT)


@cache
def find_open_surveys(folder: Path) -> OpenSurveys:
    """The surveys of the studio on ``folder``: one object for each studio."""
    return OpenSurveys(folder)
