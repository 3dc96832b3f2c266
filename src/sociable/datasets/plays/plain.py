"""Plays in plain text, typed or scanned: headings of speeches in whatever habit the play keeps, wrapped or not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from sociable.core.errors import InputError
from sociable.datasets.plays.cast import cast_of
from sociable.datasets.plays.draft import Draft, Part
from sociable.datasets.plays.evening import evened
from sociable.datasets.plays.frame import Line, filled, framed_title, lines_of, without_frame
from sociable.datasets.plays.furniture import without_furniture
from sociable.datasets.plays.headings import Heading, HeadingKind, heading_of
from sociable.datasets.plays.labels import Labels
from sociable.datasets.plays.records import Play
from sociable.datasets.plays.script import is_scene_heading
from sociable.datasets.plays.spelling import full_form

_MOVES = re.compile(
    r"^[_\[(]*(?:enter|re-?enters?|exit|exeunt|manet|manent|alarums?|flourish|sennet|trumpets?|thunder|music|curtain|silence|pause|"
    r"scene\s+(?:changes|closes|shuts)|the\s+(?:curtain|scene)|they\s+(?:fight|kiss|embrace|exit|dance|go))\b",
    re.I,
)
_TALKS = re.compile(
    r"\b(?:I|me|my|mine|myself|you|your|yours|we|us|our|ours|thou|thee|thy|thine|ye|I['’]\w+|you['’]\w+|we['’]\w+)\b"
)
_QUOTED = re.compile(r"[“\"][^”\"]*[”\"]")
_OPENS, _CLOSES = "[(", "])"
_ENDS_WITH_ITALICS = re.compile(r"\[_[^\[\]_]+[.!?]_$", re.M)
_UNWRAPPED_COLUMNS, _UNWRAPPED_SHARE = 100, 0.05
_ITALIC_SENTENCES = re.compile(r"^_[A-Z][^_]+\._$")
_SENTENCE_ENDS = re.compile(r"[.!?…:—)\]_][”’\"')_]*$")
_LONGEST_DIRECTION_LINES = 10
_OFTEN_OPEN, _USUALLY_OPEN = 10, 1.3
"""So many brackets, and so many more than are closed, has a play that leaves those open that end with their line."""
_FEW_SPEECHES, _LINES_PER_SPEECH = 6, 25
_RULE = re.compile(r"^(?:\*\s*){5,}$|^[-=_—]{5,}$")


def read_plain(path: Path, text: str) -> Play:
    """A play in plain text. Raises InputError where no habit of speech headings shows."""
    whole = lines_of(evened(text))
    framed = without_frame(whole)
    title = framed_title(whole) or _title(framed) or path.stem
    lines = without_furniture(framed, title)
    cast, cast_end = cast_of(lines)
    labels = Labels(lines[cast_end:], [member.name for member in cast])
    if not _is_play(lines[cast_end:], labels):
        raise InputError(
            f"{path}: no play in it that can be read: lines 1 to {len(whole)} have no two speeches with a heading alike. "
            "Expected speeches such as 'NORA. Yes.', 'Nora: Yes.' or a name alone on its line with the speech under it; or "
            "give a Fountain (.fountain) or Final Draft (.fdx) file, or a folder of Standard Ebooks XHTML."
        )
    draft = Draft(path, "plain text", title, cast)
    _Reader(lines[cast_end:], labels, draft).read()
    return draft.finish("Expected speeches such as 'NORA. Yes.'.")


def _is_play(lines: Sequence[Line], labels: Labels) -> bool:
    """There are speeches, people speak again, and it is not that a few lines of a long text look like headings."""
    counts = Counter(full_form(found.label) for found in labels.found.values())
    again = sum(count for count in counts.values() if count > 1)
    first = min(labels.found, default=0)
    lines_from_there = sum(bool(line.text) for line in lines[first:])
    is_short = len(labels.found) < _FEW_SPEECHES
    is_repeated = is_short or again * 2 >= len(labels.found)
    return len(labels.found) >= 2 and is_repeated and len(labels.found) * _LINES_PER_SPEECH >= lines_from_there


def _title(lines: Sequence[Line]) -> str:
    place = next((place for place, line in enumerate(lines) if any(map(str.isalpha, line.text))), len(lines))
    first, under = ([line.text for line in lines[place : place + 2]] + ["", ""])[:2]
    if first.isupper() and first.count(".") == 1 and not under:
        # Title pages of old editions end every line with a stop.
        first = first.rstrip(".")
    is_title = first and heading_of(first) is None and len(first) <= 90 and not first.endswith((".", ",", ";"))
    return " ".join(first.strip("_*# ").split()) if is_title else ""


class _Reader:
    """Goes through the lines once and parts them into scenes, speeches and directions."""

    def __init__(self, lines: Sequence[Line], labels: Labels, draft: Draft) -> None:
        self._lines, self._labels, self._draft = lines, labels, draft
        full = [line for line in lines if line.text]
        self._unwrapped = sum(len(line.text) > _UNWRAPPED_COLUMNS for line in full) > _UNWRAPPED_SHARE * len(full)
        self._is_alone = bool(labels.style and labels.style.is_alone)
        self._subjects = {
            word for found in labels.found.values() for word in re.findall(r"\w+", found.label.title()) if len(word) > 2
        }
        self._subjects |= {word for member in draft.cast for word in re.findall(r"\w+", member.name) if len(word) > 2}
        self._text_indent = self._usual_text_indent()
        self._brackets_directions = self._sets_directions_in_brackets()
        text = "\n".join(line.text for line in full)
        self._leaves_open = text.count("[") >= _OFTEN_OPEN and text.count("[") > _USUALLY_OPEN * text.count("]")
        self._open: Part | None = None
        self._ended = False

    def _usual_text_indent(self) -> int:
        """Where speeches stand under headings alone on their lines."""
        under = Counter(
            self._lines[index + 1].indent
            for index in self._labels.found
            if index + 1 < len(self._lines) and not self._lines[index + 1].is_blank
        )
        return under.most_common(1)[0][0] if under else 0

    def _sets_directions_in_brackets(self) -> bool:
        """Whether paragraphs between speeches that are directions are marked as such, so that a bare one is speech."""
        marked = bare = 0
        for index, line in enumerate(self._lines):
            if line.text and index and self._lines[index - 1].is_blank and index not in self._labels.found:
                is_marked = line.text.startswith(("[", "(", "_")) or _MOVES.match(line.text)
                marked, bare = marked + bool(is_marked), bare + (not is_marked)
        return marked * 2 >= bare

    def _paragraph(self, index: int) -> str:
        """The text from a line to the next blank line or speech."""
        texts: list[str] = []
        while index < len(self._lines) and self._lines[index].text and (not texts or index not in self._labels.found):
            texts.append(self._lines[index].text)
            index += 1
            if self._unwrapped:
                break
        return " ".join(texts)

    def read(self) -> None:
        for index, line, after_blank in filled(self._lines):
            self._take(index, line, after_blank)

    def _take(self, index: int, line: Line, after_blank: bool) -> None:
        if index in self._labels.found and (after_blank or not (self._is_within_direction() or self._ends_a_direction(index))):
            found = self._labels.found[index]
            self._ended = False
            self._begin(line, found.label, found.rest)
            return
        heading = heading_of(line.text)
        if heading is not None and self._is_heading(heading, line, after_blank):
            self._turn(heading, line)
            return
        if is_scene_heading(line.text):
            self._open, self._ended = None, False
            self._draft.open_scene(line.text)
            return
        if _RULE.match(line.text):
            self._open = None
            # What follows a rule without any heading is an afterword.
            self._ended = after_blank and line.text.count("*") >= 5 and "* *" not in line.text
            return
        if not self._ended:
            self._add(index, line, after_blank)

    def _is_within_direction(self) -> bool:
        """A name with a stop here belongs to a direction, unless its bracket was never closed at all."""
        if self._open is None or not _is_unclosed(self._open) or len(self._open.lines) >= _LONGEST_DIRECTION_LINES:
            return False
        return not self._leaves_open and not _SENTENCE_ENDS.search(self._open.text)

    def _ends_a_direction(self, index: int) -> bool:
        """Whether a bracket that the speech opened is closed behind this line's name: "(_Enter JACK and" over "ALGERNON._)"."""
        if self._open is None:
            return False
        said = self._open.text
        for line in self._lines[index : index + _LONGEST_DIRECTION_LINES]:
            if line.is_blank:
                return False
            if bracket := re.search(r"[()\[\]]", line.text):
                opens = {")": "(", "]": "["}.get(bracket[0])
                return opens is not None and said.count(opens) > said.count(bracket[0])
        return False

    def _is_heading(self, heading: Heading, line: Line, after_blank: bool) -> bool:
        """Not what somebody says, as "Characters" in the middle of a speech."""
        return heading.kind is not HeadingKind.CAST and (heading.kind.is_division or after_blank or line.text.isupper())

    def _turn(self, heading: Heading, line: Line) -> None:
        self._open = None
        if heading.kind.is_division:
            self._draft.open_scene(line.text)
            self._ended = False
        elif heading.kind is HeadingKind.SETTING and heading.rest:
            self._begin(line, "", line.text)
        elif heading.kind is HeadingKind.ENDING:
            self._ended = True

    def _begin(self, line: Line, label: str, text: str) -> None:
        self._open = self._draft.add(label, [text], line.number)

    def _add(self, index: int, line: Line, after_blank: bool) -> None:
        """An unheaded line: more of what is open, a direction, or the speech before it going on."""
        opened, speech = self._open, self._last_speech()
        is_new = after_blank or self._unwrapped or opened is None
        if opened is not None and ((_is_unclosed(opened) and not after_blank) or (opened.label and not opened.text)):
            opened.lines.append(line.text)
        elif self._is_direction_line(line, is_new):
            self._begin(line, "", line.text)
        elif opened is None or speech is None or opened.label:
            if opened is None or (is_new and (speech is None or self._reads_as_direction(index, line))):
                self._begin(line, "", line.text)
            else:
                opened.lines.append(line.text)
        elif is_new or opened.text[:1] in _OPENS:
            if self._unwrapped or self._reads_as_direction(index, line):
                self._begin(line, "", line.text)
            else:
                self._resume(line, opened, speech)
        elif opened.text.rstrip("_ ").endswith((".", "]")) and _MOVES.match(opened.text):
            self._resume(line, opened, speech)
        else:
            opened.lines.append(line.text)

    def _resume(self, line: Line, direction: Part, speech: Part) -> None:
        """The speech goes on; the directions between become part of it."""
        entries = self._draft.scenes[-1].parts
        if entries[-1] is not direction or speech not in entries:
            self._begin(line, "", line.text)
            return
        first = entries.index(speech) + 1
        for between in entries[first:]:
            inner = between.text.strip("[]()_ ")
            speech.lines.append(f"[{inner}]")
        del entries[first:]
        speech.lines.append(line.text)
        self._open = speech

    def _last_speech(self) -> Part | None:
        return next((entry for entry in reversed(self._draft.scenes[-1].parts) if entry.label), None)

    def _is_direction_line(self, line: Line, is_new: bool) -> bool:
        text = line.text
        if text.startswith(("[", "_[")):
            return is_new or text.endswith(("]", "]_")) or line.indent >= self._text_indent + 8
        if is_new and text[0] == "(":
            return self._wraps(text)
        if is_new and text[0] == "_" and text.rstrip(".").endswith("_") and text.count("_") == 2 and len(text) > 4:
            return True
        is_set_apart = is_new or text.startswith(("Enter", "Exit", "Exeunt", "Re-enter"))
        return is_set_apart and bool(_MOVES.match(text)) and not _TALKS.search(text)

    def _wraps(self, text: str) -> bool:
        """Parentheses hold all of it, or are still open at its end."""
        depth = 0
        for position, sign in enumerate(text):
            depth += (sign == "(") - (sign == ")")
            if depth == 0:
                return not text[position + 1 :].strip(" ._")
        return True

    def _reads_as_direction(self, index: int, line: Line) -> bool:
        """Whether an unheaded paragraph behind a speech tells what happens rather than goes on speaking."""
        if _MOVES.match(line.text):
            return True
        printed = self._paragraph(index)
        text = printed.strip("_ ")
        if _TALKS.search(_QUOTED.sub("", text)):
            return False
        if _ITALIC_SENTENCES.match(printed):
            return True
        if text.endswith(("!", "?", ",", ";", "—", "--")):
            return False
        if not self._brackets_directions and not self._is_alone:
            return len(text.split()) > 2
        first = re.match(r"(?:(?:The|A|An)\s+)?([\w’'.]+)(?:\s+([\w’']+))?", text)
        if first and first[1].rstrip(".").title() in self._subjects and first[2] and first[2].islower() and first[2] != "and":
            return not self._brackets_directions or len(text) < 200
        return bool(re.match(r"(?:They|He|She|Both|All|Everyone|Everybody)\s[a-z]+s?\b", text)) and not self._brackets_directions


def _is_unclosed(part: Part) -> bool:
    """A bracket was opened that is not closed yet; "[_Exit._" ends with its italics."""
    text = _ENDS_WITH_ITALICS.sub("", part.text)
    return text.count("[") > text.count("]") or (text.startswith("(") and text.count("(") > text.count(")"))
