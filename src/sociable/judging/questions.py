"""Questions to judges: who is asked, what a question and its answer are."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from sociable.judging.forms import MakeForm
from sociable.models.protocol import ChatMessage, Model, Sampling, Scope

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Answer(Generic[V]):
    """A judge's answer, and its reason."""

    value: V
    reason: str = ""

    @property
    def why(self) -> str:
        return self.reason


@dataclass(frozen=True, slots=True)
class Unread:
    """The problem that leaves a question without an answer, and what the judge said instead."""

    problem: str
    reason: str = ""
    value: ClassVar[None] = None

    @property
    def why(self) -> str:
        return f"{self.problem}: {self.reason}".removesuffix(": ")


Reading = Answer[V] | Unread
"""An answer, or why there is none."""


@dataclass(frozen=True, slots=True)
class Leaning(Generic[V]):
    """The answers that a judge can give for other reasons than the rule's."""

    favours: Sequence[V]
    """For each text shown, the answer that favours it."""
    err: Callable[[V, random.Random], V]
    """A wrong answer in place of the right one."""
    texts: Sequence[str] = ()
    """The texts that are compared, as they are shown; empty where one stands alone, in all that is shown."""
    even: V | None = None
    """The answer that favours none of several texts."""


@dataclass(frozen=True, slots=True)
class Question(Generic[V]):
    """A question whose answer is a ``V``."""

    write: Callable[[], Sequence[ChatMessage]]
    """Writes the messages."""
    parse: Callable[[str], Reading[V]]
    """Reads the text of a reply. It must take any text and guess nothing."""
    schema: Mapping[str, Any] | None = None
    """JSON schema of the wanted reply."""
    apply_rule: Callable[[], Reading[V]] = lambda: Unread("the question has no rule")
    """Answers in place of a model."""
    form: MakeForm | None = None
    """Makes the form for a person, of the messages; None: a person is shown them, and writes the reply as a model does."""
    leaning: Leaning[V] | None = None
    """The answers of a reference judge that errs or has a taste; None: it answers by the rule."""


class Judge(Protocol):
    """A judge: a model, or a rule, which has no model."""

    @property
    def name(self) -> str: ...

    @property
    def agent(self) -> str:
        """A reference judge's name without ``reference/``; empty for a model."""

    @property
    def ordinary(self) -> float:
        """The most of what a reference judge likes that it takes for ordinary in a text that stands alone."""

    @property
    def model(self) -> Model | None: ...

    @property
    def sampling(self) -> Sampling: ...

    def make_scope(self, item: str, participant: str) -> Scope: ...
