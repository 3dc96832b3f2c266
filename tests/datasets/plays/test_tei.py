"""TEI as DraCor publishes plays: speakers by the list of persons, whatever the words over a speech are."""

from __future__ import annotations

from pathlib import Path

import pytest

from sociable.core.errors import DataError, InputError
from sociable.datasets.plays import Direction, InlineDirection, Play, Speech, read_play

PLAY = """<?xml version="1.0" encoding="utf-8"?>
<TEI xmlns="http://www.tei-c.org/ns/1.0" xml:id="t1" xml:lang="en">
 <teiHeader>
  <fileDesc><titleStmt><title>The Key</title><title type="sub">A Comedy</title></titleStmt></fileDesc>
  <profileDesc><particDesc><listPerson>
   <person xml:id="ann"><persName>Ann Marlow</persName></person>
   <person xml:id="bo"><persName>Bo</persName></person>
   <person xml:id="cook1"><persName>Cook</persName></person>
   <person xml:id="cook2"><persName>Cook</persName></person>
   <personGrp xml:id="all"><name>Everybody</name></personGrp>
   <person xml:id="nameless"/>
  </listPerson></particDesc></profileDesc>
 </teiHeader>
 <text>
  <front>
   <castList>
    <castItem><role>Ann Marlow,</role><roleDesc>a baker.</roleDesc></castItem>
    <castItem>Bo, her son.</castItem>
   </castList>
  </front>
  <body>
   <div type="act">
    <head>Act I</head>
    <div type="scene">
     <head>Scene 1. A kitchen.</head>
     <stage>Ann alone.</stage>
     <sp who="#ann"><speaker>ANN.</speaker><stage>softly</stage><p>Tea &amp; bread &#8212; <stage>Listens.</stage> who is there?<note>A note.</note></p></sp>
     <sp who="#bo"><speaker>BO.</speaker><lg><l>It is only I,</l><l>and it is late.</l></lg></sp>
     <sp who="#ann #bo"><speaker>BOTH.</speaker><p>Ah!</p></sp>
    </div>
    <div type="scene">
     <head>Scene 2</head>
     <sp who="#cook1"><speaker>COOK.</speaker><p>Out!</p></sp>
     <sp who="#cook2"><speaker>COOK.</speaker><p>You first.</p></sp>
     <sp who="#nobody"><speaker>STRANGER.</speaker><p>Hush.</p></sp>
     <sp><p>Who spoke?</p></sp>
     <sp who="#nameless"><p>I.</p></sp>
     <sp who="#bo"><speaker>BO</speaker><stage>laughs.</stage></sp>
     <p>They wait.</p>
    </div>
   </div>
   <div type="act">
    <head>Act II</head>
    <spGrp><sp who="#all"><speaker>ALL</speaker><p>Good<lb/>night.</p></sp></spGrp>
   </div>
  </body>
 </text>
</TEI>
"""


def read(folder: Path, text: str = PLAY, name: str = "key.xml") -> Play:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return read_play(file)


def test_people_speak_by_the_list_of_persons(tmp_path: Path) -> None:
    play = read(tmp_path)
    assert (play.title, play.layout) == ("The Key", "TEI")
    assert [(speech.speakers, speech.text) for speech in play.list_speeches()] == [
        (("Ann Marlow",), "Tea & bread — who is there?"),
        (("Bo",), "It is only I, and it is late."),
        (("Ann Marlow", "Bo"), "Ah!"),
        (("Cook",), "Out!"),
        (("Cook 2",), "You first."),
        # An id that no list has, none at all, and one of a person without a name.
        (("Stranger",), "Hush."),
        (("Somebody",), "Who spoke?"),
        (("nameless",), "I."),
        (("Everybody",), "Good night."),
    ]
    both = list(play.list_speeches())[2]
    assert (both.speaker, both.label, both.place) == ("Ann Marlow and Bo", "BOTH.", "key.xml:29")


def test_the_list_of_persons_is_the_cast_and_the_list_at_the_front_describes_it(tmp_path: Path) -> None:
    cast = {member.name: member.description for member in read(tmp_path).cast}
    assert cast == {"Ann Marlow": "a baker", "Bo": "her son", "Cook": "", "Cook 2": "", "Everybody": "", "nameless": ""}


def test_divisions_are_acts_and_scenes(tmp_path: Path) -> None:
    assert [(scene.act, scene.scene, scene.heading) for scene in read(tmp_path).scenes] == [
        ("Act I", "Scene I", "A kitchen."),
        ("Act I", "Scene II", ""),
        ("Act II", "", ""),
    ]
    # A division without a heading is no new scene.
    play = read(tmp_path, PLAY.replace("<head>Scene 2</head>", "").replace("<head>Act II</head>", ""))
    assert [(scene.act, scene.scene) for scene in play.scenes] == [("Act I", "Scene I")]


def test_directions_stand_apart_between_speeches_and_in_them(tmp_path: Path) -> None:
    play = read(tmp_path)
    told = [entry.text for scene in play.scenes for entry in scene.entries if isinstance(entry, Direction)]
    assert told == ["Ann alone.", "BO laughs.", "They wait."]
    first = next(play.list_speeches())
    assert first.directions == (InlineDirection(text="softly", at=0), InlineDirection(text="Listens.", at=13))
    assert (
        isinstance(play.scenes[0].entries[1], Speech)
        and first.format_with_directions() == "(softly) Tea & bread — (Listens.) who is there?"
    )


def test_tei_is_told_by_its_root_whatever_the_file_is_called(tmp_path: Path) -> None:
    assert read(tmp_path, name="key.txt").layout == "TEI"


def test_characters_have_their_names_of_html_where_the_file_says_that_another_declares_them(tmp_path: Path) -> None:
    named = PLAY.replace("<TEI", '<!DOCTYPE TEI SYSTEM "http://127.0.0.1:9/tei.dtd"><TEI', 1).replace("Ah!", "Caf&eacute;!")
    assert list(read(tmp_path, named).list_speeches())[2].text == "Café!"
    with pytest.raises(DataError, match="&marlow; is not declared"):
        read(tmp_path, named.replace("&eacute;", "&marlow;"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (PLAY.replace("</body>", ""), r"key\.xml:47.*no well-formed XML \(mismatched tag\)"),
        (PLAY.replace("Ah!", "&marlow;"), r"key\.xml:29.*undefined entity"),
        (PLAY.replace("TEI", "book"), "element book; expected TEI"),
        ("<TEI><teiHeader/></TEI>", "expected TEI with a text and its body"),
        ("", "no element found"),
    ],
)
def test_what_is_no_tei_is_refused_with_its_place(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(DataError, match=says):
        read(tmp_path, text)


def test_a_text_in_which_nobody_speaks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nobody speaks in it, read as TEI\. Expected sp elements"):
        read(tmp_path, "<TEI><text><body><p>Prose.</p></body></text></TEI>")


@pytest.mark.parametrize("entity", ['secret SYSTEM "{}"', '% secret SYSTEM "{}"', 'secret "{}"'])
def test_other_files_are_not_read_through_entities(tmp_path: Path, entity: str) -> None:
    (tmp_path / "secret.txt").write_text("canary")
    declared = entity.format((tmp_path / "secret.txt").as_uri())
    text = PLAY.replace("<TEI", f"<!DOCTYPE TEI [<!ENTITY {declared}>]><TEI", 1).replace("Ah!", "&secret;")
    with pytest.raises(DataError, match="declares an entity") as caught:
        read(tmp_path, text)
    assert "canary" not in str(caught.value)
