"""Plays in TEI as DraCor publishes them: every speech (``sp``) names its speakers by the ids of a list of persons."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sociable.core.errors import DataError
from sociable.datasets.plays.cast import read_members
from sociable.datasets.plays.draft import Draft, DraftScene
from sociable.datasets.plays.headings import find_heading
from sociable.datasets.plays.records import CastMember, Play
from sociable.datasets.plays.spelling import join_names, to_full_form
from sociable.datasets.plays.tree import Element, part_directions, read_tree

_TOLD = frozenset({"stage", "p", "ab", "l", "lg"})
"""Elements between speeches that are not spoken."""


def read_tei(path: Path, data: bytes) -> Play:
    """A play in TEI. Raises DataError for XML that cannot be read or is no TEI, InputError where nobody speaks."""
    root = read_tree(path, data)
    body = next((each for each in root.walk() if each.name == "body"), None)
    if root.name != "TEI" or body is None:
        raise DataError(
            f"{path}:{root.line}", "", f"element {root.name}; expected TEI with a text and its body, as DraCor publishes plays"
        )
    elements = list(root.walk())
    people = _read_people(elements)
    told = {
        member.name.casefold(): member.description
        for each in elements
        if each.name == "castItem"
        for member in _read_cast_item(each)
    }
    cast = [CastMember(name=name, description=told.get(name.casefold(), "")) for name in people.values()]
    title = next((each.text for each in elements if each.name == "title" and each.text), "")
    draft = Draft(path, "TEI", title, cast)
    _read(body, draft, people)
    return draft.finish("Expected sp elements with words in them, as DraCor has them.")


def _read_people(elements: list[Element]) -> dict[str, str]:
    """The name of everybody in the list of persons, by id; those who share a name are numbered, for they are different people."""
    people: dict[str, str] = {}
    for each in elements:
        if each.name in ("person", "personGrp") and (id_ := each.attributes.get("xml:id")):
            name = next((child.text for child in each.elements if child.name in ("persName", "name") and child.text), id_)
            names = [name, *(f"{name} {number}" for number in range(2, len(people) + 2))]
            people[id_] = next(free for free in names if free not in people.values())
    return people


def _read_cast_item(item: Element) -> Iterator[CastMember]:
    """The people whom an entry of the list at the front names, and their descriptions."""
    role, description = item.find_child("role"), item.find_child("roleDesc")
    if role is None:
        yield from read_members(item.text)
    else:
        yield CastMember(
            name=to_full_form(role.text.rstrip(",")), description=description.text.rstrip(".") if description else ""
        )


def _read(element: Element, draft: Draft, people: dict[str, str], act: str | None = None) -> None:
    """Reads what stands in an element of the body; ``act`` is None at the top."""
    for child in element.elements:
        if child.name == "div":
            _read(child, draft, people, _open(child, draft, act))
        elif child.name == "spGrp":
            _read(child, draft, people, act)
        elif child.name == "sp":
            _add_speech(child, draft, people)
        elif child.name in _TOLD and child.text:
            draft.add("", [child.text], child.line)


def _open(div: Element, draft: Draft, act: str | None) -> str:
    """Begins an act or a scene, unless the division has no heading. Returns the act."""
    kind, head = div.attributes.get("type"), div.find_child("head")
    is_act = kind == "act" or (act is None and kind != "scene")
    if head is None or not head.text:
        return "" if is_act else act or ""
    heading = find_heading(head.text)
    label, rest = (heading.label, heading.rest) if heading is not None and heading.label else (head.text, "")
    draft.scenes.append(DraftScene(label, "", rest) if is_act else DraftScene(act or "", label, rest))
    return draft.scenes[-1].act


def _add_speech(sp: Element, draft: Draft, people: dict[str, str]) -> None:
    """A speech, or a direction where nothing is said in it."""
    text, directions = part_directions([sp])
    speaker = sp.find_child("speaker")
    label = speaker.text if speaker is not None else ""
    ids = (id_.removeprefix("#") for id_ in sp.attributes.get("who", "").split())
    speakers = tuple(dict.fromkeys(people[id_] for id_ in ids if id_ in people)) or (to_full_form(label) or "Somebody",)
    if text:
        part = draft.add(label or join_names(speakers), [text], sp.line)
        part.directions, part.speakers = directions, speakers
    elif directions:
        draft.add("", [f"{label} {' '.join(direction.text for direction in directions)}".strip()], sp.line)
