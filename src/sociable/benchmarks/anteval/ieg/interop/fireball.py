"""Reading FIREBALL (Zhu et al., ACL 2023, CC BY 4.0): play by post, where checks are commands to a bot.

``!c athletics`` is a check of the character of whoever writes it; ``!mc "sea hag" athletics`` one of a monster, and so of the
dungeon master. Only players' checks of the 18 skills are labels. Messages are the turns; commands and the bot's own are not.
Where a check was called for in words, its window ends before them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sociable.benchmarks.anteval.ieg.logs import MASTER, Call, Check, Imported, Log, Spoken, clean_name, combine, make_distinct
from sociable.benchmarks.anteval.ieg.windows import has_skill_name
from sociable.benchmarks.anteval.rules import load_rules
from sociable.core.data_files import read_records
from sociable.core.errors import DataError

_OF_THE_MASTER = frozenset({"moncheck", "monster_atk", "madd", "monattack", "monsave", "moncast", "begin"})
"""Commands that only whoever leads the game gives."""
CALLED_WITHIN = 10
"""Turns before a check in which it may have been called for."""
_DIFFICULTY = re.compile(r"\bDC ?\d+\b", re.IGNORECASE)


def is_fireball(first: Any) -> bool:
    """Whether a record is one of its events."""
    return isinstance(first, dict) and "combat_id" in first and "event_type" in first


def read_fireball(file: Path) -> Imported:
    """The sessions in a file of events, one JSON object a line."""
    by_session: dict[str, list[dict[str, Any]]] = {}
    for raw in read_records(file, None):
        if not is_fireball(raw.value):
            raise DataError(raw.place, "", "no event of FIREBALL: expected combat_id and event_type")
        # Whoever wrote it is looked up often.
        event = raw.value | {"author": str(raw.value.get("author_id"))}
        by_session.setdefault(str(raw.value["combat_id"]), []).append(event)
    return combine(_read_session(name, events) for name, events in by_session.items())


def _read_session(name: str, events: Sequence[Mapping[str, Any]]) -> Imported:
    commands = [event for event in events if event.get("event_type") == "command"]
    master = _find_master(commands)
    acting = _find_characters(commands, master)
    writing = {event["author"]: event.get("author_name") for event in events if event["author"] != master}
    names = make_distinct({who: clean_name(acting.get(who, called), f"player {who}") for who, called in writing.items()})
    characters = {who: names[who] for who in acting}
    turns: list[Spoken] = []
    called: dict[int, list[Check]] = {}
    counts: Counter[str] = Counter()
    seen: set[Any] = set()
    for event in events:
        text, author, kind = str(event.get("content") or "").strip(), event["author"], event.get("event_type")
        if kind == "command" and event.get("command_name") == "check" and event.get("message_id") not in seen:
            seen.add(event.get("message_id"))
            check = _read_check(text, author, master, characters)
            counts["attributed" if isinstance(check, Check) else f"dropped: {check}"] += 1
            if isinstance(check, Check):
                called.setdefault(_find_call(turns, check), []).append(check)
        elif kind == "message" and not event.get("author_bot") and text and not text.startswith("!"):
            turns.append(Spoken(speaker=MASTER if author == master else names[author], text=" ".join(text.split())))
    players = dict.fromkeys([*characters.values(), *(turn.speaker for turn in turns if turn.speaker != MASTER)])
    log = Log(
        id=name,
        players=tuple(players),
        turns=tuple(turns),
        calls=tuple(Call(before=before, checks=tuple(dict.fromkeys(checks))) for before, checks in sorted(called.items())),
    )
    return Imported(logs=(log,), counts=dict(counts))


def _find_call(turns: Sequence[Spoken], check: Check) -> int:
    """The index of the turn before which the check was called for: the first lately in which another names a skill or difficulty.

    A window must end there: what a virtual DM is to predict stands in the call.
    """
    first = max(0, len(turns) - CALLED_WITHIN)
    for place, turn in enumerate(turns[first:], start=first):
        if turn.speaker != check.character and (has_skill_name(turn.text, check.skill) or _DIFFICULTY.search(turn.text)):
            return place
    return len(turns)


def _find_master(commands: Sequence[Mapping[str, Any]]) -> str:
    """The person who most often gives the commands of a master; the empty string where nobody does."""
    led = Counter(each["author"] for each in commands if each.get("command_name") in _OF_THE_MASTER)
    return led.most_common(1)[0][0] if led else ""


def _find_characters(commands: Sequence[Mapping[str, Any]], master: str) -> dict[str, str]:
    """The character, by author, that acts in most of the author's commands."""
    acted: dict[str, Counter[str]] = {}
    for each in commands:
        caster = each.get("caster")
        if isinstance(caster, Mapping) and caster.get("type") == "player" and each["author"] != master:
            acted.setdefault(each["author"], Counter())[str(caster.get("name"))] += 1
    return {author: names.most_common(1)[0][0] for author, names in acted.items()}


def _read_check(command: str, author: str, master: str, characters: Mapping[str, str]) -> Check | str:
    """The check, or why it is no label."""
    if author == master:
        return "the dungeon master's own"
    skill = _find_skill(command)
    if skill is None:
        return "no skill check"
    return Check(character=characters[author], skill=skill) if author in characters else "nobody known to play a character"


def _find_skill(command: str) -> str | None:
    """The skill that ``!c "sleight of hand" adv`` or ``!check perc`` names, if only one begins so."""
    said = command.partition(" ")[2].strip().strip("\"'").lower()
    exact = [skill for skill in load_rules().skills if said.startswith(skill.lower())]
    short = said.split()[0].strip("\"'") if said.split() else ""
    fitting = exact or [skill for skill in load_rules().skills if len(short) > 2 and skill.lower().startswith(short)]
    return fitting[0] if exact or len(fitting) == 1 else None
