"""Screenplays in Final Draft's XML."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sociable.core.errors import DataError
from sociable.datasets.plays.draft import Draft, Part
from sociable.datasets.plays.records import Play
from sociable.datasets.plays.script import EXPECTED, is_stage_heading
from sociable.datasets.plays.tree import Element, read_tree


def read_final_draft(path: Path, data: bytes) -> Play:
    """A screenplay in Final Draft's XML. Raises DataError for XML that cannot be read or is no such screenplay."""
    root = read_tree(path, data)
    if root.name != "FinalDraft":
        raise DataError(f"{path}:{root.line}", "", f"element {root.name}; expected FinalDraft, as Final Draft 8 and later write")
    content, front = root.find_child("Content"), root.find_child("TitlePage")
    if content is None:
        raise DataError(f"{path}:{root.line}", "FinalDraft", "no Content in it; save it from Final Draft as a script")
    titles = (_read_text(each) for each in front.walk() if each.name == "Paragraph") if front is not None else ()
    draft = Draft(path, "Final Draft", next(filter(None, titles), ""), is_screenplay=True)
    speech: Part | None = None
    for paragraph in _find_paragraphs(content):
        kind, text = paragraph.attributes.get("Type", "General"), _read_text(paragraph)
        if not text:
            continue
        if kind in ("Dialogue", "Parenthetical", "Singing") and speech is not None:
            speech.lines.append(text if kind != "Parenthetical" or text.startswith("(") else f"({text})")
            continue
        speech = None
        if kind == "Character":
            speech = draft.add(text, [], paragraph.line)
        elif kind in ("Scene Heading", "New Act") or (kind != "Action" and is_stage_heading(text)):
            draft.open_scene(text)
        elif kind not in ("Transition", "End of Act", "Cast List"):
            draft.add("", [text], paragraph.line)
    for scene in draft.scenes:
        scene.parts = [part for part in scene.parts if part.lines]
    return draft.finish(EXPECTED)


def _find_paragraphs(element: Element) -> Iterator[Element]:
    """All paragraphs, those of speeches side by side one after the other."""
    for child in element.elements:
        if child.name == "Paragraph" and child.find_child("Text") is not None:
            yield child
        if child.name in ("Paragraph", "DualDialogue"):
            yield from _find_paragraphs(child)


def _read_text(paragraph: Element) -> str:
    texts = (piece for inner in paragraph.elements if inner.name == "Text" for piece in inner.children if isinstance(piece, str))
    return " ".join("".join(texts).split())
