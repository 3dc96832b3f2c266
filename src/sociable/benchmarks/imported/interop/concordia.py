"""Logs of Concordia's simulations: the structured one (``content_store`` and ``entries``) and the raw one, a list of steps.

What an entity does stands as ``Value`` of its component ``__act__``. Its goal is what a component says that is named a goal, or
labelled so; a question about the goal is none. The layout names no models.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import takewhile
from pathlib import Path
from typing import Any

from sociable.benchmarks.imported.records import Conversation, Person, Refused, make_turns, shorten
from sociable.core.errors import DataError, InputError

ACT = "__act__"
MOST_MEMORIES = 40
"""Memories of an entity that count as its own knowledge: the first, which it had before it acted."""
_ENTITY = re.compile(r"Entity \[(?P<name>.+)\]")
_GOAL = re.compile(r"\W*(?:\w[\w ]*)?goals?\W*", re.IGNORECASE)

Acted = tuple[str, Mapping[str, Any]]
"""(the entity, its components by name)."""


def read_logs(path: Path) -> Iterator[Conversation | Refused]:
    """A conversation for each log: a file, or all .json files of a folder. Raises InputError and DataError."""
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    if not files:
        raise InputError(f"{path}: there is no .json file in this folder.")
    for file in files:
        log = _read_json(file)
        try:
            yield _make_conversation(file, log)
        except RecursionError:
            raise DataError(str(file), "", "nested too deeply for a log") from None


def _read_json(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror or error}.") from None
    except (ValueError, RecursionError) as error:
        raise DataError(str(file), "", f"not JSON ({error})") from None


def _make_conversation(file: Path, log: Any) -> Conversation | Refused:
    memories: Mapping[str, Any] = {}
    if isinstance(log, Mapping) and isinstance(log.get("entries"), list):
        acts = list(_list_entries(log))
        memories = log["entity_memories"] if isinstance(log.get("entity_memories"), Mapping) else {}
    elif isinstance(log, list) and all(isinstance(step, Mapping) for step in log):
        acts = [act for step in log for act in _list_step(step)]
    else:
        raise DataError(str(file), "", "expected a structured log (content_store, entries) or a list of steps")
    said = [(name, (), _strip_name(text, name)) for name, parts in acts if (text := _find_value(parts.get(ACT)))]
    if not said:
        return Refused(str(file), f"no entity acts in it (no component {ACT} with a Value)")
    people = [
        Person(
            name=name,
            goal=next((goal for who, parts in acts if who == name and (goal := _find_goal(parts))), ""),
            knows=_list_memories(memories.get(name), acts),
        )
        for name in dict.fromkeys(name for name, _, _ in said)
    ]
    names = ", ".join(person.name for person in people)
    return Conversation(
        id=file.stem,
        cluster=file.stem,
        situation=f"A simulation in which {names} act one after the other; a game master says what comes of it.",
        people=tuple(people),
        turns=make_turns(said),
    )


def _list_entries(log: Mapping[str, Any]) -> Iterator[Acted]:
    """What entities did, in order: texts that stand elsewhere in the log are put in their place."""
    store = log["content_store"] if isinstance(log.get("content_store"), Mapping) else {}
    for entry in log["entries"]:
        if isinstance(entry, Mapping) and isinstance(entry.get("deduplicated_data"), Mapping):
            parts = _restore(entry["deduplicated_data"].get("value"), store)
            if isinstance(parts, Mapping) and ACT in parts and entry.get("entry_type") != "step":
                yield str(entry.get("entity_name")), parts


def _restore(value: Any, store: Mapping[str, Any]) -> Any:
    if isinstance(value, Mapping):
        if set(value) == {"_ref"}:
            return store.get(value["_ref"], "")
        return {key: _restore(part, store) for key, part in value.items()}
    return [_restore(part, store) for part in value] if isinstance(value, list) else value


def _list_step(step: Mapping[str, Any]) -> Iterator[Acted]:
    for key, parts in step.items():
        if (found := _ENTITY.fullmatch(str(key))) and isinstance(parts, Mapping):
            yield found["name"], parts


def _find_value(component: Any) -> str:
    value = component.get("Value") if isinstance(component, Mapping) else component
    text = "\n".join(map(str, value)) if isinstance(value, list) else str(value or "")
    return text.strip()


def _find_goal(parts: Mapping[str, Any]) -> str:
    for name, component in parts.items():
        label = component.get("Key", "") if isinstance(component, Mapping) else ""
        if name != ACT and any(_GOAL.fullmatch(str(each)) for each in (name, label)) and (goal := _find_value(component)):
            return goal
    return ""


def _strip_name(text: str, name: str) -> str:
    """The act without the name before it, as in ``Tess: nods`` and ``Tess -- "Good morning."``."""
    return re.sub(rf"^(?:{re.escape(name)}\s*(?::|--)\s*)+", "", text)


def _list_memories(memories: Any, acts: list[Acted]) -> str:
    """What an entity remembers up to the first act of the log."""
    first = next(text for _, parts in acts if (text := _find_value(parts.get(ACT))))
    known = map(str, memories[:MOST_MEMORIES]) if isinstance(memories, list) else ()
    return shorten("\n".join(takewhile(lambda memory: first not in memory, known)))
