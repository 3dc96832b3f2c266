"""One way into a play, whatever its layout."""

from __future__ import annotations

from pathlib import Path

from sociable.construction.plays.frame import lines_of, without_frame
from sociable.construction.plays.plain import read_plain
from sociable.construction.plays.records import Play
from sociable.construction.plays.screenplay import (
    is_scene_heading,
    is_typed_screenplay,
    read_final_draft,
    read_fountain,
    read_typed,
)
from sociable.construction.plays.standard_ebooks import chapters_in, read_standard_ebooks
from sociable.core.errors import InputError
from sociable.core.records import storable

_FOUNTAIN = frozenset({".fountain", ".spmd"})
_XHTML = frozenset({".xhtml", ".html", ".htm"})
_LARGEST_BYTES = 50_000_000


def read_play(path: Path) -> Play:
    """The play in a file or folder, whose layout is found out.

    Known are plays in plain text (with Project Gutenberg's frame or without it), folders and files of Standard Ebooks XHTML,
    Fountain, Final Draft's XML (.fdx) and typed screenplays. Raises InputError, or DataError with the line, where it is none.
    """
    if path.is_dir():
        files = chapters_in(path)
        if not files:
            raise InputError(
                f"{path}: no play in this folder: expected act-1.xhtml and its like, in it or under src/epub/text, as Standard "
                "Ebooks has them. For a play in one file give the file."
            )
        return read_standard_ebooks(path, files)
    try:
        size = path.stat().st_size
        data = path.read_bytes() if size <= _LARGEST_BYTES else b""
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}. Give a play's file or folder.") from None
    if size > _LARGEST_BYTES:
        raise InputError(f"{path}: {size} bytes; no play is larger than {_LARGEST_BYTES}. Give one play.")
    if path.suffix.casefold() == ".fdx" or (
        data[:400].lstrip(b"\xef\xbb\xbf \r\n").startswith(b"<?xml") and b"<FinalDraft" in data[:2000]
    ):
        return read_final_draft(path, data)
    if path.suffix.casefold() in _XHTML:
        return read_standard_ebooks(path, [path])
    return _read_text(path, _decoded(path, data))


def _read_text(path: Path, text: str) -> Play:
    if path.suffix.casefold() in _FOUNTAIN:
        return read_fountain(path, text)
    lines = without_frame(lines_of(text))
    headings = sum(is_scene_heading(line.text) for line in lines)
    if is_typed_screenplay(lines):
        return read_typed(path, text)
    if headings >= 2:
        return read_fountain(path, text)
    return read_plain(path, text)


def _decoded(path: Path, data: bytes) -> str:
    if b"\0" in data[:4096] and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{path}: no text file. Save the play as plain text, or give .fountain, .fdx or Standard Ebooks XHTML.")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return storable(data.decode("utf-16", "replace"))
    try:
        return storable(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        # Older editions are in the Western code page.
        return data.decode("cp1252", "replace")
