"""Who does the work on the items of a run: this process, or workers elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from sociable.core.records import Judgment
from sociable.engine.phases import UnderWay
from sociable.engine.ratings import RatingTask
from sociable.engine.seats import Seats
from sociable.engine.study import AnyStudy, Judged, JudgingTask, Referenced, TakesLong
from sociable.judging.rubric import Rubric, RubricJudgment, load_rubric_prompts, rate


class Executor(Protocol):
    """Does the work on one item and returns its record. Any number of items may be under way; raises what their work raises."""

    async def make_reference(self, scenario: str) -> Any: ...

    async def run_episode(self, scenario: str, repeat: int) -> Any: ...

    async def judge(self, task: JudgingTask, episode: Any, reference: Any) -> Judgment: ...

    async def rate(self, task: RatingTask) -> RubricJudgment: ...

    def measure_under_way(self) -> UnderWay:
        """How far the episodes under way have come, of a study whose episodes take long. From any thread."""


@dataclass
class LocalExecutor:
    """Works in this process and event loop."""

    study: AnyStudy
    seats: Seats
    rubric: Rubric | None = None

    @cached_property
    def _rubric_prompts(self) -> Any:
        return load_rubric_prompts()

    async def make_reference(self, scenario: str) -> Any:
        assert isinstance(self.study, Referenced)
        return await self.study.make_reference(scenario, self.seats)

    async def run_episode(self, scenario: str, repeat: int) -> Any:
        return await self.study.run_episode(scenario, repeat, self.seats)

    async def judge(self, task: JudgingTask, episode: Any, reference: Any) -> Judgment:
        assert isinstance(self.study, Judged)
        return await self.study.judge(task, episode, reference)

    async def rate(self, task: RatingTask) -> RubricJudgment:
        assert self.rubric is not None
        return await rate(self.rubric, task.rated, task.seat, self._rubric_prompts, identifier=task.id, episode=task.episode)

    def measure_under_way(self) -> UnderWay:
        return self.study.measure_under_way() if isinstance(self.study, TakesLong) else UnderWay(0.0, "")
