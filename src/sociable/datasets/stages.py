"""What a construction is made of: named, typed stages, each reading what the one before made.

A stage makes of one item none, one or several; an item of which nothing can be made is rejected with its reason, and never
lost from sight. Some stages need all items at once, to see which are alike or which are the best.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from sociable.core.errors import RunFolderError
from sociable.core.prompts import Prompts
from sociable.core.records import Record, Usage, storable
from sociable.models.protocol import ChatMessage, Model, Request, Sampling, Scope
from sociable.models.replies import find_closing_object


class Item(Record):
    """What stages hand on. ``id`` is unique in the output of a stage."""

    id: str


def is_about(file: Path) -> bool:
    """Whether it tells about the files of its folder, and is none of them."""
    return re.match(r"readme|licen[cs]e|copying|notice", file.name, re.IGNORECASE) is not None


def slug(text: str) -> str:
    """A title as a part of an id that something else makes unique: long ones and other letters than a to z leave little."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:40].rstrip("-")


class Rejected(Exception):
    """Why nothing is made of an item: in a few words, alike for alike reasons, so that they can be counted."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.detail = detail
        """What was wrong with this very item."""


class Outcome(Record):
    """What became of one item in one stage: a line of the stage's file."""

    id: str
    of: str = ""
    """A digest of the item: of another, nothing is known."""
    made: tuple[dict[str, Any], ...] = ()
    rejected: str = ""
    detail: str = ""
    left_out: dict[str, int] = {}
    """Parts that were no good where the item was: how many, by reason."""
    usage: Usage = Usage()


I_ = TypeVar("I_", bound=BaseModel)
O_ = TypeVar("O_", bound=Item)
R_ = TypeVar("R_", bound=BaseModel)


class Stage(ABC, Generic[I_, O_]):
    """``name`` names its file; ``meaning`` says in the funnel and the data card what it does."""

    name: ClassVar[str]
    meaning: str
    makes: type[O_]
    asks: ClassVar[bool] = False
    """Whether it needs a model."""


class EachStage(Stage[I_, O_]):
    """One item at a time, several at once."""

    @abstractmethod
    async def work(self, item: I_, writer: Writer) -> Sequence[O_]:
        """Raises Rejected."""


class AskingStage(EachStage[I_, O_]):
    """Has a model write, by the prompts of its recipe."""

    asks = True

    def __init__(self, prompts: Prompts) -> None:
        self.prompts = prompts


class WholeStage(Stage[I_, O_]):
    """All items at once. It must come to the same each time."""

    @abstractmethod
    def select(self, items: Sequence[I_]) -> Mapping[str, Sequence[O_] | Rejected]:
        """By id of an item what is made of it. An item that is not in it is handed on as it is."""


@dataclass(frozen=True)
class Writer:
    """The model that writes, for one item of one stage."""

    model: Model | None
    sampling: Sampling
    scope: Scope
    left_out: Counter[str] = field(default_factory=Counter)
    """A stage that leaves out a part of its item counts it here, by reason."""

    async def write(self, kind: type[R_], question: str, called: str) -> R_:
        """What the model writes, as a record. A reply that is none is asked for once more; then raises Rejected.

        What a reply holds beside the record's fields is left out.
        """
        try:
            return self._read(kind, await self._ask(question), called)
        except Rejected:
            return self._read(kind, await self._ask(question), called)

    def _read(self, kind: type[R_], reply: str, called: str) -> R_:
        if find_closing_object(reply) is None:
            raise Rejected("no JSON in the reply", reply[:200])
        try:
            found: dict[str, Any] = _clean(json.loads(reply[reply.find("{") : reply.rfind("}") + 1], strict=False))
        except (ValueError, RecursionError) as error:
            raise Rejected("no JSON in the reply", f"{type(error).__name__}: {reply[:150]}") from None
        return validated(kind, found, called)

    async def _ask(self, question: str) -> str:
        return await self.reply([{"role": "user", "content": question}])

    async def reply(self, messages: list[ChatMessage]) -> str:
        """The reply as it is. Raises Rejected where it could not stand."""
        assert self.model is not None, "a stage that asks has a model"
        reply = await self.model.generate(Request(messages, self.scope, self.sampling))
        if reply.defect:
            raise Rejected("no usable reply", reply.defect)
        return storable(reply.text)


def _clean(value: Any) -> Any:
    """Escapes can spell what no file can hold."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {storable(key): _clean(each) for key, each in value.items()}
    return [_clean(each) for each in value] if isinstance(value, list) else value


def validated(kind: type[R_], fields: Mapping[str, Any], called: str) -> R_:
    """A record out of a reply. Raises Rejected("not ``called``") naming the first field that is wrong."""
    try:
        try:
            return kind.model_validate(fields)
        except ValidationError as error:
            too_many = [each["loc"] for each in error.errors(include_url=False) if each["type"] == "extra_forbidden"]
            return kind.model_validate(_without(fields, too_many))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise Rejected(f"not {called}", f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def _without(fields: Mapping[str, Any], places: Sequence[tuple[int | str, ...]]) -> dict[str, Any]:
    found: dict[str, Any] = deepcopy(dict(fields))
    for *steps, last in places:
        inside: Any = found
        for step in steps:
            inside = inside[step]
        del inside[last]
    return found


def items_of(outcomes: Iterable[Outcome], kind: type[O_], file: Path) -> Iterator[O_]:
    """Raises RunFolderError where somebody has edited ``file`` into something else."""
    for outcome in outcomes:
        for each in outcome.made:
            try:
                yield kind.model_validate(each)
            except ValidationError as error:
                fault = error.errors(include_url=False)[0]
                raise RunFolderError(
                    f"{file}, item '{outcome.id}': field '{'.'.join(map(str, fault['loc']))}': {fault['msg']}. "
                    "Mend that line, or remove it: what it held is made anew."
                ) from None
