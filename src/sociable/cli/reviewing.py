"""One person's session of a review in the terminal: items are shown, and each decision is written down at once."""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.text import Text

from sociable.cli.output import console, say
from sociable.core.errors import InputError, Interrupted
from sociable.core.view import Quotation
from sociable.datasets.review.items import ReviewItem, State, find_value, fix_field, outline, parse_fix, show_json
from sociable.datasets.review.records import CHOICES, Choice, Group
from sociable.datasets.review.reviewing import Review
from sociable.render.displayable import make_displayable, make_displayable_line
from sociable.render.terminal import print_blocks


class _Wish(Exception):
    """The reviewer wants something else than to decide: ``stop``, ``take back`` the last decision, or begin an item ``again``."""


class Session:
    """One reviewer at one terminal, who works through the items of a group."""

    def __init__(self, review: Review, reviewer: str, group: Group) -> None:
        self._review = review
        self._reviewer = reviewer
        self._group = group

    def work(self, limit: int | None) -> None:
        """Shows items until there are no more, or enough. Raises Interrupted; what was decided stays decided."""
        waiting = self._review.find_open_items(self._reviewer, self._group)
        decided, begun = 0, time.monotonic()
        try:
            while waiting and (limit is None or decided < limit):
                count = min(len(waiting) + decided, limit or sys.maxsize)
                try:
                    self._decide(waiting[0], f"{decided + 1} of {count}", begun)
                    waiting.pop(0)
                    decided += 1
                except _Wish as wish:
                    if str(wish) == "stop":
                        break
                    if str(wish) == "again":
                        continue
                    taken = self._review.take_back(self._reviewer)
                    _tell(f"Taken back: {taken.id}" if taken else "There is nothing to take back.")
                    if taken:
                        waiting = [taken, *(item for item in waiting if item.id != taken.id)]
                        decided = max(0, decided - 1)
                begun = time.monotonic()
        except (KeyboardInterrupt, EOFError):
            say("")
            again = f"sociable review {shlex.quote(str(self._review.folder))} --reviewer {shlex.quote(self._reviewer)}"
            group = " --group 2" if self._group == 2 else ""
            raise Interrupted(f"Stopped. Every decision so far is kept. Go on with: {again}{group}") from None
        left = f"{len(waiting)} left." if waiting else self._tell_nothing_left()
        say("")
        say(f"{decided} decided in this session; {left}")

    def _tell_nothing_left(self) -> str:
        if self._group == 1:
            return "nothing is left for you."
        waiting = sum(outcome.state is State.FIRST for outcome in self._review.settle_all().values())
        return f"nothing is left of what the first group does not agree on; {waiting} items still wait for that group."

    def _decide(self, item: ReviewItem, place: str, begun: float) -> None:
        """Shows an item, asks all there is to ask, and writes the decision down. ``begun``: when the item was first shown."""
        _forget_typed_ahead()
        say("")
        _tell(f"── {place}: {make_displayable_line(item.id)} ──")
        print_blocks([Quotation(name, outline(value)) for name, value in item.record.items() if name != "id"], console)
        choice = self._ask_choice()
        fixed = self._ask_fix(item) if choice is Choice.FIX else None
        tags = self._ask_tags()
        note = _ask("Note (Enter for none):")
        took = time.monotonic() - begun
        made = self._review.decide(item, self._reviewer, self._group, choice, tags=tags, note=note, fixed=fixed, seconds=took)
        self._review.add([made])

    def _ask_choice(self) -> Choice:
        while True:
            typed = _ask("keep, fix or drop? (k, f, d; u takes back the last, q stops, ? explains)").lower()
            if typed in CHOICES:
                return CHOICES[typed]
            if typed == "u":
                raise _Wish("take back")
            if typed == "q":
                raise _Wish("stop")
            if typed == "?":
                say("keep: good as it is. fix: worth keeping, with a change. drop: it does not belong in the data.")
                self._explain_tags()
            else:
                say("Please type k, f, d, u, q or ?.")

    def _explain_tags(self) -> None:
        for number, tag in enumerate(self._review.settings.tags, start=1):
            about = f" ({tag.question}; one of these)" if tag.question else ""
            _tell(f"  {number:>2}  {make_displayable_line(tag.name)}: {make_displayable_line(tag.means)}{about}")

    def _ask_tags(self) -> list[str]:
        known = ", ".join(f"{number} {tag.name}" for number, tag in enumerate(self._review.settings.tags, start=1))
        _tell(f"Tags: {make_displayable_line(known, 2000)}")
        while True:
            typed = _ask("Numbers or names (Enter for none, ? explains):")
            if typed == "?":
                self._explain_tags()
                continue
            try:
                return self._review.find_tags(typed.replace(",", " ").split())
            except InputError as problem:
                _tell(str(problem))

    def _ask_fix(self, item: ReviewItem) -> dict[str, Any] | None:
        """The record as it should be; None where the reviewer only says that it needs a fix."""
        only_said = ", n only say that it needs fixing" if self._group == 1 else ""
        while True:
            typed = _ask(f"How? (e edit it whole, f give one field a new value{only_said}, Enter goes back)").lower()
            if not typed:
                raise _Wish("again")
            if typed == "n" and only_said:
                return None
            fixed = _edit_item(item) if typed == "e" else _ask_new_values(item) if typed == "f" else None
            try:
                if fixed is not None:
                    self._review.check_layout(fixed)
                    return fixed
            except InputError as problem:
                _tell(str(problem))


def _edit_item(item: ReviewItem) -> dict[str, Any] | None:
    """The record as the reviewer leaves it in an editor; None where the fix is given up."""
    text = show_json(item.record)
    while True:
        text = edit(text)
        try:
            return parse_fix(text, item)
        except InputError as problem:
            _tell(str(problem))
        if _ask("Enter opens the editor again; b goes back, without the fix.").lower() in ("b", "q"):
            return None


def _ask_new_values(item: ReviewItem) -> dict[str, Any] | None:
    """The record with new values in some fields; None where there are none."""
    record: dict[str, Any] | None = None
    _tell(f"Fields: {make_displayable_line(', '.join(name for name in item.record if name != 'id'), 2000)}")
    while path := _ask("Field (name, or a path as in cast.0.goal; Enter for no other):"):
        try:
            _tell(f"It is now: {outline(find_value(record or item.record, path))}")
            if value := _ask("New value, on one line (Enter leaves it as it is):"):
                record = fix_field(item, record or item.record, path, value)
        except InputError as problem:
            _tell(str(problem))
    return record


def edit(text: str) -> str:
    """The text as somebody leaves it in an editor ($VISUAL or $EDITOR), and as it was where that cannot be run or read."""
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
    console.print(Text(make_displayable(text)))


def _ask(question: str) -> str:
    """The line that is typed, without blanks around it. Raises EOFError where the input ends."""
    console.print(question, end=" ", markup=False, highlight=False, soft_wrap=True)
    console.file.flush()
    # Not input(): bytes that are no text are no reason to lose a session.
    line = sys.stdin.buffer.readline()
    if not line:
        raise EOFError
    return line.decode("utf-8", "replace").strip()


def _forget_typed_ahead() -> None:
    """Forgets what was typed before an item was on the screen: nobody can have meant it. A pipe is another matter."""
    if sys.stdin.isatty():
        with contextlib.suppress(ImportError):  # Windows has none
            import termios

            termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
