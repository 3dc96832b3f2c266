"""Chain of thought and reflection (section 6.4, Figure 4, the rebuttal): one pair of case and design to one episode.

Cycle: think in the design's steps and answer; if the target is not the golden one, look for drawbacks in the turn that
was chosen; what was found goes into the first step of the next cycle. The model is never told the answer. The rule
that ends the cycles knows it: their number is what an oracle that stops at the right moment would count.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from sociable.benchmarks.hsii.briefing import ask_for_choice, brief_assistant, list_names, load_hsii_prompts, render_setting
from sociable.benchmarks.hsii.cot.forms import make_drawbacks_form, make_thought_form
from sociable.benchmarks.hsii.cot.records import NO_DESIGN, CoTEpisode, Cycle, End, Pair
from sociable.benchmarks.hsii.cot.reference import ReferenceThinker
from sociable.benchmarks.hsii.dataset import ASSISTANT, Case
from sociable.benchmarks.hsii.parsing import FormatFailure, parse_reply
from sociable.core.form import Form
from sociable.core.names import find_words
from sociable.core.prompts import Prompts, load_package_prompts, quote
from sociable.core.records import Usage, make_episode_id
from sociable.dialogue.conversation import MAX_CHARACTERS, Utterance
from sociable.engine.seats import Seat, Seats
from sociable.models.protocol import ChatMessage

ALIKE = 5
"""Cycles in a row without a format after which no further one is asked for: from the second on the question is the same."""


def load_cot_prompts(designs: Sequence[str], override: Path | None = None) -> Prompts:
    """The bundled prompts or the user's own, with the steps of every design."""
    placeholders = {
        "task": frozenset({"setting", "steps", "drawbacks", "assistant", "characters"}),
        "drawbacks": frozenset({"reply", "drawbacks"}),
        "unreadable": frozenset({"assistant"}),
        "reflect": frozenset({"setting", "reply", "assistant"}),
    } | {f"steps_{design}": frozenset[str]() for design in designs}
    return load_package_prompts("sociable.benchmarks.hsii.cot", placeholders, override)


class PromptedThinker:
    """A model. Every call is a chat of its own: what goes from one to the next are the drawbacks alone."""

    def __init__(self, pair: Pair, seat: Seat, item: str, prompts: Prompts) -> None:
        self._pair = pair
        self._seat = seat
        self._scope = seat.make_scope(item)
        self._prompts = prompts
        self._shown = render_setting(pair.case)

    @property
    def usage(self) -> Usage:
        return self._scope.usage

    async def answer(self, last: Cycle | None) -> Utterance:
        """Thoughts and a turn, as they come. ``last`` is the cycle before, with the drawbacks found in it."""
        case, design = self._pair.case, self._pair.design
        if design == NO_DESIGN:
            return await self._ask(ask_for_choice(case, load_hsii_prompts()), partial(make_thought_form, case))
        return await self._ask(ask_to_think(case, self._shown, design, last, self._prompts), partial(make_thought_form, case))

    async def reflect(self, cycle: Cycle) -> Utterance:
        """The drawbacks of the turn of this cycle, as they come."""
        return await self._ask(ask_to_reflect(self._shown, cycle, self._prompts), make_drawbacks_form)

    async def _ask(self, messages: list[ChatMessage], make_form: Callable[[Sequence[ChatMessage]], Form]) -> Utterance:
        reply = await self._seat.ask(messages, self._scope, partial(make_form, messages))
        return Utterance(reply.text, reply.thinking, reply.defect)


async def run_pair(pair: Pair, repeat: int, seats: Seats, prompts: Prompts, *, seed: int, cycle_cap: int) -> CoTEpisode:
    """Plays one pair. Raises RunFailure and RunStopped."""
    identifier, seat = make_episode_id(pair.id, repeat), seats.subject
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
        if len(cycles) >= ALIKE and all(each.format_failure for each in cycles[-ALIKE:]):
            end = End.NO_FORMAT
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
    parsed = parse_reply(said.content, last=True, heard=[message.content for message in pair.case.messages])
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


def ask_to_think(case: Case, shown: str, design: str, last: Cycle | None, prompts: Prompts) -> list[ChatMessage]:
    """The messages of a cycle's first call. What the ``last`` cycle's reflection found goes into the first step.

    ``shown`` is the case's setting, which is the same in up to 255 calls.
    """
    drawbacks = ""
    if last is not None and last.format_failure:
        drawbacks = prompts["unreadable"].render(assistant=ASSISTANT)
    elif last is not None:
        drawbacks = prompts["drawbacks"].render(reply=quote(_render_turn(last)), drawbacks=quote(last.drawbacks))
    task = prompts["task"].render(
        setting=shown,
        steps=prompts[f"steps_{design}"].render(),
        drawbacks=drawbacks,
        assistant=ASSISTANT,
        characters=list_names(case.characters),
    )
    return brief_assistant(task, load_hsii_prompts())


def ask_to_reflect(shown: str, cycle: Cycle, prompts: Prompts) -> list[ChatMessage]:
    """The messages of a cycle's second call."""
    task = prompts["reflect"].render(setting=shown, reply=quote(_render_turn(cycle)), assistant=ASSISTANT)
    return brief_assistant(task, load_hsii_prompts())


_NONE = re.compile(r"(?:there are |there is |i see |i find |i found |found )?(?:none|no drawbacks?(?: found)?|nothing)")


def find_drawbacks(reply: str) -> str:
    """The drawbacks that a reflection names; empty if it names none.

    It names none where every line says that there are none, by itself or after a label ("harmless: none").
    """
    lines = [line for line in reply.splitlines() if find_words(line) and not line.rstrip(" *").endswith(":")]
    return "" if all(_is_none_named(line) for line in lines) else reply.strip()


def _is_none_named(line: str) -> bool:
    return any(_NONE.fullmatch(" ".join(find_words(part))) for part in (line, line.rpartition(":")[2]))


def _render_turn(cycle: Cycle) -> str:
    return f"To {cycle.role_to}: {cycle.content}"
