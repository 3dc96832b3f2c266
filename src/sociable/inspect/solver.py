"""The solver: plays one episode of a benchmark, as a run does."""

from __future__ import annotations

import asyncio
from collections import defaultdict

from inspect_ai.solver import Generate, Solver, TaskState, solver
from pydantic import BaseModel

from sociable.engine.study import Referenced
from sociable.inspect.samples import EPISODE, REFERENCE, make_messages, make_output
from sociable.inspect.seating import Seated, take_seats


class References:
    """The references of one task: each is made once, for all epochs."""

    def __init__(self) -> None:
        self._made: dict[str, BaseModel] = {}
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def find(self, seated: Seated, scenario: str) -> BaseModel:
        """The reference for a scenario, made now if nobody has asked for it before. Raises RunFailure."""
        study = seated.opened.study
        assert isinstance(study, Referenced)
        async with self._locks[scenario]:
            if scenario not in self._made:
                self._made[scenario] = await study.make_reference(scenario, seated.seats)
        return self._made[scenario]


@solver
def play() -> Solver:
    """Plays the sample's case with the models of the task, and keeps the episode in the sample's store."""
    references = References()

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        seated = take_seats(state.metadata)
        study, scenario = seated.opened.study, str(state.sample_id)
        episode = await study.run_episode(scenario, state.epoch - 1, seated.seats)
        state.store.set(EPISODE, episode.model_dump(mode="json"))
        messages = make_messages(study, episode)
        state.output = make_output(seated.seats.subject.name, messages)
        # More would end the sample here, when all has been said already.
        state.messages = messages[: state.message_limit]
        if seated.opened.makes_references:
            reference = await references.find(seated, scenario)
            state.store.set(REFERENCE, reference.model_dump(mode="json"))
        return state

    return solve
