"""Going through a study without asking anybody: what would be sent, and about what it would cost.

Every model is replaced by one that says what the study expects it to say on the longest way through a scenario; the
protocol and the prompts are the real ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from sociable.core.records import Usage
from sociable.engine.seats import Role, Seat, Seats
from sociable.engine.study import AnyStudy, Judged, Referenced
from sociable.models.protocol import CHARACTERS_PER_TOKEN, Reply, Request


@dataclass(frozen=True, slots=True)
class RehearsedCall:
    role: Role
    model: str
    participant: str
    request: Request
    reply: str

    @property
    def usage(self) -> Usage:
        """The estimated usage of the call."""
        asked = sum(len(message["content"]) + 12 for message in self.request.messages)
        tokens = [math.ceil(characters / CHARACTERS_PER_TOKEN) for characters in (asked, len(self.reply))]
        return Usage(calls=1, input_tokens=tokens[0], output_tokens=tokens[1])


class RehearsalModel:
    """Stands in for the model of one seat in one scenario."""

    def __init__(self, study: AnyStudy, scenario: str, seat: Seat, calls: list[RehearsedCall]) -> None:
        self.name = seat.name
        self._study = study
        self._scenario = scenario
        self._seat = seat
        self._calls = calls
        self._asked: dict[str, int] = {}

    async def generate(self, request: Request) -> Reply:
        place = self._asked.get(request.scope.name, 0)
        self._asked[request.scope.name] = place + 1
        asked = request.messages[-1]["content"]
        text = self._study.rehearse(self._scenario, Role(request.scope.role), request.scope.participant, place, asked)
        # A seat may be taken in two roles: by a model that plays the others as well.
        self._calls.append(RehearsedCall(Role(request.scope.role), self.name, request.scope.participant, request, text))
        return Reply(text, Usage(calls=1))

    async def close(self) -> None:
        pass


async def rehearse(
    study: AnyStudy, seats: Seats, scenarios: Sequence[str], repeats: int, *, references: bool
) -> list[RehearsedCall]:
    """The calls of all scenarios, in order. ``references`` says whether references are made."""
    calls: list[RehearsedCall] = []
    for scenario in scenarios:
        reference = None
        stand_ins = seats.change_each(partial(_stand_in, study, scenario, calls))
        if references:
            assert isinstance(study, Referenced)
            reference = await study.make_reference(scenario, stand_ins)
        for repeat in range(repeats):
            episode = await study.run_episode(scenario, repeat, stand_ins)
            if isinstance(study, Judged):
                for task in study.list_judging_tasks(episode, stand_ins.judges):
                    await study.judge(task, episode, reference)
    return calls


def _stand_in(study: AnyStudy, scenario: str, calls: list[RehearsedCall], seat: Seat) -> Seat:
    return seat if seat.model is None else replace(seat, model=RehearsalModel(study, scenario, seat, calls))
