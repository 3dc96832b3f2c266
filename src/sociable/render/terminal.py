"""Prints what matters of a report in a terminal: the summary table and every callout.

Foreign text goes in as ``Text``, never as a string, so that rich reads no markup in it, and only after
``make_displayable_line`` has taken everything from it that could move the cursor.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich import box
from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, Group, JustifyMethod, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from sociable.core import view
from sociable.render.displayable import make_displayable, make_displayable_line
from sociable.render.estimates import Estimate, fill_rows, find_widest_interval, parse_estimate

_LONGEST_CELL, _LONGEST_SENTENCE = 120, 2000
"""Characters shown of a cell, and of a caption, a note or a callout."""

_WIDTH_OF_TEXT = 28
"""The width at which the texts of a column are broken."""

_BETWEEN_COLUMNS = 2

_TONE_STYLES: Mapping[view.Tone, str] = {
    view.Tone.NEUTRAL: "bold",
    view.Tone.GOOD: "bold green",
    view.Tone.WARNING: "bold yellow",
    view.Tone.BAD: "bold red",
}


def print_document(document: view.Document, console: Console) -> None:
    """Prints title, summary table and the callouts of all sections."""
    console.print()
    console.print(Text(make_displayable_line(document.title), style="bold"))
    if document.subtitle:
        console.print(Text(make_displayable_line(document.subtitle)))
    console.print()
    console.print(render_table(document.summary))
    for section in document.sections:
        print_blocks([block for block in section.blocks if isinstance(block, view.Callout)], console)


def print_blocks(blocks: Sequence[view.Block], console: Console) -> None:
    """Prints view blocks one below the other, cases and transcripts in full; figures as the numbers they show."""
    for block in blocks:
        console.print()
        match block:
            case view.Case():
                console.rule(Text(make_displayable_line(block.title)))
                console.print(Text(" · ".join(make_displayable_line(tag.text) for tag in block.tags), style="italic"))
                print_blocks(block.blocks, console)
            case view.Transcript():
                console.print(Text(make_displayable_line(block.title), style="bold"))
                for line in block.lines:
                    console.print(_render_line(line))
            case view.Quotation():
                console.print(Text(make_displayable_line(block.label), style=_TONE_STYLES[block.tone]))
                console.print(Padding(Text(make_displayable(block.text)), (0, 0, 0, 2)))
            case view.Table():
                console.print(render_table(block))
            case view.Callout():
                console.print(_render_callout(block))
            case view.Paragraph():
                console.print(Text(make_displayable(block.text)))
            case view.Plot():
                console.print(render_table(block.make_number_table()))
            case _:
                raise TypeError(f"Cannot print a {type(block).__name__}: print_blocks has no rule for it.")


def render_table(table: view.Table) -> RenderableType:
    """Returns the table with caption and note, in the best layout for the width it is printed at."""
    return _TableInTheTerminal(fill_rows(table))


def _render_line(line: view.Line) -> RenderableType:
    heading = f"{line.speaker} → {line.addressee}: " if line.addressee else f"{line.speaker}: "
    said = Text(f"{make_displayable_line(heading)} ", style="bold")
    return Padding(said.append(Text(make_displayable(line.text), style="not bold")), (0, 0, 0, 2))


def _render_callout(callout: view.Callout) -> RenderableType:
    """Puts the word for the tone in a column of its own: colour alone would be lost in a log file."""
    grid = RichTable.grid(padding=(0, 1))
    grid.add_column(width=max(map(len, view.TONE_WORDS.values())), no_wrap=True)
    grid.add_column()
    tone = Text(view.TONE_WORDS[callout.tone], style=_TONE_STYLES[callout.tone])
    grid.add_row(tone, _make_text(callout.text, _LONGEST_SENTENCE))
    return grid


def _make_text(text: str, longest: int = _LONGEST_CELL, style: str = "") -> Text:
    return Text(make_displayable_line(text, longest), style=style)


@dataclass(frozen=True, slots=True)
class _TableInTheTerminal:
    """Chooses its layout when the width is known, from the most legible to the narrowest."""

    table: view.Table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.table.caption:
            yield _make_text(self.table.caption, _LONGEST_SENTENCE)
            yield Text()
        yield self._render_body(options.max_width)
        if self.table.note:
            yield Text()
            yield _make_text(self.table.note, _LONGEST_SENTENCE)

    def _render_body(self, width: int) -> RenderableType:
        on_one_line = _make_columns(self.table)
        on_two_lines = [_put_on_two_lines(column) for column in on_one_line]
        for columns in (on_one_line, on_two_lines, _break_names(on_two_lines), _join_texts(on_two_lines)):
            if sum(column.width + _BETWEEN_COLUMNS for column in columns) - _BETWEEN_COLUMNS <= width:
                return _render_columns(self.table, columns)
        return Group(*(part for number in range(len(self.table.rows)) for part in _render_row_as_list(self.table, number)))


@dataclass(frozen=True, slots=True)
class _Column:
    """A column as it is set; heading and cells may have several lines."""

    heading: str
    cells: Sequence[str]
    numeric: bool

    @property
    def width(self) -> int:
        """The width it needs to be legible: figures are never broken, headings only between words."""
        longest_word = max(map(cell_len, self.heading.split()), default=0)
        longest_line = max((cell_len(line) for cell in self.cells for line in cell.split("\n")), default=0)
        return max(longest_word, longest_line if self.numeric else min(longest_line, _WIDTH_OF_TEXT))


def _make_columns(table: view.Table) -> Sequence[_Column]:
    columns = []
    for index, column in enumerate(table.columns):
        cells: Sequence[str] = [make_displayable_line(row.cells[index], _LONGEST_CELL) for row in table.rows]
        if column.numeric:
            cells = _line_up([parse_estimate(cell) for cell in cells])
        columns.append(_Column(make_displayable_line(column.title), cells, column.numeric))
    return columns


def _line_up(cells: Sequence[Estimate]) -> Sequence[str]:
    """Puts blanks where others have an interval, so that the values stand one below the other."""
    room = cell_len(find_widest_interval(cells))
    return [f"{cell.value} {set_cell_size(cell.interval, room)}" if room else cell.value for cell in cells]


def _put_on_two_lines(column: _Column) -> _Column:
    """Puts every interval below its value, without brackets: a column of rates then fits into nine characters."""
    if not column.numeric:
        return column
    estimates = [parse_estimate(cell) for cell in column.cells]
    cells = [f"{cell.value}\n{_drop_brackets(cell.interval)}" if cell.interval else cell.value for cell in estimates]
    return _Column(column.heading, cells, numeric=True)


def _drop_brackets(interval: str) -> str:
    return interval if "-" in interval else interval.strip("[]()").replace(", ", "–")


def _break_names(columns: Sequence[_Column]) -> Sequence[_Column]:
    """Puts a model's name below its provider: where figures take two lines anyway, this costs nothing."""
    return [
        column if column.numeric else _Column(column.heading, [cell.replace("/", "/\n", 1) for cell in column.cells], False)
        for column in columns
    ]


def _join_texts(columns: Sequence[_Column]) -> Sequence[_Column]:
    """Puts all texts into the first column, a model above its source: where figures take two lines anyway, this costs nothing."""
    texts = [column for column in columns if not column.numeric]
    if len(texts) < 2:
        return columns
    heading = "\n".join(column.heading for column in texts)
    cells = ["\n".join(cells) for cells in zip(*(column.cells for column in texts), strict=True)]
    return [_Column(heading, cells, numeric=False), *(column for column in columns if column.numeric)]


def _render_columns(table: view.Table, columns: Sequence[_Column]) -> RenderableType:
    several_lines = any("\n" in cell for column in columns for cell in column.cells)
    drawn = RichTable(
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, _BETWEEN_COLUMNS - 1, 0, 0),  # and the box's own blank
        leading=1 if several_lines else 0,
        header_style="bold",
    )
    for column in columns:
        side: JustifyMethod = "right" if column.numeric else "left"
        heading = Text(column.heading, justify=side)
        drawn.add_column(heading, width=column.width, justify=side, overflow="fold")
    for number, row in enumerate(table.rows):
        drawn.add_row(*(_render_cell(column.cells[number], column) for column in columns), style="bold" if row.emphasis else "")
    return drawn


def _render_cell(text: str, column: _Column) -> Text:
    """Figures come with their blanks: rich, asked to align right, would drop those that end a line."""
    if not column.numeric:
        return Text(text)
    lines = [" " * (column.width - cell_len(line)) + line for line in text.split("\n")]
    return Text("\n".join(lines), justify="left")


def _render_row_as_list(table: view.Table, number: int) -> Iterator[RenderableType]:
    """Renders a row of a table that is wider than the terminal: a small list under the row's first cell."""
    row = table.rows[number]
    style = "bold" if row.emphasis else ""
    entries = RichTable.grid(padding=(0, 2, 0, 0))
    entries.add_column(overflow="fold")
    entries.add_column(overflow="fold")
    for column, cell in zip(table.columns[1:], row.cells[1:], strict=True):
        entries.add_row(_make_text(column.title), _make_text(cell, style=style))
    if number:
        yield Text()
    yield _make_text(row.cells[0], style=style)
    yield Padding(entries, (0, 0, 0, 2))
