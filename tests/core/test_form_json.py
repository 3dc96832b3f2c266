"""Forms as JSON, there and back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sociable.core.errors import InputError
from sociable.core.form import Form, Question
from sociable.core.form_json import read_form, write_form
from sociable.core.plots import Curve, CurvePlot, Dot, IntervalPlot, Mark, Point, RadarPlot, ScatterPlot
from sociable.core.view import (
    Callout,
    Case,
    Column,
    Line,
    Paragraph,
    Quotation,
    Row,
    Table,
    Tag,
    Tone,
    Transcript,
)

HOSTILE = "</script><img src=x onerror=alert(1)>\u202e\x00 \ud800 ${x} {{ x }}"
TABLE = Table(
    "Wares", (Column("Name"), Column("Price", True, "in coins")), (Row(("Lamp", HOSTILE), True, (None, 0.5)),), "a note"
)
LINES = Transcript("Said", (Line("Maria", "Tom", HOSTILE, Tone.GOOD), Line("Tom", "", "No.")), folded=True)
BLOCKS = (
    Paragraph(HOSTILE),
    Callout("Mind this", Tone.WARNING),
    TABLE,
    LINES,
    Quotation("system", "two\nlines", Tone.BAD),
    Case("One", (Tag("won", Tone.GOOD),), (Paragraph("inside"), TABLE, LINES)),
    IntervalPlot("Means", "score", (Mark("a", 0.5, None, 1, published=True),), minimum=0, reference_label="chance"),
    CurvePlot("Curves", "x", "y", (Curve("one", (Point(1, 2.5, low=0.5),)),), steps=True),
    ScatterPlot("Plane", (Dot(0.5, 1, "group"),)),
    RadarPlot("Profile", ("a", "b"), (0.5, 1.0)),
)
FORM = Form("A title", BLOCKS, (Question(HOSTILE, ("yes", "no")), Question("Why?", is_long=True, may_be_empty=True)))


def test_every_kind_of_block_comes_back_as_it_was() -> None:
    text = write_form(FORM)
    back = read_form(text)
    assert (back.title, back.blocks, back.questions) == (FORM.title, FORM.blocks, FORM.questions)
    assert write_form(back) == text and text.isascii()


def change(place: str, value: Any) -> str:
    """The form's JSON with another value at a place, as in ``blocks.0.kind``; ``...`` takes it away."""
    content = json.loads(write_form(FORM))
    *way, last = (int(part) if part.isdigit() else part for part in place.split("."))
    inner = content
    for part in way:
        inner = inner[part]
    if value is ...:
        del inner[last]
    else:
        inner[last] = value
    return json.dumps(content)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "no JSON"),
        ("[]", "fields title, blocks and questions"),
        (change("reply", "os.system"), "and no others"),
        (change("title", 3), "title: str was expected"),
        (change("blocks.0.kind", "Script"), r"blocks\[0\]: no block of the kind 'Script'"),
        (change("blocks.5.blocks.0.kind", "RadarPlot"), r"blocks\[5\].blocks\[0\]: no block of the kind 'RadarPlot'"),
        (change("blocks.0.html", True), r"blocks\[0\]: Paragraph has the fields text, and no others"),
        (change("blocks.3.lines.1.speaker", ...), r"blocks\[3\].lines\[1\]: Line has the fields"),
        (change("blocks.1.tone", "loud"), r"blocks\[1\].tone: one of neutral, good"),
        (change("blocks.3.folded", 1), r"folded: bool was expected"),
        (change("blocks.6.marks.0.low", "1"), r"low: float was expected"),
        (change("questions.0.choices", "yes"), r"questions\[0\].choices: a list was expected"),
        ("[" * 100_000, "no JSON"),
    ],
)
def test_what_is_no_form_is_refused_with_its_place(text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        read_form(text)
