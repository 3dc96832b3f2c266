"""The list of all runs."""

from __future__ import annotations

from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sociable.studio.folders import find_run_folders, name_run
from sociable.studio.rendering import show_page


def show_runs(request: Request) -> Response:
    """All runs below the studio's folder."""
    folder: Path = request.app.state.studio.folder
    names = [name_run(folder, run) for run in find_run_folders(folder)]
    return show_page(request, "runs.html.jinja", folder=str(folder), names=names)


ROUTES = (Route("/", show_runs),)
