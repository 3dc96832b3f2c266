"""The memory test (App. D.1): everything up to a question, one answer."""

from __future__ import annotations

from functools import partial

from sociable.core.prompts import Prompts
from sociable.core.records import episode_id
from sociable.dialogue.conversation import Conversation, Utterance
from sociable.hsii.dataset import ASSISTANT
from sociable.hsii.forms import words_form
from sociable.hsii.memory.briefing import ask_to_answer
from sociable.hsii.memory.dataset import MemoryCase
from sociable.hsii.memory.records import MemoryEpisode
from sociable.hsii.memory.reference import reference_answer
from sociable.hsii.parsing import words_only
from sociable.models.protocol import Request
from sociable.runner.seats import Seats


async def run_case(case: MemoryCase, repeat: int, seats: Seats, prompts: Prompts, *, seed: int) -> MemoryEpisode:
    """Plays one case. Raises RunFailure and RunStopped."""
    identifier = episode_id(case.id, repeat)
    subject = seats.subject
    usage = {}
    if subject.model is None:
        said = reference_answer(subject.agent, case, seed, repeat)
    else:
        scope = subject.scope(identifier)
        request = Request(ask_to_answer(case, prompts), scope, subject.sampling, form=partial(words_form, case, case.target))
        reply = await subject.model.generate(request)
        said = Utterance(words_only(reply.text), reply.thinking, reply.defect)
        usage = {subject.role.value: scope.usage}
    conversation = Conversation()
    conversation.say(ASSISTANT, (case.target,), said)
    return MemoryEpisode(
        id=identifier,
        scenario=case.id,
        cluster=case.scenario,
        repeat=repeat,
        turns=tuple(conversation.turns),
        usage=usage,
    )
