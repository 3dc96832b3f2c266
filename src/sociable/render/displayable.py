"""Makes any text safe to look at: nothing in it is invisible, reorders its neighbours or drives the terminal.

This is not escaping: whoever writes HTML, SVG or terminal styles escapes as well.
"""

from __future__ import annotations

import re

LONGEST_TEXT = 50_000
"""Characters of one text that are shown; enough for any honest turn or prompt, and a page still scrolls."""

LONGEST_LINE = 300
"""Characters shown of what has to fit into a line: a title, a name, a table's cell."""

_CONTROL = "\x00-\x08\x0b-\x1f\x7f-\x9f"  # all but tab and newline
_LINE_SEPARATORS = "\u2028\u2029"
_BIDIRECTIONAL = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
# Not among them: the joiners U+200C and U+200D, which words and faces are written with.
_INVISIBLE = "\u00ad\u180e\u200b\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb"
_SURROGATES = "\ud800-\udfff"
_SMUGGLING = "\U000e0000-\U000e0fff"  # tags and variation selectors in which whole messages have been hidden
_NOT_CHARACTERS = "\ufdd0-\ufdef\ufffe\uffff" + "".join(
    chr(plane + last) for plane in range(0x10000, 0x110000, 0x10000) for last in (0xFFFE, 0xFFFF)
)
_HARMFUL = re.compile(
    f"[{_CONTROL}{_LINE_SEPARATORS}{_BIDIRECTIONAL}"  # what acts on the terminal or on its neighbours
    f"{_INVISIBLE}{_SURROGATES}{_SMUGGLING}{_NOT_CHARACTERS}]"
)

_COMBINING = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
_STACKED = re.compile(f"([{_COMBINING}]{{4}})([{_COMBINING}]+)")

_WELL_KNOWN = {"\0": "NUL", "\a": "BEL", "\b": "BS", "\r": "CR", "\x1b": "ESC"}


def make_displayable(text: str, longest: int = LONGEST_TEXT) -> str:
    """Returns the text with line breaks and tabs kept, all that is harmful made visible, and cut if too long."""
    kept, left_out = text[:longest], max(0, len(text) - longest)
    named = _HARMFUL.sub(lambda found: _name(found[0]), kept.replace("\r\n", "\n"))
    # Accents stacked without end would be drawn over the lines above and below.
    shown = _STACKED.sub(lambda found: f"{found[1]}‹{len(found[2])} more accents›", named)
    return f"{shown} […\N{NO-BREAK SPACE}{left_out:,} more characters left out]" if left_out else shown


def make_displayable_line(text: str, longest: int = LONGEST_LINE) -> str:
    """Returns the same on one line: white space of any kind and length becomes a single space."""
    return " ".join(make_displayable(text, longest).split())


def _name(character: str) -> str:
    """Returns ``‹ESC›`` for a character with a well-known name, ``‹U+202E›`` for the rest: every font has these letters."""
    return f"‹{_WELL_KNOWN.get(character) or f'U+{ord(character):04X}'}›"
