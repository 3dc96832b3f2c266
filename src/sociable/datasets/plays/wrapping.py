"""Words broken over two lines by a hyphen."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

_BROKEN = re.compile(r"(?<![^\W\d_])(?P<begin>[^\W\d_]{2,})-\n(?P<rest>[^\W\d_]+)")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


def mender_of(texts: Iterable[str]) -> Callable[[str], str]:
    """Puts words that were broken by a line's end together again.

    "hand-" and "some" are one word where it stands whole elsewhere in ``texts``, and "narrow-mouthed" keeps its hyphen where it
    does so elsewhere. Anything else stays as printed, for the hyphen may be a dash.
    """
    words = {word.casefold() for text in texts for word in _WORD.findall(text)}

    def whole(broken: re.Match[str]) -> str:
        for word in (broken["begin"] + broken["rest"], f"{broken['begin']}-{broken['rest']}"):
            if word.casefold() in words:
                return word
        return broken[0]

    return lambda text: _BROKEN.sub(whole, text)
