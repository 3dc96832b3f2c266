"""A run is begun from a form: first what it will take is told, then it is begun, in a process of its own."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sociable.api import processes
from sociable.api.estimation import estimate_settings
from sociable.api.folders import name_new_folder
from sociable.api.runs import make_settings
from sociable.core.errors import InputError, SociableError
from sociable.core.form import PERSON
from sociable.core.view import Document
from sociable.engine.registry import find_benchmark, list_benchmark_names
from sociable.engine.seats import Role
from sociable.engine.settings import RunSettings
from sociable.studio.apart import do_apart
from sociable.studio.folders import name_run
from sociable.studio.pages.watch import AT_DESK, answer, read_amount
from sociable.studio.rendering import show_page

_COUNTS = ("limit", "repeats", "seed", "max_connections")
FIELDS = ("benchmark", "model", "partner", "opponent", "judges", "base_url", "options", "max_cost", *_COUNTS)
"""What the form asks for, with the names of ``RunSettings``."""


def show_form(request: Request) -> Response:
    """The form, filled with what the address says."""
    return _show_form(request, {"seed": "0", **request.query_params})


def _show_form(request: Request, given: Mapping[str, str], problem: str = "", estimate: Document | None = None) -> Response:
    return show_page(
        request,
        "begin.html.jinja",
        HTTPStatus.BAD_REQUEST if problem else HTTPStatus.OK,
        given={name: given.get(name, "") for name in FIELDS},
        benchmarks=[(name, f"{name}: {find_benchmark(name).title}") for name in list_benchmark_names()],
        suggested={role.value: _suggest(role) for role in (Role.SUBJECT, Role.PARTNER, Role.JUDGE)},
        problem=problem,
        estimate=estimate,
    )


def _suggest(role: Role) -> list[str]:
    """The reference agents of any benchmark in a role."""
    agents = {agent for name in list_benchmark_names() for agent in find_benchmark(name).reference_agents.get(role, ())}
    return [f"reference/{agent}" for agent in sorted(agents)]


async def begin(request: Request) -> Response:
    """Tells what the run will take, or begins it. A mistake comes back to the form, with what was typed."""
    form = await request.form()
    given = {name: value.replace("\r\n", "\n") for name, value in form.items() if isinstance(value, str)}
    return await run_in_threadpool(_begin, request, given)


def _begin(request: Request, given: Mapping[str, str]) -> Response:
    root: Path = request.app.state.studio.folder
    try:
        settings = read_settings(given)
        if given.get("do") != "begin":
            return _show_form(request, given, estimate=do_apart(estimate_settings, settings))
        folder = root / name_new_folder(settings.benchmark, settings.model).name
        processes.begin(settings, folder, arguments=AT_DESK if settings.has_people else ())
    except SociableError as problem:
        return _show_form(request, given, str(problem))
    return answer(name_run(root, folder), "begun")


def read_settings(given: Mapping[str, str]) -> RunSettings:
    """The settings that a form asks for. Raises InputError."""
    asked: dict[str, Any] = {name: given.get(name, "").strip() or None for name in ("model", "partner", "opponent", "base_url")}
    if not asked["model"]:
        raise InputError(f"Name the model to test, as in openai/gpt-4o-mini, reference/oracle, or {PERSON} for yourself.")
    asked |= {name: _read_count(name, given.get(name, "").strip()) for name in _COUNTS}
    asked["judges"] = tuple(given.get("judges", "").replace(",", " ").split())
    asked["max_cost"] = read_amount(given.get("max_cost", "").strip())
    return make_settings(given.get("benchmark", ""), None, options=_read_options(given.get("options", "")), **asked)


def _read_count(name: str, text: str) -> int | None:
    try:
        return int(text) if text else None
    except ValueError:
        raise InputError(f"{name}: '{text[:40]}' is no whole number.") from None


def _read_options(text: str) -> dict[str, Any]:
    """The benchmark's own options, as they stand in a settings file."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"Options are written one a line, as in: stages = [1, 2]. These cannot be read: {error}") from None


ROUTES = (Route("/begin", show_form), Route("/begin", begin, methods=["POST"]))
