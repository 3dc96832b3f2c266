"""Lines of screenplays in text: how names over speeches, scene headings and transitions look."""

from __future__ import annotations

import re

from sociable.datasets.plays.headings import find_heading

EXPECTED = (
    "Expected a name in capitals on a line of its own with the speech under it; for a stage play in another layout give the file "
    "the ending .txt."
)
TRANSITION = re.compile(r"^(?:[A-Z ]+ TO|FADE (?:IN|OUT|TO [A-Z ]+)|THE END|END CREDITS?|DISSOLVE|BLACK)[:.]?$")
CONTINUED = re.compile(r"^\(?\s*(?:CONTINUED|CONT['’]?D)\s*:?\s*(?:\(\d+\))?\s*\)?$", re.I)
_SCENE = re.compile(r"^(?:\d{1,4}[A-Z]?\.?\s+)?(?:INT|EXT|EST|I/E|E/I)(?:\b|\.)[./ ]", re.I)
_EXTENSION = re.compile(r"\s*\([^()]*(?:\)|$)\s*")
_SCANNED_STOP = re.compile(r"(?<=[^\W\d_]{4})[.,]+$")
_CUE = re.compile(r"^[^a-zß-öø-ÿ]*[A-ZÀ-Þ][^a-zß-öø-ÿ]*$")
_LONGEST_CUE = 45


def clean_name(cue: str) -> str:
    """The name alone, without where the voice comes from and whether the speech goes on."""
    return _SCANNED_STOP.sub("", _EXTENSION.sub(" ", cue).strip(" ^@:-'`\"*"))


def is_scene_heading(text: str) -> bool:
    return bool(_SCENE.match(text)) and text[:40].upper() == text[:40] and len(text) < 120


def is_stage_heading(text: str) -> bool:
    found = find_heading(text.strip("> <"))
    return found is not None and found.kind.is_division


def is_cue(text: str) -> bool:
    """Whether the line can be somebody's name over a speech."""
    name = find_name(text)
    is_name = bool(name and _CUE.match(name)) and len(name) <= _LONGEST_CUE and (len(name) > 1 or name.isascii())
    return is_name and name[-1] not in "!?" and not name.endswith("TO:") and not CONTINUED.match(text)


def find_name(text: str) -> str:
    return _EXTENSION.sub(" ", text).strip(" ^")


def is_marked(text: str) -> bool:
    """Whether the line is a heading or a transition."""
    return find_heading(text) is not None or is_scene_heading(text) or bool(TRANSITION.match(text))
