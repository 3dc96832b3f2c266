"""Can the quiz be answered without the scene, and do the rules see what people see? ``sociable audit agentsense``.

Each distinct question counts once. A shortcut is a rule that looks at options and background only, or a classifier
that sees the options of all other templates; on good data none is far from chance, in either direction. Goals' signs must
show in the exchange by which the goal is reached, and not in the one by which it is missed; how far the rules
agree with independent readers is measured on scenes that were played and read for that purpose.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sociable.benchmarks.agentsense.judged import RuleAgreement, load_judged_scenes, measure_rules
from sociable.benchmarks.agentsense.scenario import Scenario, list_distinct_questions
from sociable.benchmarks.agentsense.shortcuts import RANKINGS, QuizItem, classify_options, pick_highest
from sociable.core.view import Callout, Column, Document, Row, Section, Table, Tone, figure, with_interval
from sociable.reports.audits import (
    ShortcutResult,
    alike_texts,
    compare_with_chance,
    shortcuts_plot,
    shortcuts_table,
    shown_first,
    verdict_on,
)
from sociable.statistics.guessing import share_hit

TOLERANCE = 0.10
"""How far from chance a shortcut may be on data that is to be trusted."""

_OF = "distinct questions"

FEW_QUESTIONS = 60
"""With fewer even a fair quiz is further than the tolerance from chance, by chance alone."""


def measure_shortcuts(scenarios: Sequence[Scenario]) -> list[ShortcutResult]:
    """How often each shortcut finds the answer, over distinct questions; farthest from chance first."""
    found = list_distinct_questions(scenarios)
    items = [QuizItem(each.template, question, f"{each.background} {each.description}") for each, _, question in found]
    if not items:
        return []
    hits = {
        name: [share_hit(pick_highest(item, ranking), item.question.answer_label) for item in items]
        for name, ranking in RANKINGS.items()
    }
    hits |= {f"{name}, other templates": own for name, own in classify_options(items).items()}
    chances = [1 / len(item.question.options) for item in items]
    return compare_with_chance(hits, [item.template for item in items], chances)


def find_sign_faults(scenarios: Sequence[Scenario]) -> list[str]:
    """Goals whose signs do not show where the data say it is reached, or all show where it is missed."""
    faults = []
    for scenario in scenarios:
        for character in scenario.characters:
            for number, goal in enumerate(character.goals, start=1):
                for lines, wanted in ((goal.reached, True), (goal.missed, False)):
                    if lines and goal.signs and goal.is_reached((line.by, line.says) for line in lines) is not wanted:
                        said = "do not all show in 'reached'" if wanted else "all show in 'missed'"
                        faults.append(f"{scenario.id}, {character.name}, goal {number}: the signs {said}")
    return faults


def find_alike_templates(scenarios: Sequence[Scenario]) -> list[str]:
    """Pairs of templates whose scenes, goals and secrets share too many runs of five words."""
    first = {scenario.template: scenario for scenario in reversed(scenarios)}
    return shown_first(alike_texts({template: " ".join(_texts(first[template])) for template in sorted(first)}))


def _texts(scenario: Scenario) -> Iterator[str]:
    yield scenario.background
    yield scenario.description
    for character in scenario.characters:
        yield character.private_info
        yield from (goal.goal for goal in character.goals)


def audit_document(scenarios: Sequence[Scenario], source: str) -> Document:
    results = measure_shortcuts(scenarios)
    questions = len(list_distinct_questions(scenarios))
    by_id = {scenario.id: scenario for scenario in scenarios}
    judged = load_judged_scenes()
    by_manner = {"all": judged} | {manner: [s for s in judged if s.manner == manner] for manner in ("lively", "plain")}
    rules = {manner: found for manner, some in by_manner.items() if (found := measure_rules(some, by_id)) is not None}
    templates = len({scenario.template for scenario in scenarios})
    return Document(
        title="Audit of agentsense",
        subtitle=f"{questions} distinct quiz questions in {len(scenarios)} scenarios of {templates} templates ({source})",
        summary=shortcuts_table("How often a shortcut finds the answer", results, TOLERANCE, _OF),
        sections=[
            Section("Verdict", list(_verdict(scenarios, results, questions))),
            *([Section("Rules and readers", [_rules_table(rules)])] if rules else []),
            *([Section("Shortcuts", [shortcuts_plot(results, _OF)])] if results else []),
        ],
    )


def _verdict(scenarios: Sequence[Scenario], results: Sequence[ShortcutResult], questions: int) -> Iterator[Callout]:
    yield verdict_on(results, TOLERANCE) if results else Callout("There is no quiz in these data.")
    if 0 < questions < FEW_QUESTIONS:
        yield Callout(f"{questions} questions are too few to tell.", Tone.WARNING)
    for problem in (*find_sign_faults(scenarios), *find_alike_templates(scenarios)):
        yield Callout(problem, Tone.BAD)


def _rules_table(by_manner: Mapping[str, RuleAgreement]) -> Table:
    """One column for all scenes, and one for each manner of playing them."""
    every = by_manner.values()
    agreement = [with_interval(each.agreement.value, each.agreement.low, each.agreement.high, 2) for each in every]
    rows = [
        ["scenes played and read", *(str(each.scenes) for each in every)],
        ["goals", *(str(each.goals) for each in every)],
        ["reached, as most readers say", *(figure(each.reached, 2) for each in every)],
        ["rule and most readers agree", *agreement],
        ["Cohen's kappa of the two", *(figure(each.kappa, 2) for each in every)],
        ["reached for readers, not for the rule", *(str(each.missed) for each in every)],
        ["reached for the rule, not for readers", *(str(each.invented) for each in every)],
        ["Fleiss' kappa among readers", *(figure(each.readers, 2) for each in every)],
        ["two readers agree", *(figure(each.reader_agreement, 2) for each in every)],
    ]
    columns = [Column(""), *(Column(manner, True) for manner in by_manner)]
    note = "lively: as people talk, with images and half answers; plain: as assistants do, saying things outright."
    return Table("reference/rule beside independent readers of the same scenes", columns, [Row(row) for row in rows], note)
