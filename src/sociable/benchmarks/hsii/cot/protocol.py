"""Chain of thought and reflection (section 6.4, Figure 4, the rebuttal): one pair of case and design to one episode.

Cycle: think in the design's steps and answer; if the target is not the golden one, look for drawbacks in the turn that
was chosen; what was found goes into the first step of the next cycle. The model is never told the answer. The rule
that ends the cycles knows it: their number is what an oracle that stops at the right moment would count.
"""

from __future__ import annotations

from typing import Protocol

from sociable.benchmarks.hsii.briefing import ask_for_choice, setting
from sociable.benchmarks.hsii.cot.briefing import ask_to_reflect, ask_to_think, drawbacks_in
from sociable.benchmarks.hsii.cot.records import NO_DESIGN, CoTEpisode, Cycle, End, Pair
from sociable.benchmarks.hsii.cot.reference import reference_thinker
from sociable.benchmarks.hsii.parsing import FormatFailure, parse_reply
from sociable.core.prompts import Prompts
from sociable.core.records import Usage, episode_id
from sociable.dialogue.conversation import MAX_CHARACTERS, Utterance
from sociable.engine.seats import Seat, Seats
from sociable.models.protocol import ChatMessage, Request


class Thinker(Protocol):
    """Who is tested."""

    async def answer(self, last: Cycle | None) -> Utterance:
        """Thoughts and a turn, as they come. ``last`` is the cycle before, with the drawbacks found in it."""

    async def reflect(self, cycle: Cycle) -> Utterance:
        """What is wrong with the turn of this cycle."""

    @property
    def usage(self) -> Usage: ...


class PromptedThinker:
    """A model. Every call is a chat of its own: what goes from one to the next are the drawbacks alone."""

    def __init__(self, pair: Pair, seat: Seat, item: str, prompts: Prompts, plain: Prompts) -> None:
        assert seat.model is not None
        self._pair = pair
        self._model = seat.model
        self._scope = seat.scope(item)
        self._sampling = seat.sampling
        self._prompts = prompts
        self._plain = plain
        self._shown = setting(pair.case)

    @property
    def usage(self) -> Usage:
        return self._scope.usage

    async def answer(self, last: Cycle | None) -> Utterance:
        if self._pair.design == NO_DESIGN:
            return await self._ask(ask_for_choice(self._pair.case, self._plain))
        return await self._ask(ask_to_think(self._pair.case, self._shown, self._pair.design, last, self._prompts))

    async def reflect(self, cycle: Cycle) -> Utterance:
        return await self._ask(ask_to_reflect(self._shown, cycle, self._prompts))

    async def _ask(self, messages: list[ChatMessage]) -> Utterance:
        reply = await self._model.generate(Request(messages, self._scope, self._sampling))
        return Utterance(reply.text, reply.thinking, reply.defect)


async def run_pair(
    pair: Pair, repeat: int, seats: Seats, prompts: Prompts, plain: Prompts, *, seed: int, cycle_cap: int
) -> CoTEpisode:
    """Plays one pair. ``plain`` are HSII's own prompts. Raises RunFailure and RunStopped."""
    identifier = episode_id(pair.id, repeat)
    thinker = _thinker(pair, seats.subject, identifier, prompts, plain, seed, repeat)
    cycles: list[Cycle] = []
    calls = 0
    end = End.CAP
    while len(cycles) < cycle_cap:
        cycle = _read(pair, await thinker.answer(cycles[-1] if cycles else None))
        cycles.append(cycle)
        calls += 1
        if cycle.target == pair.case.golden.role_to:
            end = End.SOLVED
            break
        if pair.design == NO_DESIGN:
            end = End.ONE_PASS
            break
        if cycle.format_failure or len(cycles) == cycle_cap:
            continue
        reflection = await thinker.reflect(cycle)
        found = drawbacks_in(reflection.content)
        calls += 1
        if not found or reflection.defect in ("empty", "refused", "stopped by a content filter"):
            end = End.NO_REFLECTION if reflection.defect or not reflection.content.strip() else End.SATISFIED
            cycles[-1] = cycle.model_copy(update={"reflection": reflection.content[:MAX_CHARACTERS]})
            break
        cycles[-1] = cycle.model_copy(update={"drawbacks": found[:MAX_CHARACTERS]})
    usage = thinker.usage
    return CoTEpisode(
        id=identifier,
        scenario=pair.id,
        cluster=pair.case.dialogue,
        repeat=repeat,
        cycles=tuple(cycles),
        end=end,
        calls=calls,
        usage={seats.subject.role.value: usage} if usage.calls else {},
    )


def _read(pair: Pair, said: Utterance) -> Cycle:
    parsed = parse_reply(said.content, last=True)
    cycle = Cycle(reply=said.content[:MAX_CHARACTERS], thinking=said.thinking[:MAX_CHARACTERS])
    if said.defect and not said.content.rstrip().endswith("}"):
        # What stands in thoughts that were cut off is a draft, not an answer.
        parsed = FormatFailure("no answer at the end")
    if isinstance(parsed, FormatFailure):
        reason = f"{said.defect}: {parsed.reason}" if said.defect and said.defect != "empty" else parsed.reason
        return cycle.model_copy(update={"format_failure": reason})
    return cycle.model_copy(
        update={
            "role_to": parsed.role_to[:MAX_CHARACTERS],
            "target": pair.case.who_is(parsed.role_to),
            "content": parsed.content[:MAX_CHARACTERS],
        }
    )


def _thinker(pair: Pair, seat: Seat, item: str, prompts: Prompts, plain: Prompts, seed: int, repeat: int) -> Thinker:
    if seat.model is None:
        return reference_thinker(seat.agent, pair, seed, repeat)
    return PromptedThinker(pair, seat, item, prompts, plain)
