"""Checks of dossiers that need no model: ``sociable audit hsii-live``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sociable.benchmarks.hsii.live.dataset import Dossier, Level, Scenario
from sociable.benchmarks.hsii.live.outcome import count_gains, is_accepted, measure_welfare
from sociable.benchmarks.hsii.live.solver import Solution
from sociable.core.view import Callout, Column, Document, Row, Section, Table, Tone, format_figure
from sociable.core.wording import has_wording

MOST_ACCEPTED = 0.35
"""The share of arrangements that all may accept: where nearly any will do, nothing need be found out."""
SECOND = 0.9
"""The most that the second-best arrangement may reach."""
PRESSED = 2
"""How often at least somebody tries to get each confidence at the hard level."""

_COLUMNS = (
    Column("Scenario"),
    Column("Best", True, "welfare of the best policy"),
    Column("Open", True, "welfare of what takes no asking"),
    Column("Sent", True, "messages of the best policy, of those allowed"),
    Column("Chains", True, "topics that open only when something has been told"),
    Column("Accepted", True, "share of arrangements that all say yes to"),
    Column("Second", True, "share of the best possible that the second-best arrangement has"),
    Column("Third", True),
)


def make_audit(scenarios: Sequence[Scenario], solve: Callable[[str], Solution], source: str) -> Document:
    rows, remarks = [], []
    for scenario in scenarios:
        solution = solve(scenario.id)
        shares = rank_arrangements(scenario, solution)
        accepted = sum(all(is_accepted(p, each) for p in scenario.people.values()) for each in scenario.arrangements)
        share_accepted = accepted / len(scenario.arrangements)
        sent, allowed = sum(map(len, solution.plan)), scenario.budget.rounds * scenario.budget.messages
        chains = sum(bool(topic.needs) for topic in scenario.topics.values())
        figures = (format_figure(each, 2) for each in (share_accepted, shares[1], shares[2]))
        welfare = (format_figure(solution.welfare, 2), format_figure(solution.baseline, 2))
        rows.append(Row([scenario.id, *welfare, f"{sent} of {allowed}", str(chains), *figures]))
        remarks += [f"{scenario.id}: {each}" for each in _find_remarks(scenario, solution, share_accepted, shares)]
    dossiers = {scenario.dossier.id: scenario.dossier for scenario in scenarios}
    remarks += [f"{name}: {each}" for name, dossier in dossiers.items() for each in _find_unclear_wordings(dossier)]
    summary = Table("Dossiers", _COLUMNS, rows, "Chains: topics that open only when something has been told.")
    blocks = [Callout(each, Tone.WARNING) for each in remarks] or [Callout("Nothing to remark.", Tone.GOOD)]
    return Document("Audit of hsii-live", f"{len(scenarios)} scenarios ({source})", summary, [Section("Remarks", blocks)])


def rank_arrangements(scenario: Scenario, solution: Solution) -> list[float]:
    """The share of the best possible that each arrangement has if all else is at its best; the best first."""
    everything = scenario.decisions
    found = (solution.measure_share(measure_welfare(count_gains(scenario, each, everything))) for each in scenario.arrangements)
    return sorted(found, reverse=True)


def _find_remarks(scenario: Scenario, solution: Solution, accepted: float, shares: Sequence[float]) -> Iterator[str]:
    if not solution.is_exact:
        yield "the search was not exact: a better policy may exist"
    if solution.welfare < solution.bound - 1e-9:
        yield f"the best policy ({solution.welfare:.2f}) stays below what one who knows all could reach ({solution.bound:.2f})"
    if shares[1] > SECOND:
        yield f"the second-best arrangement has {shares[1]:.2f} of the best possible"
    if accepted > MOST_ACCEPTED:
        yield f"all would accept {accepted:.0%} of the arrangements"
    open_ = scenario.dossier.open
    if refusing := [name for name, person in scenario.people.items() if not is_accepted(person, open_)]:
        yield f"{', '.join(refusing)} could not live with the open arrangement"
    if scenario.level is Level.HARD:
        pressed = [message.presses_for for message in scenario.messages]
        given = {fact for topic in scenario.topics.values() for fact in topic.gives}
        for fact in scenario.facts.values():
            if fact.keep_from and fact.id in given and pressed.count(fact.id) < PRESSED:
                yield f"nobody presses for '{fact.id}' twice"


def _find_unclear_wordings(dossier: Dossier) -> Iterator[str]:
    for fact in dossier.facts:
        if not has_wording(fact.text, fact.wording):
            yield f"the wording of '{fact.id}' does not take its own sentence"
        for other in dossier.facts:
            if other is not fact and has_wording(other.text, fact.wording):
                yield f"the wording of '{fact.id}' takes the sentence of '{other.id}'"
    for topic in dossier.topics:
        for name in topic.gives:
            fact = next(each for each in dossier.facts if each.id == name)
            if fact.keep_from and not has_wording(topic.says, fact.wording):
                yield f"the wording of the confidence '{name}' does not take what '{topic.id}' says"
