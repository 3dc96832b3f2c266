"""Chain of thought bound to its data, prompts and options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sociable.benchmarks.hsii.audit import audit_document
from sociable.benchmarks.hsii.briefing import hsii_prompts
from sociable.benchmarks.hsii.cot.briefing import cot_prompts
from sociable.benchmarks.hsii.cot.metrics import PlayedPair, cot_metrics
from sociable.benchmarks.hsii.cot.protocol import run_pair
from sociable.benchmarks.hsii.cot.records import NO_DESIGN, CoTEpisode, CoTOptions, Pair
from sociable.benchmarks.hsii.dataset import load_dataset, select_dialogues
from sociable.core.records import Score
from sociable.core.view import Document
from sociable.engine.seats import Role, Seats
from sociable.engine.study import Audited, Study, StudyOptions

_ALONE = "{benchmark} asks the model under test only"


class CoTStudy(Study[Pair, CoTEpisode], Audited):
    episode_type = CoTEpisode
    unasked = {Role.PARTNER: _ALONE, Role.JUDGE: _ALONE, Role.REFERENCE: _ALONE}

    def __init__(self, options: StudyOptions[CoTOptions]) -> None:
        own = self.options = options.own
        self.metrics = cot_metrics(own.cycle_cap)
        super().__init__(options)
        self.plain = hsii_prompts()
        self.prompts = cot_prompts(own.designs, options.prompts)
        dataset = load_dataset(options.dataset, skip_invalid=options.skip_invalid)
        self.source = dataset.source
        designs = (*([NO_DESIGN] if own.without_cot else []), *own.designs)
        cases = select_dialogues(dataset.items, options.limit, options.seed)
        pairs = [Pair(case=case, design=design) for case in cases for design in designs]
        self.scenarios: Mapping[str, Pair] = {pair.id: pair for pair in pairs}
        self.digests = {"dataset": dataset.digest, "prompts": self.prompts.digest, "plain prompts": self.plain.digest}
        lower = "what is unsolved counts as much, and complexities are lower than with 128"
        fewer = f"At most {own.cycle_cap} cycles instead of the paper's 128: {lower}."
        self.notes = [*dataset.notes, *([fewer] if own.cycle_cap < 128 else [])]

    async def run_episode(self, scenario: str, repeat: int, seats: Seats) -> CoTEpisode:
        pair, cap = self.scenarios[scenario], self.options.cycle_cap
        return await run_pair(pair, repeat, seats, self.prompts, self.plain, seed=self.seed, cycle_cap=cap)

    def cluster_of(self, scenario: str) -> str:
        return self.scenarios[scenario].case.dialogue

    def score(self, episode: CoTEpisode, judgments: Sequence[object], panel: Sequence[str], measured: object) -> list[Score]:
        return self.metrics.score(episode, PlayedPair(self.scenarios[episode.scenario], episode))

    def rehearse(self, scenario: str, role: Role, participant: str, call: int, asked: str) -> str:
        """Wrong in every cycle, up to the cap: the longest way through."""
        pair = self.scenarios[scenario]
        golden = pair.case.golden
        if pair.design == NO_DESIGN:
            return golden.model_dump_json(exclude={"index"})
        if call % 2:
            return "- " + "It leaves somebody waiting who needs an answer more than this person does. " * 2
        wrong = next(name for name in pair.characters if name != golden.role_to)
        answer = golden.model_copy(update={"role_to": wrong}).model_dump_json(exclude={"index"})
        return "\n".join((*(message.content for message in pair.case.messages[-4:]), answer))

    def audit(self) -> Document:
        return audit_document(list({pair.case.id: pair.case for pair in self.scenarios.values()}.values()), self.source)
