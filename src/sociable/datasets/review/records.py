"""The parts of a review: choices, tags, the settings that all share, and decisions."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from sociable.core.data_files import Text, read_records, validate_record
from sociable.core.errors import DataError, InputError
from sociable.core.records import Record

Group = Literal[1, 2]


class Choice(StrEnum):
    """Something that can be done with an item."""

    KEEP = "keep"
    FIX = "fix"
    DROP = "drop"


CHOICES = {word: choice for choice in Choice for word in (choice.value, choice.value[0])}
"""Each choice by the words that a reviewer may type."""


class Tag(Record):
    """A word for what is right or wrong with an item. Of the tags that answer the same question one can be given."""

    name: Text
    means: Text
    question: str = ""
    """The question that the tag answers, as do others that exclude it; empty: it stands alone."""


def load_tags(file: Path) -> tuple[Tag, ...]:
    """Tags of one's own: JSON (a list) or JSON Lines with ``name``, ``means`` and, optionally, ``question``. Raises DataError."""
    tags: dict[str, Tag] = {}
    for raw in read_records(file, None):
        tag = validate_record(Tag, raw.value, raw.place)
        if any(sign.isspace() or sign == "," for sign in tag.name) or tag.name.isdecimal() or tag.name in tags:
            raise DataError(raw.place, "name", f"'{tag.name[:40]}': expected one word, no number, that no other tag has")
        tags[tag.name] = tag
    if not tags:
        raise InputError(f"{file}: no tag in it. Expected objects with 'name' and 'means'.")
    return tuple(tags.values())


AGENTSENSE_TAGS = load_tags(Path(__file__).parent / "tags" / "agentsense.jsonl")
"""Appendix A.3, in the order and with the numbers' meaning there; then what section 3.5 asks of goals and private information."""
HSII_TAGS = load_tags(Path(__file__).parent / "tags" / "hsii.jsonl")
"""Section 6.1 and the authors' reply to reviewers on cleaning by people; then what Figure 7 asks of a dialogue."""
ALL_TAGS = tuple(dict.fromkeys((*AGENTSENSE_TAGS, *HSII_TAGS)))
"""The papers' tags, in our own words: for data of which it is not known what they are for."""


class ReviewSettings(Record):
    """The settings that all reviewers of a folder have in common; fixed by the first decision."""

    seed: int = 0
    """The seed of the orders in which items are shown."""
    panel: int = Field(default=3, ge=1)
    """People who look at each item."""
    second_panel: int = Field(default=3, ge=1)
    """People of the second group who look at each item that comes to them."""
    dropped_again: bool = False
    """Whether what the first group drops goes to the second as well, as in the paper."""
    tags: tuple[Tag, ...] = ALL_TAGS


class Decision(Record):
    """One person's decision on one item; ``decision`` is None where it was taken back."""

    id: str
    item: str
    digest: str
    """The digest of the item as it was shown."""
    reviewer: str
    group: Group
    decision: Choice | None
    tags: tuple[str, ...] = ()
    note: str = ""
    fixed: dict[str, Any] | None = None
    """The record as it should be; None where a fix only says that one is needed."""
    seconds: float | None = None
    """The seconds from showing the item to the decision; None where it came from a sheet."""
    time: str
