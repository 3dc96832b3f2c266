"""XML from strangers: a small tree with line numbers, read without entities, external files or endless nesting."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html.entities import html5
from pathlib import Path
from typing import Any
from xml.parsers import expat

from sociable.core.errors import DataError
from sociable.datasets.plays.records import InlineDirection

LARGEST_BYTES = 50_000_000
_DEEPEST = 100
_BREAKS = frozenset({"br", "p", "li", "td", "blockquote", "l", "lb", "lg", "ab", "role"})
"""The elements behind which a line or a cell ends."""
_INVISIBLE = dict.fromkeys(map(ord, "\u2060\u200b\ufeff\u00ad"))


@dataclass
class Element:
    """Names and attributes are as written, with their prefixes (``epub:type``); ``line`` is where the element begins."""

    name: str
    attributes: dict[str, str]
    line: int
    children: list[Element | str] = field(default_factory=list)

    @property
    def elements(self) -> list[Element]:
        return [child for child in self.children if isinstance(child, Element)]

    def has_type(self, kind: str) -> bool:
        """Whether ``epub:type`` says that it is of this kind."""
        return kind in self.attributes.get("epub:type", "").split()

    @property
    def is_beside(self) -> bool:
        """Whether the element is no part of the text around it: a note or the mark of one, or the name over a speech."""
        return self.name in ("note", "speaker") or self.has_type("noteref")

    @property
    def is_direction(self) -> bool:
        """Whether the element is a stage direction, in Standard Ebooks' XHTML or in TEI."""
        return self.name == "stage" or self.has_type("z3998:stage-direction")

    def find_child(self, name: str) -> Element | None:
        return next((child for child in self.elements if child.name == name), None)

    def walk(self) -> Iterator[Element]:
        """This element and all in it, in the order of the document."""
        yield self
        for child in self.elements:
            yield from child.walk()

    @property
    def text(self) -> str:
        """All text in it on one line, without notes."""
        return part_directions([self], are_spoken=True)[0]


def part_directions(elements: Iterable[Element], *, are_spoken: bool = False) -> tuple[str, tuple[InlineDirection, ...]]:
    """The words said in ``elements``, on one line, and the directions in them, unless these ``are_spoken`` too."""
    said: list[str] = []
    found: list[InlineDirection] = []

    def take(element: Element) -> None:
        for child in element.children:
            if isinstance(child, str):
                said.append(child)
            elif child.is_direction and not are_spoken:
                if child.text:
                    found.append(InlineDirection(text=child.text, at=len(_put_on_one_line("".join(said)))))
                said.append(" ")
            elif not child.is_beside:
                take(child)
                said.append(" " if child.name in _BREAKS else "")

    for element in elements:
        take(element)
        said.append(" ")
    return _put_on_one_line("".join(said)), tuple(found)


def _put_on_one_line(text: str) -> str:
    return " ".join(text.translate(_INVISIBLE).split())


def read_tree(path: Path, data: bytes) -> Element:
    """The root of an XML document; characters that another file would declare are those of HTML (``&eacute;``).

    Raises DataError where it is not well formed, declares entities, or is nested or large beyond reason.
    """
    if len(data) > LARGEST_BYTES:
        raise DataError(str(path), "", f"{len(data)} bytes; at most {LARGEST_BYTES} are read")
    root = Element("", {}, 0)
    stack = [root]
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def refuse(what: str) -> DataError:
        return DataError(f"{path}:{parser.CurrentLineNumber}", "", what)

    def start(name: str, attributes: dict[str, str]) -> None:
        if len(stack) > _DEEPEST:
            raise refuse(f"elements nested more than {_DEEPEST} deep; no play needs that")
        element = Element(name, attributes, parser.CurrentLineNumber)
        stack[-1].children.append(element)
        stack.append(element)

    def end(_name: str) -> None:
        stack.pop()

    def add_text(data: str) -> None:
        stack[-1].children.append(data)

    def refuse_entity(*_: Any) -> None:
        raise refuse("declares an entity, which is refused since it may be a trap; write the characters themselves")

    def skip(name: str, is_parameter: bool) -> None:
        if f"{name};" not in html5 and not is_parameter:
            raise refuse(f"&{name}; is not declared in this file, and other files are not read; write the character itself")
        stack[-1].children.append(html5.get(f"{name};", ""))

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = add_text
    parser.EntityDeclHandler = refuse_entity
    parser.SkippedEntityHandler = skip
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise DataError(
            f"{path}:{error.lineno}", "", f"no well-formed XML ({expat.errors.messages[error.code]}); export the file again"
        ) from None
    return root.elements[0]
