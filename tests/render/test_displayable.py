import unicodedata

import pytest
from hypothesis import given, strategies

from sociable.render.displayable import LONGEST_TEXT, make_displayable, make_displayable_line

REORDERING = ("RLO", "LRO", "RLE", "LRE", "PDF", "RLI", "LRI", "FSI", "PDI")
ANYTHING = strategies.text(strategies.characters(exclude_categories=()))


@given(ANYTHING)
def test_nothing_invisible_or_commanding_is_left(text: str) -> None:
    shown = make_displayable(text)
    assert not [c for c in shown if unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t"]
    assert not [c for c in shown if unicodedata.bidirectional(c) in REORDERING]
    shown.encode("utf-8")


@given(ANYTHING)
def test_what_is_displayable_stays_as_it_is(text: str) -> None:
    assert make_displayable(make_displayable(text)) == make_displayable(text)
    assert len(make_displayable_line(text).splitlines()) <= 1


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31m", "‹ESC›[31m"),
        ("a\x00b\x7f", "a‹NUL›b‹U+007F›"),
        ("\x9b", "‹U+009B›"),
        ("\u202egnp", "‹U+202E›gnp"),
        ("\ud800", "‹U+D800›"),
        ("a\r\nb\rc", "a\nb‹CR›c"),
        ("a" + "\u0301" * 10, "a" + "\u0301" * 4 + "‹6 more accents›"),
        ("🙂👩\u200d👧 é 日本 مرحبا", "🙂👩\u200d👧 é 日本 مرحبا"),
    ],
)
def test_examples(text: str, shown: str) -> None:
    assert make_displayable(text) == shown


def test_a_long_text_is_cut_and_says_how_much() -> None:
    shown = make_displayable("x" * 2_000_000)
    assert len(shown) < LONGEST_TEXT + 100
    assert f"{2_000_000 - LONGEST_TEXT:,} more characters left out" in shown
    assert make_displayable("x" * LONGEST_TEXT) == "x" * LONGEST_TEXT
