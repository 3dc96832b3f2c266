"""Screenplays in Final Draft's XML."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sociable.core.errors import DataError
from sociable.datasets.plays.records import Play
from sociable.datasets.plays.script import Script, is_stage_heading
from sociable.datasets.plays.tree import Element, read_tree


def read_final_draft(path: Path, data: bytes) -> Play:
    """A screenplay in Final Draft's XML. Raises DataError for XML that cannot be read or is no such screenplay."""
    root = read_tree(path, data)
    if root.name != "FinalDraft":
        raise DataError(f"{path}:{root.line}", "", f"element {root.name}; expected FinalDraft, as Final Draft 8 and later write")
    script = Script(path.name)
    content = next((child for child in root.elements if child.name == "Content"), None)
    if content is None:
        raise DataError(f"{path}:{root.line}", "FinalDraft", "no Content in it; save it from Final Draft as a script")
    title = next((child for child in root.elements if child.name == "TitlePage"), None)
    if title is not None:
        script.title = next((text for each in title.walk() if each.name == "Paragraph" and (text := _paragraph(each))), "")
    cue: tuple[str, int] | None = None
    said: list[str] = []

    def close() -> None:
        nonlocal cue
        if cue is not None and said:
            script.add(cue[0], said, cue[1])
        cue = None
        said.clear()

    for paragraph in _paragraphs(content):
        kind, text = paragraph.attributes.get("Type", "General"), _paragraph(paragraph)
        if not text:
            continue
        if kind in ("Dialogue", "Parenthetical", "Singing") and cue is not None:
            said.append(text if kind != "Parenthetical" or text.startswith("(") else f"({text})")
            continue
        close()
        if kind == "Character":
            cue = (text, paragraph.line)
        elif kind in ("Scene Heading", "New Act") or (kind != "Action" and is_stage_heading(text)):
            script.open_scene(text)
        elif kind not in ("Transition", "End of Act", "Cast List"):
            script.add("", [text], paragraph.line)
    close()
    return script.play(path, "Final Draft")


def _paragraphs(element: Element) -> Iterator[Element]:
    """All paragraphs, those of speeches side by side one after the other."""
    for child in element.elements:
        if child.name == "Paragraph":
            if any(inner.name == "Text" for inner in child.elements):
                yield child
            yield from _paragraphs(child)
        elif child.name == "DualDialogue":
            yield from _paragraphs(child)


def _paragraph(paragraph: Element) -> str:
    return " ".join("".join(inner.text() for inner in paragraph.elements if inner.name == "Text").split())
