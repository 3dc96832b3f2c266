"""The application: all pages, what becomes of errors, and the guard around it."""

from __future__ import annotations

from dataclasses import dataclass, field
from http import HTTPStatus
from importlib import resources
from pathlib import Path
from types import ModuleType

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from sociable.core.errors import SociableError
from sociable.studio.index import Index
from sociable.studio.indexing import Indexer
from sociable.studio.links import Links
from sociable.studio.pages import (
    begin,
    checking,
    episode,
    episodes,
    people,
    reviews,
    runs,
    seats,
    sittings,
    studies,
    watch,
)
from sociable.studio.rendering import render_problem
from sociable.studio.security import Access, Guard
from sociable.studio.shared import Shared

PAGES: tuple[ModuleType, ...] = (runs, episodes, episode, watch, begin, studies, sittings, seats, reviews, people, checking)
"""Modules with ``ROUTES``; a page is added by its module, and by its name in ``rendering.NAVIGATION`` where it has one."""

LARGEST_FORM_BYTES = 1024 * 1024

_STATIC = {
    "report.css": ("sociable.render", "templates/report.css", "text/css"),
    "studio.css": ("sociable.studio", "static/studio.css", "text/css"),
    "people.css": ("sociable.studio", "static/people.css", "text/css"),
    "people.js": ("sociable.studio", "static/people.js", "text/javascript"),
    "studio.js": ("sociable.studio", "static/studio.js", "text/javascript"),
    "studio.svg": ("sociable.studio", "static/studio.svg", "image/svg+xml"),
}
"""The files that pages load: their package, their path in it, their type."""


@dataclass(frozen=True)
class Studio:
    """What pages know, as ``request.app.state.studio``."""

    folder: Path
    """The folder with the runs, resolved."""
    index: Index
    indexer: Indexer
    links: Links = field(default_factory=Links)
    """People's links, as far as this server knows them."""
    shared: Shared = field(default_factory=Shared)
    """What streams of events have read, for all who follow the same."""


def make_application(studio: Studio, access: Access) -> ASGIApp:
    """The studio as an ASGI application."""
    routes: list[BaseRoute] = [Route("/static/{name}", _serve_static)]
    for module in PAGES:
        routes += module.ROUTES
    application = Starlette(
        routes=routes,
        exception_handlers={HTTPException: _tell_http_error, SociableError: _tell_problem, Exception: _tell_fault},
        max_body_size=LARGEST_FORM_BYTES,
    )
    application.state.studio = studio
    return Guard(application, access)


def _serve_static(request: Request) -> Response:
    if (found := _STATIC.get(request.path_params["name"])) is None:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    package, path, kind = found
    content = resources.files(package).joinpath(path).read_bytes()
    return Response(content, media_type=kind, headers={"Cache-Control": "no-cache"})


def _tell_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    is_plain = error.detail == HTTPStatus(error.status_code).phrase
    text = "There is no such page. The links above lead to those there are." if is_plain else error.detail
    return HTMLResponse(render_problem(error.status_code, text), error.status_code, error.headers)


def _tell_problem(request: Request, error: Exception) -> Response:
    """Our errors name place, expectation and remedy themselves."""
    text = "\n".join([str(error), *getattr(error, "__notes__", ())])
    return HTMLResponse(render_problem(HTTPStatus.BAD_REQUEST, text), HTTPStatus.BAD_REQUEST)


def _tell_fault(request: Request, error: Exception) -> Response:
    text = "This is a fault of the studio; what happened stands in the terminal where it runs. No run is touched by it."
    return HTMLResponse(render_problem(HTTPStatus.INTERNAL_SERVER_ERROR, text), HTTPStatus.INTERNAL_SERVER_ERROR)
