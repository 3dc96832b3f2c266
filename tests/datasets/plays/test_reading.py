"""Layouts in small: what is a speech, whose, and what is a direction."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sociable.core.errors import DataError, InputError
from sociable.datasets.plays import Direction, Play, Speech, read_play
from sociable.datasets.plays.cast import read_members
from sociable.datasets.plays.directions import DirectionHabit, split_directions
from sociable.datasets.plays.headings import HeadingKind, find_heading
from sociable.datasets.plays.names import Names
from sociable.datasets.plays.spelling import to_full_form


def read(tmp_path: Path, text: str, name: str = "play.txt") -> Play:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    return read_play(file)


def spoken(play: Play) -> list[tuple[str, str]]:
    return [(speech.speaker, speech.text) for speech in play.list_speeches()]


@pytest.mark.parametrize(
    ("line", "kind", "label", "rest"),
    [
        ("ACT I", HeadingKind.ACT, "Act I", ""),
        ("Act 2.", HeadingKind.ACT, "Act II", ""),
        ("THIRD ACT", HeadingKind.ACT, "Act III", ""),
        ("ACT THE FOURTH", HeadingKind.ACT, "Act IV", ""),
        ("_Actus Primus. Scena Secunda._", HeadingKind.ACT, "Act I", "Scena Secunda."),
        ("ACT V. SCENE II. A churchyard.", HeadingKind.ACT, "Act V", "SCENE II. A churchyard."),
        ("Scene III.—The same.", HeadingKind.SCENE, "Scene III", "The same."),
        ("SCENE 4", HeadingKind.SCENE, "Scene IV", ""),
        ("THE PROLOGUE", HeadingKind.APART, "Prologue", ""),
        ("SCENE", HeadingKind.SETTING, "Scene", ""),
        ("Scene: a garden.", HeadingKind.SETTING, "Scene", "a garden."),
        ("Dramatis Personæ", HeadingKind.CAST, "Dramatis Personæ", ""),
        ("End of Act II", HeadingKind.CLOSING, "End of Act II", ""),
        ("THE END", HeadingKind.ENDING, "THE END", ""),
    ],
)
def test_headings_come_in_many_forms(line: str, kind: HeadingKind, label: str, rest: str) -> None:
    found = find_heading(line)
    assert found is not None
    assert (found.kind, found.label, found.rest) == (kind, label, rest)


@pytest.mark.parametrize("line", ["Act one of your parts for us", "Scenes of joy", "Action!", "The end of it all was near", ""])
def test_sentences_are_no_headings(line: str) -> None:
    assert find_heading(line) is None


PLAIN = """A PLAY

DRAMATIS PERSONAE

Ann Marlow, a baker
Lady Brown
Mr. Stone, her lawyer
A Boy

ACT I

SCENE I. A kitchen.

{speeches}
"""


@pytest.mark.parametrize(
    "speeches",
    [
        "ANN. Who is there?\n\nLADY BROWN. [Entering.] Only I.\n\nMR. STONE. And I.\n\nANN. Good day.\n",
        "ANN. Who is there?\nLADY BROWN. [Entering.] Only I.\nMR. STONE. And I.\nANN. Good day.\n",
        "Ann: Who is there?\n\nLady Brown: (Entering.) Only I.\n\nMr. Stone: And I.\n\nAnn: Good day.\n",
        "ANN\nWho is there?\n\nLADY BROWN\n[Entering.] Only I.\n\nMR. STONE\nAnd I.\n\nANN\nGood day.\n",
        "Ann.\nWho is there?\n\nLady Brown.\n(_Entering._) Only I.\n\nMr. Stone.\nAnd I.\n\nAnn.\nGood day.\n",
        "          ANN.\n\nWho is there?\n\n       LADY BROWN.\n\n[_Entering._] Only\nI.\n\n       MR. STONE.\n\nAnd I.\n\n          ANN.\n\nGood day.\n",
        "ANN\tWho is there?\n\nLADY BROWN\t[Entering.] Only I.\n\nMR. STONE\tAnd I.\n\nANN\tGood day.\n",
        "ANN. Who is there?\n\nLADY BROWN (entering). Only I.\n\nMR. STONE. And I.\n\nANN. Good day.\n",
        "ANN.\n    Who is there?\nLADY BROWN (entering).\n    Only I.\nMR. STONE.\n    And I.\nANN.\n    Good day.\n",
        "_Ann._ Who is there?\n\n_Lady Brown._ [_Entering._] Only I.\n\n_Mr. Stone._ And I.\n\n_Ann._ Good day.\n",
        "ANN.--Who is there?\n\nLADY BROWN.--(Entering.) Only I.\n\nMR. STONE.--And I.\n\nANN.--Good day.\n",
        "ANN. Who is there?\n\nLADY BROWN. [Entering.] Only I.\n\nMR. STONE.--And I.\n\nANN. Good day.\n",
    ],
)
def test_speech_headings_come_in_many_layouts(tmp_path: Path, speeches: str) -> None:
    play = read(tmp_path, PLAIN.format(speeches=speeches))
    assert play.title == "A PLAY"
    assert [member.name for member in play.cast] == ["Ann Marlow", "Lady Brown", "Mr. Stone", "A Boy"]
    assert [(scene.act, scene.scene, scene.heading) for scene in play.scenes] == [("Act I", "Scene I", "A kitchen.")]
    assert spoken(play) == [
        ("Ann Marlow", "Who is there?"),
        ("Lady Brown", "Only I."),
        ("Mr. Stone", "And I."),
        ("Ann Marlow", "Good day."),
    ]
    (entering,) = [direction for speech in play.list_speeches() for direction in speech.directions]
    assert (entering.text.strip(".").casefold(), entering.at) == ("entering", 0)


def test_shortened_headings_mean_the_cast(tmp_path: Path) -> None:
    speeches = "  Ann. Who is\n    there?\n  Lady B. [Entering.] Only I.\n  Mr. St. And I.\n  Ann. You?\n  Lady B. Yes.\n  Mr. St. Yes.\n"
    play = read(tmp_path, PLAIN.format(speeches=speeches))
    assert spoken(play)[:3] == [("Ann Marlow", "Who is there?"), ("Lady Brown", "Only I."), ("Mr. Stone", "And I.")]
    assert [speech.label for speech in play.list_speeches()][:3] == ["Ann.", "Lady B.", "Mr. St."]


def test_the_nameless_may_be_printed_in_another_case(tmp_path: Path) -> None:
    speeches = "".join(f"KENT:\nTurn {turn}.\nMy lord.\n\nFirst Knight:\nReply {turn}.\n\nLEAR:\nGo.\n\n" for turn in range(3))
    play = read(tmp_path, speeches + "Old Knight:\nI went.\n\nKENT:\nWhither?\n")
    assert spoken(play)[:3] == [("Kent", "Turn 0. My lord."), ("First Knight", "Reply 0."), ("Lear", "Go.")]
    assert spoken(play)[-2:] == [("Old Knight", "I went."), ("Kent", "Whither?")]


def test_names_called_on_a_line_of_their_own_are_no_headings(tmp_path: Path) -> None:
    speeches = "KENT\nMy lord.\n\nFool\nNuncle.\n\nLEAR\nWhere is he?\n\nKent\nMy Kent.\n\n" * 3
    play = read(tmp_path, speeches)
    assert {speaker for speaker, _ in spoken(play)} == {"Kent", "Fool", "Lear"}
    assert spoken(play)[2] == ("Lear", "Where is he? Kent My Kent.")


@pytest.mark.parametrize(
    "speeches",
    [
        "ANN  Who is there?\n\nBOB\nOnly I, who came\nby the river.\n\nANN\nGood day to you\nand yours.\n\nBOB  Good day.\n\n",
        "ANN. Who is there?\n\nBOB.\nOnly I, who came\nby the river.\n\nANN.\nGood day to you\nand yours.\n\nBOB. Good day.\n\n",
        "Ann. Who is there?\n\nBob.\nOnly I, who came\nby the river.\n\nAnn.\nGood day to you\nand yours.\n\nBob. Good day.\n\n",
    ],
)
def test_a_heading_stands_before_a_speech_or_over_it(tmp_path: Path, speeches: str) -> None:
    expected = [("Ann", "Who is there?"), ("Bob", "Only I, who came by the river."), ("Ann", "Good day to you and yours.")]
    assert spoken(read(tmp_path, speeches * 3))[:3] == expected


def test_what_sounds_is_no_speaker_but_a_music_master_is(tmp_path: Path) -> None:
    text = "JOURDAIN\nBegin.\n\nMusic within\n\nMUSIC MASTER\nAt once.\n\nKnock, knock.\n\nJOURDAIN\nWho is it?\n\n" * 3
    assert [speaker for speaker, _ in spoken(read(tmp_path, text))][:3] == ["Jourdain", "Music Master", "Jourdain"]


def test_titles_need_no_capitals_where_names_have_them(tmp_path: Path) -> None:
    speeches = "Sir ANTHONY\nWhere is she?\n\nLYDIA\nHere, Sir Anthony.\n\nMrs. MALAPROP\nSit down.\n\n" * 3
    assert spoken(read(tmp_path, speeches))[:3] == [
        ("Sir Anthony", "Where is she?"),
        ("Lydia", "Here, Sir Anthony."),
        ("Mrs. Malaprop", "Sit down."),
    ]


@pytest.mark.parametrize("opening", ["Enter ANN.", "_The scene is laid in a wood._", ""])
def test_a_cast_ends_where_the_play_begins_without_heading(tmp_path: Path, opening: str) -> None:
    speech = "What I say is long,\n\nand goes on and on\n\n" * 5
    text = f"A PLAY\n\nCHARACTERS\n\nANN, a baker\nBOB, her son\n\n{opening}\n\n" + f"  ANN.\n\n{speech}  BOB.\n\n{speech}" * 6
    play = read(tmp_path, text)
    assert [member.name for member in play.cast] == ["Ann", "Bob"]
    assert [speaker for speaker, _ in spoken(play)] == ["Ann", "Bob"] * 6


def test_castile_may_be_shortened_to_cast(tmp_path: Path) -> None:
    assert spoken(read(tmp_path, "KING. Who comes?\n\nCAST. Thy brother.\n\n" * 3))[1] == ("Cast", "Thy brother.")


def test_columns_tell_headings_where_no_blank_line_does(tmp_path: Path) -> None:
    scene = "   Du. Who comes,\nand whence?\n  1. I, sir.\n\n   Lady. And I\n\n   2. And I\n  Du. Welcome all.\n\n"
    assert spoken(read(tmp_path, scene * 6))[:5] == [
        ("Du", "Who comes, and whence?"),
        ("1", "I, sir."),
        ("Lady", "And I"),
        ("2", "And I"),
        ("Du", "Welcome all."),
    ]


def test_entrances_tell_whom_abbreviations_mean(tmp_path: Path) -> None:
    text = "Enter Benedicke, Beatrice and Claudio from Clauton.\n\n" + (
        "Ben. What is it?\n\nBeat. A bird.\n\nClau. A small bird.\n\nBene. I see it.\n\nBea. Do you?\n\n" * 2
    )
    speakers = [speaker for speaker, _ in spoken(read(tmp_path, text))]
    assert speakers[:5] == ["Benedicke", "Beatrice", "Claudio", "Benedicke", "Beatrice"]


@pytest.mark.parametrize(
    ("broken", "whole"),
    [("a hand-\nsome man", "a handsome man"), ("a well-\nmade hat", "a well-made hat"), ("a hat- \nno more", "a hat- no more")],
)
def test_words_broken_over_two_lines_are_one(tmp_path: Path, broken: str, whole: str) -> None:
    text = f"ANN. He is {broken}.\n\nBOB. A handsome fellow, and well-made.\n\nANN. Yes.\n\nBOB. Yes.\n"
    assert spoken(read(tmp_path, text))[0] == ("Ann", f"He is {whole}.")


def test_a_gutenberg_frame_is_no_part_of_the_play(tmp_path: Path) -> None:
    body = "ANN. One.\n\nBOB. Two.\n\nANN. Three.\n\nBOB. Four.\n"
    text = (
        "Title: Counting\n\n*** START OF THE PROJECT GUTENBERG EBOOK COUNTING ***\n\nProduced by A. Nobody\nand B. Nobody\n\n"
        f"ACT I\n\n{body}\n*** END OF THE PROJECT GUTENBERG EBOOK COUNTING ***\n\nANN. License.\n\nBOB. License.\n"
    )
    play = read(tmp_path, text)
    assert play.title == "Counting"
    assert [text for _, text in spoken(play)] == ["One.", "Two.", "Three.", "Four."]
    assert next(play.list_speeches()).place == "play.txt:10"


def test_an_announced_act_is_no_scene(tmp_path: Path) -> None:
    play = read(
        tmp_path,
        "CONTENTS\n\nACT I. A room.\nACT II. A wood.\n\nACT I\n\nANN. One.\n\nBOB. Two.\n\nACT II\n\nANN. Three.\n\nBOB. Four.\n",
    )
    assert [(scene.act, len(scene.speeches)) for scene in play.scenes] == [("Act I", 2), ("Act II", 2)]


def test_directions_between_speeches_stand_apart(tmp_path: Path) -> None:
    play = read(tmp_path, "ANN. I wait.\n\n[Enter Bob,\nwith a lamp.]\n\nBOB. Here.\n\nANN. You came.\n\nExeunt.\n\nBOB. No.\n")
    (scene,) = play.scenes
    assert [entry.text for entry in scene.entries if isinstance(entry, Direction)] == ["Enter Bob, with a lamp.", "Exeunt."]


def test_speakers_together_are_told_apart(tmp_path: Path) -> None:
    play = read(
        tmp_path, PLAIN.format(speeches="ANN. Oh!\n\nLADY BROWN. Oh!\n\nANN and LADY BROWN. Oh!\n\nANN AND LADY BROWN. Ah!\n")
    )
    last = list(play.list_speeches())[-1]
    assert last.speakers == ("Ann Marlow", "Lady Brown")
    assert last.speaker == "Ann Marlow and Lady Brown"


def test_abbreviations_need_one_meaning() -> None:
    cast = [member for entry in ("Capulet, a father", "Lady Capulet", "Romeo", "Rosaline") for member in read_members(entry)]
    names = Names(cast, {"Cap.": 3, "La. Cap.": 2, "Rom.": 4, "Ro.": 1, "1. Mus.": 1})
    assert [names.find_speakers(label) for label in ("Cap.", "La. Cap.", "Rom.", "Ro.", "1. Mus.")] == [
        ("Capulet",),
        ("Lady Capulet",),
        ("Romeo",),
        ("Ro",),
        ("1. Mus",),
    ]


def test_a_word_of_its_own_is_no_abbreviation() -> None:
    cast = [*read_members("Manson, a servant"), *read_members("Ann")]
    assert Names(cast, {"Man": 5, "Ann": 5}, {"Man", "Ann"}).find_speakers("Man") == ("Man",)


def test_the_one_whom_no_other_heading_means_bears_a_shared_name() -> None:
    cast = [member for entry in ("Raina Petkoff", "Catherine Petkoff", "Major Paul Petkoff") for member in read_members(entry)]
    assert Names(cast, {"RAINA": 3, "CATHERINE": 3, "PETKOFF": 3}).find_speakers("PETKOFF") == ("Major Paul Petkoff",)
    assert Names(cast, {"RAINA": 3, "PETKOFF": 3}).find_speakers("PETKOFF") == ("Petkoff",)
    assert Names(cast, {"Rai.": 3, "Cath.": 3, "Pet.": 3}).find_speakers("Pet.") == ("Major Paul Petkoff",)


def test_a_bare_title_parts_nobody_from_the_name() -> None:
    names = Names(read_members("Dr. Thomas Hart; Ann"), {"Dr. Hart": 9, "Dr.": 1, "Ann": 3})
    assert names.find_speakers("Dr. Hart") == ("Dr. Thomas Hart",)


def test_a_name_without_a_stop_shortens_nobody_rarer() -> None:
    names = Names((), {"KIT": 90, "KITCHEN": 1, "VIG": 2, "VIGMAN": 40, "Rom.": 90, "Romeo.": 1})
    assert [names.find_speakers(label) for label in ("KIT", "VIG", "Rom.")] == [("Kit",), ("Vigman",), ("Romeo",)]


def test_titles_and_numerals_shorten_nothing() -> None:
    labels = {"MR. HART": 3, "MRS. HART": 3, "I WATCH.": 3, "II WATCH.": 3, "Voice": 2, "Voices": 2}
    names = Names((), labels)
    assert [names.find_speakers(label) for label in labels] == [
        ("Mr. Hart",),
        ("Mrs. Hart",),
        ("I Watch",),
        ("II Watch",),
        ("Voice",),
        ("Voices",),
    ]


def test_several_people_of_one_entry_are_told_apart() -> None:
    entry = read_members("Sara Tansey, Susan Brady, and Honor Blake, village girls")
    assert [(member.name, member.description) for member in entry] == [
        ("Sara Tansey", "village girls"),
        ("Susan Brady", "village girls"),
        ("Honor Blake", "village girls"),
    ]
    assert [member.name for member in read_members("Lords, Ladies and Attendants.")] == ["Lords", "Ladies", "Attendants"]
    assert [member.name for member in read_members("Jack, a clerk, and a friend of Ann")] == ["Jack"]


def test_who_has_a_heading_is_not_meant_by_a_description() -> None:
    cast = read_members("Reynold, servant to Paul; Paul")
    assert Names(cast, {"Rey.": 3, "Servant.": 2, "Paul": 1}).find_speakers("Servant.") == ("Servant",)
    assert Names(cast, {"Servant.": 2, "Paul": 1}).find_speakers("Servant.") == ("Reynold",)


def test_two_speakers_are_not_short_for_two_others() -> None:
    names = Names((), {"Ros. and Guil.": 2, "Ros. and Guild.": 1, "Ros.": 3, "Guil.": 2})
    assert names.find_speakers("Ros. and Guil.") == ("Ros", "Guil")


def test_one_of_many_is_not_whoever_is_described_so() -> None:
    cast = (*read_members("CURAN, gentleman of the household"), *read_members("GENTLEMEN"))
    assert Names(cast, {"GENTLEMAN": 3, "CURAN": 2}).find_speakers("GENTLEMAN") == ("Gentleman",)
    assert Names(cast[:1], {"GENTLEMAN": 3}).find_speakers("GENTLEMAN") == ("Curan",)


@pytest.mark.parametrize(
    ("entry", "names"),
    [
        ("Romeo, son to Montague.", ["Romeo"]),
        ("Montague and Capulet, heads of houses", ["Montague", "Capulet"]),
        ("TORVALD HELMER", ["Torvald Helmer"]),
        ("Nurse to Juliet", ["Nurse"]),
        ("Merriman: Mr. Frank Dyall.", ["Merriman"]),
        ("Rev. Canon Chasuble, D.D.", ["Rev. Canon Chasuble"]),
    ],
)
def test_entries_of_the_cast(entry: str, names: list[str]) -> None:
    assert [member.name for member in read_members(entry)] == names


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("THE FLOWER GIRL.", "The Flower Girl"),
        ("MRS. O'BRIEN:", "Mrs. O'Brien"),
        ("KING HENRY IV", "King Henry IV"),
        ("Rom.", "Rom"),
    ],
)
def test_headings_in_full_form(label: str, name: str) -> None:
    assert to_full_form(label) == name


@pytest.mark.parametrize(
    ("raw", "habit", "said", "directions"),
    [
        ("Come. (Exit.)", DirectionHabit(), "Come.", [("Exit.", 5)]),
        ("[aside] So (they say) it is.", DirectionHabit(parentheses=False), "So (they say) it is.", [("aside", 0)]),
        ("Sorry [he rushes off].", DirectionHabit(), "Sorry.", [("he rushes off", 5)]),
        ("I _do_ know. _Exit._", DirectionHabit(italics=True), "I do know.", [("Exit.", 10)]),
        ("Farewell. [Exit\nNo, wait.", DirectionHabit(), "Farewell. No, wait.", [("Exit", 10)]),
        ("Here (it is [aside].", DirectionHabit(), "Here (it is.", [("aside", 11)]),
    ],
)
def test_directions_are_parted_from_what_is_said(
    raw: str, habit: DirectionHabit, said: str, directions: list[tuple[str, int]]
) -> None:
    text, found = split_directions(raw, habit)
    assert text == said
    assert [(each.text, each.at) for each in found] == directions


@given(st.text(alphabet="ab ()[]_.,\n", max_size=60))
def test_directions_never_lie_beyond_the_speech(raw: str) -> None:
    for habit in (DirectionHabit(), DirectionHabit(italics=True), DirectionHabit(parentheses=False)):
        text, found = split_directions(raw, habit)
        assert all(0 <= each.at <= len(text) for each in found)
        assert "[" not in text


def test_fountain(tmp_path: Path) -> None:
    text = (
        "Title: _The Shed_\nAuthor: Nobody\n\nINT. SHED - DAY #1#\n\nANN (20) waits.\n\nANN\n(softly)\nAnyone *there*?\n  \nNo?\n\n"
        "@McBride (O.S.)\nMe.\n\n/* ANN\nGone. */\n\nBOB ^\nAnd me. [[cut?]]\n\nCUT TO:\n\n.THE WOOD\n\n!BANG\nIt falls.\n\nANN (CONT'D)\nOh.\n"
    )
    play = read(tmp_path, text, "shed.fountain")
    assert play.title == "The Shed"
    assert [scene.heading for scene in play.scenes] == ["INT. SHED - DAY", "THE WOOD"]
    assert spoken(play) == [("Ann", "Anyone there? No?"), ("McBride", "Me."), ("Bob", "And me."), ("Ann", "Oh.")]
    assert [entry.text for scene in play.scenes for entry in scene.entries if isinstance(entry, Direction)] == [
        "ANN (20) waits.",
        "BANG It falls.",
    ]


TYPED = """
               THE SHED

INT. SHED - NIGHT                                        1

Rain.

                         ANN
                    (softly)
               Is anyone in
               there at this
                         (MORE)

(CONTINUED)
                                                       2.

                         ANN (CONT'D)
               hour?

                         BOB (O.S.)
               Me.

The door opens.

                                        CUT TO:

EXT. WOOD - DAY

                         ANN
               Run!
"""


@pytest.mark.parametrize("indent", [10, 11])
def test_speeches_of_typed_screenplays_may_share_the_column_of_action(tmp_path: Path, indent: int) -> None:
    lines = ["INT. KITCHEN - DAY", "", "Ann looks at all the many plates, which nobody has washed yet.", ""]
    for turn in ("First of all you wash,", "Then at last you dry,", "Then again you wash,"):
        lines += ["@ANN", f"#{turn}", "#then we talk.", "She sits down at the table by the window and waits for him.", ""]
        lines += [
            "@BOB",
            "@(TIRED)",
            "#Not now. I have been",
            "#here all day.",
            "",
            "The telephone rings.",
            "",
            "EXT. YARD - DAY",
            "",
        ]
    text = "\n".join(
        line and " " * (26 if line[0] == "@" else indent if line[0] == "#" else 10) + line.lstrip("@#") for line in lines
    )
    play = read(tmp_path, text)
    assert play.layout == "typed screenplay"
    assert spoken(play)[:2] == [("Ann", "First of all you wash, then we talk."), ("Bob", "Not now. I have been here all day.")]
    assert [speaker for speaker, _ in spoken(play)] == ["Ann", "Bob"] * 3


def test_columns_of_typed_screenplays_may_shift_from_page_to_page(tmp_path: Path) -> None:
    page = "{2}INT. YARD - DAY\n\n{2}She waits.\n\n{0}ANN\n{1}Who is it?\n\n{0}BOB\n{1}Nobody.\n\n{2}Bob looks up.\n\n"
    text = "".join(page.format(" " * (24 + shift), " " * (14 + shift), " " * 4) * 3 for shift in (0, 6, 12))
    assert spoken(read(tmp_path, text)) == [("Ann", "Who is it?"), ("Bob", "Nobody.")] * 9


def test_speeches_go_on_behind_a_pause_where_columns_are_shared(tmp_path: Path) -> None:
    scene = "INT. YARD - DAY\n\nShe waits at the gate, and he comes along the road at last.\n\n{0}ANN\nWho is it?\n\n{0}(SOFT)\nI see.\n"
    more = "He waves to her with his hat, and steps in.\n\nBOB (CONT'D)\nOnly I.\n\n{0}BOB\nGood day.\n\n"
    play = read(tmp_path, (scene + more).format(" " * 20) * 4)
    assert spoken(play)[:3] == [("Ann", "Who is it? I see."), ("Bob", "Only I."), ("Bob", "Good day.")]


def test_film_scripts_may_print_names_without_capitals(tmp_path: Path) -> None:
    scene = "     INT. KITCHEN - DAY\n\n     He waits.\n\n{0}Tom\n          Who is it?\n\n{0}Leo\n          Nobody.\n\n     Tom looks up.\n\n"
    play = read(tmp_path, scene.format(" " * 27) * 6)
    assert play.layout == "typed screenplay"
    assert spoken(play)[:2] == [("Tom", "Who is it?"), ("Leo", "Nobody.")]


def test_typed_screenplays_are_told_by_their_columns(tmp_path: Path) -> None:
    play = read(tmp_path, TYPED)
    assert play.layout == "typed screenplay"
    assert [(scene.scene, scene.heading) for scene in play.scenes] == [
        ("Scene 1", "INT. SHED - NIGHT"),
        ("Scene 2", "EXT. WOOD - DAY"),
    ]
    assert spoken(play) == [("Ann", "Is anyone in there at this hour?"), ("Bob", "Me."), ("Ann", "Run!")]


FDX = """<?xml version="1.0" encoding="UTF-8"?>
<FinalDraft DocumentType="Script" Version="5"><Content>
<Paragraph Type="Scene Heading"><Text>INT. SHED - DAY</Text></Paragraph>
<Paragraph Type="Action"><Text>Rain </Text><Text Style="Bold">falls.</Text></Paragraph>
<Paragraph Type="Character"><Text>ANN (V.O.)</Text></Paragraph>
<Paragraph Type="Parenthetical"><Text>(softly)</Text></Paragraph>
<Paragraph Type="Dialogue"><Text>Anyone?</Text></Paragraph>
<Paragraph><DualDialogue>
<Paragraph Type="Character"><Text>BOB</Text></Paragraph><Paragraph Type="Dialogue"><Text>Me.</Text></Paragraph>
<Paragraph Type="Character"><Text>CY</Text></Paragraph><Paragraph Type="Dialogue"><Text>And me.</Text></Paragraph>
</DualDialogue></Paragraph>
</Content><TitlePage><Content><Paragraph><Text>The Shed</Text></Paragraph></Content></TitlePage></FinalDraft>
"""


def test_final_draft(tmp_path: Path) -> None:
    play = read(tmp_path, FDX, "shed.fdx")
    assert play.title == "The Shed"
    assert spoken(play) == [("Ann", "Anyone?"), ("Bob", "Me."), ("Cy", "And me.")]
    assert play.scenes[0].entries[0] == Direction(text="Rain falls.", place="shed.fdx:4")


ACT = """<?xml version="1.0" encoding="utf-8"?>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><body>
<section id="act-1" epub:type="chapter z3998:scene"><h2>Act <span>I</span></h2><p>A room.</p><table><tbody>
<tr><td/><td><i epub:type="z3998:stage-direction">Enter <b epub:type="z3998:persona">Ann</b>.</i></td></tr>
<tr><td epub:type="z3998:persona">Ann</td><td>Who <i epub:type="z3998:stage-direction">Turning.</i> is there?</td></tr>
<tr><td epub:type="z3998:persona" rowspan="2">Bob<br/>Cy</td><td>We!</td></tr><tr><td>Both.</td></tr>
</tbody></table></section></body></html>
"""


def test_standard_ebooks(tmp_path: Path) -> None:
    folder = tmp_path / "nobody_a-small-play" / "src" / "epub" / "text"
    folder.mkdir(parents=True)
    (folder / "act-1.xhtml").write_text(ACT, encoding="utf-8")
    play = read_play(tmp_path / "nobody_a-small-play")
    assert play.title == "A small play"
    assert [entry.text for entry in play.scenes[0].entries] == ["A room.", "Enter Ann.", "Who is there?", "We! Both."]
    first, second = play.list_speeches()
    assert first.format_with_directions() == "Who (Turning.) is there?"
    assert second.label == "Bob, Cy"


LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>'
    '<FinalDraft><Content><Paragraph Type="Action"><Text>&b;</Text></Paragraph></Content></FinalDraft>'
)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("laughs.fdx", LAUGHS, "declares an entity"),
        ("deep.fdx", "<a>" * 500 + "</a>" * 500, "nested"),
        ("broken.fdx", "<FinalDraft><Content>\n<oops</FinalDraft>", "broken.fdx:2"),
        ("other.fdx", "<Script/>", "expected FinalDraft"),
        ("empty.fdx", "<FinalDraft><Content/></FinalDraft>", "nobody speaks"),
        ("silent.fountain", "INT. SHED - DAY\n\nRain.\n", "nobody speaks"),
        ("silent.xhtml", "<html><body><section><p>Hello.</p></section></body></html>", "z3998:persona"),
        ("prose.txt", "It was late. Nobody came.\n\nShe went home. He did not.\n" * 30, "no play in it"),
        ("empty.txt", "", "no play in it"),
        ("picture.txt", "\x89PNG\0\0\0", "no text file"),
    ],
)
def test_what_is_no_play_is_refused_with_its_place(tmp_path: Path, name: str, content: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        read(tmp_path, content, name)


def test_missing_files_and_strange_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_play(tmp_path / "none.txt")
    with pytest.raises(InputError, match=r"act-1\.xhtml"):
        read_play(tmp_path)


def test_bad_xml_names_file_and_line(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        read(tmp_path, ACT.replace("</tbody>", ""), "act-1.xhtml")
    assert caught.value.place.endswith("act-1.xhtml:7")


def test_old_code_pages_are_read(tmp_path: Path) -> None:
    file = tmp_path / "old.txt"
    file.write_bytes("ANN. Café.\n\nBOB. Thé.\n\nANN. Oui.\n\nBOB. Non.\n".encode("cp1252"))
    assert spoken(read_play(file))[0] == ("Ann", "Café.")


def test_a_play_survives_its_record(tmp_path: Path) -> None:
    play = read(tmp_path, "ANN. One. [Exit.]\n\n[Enter Bob.]\n\nBOB. Two.\n\nANN. Three.\n\nBOB. Four.\n")
    again = Play.model_validate_json(play.model_dump_json())
    assert again == play
    assert {type(entry) for entry in again.scenes[0].entries} == {Speech, Direction}


def test_numbered_cues_are_names_without_their_numbers(tmp_path: Path) -> None:
    text = "".join(f"{number}.  {who}:   Line {who.lower()} {number}.\n\n" for number, who in enumerate(("ANN", "BO") * 8, 1))
    play = read(tmp_path, f"ACT ONE\n\n{text}7.  FX:  DOOR\n")
    assert {speaker for speaker, _ in spoken(play)} == {"Ann", "Bo"} and len(spoken(play)) == 16


def test_a_direction_may_stand_between_a_name_in_markdown_and_its_colon(tmp_path: Path) -> None:
    text = "**Ann** *(gravely)*: Here.\n\n**Bo**: There.\n\n**Ann**: Where?\n\n**Bo** *(to Ann)*: Nowhere.\n"
    assert spoken(read(tmp_path, text)) == [("Ann", "Here."), ("Bo", "There."), ("Ann", "Where?"), ("Bo", "Nowhere.")]


def pages(printed: str, first: str = "ANN. ", rest: str = "BO. Who was?\n\nANN. Nobody.\n\n") -> str:
    """Five pages, each with what is ``printed`` in the middle of a sentence, which differs from page to page."""
    said = [("a fox", "in the snow"), ("the moon", "at noon"), ("two", "ships"), ("old Bess", "smile"), ("my aunt", "there")]
    return "".join(
        f"{first}I saw {who}\n\n{printed.format(page)}\n\n{where}.\n\n" + rest * 5 for page, (who, where) in enumerate(said, 7)
    )


def test_the_title_over_every_page_is_nobody(tmp_path: Path) -> None:
    rest = "Bo\nWho was?\n\nAnn\nNobody.\n\n"
    play = read(tmp_path, "The Copper Key\n\nACT I\n\n" + pages("The Copper Key", "Ann\n", rest))
    assert {speaker for speaker, _ in spoken(play)} == {"Ann", "Bo"}
    assert spoken(play)[0] == ("Ann", "I saw a fox in the snow.")


def test_a_play_may_be_called_after_somebody_who_speaks(tmp_path: Path) -> None:
    play = read(tmp_path, "King Lear\n\nACT I\n\n" + "KENT\n\nAy, my lord.\n\nKING LEAR\n\nWho is there?\n\n" * 5)
    assert {speaker for speaker, _ in spoken(play)} == {"Kent", "King Lear"}


@pytest.mark.parametrize(
    "printed", ["{}", "[Pg {}]", "Acting Edition\n{}", "{}   THE COPPER KEY.   [ACT I.", "ACT I.] THE KEY. {}"]
)
def test_what_is_on_every_page_is_nobodys_words(tmp_path: Path, printed: str) -> None:
    play = read(tmp_path, "THE COPPER KEY.\n\nACT I\n\n" + pages(printed) + "BO. Count them.\n\nANN.\n149.\n")
    assert spoken(play)[0] == ("Ann", "I saw a fox in the snow.")
    assert {text for _, text in spoken(play) if "saw" not in text} == {"Who was?", "Nobody.", "Count them.", "149."}


def test_ld_is_a_lord() -> None:
    names = Names(read_members("Lord Goring") + read_members("Lord Caversham"), {"Ld. Gor.": 2, "Ld. Cav.": 2})
    assert [names.find_speakers(each) for each in ("Ld. Gor.", "Ld. Cav.")] == [("Lord Goring",), ("Lord Caversham",)]


@pytest.mark.parametrize("dash", ["–", "—", "-"])
def test_a_dash_may_stand_behind_the_name(tmp_path: Path, dash: str) -> None:
    text = "".join(f"{who} {dash} Line {number} - or so.\n" for number, who in enumerate(("Nora", "Mrs. Linde") * 8))
    assert spoken(read(tmp_path, text))[:2] == [("Nora", "Line 0 - or so."), ("Mrs. Linde", "Line 1 - or so.")]


IDEAL = "Lord Caversham|Lord Goring|Lady Chiltern|Mrs. Marchmont|Mr. Montford|Mabel Chiltern|Vicomte de Nanjac|James|Mason"
TEMPEST = "Iris|Prospero|First Citizen|Second Citizen|Sir Robert Chiltern|Helmer|The Earl of Kent"


@pytest.mark.parametrize(
    ("cast", "meant"),
    [
        (
            IDEAL,
            {
                "LG": "Lord Goring",
                "LCAV": "Lord Caversham",
                "LC": "Lady Chiltern",
                "MAB": "Mabel Chiltern",
                "MM": "Mrs. Marchmont",
                "MONT": "Mr. Montford",
                "VN": "Vicomte de Nanjac",
                "Jas.": "James",
            },
        ),
        (
            TEMPEST,
            {
                "Iri.": "Iris",
                "1 Cit.": "First Citizen",
                "2nd Cit.": "Second Citizen",
                "Sir R.": "Sir Robert Chiltern",
                "Hlm.": "Helmer",
                "Lord K.": "The Earl of Kent",
            },
        ),
        (
            "Citizens of Rome|Rosencrantz|Horatio|Robot|Robots",
            {"2 Cit.": "Second Citizen", "C1": "First Citizen", "Ros.": "Rosencrantz", "Hor.": "Horatio", "Robs.": "Robots"},
        ),
        (
            "Edmund Mortimer|Lady Mortimer|Messengers|Poins",
            {"Mort.": "Edmund Mortimer", "Messenger": "Messenger", "Po.": "Poins"},
        ),
    ],
)
def test_headings_shorten_names_in_many_ways(cast: str, meant: dict[str, str]) -> None:
    people = [member for name in cast.split("|") for member in read_members(name)]
    names = Names(people, dict.fromkeys(meant, 3), {"messenger"})
    assert {label: names.find_speakers(label) for label in meant} == {label: (name,) for label, name in meant.items()}
