"""Screenplays in Fountain, a plain text that marks its elements."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from sociable.datasets.plays.draft import Draft
from sociable.datasets.plays.frame import Line, lines_of
from sociable.datasets.plays.headings import heading_of
from sociable.datasets.plays.records import Play
from sociable.datasets.plays.script import EXPECTED, TRANSITION, is_cue, is_scene_heading, is_stage_heading

_KEY = re.compile(r"^(?P<key>[A-Za-z][A-Za-z ]{0,30}):\s*(?P<value>.*)$")
_NOTE, _BONEYARD = re.compile(r"\[\[.*?\]\]", re.S), re.compile(r"/\*.*?\*/", re.S)
_STRESS = re.compile(r"(?<!\\)(\*{1,3}|_)(?=\S)(.+?)(?<=\S)(?<!\\)\1")


def read_fountain(path: Path, text: str) -> Play:
    """A screenplay in Fountain. Raises InputError where nobody speaks in it."""
    text = _BONEYARD.sub(lambda found: "\n" * found[0].count("\n"), text)
    text = _NOTE.sub(lambda found: "\n" * found[0].count("\n"), text)
    lines = lines_of(text)
    draft = Draft(path, "Fountain", is_screenplay=True)
    start = _title_page(lines, draft)
    index = start
    while index < len(lines):
        index = _fountain_element(lines, index, draft)
    return draft.finish(EXPECTED)


def _title_page(lines: Sequence[Line], draft: Draft) -> int:
    """Where the script begins behind the title page; the page itself ends with a blank line."""
    first = next((index for index, line in enumerate(lines) if line.text), 0)
    if first == len(lines) or not (match := _KEY.match(lines[first].text)) or is_scene_heading(lines[first].text):
        return first
    if TRANSITION.match(lines[first].text) or heading_of(lines[first].text):
        return first
    title: list[str] = []
    in_title = False
    for index in range(first, len(lines)):
        if lines[index].is_blank:
            break
        match = _KEY.match(lines[index].text) if lines[index].indent == 0 else None
        if match:
            in_title = match["key"].casefold() == "title"
        if in_title:
            title.append(match["value"] if match else lines[index].text)
    else:
        return first
    draft.title = _without_stress(" ".join(" ".join(title).split()))
    return index


def _fountain_element(lines: Sequence[Line], index: int, draft: Draft) -> int:
    """Takes what begins at ``index``; gives the index after it."""
    line = lines[index]
    text = line.text
    if not text or re.fullmatch(r"={3,}", text):
        return index + 1
    after_blank = index == 0 or lines[index - 1].is_blank
    if text[0] == "#":
        title = text.strip("# ")
        if heading_of(title):
            draft.open_scene(title)
        return index + 1
    if text[0] == "=":
        return index + 1
    if text[0] == "." and text[1:2].isalnum():
        draft.open_scene(text[1:])
        return index + 1
    if is_scene_heading(text) or (after_blank and is_stage_heading(text)):
        draft.open_scene(text.strip("> <"))
        return index + 1
    if text[0] == "!":
        return _action(lines, index, draft)
    if TRANSITION.match(text) or (text[0] == ">" and not text.endswith("<")):
        return index + 1
    if text[0] == ">":
        draft.add("", [_without_stress(text.strip("<> "))], line.number)
        return index + 1
    if (text[0] == "@" or is_cue(text)) and after_blank and index + 1 < len(lines) and not lines[index + 1].is_blank:
        return _fountain_speech(lines, index, draft)
    return _action(lines, index, draft)


def _fountain_speech(lines: Sequence[Line], index: int, draft: Draft) -> int:
    said = []
    first = index
    index += 1
    # A line of two blanks is a blank line within the speech; an empty one ends it.
    while index < len(lines) and (lines[index].text or (lines[index].indent >= 2 and index + 1 < len(lines))):
        said.append(_without_stress(lines[index].text.lstrip("~")))
        index += 1
    draft.add(lines[first].text.lstrip("@"), said, lines[first].number)
    return index


def _action(lines: Sequence[Line], index: int, draft: Draft) -> int:
    first = index
    told: list[str] = []
    while index < len(lines) and lines[index].text and not (told and is_scene_heading(lines[index].text)):
        told.append(_without_stress(lines[index].text.lstrip("!")))
        index += 1
    draft.add("", told, lines[first].number)
    return index


def _without_stress(text: str) -> str:
    for _ in range(3):
        text = _STRESS.sub(r"\2", text)
    return text.replace("\\*", "*").replace("\\_", "_")
