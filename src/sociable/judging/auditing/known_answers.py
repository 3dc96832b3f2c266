"""Texts whose right verdict is known from how they were made: they show how often a judge is right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from sociable.core.data_files import Text, read_records, validate_record
from sociable.core.records import Record, Share, Verdict

INTACT = ""
"""The damage of a text to which nothing was done."""


class Said(Record):
    """Words of a text that is judged, and who says them."""

    speaker: Text
    content: Text


class KnownAnswer(Record):
    """Something to be judged, and the right verdict.

    In a pair the verdict is for the ``subject``; of a question WIN is yes and LOSS is no, as judges' verdicts are kept.
    """

    id: Text
    """Unique among all of a benchmark."""
    kind: Text
    """The kind of judging, by its name."""
    scenario: Text
    """The scenario of the benchmark that it is about."""
    cluster: Text
    """The scenario's cluster, which intervals resample."""
    about: str = ""
    """What of the scenario is asked: a goal, a key point, a dimension. Each kind of judging says how it is written."""
    speaker: Text
    """The one whose words are under test; only they are altered."""
    subject: tuple[Said, ...] = Field(min_length=1)
    golden: tuple[Said, ...] = ()
    """The other side of a pair; empty for a question."""
    truth: Literal[Verdict.WIN, Verdict.TIE, Verdict.LOSS]
    damage: str = INTACT
    """What makes one side of a pair worse, or the answer no, in a few words: a kind that several share."""
    size: Share | None = None
    """How much was damaged, as a share; None where it has no size."""
    by_hand: bool = False
    variants: Mapping[str, tuple[Said, ...]] = {}
    """The ``subject`` said otherwise, by hand, with the same content: see ``alterations.BY_HAND``."""

    @model_validator(mode="after")
    def _check_speaker(self) -> Self:
        for name, said in {"subject": self.subject, **self.variants}.items():
            if self.speaker not in {each.speaker for each in said}:
                raise ValueError(f"{name}: {self.speaker} says nothing in it")
        return self

    @property
    def text(self) -> str:
        """What the one under test says, one paragraph a turn."""
        return find_text(self.subject, self.speaker)

    def say_otherwise(self, words: Sequence[Said]) -> KnownAnswer:
        """The same with other words in the place of the subject's."""
        return self.model_copy(update={"subject": tuple(words)})


def find_text(said: Sequence[Said], speaker: str) -> str:
    """What one speaker says, one paragraph a turn."""
    return "\n\n".join(each.content for each in said if each.speaker == speaker)


def load_known_answers(file: Path) -> list[KnownAnswer]:
    """The known answers written by hand in a .jsonl file. Raises DataError naming file, line and field."""
    return list(_read(file))


def _read(file: Path) -> Iterator[KnownAnswer]:
    for raw in read_records(file, None):
        yield validate_record(KnownAnswer, raw.value, raw.place).model_copy(update={"by_hand": True})
