"""Information exchange with informants bound to its cards, characters, prompts and options."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from sociable.benchmarks.anteval.characters import draw_players, load_party
from sociable.benchmarks.anteval.iep.judge import ClaimJudge, PointQuestion, find_question, list_questions
from sociable.benchmarks.anteval.informants.audit import make_audit
from sociable.benchmarks.anteval.informants.briefing import load_informants_prompts
from sociable.benchmarks.anteval.informants.dataset import load_cards
from sociable.benchmarks.anteval.informants.metrics import METRICS, Played
from sociable.benchmarks.anteval.informants.protocol import run_scenario
from sociable.benchmarks.anteval.informants.records import InformantsEpisode, InformantsOptions
from sociable.benchmarks.anteval.informants.scenario import Scenario
from sociable.core.records import Judgment, Record, Score, Verdict
from sociable.core.seeding import make_generator, select_clusters
from sociable.core.view import Document
from sociable.engine.seats import Role, Seat, Seats
from sociable.engine.study import Audited, Judged, JudgingTask, ShownQuestion, Study, StudyOptions
from sociable.judging.panel import add_panel

_WORD = "ferryman "


class InformantsStudy(Study[Scenario, InformantsEpisode], Judged[InformantsEpisode, Record], Audited):
    episode_type = InformantsEpisode
    metrics = METRICS
    cluster_field = "card.id"
    input_options = ("sheets",)
    win_rates = {"statement": {"statements stated, each decision once": {Verdict.WIN: 1.0, Verdict.LOSS: 0.0}}}

    def __init__(self, options: StudyOptions[InformantsOptions]) -> None:
        super().__init__(options)
        own = self.options = options.own
        self.prompts = load_informants_prompts(options.prompts)
        self._judge = ClaimJudge(self.prompts)
        loaded = load_cards(options.dataset, skip_invalid=options.skip_invalid)
        sheets = load_party(own.sheets, own.players)
        taken = select_clusters(
            loaded.items, options.limit, options.seed, cluster=lambda each: each.id, group=lambda each: each.kind, by_name=False
        )
        scenarios = []
        for card in taken:
            met = [each.name for each in card.informants]
            players = draw_players(sheets.items, met, own.players, make_generator(options.seed, "players", card.id))
            scenarios += [Scenario(card, level, players, options.seed, own.points) for level in own.levels]
        self.take_data(loaded, scenarios, {"characters": sheets, "prompts": self.prompts}, [])
        self.resolved = options.resolve(**options.make_absolute_paths("sheets"))

    def find_cast(self, scenario: str) -> Mapping[str, Role]:
        own = self.scenarios[scenario]
        informants = own.informants if Role.PARTNER in self.filled else ()
        return {sheet.name: Role.SUBJECT for sheet in own.players} | {each.name: Role.PARTNER for each in informants}

    async def run_episode(self, scenario: str, repeat: int, seats: Seats) -> InformantsEpisode:
        return await run_scenario(self.scenarios[scenario], repeat, seats, self.prompts, self.options, seed=self.seed)

    def rehearse(self, scenario: str, role: Role, participant: str, call: int, asked: str) -> str:
        played = self.scenarios[scenario]
        if role is Role.JUDGE:
            matches = [[number, "A"] for number in range(1, len(played.statements) + 1)]
            return json.dumps({"reason": _WORD * 40, "matches": matches})
        if role is Role.PARTNER:
            return _WORD * (self.options.words * 3 // 2)
        if '{"claims"' in asked:
            return json.dumps({"claims": [_WORD * 15] * len(played.facts)})
        return json.dumps({"to": played.informants[0].name, "aside": False, "say": _WORD * self.options.words})

    def _list_questions(self, episode: InformantsEpisode) -> dict[str, PointQuestion]:
        return {} if episode.partner_failure else list_questions(self.scenarios[episode.scenario], episode.recalls)

    def list_criteria(self, episode: InformantsEpisode) -> Sequence[str]:
        return list(self._list_questions(episode))

    def list_judging_tasks(self, episode: InformantsEpisode, judges: Sequence[Seat]) -> list[JudgingTask]:
        # Judge by judge, so that the statements of one recall are asked about together.
        return [task for seat in judges for task in super(InformantsStudy, self).list_judging_tasks(episode, [seat])]

    async def judge(self, task: JudgingTask, episode: InformantsEpisode, reference: Record | None) -> Judgment:
        asked = find_question(episode.recalls, task.criterion)
        return await self._judge.judge(self.scenarios[task.scenario], episode, asked, task.seat)

    def show(self, episode: InformantsEpisode, criterion: str, reference: Record | None) -> ShownQuestion | None:
        asked = self._list_questions(episode).get(criterion)
        return asked.show(self.scenarios[episode.scenario]) if asked else None

    def make_played(self, episode: InformantsEpisode, judgments: Sequence[Judgment] = (), panel: Sequence[str] = ()) -> Played:
        """An episode with all that its scores rest on."""
        return Played(self.scenarios[episode.scenario], episode, add_panel(judgments, panel), bool(panel))

    def score(
        self, episode: InformantsEpisode, judgments: Sequence[Judgment], panel: Sequence[str], measured: object
    ) -> list[Score]:
        return METRICS.score(episode, self.make_played(episode, judgments, panel))

    def audit(self) -> Document:
        return make_audit(list(self.scenarios.values()), self.source)
