"""AgentSense bound to its data, prompts and options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sociable.benchmarks.agentsense.briefing import agentsense_prompts, as_shown, scene_in_words, transcript
from sociable.benchmarks.agentsense.dataset import load_scenarios, select_scenarios
from sociable.benchmarks.agentsense.judge import GoalQuestion, goal_questions, judge_goal
from sociable.benchmarks.agentsense.label import label_records
from sociable.benchmarks.agentsense.metrics import METRICS, Scene, estimate_scenes
from sociable.benchmarks.agentsense.options import AgentSenseOptions
from sociable.benchmarks.agentsense.protocol import run_scene, select_playable
from sociable.benchmarks.agentsense.records import AgentSenseEpisode
from sociable.benchmarks.agentsense.scenario import Scenario
from sociable.core.errors import InputError
from sociable.core.records import Estimate, Judgment, Record, Score, Verdict
from sociable.core.view import Document, Section
from sociable.engine.result import RunResult
from sociable.engine.seats import Role, Seat, Seats
from sociable.engine.study import (
    Audited,
    Described,
    FromSources,
    Judged,
    JudgingTask,
    Labelled,
    Rated,
    ShownQuestion,
    Study,
    StudyOptions,
)
from sociable.judging.panel import with_panel
from sociable.judging.rubric import RatedParticipant

GOAL = "goal"
"""The only kind of question judges are asked."""


class AgentSenseStudy(
    Study[Scenario, AgentSenseEpisode],
    Judged[AgentSenseEpisode, Record],
    Rated[AgentSenseEpisode],
    Audited,
    Described,
    Labelled,
    FromSources,
):
    episode_type = AgentSenseEpisode
    metrics = METRICS
    win_rates = {GOAL: {"goals reached, each question once": {Verdict.WIN: 1.0, Verdict.LOSS: 0.0}}}

    def __init__(self, options: StudyOptions[AgentSenseOptions]) -> None:
        plays = options.own.plays or ("one" if Role.PARTNER in options.filled else "all")
        own = self.options = options.own.model_copy(update={"plays": plays})
        self.resolved = options.resolve(plays=plays)
        self.seed = options.seed
        self.prompts = agentsense_prompts(options.prompts)
        loaded = load_scenarios(options.dataset, skip_invalid=options.skip_invalid)
        self.source = loaded.source
        playable, left_out = select_playable(loaded.items, own)
        selected = select_scenarios(playable, options.limit, options.seed)
        self.scenarios: Mapping[str, Scenario] = {scenario.id: scenario for scenario in selected}
        self.digests = {"dataset": loaded.digest, "prompts": self.prompts.digest}
        unnamed = "No scenario names the script it was made from (field 'source'), so there is nothing to predict."
        named = any(scenario.source for scenario in selected)
        self.notes = [*loaded.notes, *left_out, *([unnamed] if own.script and not named else [])]

    def check_seats(self, benchmark: str, roles: Iterable[Role], *, judges: int, references: bool) -> None:
        roles = set(roles)
        super().check_seats(benchmark, roles, judges=judges, references=references)
        if (self.options.plays == "all") == (Role.PARTNER in roles):
            raise InputError(
                "Without a partner the model under test plays everybody (plays = all); with one it plays some: "
                "name --partner MODEL, or choose plays = one, others or senders."
            )

    async def run_episode(self, scenario: str, repeat: int, seats: Seats) -> AgentSenseEpisode:
        return await run_scene(self.scenarios[scenario], repeat, seats, self.prompts, self.options, seed=self.seed)

    def cluster_of(self, scenario: str) -> str:
        return self.scenarios[scenario].template

    def criteria(self, episode: AgentSenseEpisode) -> Sequence[str]:
        return list(self._questions(episode))

    async def judge(self, task: JudgingTask, episode: AgentSenseEpisode, reference: Record | None) -> Judgment:
        scenario, asked = self.scenarios[task.scenario], self._questions(episode)[task.criterion]
        return await judge_goal(scenario, episode, asked, task.seat, self.prompts, first_lines=self.options.first_lines)

    def stage_of(self, criterion: str) -> str:
        return GOAL

    def show(self, episode: AgentSenseEpisode, criterion: str, reference: Record | None) -> ShownQuestion | None:
        """A goal question at the end of the scene."""
        asked = self._questions(episode).get(criterion)
        if asked is None or asked.after != self.options.generated_turns:
            return None
        situation = scene_in_words(self.scenarios[episode.scenario])
        conversation = transcript(episode.turns, first_lines=self.options.first_lines)
        return ShownQuestion(situation, asked.owner.name, conversation, f"{asked.question}\n(The goal: {asked.goal.goal})")

    def _questions(self, episode: AgentSenseEpisode) -> Mapping[str, GoalQuestion]:
        """What judges are asked about an episode, by criterion."""
        after = () if episode.partner_failure else self.options.judged_after
        scenario = self.scenarios[episode.scenario]
        return {asked.criterion: asked for turns in after for asked in goal_questions(scenario, turns)}

    def rated_participants(self, episode: AgentSenseEpisode) -> Mapping[str, RatedParticipant]:
        """Every character that has goals."""
        scenario = self.scenarios[episode.scenario]
        said = [turn for turn in episode.turns if turn.content.strip() and not episode.partner_failure]
        conversation = tuple((turn.speaker, as_shown(turn, first_lines=self.options.first_lines)) for turn in said)
        return {
            f"{episode.played_by[character.name]}: {character.name}": RatedParticipant(
                character.name,
                scene_in_words(scenario),
                "\n".join(goal.goal for goal in character.goals),
                "\n".join(filter(None, (character.profile, character.private_info))),
                conversation,
            )
            for character in scenario.characters
            if character.goals and said
        }

    def scene(self, episode: AgentSenseEpisode, judgments: Sequence[Judgment], panel: Sequence[str]) -> Scene:
        """An episode as the subject's metrics are worked out from it."""
        scenario, verdicts, own = self.scenarios[episode.scenario], with_panel(judgments, panel), self.options
        sides = episode.played_as(Role.SUBJECT), episode.played_as(Role.PARTNER)
        return Scene(scenario, episode, verdicts, panel, own, *sides, after=own.generated_turns)

    def score(
        self, episode: AgentSenseEpisode, judgments: Sequence[Judgment], panel: Sequence[str], measured: Record | None
    ) -> list[Score]:
        return self.metrics.score(episode, self.scene(episode, judgments, panel), failure=episode.partner_failure)

    def estimate(self, scores: Sequence[Score]) -> list[Estimate]:
        return estimate_scenes(scores, self.seed)

    def rehearse(self, scenario: str, role: Role, participant: str, call: int, asked: str) -> str:
        if role is Role.JUDGE:
            return '{"reason": "' + "She asks for it and he agrees in so many words. " * 2 + '", "answer": "yes"}'
        goals = [goal for character in self.scenarios[scenario].characters for goal in character.goals]
        lines = [line.says for goal in goals for line in goal.reached if line.by == participant]
        # Turns are paragraphs of a few sentences; answers to probes are shorter.
        return " ".join((lines or [super().rehearse(scenario, role, participant, call, asked)]) * 4)[:400]

    def audit(self) -> Document:
        # Imported when asked for: scikit-learn takes a second.
        from sociable.benchmarks.agentsense.audit import audit_document

        return audit_document(list(self.scenarios.values()), self.source)

    def describe(self, features: str) -> Document:
        from sociable.benchmarks.agentsense.describe import describe_document

        return describe_document(list(self.scenarios.values()), self.source)

    async def label(self, seat: Seat) -> tuple[list[dict[str, Any]], str]:
        return await label_records(list(self.scenarios.values()), seat, self.prompts)

    def compare_with_sources(self, sources: Mapping[str, str], run: RunResult | None) -> list[Section]:
        from sociable.benchmarks.agentsense.similarity import source_sections

        return source_sections(list(self.scenarios.values()), sources, list(run.episodes()) if run else [])
