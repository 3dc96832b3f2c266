"""Checks of cases that need no model: ``sociable audit anteval-hidden``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sociable.benchmarks.anteval.hidden.dataset import Level
from sociable.benchmarks.anteval.hidden.scenario import Scenario
from sociable.benchmarks.anteval.hidden.solver import find_favourite, find_needed, list_problems
from sociable.core.view import Callout, Column, Document, Row, Section, Table, Tone

APART = 3
"""The members among whom needed clues are spread at the hard level."""

_COLUMNS = (
    Column("Case and level"),
    Column("Clues", True),
    Column("A seat", True, "clues of the members, fewest to most"),
    Column("Hears", True, "others whom a member hears, fewest to most"),
    Column("Needed", True, "clues without which the right answer does not follow, by the option that is right"),
    Column("Seats", True, "members who alone have a needed one"),
    Column("Withheld", True, "needed clues that are told only to somebody who asks"),
    Column("Not so", True, "clues that are hearsay and wrong"),
    Column("All know", False, "the option that what all know speaks for"),
)


def make_audit(scenarios: Sequence[Scenario], source: str) -> Document:
    rows, remarks = [], []
    for scenario in {(each.case.id, each.level): each for each in scenarios}.values():
        draws = [replace(scenario, best=option.id) for option in scenario.case.options]
        needed = [find_needed(each) for each in draws]
        sizes = [len(each.list_known(name)) for each in draws for name in each.case.names]
        alone = [len({clue.to[0] for clue in each if len(clue.to) == 1}) for each in needed]
        cells = [
            _show_range([len(each.clues) for each in draws]),
            _show_range(sizes),
            _show_range([len(scenario.list_hearers(name)) for name in scenario.case.names]),
            ", ".join(str(len(each)) for each in needed),
            _show_range(alone),
            _show_range([sum(clue.unasked for clue in each) for each in needed]),
            _show_range([sum(len(clue.voids) for clue in each.clues) for each in draws]),
        ]
        rows.append(Row([f"{scenario.case.id}@{scenario.level}", *cells, find_favourite(scenario)]))
        for each, apart in zip(draws, alone, strict=True):
            remarks += [f"{each.case.id}@{each.level}, {each.best} right: {remark}" for remark in _find_remarks(each, apart)]
    blocks = [Callout(each, Tone.WARNING) for each in remarks] or [Callout("Nothing to remark.", Tone.GOOD)]
    summary = Table("Cases", _COLUMNS, rows)
    return Document("Audit of anteval-hidden", f"{len(rows)} cases and levels ({source})", summary, [Section("Remarks", blocks)])


def _show_range(counts: Sequence[int]) -> str:
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low}–{high}"


def _find_remarks(scenario: Scenario, apart: int) -> Iterator[str]:
    yield from list_problems(scenario)
    if scenario.level is Level.HARD and apart < APART:
        yield f"needed clues lie with {apart} members alone; at this level expected at least {APART}"
    longest = max(scenario.clues, key=lambda each: len(each.text.split()))
    if (words := len(longest.text.split())) > scenario.budget.words + 15:
        yield f"the clue '{longest.id}' has {words} words, more than a turn and fifteen"
