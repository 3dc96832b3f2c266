"""The people of a play: whom its list of persons names, or where it has none, its entrances and exits."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

from sociable.datasets.plays.frame import Line
from sociable.datasets.plays.headings import HeadingKind, find_heading
from sociable.datasets.plays.labels import Labels
from sociable.datasets.plays.records import CastMember
from sociable.datasets.plays.spelling import can_stand_for, to_full_form

_SEVERAL = re.compile(
    r"(?P<names>(?:{0},\s*)+{0},?\s+and\s+{0})(?:,\s*(?P<rest>.*))?$".format(r"[A-Z][\w’'.-]+(?: [A-Z][\w’'.-]+){0,2}")
)
_CODE = r"[A-Z0-9][\w.’'#]{0,9}(?: [A-Z0-9][\w.’'#]{0,9})?"
_WITH_SHORT = (
    re.compile(rf"(?P<short>{_CODE})\s*(?:\s{{2}}|[:=–—]|--|\s-\s)\s*(?P<rest>[A-Z].*)$"),
    re.compile(rf"(?P<rest>[^,(\[]+?)\s*[\[(](?P<short>{_CODE})[\])]"),
)
_FOOTNOTE_MARK = re.compile(r"(?<=\w)\*{1,3}(?=\W|$)(?!\S*\*)")
_FOOTNOTE = re.compile(r"\*{1,3}[^*\s][^*]*")
""" "JUDGE** BRACK." and, below, "**In the original …"."""
_CALLED = re.compile(r"(?P<front>[A-Z][\w.’' ]*?) [(“\"](?P<short>[A-Z][\w.’']+)[)”\"] (?P<back>[A-Z]\w+.*)$")
""" "John (Jack) Worthing"."""
_ENTRY = re.compile(
    r"(?P<name>[^,:(—–]+?)\s*(?:,|:|\(|—|–|--|\s-\s|\.{2,}|(?<=\w)\sto\s(?=[A-Z])|(?<=\w)\s(?=An?\s[a-z])|$)\s*(?P<rest>.*)$"
)
_MOVES = re.compile(r"\b(?:enters?|exit|exeunt|manet|manent)\b", re.I)
_NAMED = re.compile(r"(?<!\bof )(?<!\bfrom )\b(?:[A-Z][a-zà-ÿ]{2,}|[A-Z]{3,})\b")
_NO_PERSONS = re.compile(r"^(?:re-?)?(?:enters?|exit|exeunt|manet|manent|the|an?|all|both|with|and|at|to)$", re.I)
_BEHIND_CAST = re.compile(
    r"^[\[(_]*(?:enter\b|(?:the\s+)?(?:scenes?|time|place|action|setting|period)\b[^,]*?(?:of|:|\.|—|is|takes))", re.I
)
_CAST_WITHIN_LINES, _CAST_WITHIN_PARTS = 60, 4
_MOST_CAST = 60
_LONGEST_ENTRY, _MOST_WORDS = 300, 8


def read_members(entry: str) -> tuple[CastMember, ...]:
    """The people one entry of a dramatis personae names: "Montague and Capulet, heads of houses" names two."""
    if _FOOTNOTE.fullmatch(entry.strip()):
        return ()
    text = re.sub(r"\t+", " – ", re.sub(r"[{}_|*]+", " ", _FOOTNOTE_MARK.sub("", entry)).strip(" .;"))
    text = re.sub(r"^(?:[-–—•·#]|\d{1,2}[.)])\s+", "", text)
    for pattern in _WITH_SHORT:
        match = pattern.match(text)
        named = read_members(match["rest"] + text[match.end() :]) if match else ()
        if match and named and can_stand_for(match["short"], named[0].name):
            return named[0].model_copy(update={"short": match["short"]}), *named[1:]
    if match := _CALLED.match(text):
        named = read_members(f"{match['front']} {match['back']}")
        return named[0].model_copy(update={"short": match["short"]}), *named[1:]
    # Two columns: a name and, a gap behind it, who that is.
    text = " ".join(re.sub(r"(?<=\w)\s{2,}(?=\w)", " – ", text, count=1).split())
    members: list[CastMember] = []
    for part in re.split(r";\s+", text):
        several, match = _SEVERAL.match(part), _ENTRY.match(part)
        if match is None or not any(map(str.isalpha, match["name"])):
            continue
        names, rest = re.split(r"\s+(?:and|AND)\s+|\s*&\s*", match["name"]), match["rest"]
        if several is not None:
            names, rest = re.split(r",\s*(?:and\s+)?|\s+and\s+", several["names"]), several["rest"] or ""
        elif not all(name[:1].isupper() for name in names):
            names = [match["name"]]
        members += [CastMember(name=to_full_form(name), description=rest.strip(" .)")) for name in names]
    return tuple(members)


def find_cast(lines: Sequence[Line]) -> tuple[tuple[CastMember, ...], int]:
    """The dramatis personae, and the index of the line after them; nobody and 0 where there is no such list."""
    # Further in the word is somebody's speech.
    front = lines[: max(_CAST_WITHIN_LINES, len(lines) // _CAST_WITHIN_PARTS)]
    begin = next((i for i, line in enumerate(front) if (h := find_heading(line.text)) and h.kind is HeadingKind.CAST), None)
    if begin is None:
        return (), 0
    entries, index = _find_entries(lines, begin + 1, len(lines))
    if len(entries) > _MOST_CAST:
        # The play begins without any heading behind the list.
        entries, index = _find_entries(lines, begin + 1, begin + 1 + _find_first_speech(lines[begin + 1 :]))
    members = (member for entry in entries if len(entry) <= _LONGEST_ENTRY for member in read_members(entry))
    return tuple({member.name: member for member in members if len(member.name.split()) <= _MOST_WORDS}.values()), index


def _find_entries(lines: Sequence[Line], begin: int, end: int) -> tuple[list[str], int]:
    """The entries of the list, each on one line, and the index of the line after them."""
    entries: list[str] = []
    indent = 1_000
    for index in range(begin, end):
        line = lines[index]
        heading = find_heading(line.text)
        if (heading is not None and heading.kind is not HeadingKind.CAST) or _BEHIND_CAST.match(line.text):
            return entries, index
        if line.text:
            indent = min(indent, line.indent)
            if entries and lines[index - 1].text and (line.indent > indent + 1 or line.text[:1].islower()):
                entries[-1] += " " + line.text
            else:
                entries.append(line.text)
    return entries, end


def _find_first_speech(lines: Sequence[Line]) -> int:
    """The first heading that has words behind or under it rather than another name, of somebody who speaks again."""
    found = Labels(lines).found
    speakers = Counter(to_full_form(heading.label) for heading in found.values())
    for index, below in pairwise(index for index, line in enumerate(lines) if line.text):
        heading = found.get(index)
        if heading is None or lines[index].text.startswith(f"{heading.label},"):
            continue
        if speakers[to_full_form(heading.label)] > 1 and (heading.rest or below not in found):
            return index
    return len(lines)


def find_cast_on_stage(directions: Iterable[str]) -> tuple[CastMember, ...]:
    """The cast of a play without a list of persons: the names in its entrances and exits, each in its commonest spelling."""
    named = (word for text in directions if _MOVES.search(text) for word in _NAMED.findall(text))
    common: list[str] = []
    for word, _ in Counter(word for word in named if not _NO_PERSONS.match(word)).most_common():
        at = next((at for at, other in enumerate(common) if _is_spelling(word.casefold(), other.casefold())), None)
        if at is None:
            common.append(word)
        elif len(word) > len(common[at]) + 1:
            common[at] = word
    return tuple(CastMember(name=to_full_form(word)) for word in dict.fromkeys(common))


def _is_spelling(word: str, other: str) -> bool:
    """ "Benedick" and "Benedicke", "Ben" and "Benedicke": all but the ending is alike, or one shortens the other."""
    short, long = sorted((word, other), key=len)
    return long.startswith(short) or (len(short) > 5 and long.startswith(short[:-2]))
