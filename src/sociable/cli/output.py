"""Output of the command line: documents and sentences to standard output, progress and complaints to standard error."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer
from rich.console import Console
from rich.text import Text

from sociable import api
from sociable.core.errors import RunStopped, StorageFailure
from sociable.render.displayable import make_displayable

if TYPE_CHECKING:
    from sociable.cli.progress import DrawnProgress, PrintedProgress
    from sociable.core.view import Document, Section
    from sociable.engine.result import RunResult

console = Console()
messages = Console(stderr=True)


@contextmanager
def show_progress(
    folder: Path | None = None, *, command: str = "", hidden: bool = False
) -> Iterator[DrawnProgress | PrintedProgress]:
    """Draws how far a run is; where the one in ``folder`` ends early, tells how to go on: by ``command`` or ``sociable resume``.

    The progress is ``hidden`` while a person answers in the same terminal.
    """
    from sociable.cli.progress import DrawnProgress, PrintedProgress
    from sociable.core.run_folder import AUDIT_FILE, SERIES_FILE

    try:
        drawn = hidden or messages.is_terminal
        with DrawnProgress(messages, hidden=hidden) if drawn else PrintedProgress(messages) as progress:
            yield progress
    except RunStopped as stop:
        begun = folder is not None and any((folder / name).exists() for name in ("manifest.json", SERIES_FILE, AUDIT_FILE))
        if begun and not isinstance(stop, StorageFailure):
            stop.add_note(f"Everything so far is kept. Go on with: {command or f'sociable resume {folder}'}")
        raise


SECONDS_BEFORE_A_WORD = 2.0


@contextmanager
def tell_if_long(what: str) -> Iterator[None]:
    """Says what is being done where that takes some seconds."""
    word = threading.Timer(SECONDS_BEFORE_A_WORD, lambda: messages.print(Text(f"{what} …"), soft_wrap=True))
    word.daemon = True
    word.start()
    try:
        yield
    finally:
        word.cancel()


def show_report(results: Sequence[RunResult], out: Path | None = None) -> None:
    """Writes the report on these runs and prints its main table; ends with code 3 where a run failed altogether."""
    path = out or api.reports.name_report(results)
    with tell_if_long("Writing the report"):
        document = api.reports.write_document(api.reports.make_report_document(results), path)
    print_summary(document)
    print_tables(section for section in document.sections if section.title.startswith("Rubric: "))
    say(f"Report: {path}")
    for run in results:
        end_if_all_failed([run], run.folder)


def end_if_all_failed(results: Sequence[RunResult], folder: str | Path) -> None:
    """Ends with code 3 where nothing of the runs in a folder came to its end."""
    scores = [score for run in results for score in run.scores]
    if scores and all(score.outcome == "errored" for score in scores):
        failed = f"sociable: every episode failed. Mend the cause, then: sociable resume {folder}"
        messages.print(Text(failed), soft_wrap=True)
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
    from sociable.core.view import Table
    from sociable.render.terminal import print_blocks

    for section in sections:
        print_blocks([block for block in section.blocks if isinstance(block, Table)], console)


def say(text: str) -> None:
    console.print(Text(text), soft_wrap=True)


def complain(problem: object, code: int) -> NoReturn:
    for line in (f"sociable: {problem}", *getattr(problem, "__notes__", ())):
        messages.print(Text(make_displayable(line)), soft_wrap=True)
    sys.exit(code)
