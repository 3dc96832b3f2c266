"""Whole reports as view records: what a benchmark shows, and what its numbers depend on."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sociable.core.form import PERSON
from sociable.core.people_files import PeopleFiles
from sociable.core.records import ScoreFile
from sociable.core.run_folder import SERIES_FILE
from sociable.core.view import Column, Document, Row, Section, Table, format_interval
from sociable.engine.benchmark import Benchmark
from sociable.engine.ratings import OVERALL, find_rubric, name_rating_metric
from sociable.engine.result import RunResult
from sociable.engine.seats import Role
from sociable.judging.rubric import Rubric
from sociable.people.agreement import show_people
from sociable.people.corrected import note_corrected
from sociable.reports.comparison import find_differences
from sociable.reports.judge_cards import describe_judges, find_cards, show_judges
from sociable.reports.result_tables import tell_where_it_stopped


def make_run_document(benchmark: Benchmark, runs: Sequence[RunResult]) -> Document:
    """The report on one or several runs of a benchmark."""
    runs, views = _label_runs(runs), benchmark.load_views()
    rubrics = dict.fromkeys(filter(None, (run.manifest["settings"].get("rubric") for run in runs)))
    summary, cards = views.show_summary(runs), find_cards([Path(run.folder) for run in runs], benchmark.name, benchmark.version)
    judged = " ".join(dict.fromkeys(filter(None, (describe_judges(run, cards) for run in runs))))
    return Document(
        title=benchmark.title,
        subtitle=_make_subtitle(benchmark, runs),
        summary=replace(summary, note=f"{summary.note} {judged}".strip()),
        sections=[
            *note_corrected(runs),
            *views.show_sections(runs),
            *(_show_rubric(find_rubric(name), runs) for name in rubrics),
            *_show_people(runs),
            *show_judges(runs, cards),
        ],
        details=[detail for run in runs for detail in _list_details(run, several=len(runs) > 1)],
    )


def _show_rubric(rubric: Rubric, results: Sequence[RunResult]) -> Section:
    """The raters' ratings of the runs: one row a dimension, one column a run."""
    named = {OVERALL: "mean of all dimensions", **{each.name: each.meaning for each in rubric.dimensions}}
    ranges = {each.name: f"{each.low} to {each.high}" for each in rubric.dimensions}
    found: dict[Role, list[Row]] = defaultdict(list)
    for role in (Role.SUBJECT, Role.PARTNER):
        for name, meaning in named.items():
            estimates = [result.estimate(name_rating_metric(rubric.name, name, role)) for result in results]
            if any(estimates):
                cells = [format_interval(e, 2) for e in estimates]
                found[role].append(Row([name.replace("_", " "), ranges.get(name, ""), *cells, meaning]))
    who = {Role.SUBJECT: "The model under test", Role.PARTNER: "The partner"}
    columns = [Column("Dimension"), Column("Range"), *(Column(result.label, True) for result in results), Column("Meaning")]
    note = "Means over episodes in which the participant spoke; several judges count by their mean. 95% intervals by cluster."
    return Section(f"Rubric: {rubric.name}", [Table(who[role], columns, rows, note) for role, rows in found.items()])


def _show_people(runs: Sequence[RunResult]) -> Iterator[Section]:
    for run in runs:
        with PeopleFiles(Path(run.folder)) as people:
            for section in show_people(run, people):
                yield replace(section, title=f"{section.title}: {run.label}") if len(runs) > 1 else section


def _label_runs(runs: Sequence[RunResult]) -> list[RunResult]:
    """The runs with their folders in their labels where two are of the same model, and a note on those not comparable."""
    models = [run.label for run in runs]
    labelled = []
    for run in runs:
        label, notes = run.label, list(run.notes)
        if models.count(label) > 1:
            label = f"{label} ({Path(run.folder).name})"
        # Runs of a series were made to be looked at together, however they differ.
        parents = {Path(each.folder).parent for each in (runs[0], run)}
        is_series = len(parents) == 1 and (parents.pop() / SERIES_FILE).exists()
        if (different := find_differences(runs[0], run)) and not is_series:
            notes.append(f"Not comparable with {runs[0].folder}: {'; '.join(different)}.")
        labelled.append(replace(run, label=label, notes=notes))
    return labelled


def warn_of_self_judging(model: str) -> str:
    if model == PERSON:
        return "People judge what people said: see to it that nobody judges their own words, as the desk does."
    return f"{model} judges its own replies; models tend to prefer their own. Name another judge."


FEW_CLUSTERS = 10
"""Below it a percentile bootstrap is clearly too narrow."""


def list_warnings(manifest: dict[str, Any], scores: ScoreFile) -> list[str]:
    """The warnings that a reader of the scores must know."""
    models = manifest["models"]
    notes = []
    judging = {*models["judges"], *manifest.get("rubric", {}).get("raters", ())}
    notes += [
        warn_of_self_judging(each) for each in dict.fromkeys((models["subject"], models.get("opponent"))) if each in judging
    ]
    if people := models.get("people"):
        notes.append(f"{' and '.join(people)} were played by people: scores are of them and the model together.")
    if rules := [judge for judge in models["judges"] if judge.startswith("reference/")]:
        notes.append(
            f"Judged by {', '.join(rules)}, which looks for wordings written with the scenarios. Such scores are not comparable "
            "with those of a model or a person."
        )
    reference, partner = (models.get(role) or "" for role in ("reference", "partner"))
    if reference.startswith("reference/") and partner and not partner.startswith("reference/"):
        notes.append(
            "The reference conversations were written beforehand and do not answer what this partner says, so that whoever "
            "answers wins too easily. Name a model with --reference."
        )
    if (stopped := manifest.get("stopped")) and not stopped["is_met"]:
        notes.append(tell_where_it_stopped(stopped))
    if missing := manifest["episodes"] - len({(score.scenario, score.repeat) for score in scores.scores}):
        notes.append(f"{missing} of {manifest['episodes']} episodes have not been run yet. Resume the run to have them.")
    outcomes: dict[tuple[str, int], set[str]] = defaultdict(set)
    for score in scores.scores:
        outcomes[score.scenario, score.repeat].add(score.outcome)
    errored = sum(found == {"errored"} for found in outcomes.values())
    unfinished = sum("errored" in found for found in outcomes.values()) - errored
    if errored:
        notes.append(f"{errored} episodes are errored and count nowhere. Resume the run to finish them.")
    if unfinished:
        notes.append(f"{unfinished} episodes could not be judged in full. Resume the run to have them judged.")
    if unscored := [score for score in scores.scores if score.outcome == "unscored"]:
        # Several metrics of an episode can rest on what failed: each cause counts once an episode.
        causes = Counter(reason for _, _, reason in {(score.scenario, score.repeat, score.reason[:200]) for score in unscored})
        episodes = len({(score.scenario, score.repeat) for score in unscored})
        named = "; ".join(f"{count} × {reason}" for reason, count in causes.most_common(3))
        more = f"; {len(causes) - 3} further causes" if len(causes) > 3 else ""
        notes.append(f"{episodes} episodes are unscored in part, and left out where they are: {named}{more}.")
    notes += [f"{count} × {reason}" for reason, count in manifest.get("failures", {}).items()]
    clusters = len({score.cluster for score in scores.scores})
    if 1 < clusters < FEW_CLUSTERS:
        notes.append(f"Intervals rest on {clusters} units only: over so few, those of means are too narrow.")
    return [*notes, *manifest["notes"]]


def _make_subtitle(benchmark: Benchmark, runs: Sequence[RunResult]) -> str:
    study = runs[0].study
    clusters = {score.cluster for run in runs for score in run.scores}
    data = study.data or ("bundled data" if runs[0].manifest["settings"]["dataset"] is None else "the user's own data")
    stopped = any("stopped" in run.manifest for run in runs)
    count = len({score.scenario for run in runs for score in run.scores} if stopped else study.scenarios)
    size = f"{count} {benchmark.scenarios_called}"
    if len(clusters) != count:
        size += f" of {len(clusters)} {benchmark.cluster_unit}s"
    return f"{benchmark.name} {benchmark.version}, {size} ({data})"


def _list_details(run: RunResult, *, several: bool) -> Iterator[tuple[str, str]]:
    """Everything that the numbers of a run depend on, for the end of its report."""
    manifest = run.manifest
    prefix = f"{Path(run.folder).name}: " if several else ""
    settings = {name: value for name, value in manifest["settings"].items() if value not in (None, (), [], {}, False)}
    yield f"{prefix}models", ", ".join(f"{role} {_format_plainly(name)}" for role, name in manifest["models"].items() if name)
    chosen = {name: value for name, value in settings.items() if name not in ("benchmark", "model", *manifest["models"])}
    yield f"{prefix}settings", ", ".join(f"{name} {_format_plainly(value)}" for name, value in chosen.items())
    yield f"{prefix}digests", ", ".join(f"{name} {digest[:12]}" for name, digest in manifest["digests"].items())
    yield f"{prefix}packages", ", ".join(f"{name} {version}" for name, version in manifest["packages"].items())
    yield f"{prefix}begun", manifest["created"]


def _format_plainly(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{name}: {_format_plainly(each)}" for name, each in value.items() if each is not None)
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
