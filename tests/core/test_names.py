"""When two spellings name the same person, and when a text names nobody for certain."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sociable.core.names import find_people, find_person, find_words, normalise_name

CAST = ("Dr. Mary-Ann O'Neil", "Ann", "Ann Lee", "José Ruiz", "Doctor", "Nurse")
ALIASES = {"Ann Lee": ("the captain", "Ms Lee"), "José Ruiz": ("Pepe", "the guard"), "Nurse": ("the guard",)}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Ann Lee", "Ann Lee"),
        ("ANN LEE", "Ann Lee"),
        ("  ann   lee. ", "Ann Lee"),
        ("“Ann Lee”", "Ann Lee"),
        ("Ann_Lee", "Ann Lee"),
        ("Ms. Ann Lee", "Ann Lee"),
        ("The Captain", "Ann Lee"),
        ("captain", "Ann Lee"),
        ("Mary Ann ONeil", "Dr. Mary-Ann O'Neil"),
        ("Mary‐Ann O’Neil", "Dr. Mary-Ann O'Neil"),
        ("Jose\u0301 Ruiz", "José Ruiz"),
        ("pepe", "José Ruiz"),
        ("ＮＵＲＳＥ", "Nurse"),
        ("to Ann Lee (the captain)", "Ann Lee"),
        ("Ann", "Ann"),
        ("Ann, please", "Ann"),
        ("the Doctor", "Doctor"),
        ("speak to the Doctor", "Doctor"),
    ],
)
def test_a_name_is_known_in_any_dress(text: str, named: str) -> None:
    assert find_person(text, CAST, ALIASES) == named


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "?!",
        "everybody",
        "Annabel",
        "Bann Leefield",
        "the",
        "Dr.",
        "Ann Lee and José Ruiz",
        "Nurse, Pepe",
        "the guard",  # an alias of two
        "Ann and Ann Lee",  # the short name stands there in its own right as well
        "Ann Lee, then Ann",
        "Ann Lee, Ann Lee, Ann",
        "Doctor and Nurse",  # a name that is only a title is still a name
        "Nurse and the Doctor",
        "Ann Lee's mother",  # is not Ann Lee
        "everyone, especially Ann Lee",
        "All (Pepe first)",
        "ann lee and the others",
        "both of you, Nurse",
        "Ann Lee, together with somebody",
        "the Nurse’s friend",
    ],
)
def test_a_text_that_names_nobody_or_two_names_none(text: str) -> None:
    assert find_person(text, CAST, ALIASES) is None


def test_a_word_for_a_group_in_a_name_is_part_of_the_name() -> None:
    cast, aliases = ["All Saints", "Ben"], {"Ben": ["everyone", "Both Hands"]}
    assert find_person("to All Saints, please", cast, aliases) == "All Saints"
    assert find_person("everyone", cast, aliases) == find_person("old Both Hands", cast, aliases) == "Ben"
    assert find_person("all, and All Saints first", cast, aliases) is None
    assert find_person("Allan and Bothwell, then Ben", cast, aliases) == "Ben"


def test_names_that_overlap_are_two() -> None:
    # "Mary Ann" and "Ann Lee" both stand in it; which is meant would be a guess.
    assert find_person("to Mary Ann Lee", ["Mary Ann", "Ann Lee"], {}) is None


def test_a_title_tells_two_of_one_name_apart() -> None:
    cast, aliases = ["Kofi Bonsu", "Adwoa Bonsu"], {"Kofi Bonsu": ["Mr Bonsu"], "Adwoa Bonsu": ["Madam Bonsu"]}
    assert find_person("Mr. Bonsu", cast, aliases) == find_person("to Mr Bonsu, please", cast, aliases) == "Kofi Bonsu"
    assert find_person("madam bonsu", cast, aliases) == "Adwoa Bonsu"
    assert find_person("Bonsu", cast, aliases) is None
    assert find_person("Dr Bonsu", cast, aliases) is None


CREW = ("Luca Scarpati", "Haji Musa Bello", "Ane Mikkelsen", "Rosa Bello", "COURT'S CLERK", "Head of Ward van der Berg")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Mr Scarpati", "Luca Scarpati"),
        ("Haji", "Haji Musa Bello"),
        ("Captain Mikkelsen, at the helm", "Ane Mikkelsen"),
        ("ROSA", "Rosa Bello"),
        ("the clerk", "COURT'S CLERK"),
        ("Bello", None),  # two of them
        ("Luca and Haji", None),
        ("Luca Scarpati and Haji", None),
        ("Scarpati's wife", None),
        ("the court", None),
        ("somebody of the crew, der da", None),
    ],
)
def test_a_word_that_stands_in_one_name_only_names_its_bearer(text: str, named: str | None) -> None:
    assert find_person(text, CREW, {}) == named


def test_a_short_name_inside_a_longer_one_is_not_named() -> None:
    assert find_people("Ann Lee owes the captain's tailor.", CAST, ALIASES) == {"Ann Lee"}
    assert find_people("Ann Lee owes Ann.", CAST, ALIASES) == {"Ann Lee", "Ann"}
    assert find_people("Ann Lee’s mill", CAST, ALIASES) == {"Ann Lee"}


def test_a_title_is_no_part_of_the_name_unless_it_is_all_of_it() -> None:
    assert normalise_name("Dr. Mary-Ann O'Neil") == normalise_name("mary ann oneil") == "mary ann oneil"
    assert normalise_name("The Father") == "father"
    assert normalise_name("!!!") == ""


def test_an_apostrophe_joins_and_a_hyphen_parts() -> None:
    assert find_words("It's five o’clock, Mary-Ann_Lee") == ["its", "five", "oclock", "mary", "ann", "lee"]


@given(st.text(max_size=200))
def test_any_text_names_one_of_the_cast_or_nobody(text: str) -> None:
    assert find_person(text, CAST, ALIASES) in {None, *CAST}


@given(st.permutations(CAST), st.lists(st.sampled_from([*CAST, "and", "to", "Pepe", "the captain"]), max_size=4))
def test_the_order_of_the_cast_does_not_matter(cast: list[str], parts: list[str]) -> None:
    text = " ".join(parts)
    assert find_person(text, cast, ALIASES) == find_person(text, CAST, ALIASES)


@given(st.lists(st.sampled_from(["Ann Lee", "José Ruiz", "Nurse"]), min_size=2, max_size=3, unique=True))
def test_two_names_in_a_row_name_neither(names: list[str]) -> None:
    assert find_person(", ".join(names), CAST, ALIASES) is None


@settings(max_examples=3)
@given(st.sampled_from(["Ann ", "Ann Lee ", "-", "the "]))
def test_an_enormous_text_is_read_as_well(part: str) -> None:
    find_person(part * (100_000 // len(part)), CAST, ALIASES)
