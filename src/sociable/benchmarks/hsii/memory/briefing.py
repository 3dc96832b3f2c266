"""What the model and the judges are told."""

from __future__ import annotations

from pathlib import Path

from sociable.benchmarks.hsii.briefing import hsii_prompts, setting
from sociable.benchmarks.hsii.dataset import ASSISTANT
from sociable.benchmarks.hsii.memory.dataset import MemoryCase
from sociable.core.prompts import Prompts, load_package_prompts, quote
from sociable.models.protocol import ChatMessage

PLACEHOLDERS = {
    "answer": frozenset({"setting", "target", "assistant"}),
    "judge_system": frozenset[str](),
    "judge_answer": frozenset({"setting", "target", "reply", "question"}),
}


def memory_prompts(override: Path | None = None) -> Prompts:
    """The bundled prompts, or the user's own in their place."""
    return load_package_prompts("sociable.benchmarks.hsii.memory", PLACEHOLDERS, override)


def ask_to_answer(case: MemoryCase, prompts: Prompts) -> list[ChatMessage]:
    """For the model under test."""
    task = prompts["answer"].render(setting=setting(case), target=case.target, assistant=ASSISTANT)
    return [_system(hsii_prompts()["assistant"].render(assistant=ASSISTANT)), {"role": "user", "content": task}]


def ask_about(case: MemoryCase, reply: str, prompts: Prompts) -> list[ChatMessage]:
    """For a judge: the check's question about a reply."""
    question = prompts["judge_answer"].render(
        setting=setting(case), target=case.target, reply=quote(reply), question=case.check.question
    )
    return [_system(prompts["judge_system"].render()), {"role": "user", "content": question}]


def _system(text: str) -> ChatMessage:
    return {"role": "system", "content": text}
