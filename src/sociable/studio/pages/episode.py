"""One episode in full, its calls, two runs side by side on it, a town's replay."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from sociable.api.towns import make_replay
from sociable.core.errors import InputError
from sociable.core.view import MISSING, Block, Callout, Column, Row, Table, Tone, format_figure
from sociable.studio.folders import find_folder, name_run
from sociable.studio.index import EpisodeRow
from sociable.studio.opened import MOST_CALLS_TRACED, HeardTurn, OpenedRun, list_dicts, list_turns, open_to_look, show_episode
from sociable.studio.rendering import make_link, show_page
from sociable.studio.security import hide_credentials

CALLS_ON_PAGE = 20


@dataclass(frozen=True, slots=True)
class ShownEpisode:
    """All that a page says of one episode of one run."""

    run: str
    model: str
    benchmark: str
    row: EpisodeRow | None
    scores: Table | None
    blocks: Sequence[Block]
    """What the benchmark shows of it."""
    turns: Sequence[HeardTurn]
    verdicts: Table | None
    calls: int
    record: str
    """The record as it is kept, as JSON."""


def _find_episode(run: OpenedRun, episode: str, name: str) -> dict[str, Any]:
    """The record of an episode. Raises HTTPException where there is none, and RunFolderError where it is damaged."""
    found = run.episodes.find(episode)
    if found is None:
        raise HTTPException(HTTPStatus.NOT_FOUND, f"The run '{name}' has no episode '{episode}'. The page Episodes lists them.")
    return found.to_dict()


def _collect(request: Request, path: Path, episode: str) -> ShownEpisode:
    studio = request.app.state.studio
    name, run = name_run(studio.folder, path), open_to_look(path)
    record = _find_episode(run, episode, name)
    row = studio.index.find_episode(name, episode)
    calls = run.count_calls(episode)
    try:
        blocks = show_episode(path, episode)
    except InputError as problem:
        blocks = [Callout(f"Shown as it is kept, without the benchmark's own view: {problem}", Tone.WARNING)]
    traced = run.list_calls(episode, 0, MOST_CALLS_TRACED) if calls <= MOST_CALLS_TRACED else []
    return ShownEpisode(
        run=name,
        model=str((run.manifest.get("models") or {}).get("subject", "")),
        benchmark=str(run.manifest.get("benchmark", "")),
        row=row,
        scores=_tabulate_scores(row) if row and row.scores else None,
        blocks=blocks,
        turns=list_turns(record, traced),
        verdicts=_tabulate_verdicts(run, episode),
        calls=calls,
        record=json.dumps(record, indent=1, ensure_ascii=False),
    )


def _tabulate_scores(row: EpisodeRow) -> Table:
    columns = [Column("Metric"), Column("Value", numeric=True), Column("Outcome"), Column("Reason")]
    rows = [Row([each.metric, format_figure(each.value), each.outcome, each.reason]) for each in row.scores]
    return Table("Scores of this episode", columns, rows)


def _tabulate_verdicts(run: OpenedRun, episode: str) -> Table | None:
    """The verdicts of all judges, those of earlier panels among them; of pairs also what was preferred in each order."""
    panel = (run.manifest.get("models") or {}).get("judges") or ()
    rows = []
    for each in run.list_judgments(episode):
        orders = {
            order.get("subject_first") is True: str(order.get("preference", "")) for order in list_dicts(each.get("orders"))
        }
        judge = str(each.get("judge", ""))
        who = judge if judge in panel else f"{judge} (an earlier judge)"
        said = [orders.get(place, MISSING) for place in (True, False)]
        rows.append(Row([str(each.get("criterion", "")), who, str(each.get("verdict", "")), *said, str(each.get("reason", ""))]))
    explanation = "For the model under test: win, tie or loss."
    columns = [
        Column("Criterion"),
        Column("Judge"),
        Column("Verdict", explanation=explanation),
        Column("Its reply shown first", explanation="The judge's preference when the reply of the model under test stood first."),
        Column("Shown second", explanation="The judge's preference when it stood second."),
        Column("Reason"),
    ]
    return Table("Verdicts", columns, rows) if rows else None


def show_one(request: Request) -> Response:
    """One episode: turns, who heard them, thoughts, verdicts, and the way to the calls."""
    studio = request.app.state.studio
    episode = request.query_params.get("episode", "")
    shown = _collect(request, find_folder(request), episode)
    before, after = studio.index.find_neighbours(shown.run, episode)
    others = studio.index.list_other_runs(shown.run, episode)
    return show_page(
        request,
        "episode.html.jinja",
        episode=episode,
        shown=shown,
        before=before,
        after=after,
        others=[(name, f"{name} ({model})") for name, model in others],
        is_replayed=shown.benchmark == "stss",
        traced=shown.calls <= MOST_CALLS_TRACED,
    )


def show_beside(request: Request) -> Response:
    """Two runs side by side on one case."""
    episode = request.query_params.get("episode", "")
    sides = [_name_tables(_collect(request, find_folder(request, parameter), episode)) for parameter in ("run", "other")]
    return show_page(request, "beside.html.jinja", episode=episode, sides=sides)


def _name_tables(shown: ShownEpisode) -> ShownEpisode:
    """The same with the run in the captions of its tables: on one page no two may be called alike."""

    def name_table(block: Block | None) -> Any:
        return replace(block, caption=f"{block.caption}, {shown.run}") if isinstance(block, Table) else block

    return replace(
        shown, scores=name_table(shown.scores), verdicts=name_table(shown.verdicts), blocks=[*map(name_table, shown.blocks)]
    )


def show_calls(request: Request) -> Response:
    """Every call of an episode as it was sent, and its reply, a page at a time."""
    path, episode = find_folder(request), request.query_params.get("episode", "")
    name, run = name_run(request.app.state.studio.folder, path), open_to_look(path)
    given = request.query_params.get("page", "1")
    total = run.count_calls(episode)
    pages = max(1, -(-total // CALLS_ON_PAGE))
    page = min(max(int(given), 1), pages) if given.isascii() and given.isdigit() and len(given) < 10 else 1
    first = (page - 1) * CALLS_ON_PAGE
    found = run.list_calls(episode, first, CALLS_ON_PAGE)
    calls = [_describe_call(call, number) for number, call in enumerate(found, start=first + 1)]

    def link_page(number: int) -> str:
        return make_link("/calls", run=name, episode=episode, page=number)

    return show_page(
        request,
        "calls.html.jinja",
        run=name,
        episode=episode,
        calls=calls,
        total=total,
        page=page,
        pages=pages,
        link_page=link_page,
    )


def _describe_call(call: Any, number: int) -> Mapping[str, Any]:
    request = dict(call.request)
    messages = [message for message in request.pop("messages", ()) if isinstance(message, dict)]
    return {
        "number": number,
        "who": " · ".join(dict.fromkeys(filter(None, (call.role, call.participant, call.model)))),
        "messages": [(str(each.get("role", "")), _write_content(each.get("content", ""))) for each in messages],
        "rest": hide_credentials(json.dumps(request, ensure_ascii=False)) if request else "",
        "reply": call.reply,
        "seconds": call.seconds,
    }


def _write_content(content: object) -> str:
    return content if isinstance(content, str) else json.dumps(content, indent=1, ensure_ascii=False)


def show_replay(request: Request) -> Response:
    """An episode of a town to be watched. Its page brings its own script, which nothing else of the studio gets to see."""
    replay = make_replay(find_folder(request), request.query_params.get("episode", ""))
    # The page was made just now, with its policy before anything foreign in it.
    own = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', replay)
    policy = html.unescape(own[1]) if own else "default-src 'none'"
    return HTMLResponse(replay, headers={"Content-Security-Policy": f"sandbox allow-scripts; {policy}; frame-ancestors 'none'"})


ROUTES = (
    Route("/episode", show_one),
    Route("/beside", show_beside),
    Route("/calls", show_calls),
    Route("/replay", show_replay),
)
