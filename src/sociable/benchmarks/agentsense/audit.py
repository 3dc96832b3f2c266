"""The audit of AgentSense: can the quiz be answered without the scene, and do rules see what people see?

Each distinct question counts once. A shortcut is a rule that looks at options and background only, or a classifier
that sees the options of all other templates; on good data none is far from chance, in either direction. Goals' signs must
show in the exchange by which the goal is reached, and not in the one by which it is missed; how far the rules
agree with independent readers is measured on scenes that were played and read for that purpose. With ``--source`` texts are
compared with those they may have been made from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sociable.benchmarks.agentsense.judged import load_judged_scenes, measure_rules, tabulate_rules
from sociable.benchmarks.agentsense.rule import is_reached
from sociable.benchmarks.agentsense.scenario import Scenario, list_distinct_questions
from sociable.benchmarks.agentsense.shortcuts import measure_shortcuts
from sociable.core.view import Callout, Document, Section, Tone
from sociable.reports.audits import (
    ShortcutResult,
    find_alike_texts,
    make_shortcuts_plot,
    make_shortcuts_table,
    rate_shortcuts,
    shorten_list,
)

TOLERANCE = 0.10
"""The greatest distance from chance that a shortcut may have on data that is to be trusted."""

FEW_QUESTIONS = 60
"""The least number of questions: a fair quiz of fewer is further than the tolerance from chance, by chance alone."""

_OF = "distinct questions"


def make_audit(scenarios: Sequence[Scenario], source: str) -> Document:
    results = measure_shortcuts(scenarios)
    questions = len(list_distinct_questions(scenarios))
    by_id = {scenario.id: scenario for scenario in scenarios}
    judged = load_judged_scenes()
    by_manner = {"all": judged} | {manner: [s for s in judged if s.manner == manner] for manner in ("kept", "lively", "plain")}
    rules = {manner: found for manner, some in by_manner.items() if (found := measure_rules(some, by_id)) is not None}
    templates = len({scenario.template for scenario in scenarios})
    return Document(
        title="Audit of agentsense",
        subtitle=f"{questions} distinct quiz questions in {len(scenarios)} scenarios of {templates} templates ({source})",
        summary=make_shortcuts_table("How often a shortcut finds the answer", results, TOLERANCE, _OF),
        sections=[
            Section("Verdict", list(_list_verdicts(scenarios, results, questions))),
            *([Section("Rules and readers", [tabulate_rules(rules)])] if rules else []),
            *([Section("Shortcuts", [make_shortcuts_plot(results, _OF)])] if results else []),
        ],
    )


def _list_verdicts(scenarios: Sequence[Scenario], results: Sequence[ShortcutResult], questions: int) -> Iterator[Callout]:
    yield rate_shortcuts(results, TOLERANCE) if results else Callout("There is no quiz in these data.")
    if 0 < questions < FEW_QUESTIONS:
        yield Callout(f"{questions} questions are too few to tell.", Tone.WARNING)
    for problem in (*find_sign_faults(scenarios), *find_alike_templates(scenarios)):
        yield Callout(problem, Tone.BAD)


def find_sign_faults(scenarios: Sequence[Scenario]) -> list[str]:
    """Goals whose signs do not show where the data say it is reached, or all show where it is missed."""
    return [
        f"{scenario.id}, {character.name}, goal {number}: the signs {said}"
        for scenario in scenarios
        for character in scenario.characters
        for number, goal in enumerate(character.goals, start=1)
        for lines, wanted, said in (
            (goal.reached, True, "do not all show in 'reached'"),
            (goal.missed, False, "all show in 'missed'"),
        )
        if lines
        and goal.signs
        and is_reached(scenario, character.name, number - 1, [(line.by, line.says) for line in lines]) is not wanted
    ]


def find_alike_templates(scenarios: Sequence[Scenario]) -> list[str]:
    """Pairs of templates whose scenes, goals and secrets share too many runs of five words."""
    first = {scenario.template: scenario for scenario in reversed(scenarios)}
    texts = {}
    for template in sorted(first):
        scene = first[template]
        known = [text for each in scene.characters for text in (each.private_info, *(goal.goal for goal in each.goals))]
        texts[template] = " ".join([scene.background, scene.description, *known])
    return shorten_list(find_alike_texts(texts))
