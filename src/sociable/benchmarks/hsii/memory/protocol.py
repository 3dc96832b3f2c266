"""The memory test (App. D.1): everything up to a question, one answer."""

from __future__ import annotations

from functools import partial

from sociable.benchmarks.hsii.dataset import ASSISTANT
from sociable.benchmarks.hsii.forms import words_form
from sociable.benchmarks.hsii.memory.briefing import ask_to_answer
from sociable.benchmarks.hsii.memory.dataset import MemoryCase
from sociable.benchmarks.hsii.memory.records import MemoryEpisode
from sociable.benchmarks.hsii.memory.reference import reference_answer
from sociable.benchmarks.hsii.parsing import parse_words
from sociable.core.prompts import Prompts
from sociable.core.records import episode_id
from sociable.dialogue.conversation import Conversation, Utterance
from sociable.engine.seats import Seats
from sociable.models.protocol import Request


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
        said = Utterance(parse_words(reply.text), reply.thinking, reply.defect)
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
