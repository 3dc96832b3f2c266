"""Writes a report as one HTML file that needs nothing else: no network, no fonts, no script.

Every string is foreign. The template escapes each of them (jinja's autoescape) after ``displayable`` has made
it harmless to look at (jinja's finalize), so that neither can be forgotten for one of them. Should something
slip through nevertheless, the page's content security policy keeps it from running or loading anything.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from sociable.core.run_folder import write_atomically
from sociable.core.view import (
    TONE_WORDS,
    Block,
    Callout,
    Case,
    CurvePlot,
    Document,
    IntervalPlot,
    Paragraph,
    Plot,
    Quotation,
    RadarPlot,
    Row,
    ScatterPlot,
    Section,
    Table,
    Tone,
    Transcript,
)
from sociable.render.displayable import displayable, displayable_line
from sociable.render.estimates import Estimate, estimate, widest_interval, with_equal_rows
from sociable.render.plots_as_tables import make_number_table

_VOICES = 6
"""Colours for the names of speakers; with more speakers they repeat, and the names still tell them apart."""

_SHADES = 9
"""Of heat maps; the style sheet has a class for each."""

_HIGHLIGHT_WORDS: Mapping[Tone, str] = {
    Tone.NEUTRAL: "Judged turn",
    Tone.GOOD: "Judged turn: good",
    Tone.WARNING: "Judged turn: doubtful",
    Tone.BAD: "Judged turn: bad",
}


def render_html(document: Document) -> str:
    """The report as the text of one self-contained HTML file; the same document gives the same text."""
    style = _packaged("report.css")
    return (
        _template_environment()
        .from_string(_packaged("report.html.jinja"))
        .render(
            document=document,
            style=Markup(style),  # noqa: S704 - our own file
            policy=_content_security_policy(style),
            fresh=_identifiers(),
        )
    )


def write_html(document: Document, path: Path) -> None:
    """Writes the report so that at no moment there is half a file under its name. Raises StorageFailure."""
    write_atomically(path, render_html(document))


# ------------------------------------------------------------------------------------------------------------
# The template and its surroundings


@cache
def _packaged(name: str) -> str:
    return resources.files("sociable.render").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def _template_environment() -> Environment:
    environment = Environment(
        autoescape=True, finalize=_harmless, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(
        line=displayable_line,
        kind=_kind,
        ruled=_ruled,
        figure=_figure,
        numbers=make_number_table,
        voices=_voices,
        tone_word=lambda tone: TONE_WORDS[tone],
        highlight_word=lambda tone: _HIGHLIGHT_WORDS[tone],
        number_of_cases=_number_of_cases,
    )
    return environment


def _harmless(value: object) -> object:
    """What the template is about to print: ``Markup`` is ours, every other string is foreign."""
    return displayable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _content_security_policy(style: str) -> str:
    """Nothing may be loaded, run or sent; of style sheets, ours alone counts."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def _identifiers() -> Callable[[str], str]:
    """Ids that are unique in the page and contain nothing of the document's."""
    counter = itertools.count(1)
    return lambda prefix: f"{prefix}-{next(counter)}"


# ------------------------------------------------------------------------------------------------------------
# What the template asks for


def _kind(block: Block) -> str:
    """By which the template chooses how to draw it. A kind nobody has taught it would vanish without a trace."""
    match block:
        case IntervalPlot() | CurvePlot() | ScatterPlot() | RadarPlot():
            return "Plot"
        case Paragraph() | Callout() | Table() | Transcript() | Quotation() | Case():
            return type(block).__name__
        case _:
            raise TypeError(f"Cannot draw a {type(block).__name__}: report.html.jinja has no rule for it.")


@dataclass(frozen=True, slots=True)
class _RuledCell:
    """A cell as it is set: ``interval_room`` is its column's widest interval, ``is_heading`` of its row."""

    estimate: Estimate
    numeric: bool
    interval_room: str
    is_heading: bool
    shade: int | None
    """Of ``_SHADES``, for the style sheet."""


@dataclass(frozen=True, slots=True)
class _RuledTable:
    """A table with what is known only from its columns as a whole."""

    table: Table
    rows: Sequence[tuple[Row, Sequence[_RuledCell]]]


def _ruled(table: Table) -> _RuledTable:
    equal = with_equal_rows(table)
    columns = [
        [estimate(displayable_line(row.cells[index])) for row in equal.rows] if column.numeric else []
        for index, column in enumerate(equal.columns)
    ]
    rooms = [widest_interval(column) for column in columns]
    rows = [
        (
            row,
            [
                _RuledCell(
                    columns[index][number] if column.numeric else Estimate(row.cells[index]),
                    column.numeric,
                    rooms[index],
                    is_heading=index == 0 and not column.numeric,
                    shade=_shade(row, index),
                )
                for index, column in enumerate(equal.columns)
            ],
        )
        for number, row in enumerate(equal.rows)
    ]
    return _RuledTable(equal, rows)


def _shade(row: Row, index: int) -> int | None:
    shade = row.shades[index] if index < len(row.shades) else None
    return None if shade is None or not math.isfinite(shade) else round(min(1.0, max(0.0, shade)) * (_SHADES - 1))


def _figure(plot: Plot, narrow: bool = False) -> Markup:
    from sociable.render.figures import render_figure  # and matplotlib, which takes a moment

    return Markup(render_figure(plot, narrow))  # noqa: S704 - escaped where it was written


def _voices(transcript: Transcript) -> Mapping[str, int]:
    """A number for each speaker, in the order in which they first speak."""
    speakers = dict.fromkeys(line.speaker for line in transcript.lines)
    return {speaker: number % _VOICES + 1 for number, speaker in enumerate(speakers)}


def _number_of_cases(section: Section) -> int:
    return sum(isinstance(block, Case) for block in section.blocks)
