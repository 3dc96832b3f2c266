"""The parts of a review: choices, tags, the settings that all share, and decisions."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from sociable.core.data_files import Text
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


_GOALS, _INFORMATION = "social goals", "private information"

# HSII, section 6.1, and the authors' reply to reviewers on cleaning by people.
_LIFELIKE = Tag(name="not-lifelike", means="not as in real life: nothing is at stake, or they do not act like people")

AGENTSENSE_TAGS = (
    # Appendix A.3, in the order and with the numbers' meaning there.
    Tag(name="goals-invalid", question=_GOALS, means="0: some character has no social goal that is valid"),
    Tag(name="goals-valid", question=_GOALS, means="1: all social goals are valid: achievable, and clear enough to be judged"),
    Tag(name="goals-need-fix", question=_GOALS, means="2: some are invalid, but every character has a valid one"),
    Tag(name="information-invalid", question=_INFORMATION, means="0: its owner could not answer the question from it"),
    Tag(name="information-with-goal", question=_INFORMATION, means="1: it answers the question together with the owner's goal"),
    Tag(name="information-complete", question=_INFORMATION, means="2: it answers the question by itself"),
    Tag(name="information-with-answer", question=_INFORMATION, means="3: it would, with what only the right answer says"),
    # What section 3.5 asks of goals and of private information.
    Tag(name="goal-unachievable", means="a goal that its character cannot reach in this scene"),
    Tag(name="goal-unclear", means="a goal of which nobody could tell whether it was reached"),
    Tag(name="information-known", means="others know the private information, or the background gives it away"),
    _LIFELIKE,
)
HSII_TAGS = (
    _LIFELIKE,
    Tag(name="against-values", means="the golden response goes against human values"),
    # What Figure 7 asks of a dialogue.
    Tag(name="wrong-addressee", means="the assistant should speak to somebody else first"),
    Tag(name="given-away", means="the golden response stands in what was said before"),
    Tag(name="confidence-broken", means="the assistant tells what it was told in private"),
    Tag(name="no-conflict", means="nobody wants what another cannot also have"),
)
ALL_TAGS = (*AGENTSENSE_TAGS, *HSII_TAGS[1:])
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
    """From showing the item to the decision; None where it came from a sheet."""
    time: str
