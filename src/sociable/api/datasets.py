"""Data sets: made, attacked, described, labelled. ``sociable construct``, ``audit`` and ``describe``, as functions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import dotenv
from typing_extensions import Unpack

from sociable.api.folders import list_run_folders
from sociable.api.reports import write_document
from sociable.api.results import load_result
from sociable.api.runs import RunOptions, make_settings
from sociable.cluster.joining import join_cluster
from sociable.core.errors import DataError, InputError
from sociable.core.run_folder import write_atomically
from sociable.core.spreading import work_here
from sociable.core.view import Document, Paragraph, Section, Table
from sociable.datasets.build import DATASET, WRITING, Build, StageCounts, Writing, open_build
from sociable.datasets.card import make_build_document, write_cards
from sociable.datasets.layout import write_layout
from sociable.datasets.recipe import Recipe, RecipeOptions, find_recipe, load_recipes
from sociable.datasets.review.results import REVIEWED, apply_review, show_status
from sociable.datasets.review.reviewing import Review
from sociable.datasets.stages import SpreadStage
from sociable.engine.event_loop import run_to_end, stop_on_interrupt
from sociable.engine.hub import find_data
from sociable.engine.opening import Watch, build_seats, find_prices, make_study_options
from sociable.engine.registry import find_benchmark
from sociable.engine.result import RunResult
from sociable.engine.seats import Role, Seat
from sociable.engine.study import Audited, Described, FromSources, Labelled
from sociable.models.journal import Journal, JournalledModel
from sociable.models.limits import Budget
from sociable.reports.headroom import show_headroom


def construct(
    recipe: str,
    sources: str | Path | Sequence[str | Path],
    out: str | Path,
    *,
    options: Mapping[str, Any] | RecipeOptions | None = None,
    model: str | None = None,
    config: str | Path | None = None,
    base_url: str | None = None,
    max_cost: float | None = None,
    max_connections: int | None = None,
    prompts: str | Path | None = None,
    give_up: bool = False,
    licence: str | None = None,
    watch: Watch | None = None,
    cluster: str | None = None,
    workers: int | None = None,
) -> Document:
    """A data set by the recipe of that name, in the build folder ``out``; called again it goes on. Returns the funnel.

    ``options`` are the recipe's own, as ``sociable construct RECIPE --help`` lists them. Without a ``model`` a build goes as
    far as it can. What gets no reply is tried again the next time, or with ``give_up`` rejected. ``cluster`` (``ray``, or
    ``ray://HOST:PORT``) has its ``workers`` read the texts for near-duplicates, toxic ones and clusters; the outcome is the same.

    Raises InputError, RunFolderError, and RunStopped where the build can be resumed.
    """
    found = find_recipe(recipe)
    if model is not None and not found.prompts:
        raise InputError(f"'{recipe}' asks no model: leave the model out.")
    named = [sources] if isinstance(sources, str | Path) else sources
    with join_cluster(cluster, workers) as joined:
        plan = found.plan([Path(source) for source in named], options, Path(prompts) if prompts else None)
        if joined and not any(isinstance(stage, SpreadStage) for stage in plan.stages):
            raise InputError(f"'{recipe}' has no step that a cluster could do: leave --cluster out.")
        dotenv.load_dotenv(dotenv.find_dotenv(usecwd=True))
        own = {"base_url": base_url, "max_cost": max_cost, "max_connections": max_connections}
        writing = replace(_set_up_writing(found.benchmark, model, config, own) if model else Writing(), give_up=give_up)
        path, spread = Path(out), joined.spread if joined else work_here
        with open_build(path, plan, writing, licence=licence, watch=watch, spread=spread) as build:
            before = _read_content(path / DATASET)
            counts = run_to_end(_run(build))
            # What people have made of a data set keeps its card as long as that is the same.
            if len(counts) == len(plan.stages) and not ((path / REVIEWED).exists() and before == _read_content(path / DATASET)):
                _check_layout(found, path / DATASET)
                write_cards(path, build.folder.read_manifest())
    return make_build_document(plan, counts, path)


def _check_layout(recipe: Recipe[Any, Any, Any], file: Path) -> None:
    """Raises DataError for a record that the benchmark cannot read: then it is the recipe that must be mended."""
    try:
        if file.stat().st_size:
            recipe.load(file)
    except DataError as error:
        problem = f"{error.problem}. {recipe.benchmark} cannot read what '{recipe.name}' made: mend the recipe, and build anew"
        raise DataError(error.place, error.field, problem) from None


def _read_content(file: Path) -> bytes | None:
    return file.read_bytes() if file.exists() else None


def _set_up_writing(benchmark: str, model: str, config: str | Path | None, own: Mapping[str, Any]) -> Writing:
    if model.startswith("reference/"):
        raise InputError("A data set is written by a model that can write: reference agents cannot.")
    asked = make_settings(benchmark, config, model=model, **own)
    seats = build_seats(asked, find_benchmark(benchmark), build=(Role.SUBJECT,))
    role = asked.roles.get(Role.SUBJECT.value)
    said = role.model_fields_set if role and config else set()
    defaults = {name: getattr(WRITING, name) for name in ("temperature", "max_tokens") if name not in said}
    budget = Budget(find_prices(asked, seats, (Role.SUBJECT,)), asked.max_cost)
    return Writing(seats.subject.model, replace(seats.subject.sampling, **defaults), budget, asked.at_once)


async def _run(build: Build) -> list[StageCounts]:
    with stop_on_interrupt(build.writing.budget):
        return await build.run()


def review(folder: str | Path, *, apply: bool = False, anyway: bool = False) -> Document:
    """Reports how far the review of a build is, and how well its reviewers agree.

    ``apply`` writes the reviewed data set: what people kept, with their fixes. It is refused while items are undecided,
    unless ``anyway``. Decisions are made at the terminal or on sheets (``sociable review``). Raises InputError.
    """
    opened = Review(Path(folder))
    said = [Paragraph(apply_review(opened, anyway=anyway))] if apply else []
    summary, *rest = show_status(opened)
    assert isinstance(summary, Table)
    return Document("Review", str(folder), summary, [Section("More", [*said, *rest])])


def audit(
    benchmark: str,
    dataset: str | Path | None = None,
    *,
    skip_invalid: bool = False,
    sources: Sequence[str | Path] = (),
    dialogues: str | Path | None = None,
    options: Mapping[str, Any] | None = None,
    runs: Sequence[str | Path] = (),
    out: str | Path | None = None,
) -> Document:
    """Reports whether a dataset can be solved by a shortcut, and whether readers agreed. ``out`` is a file for it as HTML.

    ``runs`` are run folders, or folders of such: the document then says how hard each case was for these models, whether
    better ones did better at it, and how much room is left above the best. They must be of this data set.

    ``options`` are the benchmark's own. ``sources`` are files of texts that the scenes may have been made from: the document
    then says how like these texts the scenes are, and how like them the dialogues of the run ``dialogues`` are.
    """
    study = find_benchmark(benchmark).open(options, dataset=find_data(dataset), skip_invalid=skip_invalid)
    if dialogues and not sources:
        raise InputError("--dialogues needs at least one --source to be compared with.")
    beside = []
    if sources:
        texts = {name: text for source in sources for name, text in _read_source(benchmark, Path(source))}
        if not isinstance(study, FromSources):
            raise InputError(f"{benchmark} has nothing that is compared with sources; leave --source out.")
        played = list(load_result(dialogues, scored=False).episodes()) if dialogues else []
        beside = study.compare_with_sources(texts, played)
    if not isinstance(study, Audited):
        raise InputError(f"{benchmark} has no audit.")
    measured = show_headroom(_load_runs(runs, benchmark, study.digests["dataset"])) if runs else []
    document = study.audit()
    return write_document(replace(document, sections=[*document.sections, *measured, *beside]), out)


def _load_runs(runs: Sequence[str | Path], benchmark: str, digest: str) -> list[RunResult]:
    """The runs in these folders, those of other benchmarks left out. Raises InputError for a run over other data."""
    folders = [folder for given in runs for folder in list_run_folders(Path(given))]
    found = [result for folder in folders if (result := load_result(folder)).manifest["benchmark"] == benchmark]
    if runs and not found:
        raise InputError(f"There is no run of {benchmark} in {', '.join(map(str, runs))}.")
    for result in found:
        if result.manifest["digests"]["dataset"] != digest:
            raise InputError(f"{result.folder} was run over other data than are audited here. Name its data with --dataset.")
    return found


def _read_source(benchmark: str, source: Path) -> Iterator[tuple[str, str]]:
    """(name, text) of a file, or of everything in a folder that `sociable construct` would read there."""
    if not source.is_dir():
        yield str(source), _read_text(source)
        return
    found: dict[str, list[str]] = {}
    for recipe in load_recipes():
        if recipe.benchmark == benchmark and recipe.read_as == "scripts":
            for passage in recipe.read([source], recipe.options()):
                found.setdefault(f"{source}: {passage.script}", []).append(passage.text)
    yield from ((name, "\n".join(texts)) for name, texts in found.items())


def _read_text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror or error}.") from None


def describe(
    benchmark: str,
    dataset: str | Path | None = None,
    *,
    features: str = "tfidf",
    skip_invalid: bool = False,
    out: str | Path | None = None,
) -> Document:
    """Describes a dataset: sizes, topics, clusters. ``out`` is a file for it as HTML, with its figures."""
    study = find_benchmark(benchmark).open(dataset=find_data(dataset), skip_invalid=skip_invalid)
    if not isinstance(study, Described):
        raise InputError(f"{benchmark} has no description of its data; `sociable show {benchmark}` lists its cases.")
    return write_document(study.describe(features), out)


def lay_out(
    benchmark: str,
    out: str | Path,
    dataset: str | Path | None = None,
    *,
    skip_invalid: bool = False,
    licence: str | None = None,
    parquet: bool = False,
) -> list[Path]:
    """Writes a benchmark's data, bundled or your own, as a Hugging Face data set into the folder ``out``. Returns its files.

    ``--dataset hf://OWNER/NAME@REVISION`` reads it once it is on the hub. Raises InputError, and StorageFailure.
    """
    found = find_benchmark(benchmark)
    study = found.open(dataset=find_data(dataset), skip_invalid=skip_invalid)
    return write_layout(found, study, Path(out), licence, parquet=parquet)


LABEL_TOKENS = 1024
"""The least room that a model has for a label, which it may think about."""


def label(benchmark: str, model: str, out: str | Path, config: str | Path | None = None, **settings: Unpack[RunOptions]) -> str:
    """Writes the dataset with labels to ``out`` (JSON Lines). Returns what was filled in, in words.

    Replies are kept in a journal beside it, so that nothing is paid for twice: run it again to go on after a failure.
    Raises InputError, and RunFailure when the model cannot be reached.
    """
    path = Path(out)
    if path.suffix != ".jsonl":
        raise InputError(f"{path}: labelled data are JSON Lines; name a .jsonl file.")
    if path.exists():
        raise InputError(f"{path} is there already. Name another file, or move it away.")
    if model.startswith("reference/"):
        raise InputError("Labels need a model that can read: reference agents cannot.")
    asked = make_settings(benchmark, config, model=model, **settings)
    found = find_benchmark(benchmark)
    study = found.open(**make_study_options(asked))
    if not isinstance(study, Labelled):
        raise InputError(f"{benchmark} has no labels that a model could fill in.")
    seats = build_seats(asked, found, build=(Role.SUBJECT,))
    budget = Budget(find_prices(asked, seats, (Role.SUBJECT,)), asked.max_cost)
    path.parent.mkdir(parents=True, exist_ok=True)
    with Journal(path.with_suffix(".calls.sqlite")) as journal:
        assert seats.subject.model is not None
        for bought in journal.sum_usage():
            budget.book(*bought)
        journalled = JournalledModel(seats.subject.model, journal, budget)
        # A label is no turn of a scene: it is asked for as a judge would be, with room to think.
        own = seats.subject.sampling
        tokens = None if own.max_tokens is None else max(own.max_tokens, LABEL_TOKENS)
        cool = None if own.temperature is None else 0.0
        seat = replace(seats.subject, model=journalled, sampling=replace(own, temperature=cool, max_tokens=tokens))
        records, said = run_to_end(_label(study, seat, journalled))
    write_atomically(path, "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records))
    return said


async def _label(study: Labelled, seat: Seat, model: JournalledModel) -> tuple[list[dict[str, Any]], str]:
    try:
        return await study.label(seat)
    finally:
        await model.close()
