"""Screenplays in Fountain, a plain text that marks its elements."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

from sociable.datasets.plays.draft import Draft
from sociable.datasets.plays.frame import Line, split_lines
from sociable.datasets.plays.headings import find_heading
from sociable.datasets.plays.records import Play
from sociable.datasets.plays.script import EXPECTED, TRANSITION, is_cue, is_scene_heading, is_stage_heading

_KEY = re.compile(r"^(?P<key>[A-Za-z][A-Za-z ]{0,30}):\s*(?P<value>.*)$")
_LEFT_OUT = re.compile(r"/\*.*?\*/|\[\[.*?\]\]", re.S)
_STRESS = re.compile(r"(?<!\\)(\*{1,3}|_)(?=\S)(.+?)(?<=\S)(?<!\\)\1")


def read_fountain(path: Path, text: str) -> Play:
    """A screenplay in Fountain. Raises InputError where nobody speaks in it."""
    lines = split_lines(_LEFT_OUT.sub(lambda found: "\n" * found[0].count("\n"), text))
    draft = Draft(path, "Fountain", is_screenplay=True)
    index = _read_title_page(lines, draft)
    while index < len(lines):
        index = _read_element(lines, index, draft)
    return draft.finish(EXPECTED)


def _read_title_page(lines: Sequence[Line], draft: Draft) -> int:
    """Reads the title and gives the index at which the script begins; the title page ends with a blank line."""
    first = next((index for index, line in enumerate(lines) if line.text), len(lines))
    page = list(takewhile(lambda line: line.text, lines[first:]))
    if not page or not _KEY.match(page[0].text) or first + len(page) == len(lines):
        return first
    if is_scene_heading(page[0].text) or TRANSITION.match(page[0].text) or find_heading(page[0].text):
        return first
    title: list[str] = []
    in_title = False
    for line in page:
        match = _KEY.match(line.text) if line.indent == 0 else None
        in_title = match["key"].casefold() == "title" if match else in_title
        if in_title:
            title.append(match["value"] if match else line.text)
    draft.title = _strip_stress(" ".join(" ".join(title).split()))
    return first + len(page)


def _read_element(lines: Sequence[Line], first: int, draft: Draft) -> int:
    """Reads what begins in a line; gives the index of the line after it."""
    text, number, index = lines[first].text, lines[first].number, first + 1
    after_blank = first == 0 or lines[first - 1].is_blank
    is_name = text[:1] == "@" or (text[:1] not in ("!", ">") and is_cue(text))
    if text[:1] == "#" and find_heading(text.strip("# ")):
        draft.open_scene(text.strip("# "))
    elif is_scene_heading(text) or (text[:1] == "." and text[1:2].isalnum()) or (after_blank and is_stage_heading(text)):
        draft.open_scene(text.strip("> <").removeprefix("."))
    elif not text or text[0] in "#=" or TRANSITION.match(text) or (text[0] == ">" and not text.endswith("<")):
        pass
    elif is_name and after_blank and index < len(lines) and not lines[index].is_blank:
        # A line of two blanks is a blank line within the speech; an empty one ends it.
        while index < len(lines) and (lines[index].text or (lines[index].indent >= 2 and index + 1 < len(lines))):
            index += 1
        draft.add(text.lstrip("@"), [_strip_stress(line.text.lstrip("~")) for line in lines[first + 1 : index]], number)
    else:
        while index < len(lines) and lines[index].text and not is_scene_heading(lines[index].text):
            index += 1
        draft.add("", [_strip_stress(line.text.strip("!<> ")) for line in lines[first:index]], number)
    return index


def _strip_stress(text: str) -> str:
    for _ in range(3):
        text = _STRESS.sub(r"\2", text)
    return text.replace("\\*", "*").replace("\\_", "_")
