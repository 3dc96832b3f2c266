"""Characters: drawn by the rules (section 3.1), with a name and a description, on a sheet."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Self

from pydantic import Field, model_validator

from sociable.benchmarks.anteval.rules import DATA, Background, CharacterClass, Race, backgrounds, rules
from sociable.core.data_files import Loaded, RawRecord, Text, load_items, make_cut
from sociable.core.errors import DataError, InputError
from sociable.core.names import Name, normalise_name
from sociable.core.records import Record


class Attributes(Record):
    """What the rules have a say in; drawn, or checked against them."""

    race: str
    character_class: str = Field(alias="class")
    background: str
    alignment: str
    abilities: Mapping[str, int]
    skills: tuple[str, ...]
    trait: Text
    ideal: Text
    bond: Text
    flaw: Text

    @model_validator(mode="after")
    def _by_the_rules(self) -> Self:
        if problems := "; ".join(_breaches(self)):
            raise ValueError(problems)
        return self


class Sheet(Attributes):
    """A character as whoever plays it knows it."""

    id: Text
    name: Name
    pronouns: Name
    description: Text
    """Looks, manner and past: what the others come to see."""


def draw_attributes(generator: random.Random) -> Attributes:
    """Race, class, background and alignment evenly; the highest scores where the class needs them."""
    known = rules()
    race_name, class_name = generator.choice(list(known.races)), generator.choice(list(known.classes))
    race, own_class = known.races[race_name], known.classes[class_name]
    background = generator.choice(list(backgrounds().values()))
    alignment = generator.choice(known.alignments)
    return Attributes.model_validate(
        {
            "race": race_name,
            "class": class_name,
            "background": background.name,
            "alignment": alignment,
            "abilities": _drawn_abilities(race, own_class.abilities, generator),
            "skills": _drawn_skills(race, background, own_class, generator),
            "trait": generator.choice(background.traits),
            "ideal": generator.choice(_ideals_of(background, alignment)),
            "bond": generator.choice(background.bonds),
            "flaw": generator.choice(background.flaws),
        }
    )


def _drawn_abilities(race: Race, needed: Sequence[str], generator: random.Random) -> dict[str, int]:
    known = rules()
    first, *rest = sorted(known.scores, reverse=True)
    order = [*needed, *generator.sample(others := [each for each in known.abilities if each not in needed], len(others))]
    scores = dict(zip(order, [first, *rest], strict=True))
    chosen = generator.sample([each for each in known.abilities if each not in race.bonuses], race.free_bonuses)
    return {each: scores[each] + race.bonuses.get(each, 0) + (each in chosen) for each in known.abilities}


def _drawn_skills(race: Race, background: Background, own: CharacterClass, generator: random.Random) -> list[str]:
    skills = [*dict.fromkeys((*race.skills, *background.skills))]
    for options, count in ((own.skills, own.choose), (list(rules().skills), race.free_skills)):
        skills += generator.sample([each for each in options if each not in skills], count)
    return sorted(skills)


def _ideals_of(background: Background, alignment: str) -> list[str]:
    """Those that go with an alignment; only who is evil has an evil one."""
    words = alignment.split()
    fitting = [each.text for each in background.ideals if each.alignment == "any" or each.alignment in words]
    return fitting or [each.text for each in background.ideals if each.alignment != "evil"]


def _breaches(sheet: Attributes) -> Iterable[str]:
    """What the rules do not allow, in words. Traits, ideals, bonds and flaws may be anybody's own."""
    known = rules()
    unknown = False
    for called, value, there in (
        ("race", sheet.race, known.races),
        ("class", sheet.character_class, known.classes),
        ("background", sheet.background, backgrounds()),
        ("alignment", sheet.alignment, known.alignments),
    ):
        if value not in there:
            unknown = True
            yield f"there is no {called} '{value}'; there are: {', '.join(there)}"
    if unknown:
        return
    race, own_class, background = known.races[sheet.race], known.classes[sheet.character_class], backgrounds()[sheet.background]
    if set(sheet.abilities) != set(known.abilities):
        yield f"abilities must be {', '.join(known.abilities)}"
    else:
        without = [sheet.abilities[each] - race.bonuses.get(each, 0) for each in known.abilities]
        if race.free_bonuses:
            free = [place for place, each in enumerate(known.abilities) if each not in race.bonuses]
            allowed = any(_given_out(_less(without, raised)) for raised in _pairs(free))
        else:
            allowed = _given_out(without)
        if not allowed:
            yield f"abilities must be {', '.join(map(str, known.scores))} in some order, and the bonuses of a {sheet.race}"
    if left := set(sheet.skills) - set(known.skills):
        yield f"there is no skill '{min(left)}'"
    due = {*race.skills, *background.skills}
    if lacking := due - set(sheet.skills):
        yield f"a {sheet.race} who was a {background.name} has {', '.join(sorted(lacking))}"
    beyond = sum(each not in own_class.skills for each in sheet.skills if each not in due)
    if len(set(sheet.skills)) != len(due) + own_class.choose + race.free_skills or beyond > race.free_skills:
        more = f", and {race.free_skills} more" if race.free_skills else ""
        yield f"a {sheet.character_class} has {own_class.choose} further skills out of {', '.join(own_class.skills)}{more}"


def _given_out(scores: Sequence[int]) -> bool:
    return Counter(scores) == Counter(rules().scores)


def _less(scores: Sequence[int], raised: Sequence[int]) -> list[int]:
    return [score - (place in raised) for place, score in enumerate(scores)]


def _pairs(places: Sequence[int]) -> Iterable[tuple[int, int]]:
    return ((first, second) for first in places for second in places if first < second)


def load_sheets(path: Path | None) -> Loaded[Sheet]:
    """Characters of a file, or the bundled ones. Raises DataError naming file, line and field."""
    expected = "characters: name, race, class, background, …"
    one = make_cut(Sheet)
    names: dict[str, str] = {}

    def with_a_name_of_its_own(raw: RawRecord) -> list[Sheet]:
        sheets = one(raw)
        for sheet in sheets:
            if (known := names.setdefault(normalise_name(sheet.name), raw.place)) != raw.place:
                raise DataError(raw.place, "name", f"'{sheet.name}' is used already by {known}; who sits at a table must differ")
        return sheets

    return load_items(path, DATA / "sheets.jsonl", with_a_name_of_its_own, skip_invalid=False, expected=expected)


def load_party(path: str | None, players: int) -> Loaded[Sheet]:
    """Characters for tables with so many players. Raises InputError where there are not enough of them."""
    sheets = load_sheets(Path(path) if path else None)
    if len(sheets.items) <= players:
        few = f"{len(sheets.items)} characters are too few for {players} players and one to spare"
        raise InputError(f"{sheets.source}: {few}.")
    return sheets


def in_words(sheet: Sheet) -> str:
    """The sheet as its player reads it."""
    abilities = ", ".join(f"{ability} {score} ({(score - 10) // 2:+d})" for ability, score in sheet.abilities.items())
    return "\n".join(
        [
            f"{sheet.name} ({sheet.pronouns}), {in_brief(sheet)}, {sheet.alignment}. Before: {sheet.background}.",
            backgrounds()[sheet.background].was,
            sheet.description,
            f"Abilities: {abilities}.",
            f"Skilled in: {', '.join(sheet.skills)}.",
            f"Trait: {sheet.trait}",
            f"Ideal: {sheet.ideal}",
            f"Bond: {sheet.bond}",
            f"Flaw: {sheet.flaw}",
        ]
    )


def in_brief(sheet: Sheet) -> str:
    """What others see at once."""
    return f"{sheet.race} {sheet.character_class}"
