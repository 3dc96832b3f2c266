"""HSII live bound to its dossiers, prompts and options."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache, partial

from sociable.benchmarks.hsii.live.audit import make_audit
from sociable.benchmarks.hsii.live.briefing import load_live_prompts
from sociable.benchmarks.hsii.live.dataset import load_dossiers
from sociable.benchmarks.hsii.live.drawing import select_scenarios
from sociable.benchmarks.hsii.live.judge import judge_watched, list_told, show_question
from sociable.benchmarks.hsii.live.metrics import METRICS, Played, find_share
from sociable.benchmarks.hsii.live.protocol import Assistant, ModelAssistant, run_scenario
from sociable.benchmarks.hsii.live.records import LiveEpisode, LiveOptions
from sociable.benchmarks.hsii.live.reference import DEPTHS, ReferenceAssistant
from sociable.benchmarks.hsii.live.scenario import Scenario
from sociable.benchmarks.hsii.live.solver import Solution, solve
from sociable.benchmarks.hsii.live.watched import list_watched
from sociable.core.records import Judgment, Record, Score, make_episode_id
from sociable.core.view import Document
from sociable.engine.event_loop import run_to_end
from sociable.engine.seats import Role, Seat, Seats
from sociable.engine.study import Audited, Judged, JudgingTask, ShownQuestion, Study, StudyOptions
from sociable.models.protocol import Sampling

_SENTENCE = "I wanted to ask you what it is about the days that makes them hard, since I would rather know than guess. "

ALONE = (
    "No partner was named: the people were written ones, who look for wordings in what they get. That is exact for reference "
    "assistants and rough for a model."
)
"""The note that tells a reader of the scores who the people were."""


class LiveStudy(Study[Scenario, LiveEpisode], Judged[LiveEpisode, Record], Audited):
    episode_type = LiveEpisode
    metrics = METRICS
    cluster_field = "dossier.id"

    def __init__(self, options: StudyOptions[LiveOptions]) -> None:
        super().__init__(options)
        self.prompts = load_live_prompts(options.prompts)
        self.options = options.own
        loaded = load_dossiers(options.dataset, skip_invalid=options.skip_invalid)
        scenarios = select_scenarios(loaded.items, options.own, options.limit, options.seed)
        alone = [] if Role.PARTNER in options.filled else [ALONE]
        self.take_data(loaded, scenarios, {"prompts": self.prompts}, alone)
        self._measure_depths = cache(self._measure_depths_anew)

    def find_cast(self, scenario: str) -> Mapping[str, Role]:
        played = [name for name in self.scenarios[scenario].people if self.options.character in ("", name)]
        return dict.fromkeys(played if Role.PARTNER in self.filled else (), Role.PARTNER)

    async def run_episode(self, scenario: str, repeat: int, seats: Seats) -> LiveEpisode:
        own, seat = self.scenarios[scenario], seats.subject
        if seat.model is not None:
            assistant: Assistant = ModelAssistant(own, seat, make_episode_id(scenario, repeat), self.prompts)
        else:
            assistant = ReferenceAssistant(seat.agent, own, partial(self.find_solution, scenario), self.seed, repeat)
        return await run_scenario(own, repeat, assistant, seats, self.prompts, self.options.character)

    def find_solution(self, scenario: str) -> Solution:
        """The best policy for a scenario."""
        return solve(self.scenarios[scenario])

    def measure_depths(self, scenario: str) -> tuple[float, ...]:
        """The shares that ``depth@k`` has there among written people: marks to read a model's share by."""
        return self._measure_depths(scenario)

    def _measure_depths_anew(self, scenario: str) -> tuple[float, ...]:
        own, find_solution = self.scenarios[scenario], partial(self.find_solution, scenario)
        found = []
        for depth in DEPTHS:
            agent = f"depth@{depth}"
            assistant = ReferenceAssistant(agent, own, find_solution, self.seed, 1)
            seats = Seats(Seat(Role.SUBJECT, f"reference/{agent}", None, Sampling()))
            episode = run_to_end(run_scenario(own, 1, assistant, seats, self.prompts))
            found.append(find_share(self.make_played(episode)))
        return tuple(found)

    def rehearse(self, scenario: str, role: Role, participant: str, call: int, asked: str) -> str:
        own = self.scenarios[scenario]
        if role is Role.JUDGE:
            return '{"reason": "' + _SENTENCE + '", "answer": "no"}'
        if role is Role.PARTNER:
            if '"lines"' in asked:
                return '{"lines": [1], "text": "' + _SENTENCE + '"}'
            return '{"answer": "A"}' if '"answer"' in asked else _SENTENCE
        names = list(own.people)[: own.budget.messages]
        return json.dumps(
            {"messages": [{"to": [name], "text": _SENTENCE * 2} for name in names], "arrangement": own.dossier.open}
        )

    def list_criteria(self, episode: LiveEpisode) -> Sequence[str]:
        return [each.criterion for each in list_watched(self.scenarios[episode.scenario], episode)]

    async def judge(self, task: JudgingTask, episode: LiveEpisode, reference: Record | None) -> Judgment:
        return await judge_watched(self.scenarios[task.scenario], episode, task.criterion, task.seat, self.prompts)

    def show(self, episode: LiveEpisode, criterion: str, reference: Record | None) -> ShownQuestion:
        return show_question(self.scenarios[episode.scenario], episode, criterion)

    def make_played(self, episode: LiveEpisode, judgments: Sequence[Judgment] = (), panel: Sequence[str] = ()) -> Played:
        """An episode with all that its scores rest on."""
        scenario = self.scenarios[episode.scenario]
        told = list_told(scenario, episode, judgments, panel)
        return Played(scenario, self.find_solution(episode.scenario), episode, told)

    def score(self, episode: LiveEpisode, judgments: Sequence[Judgment], panel: Sequence[str], measured: object) -> list[Score]:
        return self.metrics.score(episode, self.make_played(episode, judgments, panel))

    def audit(self) -> Document:
        return make_audit(list(self.scenarios.values()), self.find_solution, self.source)
