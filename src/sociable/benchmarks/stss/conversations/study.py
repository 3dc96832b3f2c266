"""The language level bound to its scenes, prompts and options."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sociable.agents.generative.briefing import load_generative_prompts
from sociable.benchmarks.stss.conversations.audit import make_audit
from sociable.benchmarks.stss.conversations.dataset import load_scenes, note_origin, select_templates
from sociable.benchmarks.stss.conversations.judge import judge_condition, list_questions, load_judge_prompts, show_question
from sociable.benchmarks.stss.conversations.metrics import METRICS, TEXTS, JudgedScene
from sociable.benchmarks.stss.conversations.protocol import ALONE, Setting, run_scene
from sociable.benchmarks.stss.conversations.records import ConversationEpisode, ConversationOptions, Scene
from sociable.benchmarks.stss.dataset import load_town
from sociable.benchmarks.stss.protocol import check_minds, fill_background
from sociable.benchmarks.stss.rehearsal import SENTENCE, rehearse_reply
from sociable.core.records import Judgment, Record, Score, Verdict
from sociable.core.view import Document
from sociable.engine.seats import Role, Seats
from sociable.engine.study import Audited, Judged, JudgingTask, ShownQuestion, Study, StudyOptions
from sociable.judging.panel import add_panel


class ConversationStudy(Study[Scene, ConversationEpisode], Judged[ConversationEpisode, Record], Audited):
    episode_type = ConversationEpisode
    metrics = METRICS
    input_options = ("town", "agent_prompts")
    cluster_field = "template"
    tested_options = frozenset({"agent", "plain"})
    win_rates = {text: {"conditions met, each question once": {Verdict.WIN: 1.0, Verdict.LOSS: 0.0}} for text in TEXTS}

    def __init__(self, options: StudyOptions[ConversationOptions]) -> None:
        super().__init__(options)
        own = options.own
        self.resolved = options.resolve(**options.make_absolute_paths("town", "agent_prompts"))
        check_minds(own.agent, own.background_agent, embeddings=own.embeddings)
        self.prompts = load_judge_prompts(options.prompts)
        town = load_town(own.town)
        loaded, clock = load_scenes(options.dataset, town, skip_invalid=options.skip_invalid)
        self.source = loaded.source
        self.setting = Setting(town, clock, own, options.seed)
        self.scenarios = select_templates(loaded.items, options.limit, options.seed)
        digests = {"dataset": loaded.digest, "town": town.digest, "prompts": self.prompts.digest}
        self.digests = {**digests, "agent prompts": load_generative_prompts(self.setting.prompts).digest}
        alone = [] if Role.PARTNER in options.filled else [ALONE]
        self.notes = [*loaded.notes, *note_origin(self.scenarios.values()), *alone]

    async def run_episode(self, scenario: str, repeat: int, seats: Seats) -> ConversationEpisode:
        return await run_scene(self.scenarios[scenario], repeat, fill_background(seats), self.setting)

    def list_criteria(self, episode: ConversationEpisode) -> Sequence[str]:
        return list(list_questions(self.scenarios[episode.scenario], episode))

    async def judge(self, task: JudgingTask, episode: ConversationEpisode, reference: Record | None) -> Judgment:
        scene = self.scenarios[task.scenario]
        asked = list_questions(scene, episode)[task.criterion]
        return await judge_condition(scene, episode, asked, task.seat, self.setting, self.prompts)

    def show(self, episode: ConversationEpisode, criterion: str, reference: Record | None) -> ShownQuestion | None:
        scene = self.scenarios[episode.scenario]
        asked = list_questions(scene, episode).get(criterion)
        return show_question(scene, episode, asked, self.setting.clock, self.prompts) if asked else None

    def score(
        self, episode: ConversationEpisode, judgments: Sequence[Judgment], panel: Sequence[str], measured: Record | None
    ) -> list[Score]:
        found = JudgedScene(self.scenarios[episode.scenario], episode, add_panel(judgments, panel), is_judged=bool(panel))
        return self.metrics.score(episode, found)

    def rehearse(self, scenario: str, role: Role, participant: str, call: int, asked: str) -> str:
        if role is Role.JUDGE:
            return json.dumps({"reason": SENTENCE, "answer": "yes"})
        name, _, purpose = participant.partition("|")
        if purpose == "speak":  # Both speak as often as they may.
            call = 0
        scene = self.scenarios[scenario]
        side = scene.performer if name == scene.performer.name else scene.target
        return rehearse_reply(purpose, side.persona, self.setting.clock, call, asked)

    def audit(self) -> Document:
        return make_audit(list(self.scenarios.values()), self.setting.clock, self.source)
