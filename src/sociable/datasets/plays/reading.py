"""One way into a play, whatever its layout."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from sociable.core.errors import InputError
from sociable.core.records import make_storable
from sociable.datasets.plays.final_draft import read_final_draft
from sociable.datasets.plays.fountain import read_fountain
from sociable.datasets.plays.labels import FEW_SPEECHES, is_talk
from sociable.datasets.plays.plain import read_plain
from sociable.datasets.plays.records import Play
from sociable.datasets.plays.standard_ebooks import find_chapters, read_standard_ebooks
from sociable.datasets.plays.tei import read_tei
from sociable.datasets.plays.tree import LARGEST_BYTES
from sociable.datasets.plays.typed import find_layout, read_typed, split_pages

_FOUNTAIN = frozenset({".fountain", ".spmd"})
_XHTML = frozenset({".xhtml", ".html", ".htm"})
_LINES_PER_SPEECH, _LINES_PER_PLAIN_SPEECH = 60, 20


def read_play(path: Path) -> Play:
    """The play in a file or folder, whose layout is found out.

    Known are plays in plain text (with Project Gutenberg's frame or without it), folders and files of Standard Ebooks XHTML,
    TEI as DraCor publishes it (.xml), Fountain, Final Draft's XML (.fdx) and typed screenplays. Raises InputError, or DataError
    with the line, where it is none.
    """
    if path.is_dir():
        files = find_chapters(path)
        if not files:
            raise InputError(
                f"{path}: no play in this folder: expected act-1.xhtml and its like, in it or under src/epub/text, as Standard "
                "Ebooks has them. For a play in one file give the file."
            )
        return read_standard_ebooks(path, files)
    try:
        size = path.stat().st_size
        data = path.read_bytes() if size <= LARGEST_BYTES else b""
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}. Give a play's file or folder.") from None
    if size > LARGEST_BYTES:
        raise InputError(f"{path}: {size} bytes; no play is larger than {LARGEST_BYTES}. Give one play.")
    kind, is_xml = path.suffix.casefold(), data.lstrip(b"\xef\xbb\xbf \r\n").startswith(b"<")
    if kind == ".fdx" or (is_xml and b"<FinalDraft" in data[:2000]):
        return read_final_draft(path, data)
    if kind == ".xml" or (is_xml and b"<TEI" in data[:2000]):
        return read_tei(path, data)
    if kind in _XHTML:
        return read_standard_ebooks(path, [path])
    return _read_text(path, _decode(path, data))


def _read_text(path: Path, text: str) -> Play:
    if path.suffix.casefold() in _FOUNTAIN:
        return read_fountain(path, text)
    pages = split_pages(text)
    layout = find_layout(pages)
    if not pages.is_film:
        return read_typed(path, pages, layout) if layout is not None else read_plain(path, text)
    readers: list[tuple[Callable[[], Play], int]] = [
        *([(lambda: read_typed(path, pages, layout), _LINES_PER_SPEECH)] if layout is not None else []),
        (lambda: read_fountain(path, text), _LINES_PER_SPEECH),
        (lambda: read_plain(path, text), _LINES_PER_PLAIN_SPEECH),
    ]
    filled = sum(not line.is_blank for line in pages.lines)
    for read, lines_per_speech in readers:
        with suppress(InputError):
            play = read()
            speakers = [speech.speaker for speech in play.list_speeches()]
            # Of a short script any speech will do.
            is_short = len(speakers) < FEW_SPEECHES and filled < FEW_SPEECHES * lines_per_speech
            if is_short or is_talk(speakers, filled, lines_per_speech):
                return play
    raise InputError(
        f"{path}: a film script whose layout does not tell who speaks. Expected names in capitals on lines of their own over the "
        "speeches, or 'NAME: speech'. Lines that a PDF's text lost can be had by saving it with its layout; or give a Fountain "
        "(.fountain) or Final Draft (.fdx) file."
    )


def _decode(path: Path, data: bytes) -> str:
    if b"\0" in data[:4096] and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{path}: no text file. Save the play as plain text, or give .fountain, .fdx or Standard Ebooks XHTML.")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return make_storable(data.decode("utf-16", "replace"))
    try:
        return make_storable(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        # Older editions are in the Western code page.
        return data.decode("cp1252", "replace")
