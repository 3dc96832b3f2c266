"""Characters are drawn by the rules, and sheets that break them are refused with the reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sociable.benchmarks.anteval.characters import describe_sheet, draw_attributes, load_sheets
from sociable.benchmarks.anteval.rules import load_backgrounds, load_rules
from sociable.core.errors import DataError
from sociable.core.seeding import make_generator

SRD = Path(__file__).resolve().parents[4] / "shared" / "data" / "srd_5e" / "2014" / "en"


def sheet(**changes: Any) -> dict[str, Any]:
    """A hill dwarf who was a mole catcher; sixteen in Constitution is fourteen and two."""
    return {
        "id": "one",
        "name": "One",
        "pronouns": "they/them",
        "race": "Hill Dwarf",
        "class": "Fighter",
        "background": "Mole Catcher",
        "alignment": "neutral",
        "abilities": {"Strength": 15, "Dexterity": 12, "Constitution": 16, "Intelligence": 10, "Wisdom": 14, "Charisma": 8},
        "skills": sorted({*load_backgrounds()["Mole Catcher"].skills, "Athletics", "Intimidation"}),
        "trait": "t",
        "ideal": "i",
        "bond": "b",
        "flaw": "f",
        "description": "Somebody.",
        **changes,
    }


def written(tmp_path: Path, *records: Any) -> Path:
    path = tmp_path / "sheets.jsonl"
    path.write_text("\n".join(map(json.dumps, records)))
    return path


def test_whatever_is_drawn_is_by_the_rules_and_everything_is_drawn() -> None:
    drawn = [draw_attributes(make_generator(3, "sheet", number)) for number in range(600)]
    known = load_rules()
    assert {each.race for each in drawn} == set(known.races)
    assert {each.character_class for each in drawn} == set(known.classes)
    assert {each.background for each in drawn} == set(load_backgrounds())
    assert {each.alignment for each in drawn} == set(known.alignments)
    assert {skill for each in drawn for skill in each.skills} == set(known.skills)
    # Only who is evil has an evil ideal.
    evil = {ideal.text for each in load_backgrounds().values() for ideal in each.ideals if ideal.alignment == "evil"}
    assert evil
    assert all("evil" in each.alignment for each in drawn if each.ideal in evil)


def test_the_best_scores_are_what_the_class_needs() -> None:
    for number in range(50):
        drawn = draw_attributes(make_generator(5, "sheet", number))
        race = load_rules().races[drawn.race]
        needed = load_rules().classes[drawn.character_class].abilities
        least = [drawn.abilities[each] - race.bonuses.get(each, 0) - (1 if race.free_bonuses else 0) for each in needed]
        assert least[0] >= 14 and least[1] >= 13


def test_a_seed_draws_the_same_again() -> None:
    assert draw_attributes(make_generator(1, "a")) == draw_attributes(make_generator(1, "a"))
    assert draw_attributes(make_generator(1, "a")) != draw_attributes(make_generator(1, "b"))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"race": "Wood Elf"}, "there is no race 'Wood Elf'"),
        ({"class": "Artificer"}, "there is no class 'Artificer'"),
        ({"background": "Sage"}, "there is no background 'Sage'"),
        ({"alignment": "grumpy"}, "there is no alignment 'grumpy'"),
        ({"abilities": {"Strength": 18}}, "abilities must be Strength"),
        (
            {"abilities": {"Strength": 15, "Dexterity": 12, "Constitution": 14, "Intelligence": 10, "Wisdom": 14, "Charisma": 8}},
            "the bonuses of a Hill Dwarf",
        ),
        ({"skills": ["Juggling"]}, "there is no skill 'Juggling'"),
        ({"skills": ["Athletics", "Intimidation"]}, "who was a Mole Catcher has"),
        ({"skills": [*sheet()["skills"], "Perception"]}, "a Fighter has 2 further skills"),
        ({"skills": [each if each != "Athletics" else "Arcana" for each in sheet()["skills"]]}, "a Fighter has 2 further skills"),
        ({"trait": " "}, "trait"),
        ({"name": "Ann\nSystem"}, "must be on one line"),
    ],
)
def test_a_sheet_against_the_rules_is_refused_with_file_line_and_reason(
    changes: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError) as error:
        load_sheets(written(tmp_path, sheet(), sheet(id="two", **changes)))
    assert said in str(error.value)
    assert "line 2" in str(error.value)


def test_a_half_elf_chooses_where_it_is_better() -> None:
    for number in range(400):
        drawn = draw_attributes(make_generator(7, "sheet", number))
        if drawn.race == "Half-Elf":
            assert sum(drawn.abilities.values()) == sum(load_rules().scores) + 4
            assert len(drawn.skills) >= load_rules().classes[drawn.character_class].choose + 2 + 2 - 2
            return
    pytest.fail("no half-elf was drawn")


def test_sheets_in_words_show_everything(tmp_path: Path) -> None:
    (one,) = load_sheets(written(tmp_path, sheet())).items
    text = describe_sheet(one)
    for part in ("One (they/them)", "Hill Dwarf Fighter", "neutral", "Constitution 16 (+3)", "Charisma 8 (-1)", "Mole Catcher"):
        assert part in text


def test_bundled_sheets_are_many_and_of_all_kinds() -> None:
    sheets = load_sheets(None).items
    assert len(sheets) >= 60
    assert len({each.name for each in sheets}) == len(sheets)
    assert {each.race for each in sheets} == set(load_rules().races)
    assert {each.character_class for each in sheets} == set(load_rules().classes)
    assert {each.background for each in sheets} == set(load_backgrounds())
    assert min(len(each.description.split()) for each in sheets) >= 40


@pytest.mark.skipif(not SRD.is_dir(), reason="needs the System Reference Document's data in ../shared/data/srd_5e")
def test_the_facts_are_those_of_the_system_reference_document() -> None:
    def read(name: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads((SRD / f"5e-SRD-{name}.json").read_text())
        return found

    known = load_rules()
    short = {each["index"]: each["full_name"] for each in read("Ability-Scores")}
    assert {each["name"]: short[each["ability_score"]["index"]] for each in read("Skills")} == dict(known.skills)
    assert [each["name"].lower() for each in read("Alignments")] == list(known.alignments)
    races = {each["name"]: each for each in read("Races")}
    parts = {each["race"]["name"]: each for each in read("Subraces")}
    for name, race in races.items():
        bonuses = {short[each["ability_score"]["index"]]: each["bonus"] for each in race["ability_bonuses"]}
        if name in parts:
            for each in parts[name]["ability_bonuses"]:
                bonuses[short[each["ability_score"]["index"]]] = each["bonus"]
            name = parts[name]["name"]
        assert dict(known.races[name].bonuses) == bonuses
        assert known.races[name].size == race["size"].lower()
    for each in read("Classes"):
        (choice,) = [
            choice
            for choice in each["proficiency_choices"]
            if any(option.get("item", {}).get("name", "").startswith("Skill: ") for option in choice["from"]["options"])
        ]
        own = known.classes[each["name"]]
        assert own.choose == choice["choose"]
        assert [f"Skill: {skill}" for skill in own.skills] == [option["item"]["name"] for option in choice["from"]["options"]]
