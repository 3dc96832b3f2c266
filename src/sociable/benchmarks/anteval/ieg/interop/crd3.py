"""Reading CRD3, transcripts of a show (Rameshkumar and Bailey, ACL 2020, CC BY-SA 4.0): the user points at a copy.

Speakers are actors. ``crd3_people.json`` says whom they play, by campaign and where that changes by episode. Who is not in it
(crew, audience, visitors) keeps its own name and is no player; but in a campaign that the file does not know, all are.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from sociable.benchmarks.anteval.ieg.calls import Attributed, Heard, attribute_calls
from sociable.benchmarks.anteval.ieg.logs import MASTER, Call, Check, Imported, Log, Spoken, clean_name, combine, make_distinct
from sociable.benchmarks.anteval.rules import DATA
from sociable.core.errors import DataError
from sociable.core.records import make_storable

_EPISODE = re.compile(r"C\d+E\d+")
_WORDS = frozenset({"Will", "Mark"})
"""Actors' names with which a sentence may begin that is about nobody of that name."""
EVERYBODY = "ALL"
"""The speaker where several speak at once."""


CLEANED = ("", "cleaned data", "data/cleaned data")
"""Where the transcripts are in a folder that the user names: itself, or a clone of the data set's repository."""


def find_crd3(path: Path) -> Path | None:
    """The folder of the data set's cleaned transcripts: ``path`` or a folder of it. None where there is none."""
    return next((folder for place in CLEANED if (folder := path / place).is_dir() and list_episodes(folder)), None)


def read_crd3(folder: Path) -> Imported:
    """All episodes in a folder of the data set's cleaned transcripts. Raises DataError."""
    return combine(map(_read_episode, list_episodes(folder)))


def list_episodes(folder: Path) -> list[Path]:
    """The files of a folder that are episodes."""
    return sorted(file for file in folder.glob("*.json") if _EPISODE.fullmatch(file.stem))


def _read_episode(file: Path) -> Imported:
    turns, master = list(_read_turns(file)), _load_people()["master"]
    speaking = {speaker for turn in turns for speaker in turn.speakers} - {master, EVERYBODY}
    names = find_people(file.stem) or {speaker: [speaker.title()] for speaker in sorted(speaking)}
    names = {speaker: called for speaker, called in names.items() if speaker in speaking}
    others = {speaker: speaker.title() for speaker in sorted(speaking - names.keys())}
    characters = make_distinct({speaker: called[0] for speaker, called in names.items()} | others)
    # Players call one another by either name.
    spelled = {speaker: [*called, *({speaker.title()} - _WORDS)] for speaker, called in names.items()}
    found = list(attribute_calls(turns, master, spelled))
    counts = Counter("attributed" if each.who else f"dropped: {each.how}" for each in found)
    log = Log(
        id=file.stem,
        players=tuple(dict.fromkeys(characters[speaker] for speaker in names)),
        turns=tuple(_cast_turn(turn, master, characters) for turn in turns),
        calls=tuple(_group_calls(found, characters)),
    )
    return Imported(logs=(log,), counts=dict(counts))


def _read_turns(file: Path) -> Iterator[Heard]:
    try:
        raw: Any = json.loads(file.read_text(encoding="utf-8"))
        for turn in raw["TURNS"]:
            yield Heard(tuple(_name_speakers(turn["NAMES"])), make_storable(" ".join(map(str, turn["UTTERANCES"]))))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            str(file), "TURNS", f"no episode of CRD3 ({error!r}); expected NAMES and UTTERANCES of every turn"
        ) from None


def _name_speakers(names: Sequence[str]) -> list[str]:
    """The speakers of a turn; "ALL - SAM - MATT" is everybody."""
    return [EVERYBODY if EVERYBODY in str(name) else clean_name(name, "SOMEBODY") for name in names]


def _cast_turn(turn: Heard, master: str, characters: Mapping[str, str]) -> Spoken:
    """The turn as the speaker's character says it."""
    if master in turn.speakers:
        return Spoken(speaker=MASTER, text=turn.text)
    one = turn.speakers[0] if len(turn.speakers) == 1 else EVERYBODY
    return Spoken(speaker=characters.get(one, one.title()), text=turn.text)


def _group_calls(found: Sequence[Attributed], characters: Mapping[str, str]) -> Iterator[Call]:
    """One call for every turn that calls; of a choice of skills it is for the first."""
    for index, group in groupby(found, key=lambda each: each.index):
        checks = [Check(character=characters[speaker], skill=each.skills[0]) for each in group for speaker in each.who]
        if checks:
            yield Call(before=index, checks=tuple(dict.fromkeys(checks)))


@cache
def _load_people() -> Any:
    return json.loads((DATA / "crd3_people.json").read_text(encoding="utf-8"))


def find_people(episode: str) -> dict[str, list[str]]:
    """The names of each actor's character in an episode, the usual name first."""
    found = dict(_load_people()["campaigns"].get(episode.partition("E")[0], {}))
    for change in _load_people()["episodes"]:
        if change["from"] <= episode <= change["to"]:
            found |= change["people"]
    return found
