"""Can the memory test be passed without remembering? ``sociable audit hsii-memory``.

Stock answers know nothing of the directive. Whoever gives one always must not come out above 0 in ``balance`` by much:
what they win in controls they must lose in directives.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from sociable.benchmarks.hsii.memory.dataset import MemoryCase, Test
from sociable.core.view import Callout, Column, Document, Row, Section, Table, Tone, figure, with_interval
from sociable.statistics.intervals import estimate_mean

TOLERANCE = 0.15
"""How far above 0 the balance of a stock answer may be."""

STOCK: dict[str, Callable[[MemoryCase], str]] = {
    "says what was said": lambda case: case.messages[-1].content,
    "says it will see to it": lambda _: "Thank you for telling me. I will see to it.",
    "says it cannot say": lambda _: "I am sorry, I cannot say.",
    "names the person": lambda case: f"Yes, {case.target}, of course.",
    "always obeys": lambda case: case.wrong if case.control else case.right,
    "never obeys": lambda case: case.right if case.control else case.wrong,
}


def make_audit(cases: Sequence[MemoryCase], source: str) -> Document:
    directives = [case for case in cases if not case.control]
    controls = [case for case in cases if case.control]
    rows, high = [], []
    for name, answer in STOCK.items():
        shares = [_share(own, answer) for own in (directives, controls)]
        balance = None if None in (each[0] for each in shares) else sum(each[0] or 0.0 for each in shares) - 1
        if balance is not None and balance > TOLERANCE:
            high.append(name)
        rows.append(Row([name, *(with_interval(*each, 2) for each in shares), figure(balance, 2)], emphasis=name in high))
    if not directives or not controls:
        verdict = Callout("Without both directives and controls nothing can be told.", Tone.WARNING)
    elif high:
        verdict = Callout(f"These stock answers have a balance above {TOLERANCE}: {', '.join(high)}.", Tone.BAD)
    else:
        verdict = Callout(f"No stock answer has a balance above {TOLERANCE}.", Tone.GOOD)
    return Document(
        title="Audit of hsii-memory",
        subtitle=f"{len(cases)} cases of {len({case.scenario for case in cases})} scenarios ({source})",
        summary=Table(
            caption="What answers that remember nothing would earn, by the rules",
            columns=[
                Column("Answer"),
                Column("heeded", True, "share of directives, 95% interval by scenario"),
                Column("restraint", True, "share of controls"),
                Column("balance", True, "heeded + restraint − 1"),
            ],
            rows=rows,
        ),
        sections=[Section("Verdict", [verdict]), Section("What there is", [_kinds(cases), _distances(cases)])],
    )


def _share(cases: Sequence[MemoryCase], answer: Callable[[MemoryCase], str]) -> tuple[float | None, float | None, float | None]:
    found = estimate_mean([float(case.check.apply(answer(case))[0]) for case in cases], [case.scenario for case in cases])
    return found.value, found.low, found.high


def _kinds(cases: Sequence[MemoryCase]) -> Table:
    stories = {case.scenario: case for case in cases}.values()
    counts = Counter((case.directive.device, case.test, case.control) for case in stories)
    kinds = [(Test.CARRY_OVER, False), (Test.CARRY_OVER, True), (Test.ROLE_PLAY, False), (Test.ROLE_PLAY, True)]
    judged = Counter(case.directive.device for case in stories if case.check.question)
    rows = [
        Row([device, *(str(counts[device, *kind]) for kind in kinds), str(judged[device])])
        for device in sorted({case.directive.device for case in stories})
    ]
    columns = [Column("Device"), *(Column(f"{test}{', control' if control else ''}", True) for test, control in kinds)]
    return Table("Scenarios by kind", [*columns, Column("judged", True, "of all of them, those no rule can decide")], rows)


def _distances(cases: Sequence[MemoryCase]) -> Table:
    counts = Counter(case.distance for case in cases)
    rows = [Row([str(distance), str(count)]) for distance, count in sorted(counts.items())]
    return Table("Messages between directive and answer", [Column("Distance", True), Column("Cases", True)], rows)
