"""Writes a report as one HTML file that needs nothing else: no network, no fonts, no script.

Every string is foreign. The template escapes each of them (jinja's autoescape) after ``make_displayable`` has made
it harmless to look at (jinja's finalize), so that neither can be forgotten for one of them. Should something
slip through nevertheless, the page's content security policy keeps it from running or loading anything.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path

from jinja2 import BaseLoader, ChoiceLoader, Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from sociable.core import view
from sociable.core.run_folder import write_atomically
from sociable.render.displayable import make_displayable, make_displayable_line
from sociable.render.estimates import Estimate, fill_rows, find_widest_interval, parse_estimate

_VOICES = 6
"""Colours for the names of speakers; with more speakers they repeat, and the names still tell them apart."""

_SHADES = 9
"""Shades of heat maps; the style sheet has a class for each."""

_HIGHLIGHT_WORDS: Mapping[view.Tone, str] = {
    view.Tone.NEUTRAL: "Judged turn",
    view.Tone.GOOD: "Judged turn: good",
    view.Tone.WARNING: "Judged turn: doubtful",
    view.Tone.BAD: "Judged turn: bad",
}


def render_html(document: view.Document) -> str:
    """Returns the report as the text of one self-contained HTML file; the same document gives the same text."""
    style = resources.files("sociable.render").joinpath("templates", "report.css").read_text(encoding="utf-8")
    return _load_template().render(
        document=document,
        style=Markup(style),  # noqa: S704 - our own file
        policy=_make_policy(style),
        fresh=make_identifiers(),
    )


def write_html(document: view.Document, path: Path) -> None:
    """Writes the report so that at no moment there is half a file under its name. Raises StorageFailure."""
    write_atomically(path, render_html(document))


@cache
def _load_template() -> Template:
    return make_environment(PackageLoader("sociable.render")).get_template("report.html.jinja")


def make_environment(*loaders: BaseLoader) -> Environment:
    """Returns an environment of templates in which every string is foreign, with all that ``blocks.html.jinja`` asks for.

    A template that draws blocks is rendered with ``fresh=make_identifiers()``.
    """
    environment = Environment(
        loader=ChoiceLoader(loaders),
        autoescape=True,
        finalize=_make_harmless,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        line=make_displayable_line,
        kind=_name_kind,
        ruled=_rule_table,
        figure=_draw_figure,
        voices=_number_voices,
        tone_word=view.TONE_WORDS.__getitem__,
        highlight_word=_HIGHLIGHT_WORDS.__getitem__,
        number_of_cases=lambda section: sum(isinstance(block, view.Case) for block in section.blocks),
    )
    return environment


def _make_harmless(value: object) -> object:
    """Returns what the template prints of a value: ``Markup`` is ours, every other string is foreign."""
    return make_displayable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _make_policy(style: str) -> str:
    """Returns the content security policy: nothing may be loaded, run or sent; of style sheets, ours alone counts."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def make_identifiers() -> Callable[[str], str]:
    """Returns a function that makes ids, unique in the page and with nothing of the document's in them."""
    counter = itertools.count(1)
    return lambda prefix: f"{prefix}-{next(counter)}"


def _name_kind(block: view.Block) -> str:
    """Returns the name by which the template chooses how to draw a block. One that it does not know would vanish silently."""
    if isinstance(block, view.Plot):
        return "Plot"
    if isinstance(block, view.Block):
        return type(block).__name__
    raise TypeError(f"Cannot draw a {type(block).__name__}: blocks.html.jinja has no rule for it.")


@dataclass(frozen=True, slots=True)
class _RuledCell:
    """A cell as it is set: ``interval_room`` is its column's widest interval, ``is_heading`` of its row."""

    estimate: Estimate
    numeric: bool
    interval_room: str
    is_heading: bool
    shade: int | None
    """The number of the shade, below ``_SHADES``, for the style sheet."""


def _rule_table(table: view.Table) -> tuple[Sequence[view.Column], Sequence[tuple[view.Row, Sequence[_RuledCell]]]]:
    """Returns the columns, and each row with its cells, for which the columns must be known as a whole."""
    equal = fill_rows(table)
    columns = [_rule_column(column, index, equal.rows) for index, column in enumerate(equal.columns)]
    return equal.columns, list(zip(equal.rows, zip(*columns, strict=True), strict=bool(columns)))


def _rule_column(column: view.Column, index: int, rows: Sequence[view.Row]) -> Sequence[_RuledCell]:
    texts = [row.cells[index] for row in rows]
    estimates = [parse_estimate(make_displayable_line(text)) if column.numeric else Estimate(text) for text in texts]
    room = find_widest_interval(estimates)
    is_heading = index == 0 and not column.numeric
    return [
        _RuledCell(estimate, column.numeric, room, is_heading, _choose_shade(row, index))
        for estimate, row in zip(estimates, rows, strict=True)
    ]


def _choose_shade(row: view.Row, index: int) -> int | None:
    shade = row.shades[index] if index < len(row.shades) else None
    return None if shade is None or not math.isfinite(shade) else round(min(1.0, max(0.0, shade)) * (_SHADES - 1))


def _draw_figure(plot: view.Plot, narrow: bool = False) -> Markup:
    return _draw_once(_Drawn(type(plot), repr(plot), narrow, plot))


@dataclass(frozen=True)
class _Drawn:
    """What is drawn, told from all else by its kind and by what its ``repr`` says: its numbers may stand in a list."""

    kind: type[view.Plot]
    says: str
    narrow: bool
    plot: view.Plot = field(compare=False)


# A run's figures stand on many pages: its report, each page of it that is served, comparisons. To draw them takes the longest.
@lru_cache(maxsize=256)
def _draw_once(drawn: _Drawn) -> Markup:
    from sociable.render.figures import render_figure  # and matplotlib, which takes a moment

    return Markup(render_figure(drawn.plot, drawn.narrow))  # noqa: S704 - escaped where it was written


def _number_voices(transcript: view.Transcript) -> Mapping[str, int]:
    """Returns a number for each speaker, in the order in which they first speak."""
    speakers = dict.fromkeys(line.speaker for line in transcript.lines)
    return {speaker: number % _VOICES + 1 for number, speaker in enumerate(speakers)}
