"""The command line. Each command is one call of ``sociable.api``; nothing is decided here."""

from __future__ import annotations

import logging
import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from sociable import __version__
from sociable.cli import construct, review, towns
from sociable.cli.options import (
    Agent,
    BaseUrl,
    BenchmarkName,
    BenchmarkOrBuild,
    Changes,
    Config,
    Connections,
    Corrections,
    CycleCap,
    DatasetPath,
    Export,
    ExportWords,
    ForcedTarget,
    HTMLFile,
    Human,
    Judges,
    Limit,
    MaxCost,
    Model,
    Options,
    Partner,
    PromptsFolder,
    Ratings,
    Receivers,
    Reference,
    ReferenceFile,
    Repeats,
    RunPath,
    Sample,
    Scheduling,
    Seed,
    Senders,
    SkipInvalid,
    Stages,
    Words,
    benchmark_and_data,
)
from sociable.cli.output import complain, console, messages, print_summary, print_whole, resumable, say, show_report
from sociable.core.errors import InputError, Interrupted, RunStopped, SociableError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Measures the social intelligence of language agents.",
    epilog="Models: openai/NAME, openai-compatible/NAME[@URL], inspect/PROVIDER/NAME, python:FILE:NAME, human, reference/AGENT.",
)


_SHORTCUTS = ("cycle_cap", "forced_target", "agent", "scheduler")
"""Benchmarks' own options that have one of the command line's."""


def _settings(**given: Any) -> dict[str, Any]:
    """The options as ``RunSettings`` names them; those not given are left out."""
    given["judges"] = tuple(given.pop("judge") or ())
    options = dict(map(_option, given.pop("option") or ()))
    options |= {name: value for name in _SHORTCUTS if (value := given.pop(name)) is not None}
    if options:
        given["options"] = options
    if given["stages"] is not None:
        try:
            given["stages"] = tuple(int(stage) for stage in given["stages"].split(","))
        except ValueError:
            raise InputError("--stages takes numbers separated by commas, as in --stages 1,2.") from None
    return {name: value for name, value in given.items() if value not in (None, ())}


def _option(text: str) -> tuple[str, Any]:
    """``NAME=VALUE`` with the value read as in a TOML file, or as the text it is."""
    name, separator, value = text.partition("=")
    if not separator:
        raise InputError(f"--option takes NAME=VALUE, not '{text}'.")
    try:
        return name, tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return name, value


@app.command()
def demo(
    benchmark: Annotated[str, typer.Argument(metavar="[BENCHMARK]", help="Whose reference agents; by default HSII's.")] = "hsii",
    out: Annotated[Path | None, typer.Option("--out", help="Where the runs and the report go; by default under runs/.")] = None,
) -> None:
    """Run the reference agents of a benchmark, offline, and show their scores."""
    from sociable.api import runs
    from sociable.cli.progress import RunProgress

    with RunProgress(messages) as progress:
        document, path = runs.demo(out, benchmark, watch=progress)
    print_summary(document)
    say(f"Report: {path}")


@app.command("list")
def list_() -> None:
    """List benchmarks, reference agents and kinds of models."""
    from sociable.engine.registry import benchmark_names, find_benchmark

    for name in benchmark_names():
        benchmark = find_benchmark(name)
        say(f"{benchmark.name} {benchmark.version}: {benchmark.title}")
        for role, agents in ((role, agents) for role, agents in benchmark.reference_agents.items() if agents):
            say(f"  {role.value + ':':<11}{', '.join(f'reference/{agent}' for agent in agents)}")
    say("models: openai/MODEL, openai-compatible/MODEL[@URL], inspect/PROVIDER/MODEL, python:file.py:function, human")


_NO_SETTINGS = ("benchmark", "model", "config", "out", "sender", "receiver", "human")


@app.command()
def run(
    benchmark: BenchmarkName,
    model: Model = None,
    partner: Partner = None,
    judge: Judges = None,
    reference: Reference = None,
    reference_file: ReferenceFile = None,
    config: Config = None,
    dataset: DatasetPath = None,
    skip_invalid: SkipInvalid = None,
    stages: Stages = None,
    limit: Limit = None,
    seed: Seed = None,
    repeats: Repeats = None,
    max_connections: Connections = None,
    max_cost: MaxCost = None,
    base_url: BaseUrl = None,
    prompts: PromptsFolder = None,
    cycle_cap: CycleCap = None,
    forced_target: ForcedTarget = None,
    agent: Agent = None,
    scheduler: Scheduling = None,
    option: Options = None,
    sender: Senders = None,
    receiver: Receivers = None,
    human: Human = None,
    out: Annotated[Path | None, typer.Option("--out", help="The run folder; by default a new one under runs/.")] = None,
) -> None:
    """Run a benchmark, score it, and write the report."""
    given = _settings(**{name: value for name, value in locals().items() if name not in _NO_SETTINGS})
    if sender or receiver or human:
        _run_series(benchmark, config, {**given, "model": model}, out, sender=sender, receiver=receiver, human=human)
        return
    from sociable.api import runs
    from sociable.cli.progress import RunProgress
    from sociable.engine.registry import benchmark_names
    from sociable.engine.settings import load_settings, plain_name
    from sociable.reports.documents import judges_itself

    asked = load_settings(benchmark, config, beside=benchmark_names(), model=model, **given)
    if plain_name(asked.model) in map(plain_name, asked.judges):
        messages.print(Text(f"Warning: {judges_itself(plain_name(asked.model))}"), soft_wrap=True)
    folder = out or runs.new_folder(benchmark, asked.model)
    with resumable(folder), RunProgress(messages, hidden="human" in (asked.model, asked.partner)) as progress:
        runs.run(benchmark, model, out=folder, config=config, watch=progress, **given)
    show_report(folder)


def _run_series(
    benchmark: str, config: Path | None, given: dict[str, Any], out: Path | None, **options: list[str] | str | None
) -> None:
    """Several runs that belong together, in one folder, and one report on all of them."""
    from sociable.api import runs, series

    planned = series.plan_series(benchmark, options, config, **given)
    assert planned is not None, "an option of a series was given"
    asked_runs, name = planned
    folder = out or runs.new_folder(benchmark, name)
    series.write_new_series(folder, asked_runs)
    _go_on_with_series(folder)


def _go_on_with_series(folder: Path) -> None:
    from sociable.api import series
    from sociable.cli.progress import RunProgress

    with resumable(folder), RunProgress(messages, hidden=series.has_person(folder)) as progress:
        folders = series.resume_series(folder, watch=progress)
    show_report(*folders, out=folder / "report.html")


@app.command()
def resume(
    folder: RunPath,
    config: Changes = None,
    max_cost: MaxCost = None,
    offline: Annotated[bool, typer.Option("--offline", help="Ask nobody: play what the journal holds.")] = False,
) -> None:
    """Go on with a run that was stopped, killed, or has errored episodes."""
    from sociable.api import runs
    from sociable.api.series import is_series
    from sociable.cli.progress import RunProgress

    if is_series(folder):
        if config or max_cost or offline:
            raise InputError(f"{folder} holds several runs; --config, --max-cost and --offline are for one: name its folder.")
        _go_on_with_series(folder)
        return
    hidden = runs.has_person(folder)
    with resumable(folder), RunProgress(messages, hidden=hidden) as progress:
        runs.resume(folder, config=config, max_cost=max_cost, offline=offline, watch=progress)
    show_report(folder)


@app.command()
def judge(
    folder: RunPath,
    judge: Judges = None,
    reference: Reference = None,
    reference_file: ReferenceFile = None,
    config: Changes = None,
    max_cost: MaxCost = None,
    rubric: Annotated[
        str | None, typer.Option("--rubric", metavar="NAME", help="Rate every participant that has a goal: sotopia.")
    ] = None,
    sample: Sample = None,
    export: Export = None,
    corrections: Corrections = None,
    ratings: Ratings = None,
    export_words: ExportWords = None,
    words: Words = None,
) -> None:
    """Have other judges, or people, look at a run. No episode is run again; earlier judgments stay in the folder."""
    from sociable.api import people, runs
    from sociable.api.series import folders_of
    from sociable.cli.progress import RunProgress

    if (sample is None) != (export is None):
        raise InputError("--sample N and --export FILE go together.")
    if export is not None and sample is not None:
        say(f"{people.export_sheet(folder, sample, export)} items for people to judge: {export}")
        say("Fill in 'verdict' (pairs: 1, 2, or 0 for neither; questions: yes or no) and give it back with --corrections FILE.")
    if export_words is not None:
        say(f"{people.export_word_sheet(folder, export_words)} episodes for people to read: {export_words}")
        say("Fill in 'word', one on each, and give it back with --words FILE.")
    for add, files in ((people.add_corrections, corrections), (people.add_ratings, ratings), (people.add_words, words)):
        if files:
            print_whole(add(folder, files))
    if corrections or ratings or words:
        say(f"Report: {runs.report(folders_of(folder), out=folder / 'report.html')}")
    if not judge and not rubric:
        if not (export or corrections or ratings or export_words or words):
            asked = "--sample N --export FILE, --corrections, --ratings, --export-words, --words"
            raise InputError(f"Name at least one --judge, or ask people: {asked}.")
        return
    folders = folders_of(folder)
    with resumable(folder), RunProgress(messages) as progress:
        for run in folders:
            runs.judge(
                run,
                judge or (),
                rubric=rubric,
                config=config,
                reference=reference,
                reference_file=reference_file,
                max_cost=max_cost,
                watch=progress,
            )
    show_report(*folders, out=folder / "report.html")


@app.command()
def score(folder: RunPath) -> None:
    """Score a run again from what is on disk. Calls no model."""
    from sociable.api import runs
    from sociable.api.series import folders_of

    for run in folders_of(folder):
        runs.score(run)
    show_report(*folders_of(folder), out=folder / "report.html")


@app.command()
def report(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Run folders of one benchmark.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", help="The file to write; by default report.html in the folder, or joint-report.html in the first."),
    ] = None,
) -> None:
    """Write the HTML report of one or several runs. Calls no model."""
    from sociable.api import runs
    from sociable.api.series import folders_of

    found = [run for folder in folders for run in folders_of(folder)]
    print_summary(runs.report_document(found))
    usual = folders[0] / ("report.html" if len(folders) == 1 else "joint-report.html")
    say(f"Report: {runs.report(found, out or usual)}")


@app.command()
def compare(
    first: Annotated[Path, typer.Argument(metavar="A", help="A run folder.")],
    second: Annotated[Path, typer.Argument(metavar="B", help="Another.")],
    anyway: Annotated[bool, typer.Option("--anyway", help="Compare runs that are not comparable.")] = False,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write it as HTML, with the cases that differ.")
    ] = None,
) -> None:
    """Compare two runs on the cases both reached, and show the cases one wins and the other loses."""
    from sociable.api import runs

    print_whole(runs.compare(first, second, anyway=anyway, out=out), out)


@app.command()
def estimate(
    benchmark: BenchmarkName,
    model: Model = None,
    partner: Partner = None,
    judge: Judges = None,
    reference: Reference = None,
    reference_file: ReferenceFile = None,
    config: Config = None,
    dataset: DatasetPath = None,
    skip_invalid: SkipInvalid = None,
    stages: Stages = None,
    limit: Limit = None,
    seed: Seed = None,
    repeats: Repeats = None,
    base_url: BaseUrl = None,
    prompts: PromptsFolder = None,
    cycle_cap: CycleCap = None,
    forced_target: ForcedTarget = None,
    agent: Agent = None,
    scheduler: Scheduling = None,
    option: Options = None,
) -> None:
    """Tell calls, tokens and price of a run before anything is spent."""
    given = _settings(**{name: value for name, value in locals().items() if name not in ("benchmark", "model", "config")})

    from sociable.api import runs

    print_summary(runs.estimate(benchmark, model, config=config, **given))


@app.command()
def audit(
    benchmark: BenchmarkOrBuild,
    dataset: DatasetPath = None,
    skip_invalid: SkipInvalid = None,
    source: Annotated[
        list[Path] | None, typer.Option("--source", metavar="FILE", help="A text the scenes may have been made from; repeatable.")
    ] = None,
    dialogues: Annotated[
        Path | None, typer.Option("--dialogues", metavar="DIR", help="With --source: a run whose dialogues are compared too.")
    ] = None,
    option: Options = None,
    out: HTMLFile = None,
) -> None:
    """Tell whether a dataset can be solved by a shortcut, and whether readers agreed."""
    from sociable.api import datasets

    benchmark, dataset = benchmark_and_data(benchmark, dataset)
    print_whole(
        datasets.audit(
            benchmark,
            dataset,
            skip_invalid=bool(skip_invalid),
            sources=source or (),
            dialogues=dialogues,
            options=dict(map(_option, option or ())),
            out=out,
        ),
        out,
    )


@app.command()
def label(
    benchmark: BenchmarkName,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Where the labelled data go: a .jsonl file.")],
    model: Annotated[str, typer.Option("--model", help="Who fills in what is missing.")],
    dataset: DatasetPath = None,
    skip_invalid: SkipInvalid = None,
    config: Config = None,
    base_url: BaseUrl = None,
    max_cost: MaxCost = None,
    prompts: PromptsFolder = None,
) -> None:
    """Have a model fill in labels that a dataset lacks: roles, kinds of goals, domains."""
    given = {
        "dataset": dataset,
        "skip_invalid": skip_invalid,
        "base_url": base_url,
        "max_cost": max_cost,
        "prompts": prompts,
    }
    from sociable.api.labels import label

    said = label(benchmark, model, out, config=config, **{name: value for name, value in given.items() if value is not None})
    say(f"{said}\nLabelled: {out}".strip())


@app.command()
def describe(
    benchmark: BenchmarkOrBuild,
    dataset: DatasetPath = None,
    skip_invalid: SkipInvalid = None,
    features: Annotated[
        str, typer.Option("--features", help="tfidf, or embeddings (needs the extra sociable[embeddings]).")
    ] = "tfidf",
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write it as HTML, with the figures.")] = None,
) -> None:
    """Tell what is in a dataset: sizes, topics, clusters."""
    from sociable.api import datasets

    benchmark, dataset = benchmark_and_data(benchmark, dataset)
    print_whole(datasets.describe(benchmark, dataset, features=features, skip_invalid=bool(skip_invalid), out=out), out)


@app.command()
def show(
    target: Annotated[str, typer.Argument(metavar="DIR|BENCHMARK", help="A run folder, or a benchmark.")],
    item: Annotated[str, typer.Argument(metavar="[EPISODE|CASE]", help="Which one; left out, they are listed.")] = "",
    prompt: Annotated[bool, typer.Option("--prompt", help="Show exactly what was sent, or would be.")] = False,
    of: Annotated[
        str,
        typer.Option(
            "--of", metavar="TEXT", help="With --prompt, of a run: all calls of a participant, a purpose, or 'Maeve|speak'."
        ),
    ] = "",
    dataset: DatasetPath = None,
    prompts: PromptsFolder = None,
    option: Options = None,
) -> None:
    """Show an episode of a run; or, with --prompt, what is sent to each role."""
    from sociable.cli import showing

    if Path(target).is_dir() or "/" in target:
        showing.show_run(Path(target), item, prompt, console, of)
    else:
        options = dict(map(_option, option or ()))
        showing.show_case(target, item, prompt, console, {"dataset": dataset, "prompts": prompts, "options": options})


towns.add_commands(app)
construct.add_commands(app)
review.add_commands(app)


@app.callback(invoke_without_command=True)
def version(show_version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False) -> None:
    if show_version:
        say(f"sociable {__version__}")
        raise typer.Exit


def main() -> None:
    """The entry point: what goes wrong ends in one clear message and an exit code, never in a traceback.

    2: something to mend before anything is spent; 3: the run ended early and can be resumed; 130: interrupted.
    """
    logging.basicConfig(level=logging.ERROR, format="%(message)s")
    try:
        app(standalone_mode=True)
    except Interrupted as stop:
        complain(stop, 130)
    except RunStopped as stop:
        complain(stop, 3)
    except SociableError as error:
        complain(error, 2)
    except KeyboardInterrupt:
        complain("Interrupted.", 130)
