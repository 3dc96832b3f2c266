"""Studies: the files that describe them, begun after an estimate; and leaderboards, written anew."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from sociable.api import leaderboard, processes, series, studies, tournaments, watching
from sociable.api.watching import DEEPEST
from sociable.core.errors import InputError, SociableError
from sociable.core.run_folder import make_folder
from sociable.core.view import Document
from sociable.studio.apart import do_apart
from sociable.studio.folders import find_work, list_works, name_run
from sociable.studio.pages.runs import serve_document
from sociable.studio.pages.watch import answer, read_amount, watch
from sociable.studio.rendering import make_link, show_page

FILE = f"{leaderboard.NAME}.html"
LONGEST_FILE_BYTES = 200_000
LONGEST_SECONDS = 600.0
"""The time that a leaderboard may take: every two models are compared."""

_NAMES_BENCHMARKS = re.compile(rb"^\s*benchmarks\s*=", re.MULTILINE)


def list_studies(request: Request) -> Response:
    """The studies below the studio's folder, the files that describe one, and the leaderboards."""
    root: Path = request.app.state.studio.folder
    found = [path for path, _ in list_works(root) if series.is_series(path) and not tournaments.is_tournament(path)]
    rows = [(watch(root, path), _find_written(path)) for path in found]
    return show_page(
        request,
        "studies.html.jinja",
        folder=str(root),
        studies=rows,
        of_all=_find_written(root),
        files=[name_run(root, path) for path in list_files(root)],
    )


def _find_written(folder: Path) -> str:
    """When the leaderboard in a folder was written; empty where there is none."""
    try:
        written = (folder / FILE).stat().st_mtime
    except OSError:
        return ""
    return datetime.fromtimestamp(written, UTC).strftime("%Y-%m-%d %H:%M UTC")


def list_files(root: Path) -> Iterator[Path]:
    """The files below a folder that describe a study: TOML files that name benchmarks. Copies in runs are passed over."""
    for path, folders, files in os.walk(root):
        here = Path(path)
        if "manifest.json" in files or "series.json" in files:
            folders[:] = []
            continue
        is_deep = len(here.relative_to(root).parts) >= DEEPEST
        folders[:] = [] if is_deep else sorted(each for each in folders if not each.startswith("."))
        for file in (here / name for name in sorted(files) if name.endswith(".toml")):
            if not file.is_symlink() and _describes_a_study(file):
                yield file


def _describes_a_study(file: Path) -> bool:
    try:
        with file.open("rb") as stream:
            return _NAMES_BENCHMARKS.search(stream.read(LONGEST_FILE_BYTES)) is not None
    except OSError:
        return False


def _find_file(request: Request) -> Path:
    """The study's file that an address names, one of those listed. Raises HTTPException."""
    root, name = request.app.state.studio.folder, request.query_params.get("file", "")
    for file in list_files(root):
        if name_run(root, file) == name:
            return file
    raise HTTPException(HTTPStatus.NOT_FOUND, f"There is no study file '{name}' here. The page Studies lists those there are.")


def show_estimate(request: Request) -> Response:
    """Tells what a study will take, of which nothing may be bought yet."""
    return _show_estimate(request, _find_file(request), {"max_cost": request.query_params.get("max_cost", "")})


def _show_estimate(request: Request, file: Path, given: Mapping[str, str], problem: str = "") -> Response:
    root: Path = request.app.state.studio.folder
    estimate: Document | None = None
    remarks: tuple[str, ...] = ()
    if not problem:
        try:
            amount = read_amount(given["max_cost"].strip())
            estimate, remarks = do_apart(_estimate, file, file.with_suffix(""), amount)
        except SociableError as error:
            problem = str(error)
    return show_page(
        request,
        "begin_study.html.jinja",
        HTTPStatus.BAD_REQUEST if problem else HTTPStatus.OK,
        file=name_run(root, file),
        into=name_run(root, file.with_suffix("")),
        given=given,
        estimate=estimate,
        remarks=remarks,
        problem=problem,
    )


def _estimate(file: Path, folder: Path, max_cost: float | None) -> tuple[Document, tuple[str, ...]]:
    plan = studies.plan_study(file, folder, max_cost=max_cost)
    return studies.estimate_study(plan, folder), plan.remarks


async def begin(request: Request) -> Response:
    """Begins a study, or plays what is missing of it, in a process of its own."""
    return await run_in_threadpool(_begin, request, await request.form())


def _begin(request: Request, form: FormData) -> Response:
    root, file = request.app.state.studio.folder, _find_file(request)
    folder, text = file.with_suffix(""), str(form.get("max_cost", "")).strip()
    try:
        amount = read_amount(text)
        if processes.is_starting(folder) or watching.find_status(folder).state.is_at_work:
            raise InputError(f"{folder} is at work already. Watch it, or stop it first.")
        make_folder(folder)
        limit = [] if amount is None else ["--max-cost", repr(amount)]
        processes.start(folder, "study", str(file), "--out", str(folder), *limit)
    except SociableError as problem:
        return _show_estimate(request, file, {"max_cost": text}, str(problem))
    return answer(name_run(root, folder), "begun")


def show_leaderboard(request: Request) -> Response:
    """The leaderboard of a study, or of all runs below the studio's folder."""
    path = _find_place(request) / FILE
    if not path.is_file():
        raise HTTPException(
            HTTPStatus.NOT_FOUND, "This leaderboard has not been written yet. The page Studies has a button for it."
        )
    return serve_document(path)


def _find_place(request: Request) -> Path:
    return find_work(request) if request.query_params.get("run") else request.app.state.studio.folder


async def write_leaderboard(request: Request) -> Response:
    """Writes the leaderboard of a study, or of all runs below the studio's folder, anew."""
    return await run_in_threadpool(_write_leaderboard, request)


def _write_leaderboard(request: Request) -> Response:
    place, name = _find_place(request), request.query_params.get("run", "")
    ranked = [place] if name else [path for path, _ in list_works(place) if _can_be_ranked(path)]
    if not ranked:
        raise InputError("There is no run with scores here: nothing can be ranked yet.")
    do_apart(_write, ranked, place, seconds=LONGEST_SECONDS)
    return RedirectResponse(make_link("/leaderboard", run=name), HTTPStatus.SEE_OTHER)


def _write(ranked: Sequence[Path], place: Path) -> None:
    leaderboard.write_leaderboard(ranked, place)


def _can_be_ranked(path: Path) -> bool:
    return (path / "scores.json").is_file() or (series.is_series(path) and not tournaments.is_tournament(path))


ROUTES = (
    Route("/studies", list_studies),
    Route("/studies/begin", show_estimate),
    Route("/studies/begin", begin, methods=["POST"]),
    Route("/leaderboard", show_leaderboard),
    Route("/leaderboard", write_leaderboard, methods=["POST"]),
)
