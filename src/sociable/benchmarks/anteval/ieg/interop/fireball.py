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
from sociable.benchmarks.anteval.ieg.windows import names_skill
from sociable.benchmarks.anteval.rules import load_rules
from sociable.core.data_files import read_records
from sociable.core.errors import DataError

_OF_THE_MASTER = frozenset({"moncheck", "monster_atk", "madd", "monattack", "monsave", "moncast", "begin"})
"""Commands that only whoever leads the game gives."""


CALLED_WITHIN = 10
"""Turns before a check in which it may have been called for."""
_DIFFICULTY = re.compile(r"\bDC ?\d+\b", re.IGNORECASE)


def is_fireball(first: Any) -> bool:
    return isinstance(first, dict) and "combat_id" in first and "event_type" in first


def read_fireball(file: Path) -> Imported:
    """The sessions in a file of events, one JSON object a line."""
    by_session: dict[str, list[dict[str, Any]]] = {}
    for raw in read_records(file, None):
        if not is_fireball(raw.value):
            raise DataError(raw.place, "", "no event of FIREBALL: expected combat_id and event_type")
        by_session.setdefault(str(raw.value["combat_id"]), []).append(raw.value)
    return combine(_session(name, events) for name, events in by_session.items())


def _session(name: str, events: Sequence[Mapping[str, Any]]) -> Imported:
    commands = [event for event in events if event.get("event_type") == "command"]
    master = _master(commands)
    acting = _characters(commands, master)
    writing = {str(each.get("author_id")): each.get("author_name") for each in events}
    names = make_distinct(
        {who: clean_name(acting.get(who, name), f"player {who}") for who, name in writing.items() if who != master}
    )
    characters = {who: names[who] for who in acting}
    turns: list[Spoken] = []
    called: dict[int, list[Check]] = {}
    counts: Counter[str] = Counter()
    seen: set[Any] = set()
    for event in events:
        text = str(event.get("content") or "").strip()
        author = str(event.get("author_id"))
        if event.get("event_type") == "command" and event.get("command_name") == "check" and event.get("message_id") not in seen:
            seen.add(event.get("message_id"))
            check = _check(event, text, master, characters)
            counts["attributed" if isinstance(check, Check) else f"dropped: {check}"] += 1
            if isinstance(check, Check):
                called.setdefault(_called_at(turns, check), []).append(check)
        elif event.get("event_type") == "message" and not event.get("author_bot") and text and not text.startswith("!"):
            turns.append(Spoken(speaker=MASTER if author == master else names[author], text=" ".join(text.split())))
    players = dict.fromkeys([*characters.values(), *(turn.speaker for turn in turns if turn.speaker != MASTER)])
    log = Log(
        id=name,
        players=tuple(players),
        turns=tuple(turns),
        calls=tuple(Call(before=before, checks=tuple(dict.fromkeys(checks))) for before, checks in sorted(called.items())),
    )
    return Imported(logs=(log,), counts=dict(counts))


def _called_at(turns: Sequence[Spoken], check: Check) -> int:
    """Before which turn the check was called for: the first lately in which somebody else names the skill or a difficulty.

    A window must end there: what a virtual DM is to predict stands in the call.
    """
    first = max(0, len(turns) - CALLED_WITHIN)
    for place, turn in enumerate(turns[first:], start=first):
        if turn.speaker != check.character and (names_skill(turn.text, check.skill) or _DIFFICULTY.search(turn.text)):
            return place
    return len(turns)


def _master(commands: Sequence[Mapping[str, Any]]) -> str:
    """Whoever most often gives the commands of a master; nobody where nobody does."""
    led = Counter(str(each.get("author_id")) for each in commands if each.get("command_name") in _OF_THE_MASTER)
    return led.most_common(1)[0][0] if led else ""


def _characters(commands: Sequence[Mapping[str, Any]], master: str) -> dict[str, str]:
    """By author the character that acts in most of its commands."""
    acted: dict[str, Counter[str]] = {}
    for each in commands:
        caster, author = each.get("caster"), str(each.get("author_id"))
        if isinstance(caster, Mapping) and caster.get("type") == "player" and author != master:
            acted.setdefault(author, Counter())[str(caster.get("name"))] += 1
    return {author: names.most_common(1)[0][0] for author, names in acted.items()}


def _check(event: Mapping[str, Any], text: str, master: str, characters: Mapping[str, str]) -> Check | str:
    """The check, or why it is no label."""
    author = str(event.get("author_id"))
    if author == master:
        return "the dungeon master's own"
    skill = _skill(text)
    if skill is None:
        return "no skill check"
    return Check(character=characters[author], skill=skill) if author in characters else "nobody known to play a character"


def _skill(command: str) -> str | None:
    """Of ``!c "sleight of hand" adv`` or ``!check perc``: the skill it names, if only one begins so."""
    said = command.partition(" ")[2].strip().strip("\"'").lower()
    exact = [skill for skill in load_rules().skills if said.startswith(skill.lower())]
    if exact:
        return exact[0]
    short = said.split()[0].strip("\"'") if said.split() else ""
    fitting = [skill for skill in load_rules().skills if len(short) > 2 and skill.lower().startswith(short)]
    return fitting[0] if len(fitting) == 1 else None
