"""A person in a model's place at the terminal: shown the scene there, and asked one question after the other."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from sociable.agents.people.person import count_known, make_plain_form
from sociable.core.errors import Interrupted
from sociable.core.form import PERSON, Question
from sociable.core.records import Usage, make_storable
from sociable.core.view import Block, Line, Transcript
from sociable.models.protocol import Reply, Request, Timing


class PersonAtTerminal:
    """The person at the terminal. ``show`` draws blocks there, ``say`` writes a line; ``keyboard`` is a file descriptor."""

    name = PERSON
    abandonable = True
    """A stop need not wait for an answer that has not been given."""

    def __init__(self, show: Callable[[Sequence[Block]], None], say: Callable[[str], None], keyboard: int = 0) -> None:
        self._show = show
        self._say = say
        self._keyboard = keyboard
        self._typed = b""
        self._turn = asyncio.Lock()
        self._case = asyncio.Lock()
        self._shown: dict[str, Sequence[Line]] = {}
        """The lines of each transcript that were shown last, by its title."""
        self._done = (0, 0)

    def note_progress(self, phase: str, done: int, total: int) -> None:
        """Takes note of how many items of a phase are over, of how many."""
        self._done = done, total

    async def begin_case(self, item: str) -> None:
        """Returns when no other case is under way: a person is asked one from beginning to end."""
        await self._case.acquire()

    def end_case(self, item: str) -> None:
        self._case.release()

    async def generate(self, request: Request) -> Reply:
        """Raises Interrupted when the person's input ends."""
        form = request.form() if request.form else make_plain_form(request)
        async with self._turn:
            shown = time.perf_counter()
            self._forget_what_was_typed_ahead()
            done, total = self._done
            self._say("")
            self._say(f"── {form.title} ({done} of {total} done; Ctrl-C stops, and sociable resume goes on) ──")
            self._show([part for block in form.blocks for part in self._mark_news(block)])
            answers = [await self._ask(question) for question in form.questions]
            seconds = time.perf_counter() - shown
        return Reply(make_storable(form.reply(answers)).strip(), Usage(calls=1), timing=Timing(seconds))

    def _mark_news(self, block: Block) -> list[Block]:
        """A transcript of which the beginning was shown last time, in two parts; any other block as it is."""
        if not isinstance(block, Transcript) or block.folded:
            return [block]
        before = self._shown.get(block.title, ())
        self._shown[block.title] = block.lines
        if not (known := count_known(block.lines, before)):
            return [block]
        old = replace(block, title=f"{block.title}, as you have seen it".lstrip(", "), lines=block.lines[:known])
        return [old, replace(block, title="New since your last case", lines=block.lines[known:])]

    def _forget_what_was_typed_ahead(self) -> None:
        """Drops what nobody can have meant for a question that was not on the screen yet; a pipe is another matter."""
        if not os.isatty(self._keyboard):
            return
        self._typed = b""
        try:
            import termios
        except ImportError:  # Windows has none
            return
        termios.tcflush(self._keyboard, termios.TCIFLUSH)

    async def _ask(self, question: Question) -> str:
        self._say("")
        self._say(question.text)
        for number, choice in enumerate(question.choices, start=1):
            self._say(f"  {number}  {choice}")
        if question.is_long:
            self._say("(End with an empty line.)")
        while True:
            answer = await self._read_lines() if question.is_long else await self._read_line()
            answer = _find_choice(answer, question.choices) or answer
            problem = question.find_problem(answer)
            if not problem:
                return answer
            wanted = f"Please type a number from 1 to {len(question.choices)}, or what stands there."
            self._say(wanted if question.choices else "Please type what you say.")

    async def _read_lines(self) -> str:
        """The lines that are typed up to an empty one."""
        lines: list[str] = []
        while line := await self._read_line():
            lines.append(line)
        return "\n".join(lines)

    async def _read_line(self) -> str:
        """The next line that is typed. Waiting for it can be abandoned, where the system allows."""
        while b"\n" not in self._typed:
            more = await self._read_more()
            if not more and not self._typed:
                raise Interrupted("The input ended.")
            if not more:
                break
            self._typed += more
        line, _, self._typed = self._typed.partition(b"\n")
        return line.decode("utf-8", "replace").strip()

    async def _read_more(self) -> bytes:
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        try:
            loop.add_reader(self._keyboard, ready.set)
        except (NotImplementedError, PermissionError, ValueError):
            # Windows, and files: there reading cannot be abandoned.
            return await loop.run_in_executor(None, os.read, self._keyboard, 65536)
        try:
            await ready.wait()
        finally:
            loop.remove_reader(self._keyboard)
        return os.read(self._keyboard, 65536)

    async def close(self) -> None:
        pass


def _find_choice(answer: str, choices: Sequence[str]) -> str | None:
    """The choice meant by a number, a name, or the beginning of one name only."""
    exact = [choice for choice in choices if choice.lower() == answer.lower()]
    number = int(answer[:9]) if answer.isdecimal() else 0
    numbered = choices[number - 1 : number] if number else []
    begun = [choice for choice in choices if answer and choice.lower().startswith(answer.lower())]
    return next((meant[0] for meant in (exact[:1], numbered, begun) if len(meant) == 1), None)
