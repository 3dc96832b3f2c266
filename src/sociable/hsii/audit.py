"""Can the golden addressee be guessed without understanding? ``sociable audit hsii``.

A shortcut is a rule that looks at names and places of turns only, or a classifier trained on such features of all other
dialogues. On good data none is far from chance, in either direction. Beside the dataset stand the three cases printed in
the paper, to show that the audit finds what is there. Where the data say whom independent readers would have addressed,
their agreement is shown; and dialogues that are too alike are named.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import combinations

from sociable.core.view import Callout, Column, Document, IntervalPlot, Mark, Row, Section, Table, Tone, figure, with_interval
from sociable.dialogue.names import words
from sociable.hsii.clusters import longest_cases
from sociable.hsii.dataset import ASSISTANT, Case, cut_cases
from sociable.hsii.measure import measure_points
from sociable.hsii.shortcuts import AVOIDANCES, SHORTCUTS, classifier_hits
from sociable.statistics.agreement import fleiss
from sociable.statistics.intervals import Interval, clustered_proportion

FEW_CASES = 24
"""With fewer even a fair data set is further than the tolerance from chance, by chance alone."""

TOLERANCE = 0.15
"""How far from chance a shortcut may be on data that is to be trusted."""


@dataclass(frozen=True, slots=True)
class ShortcutResult:
    name: str
    hits: Interval
    chance: float

    @property
    def distance(self) -> float:
        """From chance, with sign."""
        return (self.hits.value or 0.0) - self.chance


def measure_shortcuts(cases: Sequence[Case]) -> list[ShortcutResult]:
    """How often each shortcut picks the golden addressee; farthest from chance first."""
    chance = sum(1 / len(case.characters) for case in cases) / len(cases)
    clusters = [case.dialogue for case in cases]
    results = []
    for name, pick in SHORTCUTS.items():
        hits = [float(pick(case) == case.golden.role_to) for case in cases]
        results.append(ShortcutResult(name, clustered_proportion(hits, clusters), chance))
    for name, avoided in AVOIDANCES.items():
        expected = [_expected_hit(case, avoided(case)) for case in cases]
        results.append(ShortcutResult(name, clustered_proportion(expected, clusters), chance))
    for name, hits in classifier_hits(cases).items():
        results.append(ShortcutResult(f"{name}, other dialogues", clustered_proportion(hits, clusters), chance))
    return sorted(results, key=lambda result: -abs(result.distance))


def _expected_hit(case: Case, avoided: str | None) -> float:
    """The chance of a random pick among those not avoided."""
    remaining = [name for name in case.characters if name != avoided]
    return 1 / len(remaining) if case.golden.role_to in remaining else 0.0


@dataclass(frozen=True, slots=True)
class Readings:
    """What independent readers chose, over the cases that have at least two readings."""

    cases: int
    readers: tuple[int, int]
    """The fewest and the most a case has."""
    unanimous: int
    """Cases in which all of them chose the golden addressee."""
    contested: tuple[str, ...]
    """Cases in which fewer than two of three did."""
    kappa: float | None
    """Fleiss' kappa among the readers (the golden addressee is none of them), over the cases with as many readers as most.

    A label is the place in the list of characters, so that chance agreement is that of picking among so many.
    """


def measure_readings(cases: Sequence[Case]) -> Readings | None:
    """None if no case was read by two."""
    read = [case for case in cases if len(case.readings) > 1]
    if not read:
        return None
    right = {case.id: sum(case.who_is(name) == case.golden.role_to for name in case.readings) for case in read}
    counts = Counter(len(case.readings) for case in read)
    usual = counts.most_common(1)[0][0]
    labels = [[case.characters.index(case.who_is(name) or name) for name in case.readings] for case in read]
    return Readings(
        cases=len(read),
        readers=(min(counts), max(counts)),
        unanimous=sum(right[case.id] == len(case.readings) for case in read),
        contested=tuple(case.id for case in read if 3 * right[case.id] < 2 * len(case.readings)),
        kappa=fleiss([label for label in labels if len(label) == usual]),
    )


ALIKE = 0.05
"""Jaccard similarity of the sets of five words in a row, above which two dialogues are too alike."""


def alike_dialogues(cases: Sequence[Case]) -> list[str]:
    """Pairs of dialogues that share too many runs of five words, or the whole sequence of speakers."""
    longest = {case.dialogue: case for case in longest_cases(cases)}
    runs = {name: _runs_of_five(case) for name, case in longest.items()}
    found = []
    for one, other in combinations(longest, 2):
        either = runs[one] | runs[other]
        similarity = len(runs[one] & runs[other]) / len(either) if either else 0.0
        if similarity > ALIKE:
            found.append(f"{one} and {other} share {similarity:.0%} of their runs of five words")
        if len(longest[one].messages) > 3 and _speakers(longest[one]) == _speakers(longest[other]):
            found.append(f"{one} and {other} have the same sequence of speakers")
    return found


def _runs_of_five(case: Case) -> set[tuple[str, ...]]:
    said = words(" ".join([case.background.scene, *(message.content for message in (*case.messages, case.golden))]))
    return {tuple(said[place : place + 5]) for place in range(len(said) - 4)}


def _speakers(case: Case) -> list[int]:
    """Who speaks when, with characters numbered in the order in which they first speak."""
    speakers = [message.role_from for message in (*case.messages, case.golden)]
    first = list(dict.fromkeys(name for name in speakers if name != ASSISTANT))
    return [-1 if name == ASSISTANT else first.index(name) for name in speakers]


def rule_faults(cases: Sequence[Case]) -> list[str]:
    """Cases whose own rules do not hold: the golden response must earn everything, and more than the weaker one."""
    faults = []
    for case in cases:
        golden = measure_points(case, case.golden.content)
        if golden is None:
            continue
        if golden[0] < 1.0:
            faults.append(f"{case.id}: the golden response {golden[1]}")
        if case.weaker and (weaker := measure_points(case, case.weaker.content)) and weaker[0] >= golden[0]:
            faults.append(f"{case.id}: the weaker response earns as much as the golden one")
    return faults


def printed_cases() -> list[Case]:
    """The three cases of Tables 3 to 5: their names and turns; the words are paraphrased."""
    text = resources.files("sociable.hsii").joinpath("data", "printed_cases.json").read_text(encoding="utf-8")
    return [case for raw in json.loads(text) for case in cut_cases(raw, "printed_cases.json", raw["id"])]


def _listed(results: Sequence[ShortcutResult]) -> str:
    return ", ".join(result.name for result in results)


def _readings_table(readings: Readings, cases: int) -> Table:
    fewest, most = readings.readers
    rows = [
        ("cases read", f"{readings.cases} of {cases}"),
        ("readers a case", str(fewest) if fewest == most else f"{fewest} to {most}"),
        ("all chose the golden addressee", f"{readings.unanimous} of {readings.cases}"),
        ("at least two of three did", f"{readings.cases - len(readings.contested)} of {readings.cases}"),
        ("Fleiss' kappa among readers", figure(readings.kappa, 2)),
    ]
    return Table(
        "Whom independent readers would have addressed, knowing the dialogue up to there only",
        [Column(""), Column("", True)],
        [Row(list(row)) for row in rows],
    )


def audit_document(cases: Sequence[Case], source: str) -> Document:
    own, printed = measure_shortcuts(cases), {result.name: result for result in measure_shortcuts(printed_cases())}
    far = [result for result in own if abs(result.distance) > TOLERANCE]
    faults = rule_faults(cases)
    callouts = [
        Callout(
            f"{len(far)} of {len(own)} shortcuts are further than {TOLERANCE} from chance: {_listed(far)}."
            if far
            else f"No shortcut is further than {TOLERANCE} from chance.",
            Tone.BAD if far else Tone.GOOD,
        ),
        *([Callout(f"{len(cases)} cases are too few to tell.", Tone.WARNING)] if len(cases) < FEW_CASES else []),
        *(Callout(fault, Tone.BAD) for fault in faults),
    ]
    callouts += [Callout(pair, Tone.BAD) for pair in alike_dialogues(cases)]
    readings = measure_readings(cases)
    if readings and readings.contested:
        listed = ", ".join(readings.contested)
        callouts.append(Callout(f"Fewer than two of three readers would address whom the data do in: {listed}.", Tone.BAD))
    dialogues = len({case.dialogue for case in cases})
    return Document(
        title="Audit of hsii",
        subtitle=f"{len(cases)} cases of {dialogues} dialogues ({source})",
        summary=Table(
            caption="How often a shortcut picks the golden addressee",
            columns=[
                Column("Shortcut"),
                Column("Hits", numeric=True, explanation="share of cases, 95% interval by dialogue"),
                Column("Chance", numeric=True, explanation="mean of 1/N over the cases"),
                Column("Distance", numeric=True),
                Column("Printed cases", numeric=True, explanation="the three cases of the paper's Tables 3 to 5"),
            ],
            rows=[
                Row(
                    [
                        result.name,
                        with_interval(result.hits.value, result.hits.low, result.hits.high, 2),
                        figure(result.chance, 2),
                        f"{result.distance:+.2f}",
                        figure(printed[result.name].hits.value if result.name in printed else None, 2),
                    ],
                    emphasis=abs(result.distance) > TOLERANCE,
                )
                for result in own
            ],
            note=f"Chance on the three printed cases: {figure(next(iter(printed.values())).chance, 2)}.",
        ),
        sections=[
            Section("Verdict", callouts),
            *([Section("Readers", [_readings_table(readings, len(cases))])] if readings else []),
            Section(
                "Shortcuts",
                [
                    IntervalPlot(
                        caption="Hits of each shortcut; the line is chance",
                        axis="share of cases",
                        marks=[Mark(r.name, r.hits.value, r.hits.low, r.hits.high) for r in own],
                        minimum=0.0,
                        maximum=1.0,
                        reference=own[0].chance,
                        reference_label="chance",
                    )
                ],
            ),
        ],
    )
