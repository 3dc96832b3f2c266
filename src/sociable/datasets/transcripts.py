"""Conversations of several people: who said what, to whom where that is known, and otherwise inferred and marked so.

Read are JSON Lines of sessions with turns, transcripts as plain text (``Speaker: words``), and chats in the reply-linked
layout of IRC logs: ``NAME.ascii.txt`` with a message a line, beside ``NAME.annotation.txt`` with pairs of line numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from sociable.core.data_files import RawRecord, read_records, validate_record
from sociable.core.errors import DataError, InputError
from sociable.core.names import find_people, find_person, find_words, has_group_name
from sociable.core.records import Record, make_storable
from sociable.datasets.sources import is_about, read_items, read_text
from sociable.datasets.stages import Item

GIVEN, REPLIED, NAMED, ANSWERED, ASKED, BEFORE = "given", "reply link", "named", "answers", "is answered by", "spoke before"
"""The ways in which it is known whom a turn is for, from certain to likely."""
CERTAIN = frozenset({GIVEN, REPLIED, NAMED})

_EXPECTED = (
    "Expected conversations as JSON Lines (id, turns with speaker and text, and 'to' or 'reply_to' where known), .txt "
    "transcripts of 'Speaker: words', or a folder of .ascii.txt chats with .annotation.txt beside them."
)
_MESSAGE = re.compile(r"^\[\d{1,2}:\d{2}(?::\d{2})?\]\s+(?:<\s*(?P<speaker>[^>\s]+)\s*>|\*\s+(?P<actor>\S+))\s+(?P<text>.*)$")
_SPOKEN = re.compile(r"^(?P<speaker>[^\W\d_][\w.' -]{0,39}?):\s+(?P<text>\S.*)$")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class SaidTurn(Record):
    speaker: str
    text: str
    to: str | None = None
    reply_to: int | None = None
    """The place of the turn it answers, from 0."""
    how: str = ""
    """The way in which ``to`` is known."""


class Transcript(Item):
    title: str = ""
    scene: str = ""
    turns: tuple[SaidTurn, ...] = Field(min_length=1)

    @property
    def speakers(self) -> list[str]:
        """Everybody who speaks, in the order in which they first do."""
        return list(dict.fromkeys(turn.speaker for turn in self.turns))


def read_transcripts(source: Path) -> list[Transcript]:
    """The conversations in a file or folder. Raises DataError naming file, line and field, and InputError where there is none."""
    return read_items(source, _read_transcripts, "conversation", _EXPECTED)


def _read_transcripts(source: Path) -> Iterator[tuple[Transcript, str]]:
    if source.is_dir():
        chats = sorted(source.rglob("*.ascii.txt"))
        plain = [] if chats else sorted(path for path in source.rglob("*.txt") if not is_about(path))
        tables = [path for path in sorted(source.iterdir()) if path.suffix in (".json", ".jsonl")]
        for path in (*chats, *plain, *tables):
            yield from _read_transcripts(path)
    elif source.name.endswith(".ascii.txt"):
        yield _read_chat(source), str(source)
    elif source.suffix == ".txt":
        yield _read_plain(source), str(source)
    elif source.suffix in (".json", ".jsonl"):
        for raw in read_records(source, None):
            yield _make_transcript(raw), raw.place
    else:
        raise InputError(f"{source}: not a kind of file that is read. {_EXPECTED}")


def _make_transcript(raw: RawRecord) -> Transcript:
    if not isinstance(raw.value, Mapping) or not isinstance(raw.value.get("turns"), list):
        raise DataError(raw.place, "turns", f"is missing. {_EXPECTED}")
    turns: list[dict[str, Any]] = []
    told = [_clean(raw.value.get("scene") or "")]
    place_of: dict[int, int] = {}
    """The places of turns by their numbers in the file: what nobody says is told, and no turn."""
    for number, turn in enumerate(raw.value["turns"]):
        said = _check_turn(turn, number, raw.place)
        if said["speaker"]:
            place_of[number] = len(turns)
            turns.append({**said, "reply_to": place_of.get(said["reply_to"])})
        elif not turns:
            # What is told before anybody speaks is the scene.
            told.append(said["text"])
    about = {"id": str(raw.value.get("id") or raw.default_id), "title": _clean(raw.value.get("title") or "")}
    return validate_record(Transcript, {**about, "scene": " ".join(filter(None, told)), "turns": turns}, raw.place)


def _check_turn(turn: Any, number: int, place: str) -> dict[str, Any]:
    """A turn of a record, whose link is a number in the file. Raises DataError."""
    said = (
        next((turn[name] for name in ("text", "content", "utterance") if turn.get(name) is not None), None)
        if isinstance(turn, Mapping)
        else None
    )
    if said is None:
        raise DataError(place, f"turns.{number}", "expected an object with speaker and text")
    for field in ("speaker", "to"):
        if not isinstance(turn.get(field) or "", str):
            problem = f"expected one name, found {str(turn[field])[:80]!r}; where it is not known, leave it out"
            raise DataError(place, f"turns.{number}.{field}", problem)
    link = turn.get("reply_to")
    if link is not None and (not isinstance(link, int) or not 0 <= link < number):
        raise DataError(place, f"turns.{number}.reply_to", f"{link!r} is no turn before it; turns are counted from 0")
    names = {"speaker": _read_name(turn.get("speaker")), "to": _read_name(turn.get("to")) or None}
    return {**names, "text": _clean(said), "reply_to": link}


def _read_plain(path: Path) -> Transcript:
    """A line that names no speaker goes on with what was said; before the first it is the scene."""
    speakers, said = [], [""]
    for line in read_text(path).split("\n"):
        if match := _SPOKEN.match(line):
            speakers.append(_read_name(match["speaker"]))
            said.append(match["text"])
        else:
            said[-1] += f" {line}"
    if not speakers:
        raise DataError(str(path), "", f"no line of the form 'Speaker: words'. {_EXPECTED}")
    scene, *texts = map(_clean, said)
    turns = (SaidTurn(speaker=speaker, text=text) for speaker, text in zip(speakers, texts, strict=True))
    return Transcript(id=path.stem, scene=scene, turns=tuple(turns))


def _read_chat(path: Path) -> Transcript:
    """A message a line; lines of the server are none. Links join numbers of lines, and only those that are messages count."""
    place_of: dict[int, int] = {}
    turns: list[dict[str, Any]] = []
    for number, line in enumerate(read_text(path).split("\n")):
        if match := _MESSAGE.match(line):
            place_of[number] = len(turns)
            turns.append({"speaker": _clean(match["speaker"] or match["actor"]), "text": _clean(match["text"])})
    if not turns:
        raise DataError(str(path), "", "no message of the form '[12:30] <name> words'")
    name = path.name.removesuffix(".ascii.txt")
    links = path.with_name(f"{name}.annotation.txt")
    for number, line in enumerate(read_text(links).split("\n") if links.exists() else [], start=1):
        ends = re.fullmatch(r"\s*(\d+)\s+(\d+)\s*-?\s*", line)
        if ends is None:
            if line.strip():
                raise DataError(f"{links}, line {number}", "", "expected two line numbers and a hyphen, as in '1000 1002 -'")
            continue
        first, last = sorted((int(ends[1]), int(ends[2])))
        # A message linked with itself begins something.
        if first != last and first in place_of and last in place_of:
            turns[place_of[last]].setdefault("reply_to", place_of[first])
    return Transcript(id=name, title=name, turns=tuple(SaidTurn.model_validate(turn) for turn in turns))


_AND = re.compile(r"\s*(?:,|&|\band\b)\s*", re.IGNORECASE)


def part_speakers(transcript: Transcript) -> Transcript:
    """The transcript in which several who speak as one (``Ross and Chandler``) each say it.

    They are parted only where one of them speaks alone elsewhere.
    """
    alone = {speaker for speaker in transcript.speakers if not _AND.search(speaker)}
    turns: list[SaidTurn] = []
    place_of: dict[int, int] = {}
    for number, turn in enumerate(transcript.turns):
        named = [name for name in _AND.split(turn.speaker) if name]
        place_of[number] = len(turns)
        link = None if turn.reply_to is None else place_of[turn.reply_to]
        speakers = named if len(named) > 1 and alone.intersection(named) else [turn.speaker]
        turns += [turn.model_copy(update={"speaker": speaker, "reply_to": link}) for speaker in speakers]
    return transcript.model_copy(update={"turns": tuple(turns)})


def find_addressees(transcript: Transcript) -> Transcript:
    """The transcript with whom every turn is for, and how that is known; where nothing else tells, it is who spoke before."""
    called = {speaker: _find_ways_to_call(speaker) for speaker in transcript.speakers}
    turns = []
    for place, turn in enumerate(transcript.turns):
        to, how = _find_addressee(transcript.turns, place, called)
        turns.append(turn.model_copy(update={"to": to, "how": how}))
    return transcript.model_copy(update={"turns": tuple(turns)})


def _find_addressee(turns: Sequence[SaidTurn], place: int, called: Mapping[str, Sequence[str]]) -> tuple[str | None, str]:
    """The addressee of a turn, and how that is known; nobody at the beginning of a conversation, where nothing tells."""
    turn = turns[place]
    others = {speaker: names for speaker, names in called.items() if speaker != turn.speaker}
    if turn.to and (given := _match_given(turn.to, turn.speaker, others)):
        return given, GIVEN
    if turn.reply_to is not None and turns[turn.reply_to].speaker in others:
        return turns[turn.reply_to].speaker, REPLIED
    named = [speaker for speaker, names in others.items() if any(_is_called(turn.text, name) for name in names)]
    if len(named) == 1:
        return named[0], NAMED
    before = next((each for each in reversed(turns[:place]) if each.speaker in others), None)
    if before is not None and _is_question(before.text):
        return before.speaker, ANSWERED
    after = turns[place + 1].speaker if place + 1 < len(turns) else ""
    if after in others and _is_question(turn.text):
        return after, ASKED
    return (before.speaker, BEFORE) if before is not None else (None, "")


def _is_question(text: str) -> bool:
    return text.rstrip(" \"'”)").endswith("?")


def _match_given(to: str, speaker: str, others: Mapping[str, Sequence[str]]) -> str:
    """The one who is meant, however spelled, or somebody who only listens; nobody where it is the speaker, or several."""
    named = find_person(to, list(others), others)
    several = has_group_name(to, list(others), others) or len(find_people(to, list(others), others)) > 1
    return named or ("" if several or find_person(to, [speaker], {}) else to)


def _find_ways_to_call(speaker: str) -> list[str]:
    """A name, its first and its last word: as people call one another. ``DavidShankbone`` has two words."""
    parts = [part for part in (speaker if " " in speaker else _CAMEL.sub(" ", speaker)).split() if len(part.strip(".")) > 1]
    return list(dict.fromkeys([speaker, *(parts[:1] + parts[-1:] if len(parts) > 1 else [])]))


_SAID_ANYWAY = frozenset(
    {"ok", "okay", "yes", "no", "so", "well", "and", "but", "hi", "hello", "thanks", "sure", "right", "oh", "please", "sorry"}
)
"""Names in chats that are words with which people begin."""
_GREETING = r"(?:(?:yes|no|so|well|and|but|okay|thank you|thanks|hello|hi),?\s+)?"
_TITLE = r"(?:(?:mr|mrs|ms|miss|dr|justice|judge|general|president)\.?\s+)?"


def _is_called(text: str, name: str) -> bool:
    """Whether somebody is called by name at the beginning ("Ann, …", "@ann: …", "Mr Bell, …") or at the end ("…, Ann?")."""
    called = _TITLE + r"\s+".join(map(re.escape, name.split()))
    if name.casefold() in _SAID_ANYWAY:
        return bool(re.search(rf"@{called}\b", text, re.IGNORECASE))
    begins = re.match(rf"^\W*{_GREETING}@?{called}\s*[,:;?!–—-]", text, re.IGNORECASE)
    return bool(begins or re.search(rf",\s*{called}\s*[.?!]*\s*$", text, re.IGNORECASE))


def _read_name(value: object) -> str:
    """A name as it is written; what has no letter is nobody."""
    text = _clean(value or "")
    return text if find_words(text) else ""


def _clean(value: object) -> str:
    return " ".join(make_storable(str(value)).split())
