"""Sections on several runs with two models, or with a person: matrices of pairs, and the human test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from sociable.benchmarks.agentsense.metrics import PARTNER
from sociable.benchmarks.agentsense.study import AgentSenseStudy
from sociable.core.form import PERSON
from sociable.core.records import Estimate
from sociable.core.view import MISSING, Block, Column, Paragraph, Row, Section, Table, format_figure, format_interval
from sociable.engine.result import RunResult
from sociable.engine.seats import Role
from sociable.reports.result_tables import make_metric_columns
from sociable.statistics.intervals import estimate_mean

Run = RunResult[AgentSenseStudy]
Pair = tuple[str, str]
"""Sender and receiver."""
Matrix = Mapping[Pair, Estimate | None]

# Pairs.


def show_pairs(runs: Sequence[Run]) -> list[Section]:
    """The matrices of Figures 5, 7 and 8, if there are runs of senders with receivers."""
    pairs: dict[Pair, Run] = {
        (run.manifest["models"]["subject"], run.manifest["models"]["partner"]): run
        for run in runs
        if run.study.options.plays == "senders"
    }
    if not pairs:
        return []
    metric = "majority" if any(run.estimate("majority") for run in pairs.values()) else "self"
    said = "as the judges' majority says" if metric == "majority" else "as their owners say"
    senders = {pair: run.estimate(metric) for pair, run in pairs.items()}
    receivers = {pair: run.estimate(PARTNER + metric) for pair, run in pairs.items()}
    blocks = [
        _shade_matrix(f"Goals that senders reached, {said} (Figure 7)", senders),
        _shade_matrix(f"Goals that receivers reached, {said} (Figure 8)", receivers),
        _shade_matrix(f"Goals that either reached, the mean of both, {said} (Figure 5 a)", _average_matrices(senders, receivers)),
        _tabulate_partners(senders, receivers),
        *_tabulate_attack(pairs),
    ]
    return [Section("Senders and receivers", blocks)]


def _shade_matrix(caption: str, matrix: Matrix) -> Table:
    senders, receivers = (list(dict.fromkeys(pair[place] for pair in matrix)) for place in (0, 1))
    known = {pair: found.value for pair, found in matrix.items() if found and found.value is not None}
    low, high = min(known.values(), default=0.0), max(known.values(), default=0.0)
    means = [_average([known.get((sender, receiver)) for sender in senders]) for receiver in receivers]
    named = [(sender, [known.get((sender, receiver)) for receiver in receivers]) for sender in senders] + [("mean", means)]
    rows = []
    for name, values in named:
        every = [*values, _average(values)]
        shades = [None if value is None or high == low else (value - low) / (high - low) for value in every]
        rows.append(Row([name, *(format_figure(value, 2) for value in every)], shades=[None, *shades]))
    titles = [Column("Sender ↓ receiver →"), *(Column(receiver, True) for receiver in receivers), Column("mean", True)]
    note = "The stronger the colour, the more goals were reached. Intervals stand in the table by model."
    return Table(caption, titles, rows, note)


def _average_matrices(senders: Matrix, receivers: Matrix) -> Matrix:
    """Both sides' goals together; nothing where one side has no value."""
    found: dict[Pair, Estimate | None] = {}
    for pair, one in senders.items():
        values = [each.value for each in (one, receivers[pair]) if each and each.value is not None]
        found[pair] = one.model_copy(update={"value": fmean(values)}) if one and len(values) == 2 else None
    return found


def _average(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _tabulate_partners(senders: Matrix, receivers: Matrix) -> Table:
    rows = [
        Row([model, role, pair[1 - own], format_interval(found)])
        for role, matrix, own in (("sender", senders, 0), ("receiver", receivers, 1))
        for model in dict.fromkeys(pair[own] for pair in matrix)
        for pair, found in matrix.items()
        if pair[own] == model and found
    ]
    columns = [Column("Model"), Column("as"), Column("with"), Column("Its goals reached", True)]
    note = "The goals are those of the characters that the model of the first column plays. 95% intervals by template."
    return Table("Each model's score as its partner changes", columns, rows, note)


def _tabulate_attack(pairs: Mapping[Pair, Run]) -> Iterator[Table]:
    """Figure 5 (b): over all runs of a model with another, in either role."""
    metrics = next(iter(pairs.values())).study.metrics.select_groups("attack")
    rows = []
    for model in dict.fromkeys(model for pair in pairs for model in pair):
        own = [(run, "" if pair[0] == model else PARTNER) for pair, run in pairs.items() if model in pair and len(set(pair)) > 1]
        found = [[e.value for run, prefix in own if (e := run.estimate(prefix + metric.name))] for metric in metrics]
        runs = max(sum(value is not None for value in values) for values in found)
        if runs:
            rows.append(Row([model, str(runs), *(format_figure(_average(values), 2) for values in found)]))
    if rows:
        yield Table(
            "Attack and defence, over all partners but itself (Figure 5 b)",
            [Column("Model"), Column("Runs", True), *make_metric_columns(metrics)],
            rows,
            "Attack: share of right answers on the partner's secrets. Defence: 1 less the partner's on one's own.",
        )


# A person among models.


def show_persons(runs: Sequence[Run]) -> list[Section]:
    """Tables 11 and 12, for every run with a person beside one of the same scenes without."""
    same, others, alone = [], [], []
    without = [run for run in runs if run.study.options.plays == "all"]
    for run in runs:
        if run.manifest["models"]["partner"] != PERSON:
            continue
        model = run.manifest["models"]["subject"]
        if beside := next((other for other in without if _list_circumstances(other) == _list_circumstances(run)), None):
            same.append(Row([model, *_list_cells(run, beside, Role.PARTNER)]))
            others.append(Row([model, *_list_cells(run, beside, Role.SUBJECT)]))
        else:
            alone.append(model)
    people = ("Goals, person", "Goals, model", "Info, person", "Info, model")
    scenes = ("Goals with", "Goals without", "Info with", "Info without")
    said = "Goals as the judges' majority says; without judges as their owners say."
    note = f"The same scenes and characters in both. {said} 95% intervals by template."
    blocks: list[Block] = []
    for caption, titles, rows in (
        ("A person and the model in the same part (Table 11)", people, same),
        ("The model's characters with a person in the scene and without (Table 12)", scenes, others),
    ):
        if rows:
            blocks.append(Table(caption, [Column("Model"), *(Column(title, True) for title in titles)], rows, note))
    if alone:
        blocks.append(Paragraph(f"There is no run of {', '.join(alone)} without the person to set beside the one with."))
    return [Section("A person in the scene", blocks)] if blocks else []


def _list_circumstances(run: Run) -> list[object]:
    """Everything that must be alike in a run with a person and the one without that belongs to it."""
    models, settings = run.manifest["models"], run.manifest["settings"]
    return [
        models["subject"],
        models["judges"],
        run.manifest["digests"],
        run.manifest["sampling"].get(f"subject {models['subject']}"),
        [settings[name] for name in ("seed", "limit", "dataset", "repeats", "skip_invalid")],
        run.study.options.model_dump(exclude={"plays", "character"}),
    ]


def _list_cells(run: Run, beside: Run, role: Role) -> Iterator[str]:
    """Goals and information in both runs, over the characters that ``role`` plays in ``run``."""
    for metric in ("majority" if run.seats.judges else "self", "information"):
        for each in (run, beside):
            values = list(_list_values(metric, each, run, role))
            found = estimate_mean([value for _, value in values], [template for template, _ in values])
            yield f"{format_interval(found)} (n = {len(values)})" if values else MISSING


def _list_values(metric: str, run: Run, cast: Run, role: Role) -> Iterator[tuple[str, float]]:
    """(template, value) of a metric in ``run`` over the characters that ``role`` plays in ``cast``, scene by scene."""
    value_of = run.study.metrics[metric].value
    played = {episode.id: episode.list_characters(role) for episode in cast.episodes() if not episode.error}
    for episode in run.episodes():
        scene = run.study.make_scene(episode, run.find_judgments(episode), [seat.name for seat in run.seats.judges])
        if value_of and scene.was_played and episode.id in played:
            value = value_of(replace(scene, own=played[episode.id])).value
            if value is not None:
                yield episode.cluster, value
