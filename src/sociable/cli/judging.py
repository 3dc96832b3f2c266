"""``judge`` and ``audit-judge``: judges and people who look at runs, and how far judges can be trusted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sociable import api
from sociable.cli import options as shared
from sociable.cli.benchmarks import read_options
from sociable.cli.output import complain, print_summary, print_whole, say, show_progress, tell_if_long
from sociable.cli.reporting import show_results
from sociable.core.errors import InputError
from sociable.core.form import PERSON, PeopleAt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sociable.judging.auditing.card import JudgeCard, KindCard, PeopleCard

_KNOWN = "Known answers of each kind of judging, at the most (200); all the rest is in proportion."


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
    people_at: shared.At = PeopleAt.TERMINAL,
    cluster: shared.OnCluster = None,
    workers: shared.Workers = None,
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
        say(f"Report: {api.reports.report(api.series.list_folders(folder), out=folder / 'report.html')}")
    if not judge and not rubric:
        if not (sample or corrections or ratings or export_words or words):
            asked = "--sample N --export FILE, --corrections, --ratings, --export-words, --words"
            raise InputError(f"Name at least one --judge, or ask people: {asked}.")
        return
    if api.tournaments.is_tournament(folder):
        api.tournaments.require_finished(folder)
    by_people = PERSON in (judge or ()) and people_at is PeopleAt.TERMINAL
    with show_progress(folder, hidden=by_people) as progress:
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
                people_at=people_at,
                cluster=cluster,
                workers=workers,
            )
            for run in api.series.list_folders(folder)
        ]
    show_results(folder, results)


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


def audit_judge(
    benchmark: shared.BenchmarkName,
    judge: shared.Judges = None,
    kind: Annotated[
        list[str] | None, shared.declare_option("--kind", "NAME", "One kind of judging only; repeat for several.")
    ] = None,
    language: Annotated[
        list[str] | None,
        shared.declare_option("--language", "NAME", "Also in another language: German, Spanish, Chinese; repeat for several."),
    ] = None,
    known: Annotated[int | None, shared.declare_option("--known", "N", _KNOWN)] = None,
    people: Annotated[
        list[Path] | None, shared.declare_option("--people", "PATH", "Also a set that people have judged; repeat for several.")
    ] = None,
    corrections: Annotated[
        list[Path] | None,
        shared.declare_option("--corrections", "DIR", "Also a run whose sheets people have filled in; repeatable."),
    ] = None,
    same_family: Annotated[
        Path | None,
        shared.declare_option("--same-family", "DIR", "A run of a model of the judge's own family, judged by others."),
    ] = None,
    other_family: Annotated[
        Path | None, shared.declare_option("--other-family", "DIR", "With it: the same of another family's model.")
    ] = None,
    config: shared.Config = None,
    dataset: shared.DatasetPath = None,
    skip_invalid: shared.SkipInvalid = None,
    seed: shared.Seed = None,
    max_connections: shared.Connections = None,
    max_cost: shared.MaxCost = None,
    base_url: shared.BaseUrl = None,
    prompts: shared.PromptsFolder = None,
    option: shared.Options = None,
    estimate: shared.OnlyEstimate = False,
    out: Annotated[Path | None, typer.Option("--out", help="The audit's folder; by default a new one under runs/.")] = None,
) -> None:
    """Find out how far judges can be trusted: known answers, biases, orders in what is judged, stability. Makes their cards."""
    named: dict[str, Any] = {"dataset": dataset, "skip_invalid": skip_invalid, "seed": seed, "max_connections": max_connections}
    named |= {"max_cost": max_cost, "base_url": base_url, "prompts": prompts, "options": read_options(option) or None}
    named |= {"kinds": kind, "languages": language, "known": known, "people": people, "corrections": corrections}
    named |= {"same_family": same_family, "other_family": other_family}
    given: Any = {name: value for name, value in named.items() if value is not None}
    judges = api.judges
    asked = judges.make_audit_settings(benchmark, judge or (), config, **given)
    if estimate:
        with tell_if_long("Writing out what would be asked"):
            document = judges.estimate_audit(asked)
        print_summary(document)
        return
    folder = out or judges.name_audit_folder(benchmark)
    with show_progress(folder) as progress:
        cards = judges.run_audit(asked, folder, watch=progress)
    show_cards(folder, cards)


def show_cards(folder: Path, cards: Sequence[JudgeCard]) -> None:
    """Prints the table of the cards, and where their page is."""
    from sociable.reports.judge_cards import make_cards_document

    print_summary(make_cards_document(cards))
    say(f"Report: {folder / 'report.html'}")
    parts: list[KindCard | PeopleCard] = []
    for card in cards:
        parts += [*card.kinds, *card.people]
    if missing := sum(each.missing for each in parts):
        why = next((cause for each in parts for cause in each.causes if each.missing), "")
        complain(f"{missing} things could not be asked: {why}. Mend the cause, then: sociable resume {folder}", 3)
