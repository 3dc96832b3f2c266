"""AgentSense bound to its data, prompts and options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sociable.benchmarks.agentsense.audit import make_audit
from sociable.benchmarks.agentsense.briefing import load_agentsense_prompts
from sociable.benchmarks.agentsense.dataset import load_scenarios, select_casts, select_scenarios
from sociable.benchmarks.agentsense.describe import make_description
from sociable.benchmarks.agentsense.disclosure import list_disclosed
from sociable.benchmarks.agentsense.judge import judge_goal, list_rated, show_question
from sociable.benchmarks.agentsense.known_goals import GoalKind
from sociable.benchmarks.agentsense.known_rubric import RubricKind
from sociable.benchmarks.agentsense.label import label_records
from sociable.benchmarks.agentsense.likeness import compare_texts
from sociable.benchmarks.agentsense.metrics import METRICS, Scene
from sociable.benchmarks.agentsense.protocol import cast_roles, run_scene, select_playable
from sociable.benchmarks.agentsense.records import AgentSenseEpisode, AgentSenseOptions
from sociable.benchmarks.agentsense.scenario import GoalProbe, Scenario, list_goal_probes
from sociable.core.errors import InputError
from sociable.core.records import Judgment, Record, Score, Verdict
from sociable.core.view import Document, Section
from sociable.engine.seats import Role, Seat, Seats
from sociable.engine.study import (
    Described,
    FromSources,
    JudgeAudited,
    Judged,
    JudgingKind,
    JudgingTask,
    Labelled,
    Rated,
    ShownQuestion,
    Study,
    StudyOptions,
)
from sociable.judging.panel import add_panel
from sociable.judging.rubric import RatedParticipant


class AgentSenseStudy(
    Study[Scenario, AgentSenseEpisode],
    Judged[AgentSenseEpisode],
    JudgeAudited,
    Rated[AgentSenseEpisode],
    Described,
    Labelled,
    FromSources,
):
    episode_type = AgentSenseEpisode
    metrics = METRICS
    cluster_field = "template"
    main_metrics = ("majority_of_best", "majority", "self")
    win_rates = {"goal": {"goals reached, each question once": {Verdict.WIN: 1.0, Verdict.LOSS: 0.0}}}

    def __init__(self, options: StudyOptions[AgentSenseOptions]) -> None:
        super().__init__(options)
        plays = options.own.plays or ("one" if Role.PARTNER in options.filled else "all")
        own = self.options = options.own.model_copy(update={"plays": plays})
        self.resolved = options.resolve(plays=plays)
        self.prompts = load_agentsense_prompts(options.prompts)
        loaded = load_scenarios(options.dataset, skip_invalid=options.skip_invalid)
        playable, left_out = select_playable(loaded.items, own)
        scenarios = select_scenarios(select_casts(playable, own.casts), options.limit, options.seed)
        unnamed = "No scenario names the script it was made from (field 'source'), so there is nothing to predict."
        is_lacking = own.script and not any(scenario.source for scenario in scenarios)
        self.take_data(loaded, scenarios, {"prompts": self.prompts}, [*left_out, *([unnamed] if is_lacking else [])])

    def check_seats(self, benchmark: str, roles: Iterable[Role], *, judges: int, references: bool) -> None:
        roles = set(roles)
        super().check_seats(benchmark, roles, judges=judges, references=references)
        if (self.options.plays == "all") == (Role.PARTNER in roles):
            raise InputError(
                "Without a partner the model under test plays everybody (plays = all); with one it plays some: "
                "name --partner MODEL, or choose plays = one, others or senders."
            )

    def find_cast(self, scenario: str) -> Mapping[str, Role]:
        if self.options.plays == "all":
            return dict.fromkeys(self.scenarios[scenario].names, Role.SUBJECT)
        return cast_roles(self.scenarios[scenario], self.options, self.seed)

    async def run_episode(self, scenario: str, repeat: int, seats: Seats) -> AgentSenseEpisode:
        return await run_scene(self.scenarios[scenario], repeat, seats, self.prompts, self.options, seed=self.seed)

    def list_criteria(self, episode: AgentSenseEpisode) -> Sequence[str]:
        return list(self._list_probes(episode))

    async def judge(self, task: JudgingTask, episode: AgentSenseEpisode, reference: Record | None) -> Judgment:
        scenario, probe = self.scenarios[task.scenario], self._list_probes(episode)[task.criterion]
        return await judge_goal(scenario, episode, probe, task.seat, self.prompts, first_lines=self.options.first_lines)

    def show(self, episode: AgentSenseEpisode, criterion: str, reference: Record | None) -> ShownQuestion | None:
        """A goal question at the end of the scene."""
        probe = self._list_probes(episode).get(criterion)
        if probe is None or probe.after != self.options.generated_turns:
            return None
        return show_question(self.scenarios[episode.scenario], episode, probe, first_lines=self.options.first_lines)

    def _list_probes(self, episode: AgentSenseEpisode) -> Mapping[str, GoalProbe]:
        """The questions to judges about an episode, by criterion."""
        scenario, looks = self.scenarios[episode.scenario], () if episode.partner_failure else self.options.judged_after
        return {probe.criterion: probe for after in looks for probe in list_goal_probes(scenario, after, "judge")}

    def list_judging_kinds(self) -> Sequence[JudgingKind]:
        first_lines = self.options.first_lines
        goals = GoalKind(self.scenarios, self.prompts, first_lines=first_lines)
        return goals, RubricKind(self.scenarios, first_lines=first_lines)

    def list_rated_participants(self, episode: AgentSenseEpisode) -> Mapping[str, RatedParticipant]:
        return list_rated(self.scenarios[episode.scenario], episode, first_lines=self.options.first_lines)

    def make_scene(self, episode: AgentSenseEpisode, judgments: Sequence[Judgment], panel: Sequence[str]) -> Scene:
        """An episode with all that the subject's metrics rest on."""
        scenario, verdicts, own = self.scenarios[episode.scenario], add_panel(judgments, panel), self.options
        sides = episode.list_characters(Role.SUBJECT), episode.list_characters(Role.PARTNER)
        told = list_disclosed(scenario, [(turn.speaker, turn.content) for turn in episode.turns])
        return Scene(scenario, episode, verdicts, panel, own, *sides, after=own.generated_turns, told=told)

    def score(
        self, episode: AgentSenseEpisode, judgments: Sequence[Judgment], panel: Sequence[str], measured: Record | None
    ) -> list[Score]:
        return self.metrics.score(episode, self.make_scene(episode, judgments, panel), failure=episode.partner_failure)

    def rehearse(self, scenario: str, role: Role, participant: str, call: int, asked: str) -> str:
        if role is Role.JUDGE:
            return '{"reason": "' + "She asks for it and he agrees in so many words. " * 2 + '", "answer": "yes"}'
        goals = [goal for character in self.scenarios[scenario].characters for goal in character.goals]
        lines = [line.says for goal in goals for line in goal.reached if line.by == participant]
        # Turns are paragraphs of a few sentences; answers to probes are shorter.
        return " ".join((lines or [super().rehearse(scenario, role, participant, call, asked)]) * 4)[:400]

    def audit(self) -> Document:
        return make_audit(list(self.scenarios.values()), self.source)

    def describe(self, features: str) -> Document:
        return make_description(list(self.scenarios.values()), self.source)

    async def label(self, seat: Seat) -> tuple[list[dict[str, Any]], str]:
        return await label_records(list(self.scenarios.values()), seat, self.prompts)

    def compare_with_sources(self, sources: Mapping[str, str], episodes: Sequence[AgentSenseEpisode]) -> list[Section]:
        return [compare_texts(list(self.scenarios.values()), sources, episodes)]
