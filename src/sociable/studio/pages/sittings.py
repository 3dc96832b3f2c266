"""Sittings: runs in which people take part. The owner begins them, invites people and sees how far they are."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from sociable.agents.people.desk import DESK_FILE, Answer, Desk, Link, Place, WaitingPlace
from sociable.api import processes, watching
from sociable.api.cases import load_study
from sociable.api.folders import name_new_folder
from sociable.api.runs import make_settings
from sociable.core.errors import InputError, RunFolderError, SociableError
from sociable.core.form import PERSON
from sociable.core.records import make_storable
from sociable.core.run_folder import RunFolder
from sociable.core.view import Column, Row, Table
from sociable.engine.benchmark import Benchmark
from sociable.engine.registry import find_benchmark, list_benchmark_names
from sociable.engine.seats import Role
from sociable.engine.settings import RunSettings
from sociable.engine.status import State, Status
from sociable.engine.study import AnyStudy, Contested, Judged
from sociable.studio.events import stream_changes
from sociable.studio.folders import find_folder, find_run_folders, name_run
from sociable.studio.links import Links, check_name
from sociable.studio.pages.reviews import list_data_folders
from sociable.studio.rendering import make_link, render, show_page

AT_DESK = ("--people-at", "desk")
MOST_SCENARIOS = 500
"""Scenarios whose names a form offers; others can be typed."""
MOST_RUNS = 100
"""Runs of which the models' names are offered."""


@dataclass(frozen=True)
class Invited:
    """A person who was sent a link, as the owner's page shows them."""

    link: Link
    secret: str
    """Empty where another server told it."""
    is_here: bool
    done: int
    answers: int
    seconds: float
    """The longest time that one answer took."""
    waiting: WaitingPlace | None
    """The place at which an answer of this person is waited for."""


def list_sittings(request: Request) -> Response:
    """The runs below the studio's folder in which people sit at a desk, and the data sets that people can review."""
    root: Path = request.app.state.studio.folder
    rows = []
    for folder in (each for each in find_run_folders(root) if (each / DESK_FILE).is_file()):
        people, problem = [], ""
        try:
            with Desk(folder) as desk:
                people = [each.person for each in desk.list_links() if each.is_open]
        except SociableError as error:
            problem = str(error)
        rows.append((name_run(root, folder), watching.find_status(folder), people, problem))
    data = [name_run(root, folder) for folder in list_data_folders(root)]
    return show_page(request, "sittings.html.jinja", sittings=rows, data=data, benchmarks=_list_benchmarks())


def _list_benchmarks() -> list[tuple[str, str]]:
    return [(name, find_benchmark(name).title) for name in list_benchmark_names()]


def show_new(request: Request) -> Response:
    """The form that begins a sitting of one benchmark, and of one scenario if one is named."""
    given = {"limit": "1", "seed": "0", "model": PERSON, **dict(request.query_params)}
    return _show_new(request, given)


def _show_new(request: Request, given: Mapping[str, str], problem: str = "") -> Response:
    benchmark = find_benchmark(given.get("benchmark", ""))
    study, scenario = None, given.get("scenario", "").strip()
    try:
        study = load_study(benchmark.name, options=_read_options(given.get("options", "")), **_find_partners(benchmark))
    except InputError as error:
        # Nothing can be offered to choose from until its options are right.
        problem = problem or str(error)
    if study and scenario and scenario not in study.scenarios:
        problem = problem or f"{benchmark.name} has no scenario '{scenario}'."
    cast = study.find_cast(scenario) if study and scenario in study.scenarios else {}
    roles = list_roles(study) if study else list(_LABELS)
    status = HTTPStatus.UNPROCESSABLE_ENTITY if request.method == "POST" else HTTPStatus.OK
    return show_page(
        request,
        "new_sitting.html.jinja",
        status,
        benchmark=benchmark,
        given=given,
        problem=problem,
        roles=[(role, _LABELS[role], _suggest(benchmark, role)) for role in roles],
        seen=_list_seen_models(request.app.state.studio.folder),
        scenarios=list(study.scenarios)[:MOST_SCENARIOS] if study else [],
        cast=list(cast),
    )


_LABELS = {
    Role.SUBJECT: "The model under test",
    Role.PARTNER: "The partner, who plays everybody else",
    Role.OPPONENT: "The opponent",
    Role.JUDGE: "The judge",
}
_FIELDS = {Role.SUBJECT: "model", Role.PARTNER: "partner", Role.OPPONENT: "opponent", Role.JUDGE: "judges"}


def list_roles(study: AnyStudy) -> list[Role]:
    """The roles that somebody can sit in."""
    there = {Role.SUBJECT, Role.PARTNER} | ({Role.OPPONENT} if isinstance(study, Contested) else set())
    there |= {Role.JUDGE} if isinstance(study, Judged) else set()
    return [role for role in _LABELS if role in there and role not in study.unasked]


def _find_partners(benchmark: Benchmark) -> dict[str, Any]:
    """Somebody in the seats that a benchmark may need before it can be opened."""
    return {"partner": PERSON, "opponent": PERSON} if benchmark.duels == benchmark.name else {}


def _suggest(benchmark: Benchmark, role: Role) -> list[str]:
    return [PERSON, *(f"reference/{each}" for each in benchmark.reference_agents.get(role, ()))]


def _list_seen_models(root: Path) -> list[str]:
    """The models of runs below a folder."""
    seen: set[str] = set()
    for folder in list(find_run_folders(root))[-MOST_RUNS:]:
        try:
            models = RunFolder.open(folder, lock=False).read_manifest().get("models", {})
        except RunFolderError:
            continue
        for name in models.values() if isinstance(models, dict) else ():
            seen |= {each for each in (name if isinstance(name, list) else [name]) if isinstance(each, str)}
    return sorted(each for each in seen if "/" in each and not each.startswith("reference/"))


async def begin(request: Request) -> Response:
    """Begins a sitting. Every mistake comes back to the form, with what was typed."""
    return await run_in_threadpool(_begin, request, await request.form())


def _begin(request: Request, form: FormData) -> Response:
    given = {name: value.replace("\r\n", "\n") for name, value in form.items() if isinstance(value, str)}
    root: Path = request.app.state.studio.folder
    try:
        people = _read_people(given)
        settings = read_settings(given)
        folder = root / name_new_folder(settings.benchmark, settings.model).name
        processes.begin(settings, folder, arguments=AT_DESK)
    except (InputError, RunFolderError) as problem:
        return _show_new(request, given, str(problem))
    with Desk(folder) as desk:
        for person, participant in people:
            several = len(people) == 1
            made = desk.make_link(person, participant="" if several else participant, several=several)
            request.app.state.studio.links.note(folder, made)
    return RedirectResponse(make_link("/sitting", run=name_run(root, folder)), HTTPStatus.SEE_OTHER)


def _read_people(given: Mapping[str, str]) -> list[tuple[str, str]]:
    """(person, participant) of all who are to be invited; the participant is empty where the person sits where there is room."""
    seated = [(person, participant) for participant, person in _list_players(given)]
    free = [(name, "") for name in given.get("people", "").splitlines() if name.strip()]
    people = [(check_name(person), participant) for person, participant in (*seated, *free)]
    if not people:
        raise InputError("Nobody is invited. Name at least one person.")
    names = [person.casefold() for person, _ in people]
    if twice := next((person for person, _ in people if names.count(person.casefold()) > 1), ""):
        raise InputError(
            f"{twice} is named twice. Somebody who is to play everybody that people play is named alone, under Other people."
        )
    return people


def _list_players(given: Mapping[str, str]) -> list[tuple[str, str]]:
    """(participant, person) of the participants whom a person plays."""
    return [(name.removeprefix(_PLAYER), given[name]) for name in given if name.startswith(_PLAYER) and given[name].strip()]


_PLAYER = "player:"
"""The beginning of the names of fields that say who plays a participant."""


def read_settings(given: Mapping[str, str]) -> RunSettings:
    """The settings that a form asks for. Raises InputError."""
    scenario = given.get("scenario", "").strip()
    asked: dict[str, Any] = {name: given.get(name, "").strip() or None for name in ("model", "partner", "opponent")}
    asked |= {name: _read_number(name, given.get(name, ""), kind) for name, kind in _NUMBERS.items()}
    if scenario:
        asked |= {"scenarios": (scenario,), "limit": None}
    asked["people"] = tuple(participant for participant, _ in _list_players(given))
    asked["judges"] = tuple(given.get("judges", "").split())
    settings = make_settings(given.get("benchmark", ""), None, options=_read_options(given.get("options", "")), **asked)
    if not settings.has_people:
        raise InputError(f"Nobody in this run is a person. Write '{PERSON}' for a role, or name who plays a participant.")
    return settings


_NUMBERS: Mapping[str, type[int] | type[float]] = {"limit": int, "seed": int, "max_cost": float}


def _read_number(name: str, text: str, kind: type[int] | type[float]) -> float | None:
    try:
        return kind(text) if text.strip() else None
    except ValueError:
        raise InputError(f"'{text[:40]}' is no number for {name.replace('_', ' ')}.") from None


def _read_options(text: str) -> dict[str, Any]:
    """The benchmark's own options, one NAME=VALUE a line."""
    found: dict[str, Any] = {}
    for line in filter(str.strip, text.splitlines()):
        name, separator, value = line.partition("=")
        if not separator:
            raise InputError(f"An option is written NAME=VALUE, one a line, not '{line[:80]}'.")
        try:
            found[name.strip()] = tomllib.loads(f"value = {value.strip()}")["value"]
        except tomllib.TOMLDecodeError:
            found[name.strip()] = value.strip()
    return found


def show_sitting(request: Request) -> Response:
    """A sitting: its links, who is there, whose turn it is, how far each is."""
    return _show_sitting(request, find_folder(request))


def _show_sitting(request: Request, folder: Path, problem: str = "", given: Mapping[str, str] | None = None) -> Response:
    status = HTTPStatus.UNPROCESSABLE_ENTITY if problem else HTTPStatus.OK
    state = _describe_sitting(request, folder)
    return show_page(request, "sitting.html.jinja", status, **state, problem=problem, given=given or {}, roles=_ROLES)


_ROLES = [("", "any"), *((role.value, role.value) for role in (Role.SUBJECT, Role.PARTNER, Role.OPPONENT, Role.JUDGE))]


def follow_sitting(request: Request) -> Response:
    """The live part of a sitting's page."""
    folder = find_folder(request)
    return stream_changes(lambda: render("sitting_state.html.jinja", **_describe_sitting(request, folder)))


def _describe_sitting(request: Request, folder: Path) -> dict[str, Any]:
    root, links = request.app.state.studio.folder, request.app.state.studio.links
    status = watching.find_status(folder)
    with Desk(folder) as desk:
        waiting = desk.list_waiting()
        invited = list(_list_invited(desk, folder, links, waiting))
        closed = [each.person for each in desk.list_links() if not each.is_open]
        answers = desk.list_answers()
    return {
        "name": name_run(root, folder),
        "run": status,
        "can_wake": not status.state.is_at_work and status.state not in (State.FINISHED, State.NO_RUN),
        "invited": invited,
        "free": [each for each in waiting if not each.person],
        "closed": closed,
        "origin": str(request.base_url).rstrip("/"),
        "log": _read_end_of_log(folder, status),
        "answers": _make_answers_table(answers),
        "tell_time": lambda seconds: datetime.fromtimestamp(seconds).strftime("%H:%M:%S"),
    }


def _list_invited(desk: Desk, folder: Path, links: Links, waiting: list[WaitingPlace]) -> Iterator[Invited]:
    for link in (each for each in desk.list_links() if each.is_open):
        given = desk.list_answers(link)
        yield Invited(
            link,
            links.find_secret(folder, link),
            links.is_here(folder, link),
            desk.count_done(link),
            len(given),
            max((each.seconds for each in given), default=0.0),
            next((each for each in waiting if each.person == link.person), None),
        )


def _read_end_of_log(folder: Path, status: Status) -> str:
    """The last lines that a run printed that failed; empty for another."""
    return "\n".join(processes.read_log(folder).splitlines()[-10:]) if status.state is State.FAILED else ""


MOST_ANSWERS = 20


def _make_answers_table(answers: list[Answer]) -> Table | None:
    """The last answers, with the time each took."""
    if not answers:
        return None
    columns = [Column("Person"), Column("Place"), Column("Case"), Column("Seconds", True)]
    rows = [
        Row([each.person, each.place.participant or each.place.role, each.place.item, f"{each.seconds:.1f}"])
        for each in answers[-MOST_ANSWERS:][::-1]
    ]
    return Table(f"The last answers, of {len(answers)}", columns, rows)


async def change(request: Request) -> Response:
    """What the owner does with a sitting: invites, withdraws a link, frees a seat, wakes or stops the run."""
    return await run_in_threadpool(_change, request, await request.form())


def _change(request: Request, form: FormData) -> Response:
    folder = find_folder(request)
    given = {name: value for name, value in form.items() if isinstance(value, str)}
    try:
        match given.get("do", ""):
            case "wake":
                processes.go_on(folder, arguments=AT_DESK)
            case "stop":
                watching.stop(folder)
            case does:
                with Desk(folder) as desk:
                    change_desk(desk, folder, request.app.state.studio.links, does, given)
    except (InputError, RunFolderError) as problem:
        return _show_sitting(request, folder, str(problem), given)
    return RedirectResponse(make_link("/sitting", run=request.query_params["run"]), HTTPStatus.SEE_OTHER)


def change_desk(desk: Desk, folder: Path, links: Links, does: str, given: Mapping[str, str]) -> None:
    """Invites somebody, withdraws a link or makes it anew, or frees a seat. Raises InputError."""
    if does == "add":
        person = check_name(given.get("person", ""), desk)
        narrowed = {name: make_storable(given.get(name, "").strip()) for name in ("role", "participant", "item")}
        links.note(folder, desk.make_link(person, **narrowed, several=given.get("several") == "yes"))
        return
    if does == "release":
        desk.release_place(Place(given.get("item", ""), given.get("role", ""), given.get("participant", "")))
        return
    link = next((each for each in desk.list_links() if each.is_open and str(each.id) == given.get("link")), None)
    if link is None or does not in ("close", "renew"):
        raise InputError("This link has been withdrawn already.")
    if does == "renew":
        links.note(folder, desk.renew_link(link))
    else:
        desk.close_link(link)


ROUTES = (
    Route("/sittings", list_sittings),
    Route("/sittings/new", show_new),
    Route("/sittings/new", begin, methods=["POST"]),
    Route("/sitting", show_sitting),
    Route("/sitting", change, methods=["POST"]),
    Route("/events/sitting", follow_sitting),
)
