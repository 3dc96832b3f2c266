"""The memory test (App. D.1): everything up to a question, one answer, and a judge's opinion where no rule can decide.

Reference agents choose between the two answers written with each scenario. ``heuristic`` answers as if nothing had been
asked of it, ``obedient`` as if everything held for everybody and for good. Each is right half of the time by doing one
thing always, which is why neither may score above 0 in ``balance``.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from sociable.benchmarks.hsii.briefing import brief_assistant, load_hsii_prompts, make_chat, render_setting, tell_role
from sociable.benchmarks.hsii.dataset import ASSISTANT
from sociable.benchmarks.hsii.forms import make_words_form
from sociable.benchmarks.hsii.memory.dataset import MemoryCase, MemoryEpisode
from sociable.benchmarks.hsii.parsing import parse_words
from sociable.core.prompts import Prompts, load_package_prompts, quote
from sociable.core.records import Judgment, make_episode_id
from sociable.core.seeding import make_generator
from sociable.dialogue.conversation import Conversation, Utterance
from sociable.engine.seats import Seat, Seats
from sociable.judging.answers import judge_yes_no
from sociable.judging.protocol import Answer
from sociable.models.protocol import ChatMessage, Request

CRITERION = "directive"
REHEARSED_REPLY = '{"reason": "' + "It does what was asked of it, and says so to the right person. " * 2 + '", "answer": "yes"}'
"""A reply that a judge might give."""

PLACEHOLDERS = {
    "task": frozenset({"target", "assistant"}),
    "answer": frozenset({"setting", "target", "task"}),
    "judge_system": frozenset[str](),
    "judge_answer": frozenset({"setting", "target", "reply", "question"}),
}


def load_memory_prompts(override: Path | None = None) -> Prompts:
    """The bundled prompts, or the user's own in their place."""
    return load_package_prompts("sociable.benchmarks.hsii.memory", PLACEHOLDERS, override)


async def run_case(case: MemoryCase, repeat: int, seats: Seats, prompts: Prompts, *, seed: int) -> MemoryEpisode:
    """Plays one case. Raises RunFailure and RunStopped."""
    identifier = make_episode_id(case.id, repeat)
    subject = seats.subject
    usage = {}
    if subject.model is None:
        said = choose_answer(subject.agent, case, seed, repeat)
    else:
        scope = subject.make_scope(identifier)
        form = partial(make_words_form, case, case.target, [tell_role(load_hsii_prompts()), _tell_task(case, prompts)])
        reply = await subject.model.generate(Request(ask_to_answer(case, prompts), scope, subject.sampling, form=form))
        said = Utterance(parse_words(reply.text), reply.thinking, reply.defect)
        usage = {subject.role.value: scope.usage}
    turn = Conversation().say(ASSISTANT, (case.target,), said)
    return MemoryEpisode(id=identifier, scenario=case.id, cluster=case.scenario, repeat=repeat, turns=(turn,), usage=usage)


def ask_to_answer(case: MemoryCase, prompts: Prompts) -> list[ChatMessage]:
    """The messages for the model under test."""
    task = prompts["answer"].render(setting=render_setting(case), target=case.target, task=_tell_task(case, prompts))
    return brief_assistant(task, load_hsii_prompts())


def _tell_task(case: MemoryCase, prompts: Prompts) -> str:
    return prompts["task"].render(target=case.target, assistant=ASSISTANT)


def choose_answer(agent: str, case: MemoryCase, seed: int, repeat: int) -> Utterance:
    """The answer of the reference agent named ``oracle``, ``oracle@0.3``, …; the registry has checked the name."""
    kind, _, rate = agent.partition("@")
    generator = make_generator(seed, "reference", kind, case.id, repeat)
    if kind == "silent":
        return Utterance("", defect="empty")
    is_right = {
        # One draw a case, at every rate: so the errors are nested.
        "oracle": generator.random() >= float(rate or 0.0),
        "heuristic": case.control,
        "obedient": not case.control,
        "random": generator.random() < 0.5,
    }[kind]
    return Utterance(case.right if is_right else case.wrong)


async def judge_reply(case: MemoryCase, episode: MemoryEpisode, seat: Seat, prompts: Prompts) -> Judgment:
    """One judge's answer to the check's question about the reply: WIN for a right reply, LOSS for a wrong one."""

    def write() -> list[ChatMessage]:
        values = {"target": case.target, "reply": quote(episode.reply), "question": case.check.question}
        question = prompts["judge_answer"].render(setting=render_setting(case), **values)
        return make_chat(prompts["judge_system"].render(), question)

    return await judge_yes_no(write, lambda: Answer(*case.check.apply(episode.reply)), seat, episode, CRITERION)
