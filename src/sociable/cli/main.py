"""The command line. Each command is one call of ``sociable.api``; nothing is decided here."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

import sociable
from sociable import api
from sociable.cli import construct, towns
from sociable.cli import options as shared
from sociable.cli.benchmarks import Asked, Purpose, make_benchmark_group, read_options
from sociable.cli.judges import audit_judge, show_cards
from sociable.cli.new import new_app
from sociable.cli.output import (
    complain,
    end_if_all_failed,
    messages,
    print_summary,
    print_whole,
    say,
    show_progress,
    show_report,
    tell_if_long,
)
from sociable.cli.review import review
from sociable.cli.studies import go_on_with_study, show_study, study
from sociable.core.errors import InputError, Interrupted, RunStopped, SociableError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sociable.engine.result import RunResult
    from sociable.engine.settings import RunSettings

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Measures the social intelligence of language agents.",
    epilog="Models: openai/NAME, openai-compatible/NAME[@URL], local/smollm2, local/FILE.gguf, inspect/PROVIDER/NAME, "
    "python:FILE:NAME, human, reference/AGENT.",
)


@app.command()
def demo(
    benchmark: Annotated[
        str, typer.Argument(metavar="[BENCHMARK]", help="The benchmark whose reference agents are run; by default HSII.")
    ] = "hsii",
    out: Annotated[
        Path | None, typer.Option("--out", help="The folder for the runs and the report; by default under runs/.")
    ] = None,
) -> None:
    """Run the reference agents of a benchmark and show their scores; then a small language model on a few cases. No key."""
    from sociable.engine.registry import find_benchmark
    from sociable.engine.study import JudgeAudited

    with show_progress() as progress:
        document, path = api.demonstration.demo(out, benchmark, watch=progress)
    print_summary(document)
    say(f"Report: {path}")
    if issubclass(find_benchmark(benchmark).load_study_type(), JudgeAudited):
        say(f"\n{api.demonstration.ERRING_JUDGE}, a judge that errs in a fifth of all cases: its card, and a run that it judged.")
        with show_progress() as progress:
            card, document, judged = api.demonstration.demo_audit(benchmark, path.parent / "audited", watch=progress)
        print_summary(card)
        print_summary(document)
        say(f"Report: {judged}")
    shown = [
        name for name in (("hsii", "agentsense") if benchmark == "hsii" else (benchmark,)) if find_benchmark(name).demo_cases
    ]
    try:
        if shown:
            api.demonstration.load_small_model()
    except InputError as problem:
        say(f"No language model is shown beside them: {problem}")
        return
    for name in shown:
        say(f"\n{api.demonstration.SMALL_MODEL}, a language model in this process, on a few cases of {name}:")
        with show_progress() as progress:
            document, small = api.demonstration.demo_small_model(name, path.parent / f"{name}-small", watch=progress)
        print_summary(document)
        say(f"Report: {small}")


@app.command("list")
def list_() -> None:
    """List benchmarks, reference agents and kinds of models."""
    from sociable.engine.registry import find_benchmark, list_benchmark_names

    for name in list_benchmark_names():
        try:
            benchmark = find_benchmark(name)
        except InputError as error:  # A package with a fault must not hide the other benchmarks.
            messages.print(Text(str(error)), soft_wrap=True)
            continue
        say(f"{benchmark.name} {benchmark.version}: {benchmark.title}")
        for role, agents in ((role, agents) for role, agents in benchmark.reference_agents.items() if agents):
            say(f"  {role.value + ':':<11}{', '.join(f'reference/{agent}' for agent in agents)}")
    say(
        "models: openai/MODEL, openai-compatible/MODEL[@URL], local/smollm2, local/FILE.gguf, inspect/PROVIDER/MODEL, "
        "python:file.py:function, human"
    )


def _run(asked: Asked) -> None:
    if asked.series:
        plan, name = api.series.plan_series(asked.benchmark, asked.series, asked.config, model=asked.model, **asked.settings)
        folder = asked.out or api.folders.name_new_folder(asked.benchmark.name, name)
        api.series.write_new_series(folder, plan)
        _go_on_with_series(folder)
        return
    settings = api.runs.make_settings(asked.benchmark.name, asked.config, model=asked.model, **asked.settings)
    _warn_of_self_judging(filter(None, (settings.model, settings.opponent)), settings)
    if asked.out is None and (earlier := api.folders.find_same_run(settings)) and _prefers_resuming(earlier):
        resume(earlier)
        return
    folder = asked.out or api.folders.name_new_folder(settings.benchmark, settings.model)
    with show_progress(folder, hidden="human" in (settings.model, settings.partner, settings.opponent)) as progress:
        result = api.runs.run_settings(settings, folder, watch=progress)
    show_report([result])


def _warn_of_self_judging(models: Iterable[str], settings: RunSettings) -> None:
    from sociable.engine.settings import strip_endpoint
    from sociable.reports.documents import warn_of_self_judging

    judges = set(map(strip_endpoint, settings.judges))
    for model in (name for name in map(strip_endpoint, models) if name in judges):
        messages.print(Text(f"Warning: {warn_of_self_judging(model)}"), soft_wrap=True)


def _prefers_resuming(earlier: Path) -> bool:
    """Whether the user would go on with a run of the same settings. Where nobody can be asked, it is only pointed out."""
    found = f"{earlier} is a run with the same settings; going on with it buys nothing twice."
    if messages.is_terminal and sys.stdin.isatty():
        return typer.confirm(f"{found} Go on with it?", default=True, err=True)
    messages.print(Text(f"{found} To do so: sociable resume {earlier}"), soft_wrap=True)
    return False


app.add_typer(make_benchmark_group(_run, "Run a benchmark, score it, and write the report."), name="run")


def _duel(asked: Asked) -> None:
    tournaments = api.tournaments
    plan = tournaments.plan_tournament(
        asked.benchmark.name, asked.models, folder=asked.out, anchors=asked.anchors, config=asked.config, **asked.settings
    )
    _warn_of_self_judging(plan.participants, next(iter(plan.runs.values())))
    print_summary(tournaments.estimate_tournament(plan))
    if asked.is_estimate:
        return
    folder = asked.out or api.folders.name_new_folder(plan.benchmark.name, "tournament")
    tournaments.write_tournament(folder, plan)
    _go_on_with_tournament(folder)


_DUEL = "Have models meet in pairs, and rate them; or add models to a tournament."
app.add_typer(make_benchmark_group(_duel, _DUEL, Purpose.DUEL), name="duel")


def _go_on_with_tournament(folder: Path, max_cost: float | None = None) -> None:
    with show_progress(folder, hidden=api.series.has_person(folder)) as progress:
        api.tournaments.resume_tournament(folder, max_cost=max_cost, watch=progress)
    _show_tournament(folder)


def _show_tournament(folder: Path, out: Path | None = None) -> None:
    with tell_if_long("Writing the report"):
        tournament = api.tournaments.load_tournament(folder)
        document, path = api.tournaments.report_tournament(tournament, folder, out)
    print_summary(document)
    say(f"Report: {path}")
    end_if_all_failed(tournament.runs, folder)


def _show_results(folder: Path, results: Sequence[RunResult]) -> None:
    """Writes the report on a run, a series, a study or a tournament, in whose folder the ``results`` are."""
    if api.studies.is_study(folder):
        for each in results:
            api.runs.report(each)
        show_study(folder)
        return
    if not api.tournaments.is_tournament(folder):
        show_report(results, out=folder / "report.html")
        return
    for each in results:
        api.runs.report(each)
    _show_tournament(folder)


def _go_on_with_series(folder: Path) -> None:
    with show_progress(folder, hidden=api.series.has_person(folder)) as progress:
        results = api.series.resume_series(folder, watch=progress)
    show_report(results, out=folder / "report.html")


@app.command()
def resume(
    folder: shared.RunPath,
    config: shared.Changes = None,
    max_cost: shared.MaxCost = None,
    offline: Annotated[bool, typer.Option("--offline", help="Ask nobody: play what the journal holds.")] = False,
) -> None:
    """Go on with a run that was stopped, killed, or has errored episodes; or with an audit of judges."""
    if api.judges.is_judge_audit(folder):
        if offline:
            raise InputError(f"{folder} holds an audit of judges: leave --offline out.")
        with show_progress(folder) as progress:
            cards = api.judges.resume_audit(folder, config=config, max_cost=max_cost, watch=progress)
        show_cards(folder, cards)
        return
    if api.studies.is_study(folder):
        if config:
            raise InputError(f"{folder} holds a study: change its file, and give that to sociable study; leave --config out.")
        go_on_with_study(folder, max_cost=max_cost, offline=offline)
        return
    if api.tournaments.is_tournament(folder):
        if config or offline:
            raise InputError(f"{folder} holds several runs; --config and --offline are for one: name its folder.")
        _go_on_with_tournament(folder, max_cost)
        return
    if api.series.is_series(folder):
        if config or max_cost or offline:
            raise InputError(f"{folder} holds several runs; --config, --max-cost and --offline are for one: name its folder.")
        _go_on_with_series(folder)
        return
    with show_progress(folder, hidden=api.folders.has_person(folder)) as progress:
        result = api.runs.resume(folder, config=config, max_cost=max_cost, offline=offline, watch=progress)
    show_report([result])


@app.command()
def judge(
    folder: shared.RunPath,
    judge: shared.Judges = None,
    reference: shared.Reference = None,
    reference_file: shared.ReferenceFile = None,
    config: shared.Changes = None,
    max_cost: shared.MaxCost = None,
    rubric: Annotated[
        str | None, shared.declare_option("--rubric", "NAME", "Rate every participant that has a goal: sotopia.")
    ] = None,
    sample: shared.Sample = None,
    precision: shared.Precision = None,
    export: shared.Export = None,
    corrections: shared.Corrections = None,
    replace: shared.Replace = False,
    ratings: shared.Ratings = None,
    export_words: shared.ExportWords = None,
    words: shared.Words = None,
) -> None:
    """Have other judges, or people, look at a run. No episode is run again; earlier judgments stay in the folder."""
    if api.studies.is_study(folder):
        raise InputError(f"{folder} holds a study. Have its runs judged one by one: name the folder of one.")
    _export_sheet(folder, sample, precision, export)
    if export_words is not None:
        say(f"{api.people.export_word_sheet(folder, export_words)} episodes for people to read: {export_words}")
        say("Fill in 'word', one on each, and give it back with --words FILE.")
    people = api.people
    if corrections:
        print_whole(people.add_corrections(folder, corrections, replace=replace))
    for add, files in ((people.add_ratings, ratings), (people.add_words, words)):
        if files:
            print_whole(add(folder, files, replace=replace))
    if corrections or ratings or words:
        say(f"Report: {api.runs.report(api.series.list_folders(folder), out=folder / 'report.html')}")
    if not judge and not rubric:
        if not (sample or corrections or ratings or export_words or words):
            asked = "--sample N --export FILE, --corrections, --ratings, --export-words, --words"
            raise InputError(f"Name at least one --judge, or ask people: {asked}.")
        return
    if api.tournaments.is_tournament(folder):
        api.tournaments.require_finished(folder)
    with show_progress(folder) as progress:
        results = [
            api.runs.judge(
                run,
                judge or (),
                rubric=rubric,
                config=config,
                reference=reference,
                reference_file=reference_file,
                max_cost=max_cost,
                watch=progress,
            )
            for run in api.series.list_folders(folder)
        ]
    _show_results(folder, results)


def _export_sheet(folder: Path, sample: str | None, precision: float | None, export: Path | None) -> None:
    """Writes the sheet that --sample asks for, if it does; one of automatic length into the run folder where no file is named."""
    if sample is not None and sample != "auto" and not sample.isdecimal():
        raise InputError(f"--sample {sample}: a number of items, or auto, was expected.")
    if (sample == "auto") != (precision is not None):
        raise InputError("--sample auto and --precision P go together.")
    if sample == "auto" and precision is not None:
        file = export or folder / "sheet.csv"
        planned = api.people.export_planned_sheet(folder, precision, file)
        for remark in planned.remarks:
            say(remark)
        count = len(planned.items)
    elif (sample is None) != (export is None):
        raise InputError("--sample N and --export FILE go together.")
    elif sample is None or export is None:
        return
    else:
        file, count = export, api.people.export_sheet(folder, int(sample), export)
    say(f"{count} items for people to judge: {file}")
    say("Fill in 'verdict' (pairs: 1, 2, or 0 for neither; questions: yes or no; skip: cannot be decided) and give it back")
    say("with --corrections FILE.")


@app.command()
def score(folder: shared.RunPath) -> None:
    """Score a run again from what is on disk. Calls no model."""
    if api.tournaments.is_tournament(folder):
        api.tournaments.require_finished(folder)
    runs = api.series.list_folders(folder)
    if api.studies.is_study(folder):
        runs = [run for run in runs if api.runs.is_finished(run)]
    with tell_if_long("Scoring"):
        scored = [api.runs.score(run) for run in runs]
    _show_results(folder, scored)


@app.command()
def report(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Run folders of one benchmark.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", help="The file to write; by default report.html in the folder, or joint-report.html in the first."),
    ] = None,
) -> None:
    """Write the HTML report of one or several runs. Calls no model."""
    if len(folders) == 1 and api.studies.is_study(folders[0]):
        show_study(folders[0], out=out)
        return
    if len(folders) == 1 and api.tournaments.is_tournament(folders[0]):
        _show_tournament(folders[0], out)
        return
    if len(folders) == 1 and api.judges.is_judge_audit(folders[0]):
        print_summary(api.judges.report_cards(folders[0], out))
        say(f"Report: {out or folders[0] / 'report.html'}")
        return
    runs = [run for folder in folders for run in api.series.list_folders(folder)]
    file = out or folders[0] / ("report.html" if len(folders) == 1 else "joint-report.html")
    with tell_if_long("Writing the report"):
        document = api.runs.write_document(api.runs.make_report_document(runs), file)
    print_summary(document)
    say(f"Report: {file}")


@app.command()
def compare(
    first: Annotated[Path, typer.Argument(metavar="A", help="A run folder.")],
    second: Annotated[Path, typer.Argument(metavar="B", help="Another run folder.")],
    anyway: Annotated[bool, typer.Option("--anyway", help="Compare runs that are not comparable.")] = False,
    out: Annotated[Path | None, shared.declare_option("--out", "FILE", "Write it as HTML, with the cases that differ.")] = None,
) -> None:
    """Compare two runs on the cases both reached, and show the cases one wins and the other loses."""
    print_whole(api.runs.compare(first, second, anyway=anyway, out=out), out)


def _estimate(asked: Asked) -> None:
    named = {"model": asked.model, "config": asked.config, **asked.settings}
    if not asked.probe:
        if asked.out:
            raise InputError("--out names the folder of a probe: add --probe N, or leave it out.")
        print_summary(api.estimation.estimate(asked.benchmark.name, **named))
        return
    settings = api.runs.make_settings(asked.benchmark.name, asked.config, model=asked.model, **asked.settings)
    folder = asked.out or api.folders.name_new_folder(settings.benchmark, settings.model)
    with show_progress(folder) as progress:
        document = api.estimation.estimate(asked.benchmark.name, probe=asked.probe, out=folder, watch=progress, **named)
    print_summary(document)


_ESTIMATE = "Tell calls, tokens and price of a run before anything is spent; with --probe the time, after a few cases."
app.add_typer(make_benchmark_group(_estimate, _ESTIMATE, Purpose.ESTIMATE), name="estimate")


@app.command()
def power(
    benchmark: shared.BenchmarkName,
    more: Annotated[list[Path] | None, typer.Argument(metavar="[B]", help="The second run of --runs A B.")] = None,
    runs: Annotated[
        list[Path] | None, shared.declare_option("--runs", "A", "Runs to take variances from: one, or two that are compared.")
    ] = None,
    difference: Annotated[
        float, shared.declare_option("--difference", "D", "The difference to tell apart, in each metric's unit.")
    ] = 0.05,
    power: Annotated[float, shared.declare_option("--power", "P", "The probability of telling it apart.")] = 0.8,
    out: shared.HTMLFile = None,
) -> None:
    """Tell how large a difference between two models must be to be seen, and how many cases, repeats and judges it takes."""
    if more and not runs:
        raise InputError("Name runs with --runs A B.")
    with show_progress() as progress:
        named = [*(runs or ()), *(more or ())]
        document = api.power.plan_power(benchmark, named, difference=difference, power=power, out=out, watch=progress)
    print_whole(document, out)


@app.command()
def audit(
    benchmark: shared.BenchmarkOrBuild,
    dataset: shared.DatasetPath = None,
    skip_invalid: shared.SkipInvalid = None,
    source: shared.Sources = None,
    dialogues: shared.Dialogues = None,
    option: shared.Options = None,
    runs: shared.Runs = None,
    out: shared.HTMLFile = None,
) -> None:
    """Tell whether a dataset can be solved by a shortcut, and whether readers agreed."""
    benchmark, dataset = shared.split_benchmark_and_data(benchmark, dataset)
    own, sources, skip = read_options(option), source or (), bool(skip_invalid)
    with tell_if_long("Trying shortcuts, and training classifiers on the data"):
        document = api.datasets.audit(
            benchmark, dataset, skip_invalid=skip, sources=sources, dialogues=dialogues, options=own, runs=runs or (), out=out
        )
    print_whole(document, out)


app.command("audit-judge")(audit_judge)


@app.command()
def label(
    benchmark: shared.BenchmarkName,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The file for the labelled data: .jsonl.")],
    model: Annotated[str, typer.Option("--model", help="The model that fills in what is missing.")],
    dataset: shared.DatasetPath = None,
    skip_invalid: shared.SkipInvalid = None,
    config: shared.Config = None,
    base_url: shared.BaseUrl = None,
    max_cost: shared.MaxCost = None,
    prompts: shared.PromptsFolder = None,
) -> None:
    """Have a model fill in labels that a dataset lacks: roles, kinds of goals, domains."""
    named = {"dataset": dataset, "skip_invalid": skip_invalid, "base_url": base_url, "max_cost": max_cost, "prompts": prompts}
    given: dict[str, Any] = {name: value for name, value in named.items() if value is not None}
    said = api.datasets.label(benchmark, model, out, config, **given)
    say(f"{said}\nLabelled: {out}".strip())


@app.command()
def describe(
    benchmark: shared.BenchmarkOrBuild,
    dataset: shared.DatasetPath = None,
    skip_invalid: shared.SkipInvalid = None,
    features: shared.Features = "tfidf",
    out: Annotated[Path | None, shared.declare_option("--out", "FILE", "Write it as HTML, with the figures.")] = None,
) -> None:
    """Tell what is in a dataset: sizes, topics, clusters."""
    benchmark, dataset = shared.split_benchmark_and_data(benchmark, dataset)
    with tell_if_long("Looking for clusters"):
        found = api.datasets.describe(benchmark, dataset, features=features, skip_invalid=bool(skip_invalid), out=out)
    print_whole(found, out)


@app.command()
def show(
    target: Annotated[str, typer.Argument(metavar="DIR|BENCHMARK", help="A run folder, or a benchmark.")],
    item: Annotated[str, typer.Argument(metavar="[EPISODE|CASE]", help="One of them; without it they are listed.")] = "",
    prompt: Annotated[bool, typer.Option("--prompt", help="Show exactly what was sent, or would be.")] = False,
    of: shared.Of = "",
    find: shared.Find = "",
    dataset: shared.DatasetPath = None,
    prompts: shared.PromptsFolder = None,
    option: shared.Options = None,
) -> None:
    """Show an episode of a run; or, with --prompt, what is sent to each role."""
    from sociable.cli import showing
    from sociable.engine.registry import list_benchmark_names

    is_benchmark = target in list_benchmark_names() and not (Path(target) / "manifest.json").exists()
    if is_benchmark:
        given = {"dataset": dataset, "prompts": prompts, "options": read_options(option)}
        showing.show_case(target, item, prompt, given)
    elif Path(target).exists() or "/" in target:
        showing.show_run(Path(target), item, prompt, of, find)
    else:
        raise InputError(f"'{target}' is neither a run folder nor a benchmark; `sociable list` names the benchmarks.")


app.add_typer(new_app, name="new", help="Start something of your own: a benchmark.")
app.add_typer(construct.app, name="construct")
for command in (towns.replay, towns.export, towns.fork, towns.interview):
    app.command()(command)
app.command("map")(towns.draw_map)
app.command()(review)
app.command()(study)


@app.callback(invoke_without_command=True)
def version(show_version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False) -> None:
    if show_version:
        say(f"sociable {sociable.__version__}")
        raise typer.Exit


def main() -> None:
    """The entry point: what goes wrong ends in one clear message and an exit code, never in a traceback.

    2: something to mend before anything is spent; 3: the run ended early and can be resumed; 130: interrupted.
    """
    logging.basicConfig(level=logging.ERROR, format="%(message)s")
    logging.getLogger("sociable").setLevel(logging.INFO)
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
