"""Chain of thought bound to its data, prompts and options."""

from __future__ import annotations

from collections.abc import Sequence

from sociable.benchmarks.hsii.audit import make_audit
from sociable.benchmarks.hsii.briefing import load_hsii_prompts
from sociable.benchmarks.hsii.cot.metrics import PlayedPair, make_metrics
from sociable.benchmarks.hsii.cot.protocol import load_cot_prompts, run_pair
from sociable.benchmarks.hsii.cot.records import NO_DESIGN, CoTEpisode, CoTOptions, Pair
from sociable.benchmarks.hsii.cot.reference import rehearse_pair
from sociable.benchmarks.hsii.dataset import load_dataset, select_dialogues
from sociable.core.records import Score
from sociable.core.view import Document
from sociable.engine.seats import Role, Seats
from sociable.engine.study import Audited, Study, StudyOptions


class CoTStudy(Study[Pair, CoTEpisode], Audited):
    episode_type = CoTEpisode
    cluster_field = "case.dialogue"
    main_metrics = ("success_with_cot",)
    unasked = dict.fromkeys((Role.PARTNER, Role.JUDGE, Role.REFERENCE), "{benchmark} asks the model under test only")

    def __init__(self, options: StudyOptions[CoTOptions]) -> None:
        super().__init__(options)
        own = self.options = options.own
        self.metrics = make_metrics(own.cycle_cap)
        self.prompts = load_cot_prompts(own.designs, options.prompts)
        dataset = load_dataset(options.dataset, skip_invalid=options.skip_invalid)
        designs = (*([NO_DESIGN] if own.without_cot else []), *own.designs)
        cases = select_dialogues(dataset.items, options.limit, options.seed)
        pairs = [Pair(case=case, design=design) for case in cases for design in designs]
        lower = "what is unsolved counts as much, and complexities are lower than with 128"
        fewer = f"At most {own.cycle_cap} cycles instead of the paper's 128: {lower}."
        prompts = {"prompts": self.prompts, "plain prompts": load_hsii_prompts()}
        self.take_data(dataset, pairs, prompts, [fewer] if own.cycle_cap < 128 else [])

    async def run_episode(self, scenario: str, repeat: int, seats: Seats) -> CoTEpisode:
        pair, cap = self.scenarios[scenario], self.options.cycle_cap
        return await run_pair(pair, repeat, seats, self.prompts, seed=self.seed, cycle_cap=cap)

    def score(self, episode: CoTEpisode, judgments: Sequence[object], panel: Sequence[str], measured: object) -> list[Score]:
        return self.metrics.score(episode, PlayedPair(self.scenarios[episode.scenario], episode))

    def rehearse(self, scenario: str, role: Role, participant: str, call: int, asked: str) -> str:
        return rehearse_pair(self.scenarios[scenario], call)

    def audit(self) -> Document:
        return make_audit(list({pair.case.id: pair.case for pair in self.scenarios.values()}.values()), self.source)
