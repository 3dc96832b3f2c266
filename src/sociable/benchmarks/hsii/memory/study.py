"""The memory test bound to its data, prompts and options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sociable.benchmarks.hsii.briefing import hsii_prompts
from sociable.benchmarks.hsii.memory.briefing import memory_prompts
from sociable.benchmarks.hsii.memory.dataset import MemoryCase, load_memory
from sociable.benchmarks.hsii.memory.judge import CRITERION, judge_reply
from sociable.benchmarks.hsii.memory.metrics import SHARES, estimate_all, score_episode
from sociable.benchmarks.hsii.memory.protocol import run_case
from sociable.benchmarks.hsii.memory.records import MemoryEpisode
from sociable.core.errors import InputError
from sociable.core.records import Estimate, Judgment, Record, Score
from sociable.core.seeding import make_generator
from sociable.engine.benchmark import JudgingTask, Study, StudyOptions, checked_options
from sociable.engine.seats import Role, Seat, Seats
from sociable.judging.pairwise import judgment_id
from sociable.judging.panel import panel_verdict


class MemoryStudy(Study):
    episode_type = MemoryEpisode
    metrics = SHARES

    def __init__(self, options: StudyOptions) -> None:
        checked_options(Record, options.values, "hsii-memory")
        if options.stages is not None:
            raise InputError("hsii-memory has no stages; leave --stages out.")
        self.seed = options.seed
        self.prompts = memory_prompts(options.prompts)
        dataset = load_memory(options.dataset, skip_invalid=options.skip_invalid)
        self.source = dataset.source
        self.scenarios: Mapping[str, MemoryCase] = {
            case.id: case for case in _selected(dataset.items, options.limit, options.seed)
        }
        self.digests = {"dataset": dataset.digest, "prompts": self.prompts.digest, "plain prompts": hsii_prompts().digest}
        self.notes = dataset.notes

    def check_seats(self, roles: Iterable[Role], *, judges: int, references: bool) -> None:
        if set(roles) - {Role.SUBJECT} or references:
            raise InputError("hsii-memory asks the model under test and judges only: leave --partner and --reference out.")

    async def run_episode(self, scenario: str, repeat: int, seats: Seats) -> MemoryEpisode:
        return await run_case(self.scenarios[scenario], repeat, seats, self.prompts, seed=self.seed)

    def cluster_of(self, scenario: str) -> str:
        return self.scenarios[scenario].scenario

    def judging_tasks(self, episode: MemoryEpisode, judges: Sequence[Seat]) -> list[JudgingTask]:
        if not self._is_judged(episode):
            return []
        return [
            JudgingTask(judgment_id(episode.id, CRITERION, seat.name), episode.id, episode.scenario, CRITERION, seat)
            for seat in judges
        ]

    async def judge(self, task: JudgingTask, episode: MemoryEpisode, reference: object) -> Judgment:
        return await judge_reply(self.scenarios[task.scenario], episode, task.seat, self.prompts)

    def score(self, episode: MemoryEpisode, judgments: Sequence[Judgment], panel: Sequence[str]) -> list[Score]:
        given = {judgment.judge: judgment for judgment in judgments}
        complete = bool(panel) and all(judge in given for judge in panel)
        verdict = panel_verdict([given[judge] for judge in panel]) if complete else None
        return score_episode(self.scenarios[episode.scenario], episode, verdict, judged=bool(panel))

    def estimate(self, scores: Sequence[Score]) -> list[Estimate]:
        return estimate_all(scores, seed=self.seed)

    def rehearse(self, scenario: str, role: Role, participant: str, call: int, asked: str) -> str:
        if role is Role.JUDGE:
            return '{"reason": "' + "It does what was asked of it, and says so to the right person. " * 2 + '", "answer": "yes"}'
        return self.scenarios[scenario].right

    def _is_judged(self, episode: MemoryEpisode) -> bool:
        return bool(self.scenarios[episode.scenario].check.question and episode.reply.strip())


def _selected(cases: Sequence[MemoryCase], limit: int | None, seed: int) -> list[MemoryCase]:
    """All distances of ``limit`` scenarios, drawn by ``seed`` so that each kind is taken in turn; all without a limit."""
    kinds: dict[tuple[str, bool], list[str]] = {}
    for case in cases:
        own = kinds.setdefault((case.test, case.control), [])
        if case.scenario not in own:
            own.append(case.scenario)
    if limit is None:
        return list(cases)
    generator = make_generator(seed, "limit")
    for own in kinds.values():
        generator.shuffle(own)
    in_turn = [own[place] for place in range(len(cases)) for own in kinds.values() if place < len(own)]
    chosen = set(in_turn[:limit])
    return [case for case in cases if case.scenario in chosen]
