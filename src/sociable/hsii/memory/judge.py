"""The judge's part of the memory test: a yes-or-no question where no rule can decide."""

from __future__ import annotations

from sociable.core.prompts import Prompts
from sociable.core.records import Judgment, Usage, Verdict
from sociable.hsii.memory.briefing import ask_about
from sociable.hsii.memory.dataset import MemoryCase
from sociable.hsii.memory.records import MemoryEpisode
from sociable.judging.pairwise import judgment_id
from sociable.judging.yes_no import YES_NO_SCHEMA, parse_yes_no
from sociable.models.protocol import Request
from sociable.runner.seats import Seat

RULE = "rule"
"""The name of the only reference agent that judges."""

CRITERION = "directive"


async def judge_reply(case: MemoryCase, episode: MemoryEpisode, seat: Seat, prompts: Prompts) -> Judgment:
    """WIN for a right reply, LOSS for a wrong one."""
    usage = Usage()
    if seat.model is None:
        right, reason = case.check.holds(episode.reply)
        verdict = Verdict.WIN if right else Verdict.LOSS
    else:
        scope = seat.scope(episode.id, f"{seat.name}|{CRITERION}")
        reply = await seat.model.generate(Request(ask_about(case, episode.reply, prompts), scope, seat.sampling, YES_NO_SCHEMA))
        answer, reason = parse_yes_no(reply.text)
        usage = scope.usage
        if answer is None or reply.defect:
            verdict = Verdict.UNSCORED
            reason = f"{seat.name}: {reply.defect or 'no answer in the reply'}: {reason}".removesuffix(": ")
        else:
            verdict = Verdict.WIN if answer else Verdict.LOSS
    return Judgment(
        id=judgment_id(episode.id, CRITERION, seat.name),
        episode=episode.id,
        scenario=case.id,
        criterion=CRITERION,
        judge=seat.name,
        verdict=verdict,
        reason=reason,
        usage=usage,
    )
