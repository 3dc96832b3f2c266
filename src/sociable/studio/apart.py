"""Work that takes seconds is done in a process of its own: the server answers others meanwhile, and keeps none of its memory."""

from __future__ import annotations

import threading
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from sociable.core.errors import InputError, SociableError

T = TypeVar("T")

LONGEST_SECONDS = 120.0
LONGEST_WAIT_SECONDS = 30.0
"""The time that somebody waits for the work of others to end."""

_one_at_a_time = threading.Lock()


def do_apart(work: Callable[..., T], *arguments: Any, seconds: float = LONGEST_SECONDS) -> T:
    """What ``work``, a function of a module, returns for these arguments. One is done at a time.

    Raises InputError with the text of a SociableError that it raised, and where it takes too long.
    """
    if not _one_at_a_time.acquire(timeout=LONGEST_WAIT_SECONDS):
        raise InputError("The studio is still working something else out. Try again in a minute.")
    try:
        context = get_context("spawn")
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=_work, args=(sender, work, arguments), daemon=True)
        process.start()
        sender.close()
        try:
            if not receiver.poll(seconds):
                raise InputError(f"This takes longer than {seconds:g} seconds. Do it in a terminal: sociable --help")
            problem, value = receiver.recv()
        except EOFError:
            raise InputError("This could not be worked out; what happened stands in the terminal of the studio.") from None
        finally:
            receiver.close()
            process.kill()
            process.join()
    finally:
        _one_at_a_time.release()
    if problem:
        raise InputError(problem)
    return value  # type: ignore[no-any-return]


def _work(sender: Connection, work: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    try:
        answer = "", work(*arguments)
    except SociableError as error:
        answer = "\n".join([str(error), *getattr(error, "__notes__", ())]), None
    sender.send(answer)
