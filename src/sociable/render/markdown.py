"""Writes the tables and sentences of a report as Markdown, for a README or a message; what folds and figures are left out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sociable.core import view
from sociable.render.displayable import LONGEST_TEXT, make_displayable_line


def render_markdown(document: view.Document) -> str:
    """Returns the report: title, summary, and each section that has something to say in words or tables."""
    blocks = [f"# {_escape(document.title)}", _escape(document.subtitle), *_render_table(document.summary)]
    for section in document.sections:
        if written := [text for block in section.blocks for text in _render_block(block)]:
            blocks += [f"## {_escape(section.title)}", *written]
    return "\n\n".join(filter(None, blocks)) + "\n"


def _render_block(block: view.Block) -> Iterator[str]:
    if isinstance(block, view.Table):
        yield f"**{_escape(block.caption)}**"
        yield from _render_table(block)
    elif isinstance(block, view.Callout):
        yield f"> **{view.TONE_WORDS[block.tone]}.** {_escape(block.text)}"
    elif isinstance(block, view.Paragraph):
        yield _escape(block.text)


def _render_table(table: view.Table) -> Iterator[str]:
    lines = [_render_row([column.title for column in table.columns])]
    lines.append(_render_row(["---:" if column.numeric else "---" for column in table.columns], is_ours=True))
    lines += [_render_row(row.cells) for row in table.rows]
    yield "\n".join(lines)
    if table.note:
        yield _escape(table.note)


def _render_row(cells: Sequence[str], *, is_ours: bool = False) -> str:
    return f"| {' | '.join(cells if is_ours else map(_escape, cells))} |"


def _escape(text: str) -> str:
    """The text on one line, with every sign that Markdown or HTML would read as something else made harmless, links too."""
    line = make_displayable_line(text, LONGEST_TEXT)
    return re.sub(r"([\\`*_{}\[\]<>#|!~&@$]|:(?=//)|(?<=www)\.)", r"\\\1", line)
