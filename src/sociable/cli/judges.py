"""The command for judges under test."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sociable import api
from sociable.cli import options as shared
from sociable.cli.benchmarks import read_options
from sociable.cli.output import complain, print_summary, say, show_progress, tell_if_long

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sociable.judging.auditing.card import JudgeCard, KindCard, PeopleCard

_KNOWN = "Known answers of each kind of judging, at the most (200); all the rest is in proportion."


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
