"""The results of a review: its status with the agreement of its reviewers, the reviewed data set, and who decided what."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from statistics import median
from typing import Any

from sociable.core.errors import InputError
from sociable.core.run_folder import write_atomically
from sociable.core.seeding import derive_seed
from sociable.core.view import MISSING, Block, Callout, Column, Row, Table, Tone, format_figure, format_interval
from sociable.datasets.build import format_json_lines, read_build_manifest
from sociable.datasets.card import write_cards
from sociable.datasets.review.items import SETTLED, ReviewItem, ReviewOutcome, State, digest_record
from sociable.datasets.review.records import Choice, Decision
from sociable.datasets.review.reviewing import Review, tell_time
from sociable.statistics.agreement import Label, measure_alpha, measure_cohen, measure_fleiss, measure_observed
from sociable.statistics.intervals import Interval

REVIEWED = "dataset.reviewed.jsonl"
DECISION = "decision"
"""The question that every decision answers, beside those that tags answer."""


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Agreement of two reviewers over the ``items`` on which both answered."""

    first: str
    second: str
    items: int
    observed: float | None
    kappa: Interval
    """Cohen's."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of the reviewers of one group on one question, over ``items`` that anybody answered."""

    reviewers: int
    items: int
    pairs: tuple[PairAgreement, ...]
    fleiss: Interval
    """Fleiss' kappa; it has no value where items were not all answered by equally many, two or more."""
    alpha: Interval
    """Krippendorff's, nominal; answers may be missing."""


def measure_agreement(
    labels: Mapping[str, Mapping[str, Label]], *, clusters: Mapping[str, str] | None = None, seed: int = 0
) -> Agreement:
    """Agreement beyond chance among reviewers, from what each said of each item: {reviewer: {item: label}}.

    ``clusters`` has for items what they are no independent samples of. Intervals are 95%, by bootstrap over these; see
    ``measure_cohen`` for where there are none.
    """
    names = list(dict.fromkeys(item for own in labels.values() for item, label in own.items() if label is not None))
    raters = {reviewer: [own.get(item) for item in names] for reviewer, own in labels.items()}
    alike = [(clusters or {}).get(name, name) for name in names]
    pairs = []
    for one, other in combinations(raters, 2):
        both = sum(a is not None and b is not None for a, b in zip(raters[one], raters[other], strict=True))
        kappa = measure_cohen(raters[one], raters[other], seed=derive_seed(seed, "cohen", one, other), clusters=alike)
        pairs.append(PairAgreement(one, other, both, measure_observed(raters[one], raters[other]), kappa))
    answers = [[label for label in column if label is not None] for column in zip(*raters.values(), strict=True)]
    is_even = len({len(answer) for answer in answers}) == 1
    return Agreement(
        sum(any(label is not None for label in own) for own in raters.values()),
        len(names),
        tuple(pairs),
        measure_fleiss(answers if is_even else (), seed=derive_seed(seed, "fleiss"), clusters=alike),
        measure_alpha(list(raters.values()), seed=derive_seed(seed, "alpha"), clusters=alike),
    )


def find_labels(review: Review, decisions: Sequence[Decision], question: str) -> dict[str, dict[str, Label]]:
    """Each reviewer's label of each item: the decision, or the tag that answers ``question``."""
    answers = {tag.name for tag in review.settings.tags if tag.question == question}
    labels: dict[str, dict[str, Label]] = {}
    for each in decisions:
        label = each.decision if question == DECISION else next((tag for tag in each.tags if tag in answers), None)
        labels.setdefault(each.reviewer, {})[each.item] = label
    return labels


def show_status(review: Review) -> Iterator[Block]:
    """The blocks that ``sociable review DIR --status`` shows; nobody's single decisions are in it."""
    decisions = review.read_decisions()
    yield _make_items_table(review)
    yield _make_reviewers_table(review, decisions)
    yield from _make_agreement_tables(review, decisions)
    if outdated := review.count_outdated():
        text = f"{outdated} decisions do not count: their items have been changed or taken out of the data set since."
        yield Callout(text, Tone.WARNING)
    if is_applied_before_last(review):
        yield Callout(f"{REVIEWED} is older than the last decision: write it anew with --apply.", Tone.WARNING)


def _make_items_table(review: Review) -> Table:
    outcomes = list(review.settle_all().values())
    rows = []
    for state in State:
        own = [outcome for outcome in outcomes if outcome.state is state]
        reasons = Counter(outcome.reason for outcome in own if outcome.reason)
        rows.append(Row([state.value, str(len(own)), ", ".join(f"{reason}: {count}" for reason, count in reasons.items())]))
    settings = review.settings
    again = " What it drops goes to the second as well." if settings.dropped_again else ""
    note = f"Settled by more than half of {settings.panel} in the first group, of {settings.second_panel} in the second.{again}"
    columns = [Column("State"), Column("Items", True), Column("Reasons")]
    return Table(f"{len(outcomes)} items", columns, rows, note)


def _make_reviewers_table(review: Review, decisions: Sequence[Decision]) -> Table:
    rows = []
    for name, group in dict.fromkeys((each.reviewer, each.group) for each in decisions):
        own = [each for each in decisions if each.reviewer == name]
        seconds = [each.seconds for each in own if each.seconds is not None]
        took = format_figure(median(seconds), 0) if seconds else MISSING
        rows.append(Row([name, str(group), str(len(own)), str(len(review.find_open_items(name, group))), took]))
    columns = [
        Column("Reviewer"),
        Column("Group"),
        Column("Decided", True),
        Column("Left", True, "what enough others have decided on is left out"),
        Column("Seconds an item", True, "median; — where all came from sheets"),
    ]
    return Table("Reviewers", columns, rows)


def _make_agreement_tables(review: Review, decisions: Sequence[Decision]) -> list[Table]:
    """Among all of a group and in pairs; none where nobody answered what somebody else did."""
    clusters = {name: item.cluster for name, item in review.items.items()}
    among_all, in_pairs = [], []
    questions = [DECISION, *dict.fromkeys(tag.question for tag in review.settings.tags if tag.question)]
    for group, question in product((1, 2), questions):
        labels = find_labels(review, [each for each in decisions if each.group == group], question)
        found = measure_agreement(labels, clusters=clusters, seed=review.settings.seed)
        if found.reviewers < 2:
            continue
        counts = [str(found.reviewers), str(found.items)]
        among_all.append(Row([str(group), question, *counts, format_interval(found.fleiss), format_interval(found.alpha)]))
        for pair in found.pairs:
            if pair.items:
                agreed = [format_figure(pair.observed, 2), format_interval(pair.kappa)]
                in_pairs.append(Row([str(group), question, f"{pair.first}, {pair.second}", str(pair.items), *agreed]))
    if not among_all:
        return []
    note = (
        "95% intervals by bootstrap over dialogues or templates, where there are 8 or more. — : items were not all answered by "
        "equally many, or only one answer was given."
    )
    about = [Column("Group"), Column("On")]
    of_all = [
        *about,
        Column("Reviewers", True),
        Column("Items", True, "that anybody answered on"),
        Column("Fleiss' κ", True),
        Column("Krippendorff's α", True, "nominal, missing answers allowed"),
    ]
    of_pairs = [
        *about,
        Column("Reviewers"),
        Column("Items", True, "that both answered on"),
        Column("Agreement", True, "share of the items with the same answer"),
        Column("Cohen's κ", True),
    ]
    return [Table("Agreement beyond chance", of_all, among_all, note), Table("Agreement in pairs", of_pairs, in_pairs)]


def apply_review(review: Review, *, anyway: bool = False) -> str:
    """Writes the reviewed data set, what was dropped and why, who decided what, and the data card anew.

    Returns in words how many items became what.

    Raises InputError while there are undecided items; with ``anyway`` these are left out. Each file is replaced in one step,
    the data set last.
    """
    by_item, outcomes = review.sort_decisions(), review.settle_all()
    if not any(by_item.values()):
        raise InputError(f"Nobody has decided on anything yet. Begin with: sociable review {review.folder} --reviewer NAME")
    states = [outcome.state for outcome in outcomes.values()]
    kept, fixed, dropped = (states.count(state) for state in SETTLED.values())
    undecided = len(states) - kept - fixed - dropped
    if undecided and not anyway:
        raise InputError(
            f"{undecided} of {len(states)} items are undecided: {states.count(State.FIRST)} wait for the first group, "
            f"{states.count(State.SECOND)} for the second (--group 2), on {states.count(State.OPEN)} the second does not "
            "agree either. Have them decided, or leave them out with --anyway."
        )
    left_out = [
        _describe_dropped(review.items[name], by_item[name], each)
        for name, each in outcomes.items()
        if each.state is State.DROPPED
    ]
    records = (each.record for each in outcomes.values() if each.record is not None)
    told = json.dumps(_describe_review(review, by_item, outcomes), indent=1, ensure_ascii=False)
    write_atomically(review.folder / "review" / "dropped.jsonl", format_json_lines(left_out))
    write_atomically(review.folder / "review" / "outcomes.json", told + "\n")
    write_atomically(review.folder / REVIEWED, format_json_lines(records))
    done = f"{kept} kept, {fixed} fixed, {dropped} dropped, {undecided} undecided"
    if (manifest := read_build_manifest(review.folder)) is not None:
        people = len({each.reviewer for own in by_item.values() for each in own})
        write_cards(review.folder, manifest, REVIEWED, f"{done}, by {people} people")
    return done


def is_applied_before_last(review: Review) -> bool:
    """Whether what was written of the review is older than its last decision."""
    written, decided = review.folder / REVIEWED, review.folder / "review" / "decisions.jsonl"
    return written.exists() and decided.exists() and written.stat().st_mtime < decided.stat().st_mtime


def _describe_dropped(item: ReviewItem, decisions: Sequence[Decision], outcome: ReviewOutcome) -> dict[str, Any]:
    own = [each for each in decisions if each.group == outcome.group and each.decision is Choice.DROP]
    tags = sorted({tag for each in own for tag in each.tags})
    return {"id": item.id, "tags": tags, "reasons": [each.note for each in own if each.note], "record": item.record}


def _describe_review(
    review: Review, by_item: Mapping[str, Sequence[Decision]], outcomes: Mapping[str, ReviewOutcome]
) -> dict[str, Any]:
    """The record of who decided what, and what came of it."""
    told = {"reviewer", "group", "decision", "tags", "note", "seconds", "time"}
    return {
        "made": tell_time(),
        "dataset": digest_record([item.digest for item in review.items.values()]),
        "settings": review.settings.model_dump(mode="json"),
        "counts": {state.value: sum(each.state is state for each in outcomes.values()) for state in State},
        "outdated decisions": review.count_outdated(),
        "items": [
            {
                "id": name,
                "state": outcome.state.value,
                "group": outcome.group,
                "reason": outcome.reason,
                "decisions": [
                    {**each.model_dump(mode="json", include=told), "with a fix": each.fixed is not None} for each in by_item[name]
                ],
            }
            for name, outcome in outcomes.items()
        ],
    }
