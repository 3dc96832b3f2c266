"""What the model is told in a cycle: to think in steps and answer, then to look for drawbacks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from sociable.benchmarks.hsii.briefing import brief_assistant, list_names, load_hsii_prompts
from sociable.benchmarks.hsii.cot.records import Cycle
from sociable.benchmarks.hsii.dataset import ASSISTANT, Case
from sociable.core.names import words
from sociable.core.prompts import Prompts, load_package_prompts, quote
from sociable.models.protocol import ChatMessage


def load_cot_prompts(designs: Sequence[str], override: Path | None = None) -> Prompts:
    """The bundled prompts or the user's own, with the steps of every design."""
    placeholders = {
        "task": frozenset({"setting", "steps", "drawbacks", "assistant", "characters"}),
        "drawbacks": frozenset({"reply", "drawbacks"}),
        "unreadable": frozenset({"assistant"}),
        "reflect": frozenset({"setting", "reply", "assistant"}),
    } | {f"steps_{design}": frozenset[str]() for design in designs}
    return load_package_prompts("sociable.benchmarks.hsii.cot", placeholders, override)


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
    lines = [line for line in reply.splitlines() if words(line) and not line.rstrip(" *").endswith(":")]
    return "" if all(_names_none(line) for line in lines) else reply.strip()


def _names_none(line: str) -> bool:
    return any(_NONE.fullmatch(" ".join(words(part))) for part in (line, line.rpartition(":")[2]))


def _render_turn(cycle: Cycle) -> str:
    return f"To {cycle.role_to}: {cycle.content}"
