"""The language level bound to its scenes, prompts and options."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from sociable.agents.architecture import find_architecture
from sociable.agents.generative.briefing import load_generative_prompts
from sociable.benchmarks.stss.conversations.audit import audit_document
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
from sociable.benchmarks.stss.conversations.metrics import METRICS, JudgedScene, estimate_scenes
from sociable.benchmarks.stss.conversations.protocol import Setting, run_scene
from sociable.benchmarks.stss.conversations.records import ConversationEpisode, ConversationOptions
from sociable.benchmarks.stss.conversations.scene import Scene
from sociable.benchmarks.stss.dataset import load_town
from sociable.benchmarks.stss.protocol import fill_background, make_memory
from sociable.benchmarks.stss.rehearsal import SENTENCE, rehearse_reply
from sociable.core.records import Estimate, Judgment, Record, Score, Verdict
from sociable.core.view import Document
from sociable.engine.seats import Role, Seats
from sociable.engine.study import Audited, Judged, JudgingTask, ShownQuestion, Study, StudyOptions
from sociable.judging.panel import add_panel


class ConversationStudy(Study[Scene, ConversationEpisode], Judged[ConversationEpisode, Record], Audited):
    episode_type = ConversationEpisode
    metrics = METRICS
    tested_options = frozenset({"agent", "plain"})
    win_rates = {text.value: {"conditions met, each question once": {Verdict.WIN: 1.0, Verdict.LOSS: 0.0}} for text in Text}

    def __init__(self, options: StudyOptions[ConversationOptions]) -> None:
        super().__init__(options)
        own = options.own
        self.resolved = options.resolve(**options.absolute_paths("town", "agent_prompts"))
        for agent in {own.agent, own.background_agent}:
            find_architecture(agent)
        make_memory(own.embeddings)
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
        self.notes = [*loaded.notes, *self._list_notes(alone=Role.PARTNER not in options.filled)]

    def _list_notes(self, *, alone: bool) -> Iterable[str]:
        made = sum(scene.reference_residents for scene in self.scenarios.values())
        if made:
            yield (
                f"{made} of {len(self.scenarios)} scenes were made with reference residents: they come from runs in which people "
                "had no model, and what they remember was worded by rule from what happened. Scenes from runs of models are made "
                "with: sociable construct stss-conversations RUN …"
            )
        if alone:
            yield (
                "No partner was named: the model under test played the other, and wrote the summaries, as well. (Around a "
                "reference agent, a reference resident did.)"
            )

    async def run_episode(self, scenario: str, repeat: int, seats: Seats) -> ConversationEpisode:
        return await run_scene(self.scenarios[scenario], repeat, fill_background(seats), self.setting)

    def cluster_of(self, scenario: str) -> str:
        return self.scenarios[scenario].template

    def questions(self, episode: ConversationEpisode) -> Mapping[str, ConditionQuestion]:
        """What judges are asked about an episode, by criterion."""
        return list_questions(self.scenarios[episode.scenario], episode)

    def criteria(self, episode: ConversationEpisode) -> Sequence[str]:
        return list(self.questions(episode))

    async def judge(self, task: JudgingTask, episode: ConversationEpisode, reference: Record | None) -> Judgment:
        asked = self.questions(episode)[task.criterion]
        return await judge_condition(self.scenarios[task.scenario], episode, asked, task.seat, self.setting, self.prompts)

    def stage_of(self, criterion: str) -> str:
        """Conversation or summary."""
        return criterion.partition("|")[0]

    def show(self, episode: ConversationEpisode, criterion: str, reference: Record | None) -> ShownQuestion | None:
        asked = self.questions(episode).get(criterion)
        if asked is None:
            return None
        scene, clock = self.scenarios[episode.scenario], self.setting.clock
        remembered = f"({scene.target.name} remembers:)\n{episode.summary}"
        text = write_transcript(episode) if asked.text is Text.CONVERSATION else remembered
        question = word_question(scene, asked.condition, clock, self.prompts)
        return ShownQuestion(f"{clock.render_minute(scene.minute)}. {scene.task.goal}", scene.performer.name, text, question)

    def score(
        self, episode: ConversationEpisode, judgments: Sequence[Judgment], panel: Sequence[str], measured: Record | None
    ) -> list[Score]:
        verdicts = add_panel(judgments, panel)
        return self.metrics.score(
            episode, JudgedScene(self.scenarios[episode.scenario], episode, verdicts, is_judged=bool(panel))
        )

    def estimate(self, scores: Sequence[Score]) -> list[Estimate]:
        return estimate_scenes(scores, self.seed)

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

    def audit(self) -> Document:
        return audit_document(list(self.scenarios.values()), self.setting.clock, self.source)
