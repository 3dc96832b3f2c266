"""The language level bound to its scenes, prompts and options."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from sociable.agents.architecture import find_architecture
from sociable.agents.generative.briefing import load_generative_prompts
from sociable.benchmarks.stss.conversations.dataset import load_scenes, select_templates
from sociable.benchmarks.stss.conversations.judge import (
    ConditionQuestion,
    Text,
    judge_condition,
    list_questions,
    load_conversation_prompts,
    word_question,
    write_transcript,
)
from sociable.benchmarks.stss.conversations.metrics import METRICS, estimate_all, score_scene
from sociable.benchmarks.stss.conversations.protocol import Setting, run_scene
from sociable.benchmarks.stss.conversations.records import ConversationEpisode, ConversationOptions
from sociable.benchmarks.stss.conversations.scene import Scene
from sociable.benchmarks.stss.dataset import load_town
from sociable.benchmarks.stss.protocol import make_memory
from sociable.benchmarks.stss.rehearsal import SENTENCE, rehearse_reply
from sociable.benchmarks.stss.study import seated
from sociable.core.errors import InputError
from sociable.core.records import Estimate, Judgment, Score, Verdict
from sociable.engine.benchmark import JudgingTask, ShownQuestion, Study, StudyOptions, checked_options
from sociable.engine.seats import Role, Seat, Seats
from sociable.judging.panel import with_panel
from sociable.judging.protocol import judgment_id


class ConversationStudy(Study):
    episode_type = ConversationEpisode
    metrics = METRICS
    tested_options = frozenset({"agent", "plain"})
    win_rates = {text.value: {"conditions met, each question once": {Verdict.WIN: 1.0, Verdict.LOSS: 0.0}} for text in Text}

    def __init__(self, options: StudyOptions) -> None:
        own = checked_options(ConversationOptions, options.values, "stss-conversations")
        if options.stages is not None:
            raise InputError("stss-conversations has no stages; leave --stages out.")
        self.options = own
        self.seed = options.seed
        for agent in {own.agent, own.background_agent}:
            find_architecture(agent)
        make_memory(own.embeddings)
        self._alone = Role.PARTNER not in options.filled
        self.prompts = load_conversation_prompts(options.prompts)
        town = load_town(own.town)
        loaded, clock = load_scenes(options.dataset, town, skip_invalid=options.skip_invalid)
        self.source = loaded.source
        self.setting = Setting(town, clock, own, options.seed)
        self.scenarios: Mapping[str, Scene] = select_templates(loaded.items, options.limit, options.seed)
        self.digests = {
            "dataset": loaded.digest,
            "town": town.digest,
            "prompts": self.prompts.digest,
            "agent prompts": load_generative_prompts(self.setting.prompts).digest,
        }
        # A run can be resumed and reported from anywhere.
        paths = {name: str(Path(path).resolve()) for name in ("town", "agent_prompts") if (path := getattr(own, name))}
        self.resolved = {"options": {**options.values, **paths}}
        self.notes = [*loaded.notes, *self._notes()]

    def _notes(self) -> Iterable[str]:
        made = sum(scene.reference_residents for scene in self.scenarios.values())
        if made:
            yield (
                f"{made} of {len(self.scenarios)} scenes were made with reference residents: they come from runs in which people "
                "had no model, and what they remember was worded by rule from what happened. Scenes from runs of models are made "
                "with: sociable construct stss-conversations RUN …"
            )
        if self._alone:
            yield (
                "No partner was named: the model under test played the other, and wrote the summaries, as well. (Around a "
                "reference agent, a reference resident did.)"
            )

    def check_seats(self, roles: Iterable[Role], *, judges: int, references: bool) -> None:
        if Role.REFERENCE in set(roles) or references:
            raise InputError("stss-conversations compares with no reference: leave --reference and --reference-file out.")

    async def run_episode(self, scenario: str, repeat: int, seats: Seats) -> ConversationEpisode:
        return await run_scene(self.scenarios[scenario], repeat, seated(seats), self.setting)

    def cluster_of(self, scenario: str) -> str:
        return self.scenarios[scenario].template

    def questions(self, episode: ConversationEpisode) -> Mapping[str, ConditionQuestion]:
        """What judges are asked about an episode, by criterion."""
        return list_questions(self.scenarios[episode.scenario], episode)

    def judging_tasks(self, episode: ConversationEpisode, judges: Sequence[Seat]) -> list[JudgingTask]:
        return [
            JudgingTask(judgment_id(episode.id, criterion, seat.name), episode.id, episode.scenario, criterion, seat)
            for criterion in self.questions(episode)
            for seat in judges
        ]

    async def judge(self, task: JudgingTask, episode: ConversationEpisode, reference: object) -> Judgment:
        asked = self.questions(episode)[task.criterion]
        return await judge_condition(self.scenarios[task.scenario], episode, asked, task.seat, self.setting, self.prompts)

    def stage_of(self, criterion: str) -> str:
        """Conversation or summary."""
        return criterion.partition("|")[0]

    def shown(self, episode: ConversationEpisode, criterion: str, reference: object) -> ShownQuestion | None:
        asked = self.questions(episode).get(criterion)
        if asked is None:
            return None
        scene = self.scenarios[episode.scenario]
        situation = f"{self.setting.clock.in_words(scene.minute)}. {scene.task.goal}"
        text = (
            write_transcript(episode)
            if asked.text is Text.CONVERSATION
            else f"({scene.target.name} remembers:)\n{episode.summary}"
        )
        question = word_question(scene, asked.condition, self.setting.clock, self.prompts)
        return ShownQuestion(situation, scene.performer.name, text, question)

    def score(self, episode: ConversationEpisode, judgments: Sequence[Judgment], panel: Sequence[str]) -> list[Score]:
        return score_scene(self.scenarios[episode.scenario], episode, with_panel(judgments, panel), judged=bool(panel))

    def estimate(self, scores: Sequence[Score]) -> list[Estimate]:
        return estimate_all(scores, seed=self.seed)

    def rehearse(self, scenario: str, role: Role, participant: str, call: int, asked: str) -> str:
        """Both speak as often as they may."""
        if role is Role.JUDGE:
            return json.dumps({"reason": SENTENCE, "answer": "yes"})
        name, _, purpose = participant.partition("|")
        if purpose == "speak":
            return json.dumps({"says": SENTENCE * 2, "ends": False})
        scene = self.scenarios[scenario]
        side = scene.performer if name == scene.performer.name else scene.target
        return rehearse_reply(purpose, side.persona, self.setting.clock, call, asked)
