"""The parts of a report that are the same for every benchmark: scores, what was counted, what it cost.

A benchmark's ``views.py`` puts them where they belong among its own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sociable.core import view
from sociable.core.plots import IntervalPlot, Mark
from sociable.core.records import Outcome, Score
from sociable.engine.result import RunResult
from sociable.statistics.metrics import Metric

ManyMetrics = Sequence[Metric[Any]]


def make_metrics_table(
    caption: str,
    runs: Sequence[RunResult],
    metrics: ManyMetrics,
    note: str,
    whole: Container[str] | None = None,
    published: Mapping[str, Mapping[str, float | None]] | None = None,
) -> view.Table:
    """One row a run, one column a metric; with the intervals of all, or of those named in ``whole`` (for narrow pages).

    ``published`` are a paper's figures by model and metric, which stand below.
    """
    rows = [view.Row([run.label, *format_metric_cells(run, metrics, whole)], emphasis=bool(published)) for run in runs]
    for model, figures in (published or {}).items():
        rows.append(view.Row([f"{model} (paper)", *(view.format_figure(figures.get(metric.name)) for metric in metrics)]))
    return view.Table(caption, [view.Column("Model"), *make_metric_columns(metrics)], rows, note)


def make_group_tables(
    caption: str,
    runs: Sequence[RunResult],
    group: str,
    note: str,
    published: Mapping[str, Mapping[str, float | None]] | None = None,
) -> Iterator[view.Table]:
    """The table of a group of metrics; none where no run has an estimate of any."""
    if metrics := list_estimated_metrics(runs[0].study.metrics.select_groups(group), runs) if runs else []:
        yield make_metrics_table(caption, runs, metrics, note, published=published)


def make_metric_columns(metrics: ManyMetrics) -> list[view.Column]:
    """The columns of a table that shows these metrics."""
    return [view.Column(metric.title, True, metric.meaning) for metric in metrics]


def format_metric_cells(run: RunResult, metrics: ManyMetrics, whole: Container[str] | None = None) -> list[str]:
    """A run's estimates as they stand in a table; intervals of all, or of those named in ``whole``."""
    cells = []
    for metric in metrics:
        found = run.estimate(metric.name)
        if found and (whole is None or metric.name in whole):
            cells.append(view.format_interval(found, metric.decimals))
        else:
            cells.append(view.format_figure(found.value if found else None, metric.decimals))
    return cells


def list_estimated_metrics(metrics: ManyMetrics, runs: Sequence[RunResult]) -> list[Metric[Any]]:
    """The metrics that any of the runs has an estimate of."""
    return [metric for metric in metrics if any(run.estimate(metric.name) for run in runs)]


def list_members(metrics: ManyMetrics, runs: Sequence[RunResult]) -> list[Metric[Any]]:
    """The metrics, with the members that the runs have in place of each family, called by their own names."""
    found: list[Metric[Any]] = []
    for metric in metrics:
        names = dict.fromkeys(each.metric for run in runs for each in run.estimates if metric.has_member(each.metric))
        found += [replace(metric, name=name, title=name, members=None) for name in names] if metric.members else [metric]
    return found


def make_interval_plot(
    metric: Metric[Any], results: Sequence[RunResult], published: Mapping[str, float], axis: str
) -> IntervalPlot:
    """The runs' own estimates of one metric, and a paper's figures by model."""
    estimates = [(result.label, result.estimate(metric.name)) for result in results]
    return IntervalPlot(
        caption=f"{metric.title}: {metric.meaning}",
        axis=axis,
        marks=[
            *(Mark(label, e.value, e.low, e.high) for label, e in estimates if e is not None),
            *(Mark(f"{model} (paper)", value, published=True) for model, value in published.items()),
        ],
        minimum=metric.low,
        maximum=metric.high,
    )


def warn_of_unjudged(results: Sequence[RunResult], what: str) -> list[view.Callout]:
    """Warnings on runs that nobody has judged, where there is no score without judges; ``what`` they say."""
    found = []
    for result in results:
        if not result.manifest["models"]["judges"]:
            whom = f"{result.label}: nobody" if len(results) > 1 else "Nobody"
            remedy = f"Go on with: sociable judge {result.folder} --judge M"
            text = f"{whom} judged: {what} is said by a judge, a model or reference/rule. {remedy}"
            found.append(view.Callout(text, view.Tone.WARNING))
    return found


def list_notes(results: Sequence[RunResult]) -> list[view.Callout]:
    """The notes that a reader must know, each once, with the models it is about unless it is about all."""
    about: dict[tuple[str, view.Tone], list[str]] = defaultdict(list)
    for result in results:
        for note in result.notes:
            about[note, view.Tone.WARNING].append(result.label)
        if (stopped := result.manifest.get("stopped")) and stopped["is_met"]:
            about[tell_where_it_stopped(stopped), view.Tone.NEUTRAL].append(result.label)
    return [
        view.Callout(note if len(labels) == len(results) else f"{', '.join(labels)}: {note}", tone)
        for (note, tone), labels in about.items()
    ]


def tell_where_it_stopped(stopped: dict[str, Any]) -> str:
    """The end of a run that took clusters until an interval was narrow enough."""
    width = stopped["half_width"]
    found = "there was no interval" if width is None else f"the interval was ± {width:.2g}"
    taken = f"{stopped['clusters']} of {stopped['of']} units in a random order"
    if stopped.get("is_hopeless"):
        return (
            f"Ended by its rule {stopped['rule']} at the first look, with {taken}: no case has a value of that metric. Is a "
            "stage or a judge missing? Start a new run with another rule."
        )
    if stopped["is_met"]:
        said = f"Ended by its rule {stopped['rule']}, with {taken}: {found}"
    else:
        said = f"The rule {stopped['rule']} was not met: with all {stopped['of']} units {found}"
    return (
        f"{said} (look {stopped['look']} of {stopped['looks']}). This interval holds over all looks together; those of other "
        "metrics are as if the number had been fixed beforehand."
    )


def make_outcomes_table(result: RunResult, metrics: Iterable[str], explained: Container[str] = ()) -> view.Table:
    """The number of values of each outcome, and why the others are none; of ``explained`` metrics also why they are 0."""
    rows = []
    for metric in metrics:
        own = [score for score in result.scores if score.metric == metric]
        counts = [sum(score.outcome is outcome for score in own) for outcome in Outcome]
        rows.append(view.Row([metric, *map(str, counts), _find_reasons(own, explained)]))
    return view.Table(
        caption=result.label,
        columns=[
            view.Column("Metric"),
            view.Column("Scored", True),
            view.Column("Not reached", True, "an earlier stage ended the case, or there was nothing to measure"),
            view.Column("Unscored", True, "judge, partner or reference failed"),
            view.Column("Errored", True, "the run failed; resume it"),
            view.Column("Most frequent reasons"),
        ],
        rows=rows,
    )


def _find_reasons(scores: Iterable[Score], explained: Container[str]) -> str:
    """The three most frequent reasons, each with how often it was given."""
    counts: Counter[str] = Counter()
    for score in scores:
        failed = score.value == 0.0 and score.metric in explained
        if score.reason and (failed or score.outcome in (Outcome.UNSCORED, Outcome.ERRORED)):
            counts[score.reason[:120]] += 1
    return "; ".join(f"{count} × {reason}" for reason, count in counts.most_common(3))


_TIMES = {
    "median": ("Seconds", 2),
    "longest": ("Longest", 2),
    "first token": ("To 1st token", 2),
    "tokens a second": ("Tokens/s", 1),
}
"""The column of each time in a manifest, and its decimals."""


def make_cost_block(results: Sequence[RunResult]) -> view.Block:
    """Calls, tokens, price and time of every role of every run."""
    rows = []
    several = len(results) > 1
    for result in results:
        usage, cost, seconds = (result.manifest.get(name, {}) for name in ("usage", "cost", "seconds"))
        for role, used in usage.items():
            tokens = [f"{used[name]:,}" for name in ("calls", "input_tokens", "output_tokens")]
            dollars = f"{cost[role]:.4f}" if role in cost else "unknown"
            taken = seconds.get(role, {})
            took = [f"{taken[name]:.{digits}f}" if name in taken else "—" for name, (_, digits) in _TIMES.items()]
            rows.append(view.Row([*([result.label] if several else []), role, *tokens, dollars, *took]))
    if not rows:
        return view.Paragraph("No calls: reference agents and rules use no model.")
    return view.Table(
        caption="Calls, tokens, price and time",
        columns=[
            *map(view.Column, ("Run of", "Role") if several else ("Role",)),
            *(
                view.Column(name, True)
                for name in ("Calls", "Tokens in", "Tokens out", "US dollars", *(title for title, _ in _TIMES.values()))
            ),
        ],
        rows=rows,
        note="Tokens as the servers counted them, or estimated from characters where they did not; priced by the table of "
        "prices. Seconds of a call: median and longest. The last two columns are of calls that came as streams.",
    )
