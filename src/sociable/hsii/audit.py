"""Can the golden addressee be guessed without understanding? ``sociable audit hsii``.

A shortcut is a rule that looks at names and places of turns only. On good data none is far from chance, in either
direction. Beside the dataset stand the three cases printed in the paper, to show that the audit finds what is there.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources

from sociable.core.view import Callout, Column, Document, IntervalPlot, Mark, Row, Section, Table, Tone, figure, with_interval
from sociable.dialogue.wording import padded_words
from sociable.hsii.dataset import ASSISTANT, Case, cut_cases
from sociable.hsii.measure import measure_points
from sociable.statistics.intervals import Interval, clustered_proportion

FEW_CASES = 24
"""With fewer even a fair data set is further than the tolerance from chance, by chance alone."""

Shortcut = Callable[[Case], str | None]

TOLERANCE = 0.15
"""How far from chance a shortcut may be on data that is to be trusted."""


def _people(case: Case) -> list[str]:
    return [message.role_from for message in case.messages if message.role_from != ASSISTANT]


def _asked(case: Case) -> list[str]:
    return [message.role_from for message in case.messages if message.role_to == ASSISTANT]


def _answered(case: Case) -> list[str]:
    return [message.role_to for message in case.messages if message.role_from == ASSISTANT]


def _last(names: Sequence[str]) -> str | None:
    return names[-1] if names else None


def _most(case: Case, names: Sequence[str]) -> str | None:
    """The most frequent; among equals the one listed first."""
    counts = Counter(names)
    return max(case.characters, key=lambda name: counts[name]) if names else None


def _mentions(case: Case, name: str) -> int:
    text = padded_words(" ".join(message.content for message in case.messages))
    return max(text.count(padded_words(spelling)) for spelling in (name, *case.aliases.get(name, ())))


SHORTCUTS: dict[str, Shortcut] = {
    "last speaker": lambda case: _last(_people(case)),
    "last to address the assistant": lambda case: _last(_asked(case)),
    "last person addressed by anybody": lambda case: _last([m.role_to for m in case.messages if m.role_to != ASSISTANT]),
    "first speaker": lambda case: next(iter(_people(case)), None),
    "first character listed": lambda case: case.characters[0],
    "last character listed": lambda case: case.characters[-1],
    "speaks most": lambda case: _most(case, _people(case)),
    "speaks least": lambda case: min(case.characters, key=lambda name: _people(case).count(name)),
    "most mentioned": lambda case: max(case.characters, key=lambda name: _mentions(case, name)),
    "addresses the assistant most": lambda case: _most(case, _asked(case)),
    "most frequent addressee of the assistant": lambda case: _most(case, _answered(case)),
    "addressed by the assistant last": lambda case: _last(_answered(case)),
    "waiting longest for an answer": lambda case: next(iter(case.waiting), None),
    "last to ask and still waiting": lambda case: _last(list(case.waiting)) or _last(_people(case)),
}
"""Each names one character, or nobody (which is wrong)."""

AVOIDANCES: dict[str, Shortcut] = {
    "never the last speaker": SHORTCUTS["last speaker"],
    "never the last to address the assistant": SHORTCUTS["last to address the assistant"],
    "never whom the assistant addressed last": SHORTCUTS["addressed by the assistant last"],
}
"""Each picks at random among all but one."""


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
    return sorted(results, key=lambda result: -abs(result.distance))


def _expected_hit(case: Case, avoided: str | None) -> float:
    """The chance of a random pick among those not avoided."""
    remaining = [name for name in case.characters if name != avoided]
    return 1 / len(remaining) if case.golden.role_to in remaining else 0.0


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
                        figure(printed[result.name].hits.value, 2),
                    ],
                    emphasis=abs(result.distance) > TOLERANCE,
                )
                for result in own
            ],
            note=f"Chance on the three printed cases: {figure(next(iter(printed.values())).chance, 2)}.",
        ),
        sections=[
            Section("Verdict", callouts),
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
