"""The contents of a data set: goals, domains, people (section 3.5, Figure 4). ``sociable describe agentsense``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import fmean, median

from sociable.benchmarks.agentsense.scenario import Character, Domain, GoalType, Relation, Scenario, list_distinct_questions
from sociable.core.names import find_words
from sociable.core.plots import RadarPlot
from sociable.core.view import Column, Document, Paragraph, Row, Section, Table

MOST_ROWS = 15
"""Rows of a table of counts; the rest is one row."""

TRAITS = ("openness", "conscientiousness", "extraversion", "agreeableness", "neuroticism")
LEVELS = ("low", "medium", "high")


def make_description(scenarios: Sequence[Scenario], source: str) -> Document:
    """Size and contents of a data set of at least one scenario. A person who appears in several scenarios counts once."""
    # Each as it first stands in the data.
    people: dict[tuple[str, str], Character] = {}
    templates: dict[str, Scenario] = {}
    for scenario in scenarios:
        templates.setdefault(scenario.template, scenario)
        for character in scenario.characters:
            people.setdefault((character.name, character.profile), character)
    domains = [scenario.domain.value if scenario.domain else "not stated" for scenario in scenarios]
    scenes = [_tabulate_counts("Domain (Table 6)", domains, "scenarios", [domain.value for domain in Domain])]
    # One cast a template: the others are related in the same way.
    if relations := [relation.kind.value for scenario in templates.values() for relation in scenario.relations]:
        note = "Of the characters of a template."
        scenes.append(_tabulate_counts("Relationships (App. A.2.5)", relations, "relationships", list(Relation), note))
    return Document(
        title="Description of agentsense",
        subtitle=f"{len(scenarios)} scenarios of {len(templates)} templates ({source})",
        summary=_tabulate_sizes(scenarios, list(people.values())),
        sections=[
            Section("Goals (Figure 4 a)", list(_show_goals(scenarios))),
            Section("Scenes", scenes),
            Section("People (Figure 4 b, c)", list(_show_people(list(people.values())))),
        ],
    )


def _tabulate_sizes(scenarios: Sequence[Scenario], people: Sequence[Character]) -> Table:
    characters = [character for scenario in scenarios for character in scenario.characters]
    secret = [scenario for scenario in scenarios if any(character.private_info for character in scenario.characters)]
    casts = Counter(scenario.template for scenario in scenarios)
    rows = [
        ["templates", str(len(casts)), ""],
        ["scenarios", str(len(scenarios)), ""],
        _format_range("casts a template", list(casts.values())),
        _format_range("participants a scenario", [len(scenario.characters) for scenario in scenarios]),
        _format_range("goals a participant", [len(character.goals) for character in characters]),
        ["scenarios with private information", f"{len(secret)} ({len(secret) / len(scenarios):.0%})", ""],
        ["distinct quiz questions", str(len(list_distinct_questions(scenarios))), ""],
        ["different people", str(len(people)), ""],
        ["different occupations", str(len({_read_attribute(each, "occupation") for each in people} - {""})), ""],
        _format_range(
            "words of background and description", [len(find_words(f"{s.background} {s.description}")) for s in scenarios]
        ),
        ["goals with signs, for reference/rule", _format_share(goal.signs for each in characters for goal in each.goals), ""],
        ["participants with a role (sender, receiver)", _format_share(each.role for each in characters), ""],
    ]
    columns = [Column(""), Column("Count, mean or share", True), Column("Smallest to largest", True)]
    return Table("Size and contents", columns, [Row(row) for row in rows])


def _format_range(name: str, sizes: Sequence[int]) -> list[str]:
    return [name, f"{fmean(sizes):,.1f}", f"{min(sizes):,} to {max(sizes):,}"]


def _format_share(flags: Iterable[object]) -> str:
    known = [bool(flag) for flag in flags]
    return f"{fmean(known):.0%}" if known else "0%"


def _show_goals(scenarios: Sequence[Scenario]) -> Iterable[Table | RadarPlot | Paragraph]:
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


def _show_people(people: Sequence[Character]) -> Iterable[Table | Paragraph]:
    described = [each for each in people if each.attributes]
    if not described:
        yield Paragraph("Nobody's attributes are in the data: gender, age, big_five and so on stand under 'attributes'.")
        return
    ages = [age for each in described if isinstance(age := each.attributes.get("age"), int | float)]
    if ages:
        yield Paragraph(f"Ages from {min(ages):g} to {max(ages):g}, median {median(ages):g}.")
    for title, field in (("Gender", "gender"), ("Decision style", "decision_style"), ("Occupation", "occupation")):
        if any(values := [_read_attribute(each, field) for each in described]):
            yield _tabulate_counts(title, values, "people")
    for title, field in (("Moral values (Figure 4 b)", "moral_values"), ("Personal values", "values")):
        given = [value for each in described if (value := each.attributes.get(field)) is not None]
        if found := [str(one) for value in given for one in (value if isinstance(value, list | tuple) else [value])]:
            yield _tabulate_counts(title, found, "people", note="Somebody may have several.")
    scored = [traits for each in described if isinstance(traits := each.attributes.get("big_five"), dict)]
    levels = {trait: Counter(str(traits.get(trait, "")) for traits in scored) for trait in TRAITS}
    rows = [Row([trait, *(str(counted[level]) for level in LEVELS)]) for trait, counted in levels.items()]
    yield Table("Big Five (Figure 4 c)", [Column("Trait"), *(Column(level, True) for level in LEVELS)], rows)


def _tabulate_counts(title: str, values: Sequence[str], of: str, order: Sequence[str] = (), note: str = "") -> Table:
    """A table of how often each value stands in ``values``, most frequent first, or in the given ``order``."""
    counts = Counter(value for value in values if value)
    ranked = sorted(counts, key=lambda value: (order.index(value) if value in order else len(order), -counts[value], value))
    rows = [Row([value, str(counts[value]), f"{counts[value] / max(1, len(values)):.0%}"]) for value in ranked[:MOST_ROWS]]
    if rest := ranked[MOST_ROWS:]:
        rows.append(Row([f"{len(rest)} others", str(sum(counts[value] for value in rest)), ""]))
    return Table(title, [Column(""), Column(of.capitalize(), True), Column("Share", True)], rows, note)


def _read_attribute(character: Character, field: str) -> str:
    value = character.attributes.get(field)
    return str(value) if isinstance(value, str | int | float) else ""
