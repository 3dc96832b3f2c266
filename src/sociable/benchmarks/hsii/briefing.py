"""What each role of HSII is told: from a case to chat messages.

The system message and the setting come first and do not change within a case, so that a server's prefix cache serves
all its calls.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from sociable.benchmarks.hsii.dataset import ASSISTANT, Background, Case, Message
from sociable.core.names import find_people
from sociable.core.prompts import Prompts, load_package_prompts, put_on_one_line, quote
from sociable.core.records import Turn
from sociable.models.protocol import ChatMessage

PLACEHOLDERS = {
    "assistant": frozenset({"assistant"}),
    "choose_and_speak": frozenset({"setting", "assistant", "characters"}),
    "speak": frozenset({"setting", "target"}),
    "long_run": frozenset({"setting", "target"}),
    "partner": frozenset({"character", "scene", "relationships", "heard", "assistant"}),
    "judge_system": frozenset[str](),
    "judge_first_utterance": frozenset({"setting", "target", "first", "second"}),
    "judge_long_run": frozenset({"setting", "target", "first", "second"}),
}


def hsii_prompts(override: Path | None = None) -> Prompts:
    """The bundled prompts, or the user's own in their place."""
    return load_package_prompts("sociable.benchmarks.hsii", PLACEHOLDERS, override)


class Situation(Protocol):
    """What a setting shows."""

    @property
    def topic(self) -> str: ...
    @property
    def background(self) -> Background: ...
    @property
    def messages(self) -> Sequence[Message]: ...


def setting(case: Situation) -> str:
    """Topic, background and the conversation so far, in the layout of the paper's Figure 8, every line quoted."""
    background = case.background
    lines = [
        f'{{"topic": {_json(case.topic)},',
        f' "background": {{"scene": {_json(background.scene)},',
        f'  "characters": {_json(list(background.characters))},',
        f'  "relationships": {_json(" ".join(background.relationships))}'
        + (f',\n  "conflicts": {_json(background.conflicts)}}},' if background.conflicts else "},"),
        ' "messages": [',
        ",\n".join(f"  {_json(message.model_dump())}" for message in case.messages),
        " ]}",
    ]
    return quote("\n".join(lines))


def setting_in_words(case: Situation) -> str:
    """The same for a person to read."""
    background = case.background
    said = [f"{message.role_from} to {message.role_to}: {put_on_one_line(message.content)}" for message in case.messages]
    parts = (background.scene, " ".join(background.relationships), background.conflicts, "\n".join(said))
    return "\n\n".join(part for part in parts if part)


def ask_for_choice(case: Case, prompts: Prompts) -> list[ChatMessage]:
    """Stages 1 to 3: whom to address and what to say."""
    task = prompts["choose_and_speak"].render(
        setting=setting(case), assistant=ASSISTANT, characters=", ".join(_json(name) for name in case.characters)
    )
    return [_system(prompts["assistant"].render(assistant=ASSISTANT)), {"role": "user", "content": task}]


def ask_to_speak(case: Case, target: str, prompts: Prompts) -> list[ChatMessage]:
    """Stage 3 alone: what to say to an addressee who is given."""
    task = prompts["speak"].render(setting=setting(case), target=target)
    return [_system(prompts["assistant"].render(assistant=ASSISTANT)), {"role": "user", "content": task}]


def ask_to_go_on(case: Case, target: str, prompts: Prompts) -> list[ChatMessage]:
    """Stage 4: the assistant's briefing for the conversation with its target."""
    task = prompts["long_run"].render(setting=setting(case), target=target)
    return [_system(prompts["assistant"].render(assistant=ASSISTANT)), {"role": "user", "content": task}]


def ask_to_play(case: Case, character: str, prompts: Prompts) -> list[ChatMessage]:
    """The partner's briefing: only what that character could know."""
    heard = [message for message in case.messages if character in (message.role_from, message.role_to)]
    return [
        _system(
            prompts["partner"].render(
                character=character,
                scene=quote(case.background.scene),
                relationships=quote("\n".join(own_relationships(case, character)) or "(nothing was said)"),
                heard=quote(
                    "\n".join(f"{m.role_from} to {m.role_to}: {put_on_one_line(m.content)}" for m in heard) or "(nothing yet)"
                ),
                assistant=ASSISTANT,
            )
        )
    ]


def ask_to_compare(case: Case, first: str, second: str, prompts: Prompts, *, long_run: bool) -> list[ChatMessage]:
    """The judge's question about one pair in one order."""
    question = prompts["judge_long_run" if long_run else "judge_first_utterance"].render(
        setting=setting(case), target=case.golden.role_to, first=quote(first), second=quote(second)
    )
    return [_system(prompts["judge_system"].render()), {"role": "user", "content": question}]


# A full stop ends a sentence unless it belongs to a title. After an initial it does: a sentence too few is shown rather
# than one too many.
_SENTENCE_END = re.compile(
    r"""(?<!\bMr\.)(?<!\bMs\.)(?<!\bDr\.)(?<!\bSt\.)(?<!\bMrs\.)(?:(?<=[.!?…])|(?<=[.!?…]["'”’)]))\s+|\n+"""
)


def own_relationships(case: Case, character: str) -> list[str]:
    """The sentences of ``relationships`` that name the character."""
    sentences = [sentence.strip() for text in case.background.relationships for sentence in _SENTENCE_END.split(text)]
    return [sentence for sentence in sentences if character in find_people(sentence, case.characters, case.aliases)]


def transcript(turns: Sequence[Turn], target: str) -> str:
    """A conversation of two as one text for the judge."""
    return "\n".join(f"{'Assistant' if turn.speaker == ASSISTANT else target}: {put_on_one_line(turn.content)}" for turn in turns)


def _system(text: str) -> ChatMessage:
    return {"role": "system", "content": text}


def _json(value: object) -> str:
    return put_on_one_line(json.dumps(value, ensure_ascii=False))
