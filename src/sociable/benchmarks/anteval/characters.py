"""Characters: drawn by the rules (section 3.1), with a name and a description, on a sheet; and those whom players meet."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, cycle, islice
from pathlib import Path
from typing import Self

from pydantic import Field, model_validator

from sociable.benchmarks.anteval.rules import DATA, Background, CharacterClass, Race, load_backgrounds, load_rules
from sociable.core.data_files import Loaded, RawRecord, Text, load_items, make_cut
from sociable.core.errors import DataError, InputError
from sociable.core.names import Name, normalise_name
from sociable.core.records import Record


class Attributes(Record):
    """The attributes that the rules govern; they are drawn, or checked against the rules."""

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
    def _is_by_the_rules(self) -> Self:
        if problems := "; ".join([*_find_unknown(self)] or _find_breaches(self)):
            raise ValueError(problems)
        return self


class Sheet(Attributes):
    """A character as whoever plays it knows it."""

    id: Text
    name: Name
    pronouns: Name
    description: Text
    """Looks, manner and past: what the others come to see."""

    @property
    def kind(self) -> str:
        """Race and class, which others see at once."""
        return f"{self.race} {self.character_class}"


class Npc(Record):
    """A character of the scene, whom the players meet."""

    name: Name
    pronouns: Name
    who: Text
    """The facts that everybody can see, or has been told."""
    manner: Text
    """The manner of the character, for whoever plays it."""

    @property
    def motive(self) -> str:
        """The character's motive, for whoever plays it; the empty string where none is given."""
        return ""

    def describe(self) -> str:
        """The description that the player of the character reads."""
        return "\n".join(filter(None, (f"{self.name} ({self.pronouns}). {self.who}", self.manner, self.motive)))


@dataclass(frozen=True)
class Scenario:
    """A scene, its players, and the NPC whom they meet."""

    id: str
    players: Sequence[Sheet]
    npc: Npc
    setting: str
    """The setting, which everybody at the table is told."""

    def list_in_turn(self, turns: int) -> list[str]:
        """Whose turn it is in each of so many, as in the paper (section 5.1): the players in their order, then the NPC."""
        return list(islice(cycle((*(player.name for player in self.players), self.npc.name)), turns))


def draw_attributes(generator: random.Random) -> Attributes:
    """Draws race, class, background and alignment evenly; the highest scores are where the class needs them."""
    rules = load_rules()
    race_name, class_name = generator.choice(list(rules.races)), generator.choice(list(rules.classes))
    race, own_class = rules.races[race_name], rules.classes[class_name]
    background = generator.choice(list(load_backgrounds().values()))
    alignment = generator.choice(rules.alignments)
    return Attributes.model_validate(
        {
            "race": race_name,
            "class": class_name,
            "background": background.name,
            "alignment": alignment,
            "abilities": _draw_abilities(race, own_class.abilities, generator),
            "skills": _draw_skills(race, background, own_class, generator),
            "trait": generator.choice(background.traits),
            "ideal": generator.choice(_find_ideals(background, alignment)),
            "bond": generator.choice(background.bonds),
            "flaw": generator.choice(background.flaws),
        }
    )


def _draw_abilities(race: Race, needed: Sequence[str], generator: random.Random) -> dict[str, int]:
    rules = load_rules()
    others = [each for each in rules.abilities if each not in needed]
    order = [*needed, *generator.sample(others, len(others))]
    scores = dict(zip(order, sorted(rules.scores, reverse=True), strict=True))
    chosen = generator.sample([each for each in rules.abilities if each not in race.bonuses], race.free_bonuses)
    return {each: scores[each] + race.bonuses.get(each, 0) + (each in chosen) for each in rules.abilities}


def _draw_skills(race: Race, background: Background, own: CharacterClass, generator: random.Random) -> list[str]:
    skills = [*dict.fromkeys((*race.skills, *background.skills))]
    for options, count in ((own.skills, own.choose), (list(load_rules().skills), race.free_skills)):
        skills += generator.sample([each for each in options if each not in skills], count)
    return sorted(skills)


def _find_ideals(background: Background, alignment: str) -> list[str]:
    """The background's ideals that go with an alignment; only who is evil has an evil one."""
    words = alignment.split()
    fitting = [each.text for each in background.ideals if each.alignment == "any" or each.alignment in words]
    return fitting or [each.text for each in background.ideals if each.alignment != "evil"]


def _find_unknown(sheet: Attributes) -> Iterator[str]:
    """Complaints about names that the rules do not know, in words."""
    rules = load_rules()
    for field, value, known in (
        ("race", sheet.race, rules.races),
        ("class", sheet.character_class, rules.classes),
        ("background", sheet.background, load_backgrounds()),
        ("alignment", sheet.alignment, rules.alignments),
    ):
        if value not in known:
            yield f"there is no {field} '{value}'; there are: {', '.join(known)}"


def _find_breaches(sheet: Attributes) -> Iterator[str]:
    """Complaints about what the rules do not allow, in words. Traits, ideals, bonds and flaws may be anybody's own."""
    rules = load_rules()
    race, background = rules.races[sheet.race], load_backgrounds()[sheet.background]
    own_class = rules.classes[sheet.character_class]
    if set(sheet.abilities) != set(rules.abilities):
        yield f"abilities must be {', '.join(rules.abilities)}"
    else:
        raised = combinations([each for each in rules.abilities if each not in race.bonuses], race.free_bonuses)
        scores = {each: sheet.abilities[each] - race.bonuses.get(each, 0) for each in rules.abilities}
        if not any(sorted(scores[each] - (each in chosen) for each in scores) == sorted(rules.scores) for chosen in raised):
            yield f"abilities must be {', '.join(map(str, rules.scores))} in some order, and the bonuses of a {sheet.race}"
    if unknown := set(sheet.skills) - set(rules.skills):
        yield f"there is no skill '{min(unknown)}'"
    due = {*race.skills, *background.skills}
    if lacking := due - set(sheet.skills):
        yield f"a {sheet.race} who was a {background.name} has {', '.join(sorted(lacking))}"
    beyond = sum(each not in own_class.skills for each in sheet.skills if each not in due)
    if len(set(sheet.skills)) != len(due) + own_class.choose + race.free_skills or beyond > race.free_skills:
        more = f", and {race.free_skills} more" if race.free_skills else ""
        yield f"a {sheet.character_class} has {own_class.choose} further skills out of {', '.join(own_class.skills)}{more}"


def load_sheets(path: Path | None) -> Loaded[Sheet]:
    """Loads the characters of a file, or the bundled ones. Raises DataError naming file, line and field."""
    read = make_cut(Sheet)
    places: dict[str, str] = {}

    def read_sheet(raw: RawRecord) -> list[Sheet]:
        sheets = read(raw)
        for sheet in sheets:
            if (known := places.setdefault(normalise_name(sheet.name), raw.place)) != raw.place:
                raise DataError(raw.place, "name", f"'{sheet.name}' is used already by {known}; who sits at a table must differ")
        return sheets

    expected = "characters: name, race, class, background, …"
    return load_items(path, DATA / "sheets.jsonl", read_sheet, skip_invalid=False, expected=expected)


def load_party(path: str | None, players: int) -> Loaded[Sheet]:
    """Loads characters for tables with so many players. Raises InputError where there are not enough of them."""
    sheets = load_sheets(Path(path) if path else None)
    if len(sheets.items) <= players:
        few = f"{len(sheets.items)} characters are too few for {players} players and one to spare"
        raise InputError(f"{sheets.source}: {few}.")
    return sheets


def draw_players(sheets: Sequence[Sheet], met: Iterable[str], count: int, generator: random.Random) -> list[Sheet]:
    """Draws the players of a session, none of whom has the name of somebody whom they meet."""
    taken = {normalise_name(name) for name in met}
    return generator.sample([each for each in sheets if normalise_name(each.name) not in taken], count)


def describe_sheet(sheet: Sheet) -> str:
    """The sheet as its player reads it."""
    abilities = ", ".join(f"{ability} {score} ({(score - 10) // 2:+d})" for ability, score in sheet.abilities.items())
    return "\n".join(
        [
            f"{sheet.name} ({sheet.pronouns}), {sheet.kind}, {sheet.alignment}. Before: {sheet.background}.",
            load_backgrounds()[sheet.background].was,
            sheet.description,
            f"Abilities: {abilities}.",
            f"Skilled in: {', '.join(sheet.skills)}.",
            f"Trait: {sheet.trait}",
            f"Ideal: {sheet.ideal}",
            f"Bond: {sheet.bond}",
            f"Flaw: {sheet.flaw}",
        ]
    )
