"""What several runs with two models, or with a person, show together: matrices of pairs, and the human test."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import cast as cast_type

from sociable.benchmarks.agentsense.metrics import PARTNER, value_over
from sociable.benchmarks.agentsense.records import AgentSenseEpisode
from sociable.core.records import Estimate
from sociable.core.view import MISSING, Block, Column, Paragraph, Row, Section, Table, figure, with_interval
from sociable.engine.benchmark import RunResult
from sociable.engine.run import FinishedRun
from sociable.judging.panel import with_panel


def _options(result: RunResult) -> Mapping[str, object]:
    options: Mapping[str, object] = result.manifest["settings"]["options"]
    return options


def _models(result: RunResult) -> tuple[str, str]:
    models = result.manifest["models"]
    return models["subject"], models["partner"]


# Pairs.

Matrix = Mapping[tuple[str, str], Estimate | None]
"""By sender and receiver."""


def pair_sections(results: Sequence[RunResult]) -> list[Section]:
    """The matrices of Figures 5, 7 and 8, if there are runs of senders with receivers."""
    pairs = {_models(result): result for result in results if _options(result).get("plays") == "senders"}
    if not pairs:
        return []
    metric = "majority" if any(result.estimate("majority") for result in pairs.values()) else "self"
    said = "as the judges' majority says" if metric == "majority" else "as their owners say"
    senders = {pair: result.estimate(metric) for pair, result in pairs.items()}
    receivers = {pair: result.estimate(PARTNER + metric) for pair, result in pairs.items()}
    blocks: list[Block] = [
        _heat_map(f"Goals that senders reached, {said} (Figure 7)", senders),
        _heat_map(f"Goals that receivers reached, {said} (Figure 8)", receivers),
        _by_partner(senders, receivers),
    ]
    if attack := _attack_and_defence(pairs):
        blocks.append(attack)
    return [Section("Senders and receivers", blocks)]


def _heat_map(caption: str, matrix: Matrix) -> Table:
    senders, receivers = (list(dict.fromkeys(pair[place] for pair in matrix)) for place in (0, 1))
    values = [found.value for found in matrix.values() if found and found.value is not None]
    low, high = (min(values), max(values)) if values else (0.0, 0.0)

    def row(name: str, cells: Sequence[float | None]) -> Row:
        known = [cell for cell in cells if cell is not None]
        every = [*cells, fmean(known) if known else None]
        shades = [None if value is None or high == low else (value - low) / (high - low) for value in every]
        return Row([name, *(figure(value, 2) for value in every)], shades=[None, *shades])

    def value(sender: str, receiver: str) -> float | None:
        found = matrix.get((sender, receiver))
        return found.value if found else None

    rows = [row(sender, [value(sender, receiver) for receiver in receivers]) for sender in senders]
    columns = [[value(sender, receiver) for sender in senders] for receiver in receivers]
    means = [fmean(known) if (known := [each for each in column if each is not None]) else None for column in columns]
    rows.append(row("mean", means))
    titles = [Column("Sender ↓ receiver →"), *(Column(receiver, True) for receiver in receivers), Column("mean", True)]
    return Table(
        caption, titles, rows, "The stronger the colour, the more goals were reached. Intervals stand in the table by model."
    )


def _by_partner(senders: Matrix, receivers: Matrix) -> Table:
    rows = []
    for role, matrix, own in (("sender", senders, 0), ("receiver", receivers, 1)):
        for model in dict.fromkeys(pair[own] for pair in matrix):
            for pair, found in matrix.items():
                if pair[own] == model and found:
                    rows.append(Row([model, role, pair[1 - own], with_interval(found.value, found.low, found.high)]))
    columns = [Column("Model"), Column("as"), Column("with"), Column("Goals reached", True)]
    return Table("Each model's score as its partner changes", columns, rows, "95% intervals by template.")


def _attack_and_defence(pairs: Mapping[tuple[str, str], RunResult]) -> Table | None:
    """Figure 5 (b): over all runs of a model with another, in either role."""
    names = ("attack", "attack_blind", "defence", "defence_blind")
    found: dict[str, dict[str, list[float]]] = {}
    for (sender, receiver), result in pairs.items():
        if sender == receiver:
            continue
        for model, prefix in ((sender, ""), (receiver, PARTNER)):
            for name in names:
                estimate = result.estimate(prefix + name)
                if estimate and estimate.value is not None:
                    found.setdefault(model, {}).setdefault(name, []).append(estimate.value)
    if not found:
        return None
    rows = []
    for model, values in found.items():
        means = [fmean(values[name]) if name in values else None for name in names]
        runs = max(map(len, values.values()))
        rows.append(Row([model, str(runs), *(figure(mean, 2) for mean in means)]))
    titles = ("Attack", "Attack blind", "Defence", "Defence blind")
    return Table(
        "Attack and defence, over all partners but itself (Figure 5 b)",
        [Column("Model"), Column("Runs", True), *(Column(title, True) for title in titles)],
        rows,
        "Attack: share of right answers on the partner's secrets. Defence: 1 less the partner's on one's own.",
    )


# A person among models.


def person_sections(runs: Sequence[FinishedRun]) -> list[Section]:
    """Tables 11 and 12, for every run with a person beside one of the same scenes without."""
    with_person = [run for run in runs if run.result.manifest["models"]["partner"] == "human"]
    rows_same: list[Row] = []
    rows_others: list[Row] = []
    alone: list[str] = []
    for run in with_person:
        beside = next((other for other in runs if _same_scenes(run.result, other.result)), None)
        model = run.result.manifest["models"]["subject"]
        if beside is None:
            alone.append(model)
            continue
        rows_same.append(Row([model, *_same_person(run, beside)]))
        rows_others.append(Row([model, *_among_others(run, beside)]))
    blocks: list[Block] = []
    if rows_same:
        columns = [Column("Model"), Column("Goals, person", True), Column("Goals, model", True)]
        columns += [Column("Info, person", True), Column("Info, model", True)]
        blocks.append(Table("A person and the model in the same part (Table 11)", columns, rows_same, _NOTE))
        columns = [Column("Model"), Column("Goals with", True), Column("Goals without", True)]
        columns += [Column("Info with", True), Column("Info without", True)]
        caption = "The model's characters with a person in the scene and without (Table 12)"
        blocks.append(Table(caption, columns, rows_others, _NOTE))
    if alone:
        blocks.append(Paragraph(f"There is no run of {', '.join(alone)} without the person to set beside the one with."))
    return [Section("A person in the scene", blocks)] if blocks else []


_NOTE = "The same scenes and characters in both. Goals as the judges' majority says; without judges as their owners say."


def _same_scenes(first: RunResult, other: RunResult) -> bool:
    """Whether ``other`` is the run without the person that belongs to ``first``."""
    one, two = first.manifest, other.manifest
    subject = one["models"]["subject"]
    settings = ("seed", "limit", "dataset", "repeats", "skip_invalid")
    seating = {"plays", "character"}
    options = [{name: value for name, value in _options(result).items() if name not in seating} for result in (first, other)]
    sampling = [manifest["sampling"].get(f"subject {subject}") for manifest in (one, two)]
    return (
        two["models"]["partner"] is None
        and all(one["models"][role] == two["models"][role] for role in ("subject", "judges"))
        and all(one["settings"][name] == two["settings"][name] for name in settings)
        and one["digests"] == two["digests"]
        and options[0] == options[1]
        and sampling[0] == sampling[1]
    )


def _same_person(run: FinishedRun, beside: FinishedRun) -> Iterator[str]:
    for metric in (_goal_metric(run), "information"):
        yield from (_mean_over(metric, run, run, "partner"), _mean_over(metric, beside, run, "partner"))


def _among_others(run: FinishedRun, beside: FinishedRun) -> Iterator[str]:
    for metric in (_goal_metric(run), "information"):
        yield from (_mean_over(metric, run, run, "subject"), _mean_over(metric, beside, run, "subject"))


def _goal_metric(run: FinishedRun) -> str:
    return "majority" if run.seats.judges else "self"


def _mean_over(metric: str, run: FinishedRun, cast: FinishedRun, role: str) -> str:
    """The mean of a metric in ``run`` over the characters that ``role`` plays in ``cast``."""
    casts = cast_type(Iterable[AgentSenseEpisode], cast.records.episodes)
    played = {episode.id: episode.played_as(role) for episode in casts if not episode.error}
    judges = [seat.name for seat in run.seats.judges]
    values = []
    for episode in cast_type(Iterable[AgentSenseEpisode], run.records.episodes):
        if episode.id in played:
            scenario, verdicts = run.study.scenarios[episode.scenario], with_panel(run.judgments_of(episode), judges)
            found = value_over(metric, scenario, episode, verdicts, judges, played[episode.id])
            if found is not None:
                values.append(found)
    return f"{fmean(values):.3f} (n = {len(values)})" if values else MISSING
