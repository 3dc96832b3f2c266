"""The judge's part of the memory test: a yes-or-no question where no rule can decide."""

from __future__ import annotations

from sociable.benchmarks.hsii.memory.briefing import ask_about
from sociable.benchmarks.hsii.memory.dataset import MemoryCase
from sociable.benchmarks.hsii.memory.records import MemoryEpisode
from sociable.core.prompts import Prompts
from sociable.core.records import Judgment
from sociable.engine.seats import Seat
from sociable.judging.answers import judge_yes_no
from sociable.judging.protocol import Answer

CRITERION = "directive"


async def judge_reply(case: MemoryCase, episode: MemoryEpisode, seat: Seat, prompts: Prompts) -> Judgment:
    """WIN for a right reply, LOSS for a wrong one."""
    return await judge_yes_no(
        lambda: ask_about(case, episode.reply, prompts),
        lambda: Answer(*case.check.holds(episode.reply)),
        seat,
        episode,
        CRITERION,
    )
