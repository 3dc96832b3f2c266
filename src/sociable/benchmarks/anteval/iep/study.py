"""Information exchange bound to its cards, characters, prompts and options."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from sociable.benchmarks.anteval.characters import load_sheets
from sociable.benchmarks.anteval.iep.briefing import iep_prompts
from sociable.benchmarks.anteval.iep.cards import load_cards
from sociable.benchmarks.anteval.iep.judge import ClaimJudge, PointQuestion, point_questions
from sociable.benchmarks.anteval.iep.metrics import CONDUCT, MAIN, estimate_all, score_session
from sociable.benchmarks.anteval.iep.protocol import run_session
from sociable.benchmarks.anteval.iep.records import IepEpisode, IepOptions
from sociable.benchmarks.anteval.iep.scenario import IepScenario, cast
from sociable.core.errors import InputError
from sociable.core.records import Estimate, Judgment, Score, Verdict
from sociable.core.seeding import select_clusters
from sociable.engine.benchmark import JudgingTask, ShownQuestion, Study, StudyOptions, checked_options
from sociable.engine.seats import Role, Seat, Seats
from sociable.judging.pairwise import judgment_id
from sociable.judging.panel import with_panel

POINT = "key point"
"""The only kind of question judges are asked."""

_SENTENCE = "The ferryman kept the third lantern dark whenever the salt boats came in before the feast. "


class IepStudy(Study):
    episode_type = IepEpisode
    metrics = (*MAIN, *CONDUCT)
    win_rates = {POINT: {"key points stated, each decision once": {Verdict.WIN: 1.0, Verdict.LOSS: 0.0}}}

    def __init__(self, options: StudyOptions) -> None:
        own = checked_options(IepOptions, options.values, "anteval-iep")
        if options.stages is not None:
            raise InputError("anteval-iep has no stages; leave --stages out.")
        self.options = own
        self.seed = options.seed
        self.prompts = iep_prompts(options.prompts)
        self._judge = ClaimJudge(self.prompts)
        cards = load_cards(options.dataset, skip_invalid=options.skip_invalid)
        sheets = load_sheets(Path(own.sheets) if own.sheets else None)
        if len(sheets.items) <= own.players:
            raise InputError(
                f"{sheets.source}: {len(sheets.items)} characters are too few for {own.players} players and one to spare."
            )
        self.source = cards.source
        taken = select_clusters(
            cards.items, options.limit, options.seed, cluster=lambda card: card.id, group=lambda card: card.kind, by_name=False
        )
        self.scenarios: Mapping[str, IepScenario] = {
            card.id: cast(card, sheets.items, own.players, options.seed) for card in taken
        }
        self.digests = {"dataset": cards.digest, "characters": sheets.digest, "prompts": self.prompts.digest}
        if own.sheets:
            self.resolved = {"options": {**options.values, "sheets": str(Path(own.sheets).resolve())}}
        self.notes = [*cards.notes, *self._notes()]

    def _notes(self) -> Iterable[str]:
        if empty := [name for name, each in self.scenarios.items() if not each.card.key_points]:
            yield f"{len(empty)} cards have no key points ({empty[0]}, …): their sessions have no IEP."

    def check_seats(self, roles: Iterable[Role], *, judges: int, references: bool) -> None:
        if Role.REFERENCE in set(roles) or references:
            raise InputError("anteval-iep compares with no reference: leave --reference and --reference-file out.")

    async def run_episode(self, scenario: str, repeat: int, seats: Seats) -> IepEpisode:
        return await run_session(self.scenarios[scenario], repeat, seats, self.prompts, self.options, seed=self.seed)

    def cluster_of(self, scenario: str) -> str:
        return scenario

    def questions(self, episode: IepEpisode) -> Mapping[str, PointQuestion]:
        """What judges decide about an episode, by criterion."""
        return {asked.criterion: asked for asked in point_questions(self.scenarios[episode.scenario], episode)}

    def judging_tasks(self, episode: IepEpisode, judges: Sequence[Seat]) -> list[JudgingTask]:
        # Judge by judge, so that the points of one recall are asked about together.
        return [
            JudgingTask(judgment_id(episode.id, criterion, seat.name), episode.id, episode.scenario, criterion, seat)
            for seat in judges
            for criterion in self.questions(episode)
        ]

    async def judge(self, task: JudgingTask, episode: IepEpisode, reference: object) -> Judgment:
        asked = self.questions(episode)[task.criterion]
        return await self._judge.judge(self.scenarios[task.scenario], episode, asked, task.seat)

    def stage_of(self, criterion: str) -> str:
        return POINT

    def shown(self, episode: IepEpisode, criterion: str, reference: object) -> ShownQuestion | None:
        asked = self.questions(episode).get(criterion)
        if asked is None:
            return None
        card = self.scenarios[episode.scenario].card
        claims = "\n".join(f"- {claim}" for claim in asked.recall.claims)
        question = (
            f"Does one of the claims state this fact, with what is particular about it? {card.key_points[asked.place].point}"
        )
        return ShownQuestion(f"{card.title}. {asked.recall.player} claims to know:", asked.recall.player, claims, question)

    def score(self, episode: IepEpisode, judgments: Sequence[Judgment], panel: Sequence[str]) -> list[Score]:
        scenario = self.scenarios[episode.scenario]
        return score_session(scenario.card, scenario.counted, episode, with_panel(judgments, panel), judged=bool(panel))

    def estimate(self, scores: Sequence[Score]) -> list[Estimate]:
        return estimate_all(scores, seed=self.seed)

    def rehearse(self, scenario: str, role: Role, participant: str, call: int, asked: str) -> str:
        """Everybody acts and speaks in each turn, and claims as much as it may."""
        points = len(self.scenarios[scenario].card.key_points)
        if role is Role.JUDGE:
            return json.dumps({"reason": _SENTENCE, "matches": [[number, "A"] for number in range(1, points + 1)]})
        if '{"claims"' in asked:
            return json.dumps({"claims": [_SENTENCE] * points})
        return f"*{_SENTENCE.strip()}* {_SENTENCE * 2}"
