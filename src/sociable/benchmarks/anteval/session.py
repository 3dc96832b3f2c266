"""Speech and acts at a table, in the order of turns. This module knows no model."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sociable.core.prompts import put_on_one_line
from sociable.core.records import Turn

_ACTS = re.compile(r"\*+([^*]+)\*+")
_PASSED = re.compile(r"\W*pass(?:es|ed|ing)?\W*", re.IGNORECASE)


class TableTurn(Turn):
    """A turn at the table: an act, words, both, or neither. ``content`` is both as the others see them."""

    act: str = ""
    words: str = ""

    @property
    def passed(self) -> bool:
        return not (self.act or self.words)


@dataclass(frozen=True, slots=True)
class Move:
    """A participant's acts and words in one turn."""

    act: str = ""
    words: str = ""
    thinking: str = ""
    defect: str = ""
    """The reason why its reply could not stand; the participant then passes. Otherwise the empty string."""
    note: str = ""
    """A note on a reply that stands."""
    content: str = ""
    """Acts and words in the order in which they came; empty: the acts first."""

    def as_turn(self, index: int, speaker: str) -> TableTurn:
        content = self.content or " ".join(filter(None, (f"*{self.act}*" if self.act else "", self.words)))
        note, thinking = self.defect or self.note, self.thinking
        return TableTurn(
            index=index, speaker=speaker, content=content, act=self.act, words=self.words, thinking=thinking, note=note
        )


def read_move(text: str) -> Move:
    """What ``*what it does* what it says`` does and says; nothing for PASS."""
    text = put_on_one_line(text).strip()
    if _PASSED.fullmatch(text):
        return Move()
    parts: list[str] = []
    acts: list[str] = []
    words: list[str] = []
    for place, part in enumerate(_ACTS.split(text)):
        if plain := " ".join(part.replace("*", " ").split()):
            is_act = place % 2 == 1
            (acts if is_act else words).append(plain)
            parts.append(f"*{plain}*" if is_act else plain)
    return Move(" ".join(acts), " ".join(words), content=" ".join(parts))
