"""The owner's pages on people who check runs: who has done how much, and what comes of it."""

from __future__ import annotations

from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from sociable.api.surveys import USUAL_SAMPLE, BegunSurvey, begin_survey, export_answers, has_surveys, read_task
from sociable.core.errors import InputError
from sociable.core.view import Column, Row, Table
from sociable.people.surveys import PersonState, Surveys, Task
from sociable.studio.events import stream_changes
from sociable.studio.figures import find_figures
from sociable.studio.folders import find_folder, find_run_folders, name_run
from sociable.studio.rendering import make_link, render, show_page
from sociable.studio.surveys import OpenSurveys, find_open_surveys, make_path

SECONDS_BETWEEN_LOOKS = 2.0
TASKS = (
    (Task.JUDGE.value, "judge pairs and questions as judges did"),
    (Task.RATE.value, "rate whole episodes"),
    (Task.WORD.value, "say one word on episodes that went badly"),
)
_NUMBERS = {
    "people": "12",
    "sample": str(USUAL_SAMPLE),
    "precision": "",
    "per_item": "",
    "attention_checks": "0",
}
"""The fields of the form that are numbers, and what stands in them."""


def show_people(request: Request) -> Response:
    """What people do on one run; without one, the runs."""
    folder: Path = request.app.state.studio.folder
    if "run" not in request.query_params:
        runs = [(name_run(folder, run), has_surveys(run)) for run in find_run_folders(folder)]
        return show_page(request, "people_runs.html.jinja", runs=runs)
    return _show(request, {})


def _show(request: Request, typed: dict[str, str], problem: str = "") -> Response:
    run, name = find_folder(request), request.query_params["run"]
    opened = find_open_surveys(request.app.state.studio.folder)
    surveys = opened.open(run) if has_surveys(run) else None
    people = surveys.list_people() if surveys else []
    links = [
        (each.name, str(request.base_url.replace(path=make_path(secret))))
        for each in people
        if (secret := opened.links.get((run, each.name)))
    ]
    status = HTTPStatus.BAD_REQUEST if problem else HTTPStatus.OK
    return show_page(
        request,
        "people.html.jinja",
        status,
        run=name,
        title=run.name,
        people=people,
        choices=[(str(each.id), each.name) for each in people],
        links=links,
        **(_collect_part(opened, run, surveys) if surveys else {}),
        tasks=TASKS,
        given={**_NUMBERS, "task": Task.JUDGE.value, "consent": "", **typed},
        answered=surveys.list_answered() if surveys else [],
        problem=problem,
    )


async def change_people(request: Request) -> Response:
    """Begins a survey, or changes what one person's link opens and whether the person counts."""
    form = await request.form()
    return await run_in_threadpool(_change, request, form)


def _change(request: Request, form: FormData) -> Response:
    run = find_folder(request)
    opened = find_open_surveys(request.app.state.studio.folder)
    action = str(form.get("action", ""))
    if action == "begin":
        typed = {name: str(value) for name, value in form.items()}
        try:
            begun = _begin(run, typed)
        except InputError as error:
            return _show(request, typed, str(error))
        opened.links.update({(run, each.name): each.secret for each in begun.people})
    else:
        surveys = opened.open(run)
        person = _find_person(surveys, str(form.get("person", "")))
        if action in ("leave out", "count"):
            surveys.leave_out(person.id, is_left_out=action == "leave out")
        elif action == "withdraw":
            surveys.close_link(person.id)
            opened.links.pop((run, person.name), None)
        elif action == "renew":
            opened.links[run, person.name] = surveys.renew_link(person.id).secret
    return RedirectResponse(make_link("/people", run=request.query_params["run"]), HTTPStatus.SEE_OTHER)


def _begin(run: Path, typed: dict[str, str]) -> BegunSurvey:
    numbers = {name: _read_number(name, typed.get(name, ""), float if name == "precision" else int) for name in _NUMBERS}
    return begin_survey(
        run,
        int(numbers["people"] or 0),
        task=read_task(typed.get("task", "")),
        sample=int(numbers["sample"] or USUAL_SAMPLE),
        precision=numbers["precision"],
        per_item=None if numbers["per_item"] is None else int(numbers["per_item"]),
        attention_checks=int(numbers["attention_checks"] or 0),
        consent=typed.get("consent", ""),
    )


def _read_number(name: str, typed: str, kind: type[int] | type[float]) -> float | None:
    """A number as it was typed; None where nothing was. Raises InputError."""
    if not typed.strip():
        return None
    try:
        return kind(typed)
    except ValueError:
        raise InputError(f"{name.replace('_', ' ')}: '{typed[:40]}' is no number. Write one, or leave the field empty.") from None


def _find_person(surveys: Surveys, number: str) -> PersonState:
    if found := next((each for each in surveys.list_people() if str(each.id) == number), None):
        return found
    raise HTTPException(HTTPStatus.NOT_FOUND, "There is no such person in this run's surveys.")


def follow_people(request: Request) -> Response:
    """The part of the page that changes while people answer, as a stream of events."""
    run = find_folder(request)
    opened = find_open_surveys(request.app.state.studio.folder)
    surveys = opened.open(run)
    return stream_changes(lambda: render("people_part.html.jinja", **_collect_part(opened, run, surveys)), SECONDS_BETWEEN_LOOKS)


def _collect_part(opened: OpenSurveys, run: Path, surveys: Surveys) -> dict[str, Any]:
    """What ``people_part.html.jinja`` asks for."""
    people = surveys.list_people()
    return {
        "table": _make_table(people),
        "marked": [each for each in people if each.is_marked],
        "left_out": [each.name for each in people if each.is_left_out],
        "waiting": surveys.count_waiting(),
        "why": opened.problems.get(run, ""),
        "worked": find_figures(run).look(people),
    }


def _make_table(people: list[PersonState]) -> Table:
    columns = [
        Column("Person"),
        Column("Link"),
        Column("Answered", True, "items answered, of those dealt, attention checks among them"),
        Column("Seconds", True, "median time of an answer; breaks do not count"),
        Column("Checks failed", True, "attention checks failed, of those answered; what is skipped is failed"),
        Column("Last answer"),
        Column("Counts"),
    ]
    done, total = sum(each.done for each in people), sum(each.total for each in people)
    return Table(f"People: {done} of {total} answers", columns, [_make_row(each) for each in people])


def _make_row(person: PersonState) -> Row:
    link = (
        "withdrawn"
        if not person.is_open
        else "agreed"
        if person.has_agreed
        else "not agreed yet"
        if person.asks_consent
        else "open"
    )
    failed = f"{person.failed} of {person.checks}{', marked' if person.is_marked else ''}" if person.checks else "—"
    last = f"{datetime.fromtimestamp(person.last, UTC):%Y-%m-%d %H:%M} UTC" if person.last else "—"
    seconds = "—" if person.seconds is None else f"{person.seconds:.0f}"
    counts = "left out" if person.is_left_out else "yes"
    return Row([person.name, link, f"{person.done} of {person.total}", seconds, failed, last, counts])


def send_sheet(request: Request) -> Response:
    """What people answered, as the sheet that ``sociable judge`` reads back."""
    run, person = find_folder(request), request.query_params.get("person", "")
    if not has_surveys(run):
        raise InputError("Nobody was asked about this run yet.")
    surveys = find_open_surveys(request.app.state.studio.folder).open(run)
    task = read_task(request.query_params.get("task", Task.JUDGE))
    name = _find_person(surveys, person).name if person else ""
    text = export_answers(run, surveys, task, name)
    headers = {"Content-Disposition": f'attachment; filename="{name or "everybody"}.csv"'}
    return Response(text, media_type="text/csv", headers=headers)


ROUTES = (
    Route("/people", show_people),
    Route("/people", change_people, methods=["POST"]),
    Route("/people/sheet", send_sheet),
    Route("/events/people", follow_people),
)
