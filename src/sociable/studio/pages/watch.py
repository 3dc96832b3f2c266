"""Runs as they happen: all that are at work, and one of them; stopped, gone on with, given another limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from sociable.api import folders, processes, series, watching
from sociable.core.errors import InputError, SociableError
from sociable.core.view import format_with_interval
from sociable.engine.settings import RunSettings, strip_endpoint
from sociable.engine.status import State, Status
from sociable.reports.estimates import format_seconds
from sociable.studio.events import stream_changes
from sociable.studio.folders import find_work, list_works, name_run
from sociable.studio.narrowing import draw_narrowing
from sociable.studio.rendering import make_link, render, show_page
from sociable.studio.security import hide_credentials

MOST_ROWS = 100
LINES_OF_LOG = 20
AT_DESK = ("--people-at", "desk")
"""The argument of a run in which people take part: a process of ours has no terminal."""

SAID: Mapping[str, str] = {
    "begun": "It has been begun, in a process of its own.",
    "stop": "It was told to stop. Calls under way end and are kept; then it can go on.",
    "limit": "It was told the new limit, which holds within about a second.",
    "on": "It goes on, in a process of its own. What was paid for is not bought again.",
}
"""What pages say after something was done, by a word in the address."""


@dataclass(frozen=True)
class Watched:
    """A run, an audit or several runs as the pages tell of them."""

    name: str
    status: Status
    is_starting: bool = False
    """Whether a process of ours was started that has not said anything yet."""

    @property
    def state(self) -> str:
        return "starting" if self.is_starting else self.status.state.value

    @property
    def has_ended_early(self) -> bool:
        return not (self.is_starting or self.status.state.is_at_work or self.status.state is State.FINISHED)

    @property
    def done(self) -> float:
        """Items done, with the shares of those under way."""
        return min(self.status.done + self.status.shares_done, self.status.total)

    @property
    def time_left(self) -> str:
        seconds = self.status.seconds_left
        return "" if seconds is None or not self.status.state.is_at_work else format_seconds(seconds)

    @property
    def spend(self) -> str:
        limit = f" of {self.status.limit:.2f}" if self.status.limit is not None else ""
        return f"{self.status.spend:.2f}{limit}" if self.status.updated else "—"

    @property
    def first_estimate(self) -> str:
        last = self.status.history[-1].estimates if self.status.history else ()
        return f"{last[0].metric} {format_with_interval(last[0].value, last[0].low, last[0].high)}" if last else "—"

    @property
    def problems(self) -> list[str]:
        """Why it ended early, and what could not be done of that which was asked; without the passwords of addresses."""
        return [] if self.is_starting else [hide_credentials(text) for text in (self.status.reason, self.status.remark) if text]

    @property
    def tone(self) -> str:
        match self.status.state:
            case _ if self.is_starting:
                return ""
            case State.FAILED | State.KILLED:
                return "bad"
            case State.FINISHED:
                return "good"
            case State.STOPPED | State.STOPPING | State.UNFINISHED:
                return "warning"
            case _:
                return ""


def watch(folder: Path, path: Path, status: Status | None = None) -> Watched:
    """How far whatever is in ``path`` is."""
    return Watched(name_run(folder, path), status or watching.find_status(path), processes.is_starting(path))


def show_watched(request: Request) -> Response:
    """Everything at work below the studio's folder, and what ended early."""
    return show_page(request, "watch.html.jinja", **_list_watched(request.app.state.studio.folder))


def follow_watched(request: Request) -> Response:
    studio = request.app.state.studio
    return stream_changes(
        lambda: studio.shared.find("watch", lambda: render("watch_table.html.jinja", **_list_watched(studio.folder)))
    )


def _list_watched(folder: Path) -> dict[str, Any]:
    watched = [watch(folder, path, status) for path, status in list_works(folder)]
    watched.sort(key=lambda each: each.status.updated.timestamp() if each.status.updated else 0.0, reverse=True)
    ended = [each for each in watched if each.has_ended_early]
    return {
        "folder": str(folder),
        "at_work": [each for each in watched if each.status.state.is_at_work or each.is_starting],
        "ended": ended[:MOST_ROWS],
        "left_out": max(0, len(ended) - MOST_ROWS),
        "finished": sum(each.status.state is State.FINISHED for each in watched),
    }


def show_one(request: Request) -> Response:
    """One run, audit or several runs, at work or not."""
    path = find_work(request)
    said = SAID.get(request.query_params.get("said", ""), "")
    return show_page(request, "watched.html.jinja", said=said, **_describe(request.app.state.studio.folder, path))


def follow_one(request: Request) -> Response:
    path, studio = find_work(request), request.app.state.studio
    return stream_changes(
        lambda: studio.shared.find(path, lambda: render("watched_state.html.jinja", **_describe(studio.folder, path)))
    )


def _describe(folder: Path, path: Path) -> dict[str, Any]:
    watched = watch(folder, path)
    status = watched.status
    log = processes.read_log(path).splitlines()[-LINES_OF_LOG:] if watched.has_ended_early else []
    return {
        "watched": watched,
        "is_run": (path / "manifest.json").is_file(),
        "can_go_on": watched.has_ended_early or (status.state is State.FINISHED and status.errored and not watched.is_starting),
        "takes_limit": takes_limit(path),
        "has_leaderboard": (path / "leaderboard.html").is_file(),
        "metrics": list(draw_narrowing(status.history)),
        "failures": [(hide_credentials(kind), number) for kind, number in status.failures.items()],
        "parts": _arrange(folder, path) if series.is_series(path) else None,
        "log": hide_credentials("\n".join(log)),
    }


def takes_limit(path: Path) -> bool:
    """Whether what is in a folder can be given another limit: a run, or several that share one."""
    if not series.is_series(path):
        return (path / "manifest.json").is_file()
    try:
        return bool({"tournament", "study"} & series.read_series(path)[1].keys())
    except SociableError:
        return False


@dataclass(frozen=True)
class Parts:
    """The runs of a folder of several: what each row and each column has in common, and the run where they meet."""

    title: str
    """The rows' title."""
    columns: Sequence[str]
    rows: Mapping[str, Sequence[Watched | None]]


def _arrange(folder: Path, path: Path) -> Parts:
    """A study's runs as models × benchmarks; the runs of another series one below the other."""
    try:
        runs, noted = series.read_series(path)
    except SociableError:
        runs, noted = {}, {}
    study = noted.get("study")
    conditions = study.get("conditions", {}) if isinstance(study, dict) else {}
    has_seeds = len({settings.seed for settings in runs.values()}) > 1
    columns = list(dict.fromkeys(settings.benchmark for settings in runs.values()))
    rows: dict[str, list[Watched | None]] = {}
    for name, settings in runs.items():
        title = name if study is None else _name_row(settings, str(conditions.get(name, "")), has_seeds)
        row = rows.setdefault(title, [None] * len(columns))
        row[columns.index(settings.benchmark)] = watch(folder, path / name)
    return Parts("Run" if study is None else "Model", columns, rows)


def _name_row(settings: RunSettings, condition: str, has_seeds: bool) -> str:
    return ", ".join(filter(None, [strip_endpoint(settings.model), condition, f"seed {settings.seed}" if has_seeds else ""]))


async def stop(request: Request) -> Response:
    """Has whoever is at work stop."""
    return await run_in_threadpool(_stop, request)


def _stop(request: Request) -> Response:
    watching.stop(find_work(request))
    return answer(request.query_params["run"], "stop")


def answer(name: str, said: str) -> Response:
    """The way back to the page of a run, which says what was done."""
    return RedirectResponse(make_link("/watch/run", run=name, said=said), HTTPStatus.SEE_OTHER)


def show_going_on(request: Request) -> Response:
    """Asks before money is spent: how far a run is, what it has cost, and what it may cost."""
    path = find_work(request)
    status = watching.find_status(path)
    limit = f"{status.limit:g}" if status.limit is not None else ""
    return _show_going_on(request, path, {"max_cost": limit})


def _show_going_on(request: Request, path: Path, given: Mapping[str, str], problem: str = "") -> Response:
    watched = watch(request.app.state.studio.folder, path)
    return show_page(
        request,
        "go_on.html.jinja",
        HTTPStatus.BAD_REQUEST if problem else HTTPStatus.OK,
        watched=watched,
        takes_limit=takes_limit(path),
        given=given,
        problem=problem,
    )


async def go_on(request: Request) -> Response:
    """Goes on with a run, or changes the limit of one at work."""
    return await run_in_threadpool(_go_on, request, await request.form())


def _go_on(request: Request, form: FormData) -> Response:
    path, text = find_work(request), str(form.get("max_cost", "")).strip()
    before = watching.find_status(path)
    try:
        limit = read_amount(text)
        if before.state.is_at_work:
            if limit is None:
                raise InputError("It is at work already. Write the limit that is to hold from now on.")
            watching.change_limit(path, limit)
            return answer(request.query_params["run"], "limit")
        changed = None if limit == before.limit else limit
        processes.go_on(path, max_cost=changed, arguments=_list_arguments(path))
    except SociableError as problem:
        return _show_going_on(request, path, {"max_cost": text}, str(problem))
    return answer(request.query_params["run"], "on")


def read_amount(text: str) -> float | None:
    """An amount of US dollars as it was typed; None: nothing was. Raises InputError."""
    try:
        amount = float(text) if text else None
    except ValueError:
        amount = 0.0
    if amount is not None and not 0 < amount < float("inf"):
        raise InputError(f"'{text[:40]}' is no limit: write a number of US dollars above 0, as in 2.50.")
    return amount


def _list_arguments(path: Path) -> Sequence[str]:
    if series.is_series(path):
        return AT_DESK if series.has_person(path) else ()
    return AT_DESK if (path / "manifest.json").is_file() and folders.has_person(path) else ()


ROUTES = (
    Route("/watch", show_watched),
    Route("/events/watch", follow_watched),
    Route("/watch/run", show_one),
    Route("/events/watch/run", follow_one),
    Route("/watch/stop", stop, methods=["POST"]),
    Route("/watch/go-on", show_going_on),
    Route("/watch/go-on", go_on, methods=["POST"]),
)
