"""Memory retention's scenarios (App. D.1): an instruction, what comes in between, and the turn that must still heed it.

Carry-over: what one character asked of the assistant must be followed when it talks with another.
Role play: how the assistant was to be towards a character must hold again after it has talked with others.
Control: the instruction must not show in this turn: it was meant for others, or has ended.

Messages marked as interlude can be left out: so the same scenario is tested at two distances.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from functools import cache
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, model_validator

from sociable.benchmarks.hsii.dataset import ASSISTANT, Background, Message, make_speller, number_turns
from sociable.core.data_files import Loaded, Text, load_items, validate_record
from sociable.core.errors import DataError
from sociable.core.records import Episode, Record
from sociable.core.seeding import make_generator
from sociable.core.spelling import CastName
from sociable.core.wording import Wording, has_wording


class MemoryTest(StrEnum):
    """The two tests of App. D.1."""

    CARRY_OVER = "carry-over"
    ROLE_PLAY = "role-play"


class Directive(Record):
    """An instruction to the assistant: who gave it, in which message, what it demands."""

    given_by: CastName
    given_at: int
    """Index of the message that gives the instruction."""
    demand: Text
    """The instruction in one sentence."""
    device: Text
    """The kind of thing it is about: word, address, secret, language, manner, role."""


class ScenarioMessage(Message):
    """A turn before the one that is tested."""

    interlude: bool = False
    """Whether the message can be left out, to bring instruction and test closer together."""


class Check(Record):
    """The rules by which a right reply is known. All that are given must hold.

    With a ``question`` a judge decides, and ``reference/rule`` goes by the rest.
    """

    said: Wording | None = None
    """A reply must contain one of these alternatives."""
    unsaid: Wording | None = None
    """A reply must contain none of these."""
    language: str | None = None
    """The language that a reply must be in (ISO 639-1)."""
    languages: tuple[str, ...] = ("en",)
    """The other languages that a reply could be in."""
    question: str = ""
    """A question whose answer is yes about a right reply, where no rule can decide."""

    @model_validator(mode="after")
    def _check_rules(self) -> Self:
        if not (self.said or self.unsaid or self.language):
            raise ValueError("needs at least one of said, unsaid, language (with a question too: for reference/rule)")
        if self.language:
            detect_language("", {self.language, *self.languages})
        return self

    def apply(self, reply: str) -> tuple[bool, str]:
        """(whether the rules hold of a reply, why not)."""
        if self.said and not has_wording(reply, self.said):
            return False, "none of the words it had to contain"
        if self.unsaid and (found := next((a for a in self.unsaid if has_wording(reply, [a])), None)):
            return False, f"it says '{' … '.join(found)}'"
        if self.language and (spoken := detect_language(reply, {self.language, *self.languages})) != self.language:
            return False, f"it is in '{spoken}', not in '{self.language}'"
        return True, ""


def detect_language(text: str, among: Iterable[str]) -> str:
    """The likeliest of the languages ``among``, as codes of ISO 639-1, by py3langid's model of byte n-grams.

    Raises ValueError when the model does not know one of them.
    """
    identifier = _load_identifier()
    identifier.set_languages(sorted(among))
    return str(identifier.classify(text)[0])


@cache
def _load_identifier() -> Any:
    """Loaded once: that takes most of a second."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # type: ignore[import-untyped]

    return LanguageIdentifier.from_model_file(MODEL_FILE)


class ScenarioRecord(Record):
    """A scenario as it stands in a file."""

    id: Text
    topic: Text
    test: Annotated[MemoryTest, BeforeValidator(lambda value: value.replace("_", "-") if isinstance(value, str) else value)]
    control: bool = False
    background: Background
    directive: Directive
    messages: tuple[ScenarioMessage, ...]
    """The last message is to the assistant, from the character that it must answer."""
    why: str = ""
    """The reason why the directive must, or must not, show in this turn."""
    check: Check
    right: Text
    """A reply that passes."""
    wrong: Text
    """A natural reply that does not."""


class MemoryCase(Record):
    """A scenario at one distance. Names are spelled as in ``background.characters``; messages are numbered anew."""

    id: str
    scenario: str
    """The record from which the case comes: the cluster, since all distances of a scenario are the same story."""
    topic: str
    test: MemoryTest
    control: bool
    background: Background
    directive: Directive
    messages: tuple[Message, ...]
    distance: int
    """Messages from the directive, exclusive, to the reply, exclusive."""
    far: bool
    """Whether the case is the longer of two versions; a scenario without interlude has one only, which is near."""
    why: str
    check: Check
    right: str
    wrong: str

    @property
    def target(self) -> str:
        """The character that the assistant must answer."""
        return self.messages[-1].role_from


class MemoryEpisode(Episode):
    """One answer; ``turns`` holds it."""

    @property
    def reply(self) -> str:
        return self.turns[0].content if self.turns else ""


_UNCHANGED = ("topic", "test", "control", "background", "why", "check", "right", "wrong")
"""Fields that a case has as they stand in its record."""


def load_memory(path: Path | None = None, *, skip_invalid: bool = False) -> Loaded[MemoryCase]:
    """The cases of a file (JSON or JSON Lines), of a folder of such files, or of the bundled scenarios.

    Raises DataError at the first bad record, naming file, line, field and what was expected; with ``skip_invalid``
    bad records are left out and counted instead.
    """
    return load_items(
        path,
        Path(__file__).parents[1] / "data" / "memory",
        lambda raw: cut_distances(raw.value, raw.place),
        skip_invalid=skip_invalid,
        expected="scenarios with a directive, messages and a check",
    )


def cut_distances(raw: Any, place: str) -> Iterator[MemoryCase]:
    """The scenario without its interlude, and with it. Raises DataError."""
    record = validate_record(ScenarioRecord, raw, place)
    record = make_speller(record.background, place).spell_record(record)
    _check_messages(record, place)
    passes, why = record.check.apply(record.right)
    if not passes:
        raise DataError(place, "right", f"does not pass its own check: {why}")
    if record.check.apply(record.wrong)[0]:
        raise DataError(place, "wrong", "passes the check, and must not")
    yield _cut(record, far=False)
    if any(message.interlude for message in record.messages):
        yield _cut(record, far=True)


def _check_messages(record: ScenarioRecord, place: str) -> None:
    messages, directive = record.messages, record.directive
    number_turns(messages, place)
    if not messages or messages[-1].role_to != ASSISTANT or messages[-1].role_from == ASSISTANT or messages[-1].interlude:
        raise DataError(place, "messages", f"the last must be to '{ASSISTANT}' and no interlude: it is the one to be answered")
    index = directive.given_at
    if not 1 <= index < len(messages) or messages[index - 1].interlude:
        raise DataError(place, "directive.given_at", f"{index} is no message before the last that is always kept")
    if (messages[index - 1].role_from, messages[index - 1].role_to) != (directive.given_by, ASSISTANT):
        raise DataError(place, "directive.given_by", f"message {index} is not from '{directive.given_by}' to '{ASSISTANT}'")


def _cut(record: ScenarioRecord, *, far: bool) -> MemoryCase:
    kept = [message for message in record.messages if far or not message.interlude]
    given_at = sum(far or not message.interlude for message in record.messages[: record.directive.given_at])
    return MemoryCase(
        id=f"{record.id}:{'far' if far else 'near'}",
        scenario=record.id,
        directive=record.directive.model_copy(update={"given_at": given_at}),
        messages=tuple(
            Message(role_from=m.role_from, role_to=m.role_to, content=m.content, index=number)
            for number, m in enumerate(kept, start=1)
        ),
        distance=len(kept) - given_at,
        far=far,
        **{field: getattr(record, field) for field in _UNCHANGED},
    )


def select_scenarios(cases: Sequence[MemoryCase], limit: int | None, seed: int) -> list[MemoryCase]:
    """All distances of ``limit`` scenarios, drawn by ``seed`` so that each kind is taken in turn; all without a limit."""
    if limit is None:
        return list(cases)
    kinds: dict[tuple[str, bool], list[str]] = {}
    for story in {case.scenario: case for case in cases}.values():
        kinds.setdefault((story.test, story.control), []).append(story.scenario)
    generator = make_generator(seed, "limit")
    for names in kinds.values():
        generator.shuffle(names)
    in_turn = filter(None, chain.from_iterable(zip_longest(*kinds.values())))
    chosen = set(islice(in_turn, limit))
    return [case for case in cases if case.scenario in chosen]
