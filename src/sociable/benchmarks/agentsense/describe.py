"""The contents of a data set: goals, domains, people (section 3.5, Figure 4). ``sociable describe agentsense``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import fmean, median
from typing import Any

from sociable.benchmarks.agentsense.scenario import Character, Domain, GoalType, Relation, Scenario, list_distinct_questions
from sociable.core.names import words
from sociable.core.view import Column, Document, Paragraph, RadarPlot, Row, Section, Table

MOST_ROWS = 15
"""Rows of a table of counts; the rest is one row."""

TRAITS = ("openness", "conscientiousness", "extraversion", "agreeableness", "neuroticism")
LEVELS = ("low", "medium", "high")


def describe_document(scenarios: Sequence[Scenario], source: str) -> Document:
    """Size and contents of a data set of at least one scenario. Whoever appears in several scenarios counts once."""
    people = list({(each.name, each.profile): each for s in reversed(scenarios) for each in reversed(s.characters)}.values())[
        ::-1
    ]
    templates = {scenario.template: scenario for scenario in reversed(scenarios)}
    domains = [scenario.domain.value if scenario.domain else "not stated" for scenario in scenarios]
    scenes = [_counts("Domain (Table 6)", domains, "scenarios", [domain.value for domain in Domain])]
    # One cast a template: the others are related in the same way.
    if relations := [relation.kind.value for scenario in templates.values() for relation in scenario.relations]:
        note = "Of the characters of a template."
        scenes.append(_counts("Relationships (App. A.2.5)", relations, "relationships", list(Relation), note))
    return Document(
        title="Description of agentsense",
        subtitle=f"{len(scenarios)} scenarios of {len(templates)} templates ({source})",
        summary=_size_table(scenarios, people),
        sections=[
            Section("Goals (Figure 4 a)", list(_goal_blocks(scenarios))),
            Section("Scenes", scenes),
            Section("People (Figure 4 b, c)", list(_people_blocks(people))),
        ],
    )


def _size_table(scenarios: Sequence[Scenario], people: Sequence[Character]) -> Table:
    characters = [character for scenario in scenarios for character in scenario.characters]
    secret = [scenario for scenario in scenarios if any(character.private_info for character in scenario.characters)]
    casts = Counter(scenario.template for scenario in scenarios)
    rows = [
        ["templates", str(len(casts)), ""],
        ["scenarios", str(len(scenarios)), ""],
        _spread("casts a template", list(casts.values())),
        _spread("participants a scenario", [len(scenario.characters) for scenario in scenarios]),
        _spread("goals a participant", [len(character.goals) for character in characters]),
        ["scenarios with private information", f"{len(secret)} ({len(secret) / len(scenarios):.0%})", ""],
        ["distinct quiz questions", str(len(list_distinct_questions(scenarios))), ""],
        ["different people", str(len(people)), ""],
        ["different occupations", str(len({_value(each, "occupation") for each in people} - {""})), ""],
        _spread("words of background and description", [len(words(f"{s.background} {s.description}")) for s in scenarios]),
        ["goals with signs, for reference/rule", _share(goal.signs for each in characters for goal in each.goals), ""],
        ["participants with a role (sender, receiver)", _share(each.role for each in characters), ""],
    ]
    columns = [Column(""), Column("Count, mean or share", True), Column("Smallest to largest", True)]
    return Table("Size and contents", columns, [Row(row) for row in rows])


def _spread(name: str, sizes: Sequence[int]) -> list[str]:
    return [name, f"{fmean(sizes):,.1f}", f"{min(sizes):,} to {max(sizes):,}"]


def _share(flags: Iterable[object]) -> str:
    known = [bool(flag) for flag in flags]
    return f"{fmean(known):.0%}" if known else "0%"


def _goal_blocks(scenarios: Sequence[Scenario]) -> Iterable[Table | RadarPlot | Paragraph]:
    kinds = [[goal.type for character in s.characters for goal in character.goals] for s in scenarios]
    goals = Counter(kind for own in kinds for kind in own)
    having = Counter(kind for own in kinds for kind in set(own))
    rows = [Row([kind.need.value, kind.value, str(having[kind]), str(goals[kind])]) for kind in GoalType]
    if goals[None]:
        rows.append(Row(["", "not stated", "", str(goals[None])]))
    columns = [Column("Need"), Column("Kind of goal"), Column("Scenarios", True), Column("Goals", True)]
    caption = "Scenarios with a goal of each kind, and goals"
    yield Table(caption, columns, rows, "A scenario counts once for each kind it has.")
    if goals.keys() <= {None}:
        yield Paragraph("No goal has a kind: the field 'type' says it, and `sociable label` has a model fill it in.")
    else:
        shares = [having[kind] / len(scenarios) for kind in GoalType]
        yield RadarPlot("Share of scenarios with a goal of each kind", [kind.value for kind in GoalType], shares)


def _people_blocks(people: Sequence[Character]) -> Iterable[Table | Paragraph]:
    described = [each for each in people if each.attributes]
    if not described:
        yield Paragraph("Nobody's attributes are in the data: gender, age, big_five and so on stand under 'attributes'.")
        return
    ages = [age for each in described if isinstance(age := each.attributes.get("age"), int | float)]
    if ages:
        yield Paragraph(f"Ages from {min(ages):g} to {max(ages):g}, median {median(ages):g}.")
    for title, field in (("Gender", "gender"), ("Decision style", "decision_style"), ("Occupation", "occupation")):
        if any(values := [_value(each, field) for each in described]):
            yield _counts(title, values, "people")
    for title, field in (("Moral values (Figure 4 b)", "moral_values"), ("Personal values", "values")):
        found = [str(value) for each in described for value in _several(each.attributes.get(field))]
        if found:
            yield _counts(title, found, "people", note="Somebody may have several.")
    scored = [traits for each in described if isinstance(traits := each.attributes.get("big_five"), dict)]
    rows = []
    for trait in TRAITS:
        levels = Counter(str(traits.get(trait, "")) for traits in scored)
        rows.append(Row([trait, *(str(levels[level]) for level in LEVELS)]))
    yield Table("Big Five (Figure 4 c)", [Column("Trait"), *(Column(level, True) for level in LEVELS)], rows)


def _counts(title: str, values: Sequence[str], of: str, order: Sequence[str] = (), note: str = "") -> Table:
    """Most frequent first, or in the given order."""
    counts = Counter(value for value in values if value)
    ranked = sorted(counts, key=lambda value: (order.index(value) if value in order else len(order), -counts[value], value))
    rows = [Row([value, str(counts[value]), f"{counts[value] / max(1, len(values)):.0%}"]) for value in ranked[:MOST_ROWS]]
    if rest := ranked[MOST_ROWS:]:
        rows.append(Row([f"{len(rest)} others", str(sum(counts[value] for value in rest)), ""]))
    return Table(title, [Column(""), Column(of.capitalize(), True), Column("Share", True)], rows, note)


def _value(character: Character, field: str) -> str:
    value = character.attributes.get(field)
    return str(value) if isinstance(value, str | int | float) else ""


def _several(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else [] if value is None else [value]
