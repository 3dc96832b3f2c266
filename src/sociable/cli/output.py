"""What the command line prints: documents and sentences to standard output, progress and complaints to standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import typer
from rich.console import Console
from rich.text import Text

from sociable.core.errors import RunStopped, StorageFailure
from sociable.core.run_folder import SERIES_FILE
from sociable.core.view import Document, Section, Table

console = Console()
messages = Console(stderr=True)


@contextmanager
def resumable(folder: Path, command: str = "") -> Iterator[None]:
    """Tells how to go on when a run ends early: by ``sociable resume``, or by another ``command``."""
    try:
        yield
    except RunStopped as stop:
        begun = any((folder / name).exists() for name in ("manifest.json", SERIES_FILE))
        if begun and not isinstance(stop, StorageFailure):
            stop.add_note(f"Everything so far is kept. Go on with: {command or f'sociable resume {folder}'}")
        raise


def show_report(*folders: Path, out: Path | None = None) -> None:
    from sociable.api import runs

    document = runs.report_document(folders)
    print_summary(document)
    print_tables(section for section in document.sections if section.title.startswith("Rubric: "))
    say(f"Report: {runs.report(folders, out)}")
    for folder in folders:
        scores = runs.load_result(folder).scores
        if scores and all(score.outcome == "errored" for score in scores):
            messages.print(
                Text(f"sociable: every episode failed. Mend the cause, then: sociable resume {folder}"), soft_wrap=True
            )
            raise typer.Exit(3)


def print_summary(document: Document) -> None:
    from sociable.render.terminal import print_document

    print_document(document, console)


def print_whole(document: Document, out: Path | None = None) -> None:
    """A document with all its tables, and where it was written."""
    print_summary(document)
    print_tables(document.sections)
    if out:
        say(f"Report: {out}")


def print_tables(sections: Iterable[Section]) -> None:
    from sociable.render.terminal import print_blocks

    for section in sections:
        print_blocks([block for block in section.blocks if isinstance(block, Table)], console)


def say(text: str) -> None:
    console.print(Text(text), soft_wrap=True)


def complain(problem: object, code: int) -> NoReturn:
    from sociable.render.displayable import displayable

    for line in (f"sociable: {problem}", *getattr(problem, "__notes__", ())):
        messages.print(Text(displayable(line)), soft_wrap=True)
    sys.exit(code)
