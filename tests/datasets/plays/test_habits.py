"""Habits of printing that few plays have: each keeps every speech, and who speaks it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sociable.datasets.plays import Play, read_play
from sociable.datasets.plays.cast import read_members

SAID = [
    ("Nora", "Who is there?"),
    ("Torvald", "Only I. The door was open."),
    ("Mrs Linde", "Doors are, in this house."),
    ("Nora", "Sit down, both of you."),
    ("Torvald", "Yes, if we may."),
    ("Mrs Linde", "I had rather stand."),
] * 4


def printed(heading: Callable[[int, str], str]) -> str:
    return "THE DOOR\n\nACT I\n\n" + "\n".join(heading(number, who) + said for number, (who, said) in enumerate(SAID, 1)) + "\n"


def read(folder: Path, text: str) -> Play:
    (folder / "play.txt").write_text(text, encoding="utf-8")
    return read_play(folder / "play.txt")


def spoken(play: Play) -> list[tuple[str, str]]:
    return [(speech.speaker, speech.text) for speech in play.list_speeches()]


@pytest.mark.parametrize(
    "heading",
    [
        lambda number, who: f"{number}. {who.upper()}: ",
        lambda number, who: f"{number:04}\t{who}\t",
        lambda number, who: f"({number}) {who} – ",
        lambda number, who: f"{who} – ",
        lambda number, who: f"{who} -- ",
        lambda number, who: f"{who} > ",
        lambda number, who: f"{who} | ",
        lambda number, who: f"{who} : ",
        lambda number, who: f"{who}\u2003",
        lambda number, who: f"[{who}] ",
        lambda number, who: f"<{who}> ",
        lambda number, who: f"\n[{who.upper()}]\n",
        lambda number, who: f"\n({who.upper()})\n",
        lambda number, who: f"\n~ {who} ~\n",
        lambda number, who: f"\n### {who}\n",
        lambda number, who: f"\n-- {who.upper()} --\n",
    ],
)
def test_headings_are_told_by_counting(tmp_path: Path, heading: Callable[[int, str], str]) -> None:
    assert spoken(read(tmp_path, printed(heading))) == SAID


@pytest.mark.parametrize("opens", ["//", "*", "_"])
def test_business_between_slashes_and_stars_is_not_spoken(tmp_path: Path, opens: str) -> None:
    play = read(tmp_path, printed(lambda number, who: f"{who} – {opens}Looks up.{opens} "))
    assert spoken(play) == SAID
    assert all([direction.text for direction in speech.directions] == ["Looks up."] for speech in play.list_speeches())


@pytest.mark.parametrize("bracket", ["[_Rises._", "[Rises."])
def test_a_bracket_that_is_left_open_swallows_nothing(tmp_path: Path, bracket: str) -> None:
    text = printed(lambda number, who: f"{who}. ").replace("if we may.", f"if we may.\n{bracket:>60}")
    text = text.replace("of you.", f"of you.\n{bracket:>60}").replace(
        "I had rather stand.", f"I had rather stand.\n{bracket:>60}"
    )
    assert [speaker for speaker, _ in spoken(read(tmp_path, text))] == [speaker for speaker, _ in SAID]


@pytest.mark.parametrize(
    "entry",
    [
        "LC – Lady Chiltern, his wife",
        "LC: Lady Chiltern, his wife",
        "LC = Lady Chiltern, his wife",
        "LC\tLady Chiltern\this wife",
        "LC   Lady Chiltern, his wife",
        "# LC\tLady Chiltern\this wife",
        "Lady Chiltern (LC), his wife",
        "Lady Chiltern [LC]: his wife",
    ],
)
def test_a_list_may_say_how_headings_shorten_names(entry: str) -> None:
    (member,) = read_members(entry)
    assert (member.name, member.short, member.description) == ("Lady Chiltern", "LC", "his wife")


@pytest.mark.parametrize(
    "entry", ["Nora – Helmer's wife", "Lady Chiltern (his wife)", "Kent: Old friend of the King", "Ann (20), a baker"]
)
def test_what_else_stands_beside_a_name_is_no_shorter_one(entry: str) -> None:
    assert [member.short for member in read_members(entry)] == [""]


def test_a_list_may_say_what_somebody_is_called() -> None:
    (member,) = read_members("John (Jack) Worthing, of the Manor House")
    assert (member.name, member.short, member.description) == ("John Worthing", "Jack", "of the Manor House")


def test_codes_of_a_list_are_whom_it_says(tmp_path: Path) -> None:
    codes = {"Nora": "NH", "Torvald": "HLM", "Mrs Linde": "KL"}
    names = "PARTICIPANTS\nNH\tNora Helmer\this wife\nHLM\tTorvald Helmer\ta lawyer\nKL\tMrs. Kristine Linde\ta friend\n\n"
    play = read(tmp_path, names + printed(lambda number, who: f"{codes[who]}: "))
    people = {"Nora": "Nora Helmer", "Torvald": "Torvald Helmer", "Mrs Linde": "Mrs. Kristine Linde"}
    assert spoken(play) == [(people[who], said) for who, said in SAID]


def test_initials_stand_beside_names_in_small_letters(tmp_path: Path) -> None:
    short = {"Nora": "N", "Torvald": "Torv", "Mrs Linde": "KL"}
    play = read(tmp_path, printed(lambda number, who: f"{short[who]}: ").replace("\nKL: I had", "\nKrog: I had"))
    assert {speaker for speaker, _ in spoken(play)} == {"N", "Torv", "Kl", "Krog"}
    assert [said for _, said in spoken(play)] == [said for _, said in SAID]


def test_full_names_may_lack_the_stop_that_shortened_ones_have(tmp_path: Path) -> None:
    short = {"Nora": "NORA", "Torvald": "TORV.", "Mrs Linde": "MRS. L."}
    play = read(tmp_path, printed(lambda number, who: f"{short[who]}--"))
    assert [said for _, said in spoken(play)] == [said for _, said in SAID]


def test_several_speak_whatever_joins_them(tmp_path: Path) -> None:
    for joined in ("NORA AND TORVALD", "NORA and TORVALD", "NORA & TORVALD", "NORA, TORVALD", "NORA/TORVALD", "NORA+TORVALD"):
        play = read(tmp_path, printed(lambda number, who: f"{who.upper()}: ") + f"{joined}: Together, then.\n")
        assert list(play.list_speeches())[-1].speakers == ("Nora", "Torvald"), joined


def test_names_in_a_direction_over_two_lines_are_no_headings(tmp_path: Path) -> None:
    text = printed(lambda number, who: f"{who.upper()}. ") + "NORA. (Looks from MRS LINDE to\nTORVALD. He rises.) Stay.\n"
    last = list(read(tmp_path, text).list_speeches())[-1]
    assert (last.speaker, last.text) == ("Nora", "Stay.")


def test_a_paragraph_in_italics_tells_what_happens(tmp_path: Path) -> None:
    told = "_Nora, left alone, goes to the chest of drawers and\ntakes a letter out of it._"
    play = read(tmp_path, printed(lambda number, who: f"_{who}._ ").replace("\n_", "\n\n_") + f"\n{told}\n\n_Nora._ At last.\n")
    assert spoken(play) == [*SAID, ("Nora", "At last.")]
    assert "chest of drawers" in [entry for scene in play.scenes for entry in scene.entries][-2].text


def test_a_glossary_is_none_of_the_play(tmp_path: Path) -> None:
    text = printed(lambda number, who: f"{who.upper()}. ") + "\nGLOSSARY\n\nABATE. To cast down.\n\nABHOR. To protest against.\n"
    assert spoken(read(tmp_path, text)) == SAID


def test_somebodys_voice_is_that_person(tmp_path: Path) -> None:
    said = [
        ("VARYA", "Is it you?"),
        ("ANYA", "It is."),
        ("VARYA'S VOICE", "Come in!"),
        ("ANYA", "Yes."),
        ("VARYA’S VOICE", "Now!"),
    ] * 5
    play = read(tmp_path, "THE ORCHARD\n\nACT I\n\n" + "\n\n".join(f"{who}. {words}" for who, words in said) + "\n")
    assert {speaker for speaker, _ in spoken(play)} == {"Varya", "Anya"}


def test_a_footnotes_mark_is_no_part_of_a_name() -> None:
    assert [member.name for member in read_members("JUDGE** BRACK.")] == ["Judge Brack"]
    assert read_members('**In the original "Assessor."') == ()
    assert [member.name for member in read_members("*Nora Helmer*, his wife")] == ["Nora Helmer"]


def test_a_title_before_a_name_that_enters_speaks_to_nobody(tmp_path: Path) -> None:
    said = [("HEDDA", "Who is it?"), ("BRACK", "It is only me."), ("MRS. ELVSTED", "And I."), ("HEDDA", "Come.")] * 5
    enters = "  MRS. ELVSTED enters from the hall. She is in evening dress."
    cast = 'CHARACTERS.\n\n  HEDDA TESMAN, his wife.\n  MRS. ELVSTED.\n  JUDGE** BRACK.\n\n  **In the original "Assessor."\n\n'
    text = (
        cast
        + "ACT I\n\n"
        + f"\n\n{enters}\n\n".join("\n\n".join(f"{who}. {words}" for who, words in said[at : at + 8]) for at in (0, 8, 16))
    )
    assert {speaker for speaker, _ in spoken(read(tmp_path, text))} == {"Hedda Tesman", "Judge Brack", "Mrs. Elvsted"}
