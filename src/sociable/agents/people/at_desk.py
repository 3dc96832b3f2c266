"""People in a model's place who answer at the desk of a run, several at once."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Sequence

from sociable.agents.people.desk import SECONDS_BETWEEN_BEATS, Answer, Desk, Place
from sociable.agents.people.person import make_plain_form
from sociable.core.errors import SociableError
from sociable.core.form import PERSON
from sociable.core.records import Usage, make_storable
from sociable.models.protocol import Reply, Request, Timing

_SECONDS_BETWEEN_LOOKS = 0.2


class PeopleAtDesk:
    """The people at a desk, as one model. ``seats`` is the number of them that one case needs."""

    name = PERSON
    abandonable = True
    """A stop need not wait for an answer that has not been given."""

    def __init__(self, desk: Desk, seats: int = 1) -> None:
        self._desk = desk
        self._seats = seats
        self._waiting: dict[str, asyncio.Future[Answer]] = {}
        self._in_play: set[str] = set()
        self._changed = asyncio.Event()
        self._looking: asyncio.Task[None] | None = None
        self._progress = "", 0, 0
        self._failure: SociableError | None = None
        desk.clear()
        desk.end_all_cases()

    def note_progress(self, phase: str, done: int, total: int) -> None:
        """Takes note of how many items of a phase are over, of how many."""
        self._progress = phase, done, total

    async def begin_case(self, item: str) -> None:
        """Returns when there are people for one more case, which then is in play until ``end_case``."""
        self._look_on()
        while len(self._in_play) >= max(1, self._desk.count_playable(self._seats)):
            self._changed.clear()
            await self._changed.wait()
            self._check()
        self._in_play.add(item)
        self._desk.begin_case(item)

    def end_case(self, item: str) -> None:
        self._in_play.discard(item)
        self._desk.end_case(item)
        self._changed.set()

    async def generate(self, request: Request) -> Reply:
        """The reply of whoever sits in the request's place. Raises StorageFailure."""
        form = request.form() if request.form else make_plain_form(request)
        scope, identifier = request.scope, request.key
        self._look_on()
        answered = self._waiting[identifier] = asyncio.get_running_loop().create_future()
        try:
            # What one participant is asked for several purposes is asked at one place.
            self._desk.put(identifier, Place(scope.item, scope.role, scope.participant.partition("|")[0]), form)
            # It may have been given to a run that ended before it could take it.
            answer = self._desk.find_answer(identifier) or await answered
        finally:
            del self._waiting[identifier]
            self._desk.withdraw(identifier)
        reply = make_storable(form.reply(answer.answers)).strip()
        return Reply(reply, Usage(calls=1), timing=Timing(answer.seconds))

    def _look_on(self) -> None:
        self._check()
        if self._looking is None:
            self._looking = asyncio.ensure_future(self._look_for_answers())

    def _check(self) -> None:
        """Raises the failure that ended the looking."""
        if self._failure:
            raise self._failure

    async def _look_for_answers(self) -> None:
        """Looks for the answers to all questions that wait, and tells now and then that the run is there."""
        told, before = 0.0, -1
        try:
            while True:
                if time.monotonic() - told >= SECONDS_BETWEEN_BEATS:
                    self._desk.beat(*self._progress)
                    told = time.monotonic()
                if (changes := self._desk.count_changes()) != before:
                    before = changes
                    self._changed.set()
                    if self._waiting:
                        self._hand_out(self._desk.list_new_answers())
                await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)
        except SociableError as error:
            self._failure = error
            self._changed.set()
            for waiting in (each for each in self._waiting.values() if not each.done()):
                waiting.set_exception(error)

    def _hand_out(self, answers: Sequence[Answer]) -> None:
        for answer in answers:
            waiting = self._waiting.get(answer.question)
            if waiting is not None and not waiting.done():
                waiting.set_result(answer)

    async def close(self) -> None:
        """Leaves the desk; may be called again."""
        if self._looking is not None:
            self._looking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._looking
            self._looking = None
