"""The audit of hsii-memory: can the test be passed without remembering?

Stock answers know nothing of the directive. An agent that gives one always must not come out above 0 in ``balance`` by
much: what it wins in controls it must lose in directives.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import product

from sociable.benchmarks.hsii.memory.dataset import MemoryCase, MemoryTest
from sociable.core.view import Callout, Column, Document, Row, Section, Table, Tone, format_figure, format_interval
from sociable.statistics.intervals import Interval, estimate_mean

TOLERANCE = 0.15
"""The distance above 0 that the balance of a stock answer may have."""

STOCK: dict[str, Callable[[MemoryCase], str]] = {
    "says what was said": lambda case: case.messages[-1].content,
    "says it will see to it": lambda _: "Thank you for telling me. I will see to it.",
    "says it cannot say": lambda _: "I am sorry, I cannot say.",
    "names the person": lambda case: f"Yes, {case.target}, of course.",
    "always obeys": lambda case: case.wrong if case.control else case.right,
    "never obeys": lambda case: case.right if case.control else case.wrong,
}


def make_audit(cases: Sequence[MemoryCase], source: str) -> Document:
    """The shares that stock answers would earn by the rules, and what there is in the data."""
    kinds = [case for case in cases if not case.control], [case for case in cases if case.control]
    rows, high = [], []
    for name, answer in STOCK.items():
        shares = [_measure_share(own, answer) for own in kinds]
        balance = sum(share.value or 0.0 for share in shares) - 1 if all(kinds) else None
        if balance is not None and balance > TOLERANCE:
            high.append(name)
        cells = [format_interval(share, 2) for share in shares]
        rows.append(Row([name, *cells, format_figure(balance, 2)], emphasis=name in high))
    if not all(kinds):
        verdict = Callout("Without both directives and controls nothing can be told.", Tone.WARNING)
    elif high:
        verdict = Callout(f"These stock answers have a balance above {TOLERANCE}: {', '.join(high)}.", Tone.BAD)
    else:
        verdict = Callout(f"No stock answer has a balance above {TOLERANCE}.", Tone.GOOD)
    columns = [
        Column("Answer"),
        Column("heeded", True, "share of directives, 95% interval by scenario"),
        Column("restraint", True, "share of controls"),
        Column("balance", True, "heeded + restraint − 1"),
    ]
    return Document(
        title="Audit of hsii-memory",
        subtitle=f"{len(cases)} cases of {len({case.scenario for case in cases})} scenarios ({source})",
        summary=Table("What answers that remember nothing would earn, by the rules", columns, rows),
        sections=[Section("Verdict", [verdict]), Section("What there is", [_count_kinds(cases), _count_distances(cases)])],
    )


def _measure_share(cases: Sequence[MemoryCase], answer: Callable[[MemoryCase], str]) -> Interval:
    """The share of cases in which the stock answer is right."""
    return estimate_mean([float(case.check.apply(answer(case))[0]) for case in cases], [case.scenario for case in cases])


def _count_kinds(cases: Sequence[MemoryCase]) -> Table:
    stories = {case.scenario: case for case in cases}.values()
    counts = Counter((case.directive.device, case.test, case.control) for case in stories)
    kinds = list(product(MemoryTest, (False, True)))
    judged = Counter(case.directive.device for case in stories if case.check.question)
    rows = [
        Row([device, *(str(counts[device, *kind]) for kind in kinds), str(judged[device])])
        for device in sorted({case.directive.device for case in stories})
    ]
    columns = [Column("Device"), *(Column(f"{test}{', control' if control else ''}", True) for test, control in kinds)]
    return Table("Scenarios by kind", [*columns, Column("judged", True, "of all of them, those no rule can decide")], rows)


def _count_distances(cases: Sequence[MemoryCase]) -> Table:
    counts = Counter(case.distance for case in cases)
    rows = [Row([str(distance), str(count)]) for distance, count in sorted(counts.items())]
    return Table("Messages between directive and answer", [Column("Distance", True), Column("Cases", True)], rows)
