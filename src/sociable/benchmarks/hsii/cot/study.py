"""Chain of thought bound to its data, prompts and options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pydantic import Field

from sociable.benchmarks.hsii.briefing import hsii_prompts
from sociable.benchmarks.hsii.cot.briefing import cot_prompts
from sociable.benchmarks.hsii.cot.metrics import TOKENS, WITH, WITHOUT, estimate_all, score_episode
from sociable.benchmarks.hsii.cot.protocol import run_pair
from sociable.benchmarks.hsii.cot.records import NO_DESIGN, CoTEpisode, Pair
from sociable.benchmarks.hsii.dataset import load_dataset, select_dialogues
from sociable.core.errors import InputError
from sociable.core.records import Estimate, Judgment, Record, Score
from sociable.engine.benchmark import Study, StudyOptions, checked_options
from sociable.engine.seats import Role, Seats


class CoTOptions(Record):
    cycle_cap: int = Field(default=128, ge=1, description="cycles at the most, and what an unsolved pair counts (N_inf)")
    designs: tuple[str, ...] = Field(default=("states", "knowledge", "consequences"), min_length=1)
    without_cot: bool = Field(default=True, description="ask HSII's own question too, once a case, to have the gain")


class CoTStudy(Study):
    episode_type = CoTEpisode
    metrics = (*WITHOUT, *WITH, *TOKENS)

    def __init__(self, options: StudyOptions) -> None:
        self.options = checked_options(CoTOptions, options.values, "hsii-cot")
        if options.stages is not None:
            raise InputError("hsii-cot has no stages; leave --stages out.")
        if len({*self.options.designs, NO_DESIGN}) < len(self.options.designs) + 1:
            raise InputError(f"designs: each is named once, and none is called '{NO_DESIGN}'.")
        self.seed = options.seed
        self.plain = hsii_prompts()
        self.prompts = cot_prompts(self.options.designs, options.prompts)
        dataset = load_dataset(options.dataset, skip_invalid=options.skip_invalid)
        self.source = dataset.source
        designs = (*([NO_DESIGN] if self.options.without_cot else []), *self.options.designs)
        cases = select_dialogues(dataset.items, options.limit, options.seed)
        pairs = [Pair(case=case, design=design) for case in cases for design in designs]
        self.scenarios: Mapping[str, Pair] = {pair.id: pair for pair in pairs}
        self.digests = {"dataset": dataset.digest, "prompts": self.prompts.digest, "plain prompts": self.plain.digest}
        self.notes = dataset.notes
        if self.options.cycle_cap < 128:
            lower = "what is unsolved counts as much, and complexities are lower than with 128"
            self.notes = [*self.notes, f"At most {self.options.cycle_cap} cycles instead of the paper's 128: {lower}."]

    def check_seats(self, roles: Iterable[Role], *, judges: int, references: bool) -> None:
        if judges or set(roles) - {Role.SUBJECT}:
            raise InputError("hsii-cot asks the model under test only: leave --partner, --judge and --reference out.")

    async def run_episode(self, scenario: str, repeat: int, seats: Seats) -> CoTEpisode:
        return await run_pair(
            self.scenarios[scenario],
            repeat,
            seats,
            self.prompts,
            self.plain,
            seed=self.seed,
            cycle_cap=self.options.cycle_cap,
        )

    def cluster_of(self, scenario: str) -> str:
        return self.scenarios[scenario].case.dialogue

    def score(self, episode: CoTEpisode, judgments: Sequence[Judgment], panel: Sequence[str]) -> list[Score]:
        return score_episode(self.scenarios[episode.scenario], episode, self.options.cycle_cap)

    def estimate(self, scores: Sequence[Score]) -> list[Estimate]:
        return estimate_all(scores, self.options.cycle_cap, seed=self.seed)

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
