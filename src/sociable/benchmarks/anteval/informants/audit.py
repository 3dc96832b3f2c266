"""Checks of cards that need no model: ``sociable audit anteval-informants``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from sociable.benchmarks.anteval.informants.dataset import Level, Statement, Way
from sociable.benchmarks.anteval.informants.scenario import Scenario
from sociable.core.view import Callout, Column, Document, Row, Section, Table, Tone
from sociable.core.wording import has_wording

_OPEN_AT_FIRST = 0.5
"""The share of the facts that one may know to ask about from the beginning; above it a list of questions is enough."""

_COLUMNS = (
    Column("Card and level"),
    Column("Facts", True),
    Column("Not so", True, "lies and rumours"),
    Column("Open at first", True, "facts that one knows to ask about by what everybody is told"),
    *(Column(way.capitalize(), True, f"facts that are got by {way}") for way in Way),
)


def make_audit(scenarios: Sequence[Scenario], source: str) -> Document:
    rows, remarks = [], []
    for scenario in scenarios:
        opened = _find_open(scenario, [scenario.card.public])
        ways = Counter(scenario.find_way(each) for each in scenario.facts)
        count = len(scenario.facts)
        cells = [str(count), str(len(scenario.statements) - count), str(len(opened)), *(str(ways[way]) for way in Way)]
        rows.append(Row([scenario.id, *cells]))
        remarks += [f"{scenario.id}: {remark}" for remark in _find_remarks(scenario, opened)]
    blocks = [Callout(each, Tone.WARNING) for each in remarks] or [Callout("Nothing to remark.", Tone.GOOD)]
    summary = Table("Cards", _COLUMNS, rows)
    return Document("Audit of anteval-informants", f"{len(rows)} scenarios ({source})", summary, [Section("Remarks", blocks)])


def _find_open(scenario: Scenario, texts: Sequence[str]) -> set[str]:
    """The facts whose topic one of these texts names."""
    return {each.id for each in scenario.facts if any(has_wording(text, each.asked) for text in texts)}


def _find_remarks(scenario: Scenario, opened: set[str]) -> Iterator[str]:
    by_name: dict[str, Statement] = {each.id: each for each in scenario.facts}
    reached, found = set[str](), set(opened)
    while found - reached:
        reached |= found
        found = reached | _find_open(scenario, [by_name[name].point for name in reached])
    if missing := by_name.keys() - reached:
        yield f"nothing leads to {', '.join(sorted(missing, key=list(by_name).index))}: nobody would know to ask about it"
    if scenario.level is Level.HARD and len(opened) > _OPEN_AT_FIRST * len(scenario.facts):
        yield f"{len(opened)} of {len(scenario.facts)} facts can be asked about from the beginning"
