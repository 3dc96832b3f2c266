"""The judge's part of the memory test: a yes-or-no question where no rule can decide."""

from __future__ import annotations

from sociable.benchmarks.hsii.briefing import make_chat, render_setting
from sociable.benchmarks.hsii.memory.dataset import MemoryCase, MemoryEpisode
from sociable.core.prompts import Prompts, quote
from sociable.core.records import Judgment
from sociable.engine.seats import Seat
from sociable.judging.answers import judge_yes_no
from sociable.judging.protocol import Answer
from sociable.models.protocol import ChatMessage

CRITERION = "directive"


async def judge_reply(case: MemoryCase, episode: MemoryEpisode, seat: Seat, prompts: Prompts) -> Judgment:
    """One judge's answer to the check's question about the reply: WIN for a right reply, LOSS for a wrong one."""

    def write() -> list[ChatMessage]:
        values = {"target": case.target, "reply": quote(episode.reply), "question": case.check.question}
        question = prompts["judge_answer"].render(setting=render_setting(case), **values)
        return make_chat(prompts["judge_system"].render(), question)

    return await judge_yes_no(write, lambda: Answer(*case.check.apply(episode.reply)), seat, episode, CRITERION)
