"""How pages are drawn: jinja templates over the macros with which reports are drawn.

Every string is foreign, as in reports (see ``render.html``). A template extends ``base.html.jinja`` and draws blocks of
``core.view`` with ``draw`` from ``blocks.html.jinja``; ``link`` makes the address of another page.
"""

from __future__ import annotations

from functools import cache
from http import HTTPStatus
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader
from starlette.requests import Request
from starlette.responses import HTMLResponse

from sociable.core.view import format_with_interval
from sociable.render.html import make_environment, make_identifiers

NAVIGATION = (
    ("Runs", "/"),
    ("Watch", "/watch"),
    ("Studies", "/studies"),
    ("Episodes", "/episodes"),
    ("Sit down", "/sittings"),
    ("People", "/people"),
)
"""The pages that every owner's page leads to, by name."""


def render(template: str, **values: object) -> str:
    """A template as text. ``values`` are what it asks for; whatever it asks for must be there."""
    return _load_environment().get_template(template).render(fresh=make_identifiers(), **values)


def show_page(request: Request, template: str, status: int = HTTPStatus.OK, **values: object) -> HTMLResponse:
    """The answer to a request: a page from a template that extends ``base.html.jinja``."""
    return HTMLResponse(render(template, path=request.url.path, **values), status)


def render_problem(status: int, text: str) -> str:
    """The page of an error: what was wrong, and what to do."""
    return render("problem.html.jinja", path="", heading=HTTPStatus(status).phrase, text=text)


def make_link(path: str, **query: object) -> str:
    """The address of a page: ``make_link("/run", run="a/b")``. Values that are None or empty are left out."""
    given = {name: str(value) for name, value in query.items() if value not in (None, "")}
    return f"{path}?{urlencode(given, errors='replace')}" if given else path


@cache
def _load_environment() -> Environment:
    environment = make_environment(PackageLoader("sociable.studio"), PackageLoader("sociable.render"))
    environment.globals.update(link=make_link, navigation=NAVIGATION, format_with_interval=format_with_interval)
    return environment
