"""HSII's evaluation (section 5.2): one case to one episode.

Stage 1, format: the reply must yield an addressee and words.
Stage 2, target: the addressee must be the golden one; a wrong one ends the case ("an invalid dialogue sequence").
Stage 3, first utterance: the words of that same reply, judged later.
Stage 4, long run: the assistant talks on with its target, ``long_run_turns`` turns of its own in all, the first
utterance being the first of them; judged later against a reference conversation that begins with the golden utterance.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from sociable.agents.prompted import PromptedParticipant
from sociable.benchmarks.hsii.briefing import (
    END,
    LEAVES,
    ask_for_choice,
    ask_to_play,
    ask_to_speak,
    read_end,
    tell_role,
    tell_task,
)
from sociable.benchmarks.hsii.dataset import ASSISTANT, Case
from sociable.benchmarks.hsii.forms import make_choice_form, make_next_turn_form, make_partner_form, make_words_form
from sociable.benchmarks.hsii.parsing import MAX_CHARACTERS as MAX_READ
from sociable.benchmarks.hsii.parsing import AddressedReply, FormatFailure, parse_reply, parse_words
from sociable.benchmarks.hsii.records import HSIIEpisode, HSIIOptions, ReferenceConversation
from sociable.benchmarks.hsii.reference import ReferenceAssistant, WrittenPart, make_assistant
from sociable.core.errors import InstrumentFailure
from sociable.core.prompts import Prompts
from sociable.core.records import Turn, Usage, make_episode_id
from sociable.dialogue.conversation import MAX_CHARACTERS, Conversation, Participant, RoundRobin, Utterance, run_conversation
from sociable.engine.seats import Seat, Seats
from sociable.models.protocol import Request


class PromptedAssistant(PromptedParticipant):
    """A model in the assistant's seat: it chooses and speaks once, then goes on talking with its target."""

    def __init__(self, case: Case, seat: Seat, item: str, prompts: Prompts) -> None:
        assert seat.model is not None
        self._case = case
        self._prompts = prompts
        self._target = case.golden.role_to
        briefing = ask_to_speak(case, self._target, prompts, long_run=True)
        form = partial(make_next_turn_form, self._target, tell_task(prompts, self._target, long_run=True))
        super().__init__(ASSISTANT, seat.model, briefing, scope=seat.make_scope(item), sampling=seat.sampling, form=form)

    async def address(self, *, target_given: bool = False) -> Utterance:
        """The first reply, as it came; only words are asked for where the target is given."""
        if target_given:
            messages = ask_to_speak(self._case, self._target, self._prompts, long_run=False)
            told = [tell_role(self._prompts), tell_task(self._prompts, self._target)]
            form = partial(make_words_form, self._case, self._target, told)
        else:
            messages = ask_for_choice(self._case, self._prompts)
            form = partial(make_choice_form, self._case, [tell_role(self._prompts), tell_task(self._prompts)])
        # No schema: a server that decodes within one would earn r1 for its model.
        reply = await self._model.generate(Request(messages, self.scope, self._sampling, form=form))
        return Utterance(reply.text, reply.thinking, reply.defect)

    async def take_turn(self, seen: Sequence[Turn]) -> Utterance:
        """A later turn, in the long run."""
        utterance = await super().take_turn(seen)
        return Utterance(parse_words(utterance.content), utterance.thinking, utterance.defect)


class PromptedPartner(PromptedParticipant):
    """A model that plays the addressee, and may end the talk."""

    async def take_turn(self, seen: Sequence[Turn]) -> Utterance:
        utterance = await super().take_turn(seen)
        words, leaves = read_end(utterance.content)
        # Whoever leaves without a word has still said something by it.
        return Utterance(words or END, utterance.thinking, utterance.defect if words else "", LEAVES) if leaves else utterance


class _UntilSomebodyLeaves:
    async def choose_speaker(self, names: Sequence[str], turns: Sequence[Turn]) -> str | None:
        return None if turns[-1].note == LEAVES else await RoundRobin().choose_speaker(names, turns)


Assistant = PromptedAssistant | ReferenceAssistant


async def run_case(
    case: Case, repeat: int, seats: Seats, prompts: Prompts, options: HSIIOptions, *, seed: int, has_long_run: bool
) -> HSIIEpisode:
    """Plays one case, without stage 4 unless ``has_long_run``. Raises RunFailure and RunStopped.

    With ``forced_target`` the model is told whom to address and asked for words only: stages 3 and 4 are then reached in
    every case, so that two models can be compared on the same ones (App. D.2).
    """
    identifier, given = make_episode_id(case.id, repeat), options.forced_target
    assistant = _seat_assistant(case, seats.subject, identifier, prompts, seed, repeat)
    partner = _seat_partner(case, seats.partner, identifier, prompts) if has_long_run else None

    # Stage 1: format.
    first = await assistant.address(target_given=given)
    parsed = _read_words(case, first.content) if given else _read_choice(case, first.content, strict=options.format == "strict")
    episode = HSIIEpisode(
        id=identifier,
        scenario=case.id,
        cluster=case.dialogue,
        repeat=repeat,
        reply=first.content[:MAX_CHARACTERS],
        thinking=first.thinking[:MAX_CHARACTERS],
        strict_format=not isinstance(parse_reply(first.content, strict=True), FormatFailure),
        target_given=given,
    )
    if isinstance(parsed, FormatFailure):
        return episode.model_copy(update={"format_failure": parsed.explain(first.defect), "usage": _sum_usage(assistant)})

    # Stage 2: target. Stage 3: the words, judged later.
    target = case.find_character(parsed.role_to)
    conversation = Conversation()
    conversation.say(ASSISTANT, (target or parsed.role_to,), Utterance(parsed.content, "", first.defect))
    correct = target == case.golden.role_to

    # Stage 4: long run.
    failure = ""
    if correct and partner is not None:
        failure = await _talk_on(conversation, assistant, partner, options.long_run_turns, {partner.name})
    return episode.model_copy(
        update={
            "role_to": parsed.role_to[:MAX_CHARACTERS],
            "target": target,
            "target_correct": correct,
            "turns": tuple(conversation.turns),
            "long_run_failure": failure,
            "usage": _sum_usage(assistant, partner),
        }
    )


def _read_choice(case: Case, text: str, *, strict: bool) -> AddressedReply | FormatFailure:
    return parse_reply(text, strict=strict, heard=[message.content for message in case.messages])


def _read_words(case: Case, text: str) -> AddressedReply | FormatFailure:
    """The reply to the golden addressee, who was given."""
    said = parse_words(text[:MAX_READ])
    return AddressedReply(case.golden.role_to, said) if said else FormatFailure("empty reply")


async def make_reference(case: Case, seats: Seats, prompts: Prompts, *, long_run_turns: int) -> ReferenceConversation:
    """The golden side of the long run: the golden utterance, continued by the reference with the partner."""
    assert seats.reference is not None and seats.partner is not None
    item = f"reference:{case.id}"
    assistant = _seat_assistant(case, seats.reference, item, prompts, seed=0, repeat=0)
    partner = _seat_partner(case, seats.partner, item, prompts)
    conversation = Conversation()
    conversation.say(ASSISTANT, (case.golden.role_to,), Utterance(case.golden.content))
    failure = await _talk_on(conversation, assistant, partner, long_run_turns, {ASSISTANT, partner.name})
    return ReferenceConversation(
        id=case.id,
        case_digest=case.digest,
        prompts_digest=prompts.digest,
        long_run_turns=long_run_turns,
        reference=seats.reference.name,
        partner=seats.partner.name,
        turns=tuple(conversation.turns),
        failure=failure,
        usage=_sum_usage(assistant, partner),
    )


def find_mismatch(reference: ReferenceConversation, case: Case, seats: Seats, prompts: Prompts, *, long_run_turns: int) -> str:
    """The reason why a reference that was made elsewhere does not fit, or the empty string."""
    partner = seats.partner.name if seats.partner else None
    made_with = (
        ("this case", reference.case_digest, case.digest),
        ("these prompts", reference.prompts_digest, prompts.digest),
        (f"{long_run_turns} turns", reference.long_run_turns, long_run_turns),
        (f"the partner {partner}", reference.partner, partner),
    )
    return next((f"it was not made for {what}" for what, made, wanted in made_with if made != wanted), "")


async def _talk_on(
    conversation: Conversation, assistant: Assistant, partner: Participant, long_run_turns: int, instruments: set[str]
) -> str:
    """Plays the long run. Returns what one of the ``instruments`` failed at, or the empty string."""
    talkers: dict[str, Participant] = {ASSISTANT: assistant, partner.name: partner}
    turns = 2 * (long_run_turns - 1)
    try:
        policy = _UntilSomebodyLeaves()
        await run_conversation(conversation, talkers, policy, turns=turns, private=True, instruments=frozenset(instruments))
    except InstrumentFailure as error:
        return str(error)
    return ""


def _seat_assistant(case: Case, seat: Seat, item: str, prompts: Prompts, seed: int, repeat: int) -> Assistant:
    if seat.model is None:
        return make_assistant(seat.agent, case, seed, repeat)
    return PromptedAssistant(case, seat, item, prompts)


def _seat_partner(case: Case, seat: Seat | None, item: str, prompts: Prompts) -> Participant:
    """The golden target, played from the partner's seat, which has been checked to be filled."""
    assert seat is not None
    target = case.golden.role_to
    if seat.model is None:
        return WrittenPart(case, target)
    briefing = ask_to_play(case, target, prompts)
    return PromptedPartner(
        target,
        seat.model,
        briefing,
        scope=seat.make_scope(item, target),
        sampling=seat.sampling,
        form=partial(make_partner_form, target, briefing[0]["content"]),
    )


def _sum_usage(*participants: object) -> dict[str, Usage]:
    """The usage of those participants that are models and were asked, by role."""
    scopes = [participant.scope for participant in participants if isinstance(participant, PromptedParticipant)]
    return {scope.role: scope.usage for scope in scopes if scope.usage.calls}
