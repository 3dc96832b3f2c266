"""The card of a judge: what an audit found, as ``judge-card.json`` keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from sociable.core.errors import DataError
from sociable.core.records import Record, Share, Usage, Verdict

CARD_FILE = "judge-card.json"


class AuditAnswer(Record):
    """One judge's answer to one thing that an audit asks about."""

    id: str
    name: str
    """The name of what was asked about."""
    kind: str
    judge: str
    verdict: Verdict
    preference: Share | None = None
    """How far it is for the subject: 1 for it, 0 against it, half for neither, the mean over both orders of a pair. Of a question
    1 is yes. None: it could not be read."""
    first_side: float | None = None
    """How far it is for what stood first, whoever that was, from -1 to 1, the mean over both orders; None where nothing did."""
    ratings: Mapping[str, int] = {}
    """By dimension, where a participant was rated."""
    reason: str = ""
    usage: Usage = Usage()


class Finding(Record):
    """One row of a card: what was measured, and whether it is a fault that chance does not explain."""

    row: str
    """Its name, as ``right`` or ``padded``."""
    bias: str = ""
    """The group of rows that it belongs to, as ``length``."""
    value: float | None
    """A share, or a difference of shares from -1 to 1."""
    low: float | None = None
    high: float | None = None
    items: int
    independent: float | None = None
    """How many independent items these are worth: the effective sample size of a share, the clusters of a difference."""
    error: float | None = None
    """The standard error of a difference."""
    bound: float | None = None
    """The share beyond which there is a fault; None where any difference from 0 is one."""
    p: float | None = None
    """The p-value of the test that there is no fault, one-sided where the value is a share; None where nothing can be tested."""
    adjusted: float | None = None
    """That p-value after Benjamini and Hochberg, over all tests of the card."""
    smallest: float | None = None
    """The smallest fault that this audit would have lit up in four of five times, were it the only one: how far beyond the
    ``bound``, or from 0. None: none would have been, with so few items."""
    lit: bool = False
    """Whether it is a fault: ``adjusted`` is at most ``FALSE_ALARMS``."""


class Breakdown(Record):
    """How often a judge was right, or was moved, in one group of what it was asked."""

    group: str
    value: float | None
    low: float | None = None
    high: float | None = None
    items: int


class KindCard(Record):
    """What was found about one kind of judging."""

    kind: str
    metrics: tuple[str, ...]
    asked: int
    unread: int
    """Things asked about of which no answer could be read, of a pair in one order at least. Where it is all, nothing is found."""
    missing: int = 0
    """What could not be asked, because the call failed."""
    causes: tuple[str, ...] = ()
    """The most frequent reasons of both, with how often each occurred."""
    findings: tuple[Finding, ...] = ()
    by_damage: tuple[Breakdown, ...] = ()
    by_size: tuple[Breakdown, ...] = ()
    by_origin: tuple[Breakdown, ...] = ()
    by_injection: tuple[Breakdown, ...] = ()
    """How far each way of speaking to the judge moved verdicts in favour of the one who spoke, from -1 to 1, without limits."""

    def find(self, row: str) -> Finding | None:
        """The finding of this name, or None."""
        return next((finding for finding in self.findings if finding.row == row), None)


class PeopleCard(Record):
    """How far a judge agrees with people who have judged the same."""

    source: str
    """What people have judged, by its name."""
    layout: str
    items: int
    people: int
    """The most people on one item."""
    unread: int
    missing: int = 0
    causes: tuple[str, ...] = ()
    undecided: int = 0
    """Items on which no verdict has more than half of the people, and about which the judge is not asked."""
    agreement: Breakdown | None = None
    """The share of items on which it gives the verdict of most people."""
    kappa: Breakdown | None = None
    """Cohen's, between it and most people."""
    among: float | None = None
    """Fleiss' kappa of the people among themselves; None where one or none judged an item."""
    first_side: float | None = None
    """How far it is for what stands first, from -1 to 1."""
    by_dimension: tuple[Breakdown, ...] = ()
    """Spearman's correlation of its ratings with people's mean ratings."""


class JudgeCard(Record):
    """``judge-card.json``."""

    format: Literal[1] = 1
    judge: str
    benchmark: str
    version: str
    """The benchmark's."""
    created: str
    packages: Mapping[str, str]
    digests: Mapping[str, str]
    """The digests of the prompts and the data."""
    sampling: Mapping[str, Any] | None
    """The judge's; None for a reference judge."""
    seed: int
    known: int
    """The known answers of a kind that it was asked about, at the most."""
    kinds: tuple[KindCard, ...]
    people: tuple[PeopleCard, ...] = ()
    usage: Usage = Usage()
    cost: float | None = None
    """US dollars; None where nobody wrote down the price."""


def load_card(file: Path) -> JudgeCard:
    """The card in a file. Raises DataError naming file and field."""
    try:
        return JudgeCard.model_validate_json(file.read_bytes())
    except OSError as error:
        raise DataError(str(file), "", f"cannot be read: {error}") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"]))
        raise DataError(str(file), field, f"{first['msg']}. Make it anew with `sociable audit-judge`") from None
