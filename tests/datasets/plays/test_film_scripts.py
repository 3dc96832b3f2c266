"""Typed film scripts in small: what tells names, speeches and action where columns and blank lines do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from sociable.core.errors import InputError
from sociable.datasets.plays import Play, read_play

WAITS = "She waits by the gate in the rain, and nobody comes along the road for a long time."


def read(tmp_path: Path, text: str) -> Play:
    file = tmp_path / "film.txt"
    file.write_text(text, encoding="utf-8")
    return read_play(file)


def spoken(play: Play) -> list[tuple[str, str]]:
    return [(speech.speaker, speech.text) for speech in play.list_speeches()]


def in_columns(text: str) -> str:
    """``@`` before a name, ``#`` before a line of speech."""
    return "\n".join(
        " " * (30 if line[:1] == "@" else 15 if line[:1] == "#" else 5) + line.lstrip("@#") if line else ""
        for line in text.split("\n")
    )


def test_without_columns_the_length_of_lines_tells_action_from_speech(tmp_path: Path) -> None:
    scene = f"INT. HUT - DAY\n\nANN\nIs there anybody in this old\nhut, or is it empty?\n{WAITS}\n\nBOB (O.S.)\n(calling)\nI am.\n{WAITS}\n\n"
    assert (
        spoken(read(tmp_path, scene * 6)) == [("Ann", "Is there anybody in this old hut, or is it empty?"), ("Bob", "I am.")] * 6
    )


def test_a_line_whose_first_word_had_room_before_is_action(tmp_path: Path) -> None:
    scene = (
        f"EXT. ROAD - DAY\n\nANN\nWho is it that comes so late?\n{WAITS}\nBOB\nOnly me.\nHe kisses her.\n\nANN\nGo away now.\n\n"
    )
    assert spoken(read(tmp_path, scene * 6))[1:3] == [("Bob", "Only me."), ("Ann", "Go away now.")]


def test_without_any_blank_line_every_line_is_a_paragraph(tmp_path: Path) -> None:
    said = "I have told you again and again that there is nothing to be afraid of in this house, and that we ought to sleep."
    scene = f"INT. HALL - NIGHT\nThe lamp goes out.\nANN\n{said}\n(pause)\nGo on.\nShe sits down.\nBOB\n{said}\nWIDE SHOT\nThe hall lies in the dark.\n"
    assert spoken(read(tmp_path, scene * 6)) == [("Ann", f"{said} Go on."), ("Bob", said)] * 6


@pytest.mark.parametrize("apart", ["\n\n", "\n\n\n"])
def test_names_may_stand_apart_from_the_speeches(tmp_path: Path, apart: str) -> None:
    scene = apart.join(["EXT. GATE - DAY", WAITS, "ANN", "(softly)", "Who is it?", "BOB", "Nobody.", "He goes.", ""])
    assert spoken(read(tmp_path, scene * 6)) == [("Ann", "Who is it?"), ("Bob", "Nobody.")] * 6


def test_names_may_stand_apart_in_columns(tmp_path: Path) -> None:
    scene = in_columns("INT. HUT - DAY\n\nShe waits.\n\n@ANN\n\n#Who is it?\n\n@BOB\n\n#(softly)\n#Nobody.\n\nHe goes.\n\n")
    assert spoken(read(tmp_path, scene * 6)) == [("Ann", "Who is it?"), ("Bob", "Nobody.")] * 6


def test_blank_lines_over_names_tell_them_from_what_the_camera_shows(tmp_path: Path) -> None:
    scene = (
        "EXT. GATE - DAY\n\nThe gate opens.\n\n\nANN\n\nWho is it?\n\n\nBOB\n\nNobody.\n\n\nHe goes.\n\nANN\n\nWalks away.\n\n\n"
    )
    assert spoken(read(tmp_path, scene * 6)) == [("Ann", "Who is it?"), ("Bob", "Nobody.")] * 6


def test_what_only_pages_need_is_no_part_of_a_speech(tmp_path: Path) -> None:
    page = in_columns(
        "12   INT. HUT - DAY   12\n\nShe waits.\n\n@ANN\n#Is anybody here in  *\n#this old hut at all,\n@(MORE)\n"
        "THE OLD HUT - Rev. 5/6/07 {0}.\n12   CONTINUED: (2)   12\n@ANN (CONT'D)\n#or not?\n\n@BOB\n#No.\n@@@CUT TO:\n\n"
    ).replace("@", "")
    text = "".join(page.format(number) for number in range(1, 9)).replace(" CUT TO:", " " * 40 + "CUT TO:")
    assert spoken(read(tmp_path, text)) == [("Ann", "Is anybody here in this old hut at all, or not?"), ("Bob", "No.")] * 8


def test_parentheses_close_where_they_stand(tmp_path: Path) -> None:
    scene = in_columns("INT. HUT - DAY\n\nShe waits.\n\n@ANN\n#(sitting down upon the\n@BED)\n#Come in.\n\n@BOB\n#No.\n\n")
    assert spoken(read(tmp_path, scene * 4)) == [("Ann", "Come in."), ("Bob", "No.")] * 4


def test_a_name_out_of_its_column_is_told_by_what_stands_under_it(tmp_path: Path) -> None:
    scene = in_columns("INT. HUT - DAY\n\nShe waits.\n\n@ANN\n#Come in.\n\n@BOB\n#No.\n\n")
    lift = " " * 24 + "A VOICE\n" + " " * 15 + "Second floor.\n\n"
    assert spoken(read(tmp_path, scene * 4 + lift))[-1] == ("A voice", "Second floor.")


def test_a_speech_goes_on_behind_action_where_names_are_not_repeated(tmp_path: Path) -> None:
    scene = in_columns(
        "INT. HUT - DAY\n\nShe waits.\n\n@ANN\n#I see. . .\n\nShe rises.\n\n#. . . you are late.\n\n@BOB\n#No.\n\n"
    )
    assert spoken(read(tmp_path, scene * 6)) == [("Ann", "I see. . ."), ("Ann", ". . . you are late."), ("Bob", "No.")] * 6


def test_names_before_the_speeches_are_read_under_scene_headings(tmp_path: Path) -> None:
    scene = "INT. HUT - DAY\n\nShe waits.\n\nANN: Who is it?\n\nHe comes in.\n\nBOB: Nobody.\n\n"
    assert spoken(read(tmp_path, scene * 6))[:2] == [("Ann", "Who is it?"), ("Bob", "Nobody.")]


def test_names_that_nothing_marks_are_refused(tmp_path: Path) -> None:
    scene = "INT. HUT - DAY\n\nAnn waits.\n\nAnn Who is it?\n\nBob Nobody, he says.\n\nBob and Ann leave the hut together.\n\n"
    with pytest.raises(InputError, match=r"does not tell who speaks\. Expected names in capitals"):
        read(tmp_path, scene * 30)
