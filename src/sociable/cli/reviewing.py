"""One person's session of a review in the terminal: items are shown, and each decision is written down at once."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.text import Text

from sociable.cli.output import console, say
from sociable.core.errors import InputError, Interrupted
from sociable.core.view import Block, Quotation
from sociable.datasets.review.items import ReviewItem, fix_field, outline, parse_fix, shown_json, value_at
from sociable.datasets.review.outcomes import State
from sociable.datasets.review.records import Choice, Group
from sociable.datasets.review.reviewing import Review
from sociable.render.displayable import displayable, displayable_line
from sociable.render.terminal import print_blocks


class _Stop(Exception):
    """The reviewer asked for no more."""


class _TakenBack(Exception):
    """The reviewer takes back the last decision."""


class _Again(Exception):
    """The reviewer goes back to the beginning of an item."""


class Reviewing:
    """One person's session."""

    def __init__(self, review: Review, reviewer: str, group: Group) -> None:
        self._review = review
        self._reviewer = reviewer
        self._group = group

    def work(self, limit: int | None) -> None:
        """Shows items until there are no more, or enough. Raises Interrupted; what was decided stays decided."""
        waiting = self._review.open_items(self._reviewer, self._group)
        decided = 0
        try:
            while waiting and (limit is None or decided < limit):
                count = min(len(waiting) + decided, limit or sys.maxsize)
                try:
                    self._decide(waiting[0], f"{decided + 1} of {count}")
                except _TakenBack:
                    taken = self._review.take_back(self._reviewer)
                    if taken is None:
                        _tell("There is nothing to take back.")
                        continue
                    _tell(f"Taken back: {taken.id}")
                    waiting = [taken, *(item for item in waiting if item.id != taken.id)]
                    decided = max(0, decided - 1)
                else:
                    waiting.pop(0)
                    decided += 1
        except _Stop:
            pass
        except (KeyboardInterrupt, EOFError):
            say("")
            again = f"sociable review {shlex.quote(str(self._review.folder))} --reviewer {shlex.quote(self._reviewer)}"
            group = " --group 2" if self._group == 2 else ""
            raise Interrupted(f"Stopped. Every decision so far is kept. Go on with: {again}{group}") from None
        left = f"{len(waiting)} left." if waiting else self._nothing_left()
        say("")
        say(f"{decided} decided in this session; {left}")

    def _nothing_left(self) -> str:
        if self._group == 1:
            return "nothing is left for you."
        waiting = sum(outcome.state is State.FIRST for outcome in self._review.outcomes().values())
        return f"nothing is left of what the first group does not agree on; {waiting} items still wait for that group."

    def _decide(self, item: ReviewItem, place: str) -> None:
        """Shows an item, asks all there is to ask, and writes the decision down."""
        begun = time.monotonic()
        while True:
            _forget_what_was_typed_ahead()
            say("")
            _tell(f"── {place}: {displayable_line(item.id)} ──")
            print_blocks(_blocks(item.record), console)
            try:
                choice = self._choice()
                fixed = self._fix(item) if choice is Choice.FIX else None
                tags = self._tags()
                note = _line("Note (Enter for none):")
            except _Again:
                continue
            seconds = time.monotonic() - begun
            made = self._review.decision(
                item, self._reviewer, self._group, choice, tags=tags, note=note, fixed=fixed, seconds=seconds
            )
            self._review.add([made])
            return

    def _choice(self) -> Choice:
        while True:
            match _line("keep, fix or drop? (k, f, d; u takes back the last, q stops, ? explains)").lower():
                case "k" | "keep":
                    return Choice.KEEP
                case "f" | "fix":
                    return Choice.FIX
                case "d" | "drop":
                    return Choice.DROP
                case "u":
                    raise _TakenBack
                case "q":
                    raise _Stop
                case "?":
                    say("keep: good as it is. fix: worth keeping, with a change. drop: it does not belong in the data.")
                    self._explain_tags()
                case _:
                    say("Please type k, f, d, u, q or ?.")

    def _explain_tags(self) -> None:
        for number, tag in enumerate(self._review.settings.tags, start=1):
            about = f" ({tag.question}; one of these)" if tag.question else ""
            _tell(f"  {number:>2}  {displayable_line(tag.name)}: {displayable_line(tag.means)}{about}")

    def _tags(self) -> list[str]:
        known = ", ".join(f"{number} {tag.name}" for number, tag in enumerate(self._review.settings.tags, start=1))
        _tell(f"Tags: {displayable_line(known, 2000)}")
        while True:
            typed = _line("Numbers or names (Enter for none, ? explains):")
            if typed == "?":
                self._explain_tags()
                continue
            try:
                return self._review.chosen_tags(typed.replace(",", " ").split())
            except InputError as problem:
                _tell(str(problem))

    def _fix(self, item: ReviewItem) -> dict[str, Any] | None:
        """The record as it should be; None where the reviewer only says that it needs a fix."""
        only_said = ", n only say that it needs fixing" if self._group == 1 else ""
        while True:
            match _line(f"How? (e edit it whole, f give one field a new value{only_said}, Enter goes back)").lower():
                case "e":
                    fixed = self._edited(item)
                case "f":
                    fixed = self._with_new_values(item)
                case "n" if only_said:
                    return None
                case "":
                    raise _Again
                case _:
                    continue
            if fixed is None:
                continue
            try:
                self._review.check(fixed)
            except InputError as problem:
                _tell(str(problem))
            else:
                return fixed

    def _edited(self, item: ReviewItem) -> dict[str, Any] | None:
        text = shown_json(item.record)
        while True:
            text = edit(text)
            try:
                return parse_fix(text, item)
            except InputError as problem:
                _tell(str(problem))
            if _line("Enter opens the editor again; b goes back, without the fix.").lower() in ("b", "q"):
                return None

    def _with_new_values(self, item: ReviewItem) -> dict[str, Any] | None:
        record: dict[str, Any] | None = None
        _tell(f"Fields: {displayable_line(', '.join(name for name in item.record if name != 'id'), 2000)}")
        while path := _line("Field (name, or a path as in cast.0.goal; Enter for no other):"):
            try:
                _tell(f"It is now: {outline(value_at(record or item.record, path))}")
                if value := _line("New value, on one line (Enter leaves it as it is):"):
                    record = fix_field(item, record or item.record, path, value)
            except InputError as problem:
                _tell(str(problem))
        return record


def _blocks(record: Any) -> Sequence[Block]:
    return [Quotation(name, outline(value)) for name, value in record.items() if name != "id"]


def edit(text: str) -> str:
    """What somebody makes of ``text`` in their editor ($VISUAL or $EDITOR). What cannot be run or read leaves it as it was."""
    named = (os.environ.get("VISUAL") or os.environ.get("EDITOR") or "").strip() or ("notepad" if os.name == "nt" else "vi")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "item.json"
        file.write_text(text, encoding="utf-8")
        try:
            # The user's own editor, from the user's own environment.
            command = [*shlex.split(named, posix=os.name != "nt"), str(file)]
            ended = subprocess.run(command, check=False).returncode  # noqa: S603
            if ended:
                _tell(f"{named} ended with {ended}. Nothing was taken over.")
                return text
            return file.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            _tell(f"{named}: {error}. Name an editor in the environment variable EDITOR.")
            return text


def _tell(text: str) -> None:
    """Says what may hold foreign text, broken between words."""
    console.print(Text(displayable(text)))


def _line(question: str) -> str:
    """What is typed, without blanks around it. Raises EOFError where the input ends."""
    console.print(question, end=" ", markup=False, highlight=False, soft_wrap=True)
    console.file.flush()
    # Not input(): bytes that are no text are no reason to lose a session.
    line = sys.stdin.buffer.readline()
    if not line:
        raise EOFError
    return line.decode("utf-8", "replace").strip()


def _forget_what_was_typed_ahead() -> None:
    """Nobody can have meant it for an item that was not on the screen. A pipe is another matter."""
    if not sys.stdin.isatty():
        return
    try:
        import termios
    except ImportError:  # Windows has none
        return
    termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
