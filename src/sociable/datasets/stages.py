"""Stages, of which a construction is made: each has a name and types, and reads what the stage before it made.

A stage makes none, one or several things of an item. An item of which nothing can be made is rejected with its reason and
stays on record. Some stages need all items at once, to see which are alike or which are the best.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from sociable.core.prompts import Prompts
from sociable.core.records import Record, Usage, make_storable
from sociable.core.spreading import Spread
from sociable.models.protocol import ChatMessage, Model, Request, Sampling, Scope
from sociable.models.replies import find_closing_object


class Item(Record):
    """A thing that stages hand on. ``id`` is unique in the output of a stage."""

    id: str


class MadeRecord(Item):
    """A record of the data set, in its layout: what the last stage of a recipe makes, unless the recipe says otherwise."""

    record: dict[str, Any]


class Rejected(Exception):
    """Raised where nothing is made of an item. The reason is a few words, the same for like cases, which can then be counted."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.detail = detail
        """The fault of this very item."""


class Outcome(Record):
    """One item's fate in one stage: a line of the stage's file."""

    id: str
    of: str = ""
    """A digest of the item: where the item has another by now, the outcome does not count."""
    made: tuple[dict[str, Any], ...] = ()
    rejected: str = ""
    detail: str = ""
    left_out: dict[str, int] = {}
    """The number of parts of the item that were no good, by reason."""
    usage: Usage = Usage()


I_ = TypeVar("I_", bound=Item)
O_ = TypeVar("O_", bound=Item)
R_ = TypeVar("R_", bound=BaseModel)


@dataclass(frozen=True)
class Writer:
    """The model that writes, for one item of one stage."""

    model: Model | None
    sampling: Sampling
    scope: Scope
    prompts: Prompts
    left_out: Counter[str] = field(default_factory=Counter)
    """A stage that leaves out a part of its item counts it here, by reason."""

    @contextmanager
    def leave_out(self, called: str) -> Iterator[None]:
        """Leaves out a part of the item where the part is Rejected inside, and counts it. ``called``: what the part is."""
        try:
            yield
        except Rejected as rejected:
            self.left_out[f"{called}: {rejected.reason}"] += 1

    async def write(self, kind: type[R_], called: str, prompt: str, **values: str) -> R_:
        """The model's reply to a prompt, as a record. A reply that is none is asked for once more; then raises Rejected.

        Fields of a reply that the record does not have are left out; a reply that repeats the prompt's example is none.
        ``called``: the record's name, in words.
        """
        asked: list[ChatMessage] = [{"role": "user", "content": self.prompts[prompt].render(**values)}]
        examples = _list_examples(self.prompts[prompt].text)

        async def write_once() -> R_:
            written = _parse_reply(kind, await self.ask(asked), called)
            _check_repetition(written.model_dump(mode="json"), examples)
            return written

        try:
            return await write_once()
        except Rejected:
            return await write_once()

    async def ask(self, messages: list[ChatMessage]) -> str:
        """The model's reply as it is. Raises Rejected where it could not stand."""
        assert self.model is not None, "a stage that asks has a model"
        reply = await self.model.generate(Request(messages, self.scope, self.sampling))
        if reply.defect:
            raise Rejected("no usable reply", reply.defect)
        return make_storable(reply.text)


@dataclass(frozen=True)
class Stage(Generic[I_, O_]):
    """``name`` names the stage's file; ``meaning`` says in the funnel and the data card what the stage keeps or makes."""

    name: str
    meaning: str
    makes: type[O_]
    asks: ClassVar[bool] = False
    """Whether it needs a model."""


AnyStage = Stage[Any, Any]


@dataclass(frozen=True)
class EachStage(Stage[I_, O_]):
    """A stage that works on one item at a time, on several at once."""

    work: Callable[[I_, Writer], Awaitable[Sequence[O_]]]
    """Makes things of an item. Raises Rejected, or DataError where what was made is not in the layout of the data."""


@dataclass(frozen=True)
class AskingStage(EachStage[I_, O_]):
    """A stage that has a model write, by the prompts of its recipe."""

    asks: ClassVar[bool] = True


@dataclass(frozen=True)
class WholeStage(Stage[I_, I_]):
    """A stage that sees all items at once, and hands some of them on as they are."""

    reject: Callable[[Sequence[I_]], Mapping[str, Rejected]]
    """Returns, by id, why items are not handed on. The answer must be the same each time."""


@dataclass(frozen=True)
class SpreadStage(Stage[I_, I_]):
    """A stage that does the same, and has work on single items done wherever there is a processor for it."""

    reject: Callable[[Sequence[I_], Spread], Mapping[str, Rejected]]


def _list_examples(prompt: str) -> frozenset[str]:
    """The placeholders in a prompt's example of a reply: what it writes in place of words, roles and whole sentences."""
    shown = "".join(line for line in prompt.splitlines() if line.startswith("{"))
    found = (text for text in re.findall(r'"([^"]+)"', shown) if not text.startswith("$"))
    return frozenset(text for text in found if "…" in text or " " in text or text.isupper())


def _check_repetition(written: Any, examples: frozenset[str]) -> None:
    """Raises Rejected where a text in what was written is a placeholder of the prompt."""
    if isinstance(written, str) and written.strip() in examples:
        raise Rejected("repeats the prompt's example", written)
    for part in written.values() if isinstance(written, dict) else written if isinstance(written, list) else ():
        _check_repetition(part, examples)


def _parse_reply(kind: type[R_], reply: str, called: str) -> R_:
    if find_closing_object(reply) is None:
        raise Rejected("no JSON in the reply", reply[:200])
    try:
        found = json.loads(reply[reply.find("{") : reply.rfind("}") + 1], strict=False)
        # JSON can spell half characters, and no file can hold them.
        return parse_fields(kind, json.loads(make_storable(json.dumps(found, ensure_ascii=False))), called)
    except (ValueError, RecursionError) as error:
        raise Rejected("no JSON in the reply", f"{type(error).__name__}: {reply[:150]}") from None


def parse_fields(kind: type[R_], fields: Mapping[str, Any], called: str) -> R_:
    """A record out of a reply's fields, without those it does not know. Raises Rejected("not ``called``") naming one."""
    try:
        return kind.model_validate(fields, extra="ignore")
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise Rejected(f"not {called}", f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
