"""Checks of cases that need no model: ``sociable audit anteval-hidden``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sociable.benchmarks.anteval.hidden.dataset import Level
from sociable.benchmarks.anteval.hidden.scenario import Scenario
from sociable.benchmarks.anteval.hidden.solver import choose, find_needed, list_problems
from sociable.core.view import Callout, Column, Document, Row, Section, Table, Tone

APART = 3
"""The members among whom needed clues are spread at the hard level."""

_COLUMNS = (
    Column("Scenario"),
    Column("Clues", True),
    Column("A seat", True, "clues of the members, fewest to most"),
    Column("Needed", True, "clues without which the right answer does not follow"),
    Column("Seats", True, "members who alone have a needed one"),
    Column("Withheld", True, "needed clues that are told only to somebody who asks"),
    Column("Not so", True, "clues that are hearsay and wrong"),
    Column("All know", False, "the option that what all know speaks for"),
    Column("Right"),
)


def make_audit(scenarios: Sequence[Scenario], source: str) -> Document:
    rows, remarks = [], []
    for scenario in scenarios:
        needed = find_needed(scenario, scenario.clues)
        sizes = [len(scenario.list_known(name)) for name in scenario.case.names]
        alone = {each.to[0] for each in needed if len(each.to) == 1}
        counts = [len(scenario.clues), f"{min(sizes)}–{max(sizes)}", len(needed), len(alone)]
        counts += [sum(each.unasked for each in needed), sum(len(each.voids) for each in scenario.clues)]
        shared = choose(scenario, [each for each in scenario.clues if not each.to])
        rows.append(Row([scenario.id, *map(str, counts), shared, scenario.case.best]))
        remarks += [f"{scenario.id}: {each}" for each in (*list_problems(scenario), *_find_remarks(scenario, alone))]
    blocks = [Callout(each, Tone.WARNING) for each in remarks] or [Callout("Nothing to remark.", Tone.GOOD)]
    summary = Table("Cases", _COLUMNS, rows)
    return Document("Audit of anteval-hidden", f"{len(scenarios)} scenarios ({source})", summary, [Section("Remarks", blocks)])


def _find_remarks(scenario: Scenario, alone: set[str]) -> Iterator[str]:
    if scenario.level is Level.HARD and len(alone) < APART:
        yield f"needed clues lie with {len(alone)} members alone; at this level expected at least {APART}"
    longest = max(scenario.clues, key=lambda each: len(each.text.split()))
    if (words := len(longest.text.split())) > scenario.budget.words + 10:
        yield f"the clue '{longest.id}' has {words} words, more than a turn and ten"
