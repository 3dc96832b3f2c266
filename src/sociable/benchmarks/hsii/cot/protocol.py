"""Chain of thought and reflection (section 6.4, Figure 4, the rebuttal): one pair of case and design to one episode.

Cycle: think in the design's steps and answer; if the target is not the golden one, look for drawbacks in the turn that
was chosen; what was found goes into the first step of the next cycle. The model is never told the answer. The rule
that ends the cycles knows it: their number is what an oracle that stops at the right moment would count.
"""

from __future__ import annotations

from sociable.benchmarks.hsii.briefing import ask_for_choice, load_hsii_prompts, render_setting
from sociable.benchmarks.hsii.cot.briefing import ask_to_reflect, ask_to_think, find_drawbacks
from sociable.benchmarks.hsii.cot.records import NO_DESIGN, CoTEpisode, Cycle, End, Pair
from sociable.benchmarks.hsii.cot.reference import ReferenceThinker
from sociable.benchmarks.hsii.parsing import FormatFailure, parse_reply
from sociable.core.prompts import Prompts
from sociable.core.records import Usage, episode_id
from sociable.dialogue.conversation import MAX_CHARACTERS, Utterance
from sociable.engine.seats import Seat, Seats
from sociable.models.protocol import ChatMessage


class PromptedThinker:
    """A model. Every call is a chat of its own: what goes from one to the next are the drawbacks alone."""

    def __init__(self, pair: Pair, seat: Seat, item: str, prompts: Prompts) -> None:
        self._pair = pair
        self._seat = seat
        self._scope = seat.scope(item)
        self._prompts = prompts
        self._shown = render_setting(pair.case)

    @property
    def usage(self) -> Usage:
        return self._scope.usage

    async def answer(self, last: Cycle | None) -> Utterance:
        """Thoughts and a turn, as they come. ``last`` is the cycle before, with the drawbacks found in it."""
        case, design = self._pair.case, self._pair.design
        if design == NO_DESIGN:
            return await self._ask(ask_for_choice(case, load_hsii_prompts()))
        return await self._ask(ask_to_think(case, self._shown, design, last, self._prompts))

    async def reflect(self, cycle: Cycle) -> Utterance:
        """The drawbacks of the turn of this cycle, as they come."""
        return await self._ask(ask_to_reflect(self._shown, cycle, self._prompts))

    async def _ask(self, messages: list[ChatMessage]) -> Utterance:
        reply = await self._seat.ask(messages, self._scope)
        return Utterance(reply.text, reply.thinking, reply.defect)


async def run_pair(pair: Pair, repeat: int, seats: Seats, prompts: Prompts, *, seed: int, cycle_cap: int) -> CoTEpisode:
    """Plays one pair. Raises RunFailure and RunStopped."""
    identifier, seat = episode_id(pair.id, repeat), seats.subject
    thinker: PromptedThinker | ReferenceThinker = (
        PromptedThinker(pair, seat, identifier, prompts) if seat.model else ReferenceThinker(seat.agent, pair, seed, repeat)
    )
    cycles: list[Cycle] = []
    calls = 0
    end = End.CAP
    while len(cycles) < cycle_cap:
        cycle = _read_cycle(pair, await thinker.answer(cycles[-1] if cycles else None))
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
        found = find_drawbacks(reflection.content)
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
        usage={seat.role.value: usage} if usage.calls else {},
    )


def _read_cycle(pair: Pair, said: Utterance) -> Cycle:
    parsed = parse_reply(said.content, last=True)
    cycle = Cycle(reply=said.content[:MAX_CHARACTERS], thinking=said.thinking[:MAX_CHARACTERS])
    if said.defect and not said.content.rstrip().endswith("}"):
        # What stands in thoughts that were cut off is a draft, not an answer.
        parsed = FormatFailure("no answer at the end")
    if isinstance(parsed, FormatFailure):
        return cycle.model_copy(update={"format_failure": parsed.explain(said.defect)})
    return cycle.model_copy(
        update={
            "role_to": parsed.role_to[:MAX_CHARACTERS],
            "target": pair.case.find_character(parsed.role_to),
            "content": parsed.content[:MAX_CHARACTERS],
        }
    )
