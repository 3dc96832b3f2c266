"""HSII's evaluation (section 5.2): one case to one episode.

Stage 1, format: the reply must yield an addressee and words.
Stage 2, target: the addressee must be the golden one; a wrong one ends the case ("an invalid dialogue sequence").
Stage 3, first utterance: the words of that same reply, judged later.
Stage 4, long run: the assistant talks on with its target, ``long_run_turns`` turns of its own in all, the first
utterance being the first of them; judged later against a reference conversation that begins with the golden utterance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from sociable.agents.prompted import PromptedParticipant
from sociable.benchmarks.hsii.briefing import ask_for_choice, ask_to_go_on, ask_to_play, ask_to_speak
from sociable.benchmarks.hsii.dataset import ASSISTANT, Case
from sociable.benchmarks.hsii.forms import address_form, next_turn_form, words_form
from sociable.benchmarks.hsii.parsing import MAX_CHARACTERS as MAX_READ
from sociable.benchmarks.hsii.parsing import AddressedReply, FormatFailure, parse_reply, parse_words
from sociable.benchmarks.hsii.records import HSIIEpisode, ReferenceConversation
from sociable.benchmarks.hsii.reference import WrittenPartner, make_assistant
from sociable.core.errors import InstrumentFailure
from sociable.core.form import Form
from sociable.core.prompts import Prompts
from sociable.core.records import Turn, Usage, episode_id
from sociable.dialogue.conversation import MAX_CHARACTERS, Conversation, Participant, RoundRobin, Utterance, run_conversation
from sociable.engine.seats import Seat, Seats
from sociable.models.protocol import ChatMessage, Request


class Assistant(Protocol):
    """Who is tested: it chooses and speaks once, then goes on talking with its target."""

    async def address(self) -> Utterance:
        """The first reply, as it came."""

    async def speak_to_target(self) -> Utterance:
        """The first words to the golden addressee, who is given."""

    async def take_turn(self, seen: Sequence[Turn]) -> Utterance | None:
        """A later turn in the long run."""

    @property
    def name(self) -> str: ...


class PromptedAssistant:
    """A model in the assistant's seat."""

    def __init__(self, case: Case, seat: Seat, item: str, prompts: Prompts) -> None:
        assert seat.model is not None
        self.name = ASSISTANT
        self.scope = seat.scope(item)
        self._model = seat.model
        self._case = case
        self._prompts = prompts
        self._sampling = seat.sampling
        self._talking = PromptedParticipant(
            ASSISTANT,
            seat.model,
            ask_to_go_on(case, case.golden.role_to, prompts),
            scope=self.scope,
            sampling=seat.sampling,
            form=partial(next_turn_form, case.golden.role_to),
        )

    async def address(self) -> Utterance:
        # No schema: a server that decodes within one would earn r1 for its model.
        return await self._ask(ask_for_choice(self._case, self._prompts), partial(address_form, self._case))

    async def speak_to_target(self) -> Utterance:
        target = self._case.golden.role_to
        return await self._ask(ask_to_speak(self._case, target, self._prompts), partial(words_form, self._case, target))

    async def _ask(self, messages: list[ChatMessage], form: Callable[[], Form]) -> Utterance:
        reply = await self._model.generate(Request(messages, self.scope, self._sampling, form=form))
        return Utterance(reply.text, reply.thinking, reply.defect)

    async def take_turn(self, seen: Sequence[Turn]) -> Utterance:
        utterance = await self._talking.take_turn(seen)
        return Utterance(parse_words(utterance.content), utterance.thinking, utterance.defect)


async def run_case(
    case: Case,
    repeat: int,
    seats: Seats,
    prompts: Prompts,
    *,
    seed: int,
    strict: bool,
    long_run_turns: int,
    forced_target: bool = False,
) -> HSIIEpisode:
    """Plays one case. ``long_run_turns`` 0 leaves stage 4 out. Raises RunFailure and RunStopped.

    With ``forced_target`` the model is told whom to address and asked for words only: stages 3 and 4 are then reached in
    every case, so that two models can be compared on the same ones (App. D.2).
    """
    identifier = episode_id(case.id, repeat)
    assistant = _assistant(case, seats.subject, identifier, prompts, seed, repeat)
    partner = _partner(case, seats.partner, identifier, prompts) if long_run_turns else None

    # Stage 1: format.
    first = await assistant.speak_to_target() if forced_target else await assistant.address()
    parsed = _given_target(case, first.content) if forced_target else parse_reply(first.content, strict=strict)
    episode = HSIIEpisode(
        id=identifier,
        scenario=case.id,
        cluster=case.dialogue,
        repeat=repeat,
        reply=first.content[:MAX_CHARACTERS],
        thinking=first.thinking[:MAX_CHARACTERS],
        strict_format=not isinstance(parse_reply(first.content, strict=True), FormatFailure),
        target_given=forced_target,
    )
    if isinstance(parsed, FormatFailure):
        reason = f"{first.defect}: {parsed.reason}" if first.defect and first.defect != "empty" else parsed.reason
        return episode.model_copy(update={"format_failure": reason, "usage": _usage(assistant)})

    # Stage 2: target. Stage 3: the words, judged later.
    target = case.who_is(parsed.role_to)
    conversation = Conversation()
    conversation.say(ASSISTANT, (target or parsed.role_to,), Utterance(parsed.content, "", first.defect))
    correct = target == case.golden.role_to

    # Stage 4: long run.
    failure = ""
    if correct and partner is not None:
        try:
            await _talk_on(conversation, assistant, partner, long_run_turns)
        except InstrumentFailure as error:
            failure = str(error)
    return episode.model_copy(
        update={
            "role_to": parsed.role_to[:MAX_CHARACTERS],
            "target": target,
            "target_correct": correct,
            "turns": tuple(conversation.turns),
            "long_run_failure": failure,
            "usage": _usage(assistant, partner),
        }
    )


def _given_target(case: Case, text: str) -> AddressedReply | FormatFailure:
    said = parse_words(text[:MAX_READ])
    return AddressedReply(case.golden.role_to, said) if said else FormatFailure("empty reply")


async def make_reference(case: Case, seats: Seats, prompts: Prompts, *, long_run_turns: int) -> ReferenceConversation:
    """The golden side of the long run: the golden utterance, continued by the reference with the partner."""
    assert seats.reference is not None and seats.partner is not None
    item = f"reference:{case.id}"
    assistant = _assistant(case, seats.reference, item, prompts, seed=0, repeat=0)
    partner = _partner(case, seats.partner, item, prompts)
    conversation = Conversation()
    conversation.say(ASSISTANT, (case.golden.role_to,), Utterance(case.golden.content))
    failure = ""
    try:
        await _talk_on(conversation, assistant, partner, long_run_turns, instruments={ASSISTANT, partner.name})
    except InstrumentFailure as error:
        failure = str(error)
    return ReferenceConversation(
        id=case.id,
        case_digest=case.digest,
        prompts_digest=prompts.digest,
        long_run_turns=long_run_turns,
        reference=seats.reference.name,
        partner=seats.partner.name,
        turns=tuple(conversation.turns),
        failure=failure,
        usage=_usage(assistant, partner),
    )


async def _talk_on(
    conversation: Conversation,
    assistant: Assistant,
    partner: Participant,
    long_run_turns: int,
    instruments: set[str] | None = None,
) -> None:
    await run_conversation(
        conversation,
        {ASSISTANT: assistant, partner.name: partner},
        RoundRobin(),
        turns=2 * (long_run_turns - 1),
        private=True,
        instruments=frozenset(instruments or {partner.name}),
    )


def _assistant(case: Case, seat: Seat, item: str, prompts: Prompts, seed: int, repeat: int) -> Assistant:
    if seat.model is None:
        return make_assistant(seat.agent, case, seed, repeat)
    return PromptedAssistant(case, seat, item, prompts)


def _partner(case: Case, seat: Seat | None, item: str, prompts: Prompts) -> Participant:
    """The golden target, played from the partner's seat; that somebody fit sits there has been checked."""
    assert seat is not None
    if seat.model is None:
        return WrittenPartner(case)
    target = case.golden.role_to
    briefing = ask_to_play(case, target, prompts)
    return PromptedParticipant(target, seat.model, briefing, scope=seat.scope(item, target), sampling=seat.sampling)


def _usage(*participants: object) -> dict[str, Usage]:
    """By role, of those that are models."""
    scopes = [
        participant.scope for participant in participants if isinstance(participant, PromptedAssistant | PromptedParticipant)
    ]
    return {scope.role: scope.usage for scope in scopes if scope.usage.calls}
