import io
import unicodedata
from typing import Literal

import pytest
from rich.console import Console

from sociable.core.view import Column, Document, Row, Table
from sociable.render.terminal import print_document, render_table


def printed(thing: Document | Table, width: int, colours: bool = False) -> str:
    file = io.StringIO()
    system: Literal["truecolor"] | None = "truecolor" if colours else None
    console = Console(file=file, width=width, force_terminal=colours, color_system=system)
    if isinstance(thing, Document):
        print_document(thing, console)
    else:
        console.print(render_table(thing))
    return file.getvalue()


def test_values_stand_one_below_the_other_at_the_right(scores: Table) -> None:
    lines = printed(scores, 120).splitlines()
    ours = next(line for line in lines if "a-model" in line)
    theirs = next(line for line in lines if "another-model" in line)
    assert ours.index("0.732") == theirs.index("0.700")
    assert ours.index("1,240") + len("1,240") == theirs.rstrip().rindex("90") + 2


@pytest.mark.parametrize("width", [120, 100, 80, 72, 60, 40])
def test_no_line_is_too_long_and_no_cell_is_lost(scores: Table, width: int) -> None:
    text = printed(scores, width)
    assert max(len(line.rstrip()) for line in text.splitlines()) <= width
    for part in (
        "Scores",
        "a-model-2025-08-07",
        "0.732",
        "another-model-70b",
        "0.700",
        "cover 95 %",
    ):
        assert part in text
    # Beside its value, or below it in fewer characters.
    assert "[0.61, 0.83]" in text or "0.61–0.83" in text


def test_six_columns_stay_a_table_at_eighty_characters() -> None:
    columns = [Column("Model"), Column("Source"), *(Column(f"Score {n}", True) for n in range(4))]
    row = Row(["gpt-5-mini-2025-08-07", "measured here", *["0.732 [0.61, 0.83]"] * 4])
    text = printed(Table("", columns, [row]), 80)
    assert any(line.count("0.732") == 4 for line in text.splitlines())
    assert any(line.count("0.61–0.83") == 4 for line in text.splitlines())


def test_a_document_prints_its_summary_and_the_callouts_of_its_sections(honest: Document) -> None:
    text = printed(honest, 80)
    for part in (
        "Social goals",
        "Two models.",
        "0.732",
        "cover 95 %.",
        "Note ",
        "Good ",
        "Warning ",
        "Problem ",
    ):
        assert part in text
    assert text.count("A callout, ") == 4
    assert "Only in this case" not in text
    assert "Share of episodes with the goal reached" not in text


@pytest.mark.parametrize("width", [160, 80, 30, 5])
def test_hostile_strings_reach_the_terminal_as_text(hostile: Document, width: int) -> None:
    text = printed(hostile, width)
    assert not [letter for letter in text if unicodedata.category(letter) in ("Cc", "Cs") and letter != "\n"]
    assert "\u202e" not in text
    if width >= 80:
        assert "[red]markup[/red]" in text
        assert "‹ESC›[31m" in text


def test_markup_changes_no_style() -> None:
    row = Row(["[red]b[/red] :smile: http://x 12"])
    table = Table("[red]caption[/red]", [Column("[red]a[/red]")], [row], "[red]c")
    assert "\x1b[3" not in printed(table, 80, colours=True).replace("\x1b[1m", "")
