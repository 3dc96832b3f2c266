"""Checks of dossiers that need no model: ``sociable audit hsii-live``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import fmean

from sociable.benchmarks.hsii.live.dataset import Arrangement, Dossier, Level
from sociable.benchmarks.hsii.live.outcome import count_gains, measure_welfare
from sociable.benchmarks.hsii.live.scenario import Scenario
from sociable.benchmarks.hsii.live.solver import Solution, Solver
from sociable.core.seeding import make_generator
from sociable.core.view import Callout, Column, Document, Row, Section, Table, Tone, format_figure
from sociable.core.wording import has_wording

PRESSED = 2
"""How often at least somebody tries to get each confidence at the hard level."""

SUBSETS = 20
"""The number of times that half of what was drawn is chosen at random."""

_COLUMNS = (
    Column("Scenario"),
    Column("Draws", True, "the number of ways in which the lots can fall"),
    Column("Best", True, "welfare of the best policy"),
    Column("All known", True, "welfare that one who knows all could reach"),
    Column("Unasked", True, "welfare of what takes no asking"),
    Column("Sent", True, "messages of the best policy, of those allowed"),
    Column("Chains", True, "topics that open only when something has been told"),
    Column("Second", True, "share of the best possible that the second-best arrangement has"),
    Column("Half", True, "share of the best possible of one who knows half of what was drawn"),
)


def make_audit(scenarios: Sequence[Scenario], solve: Callable[[str], Solution], source: str) -> Document:
    rows, remarks = [], []
    for scenario in scenarios:
        solution = solve(scenario.id)
        sent, allowed = sum(map(len, solution.plan)), scenario.budget.rounds * scenario.budget.messages
        chains = sum(bool(topic.needs) for topic in scenario.topics.values())
        counted = [
            str(len(scenario.dossier.worlds)),
            *(format_figure(each, 2) for each in (solution.welfare, solution.bound, solution.baseline)),
        ]
        shares = (rank_arrangements(scenario, solution)[1], measure_half_known(scenario, solution))
        rows.append(
            Row([scenario.id, *counted, f"{sent} of {allowed}", str(chains), *(format_figure(each, 2) for each in shares)])
        )
        remarks += [f"{scenario.id}: {each}" for each in _find_remarks(scenario, solution)]
    dossiers = {scenario.dossier.id: scenario.dossier for scenario in scenarios}
    remarks += [f"{name}: {each}" for name, dossier in dossiers.items() for each in find_unclear_wordings(dossier)]
    note = "Half: the share of the best possible of one who knows half of what was drawn, and what may lie behind the rest."
    summary = Table("Dossiers", _COLUMNS, rows, note)
    blocks = [Callout(each, Tone.WARNING) for each in remarks] or [Callout("Nothing to remark.", Tone.GOOD)]
    return Document("Audit of hsii-live", f"{len(scenarios)} scenarios ({source})", summary, [Section("Remarks", blocks)])


def rank_arrangements(scenario: Scenario, solution: Solution) -> list[float]:
    """The share of the best possible that each arrangement has if all else is at its best; the best first."""
    return sorted((_measure_share(scenario, solution, each) for each in scenario.arrangements), reverse=True)


def measure_half_known(scenario: Scenario, solution: Solution) -> float:
    """The mean share of one who proposes what is best on average by half of what was drawn."""
    solver, generator = Solver(scenario), make_generator(0, "half", scenario.id)
    drawn = sorted(scenario.draw)
    found = []
    for _ in range(SUBSETS):
        known = generator.sample(drawn, len(drawn) // 2)
        chosen = solver.find_best([fact.id for fact in scenario.facts.values() if fact.side in known])
        found.append(min(max(_measure_share(scenario, solution, chosen), 0.0), 1.0))
    return fmean(found)


def _measure_share(scenario: Scenario, solution: Solution, arrangement: Arrangement) -> float:
    return solution.measure_share(measure_welfare(count_gains(scenario, arrangement, scenario.decisions)))


def _find_remarks(scenario: Scenario, solution: Solution) -> Iterator[str]:
    if not solution.is_exact:
        yield "the search was not exact: a better policy may exist"
    if scenario.level is Level.HARD:
        pressed = [message.presses_for for message in scenario.messages]
        given = {fact for topic in scenario.topics.values() for fact in topic.gives}
        for fact in scenario.facts.values():
            if fact.keep_from and fact.id in given and pressed.count(fact.id) < PRESSED:
                yield f"nobody presses for '{fact.id}' twice"


def find_unclear_wordings(dossier: Dossier) -> Iterator[str]:
    """Facts whose wordings do not take what tells them, or take what tells another, and confidences that no quiz is about."""
    for fact in dossier.facts:
        if not has_wording(fact.text, fact.wording):
            yield f"the wording of '{fact.id}' does not take its own sentence"
        for other in dossier.facts:
            if other.id != fact.id and has_wording(other.text, fact.wording):
                yield f"the wording of '{fact.id}' takes the sentence of '{other.id}'"
    asked = {quiz.fact for quiz in dossier.quizzes}
    for name in dict.fromkeys(fact.id for fact in dossier.facts if fact.keep_from and fact.id not in asked):
        yield f"nobody is asked in the end whether he knows '{name}'"
    for topic in dossier.topics:
        for fact in dossier.facts:
            said = [text for side, text in topic.lines.items() if fact.side in ("", side)]
            if fact.id in topic.gives and fact.keep_from and not all(has_wording(each, fact.wording) for each in said):
                yield f"the wording of the confidence '{fact.id}' does not take what '{topic.id}' says"
