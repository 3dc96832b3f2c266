"""The judge's part of the memory test: a yes-or-no question where no rule can decide."""

from __future__ import annotations

from sociable.benchmarks.hsii.memory.briefing import ask_about
from sociable.benchmarks.hsii.memory.dataset import MemoryCase
from sociable.benchmarks.hsii.memory.records import MemoryEpisode
from sociable.core.prompts import Prompts
from sociable.core.records import Judgment, Usage
from sociable.engine.seats import Seat
from sociable.judging.yes_no import ask_yes_no, yes_no_judgment

RULE = "rule"
"""The name of the only reference agent that judges."""

CRITERION = "directive"


async def judge_reply(case: MemoryCase, episode: MemoryEpisode, seat: Seat, prompts: Prompts) -> Judgment:
    """WIN for a right reply, LOSS for a wrong one."""
    usage = Usage()
    answer: bool | None
    if seat.model is None:
        answer, reason = case.check.holds(episode.reply)
    else:
        scope = seat.scope(episode.id, f"{seat.name}|{CRITERION}")
        messages = ask_about(case, episode.reply, prompts)
        answer, reason = await ask_yes_no(seat.model, messages, scope=scope, sampling=seat.sampling)
        usage = scope.usage
    about = {"episode": episode.id, "scenario": case.id, "criterion": CRITERION, "judge": seat.name}
    return yes_no_judgment(answer, reason, usage=usage, **about)
