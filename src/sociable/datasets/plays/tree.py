"""XML from strangers: a small tree with line numbers, read without entities, external files or endless nesting."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.parsers import expat

from sociable.core.errors import DataError

_DEEPEST, _LARGEST_BYTES = 100, 50_000_000


@dataclass
class Element:
    """``name`` and attributes have no namespace prefix but as written (``epub:type``); ``line`` is where the element begins."""

    name: str
    attributes: dict[str, str]
    line: int
    children: list[Element | str] = field(default_factory=list)

    @property
    def elements(self) -> list[Element]:
        return [child for child in self.children if isinstance(child, Element)]

    def types(self) -> frozenset[str]:
        """What kinds ``epub:type`` says it is."""
        return frozenset(self.attributes.get("epub:type", "").split())

    def walk(self) -> Iterator[Element]:
        """This element and all in it, in the order of the document."""
        yield self
        for child in self.elements:
            yield from child.walk()

    def text(self) -> str:
        """All text in it, as it stands."""
        return "".join(child if isinstance(child, str) else child.text() for child in self.children)


def read_tree(path: Path, data: bytes) -> Element:
    """The root of an XML document. Raises DataError where it is not well formed, declares entities, or is nested or large beyond
    reason."""
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

    def text(data: str) -> None:
        stack[-1].children.append(data)

    def entity(*_arguments: Any) -> None:
        raise refuse("declares an entity, which is refused since it may be a trap; write the characters themselves")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text
    parser.EntityDeclHandler = entity
    if len(data) > _LARGEST_BYTES:
        raise DataError(str(path), "", f"{len(data)} bytes; at most {_LARGEST_BYTES} are read")
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise DataError(
            f"{path}:{error.lineno}", "", f"no well-formed XML ({expat.errors.messages[error.code]}); export the file again"
        ) from None
    return root.elements[0]
