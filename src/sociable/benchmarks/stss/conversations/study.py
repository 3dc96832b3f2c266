"""The language level bound to its scenes, prompts and options."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sociable.agents.generative.briefing import load_generative_prompts
from sociable.benchmarks.stss.conversations.audit import make_audit
from sociable.benchmarks.stss.conversations.authors import AuthorsEvaluator, find_templates
from sociable.benchmarks.stss.conversations.dataset import give_wills, load_scenes, note_origin, select_templates
from sociable.benchmarks.stss.conversations.judge import Evaluator, load_judge_prompts
from sociable.benchmarks.stss.conversations.known_answers import ConversationKind, SummaryKind
from sociable.benchmarks.stss.conversations.metrics import METRICS, TEXTS, JudgedScene
from sociable.benchmarks.stss.conversations.protocol import ALONE, Setting, run_scene
from sociable.benchmarks.stss.conversations.records import ConversationEpisode, ConversationOptions, Scene
from sociable.benchmarks.stss.dataset import load_reasons, load_residents, load_town
from sociable.benchmarks.stss.protocol import check_minds, fill_background
from sociable.benchmarks.stss.rehearsal import rehearse_reply
from sociable.core.errors import InputError
from sociable.core.records import Judgment, Record, Score, Verdict
from sociable.core.view import Document
from sociable.engine.seats import Role, Seats
from sociable.engine.study import Audited, JudgeAudited, Judged, JudgingKind, JudgingTask, ShownQuestion, Study, StudyOptions
from sociable.judging.panel import add_panel


class ConversationStudy(Study[Scene, ConversationEpisode], Judged[ConversationEpisode, Record], Audited, JudgeAudited):
    episode_type = ConversationEpisode
    metrics = METRICS
    input_options = ("town", "agent_prompts", "judge_prompts")
    cluster_field = "template"
    tested_options = frozenset({"agent", "plain", "agent_prompts"})
    instructions = (
        "You are shown what was said in a conversation, or what somebody remembers of it, and a question about one thing that "
        "had to come up. Answer by what the text says, in whatever words, not by what the people may have meant."
    )
    win_rates = {text: {"conditions met, each question once": {Verdict.WIN: 1.0, Verdict.LOSS: 0.0}} for text in TEXTS}

    def __init__(self, options: StudyOptions[ConversationOptions]) -> None:
        super().__init__(options)
        own = options.own
        if own.judge_prompts and options.prompts:
            raise InputError("--prompts and judge_prompts both say what judges are asked: leave one of them out.")
        templates = find_templates(Path(own.judge_prompts)) if own.judge_prompts else None
        # Of a repository only the folder that is read is kept with a run.
        theirs = {"judge_prompts": str(templates.resolve())} if templates else {}
        self.resolved = options.resolve(**options.make_absolute_paths("town", "agent_prompts"), **theirs)
        check_minds(own.agent, own.background_agent, embeddings=own.embeddings)
        town = load_town(own.town)
        loaded, clock = load_scenes(options.dataset, town, skip_invalid=options.skip_invalid)
        self.source, self.origin = loaded.source, loaded.origin
        self.setting = Setting(town, clock, own, options.seed)
        self.evaluator = (
            AuthorsEvaluator(self.setting, templates)
            if templates
            else Evaluator(self.setting, load_judge_prompts(options.prompts, own.level))
        )
        self._are_bundled = options.dataset is None and own.town is None
        scenes, dataset, left_out = loaded.items, loaded.digest, list[str]()
        if own.level > 1:
            if templates:
                raise InputError("judge_prompts: the authors' prompts do not ask whether the other agrees; leave out level=2.")
            reasons = load_reasons(town, load_residents(None, town)[0])
            scenes = give_wills(loaded.items, reasons.items, town, clock, options.seed)
            dataset = f"{loaded.digest}, {reasons.digest}"
            count = f"{len(loaded.items) - len(scenes)} of {len(loaded.items)} scenes"
            left_out = [f"Level 2 leaves out {count}, in which the other has no reason that fits, or no time."]
        self.scenarios = select_templates(scenes, options.limit, options.seed)
        self.judge_prompts = self.evaluator.digest
        digests = {"dataset": dataset, "town": town.digest, "prompts": self.judge_prompts}
        self.digests = {**digests, "agent prompts": load_generative_prompts(self.setting.prompts).digest}
        alone = [] if Role.PARTNER in options.filled else [ALONE]
        self.notes = [*loaded.notes, *note_origin(self.scenarios.values()), *left_out, *alone, *self.evaluator.notes]

    async def run_episode(self, scenario: str, repeat: int, seats: Seats) -> ConversationEpisode:
        return await run_scene(self.scenarios[scenario], repeat, fill_background(seats), self.setting)

    def list_criteria(self, episode: ConversationEpisode) -> Sequence[str]:
        return list(self.evaluator.list_questions(self.scenarios[episode.scenario], episode))

    async def judge(self, task: JudgingTask, episode: ConversationEpisode, reference: Record | None) -> Judgment:
        scene = self.scenarios[task.scenario]
        asked = self.evaluator.list_questions(scene, episode)[task.criterion]
        return await self.evaluator.judge(scene, episode, asked, task.seat)

    def show(self, episode: ConversationEpisode, criterion: str, reference: Record | None) -> ShownQuestion | None:
        scene = self.scenarios[episode.scenario]
        asked = self.evaluator.list_questions(scene, episode).get(criterion)
        return self.evaluator.show(scene, episode, asked) if asked else None

    def score(
        self, episode: ConversationEpisode, judgments: Sequence[Judgment], panel: Sequence[str], measured: Record | None
    ) -> list[Score]:
        scene, evaluator = self.scenarios[episode.scenario], self.evaluator
        found = JudgedScene(
            scene,
            episode,
            add_panel(judgments, panel),
            evaluator.conditions[scene.type],
            evaluator.conveys_nothing(scene, episode),
            is_judged=bool(panel),
        )
        return self.metrics.score(episode, found)

    def rehearse(self, scenario: str, role: Role, participant: str, call: int, asked: str) -> str:
        if role is Role.JUDGE:
            return self.evaluator.rehearsed
        name, _, purpose = participant.partition("|")
        if purpose == "speak":  # Both speak as often as they may.
            call = 0
        scene = self.scenarios[scenario]
        side = scene.performer if name == scene.performer.name else scene.target
        return rehearse_reply(purpose, side.persona, self.setting.clock, call, asked)

    def audit(self) -> Document:
        return make_audit(list(self.scenarios.values()), self.setting.clock, self.source)

    def list_judging_kinds(self) -> Sequence[JudgingKind]:
        kinds = (ConversationKind, SummaryKind)
        return [kind(self.evaluator, self.scenarios, are_bundled=self._are_bundled) for kind in kinds]
