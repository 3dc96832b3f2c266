"""STSS bound to its town, people, tasks and options."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from sociable.agents.generative.briefing import load_generative_prompts
from sociable.benchmarks.stss.audit import make_audit
from sociable.benchmarks.stss.dataset import load_inputs
from sociable.benchmarks.stss.judge import (
    judge_activity,
    load_judge_prompts,
    name_criteria,
    read_decisions,
    show_question,
)
from sociable.benchmarks.stss.measure import AS_AUTHORS, list_activity_texts, measure_episode
from sociable.benchmarks.stss.metrics import OF_BEST, SCORE, MeasuredTask, declare_metrics
from sociable.benchmarks.stss.protocol import ALONE, Setting, Town, check_minds, fill_background, run_task
from sociable.benchmarks.stss.records import ActivityText, Measured, StssEpisode, StssOptions
from sociable.benchmarks.stss.rehearsal import SENTENCE, rehearse_reply
from sociable.benchmarks.stss.task import LAST_MINUTE, Task
from sociable.core.errors import InputError
from sociable.core.records import Judgment, Record, Score, Turn
from sociable.core.view import Document
from sociable.engine.phases import UnderWay
from sociable.engine.seats import Role, Seats
from sociable.engine.study import (
    Audited,
    Judged,
    JudgingTask,
    MeasuredByRule,
    ShownQuestion,
    Study,
    StudyOptions,
    TakesLong,
)
from sociable.town.clock import Clock, format_time_of_day
from sociable.town.events import Talked
from sociable.town.map import Address
from sociable.town.places import PlaceFinder


class StssStudy(
    Study[Task, StssEpisode, Record, Measured],
    MeasuredByRule[StssEpisode, Measured],
    Judged[StssEpisode, Record],
    Audited,
    TakesLong,
):
    episode_type = StssEpisode
    measurement_type = Measured
    cluster_field = "template"
    main_metrics = (OF_BEST, SCORE)
    input_options = ("town", "residents")
    tested_options = frozenset({"agent", "tasks", "scheduler", "plain", "injected", "closed", "fork"})

    def __init__(self, options: StudyOptions[StssOptions]) -> None:
        super().__init__(options)
        own = options.own
        self.resolved = options.resolve(**options.make_absolute_paths("town", "residents"))
        check_minds(own.agent, own.background_agent, embeddings=own.embeddings)
        self.inputs = inputs = load_inputs(options.dataset, own, Clock(), seed=options.seed, limit=options.limit)
        if unknown := {each.resident for each in own.injected if each.resident} - set(inputs.people):
            raise InputError(f"injected: nobody is called '{min(unknown)}' in {inputs.town.name}.")
        sectors = {address.sector for address in inputs.town.places}
        for place in (each.place for each in own.closed):
            if place not in sectors and Address.parse(place) not in inputs.town.places:
                raise InputError(
                    f"closed: there is no '{place}' in {inputs.town.name}; its places are: {', '.join(sorted(sectors))}."
                )
        self.setting = Setting(inputs.town, PlaceFinder(inputs.town), inputs.people, Clock(), own, options.seed, options.prompts)
        self.scenarios = inputs.tasks
        types = {name: task.type for name, task in self.scenarios.items()}
        self.metrics = declare_metrics(types, has_obstacles=own.level > 1)
        self.source, self.origin = inputs.source, inputs.origin
        self.digests = {**inputs.digests, "prompts": load_generative_prompts(options.prompts).digest}
        self.judge_prompts = self.digests["judge prompts"] = load_judge_prompts().digest
        alone = [] if Role.PARTNER in options.filled else [ALONE]
        as_authors = [AS_AUTHORS] if own.place == "planned" or own.attendance == "authors" else []
        self._under_way: list[Town] = []
        self._criteria: dict[str, dict[str, ActivityText]] = {}
        """What judges are asked, by episode that is finished."""
        self.notes = [*inputs.notes, *alone, *self.setting.list_changes(), *as_authors]

    def find_cast(self, scenario: str) -> Mapping[str, Role]:
        task = self.scenarios[scenario]
        return {name: Role.SUBJECT if name == task.performer else Role.PARTNER for name in task.residents}

    def list_turns(self, episode: StssEpisode) -> Sequence[Turn]:
        talks = [event for event in episode.events if isinstance(event, Talked)]
        lines = [(talk, line) for talk in talks for line in talk.lines]
        return [
            Turn(
                index=index,
                speaker=line.speaker,
                addressees=(talk.partner if line.speaker == talk.resident else talk.resident,),
                content=line.says,
                note=line.note,
            )
            for index, (talk, line) in enumerate(lines)
        ]

    async def run_episode(self, scenario: str, repeat: int, seats: Seats) -> StssEpisode:
        town = Town(self.scenarios[scenario], repeat, fill_background(seats), self.setting)
        self._under_way.append(town)
        try:
            return await run_task(town)
        finally:
            self._under_way.remove(town)

    def measure_under_way(self) -> UnderWay:
        minutes = sorted(town.minute for town in list(self._under_way))
        if not minutes:
            return UnderWay(0.0, "")
        moment = self.setting.clock.to_datetime(minutes[0])
        return UnderWay(sum(minutes) / LAST_MINUTE, f"{moment:%a} {format_time_of_day(minutes[0])}")

    def measure(self, episode: StssEpisode, judgments: Sequence[Judgment] = (), panel: Sequence[str] = ()) -> Measured:
        decisions = read_decisions(self._name_criteria(episode), judgments, panel) if judgments else {}
        return measure_episode(episode, self.setting.town, self.setting.clock, self.setting.options, decisions)

    def _name_criteria(self, episode: StssEpisode) -> dict[str, ActivityText]:
        if episode.id not in self._criteria:
            texts = list_activity_texts(episode, self.setting.town, self.setting.clock, self.setting.options)
            self._criteria[episode.id] = name_criteria(texts)
        return self._criteria[episode.id]

    def list_criteria(self, episode: StssEpisode) -> Sequence[str]:
        # An errored episode has nothing to ask of.
        return list(self._name_criteria(episode)) if episode.task is not None else []

    async def judge(self, task: JudgingTask, episode: StssEpisode, reference: Record | None) -> Judgment:
        asked = self._name_criteria(episode)[task.criterion]
        return await judge_activity(self.scenarios[task.scenario], asked, task.seat, episode, task.criterion)

    def show(self, episode: StssEpisode, criterion: str, reference: Record | None) -> ShownQuestion | None:
        asked = self._name_criteria(episode).get(criterion)
        return show_question(self.scenarios[episode.scenario], asked) if asked else None

    def score(
        self, episode: StssEpisode, judgments: Sequence[Judgment], panel: Sequence[str], measured: Measured | None
    ) -> list[Score]:
        context = MeasuredTask(self.scenarios[episode.scenario], measured)
        return self.metrics.score(episode, context, failure=measured.failure if measured else "")

    def rehearse(self, scenario: str, role: Role, participant: str, call: int, asked: str) -> str:
        if role is Role.JUDGE:
            return json.dumps({"reason": SENTENCE, "answer": "yes"})
        name, _, purpose = participant.partition("|")
        return rehearse_reply(purpose, self.setting.people[name], self.setting.clock, call, asked)

    def audit(self) -> Document:
        return make_audit(self.inputs)
