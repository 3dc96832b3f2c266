"""The list of all runs, one run, its report."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from sociable.core.view import Column, Row, Table, format_with_interval
from sociable.studio.events import stream_changes
from sociable.studio.folders import find_folder, name_run
from sociable.studio.index import RunRow
from sociable.studio.indexing import read_estimates
from sociable.studio.opened import read_manifest
from sociable.studio.rendering import render, show_page
from sociable.studio.security import hide_credentials

REPLAYED = "stss"
"""The benchmark whose episodes can be watched."""


def show_runs(request: Request) -> Response:
    """All runs below the studio's folder."""
    return show_page(request, "runs.html.jinja", **_list_runs(request))


def follow_runs(request: Request) -> Response:
    return stream_changes(lambda: render("runs_table.html.jinja", **_list_runs(request)))


def _list_runs(request: Request) -> dict[str, Any]:
    studio = request.app.state.studio
    return {
        "folder": str(studio.folder),
        "runs": studio.index.list_runs(),
        "problem": studio.indexer.problem,
        "tell_state": tell_state,
    }


def tell_state(run: RunRow) -> str:
    """How far a run is, in a word or two."""
    if run.estimates:
        return "scored"
    return f"{run.done} of {run.planned} episodes" if run.done else "begun"


def show_run(request: Request) -> Response:
    """One run: its estimates, what it rests on, and the ways to its report and its episodes."""
    path, studio = find_folder(request), request.app.state.studio
    name = name_run(studio.folder, path)
    manifest = read_manifest(path)
    row = studio.index.find_run(name)
    return show_page(
        request,
        "run.html.jinja",
        name=name,
        row=row,
        state=tell_state(row) if row else "not looked at yet",
        estimates=_make_estimates_table(path),
        details=list(_list_details(manifest)),
        has_report=(path / "report.html").is_file(),
        report_command=f"sociable report {path}",
        resume_command=f"sociable resume {path}",
        is_scored=(path / "scores.json").is_file(),
    )


def _make_estimates_table(path: Path) -> Table | None:
    """All estimates of a run; None where it has none that can be read."""
    estimates = read_estimates(path)
    columns = [
        Column("Metric"),
        Column("Estimate", numeric=True, explanation="With its 95% interval."),
        Column("Scored", numeric=True, explanation="Values it was made from."),
        Column("Unscored", numeric=True, explanation="Left out because a judge, a partner or a reference failed."),
        Column("Errored", numeric=True, explanation="Left out because the run failed; resume mends it."),
    ]
    rows = [
        Row(
            [
                str(each["metric"]),
                format_with_interval(each["value"], each["low"], each["high"]),
                *(str(each.get(count, 0)) for count in ("scored", "unscored", "errored")),
            ]
        )
        for each in estimates
    ]
    return Table("Estimates", columns, rows) if rows else None


def _list_details(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What the numbers depend on, at a glance. No settings: they may hold addresses with a password."""
    yield "Benchmark", f"{manifest.get('benchmark')} {manifest.get('version')}"
    for role, models in (manifest.get("models") or {}).items():
        if models:
            yield role.capitalize(), hide_credentials(", ".join(models) if isinstance(models, list) else str(models))
    yield "Begun", str(manifest.get("created"))
    yield "Episodes", str(manifest.get("episodes"))
    yield "Seed", str((manifest.get("settings") or {}).get("seed"))
    for role, usage in (manifest.get("usage") or {}).items():
        cost = (manifest.get("cost") or {}).get(role)
        dollars = f", {cost:.4f} US dollars" if cost else ""
        tokens = f"{usage['input_tokens']} tokens in, {usage['output_tokens']} out"
        yield f"Calls of the {role}", f"{usage['calls']}: {tokens}{dollars}"
    for failure, count in (manifest.get("failures") or {}).items():
        yield "Failed", f"{count} ×: {hide_credentials(failure)}"
    yield "Digests", "\n".join(f"{name}: {digest}" for name, digest in (manifest.get("digests") or {}).items())


_STYLE_DIGEST = re.compile(rb"style-src (?:'|&#39;)(sha256-[A-Za-z0-9+/]{43}=)(?:'|&#39;)")


def show_report(request: Request) -> Response:
    """The report as it was written."""
    path = find_folder(request) / "report.html"
    if not path.is_file():
        raise HTTPException(HTTPStatus.NOT_FOUND, f"This run has no report yet. Write it with: sociable report {path.parent}")
    return serve_document(path)


def serve_document(path: Path) -> Response:
    """A document that reports wrote. It may come from anywhere: it runs and loads nothing, and knows nothing of the studio."""
    content = path.read_bytes()
    found = _STYLE_DIGEST.search(content[:2000])
    style = f"; style-src '{found[1].decode()}'" if found else ""
    policy = f"sandbox; default-src 'none'{style}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    return HTMLResponse(content, headers={"Content-Security-Policy": policy})


ROUTES = (Route("/", show_runs), Route("/events/runs", follow_runs), Route("/run", show_run), Route("/report", show_report))
