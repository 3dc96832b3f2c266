"""The list of episodes with its filters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from enum import StrEnum
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sociable.core.errors import InputError
from sociable.core.view import format_figure
from sociable.studio.index import EPISODES_ON_PAGE, Disagreement, EpisodeRow, Failure, Filters
from sociable.studio.rendering import make_link, show_page

FAILURES: Mapping[str, str] = {
    "": "all",
    Failure.ANY: "something failed",
    Failure.AGENT: "the model under test: cut off, refused, no format",
    Failure.INSTRUMENT: "an instrument: judge, partner or reference",
    Failure.RUN: "the run: network, limits, bugs",
}

DISAGREEMENTS: Mapping[str, str] = {
    "": "all",
    Disagreement.JUDGES: "judges differ from each other",
    Disagreement.ORDERS: "the two orders of a pair differ",
}


def show_episodes(request: Request) -> Response:
    """The episodes that fit the filters in the address, a page at a time."""
    index = request.app.state.studio.index
    filters, page = read_filters(request.query_params), _read_page(request.query_params)
    found, runs = index.find_episodes(filters, page), index.list_runs()
    shown = [run for run in runs if filters.run in ("", run.name) and filters.benchmark in ("", run.benchmark)]
    pages = max(1, -(-found.total // EPISODES_ON_PAGE))

    def link_page(number: int) -> str:
        return make_link("/episodes", **asdict(filters), page=number)

    return show_page(
        request,
        "episodes.html.jinja",
        filters=filters,
        found=found,
        page=page,
        pages=pages,
        link_page=link_page,
        list_first_scores=list_first_scores,
        runs=[("", "all"), *((run.name, run.name) for run in runs)],
        benchmarks=[("", "all"), *((name, name) for name in sorted({run.benchmark for run in runs if run.benchmark}))],
        metrics=[("", "any"), *((name, name) for name in _list_once(metric for run in shown for metric in run.metrics))],
        topics=index.list_topics(filters),
        failures=FAILURES.items(),
        disagreements=DISAGREEMENTS.items(),
        problems=[(run.name, problem) for run in shown for problem in run.problems],
        problem=request.app.state.studio.indexer.problem,
    )


SCORES_SHOWN = 3


def list_first_scores(row: EpisodeRow, metric: str) -> str:
    """The first scores of an episode in words, that of ``metric`` before them."""
    chosen = [each for each in row.scores if each.metric == metric]
    others = [each for each in row.scores if each.metric != metric and each.value is not None and "/" not in each.metric]
    shown = [*chosen, *others][:SCORES_SHOWN]
    return ", ".join(f"{each.metric} {format_figure(each.value, 2)}" for each in shown)


def _list_once(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def read_filters(given: Mapping[str, str]) -> Filters:
    """The filters in an address. Raises InputError."""
    metric, low, high = given.get("metric", ""), _read_number(given, "low"), _read_number(given, "high")
    if not metric and (low is not None or high is not None):
        raise InputError("A least or greatest score is of one metric: choose the metric as well.")
    return Filters(
        run=given.get("run", ""),
        benchmark=given.get("benchmark", ""),
        topic=given.get("topic", "").strip(),
        metric=metric,
        low=low,
        high=high,
        failure=_read_choice(given, "failure", Failure),
        judges=_read_choice(given, "judges", Disagreement),
        text=given.get("text", "").strip(),
    )


def _read_number(given: Mapping[str, str], name: str) -> float | None:
    return _read(given, name, float, "a number, as in 0.5") if given.get(name, "").strip() else None


Choice = TypeVar("Choice", bound=StrEnum)


def _read_choice(given: Mapping[str, str], name: str, kind: type[Choice]) -> Choice | None:
    return _read(given, name, kind, f"one of {', '.join(kind)}") if given.get(name) else None


def _read_page(given: Mapping[str, str]) -> int:
    page = _read(given, "page", int, "a number from 1 to 1000000") if given.get("page") else 1
    return min(max(page, 1), 1_000_000)


Value = TypeVar("Value")


def _read(given: Mapping[str, str], name: str, kind: Callable[[str], Value], expected: str) -> Value:
    try:
        return kind(given[name].strip())
    except ValueError:
        raise InputError(f"{name} '{given[name]}' in the address: expected {expected}. Go back and correct it.") from None


ROUTES = (Route("/episodes", show_episodes),)
