"""Reading CRD3, transcripts of a show (Rameshkumar and Bailey, ACL 2020, CC BY-SA 4.0): the user points at a copy.

Speakers are actors. ``crd3_people.json`` says whom they play, by campaign and where that changes by episode; actors who are not
in it, guests of few evenings, keep their own names. Nothing of the transcripts is kept but in memory.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from sociable.benchmarks.anteval.ieg.calls import Attributed, Heard, attribute_calls
from sociable.benchmarks.anteval.ieg.logs import MASTER, Call, Check, Imported, Log, Spoken, clean_name, combine, make_distinct
from sociable.benchmarks.anteval.rules import DATA
from sociable.core.errors import DataError, InputError
from sociable.core.records import storable

_EPISODE = re.compile(r"C\d+E\d+")
_WORDS = frozenset({"Will", "Mark"})
"""Actors' names with which a sentence may begin that is about nobody of that name."""
EVERYBODY = "ALL"
"""The speaker where several speak at once."""


def is_crd3(path: Path) -> bool:
    return path.is_dir() and any(_EPISODE.fullmatch(file.stem) for file in path.glob("*.json"))


def read_crd3(folder: Path) -> Imported:
    """All episodes in a folder of the data set's cleaned transcripts. Raises DataError or InputError."""
    files = sorted(file for file in folder.glob("*.json") if _EPISODE.fullmatch(file.stem))
    if not files:
        raise InputError(f"{folder}: no episode of CRD3 in it; expected files such as C1E001.json, from 'data/cleaned data'.")
    return combine(map(_episode, files))


def _episode(file: Path) -> Imported:
    turns = list(_turns(file))
    names = find_people(file.stem)
    # Guests that nobody wrote down are called by their own names.
    speaking = {speaker for turn in turns for speaker in turn.speakers} - {_master(), EVERYBODY}
    names = {**{speaker: [speaker.title()] for speaker in sorted(speaking)}, **{s: c for s, c in names.items() if s in speaking}}
    characters = make_distinct({speaker: called[0] for speaker, called in names.items()})
    # Players call one another by either name.
    spelled = {speaker: [*called, *({speaker.title()} - _WORDS)] for speaker, called in names.items()}
    found = list(attribute_calls(turns, _master(), spelled))
    counts = Counter("attributed" if each.who else f"dropped: {each.how}" for each in found)
    log = Log(
        id=file.stem,
        players=tuple(dict.fromkeys(characters.values())),
        turns=tuple(_spoken(turn, characters) for turn in turns),
        calls=tuple(_calls(found, characters)),
    )
    return Imported(logs=(log,), counts=dict(counts))


def _turns(file: Path) -> Iterator[Heard]:
    try:
        raw: Any = json.loads(file.read_text(encoding="utf-8"))
        for turn in raw["TURNS"]:
            yield Heard(tuple(_named(turn["NAMES"])), storable(" ".join(map(str, turn["UTTERANCES"]))))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            str(file), "TURNS", f"no episode of CRD3 ({error!r}); expected NAMES and UTTERANCES of every turn"
        ) from None


def _named(names: Sequence[str]) -> list[str]:
    """The speakers of a turn; "ALL - SAM - MATT" is everybody."""
    return [EVERYBODY if EVERYBODY in str(name) else clean_name(name, "SOMEBODY") for name in names]


def _spoken(turn: Heard, characters: Mapping[str, str]) -> Spoken:
    if _master() in turn.speakers:
        return Spoken(speaker=MASTER, text=turn.text)
    one = turn.speakers[0] if len(turn.speakers) == 1 else EVERYBODY
    return Spoken(speaker=characters.get(one, one.title()), text=turn.text)


def _calls(found: Sequence[Attributed], characters: Mapping[str, str]) -> Iterator[Call]:
    """One for every turn that calls; of a choice of skills the first."""
    by_turn: dict[int, list[Check]] = {}
    for each in found:
        checks = [Check(character=characters[speaker], skill=each.skills[0]) for speaker in each.who]
        by_turn.setdefault(each.index, []).extend(checks)
    for index, checks in by_turn.items():
        if checks:
            yield Call(before=index, checks=tuple(dict.fromkeys(checks)))


@cache
def _people() -> Mapping[str, Any]:
    found: dict[str, Any] = json.loads((DATA / "crd3_people.json").read_text(encoding="utf-8"))
    return found


def _master() -> str:
    return str(_people()["master"])


def find_people(episode: str) -> dict[str, list[str]]:
    """By actor what the character is called in an episode, the usual name first."""
    found = dict(_people()["campaigns"].get(episode.partition("E")[0], {}))
    for change in _people()["episodes"]:
        if change["from"] <= episode <= change["to"]:
            found |= change["people"]
    return found
