import pytest

from sociable.core.view import Column, Row, Table
from sociable.render.estimates import Estimate, fill_rows, find_widest_interval, parse_estimate


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("0.732 [0.61, 0.83]", Estimate("0.732", "[0.61, 0.83]")),
        ("−0.5 ± 0.1", Estimate("−0.5", "± 0.1")),
        ("12 (3)", Estimate("12", "(3)")),
        ("0.7", Estimate("0.7")),
        ("12 %", Estimate("12 %")),
        ("[0.1, 0.2]", Estimate("[0.1, 0.2]")),
        ("", Estimate("")),
    ],
)
def test_an_estimate_is_taken_apart_and_loses_nothing(text: str, parts: Estimate) -> None:
    assert parse_estimate(text) == parts
    assert parts.text == text


def test_the_widest_interval_of_a_column() -> None:
    assert find_widest_interval([Estimate("1", "[0, 2]"), Estimate("1"), Estimate("1", "[−1, 2]")]) == "[−1, 2]"
    assert find_widest_interval([]) == ""


def test_rows_of_the_wrong_length_keep_every_cell() -> None:
    table = fill_rows(Table("", [Column("a"), Column("b")], [Row(["1"]), Row(["1", "2", "3"], True)]))
    assert [column.title for column in table.columns] == ["a", "b", ""]
    assert [list(row.cells) for row in table.rows] == [["1", "", ""], ["1", "2", "3"]]
    assert table.rows[1].emphasis
