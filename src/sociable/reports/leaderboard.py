"""A leaderboard as it is shown: models and benchmarks, the ranks that the data allow, each one's profile, and what it cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sociable.core.plots import IntervalPlot, Mark
from sociable.core.records import Estimate
from sociable.core.spreadsheets import render_csv
from sociable.core.view import (
    MISSING,
    Block,
    Callout,
    Document,
    Paragraph,
    Row,
    Section,
    Table,
    Tone,
    format_figure,
    format_with_interval,
)
from sociable.core.view import Column as Heading
from sociable.engine.result import RunResult
from sociable.judging.auditing.card import JudgeCard
from sociable.people.corrected import note_corrected
from sociable.reports.comparison import make_pairs_table
from sociable.reports.judge_cards import describe_judges, find_cards, show_judges
from sociable.reports.result_tables import list_notes
from sociable.reports.standings import NOT_RUN, Column, Entry, Standings, is_reference
from sociable.statistics.intervals import Interval
from sociable.statistics.metrics import Metric
from sociable.statistics.ranks import RankRange

_CORRECTED, _IN_PART = "†", "*"
_RANKS = (
    "Ranks that the data allow, at 95% for all pairs of a column at once: 2–4 of five means that one is surely better and one "
    "surely worse. Who shares a letter is not told apart."
)
_MEAN_RANK = (
    "A mean of ranks takes every column for equally important, throws away how far apart models are, and can change when another "
    "model joins. No single number says who is socially able: read the columns. Limits hold for all pairs of all columns at once."
)
_PUBLISHED = (
    "From the papers, for other data, other judges and models of their time: to look at beside the rows above, never to "
    "be ranked with them."
)


def make_leaderboard(standings: Standings) -> Document:
    """The leaderboard of these runs."""
    runs = [run for column in standings.columns for entry in column.entries for run in entry.runs]
    entries = [entry for column in standings.columns for entry in column.entries]
    models = {entry.model for entry in entries if not entry.is_reference}
    agents = {entry.model for entry in entries if entry.is_reference}
    benchmarks = {column.benchmark.name: column.benchmark for column in standings.columns}
    cards = {column.title: _find_cards(column) for column in standings.columns}
    # Two benchmarks of one paper may show the same table.
    published = {table.caption: table for each in benchmarks.values() for table in each.load_views().show_published()}
    counted = [_count(len(named), what) for named, what in ((models, "model"), (agents, "reference agent")) if named] + [
        _count(len(benchmarks), "benchmark"),
        _count(len(runs), "run"),
    ]
    return Document(
        title="Leaderboard",
        subtitle=", ".join(counted),
        summary=_make_summary(standings),
        sections=[
            Section("Ranks", list(_show_ranks(standings))),
            Section("What the columns measure", list(_show_columns(standings, cards))),
            *(_show_column(column) for column in standings.columns if column.metric),
            Section("Cost and time beside quality", [_make_cost_table(standings)]),
            *note_corrected(_label_runs(standings)),
            *_show_judges(standings, cards),
            *_show_notes(standings),
            *_show_profiles(standings),
            *([Section("Published figures", [Paragraph(_PUBLISHED), *published.values()])] if published else []),
        ],
        details=list(_list_details(standings)),
    )


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _find_cards(column: Column) -> Mapping[str, JudgeCard]:
    runs = [run for entry in column.entries for run in entry.runs]
    return find_cards([Path(run.folder) for run in runs], column.benchmark.name, runs[0].manifest["version"])


def _make_summary(standings: Standings) -> Table:
    """Models x benchmarks, each cell the main metric with its interval."""
    cells = {name: [_write_cell(column, name) for column in standings.columns] for name in standings.names}
    planned = {title for title, _ in standings.planned} - {column.title for column in standings.columns}
    headings = [Heading(column.title, True, _explain(column)) for column in standings.columns]
    written = [cell for own in cells.values() for cell in own]
    notes = ["95% intervals by cluster. Reference agents are the scale: they are not ranked among models."]
    if any(_CORRECTED in cell for cell in written):
        notes.append(f"{_CORRECTED}: people checked its judges, see Corrected by people; ranks rest on what judges said.")
    if any(_IN_PART in cell for cell in written):
        notes.append(f"{_IN_PART}: without the episodes that are missing or errored.")
    return Table(
        "Models and benchmarks",
        [Heading("Model"), *headings, *(Heading(name, True) for name in sorted(planned))],
        [Row([name, *own, *[NOT_RUN] * len(planned)], emphasis=not is_reference(name)) for name, own in cells.items()],
        " ".join(notes),
    )


def _explain(column: Column) -> str:
    if column.metric is None:
        return "nothing measured yet"
    return f"{column.metric.name}: {column.metric.meaning}{'; low is good' if column.metric.is_better_low else ''}"


def _write_cell(column: Column, name: str) -> str:
    entry = column.find(name)
    if entry is None:
        return NOT_RUN
    found = entry.estimate(column.metric)
    if column.metric is None or found is None or found.value is None:
        return entry.missing or MISSING
    shown: Estimate | Interval = entry.corrected.get(column.metric.name, found)
    marks = f"{_CORRECTED if entry.corrected else ''}{_IN_PART if entry.missing else ''}"
    value, space, interval = format_with_interval(shown.value, shown.low, shown.high, column.metric.decimals).partition(" ")
    return f"{value}{marks}{space}{interval}"


def _format_ranks(found: RankRange | None) -> str:
    if found is None:
        return MISSING
    return f"{found.best}" if found.best == found.worst else f"{found.best}–{found.worst}"


def _show_ranks(standings: Standings) -> Iterator[Block]:
    if not standings.ranked:
        yield Callout("Nobody is ranked: it takes two who ran the same cases of a benchmark, and scores of single cases.")
        return
    means = standings.mean_ranks
    ranked = {name for column in standings.ranked for name in column.ranks}
    rows = []
    for name in sorted(ranked, key=lambda name: [*means, *standings.names].index(name)):
        found = [column.ranks.get(name) for column in standings.ranked]
        cells = [f"{_format_ranks(each)} {each.group}" if each else MISSING for each in found]
        mean = means.get(name)
        overall = [format_with_interval(mean.value, mean.low, mean.high, 2) if mean else MISSING] if means else []
        rows.append(Row([name, *overall, *cells]))
    headings = [Heading(column.title, True, _explain(column)) for column in standings.ranked]
    yield Table(
        "Ranks of the models", [Heading("Model"), *([Heading("Mean rank", True)] if means else []), *headings], rows, _RANKS
    )
    if means:
        yield Callout(_MEAN_RANK, Tone.WARNING)
        if left := [name for name in standings.names if name in ranked and name not in means]:
            yield Paragraph(f"Without a mean rank, as not in every column: {', '.join(left)}.")
    elif len(standings.columns) > 1:
        yield Paragraph("There is no mean rank: it takes two columns that rank somebody.")


def _show_columns(standings: Standings, cards: Mapping[str, Mapping[str, JudgeCard]]) -> Iterator[Block]:
    rows = []
    for column in standings.columns:
        scored = [run for entry in column.entries for run in entry.scored]
        judged = " ".join(dict.fromkeys(filter(None, (describe_judges(run, cards[column.title]) for run in scored))))
        clusters = {score.cluster for run in scored for score in run.scores}
        cases = {score.scenario for run in scored for score in run.scores}
        size = f"{len(cases)} {column.benchmark.scenarios_called}, {_count(len(clusters), column.benchmark.cluster_unit)}"
        rows.append(Row([column.title, _explain(column), size, judged or "no judge asked"]))
    headings = [Heading(title) for title in ("Column", "Metric", "Cases", "Judges")]
    yield Table("What each column shows", headings, rows)
    for column in standings.columns:
        if column.differs:
            first = next(each.title for each in standings.columns if each.benchmark.name == column.benchmark.name)
            text = f"{column.title} is not comparable with {first}, and stands apart. They differ in: "
            yield Callout(f"{text}{column.differs}.", Tone.WARNING)


def _show_column(column: Column) -> Section:
    """One column: everybody's value with the scale, and all pairs."""
    metric = column.metric
    assert metric is not None
    marks, ranked = [], {entry.name for entry in column.contenders}
    for entry in column.ordered:
        if (found := entry.estimate(metric)) and found.value is not None:
            label = entry.name if entry.name in ranked else f"{entry.name} (scale)"
            marks.append(Mark(label, found.value, found.low, found.high))
    plot = IntervalPlot(f"{metric.title}: {metric.meaning}", metric.unit, marks, metric.low, metric.high)
    blocks: list[Block] = [plot] if marks else []
    if column.pairs:
        pairs = [(f"{one} – {other}", pair) for (one, other), pair in column.pairs.items()]
        blocks.append(make_pairs_table(f"All pairs on {metric.name}", pairs, column.conclusions, "the pairs of this table"))
    elif len(column.contenders) > 1:
        blocks.append(Callout(f"{metric.name} has no value per case, so nobody is ranked by it.", Tone.NEUTRAL))
    return Section(f"{column.title}: {metric.title}", blocks)


@dataclass(frozen=True)
class _Spent:
    """What the runs of an entry took."""

    calls: int
    tokens_in: int
    tokens_out: int
    dollars: float | None
    """None: the price of a model is not known."""
    seconds: float | None
    """The median of a call of the model itself; of several runs that of the slowest."""


def _add_up(entry: Entry) -> _Spent:
    manifests = [run.manifest for run in entry.runs]
    used = [usage for manifest in manifests for usage in manifest.get("usage", {}).values()]
    is_known = all(manifest.get("usage", {}).keys() <= manifest.get("cost", {}).keys() for manifest in manifests)
    medians = [manifest.get("seconds", {}).get("subject", {}).get("median") for manifest in manifests]
    return _Spent(
        calls=sum(each["calls"] for each in used),
        tokens_in=sum(each["input_tokens"] for each in used),
        tokens_out=sum(each["output_tokens"] for each in used),
        dollars=sum(sum(manifest.get("cost", {}).values()) for manifest in manifests) if is_known else None,
        seconds=max((each for each in medians if each is not None), default=None),
    )


def _list_rows(standings: Standings) -> Iterator[tuple[Column, Entry]]:
    """Everybody in every column, in the order of the rows."""
    for column in standings.columns:
        yield from ((column, entry) for name in standings.names if (entry := column.find(name)))


def _make_cost_table(standings: Standings) -> Block:
    rows = []
    for column, entry in _list_rows(standings):
        spent, played = _add_up(entry), sum(len(run.records.episodes) for run in entry.runs)
        if not spent.calls:
            continue
        dollars = ["unknown"] * 2 if spent.dollars is None else [f"{spent.dollars:.4f}", f"{spent.dollars / max(1, played):.5f}"]
        counts = [f"{each:,}" for each in (spent.calls, spent.tokens_in, spent.tokens_out)]
        rows.append(
            Row([entry.name, column.title, _write_cell(column, entry.name), *dollars, *counts, format_figure(spent.seconds, 2)])
        )
    if not rows:
        return Paragraph("No calls: reference agents and rules use no model.")
    numbers = ("Value", "US dollars", "an episode", "Calls", "Tokens in", "Tokens out", "Seconds")
    note = "Of all roles together, partners and judges included. Seconds: the median of a call of the model itself."
    return Table("Cost and time", [Heading("Model"), Heading("Column"), *(Heading(each, True) for each in numbers)], rows, note)


def _label_runs(standings: Standings) -> list[RunResult]:
    """All runs that have scores, called by row and column."""
    return [
        replace(run, label=f"{entry.name}, {column.title}") for column, entry in _list_rows(standings) for run in entry.scored
    ]


def _show_judges(standings: Standings, cards: Mapping[str, Mapping[str, JudgeCard]]) -> Iterator[Section]:
    """The cards of the judges who have one; who has none is told in the table of columns."""
    for column in standings.columns:
        if cards[column.title]:
            for section in show_judges([run for entry in column.entries for run in entry.scored], cards[column.title]):
                yield replace(section, title=f"Judges of {column.title}")


def _show_notes(standings: Standings) -> Iterator[Section]:
    missing = [
        Callout(f"{entry.name}, {column.title}: {entry.missing}. Go on with: sociable resume {folder}", Tone.WARNING)
        for column, entry in _list_rows(standings)
        if entry.missing
        for folder in [next(run.folder for run in entry.runs)]
    ]
    if notes := [*missing, *list_notes(_label_runs(standings))]:
        yield Section("Notes on the runs", notes)


def _show_profiles(standings: Standings) -> Iterator[Section]:
    """A section for each model; for reference agents only where there are no others: they are the scale."""
    shown = [name for name in standings.names if not is_reference(name)] or standings.names
    for name in shown:
        rows, marks = [], []
        for column in standings.columns:
            entry = column.find(name)
            if entry is None or entry.pooled is None:
                continue
            for metric in _list_profile_metrics(entry.pooled):
                found = entry.estimate(metric)
                if found is None or found.value is None:
                    continue
                scale = _find_scale(column, metric, name)
                shown_scale = ", ".join(f"{agent} {format_figure(value, 2)}" for agent, value in scale.items())
                value = format_with_interval(found.value, found.low, found.high, metric.decimals)
                best = MISSING if metric.best is None else f"{metric.best:g}"
                rows.append(Row([column.title, metric.name, value, best, shown_scale or MISSING], metric is column.metric))
                if metric.best is not None:
                    marks.append(_make_mark(f"{column.title}: {metric.name}", metric, found, list(scale.values())))
        if rows:
            headings = [
                Heading("Column"),
                Heading("Metric"),
                Heading("Value", True),
                Heading("Best", True),
                Heading("Reference agents"),
            ]
            note = "95% intervals by cluster. Best: the best possible value."
            table = Table(f"All compared metrics of {name}", headings, rows, note)
            axis = "way from the worst possible (0) to the best (1)"
            caption = f"How far {name} is on the way to the best possible; ticks are reference agents"
            plots = [IntervalPlot(caption, axis, marks, 0.0, 1.0)] if marks else []
            yield Section(f"Profile: {name}", [*plots, table])


def _list_profile_metrics(run: RunResult) -> list[Metric[Any]]:
    """The metrics of a profile: the main ones first, then all that are compared."""
    metrics = run.study.metrics
    found = [*run.study.list_main_metrics(), *metrics.list_compared(), *metrics.list_combined()]
    return list({metric.name: metric for metric in found}.values())


def _find_scale(column: Column, metric: Metric[Any], name: str) -> dict[str, float]:
    """The values of the reference agents in a column, but of the one whose profile it is; from the least."""
    found = {
        entry.name.removeprefix("reference/"): value
        for entry in column.entries
        if entry.is_reference and entry.name != name and (value := entry.find_value(metric)) is not None
    }
    return dict(sorted(found.items(), key=lambda item: (item[1], item[0])))


def _make_mark(label: str, metric: Metric[Any], found: Estimate, scale: Sequence[float]) -> Mark:
    value, low, high = (None if each is None else metric.measure_reached(each) for each in (found.value, found.low, found.high))
    if low is not None and high is not None and low > high:
        low, high = high, low
    return Mark(label, value, low, high, scale=[metric.measure_reached(each) for each in scale])


def _list_details(standings: Standings) -> Iterator[tuple[str, str]]:
    for column in standings.columns:
        runs = [run for entry in column.entries for run in entry.runs]
        seeds = sorted({run.manifest["settings"]["seed"] for run in runs})
        digests = ", ".join(f"{name} {digest[:12]}" for name, digest in runs[0].manifest["digests"].items())
        yield column.title, f"version {runs[0].manifest['version']}; {digests}; seeds {', '.join(map(str, seeds))}"
        yield f"{column.title}, runs", ", ".join(run.folder for run in runs)


_COLUMNS = (
    *("row", "model", "is_reference", "column", "benchmark", "version", "metric", "is_main", "value", "low", "high"),
    *("scored", "unscored", "errored", "not_reached", "best_rank", "worst_rank", "group", "corrected", "corrected_low"),
    *("corrected_high", "state", "judges", "calls", "input_tokens", "output_tokens", "us_dollars", "not_comparable_for"),
)


def make_leaderboard_csv(standings: Standings) -> str:
    """One row for each metric of everybody in every column; cells in which nothing was run are rows too."""
    rows = []
    for column, entry in _list_rows(standings):
        rows += [_write_row(column, entry, each) for each in _list_profile_metrics(entry.pooled)] if entry.pooled else []
        if not entry.pooled:
            rows.append(_write_row(column, entry, None))
    there = {(column.title, entry.name) for column, entry in _list_rows(standings)}
    for title, name in standings.planned:
        if (title, name) not in there:
            rows.append({"row": name, "benchmark": title.partition(" · ")[0], "column": title, "state": NOT_RUN})
    return render_csv(_COLUMNS, [[_write_value(row.get(name)) for name in _COLUMNS] for row in rows])


def _write_row(column: Column, entry: Entry, metric: Metric[Any] | None) -> dict[str, Any]:
    manifest, spent = entry.runs[0].manifest, _add_up(entry)
    row: dict[str, Any] = {
        "row": entry.name,
        "model": entry.model,
        "is_reference": entry.is_reference,
        "column": column.title,
        "benchmark": column.benchmark.name,
        "version": manifest["version"],
        "state": entry.missing or "finished",
        "judges": ", ".join(manifest["models"]["judges"]),
        "calls": spent.calls,
        "input_tokens": spent.tokens_in,
        "output_tokens": spent.tokens_out,
        "us_dollars": spent.dollars,
        "not_comparable_for": column.differs,
    }
    if metric is None:
        return row
    row |= {"metric": metric.name, "is_main": column.metric is not None and metric.name == column.metric.name}
    if found := entry.estimate(metric):
        row |= found.model_dump(exclude={"metric", "confidence"})
    if row["is_main"] and (ranks := column.ranks.get(entry.name)):
        row |= {"best_rank": ranks.best, "worst_rank": ranks.worst, "group": ranks.group}
    if corrected := entry.corrected.get(metric.name):
        row |= {"corrected": corrected.value, "corrected_low": corrected.low, "corrected_high": corrected.high}
    return row


def _write_value(value: Any) -> str | float | None:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return round(value, 6) if isinstance(value, float) else value
