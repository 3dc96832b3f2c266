"""Building data sets: ``sociable construct``, as functions."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import dotenv

from sociable.api.runs import load_result, settings_for, write_document
from sociable.benchmarks.agentsense.dataset import load_scenarios
from sociable.benchmarks.anteval.characters import load_sheets
from sociable.benchmarks.hsii.dataset import load_dataset
from sociable.core.errors import DataError, InputError
from sociable.core.view import Document
from sociable.datasets.articles import read_articles
from sociable.datasets.build import DATASET, Build, Counted, Recipe, begin, build_manifest
from sociable.datasets.card import write_cards
from sociable.datasets.funnel import funnel_document
from sociable.datasets.recipes.agentsense.passages import read_passages
from sociable.datasets.recipes.agentsense.scripts import scripts_recipe
from sociable.datasets.recipes.anteval.characters import characters_recipe, drawn_characters
from sociable.datasets.recipes.hsii.dialogues import dialogues_recipe
from sociable.datasets.recipes.hsii.news import SHORTEST, news_recipe
from sociable.datasets.review.reviewing import REVIEWED
from sociable.datasets.selection import FOUND
from sociable.datasets.transcripts import read_transcripts
from sociable.engine.event_loop import on_interrupt, waited
from sociable.engine.opening import Watch, build_seats, prices_of
from sociable.engine.registry import find_benchmark
from sociable.engine.seats import Role
from sociable.engine.settings import plain_name
from sociable.engine.study import Audited, Described, FromSources
from sociable.models.limits import Budget
from sociable.models.protocol import Model, Sampling

WRITING = Sampling(temperature=1.0, max_tokens=4096)
"""Unless the configuration says otherwise: what is written should not all sound alike."""


def construct_hsii(
    source: str | Path,
    out: str | Path,
    *,
    model: str | None = None,
    config: str | Path | None = None,
    shortest: int = SHORTEST,
    searches: Sequence[Sequence[str]] = (),
    found: int = FOUND,
    spread: int | None = None,
    most: int | None = None,
    toxicity: str | None = None,
    seed: int = 0,
    prompts: str | Path | None = None,
    give_up: bool = False,
    licence: str | None = None,
    watch: Watch | None = None,
    **settings: Any,
) -> Document:
    """HSII's dialogues out of news, in the build folder ``out``; called again it goes on. Returns the funnel.

    ``searches`` are keywords, one or two each, any of which may find an article, ``found`` of them at the most; ``shortest`` is
    how many characters an article has at least, title and all. ``toxicity``: a classifier, in place of a list
    of words. ``spread``: articles that get a scene, drawn evenly over what they are about; ``most``: scenes that get a dialogue.
    Without a ``model`` it goes as far as it can; what gets no reply is tried again the next time, or with ``give_up`` rejected.
    Raises InputError, RunFolderError, and RunStopped where it can be resumed.
    """
    articles = read_articles(Path(source))
    own = Path(prompts) if prompts else None
    recipe = news_recipe(
        articles,
        shortest=shortest,
        searches=searches,
        found=found,
        spread=spread,
        most=most,
        toxicity=toxicity,
        seed=seed,
        prompts=own,
    )
    return _constructed(recipe, articles, Path(out), model, config, watch, licence, settings, give_up)


def construct_hsii_from_dialogues(
    source: str | Path,
    out: str | Path,
    *,
    assistant: str | None = None,
    inferred: bool = False,
    licence: str | None = None,
    watch: Watch | None = None,
) -> Document:
    """HSII's cases out of conversations that are there already; no model writes anything. Returns the funnel.

    The part of ``assistant`` becomes the assistant's; by default that of whoever speaks to the most others. Cases are made of
    its turns of which it is known whom they are for; with ``inferred`` of the others too, each with how that was guessed.
    Raises InputError and RunFolderError.
    """
    transcripts = read_transcripts(Path(source))
    recipe = dialogues_recipe(transcripts, assistant=assistant, inferred=inferred)
    return _constructed(recipe, transcripts, Path(out), None, None, watch, licence, {})


def construct_agentsense(
    source: str | Path,
    out: str | Path,
    *,
    model: str | None = None,
    config: str | Path | None = None,
    seed: int = 0,
    keep_recognised: bool = False,
    prompts: str | Path | None = None,
    give_up: bool = False,
    licence: str | None = None,
    watch: Watch | None = None,
    **settings: Any,
) -> Document:
    """AgentSense's scenarios out of plays or screenplays, in the build folder ``out``; called again it goes on.

    Scenes whose script the model recognises fall out, unless ``keep_recognised``. Returns the funnel. Raises as
    ``construct_hsii`` does.
    """
    passages = read_passages(Path(source))
    recipe = scripts_recipe(passages, seed=seed, keep_recognised=keep_recognised, prompts=Path(prompts) if prompts else None)
    return _constructed(recipe, passages, Path(out), model, config, watch, licence, settings, give_up)


def construct_characters(
    out: str | Path,
    *,
    count: int = 60,
    seed: int = 0,
    model: str | None = None,
    config: str | Path | None = None,
    prompts: str | Path | None = None,
    give_up: bool = False,
    licence: str | None = None,
    watch: Watch | None = None,
    **settings: Any,
) -> Document:
    """Characters for AntEval, drawn by the rules and described by a model, for the option ``sheets``. As ``construct_hsii``."""
    if count < 1:
        raise InputError(f"At least one character is drawn, not {count}.")
    drawn = drawn_characters(count, seed)
    recipe = characters_recipe(drawn, seed=seed, prompts=Path(prompts) if prompts else None)
    return _constructed(recipe, drawn, Path(out), model, config, watch, licence, settings, give_up)


_READERS: Mapping[str, Callable[[Path], object]] = {
    "agentsense": load_scenarios,
    "anteval-iep": load_sheets,
    "hsii": load_dataset,
}


def layout_check(folder: Path) -> Callable[[Mapping[str, Any]], None]:
    """What raises InputError for a record that the benchmark for which ``folder`` was built cannot read.

    Of a data set that was not built here nothing is known, and anything goes.
    """
    read = _READERS.get((build_manifest(folder) or {}).get("benchmark", ""))

    def check(record: Mapping[str, Any]) -> None:
        if read is None:
            return
        # Among the others: what must be unique or alike is so among all.
        records = [json.loads(line) for line in (folder / DATASET).read_text(encoding="utf-8").splitlines()]
        lines = (json.dumps(record if each["id"] == record["id"] else each) + "\n" for each in records)
        with tempfile.TemporaryDirectory() as place:
            file = Path(place) / DATASET
            file.write_text("".join(lines), encoding="utf-8")
            try:
                read(file)
            except DataError as error:
                raise InputError(f"The benchmark could not read it: field '{error.field}': {error.problem}.") from None

    return check


def _constructed(
    recipe: Recipe,
    sources: Sequence[Any],
    path: Path,
    model: str | None,
    config: str | Path | None,
    watch: Watch | None,
    licence: str | None,
    settings: dict[str, Any],
    give_up: bool = False,
) -> Document:
    if model is not None and model.startswith("reference/"):
        raise InputError("A data set is written by a model that can write: reference agents cannot.")
    dotenv.load_dotenv(dotenv.find_dotenv(usecwd=True))
    writer, sampling, budget, at_once = _writer(recipe.benchmark, model, config, settings)
    with begin(path, recipe, plain_name(model) if model else None, sampling, licence) as folder:
        build = Build(folder, recipe, writer, sampling, budget, at_once, give_up)
        if watch is not None:
            build.watch = watch
        before = _content(path / DATASET)
        found = waited(_run(build, sources))
        # What people have made of a data set keeps its card as long as that is the same.
        if len(found) == len(recipe.stages) and not ((path / REVIEWED).exists() and before == _content(path / DATASET)):
            write_cards(path, folder.read_manifest())
    return _funnel(recipe, found, path, len(sources))


def _content(file: Path) -> bytes | None:
    return file.read_bytes() if file.exists() else None


def _writer(
    benchmark: str, model: str | None, config: str | Path | None, settings: dict[str, Any]
) -> tuple[Model | None, Sampling, Budget, int]:
    if model is None:
        return None, WRITING, Budget({}), 1
    asked = settings_for(benchmark, config, model=model, **settings)
    seats = build_seats(asked, find_benchmark(benchmark), build=(Role.SUBJECT,))
    given = asked.roles.get(Role.SUBJECT.value)
    said = given.model_fields_set if given and config else set()
    sampling = replace(
        seats.subject.sampling,
        temperature=seats.subject.sampling.temperature if "temperature" in said else WRITING.temperature,
        max_tokens=seats.subject.sampling.max_tokens if "max_tokens" in said else WRITING.max_tokens,
    )
    budget = Budget(prices_of(asked, seats, (Role.SUBJECT,)), asked.max_cost)
    return seats.subject.model, sampling, budget, asked.max_connections


async def _run(build: Build, sources: Sequence[Any]) -> list[Counted]:
    undo = on_interrupt(build.budget)
    try:
        return await build.run(sources)
    finally:
        undo()


def _funnel(recipe: Recipe, found: Sequence[Counted], path: Path, came: int) -> Document:
    done = len(found) == len(recipe.stages)
    waiting = "" if not done or found[-1].made else "Nothing came through, so the data set is empty. Below stands why."
    if not done:
        stage = recipe.stages[len(found)]
        items = found[-1].made if found else came
        waiting = (
            f"Up to {items:,} items wait for a model at the stage '{stage.name}'. Name one with --model, and the same --out."
        )
        if (path / DATASET).exists():
            waiting += f" Until then {DATASET} is of before."
    subtitle = f"{path / DATASET}" if done else f"{path}, not finished"
    return funnel_document(f"{recipe.benchmark}, built from {recipe.name}", subtitle, found, waiting)


def audit(
    benchmark: str,
    dataset: str | Path | None = None,
    *,
    skip_invalid: bool = False,
    sources: Sequence[str | Path] = (),
    dialogues: str | Path | None = None,
    options: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
) -> Document:
    """Whether a dataset can be solved by a shortcut, and whether readers agreed. ``out`` is where it is written as HTML.

    ``options`` are the benchmark's own. ``sources`` are files of texts that the scenes may have been made from: how like they
    are, and how like what was said in the run ``dialogues``.
    """
    path = Path(dataset) if dataset else None
    study = find_benchmark(benchmark).open(options, dataset=path, skip_invalid=skip_invalid)
    if dialogues and not sources:
        raise InputError("--dialogues needs at least one --source to be compared with.")
    beside = []
    if sources:
        several = len({Path(source).name for source in sources}) < len(sources)
        texts = {str(source) if several else Path(source).name: _text_of(Path(source)) for source in sources}
        if not isinstance(study, FromSources):
            raise InputError(f"{benchmark} has nothing that is compared with sources; leave --source out.")
        beside = study.compare_with_sources(texts, load_result(dialogues, scored=False) if dialogues else None)
    if not isinstance(study, Audited):
        raise InputError(f"{benchmark} has no audit.")
    document = study.audit()
    document = replace(document, sections=[*document.sections, *beside])
    return write_document(document, out)


def _text_of(file: Path) -> str:
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
    """Figures about a dataset: sizes, topics, clusters. ``out`` is where it is written as HTML, with its figures."""
    path = Path(dataset) if dataset else None
    study = find_benchmark(benchmark).open(dataset=path, skip_invalid=skip_invalid)
    if not isinstance(study, Described):
        raise InputError(f"{benchmark} has no description of its data; `sociable audit {benchmark}` says what there is.")
    return write_document(study.describe(features), out)
