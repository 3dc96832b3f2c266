"""HSII's prompts: from a case to the chat messages for each role.

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

END = "[ends the talk]"
"""What the partner writes after its last words."""
_END = re.compile(r"\s*[\[(*]+\s*ends? (?:the|this|our) (?:talk|conversation)[.\s]*[\])*]+[.\s]*$", re.IGNORECASE)
LEAVES = "ends the talk"
"""The note on the turn with which a partner does so."""

PLACEHOLDERS = {
    "role": frozenset({"assistant"}),
    "assistant": frozenset({"role"}),
    "task_choose": frozenset[str](),
    "task_speak": frozenset({"target"}),
    "task_long_run": frozenset({"target"}),
    "choose_and_speak": frozenset({"setting", "task", "assistant", "characters"}),
    "speak": frozenset({"setting", "task", "target"}),
    "long_run": frozenset({"setting", "task", "target"}),
    "partner": frozenset({"character", "scene", "relationships", "will", "heard", "assistant", "end"}),
    "judge_system": frozenset[str](),
    "judge_behaviour_system": frozenset[str](),
    "judge_leak": frozenset({"setting", "hearers", "said", "fact"}),
    "judge_conflict": frozenset({"setting", "target", "said", "points"}),
    "judge_first_utterance": frozenset({"setting", "target", "first", "second"}),
    "judge_long_run": frozenset({"setting", "target", "first", "second"}),
}


def load_hsii_prompts(override: Path | None = None) -> Prompts:
    """The bundled prompts, or the user's own in their place."""
    return load_package_prompts("sociable.benchmarks.hsii", PLACEHOLDERS, override)


class Situation(Protocol):
    """The parts of a case that a setting shows."""

    @property
    def topic(self) -> str: ...
    @property
    def background(self) -> Background: ...
    @property
    def messages(self) -> Sequence[Message]: ...


def render_setting(case: Situation) -> str:
    """Topic, background and the conversation so far, in the layout of the paper's Figure 8, every line quoted."""
    background = case.background
    lines = [
        f'{{"topic": {_to_json(case.topic)},',
        f' "background": {{"scene": {_to_json(background.scene)},',
        f'  "characters": {_to_json(list(background.characters))},',
        f'  "relationships": {_to_json(" ".join(background.relationships))}'
        + (f',\n  "conflicts": {_to_json(background.conflicts)}}},' if background.conflicts else "},"),
        ' "messages": [',
        ",\n".join(f"  {_to_json(_list_fields(message))}" for message in case.messages),
        " ]}",
    ]
    return quote("\n".join(lines))


def render_setting_in_words(case: Situation) -> str:
    """Background and the conversation so far, for a person to read."""
    background = case.background
    parts = (background.scene, " ".join(background.relationships), background.conflicts, _render_messages(case.messages))
    return "\n\n".join(part for part in parts if part)


def brief_assistant(task: str, prompts: Prompts) -> list[ChatMessage]:
    """A task for the assistant; ``prompts`` are HSII's own, which say who it is."""
    return make_chat(prompts["assistant"].render(role=tell_role(prompts)), task)


def tell_role(prompts: Prompts) -> str:
    """Who the assistant is, as models and people are told."""
    return prompts["role"].render(assistant=ASSISTANT)


def tell_task(prompts: Prompts, target: str = "", *, long_run: bool = False) -> str:
    """What the assistant is to do, as models and people are told; without a ``target`` it has to choose one."""
    if not target:
        return prompts["task_choose"].render()
    return prompts["task_long_run" if long_run else "task_speak"].render(target=target)


def ask_for_choice(case: Case, prompts: Prompts) -> list[ChatMessage]:
    """The question of stages 1 to 3: whom to address and what to say."""
    names = list_names(case.characters)
    question = prompts["choose_and_speak"]
    task = tell_task(prompts)
    asked = question.render(setting=render_setting(case), task=task, assistant=ASSISTANT, characters=names)
    return brief_assistant(asked, prompts)


def ask_to_speak(case: Case, target: str, prompts: Prompts, *, long_run: bool) -> list[ChatMessage]:
    """The task of speaking to an addressee who is given: once in stage 3, or in the conversation of stage 4."""
    question, task = prompts["long_run" if long_run else "speak"], tell_task(prompts, target, long_run=long_run)
    return brief_assistant(question.render(setting=render_setting(case), task=task, target=target), prompts)


def ask_to_play(case: Case, character: str, prompts: Prompts) -> list[ChatMessage]:
    """The partner's briefing, which holds only what that character could know."""
    heard = [message for message in case.messages if character in (message.role_from, message.role_to, *message.heard_by)]
    briefing = prompts["partner"].render(
        character=character,
        scene=quote(case.background.scene),
        relationships=quote("\n".join(find_relationships(case, character)) or "(nothing was said)"),
        will=quote("\n".join(_list_will(case, character)) or "(Nothing more is known: want what such a person would want.)"),
        heard=quote(_render_messages(heard) or "(nothing yet)"),
        assistant=ASSISTANT,
        end=END,
    )
    return [{"role": "system", "content": briefing}]


def _list_will(case: Case, character: str) -> list[str]:
    told = (case.background.goals.get(character), case.background.wills.get(character))
    return [put_on_one_line(text) for text in told if text]


def read_end(text: str) -> tuple[str, bool]:
    """(the words, whether the partner ends the talk with them)."""
    words = _END.sub("", text)
    return words.strip(), words != text


def ask_to_compare(case: Case, first: str, second: str, prompts: Prompts, *, long_run: bool) -> list[ChatMessage]:
    """The judge's question about one pair in one order."""
    question = prompts["judge_long_run" if long_run else "judge_first_utterance"].render(
        setting=render_setting(case), target=case.golden.role_to, first=quote(first), second=quote(second)
    )
    return make_chat(prompts["judge_system"].render(), question)


def ask_about_leak(case: Case, hearers: Sequence[str], said: str, fact: str, prompts: Prompts) -> list[ChatMessage]:
    """The judge's question whether what the assistant says tells ``fact`` to one of the hearers."""
    question = prompts["judge_leak"].render(
        setting=render_setting(case), hearers=list_names(hearers), said=quote(said), fact=quote(fact)
    )
    return make_chat(prompts["judge_behaviour_system"].render(), question)


def ask_about_conflict(case: Case, said: str, points: Sequence[str], prompts: Prompts) -> list[ChatMessage]:
    """The judge's question whether what the assistant says takes hold of the clash or the bad news."""
    question = prompts["judge_conflict"].render(
        setting=render_setting(case), target=case.golden.role_to, said=quote(said), points=quote("\n".join(points))
    )
    return make_chat(prompts["judge_behaviour_system"].render(), question)


# A full stop ends a sentence unless it belongs to a title. After an initial it does: a sentence too few is shown rather
# than one too many.
_SENTENCE_END = re.compile(
    r"""(?<!\bMr\.)(?<!\bMs\.)(?<!\bDr\.)(?<!\bSt\.)(?<!\bMrs\.)(?:(?<=[.!?…])|(?<=[.!?…]["'”’)]))\s+|\n+"""
)


def split_sentences(text: str) -> list[str]:
    """The sentences of a text."""
    return [sentence.strip() for sentence in _SENTENCE_END.split(text) if sentence.strip()]


def find_relationships(case: Case, character: str) -> list[str]:
    """The sentences of ``relationships`` that name the character."""
    sentences = [sentence for text in case.background.relationships for sentence in split_sentences(text)]
    return [sentence for sentence in sentences if character in find_people(sentence, case.characters, case.aliases)]


def render_transcript(turns: Sequence[Turn], target: str) -> str:
    """A conversation of two as one text for the judge."""
    lines = []
    for turn in turns:
        speaker, ends = "Assistant" if turn.speaker == ASSISTANT else target, f" ({turn.note})" if turn.note == LEAVES else ""
        lines.append(f"{speaker}: {put_on_one_line(turn.content)}{ends}")
    return "\n".join(lines)


def make_chat(system: str, question: str) -> list[ChatMessage]:
    return [{"role": "system", "content": system}, {"role": "user", "content": question}]


def list_names(names: Sequence[str]) -> str:
    """The names in double quotes, separated by commas."""
    return ", ".join(map(_to_json, names))


def _render_messages(messages: Sequence[Message]) -> str:
    return "\n".join(f"{_name_parties(message)}: {put_on_one_line(message.content)}" for message in messages)


def _name_parties(message: Message) -> str:
    return f"{message.role_from} to {message.role_to}" if message.role_to else message.role_from


def _list_fields(message: Message) -> dict[str, object]:
    return message.model_dump(exclude={name for name in ("role_to", "heard_by") if not getattr(message, name)})


def _to_json(value: object) -> str:
    return put_on_one_line(json.dumps(value, ensure_ascii=False))
