"""AgentSense bound to its data, prompts and options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sociable.benchmarks.agentsense.briefing import agentsense_prompts, scene_in_words, transcript
from sociable.benchmarks.agentsense.dataset import load_scenarios, select_scenarios
from sociable.benchmarks.agentsense.judge import GoalQuestion, goal_questions, judge_goal
from sociable.benchmarks.agentsense.metrics import GOALS, QUIZ, estimate_all, score_scene
from sociable.benchmarks.agentsense.options import RANDOM, AgentSenseOptions
from sociable.benchmarks.agentsense.protocol import character_called, run_scene
from sociable.benchmarks.agentsense.records import AgentSenseEpisode
from sociable.benchmarks.agentsense.scenario import CharacterRole, Scenario
from sociable.core.errors import InputError
from sociable.core.records import Estimate, Judgment, Score, Verdict
from sociable.engine.benchmark import JudgingTask, ShownQuestion, Study, StudyOptions, checked_options
from sociable.engine.seats import Role, Seat, Seats
from sociable.judging.panel import with_panel
from sociable.judging.protocol import judgment_id

GOAL = "goal"
"""The only kind of question judges are asked."""


class AgentSenseStudy(Study):
    episode_type = AgentSenseEpisode
    metrics = (*GOALS, "overconfidence", *QUIZ)
    win_rates = {GOAL: {"goals reached, each question once": {Verdict.WIN: 1.0, Verdict.LOSS: 0.0}}}

    def __init__(self, options: StudyOptions) -> None:
        own = checked_options(AgentSenseOptions, options.values, "agentsense")
        if options.stages is not None:
            raise InputError("agentsense has no stages; leave --stages out.")
        mixed = Role.PARTNER in options.filled
        if own.plays == "default":
            own = own.model_copy(update={"plays": "one" if mixed else "all"})
        self.options = own
        self.seed = options.seed
        self.prompts = agentsense_prompts(options.prompts)
        loaded = load_scenarios(options.dataset, skip_invalid=options.skip_invalid)
        self.source = loaded.source
        playable, notes = _playable(loaded.items, own)
        selected = select_scenarios(playable, options.limit, options.seed)
        self.scenarios: Mapping[str, Scenario] = {scenario.id: scenario for scenario in selected}
        self.digests = {"dataset": loaded.digest, "prompts": self.prompts.digest}
        if own.script and not any(scenario.source for scenario in selected):
            notes = [*notes, "No scenario names the script it was made from (field 'source'), so there is nothing to predict."]
        self.notes = [*loaded.notes, *notes]
        self._questions: dict[tuple[str, int], dict[str, GoalQuestion]] = {}

    def check_seats(self, roles: Iterable[Role], *, judges: int, references: bool) -> None:
        roles = set(roles)
        if Role.REFERENCE in roles or references:
            raise InputError("agentsense compares with no reference: leave --reference and --reference-file out.")
        if (self.options.plays == "all") == (Role.PARTNER in roles):
            raise InputError(
                "Without a partner the model under test plays everybody (plays = all); with one it plays some: "
                "name --partner MODEL, or choose plays = one, others or senders."
            )

    async def run_episode(self, scenario: str, repeat: int, seats: Seats) -> AgentSenseEpisode:
        return await run_scene(self.scenarios[scenario], repeat, seats, self.prompts, self.options, seed=self.seed)

    def cluster_of(self, scenario: str) -> str:
        return self.scenarios[scenario].template

    def questions(self, episode: AgentSenseEpisode) -> Mapping[str, GoalQuestion]:
        """What judges are asked about an episode, by criterion."""
        if episode.partner_failure:
            return {}
        scenario = self.scenarios[episode.scenario]
        found: dict[str, GoalQuestion] = {}
        for after in self.options.judged_after:
            key = (scenario.id, after)
            if key not in self._questions:
                self._questions[key] = {asked.criterion: asked for asked in goal_questions(scenario, after)}
            found |= self._questions[key]
        return found

    def judging_tasks(self, episode: AgentSenseEpisode, judges: Sequence[Seat]) -> list[JudgingTask]:
        return [
            JudgingTask(judgment_id(episode.id, criterion, seat.name), episode.id, episode.scenario, criterion, seat)
            for criterion in self.questions(episode)
            for seat in judges
        ]

    async def judge(self, task: JudgingTask, episode: AgentSenseEpisode, reference: object) -> Judgment:
        asked = self.questions(episode)[task.criterion]
        scenario = self.scenarios[task.scenario]
        return await judge_goal(scenario, episode, asked, task.seat, self.prompts, first_lines=self.options.first_lines)

    def stage_of(self, criterion: str) -> str:
        return GOAL

    def shown(self, episode: AgentSenseEpisode, criterion: str, reference: object) -> ShownQuestion | None:
        """A goal question at the end of the scene."""
        asked = self.questions(episode).get(criterion)
        if asked is None or asked.after != self.options.generated_turns:
            return None
        situation = scene_in_words(self.scenarios[episode.scenario])
        conversation = transcript(episode.turns, first_lines=self.options.first_lines)
        return ShownQuestion(situation, asked.owner.name, conversation, f"{asked.question}\n(The goal: {asked.goal.goal})")

    def score(self, episode: AgentSenseEpisode, judgments: Sequence[Judgment], panel: Sequence[str]) -> list[Score]:
        verdicts = with_panel(judgments, panel)
        return score_scene(
            self.scenarios[episode.scenario],
            episode,
            verdicts,
            panel,
            self.options.judged_after,
            mixed=self.options.plays != "all",
            blind=self.options.blind,
        )

    def estimate(self, scores: Sequence[Score]) -> list[Estimate]:
        return estimate_all(scores, seed=self.seed)

    def rehearse(self, scenario: str, role: Role, participant: str, call: int, asked: str) -> str:
        if role is Role.JUDGE:
            return '{"reason": "' + "She asks for it and he agrees in so many words. " * 2 + '", "answer": "yes"}'
        lines = [
            line.says
            for character in self.scenarios[scenario].characters
            for goal in character.goals
            for line in goal.reached
            if line.by == participant
        ]
        # Turns are paragraphs of a few sentences; answers to probes are shorter.
        return " ".join((lines or ["I see what you mean, and I would like to come back to what I asked before."]) * 4)[:400]


def _playable(scenarios: Sequence[Scenario], options: AgentSenseOptions) -> tuple[list[Scenario], list[str]]:
    """The scenarios in which everybody who must be there is, and a note on those left out. Raises InputError if none is."""
    if options.plays == "senders":
        playable = [scenario for scenario in scenarios if scenario.roles == frozenset(CharacterRole)]
        lacking = "a sender or a receiver"
    elif options.character != RANDOM:
        playable = [scenario for scenario in scenarios if character_called(options.character, scenario)]
        lacking = f"a character '{options.character}'"
    else:
        return list(scenarios), []
    left = len(scenarios) - len(playable)
    if not playable:
        remedy = "Have roles put into the data with: sociable label" if options.plays == "senders" else "Names are as in the data"
        raise InputError(f"All {left} scenarios lack {lacking}. {remedy}.")
    return playable, [f"{left} of {len(scenarios)} scenarios lack {lacking} and were left out."] if left else []
