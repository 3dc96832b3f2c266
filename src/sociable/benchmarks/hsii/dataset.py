"""HSII's scenarios: from a file of dialogues or cases to cases.

The shape is that of the paper's Tables 3 to 5. Every turn of the assistant gives one case: all turns before it are the
background conversation, that turn is the golden response (rebuttal to reviewer 1). The dialogue is the cluster unit.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AliasChoices,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from sociable.core.data_files import Loaded, Text, complaint, load_items
from sociable.core.errors import DataError
from sociable.core.names import Name, normalised_name, who_is_named
from sociable.core.records import Record
from sociable.core.seeding import drawn_evenly, named_generator
from sociable.core.wording import Wording

ASSISTANT = "Intelligent Assistant"
"""The one who is played by the model under test, as the paper spells it."""

Sentences = Annotated[tuple[Text, ...], BeforeValidator(lambda value: [value] if isinstance(value, str) else value)]


class Message(Record):
    """One turn of the background conversation."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    role_from: Text = Field(validation_alias=AliasChoices("role_from", "role-from"))
    role_to: Text = Field(validation_alias=AliasChoices("role_to", "role-to"))
    content: Text
    index: int | None = None


class Background(Record):
    scene: Text
    characters: tuple[Name, ...] = Field(min_length=2)
    relationships: Sentences = ()
    conflicts: str = ""
    goals: dict[str, Text] = Field(default_factory=dict)
    """What characters want, by name; for rubrics that judge by goals. Never shown to the model under test."""


class PrivateFact(Record):
    """Something told to the assistant that only its owner and ``permitted`` may hear of from it."""

    fact: Text
    owner: Text
    permitted: tuple[Text, ...] = ()
    told_at: int = Field(default=0, ge=0)
    """Index of the message in which the assistant learns it; before, it cannot be passed on."""
    public_at: int | None = None
    """Index of the message in which it is said for all to hear, if it is; from then on it is no secret."""
    wording: Wording


class Point(Record):
    """What a good reply must get across, and by which wordings a rule recognises it."""

    point: Text
    wording: Wording
    faces_conflict: bool = False
    """Whether it is what takes hold of the clash, or of the bad news: who misses it goes round them (section 6.3)."""


class SaidAlready(Record):
    """Something known before the tested turn, and how a question for it would read."""

    point: Text
    told_at: int = Field(default=0, ge=0)
    wording: Wording
    """Looked for in sentences that end with a question mark."""


class WeakerResponse(Record):
    """A plausible but worse reply to the golden addressee, and what is wrong with it."""

    role_to: Text = Field(validation_alias=AliasChoices("role_to", "role-to"))
    content: Text
    fault: Text


class CaseNotes(Record):
    """What a data file may say about one case; all of it optional."""

    why: str = ""
    """Why this character comes first."""
    weaker: WeakerResponse | None = None
    must_convey: tuple[Point, ...] = ()
    already_said: tuple[SaidAlready, ...] = ()
    """What a reply need not ask for again (section 6.3)."""
    readings: tuple[Text, ...] = ()
    """Whom independent readers of the dialogue up to here, who had not seen the golden response, would have addressed."""
    continuation: tuple[Message, ...] = ()
    """How the golden conversation goes on: the addressee and the assistant in turn, beginning with the addressee."""


class DialogueNotes(CaseNotes):
    index: int
    """Of the assistant's turn."""


class _DialogueFields(Record):
    """What dialogues and single cases have in common."""

    id: str = ""
    topic: Text
    stage: Literal["single", "multi", ""] = ""
    """App. A.4: all users at once, or one after the other."""
    canary: str = ""
    """A string by which the data can be found in training corpora. Never shown to any model."""
    background: Background
    aliases: dict[str, tuple[Text, ...]] = Field(default_factory=dict)
    private_facts: tuple[PrivateFact, ...] = ()
    messages: tuple[Message, ...]


class DialogueRecord(_DialogueFields):
    """A whole dialogue, to be cut into cases."""

    cases: tuple[DialogueNotes, ...] = ()


class CaseRecord(_DialogueFields, CaseNotes):
    """A single case as in Tables 3 to 5: the conversation so far, and the golden response."""

    dialogue: str = ""
    """The dialogue it was cut from: cases that share it are one cluster."""
    golden: Message


class Case(CaseNotes):
    """One test case. Immutable; names are spelled as in ``background.characters`` throughout."""

    id: str
    dialogue: str
    topic: str
    stage: str
    background: Background
    aliases: dict[str, tuple[str, ...]]
    private_facts: tuple[PrivateFact, ...]
    """Only those the assistant has been told by now, and that are not public yet."""
    messages: tuple[Message, ...]
    golden: Message

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.golden.role_from != ASSISTANT:
            raise ValueError(f"golden: role_from must be '{ASSISTANT}', not '{self.golden.role_from}'")
        if self.golden.role_to == ASSISTANT:
            raise ValueError("golden: the assistant cannot address itself")
        if self.weaker and self.weaker.role_to != self.golden.role_to:
            raise ValueError(f"weaker: role_to must be the golden addressee '{self.golden.role_to}'")
        pair = (self.golden.role_to, ASSISTANT)
        for place, message in enumerate(self.continuation):
            speaker, hearer = pair if place % 2 == 0 else pair[::-1]
            if (message.role_from, message.role_to) != (speaker, hearer):
                raise ValueError(f"continuation, turn {place + 1}: must be from '{speaker}' to '{hearer}'")
        return self

    @property
    def characters(self) -> tuple[str, ...]:
        return self.background.characters

    @cached_property
    def digest(self) -> str:
        """Of what a conversation about this case depends on: a reference made for it stays good as long as this does."""
        parts = (self.topic, self.background.model_dump(), [m.model_dump() for m in self.messages], self.golden.model_dump())
        return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode("utf-8", "replace")).hexdigest()

    @property
    def waiting(self) -> dict[str, str]:
        """Who addressed the assistant and has had no answer since, with their last words, in the order of these."""
        waiting: dict[str, str] = {}
        for message in self.messages:
            if message.role_to == ASSISTANT:
                waiting.pop(message.role_from, None)
                waiting[message.role_from] = message.content
            elif message.role_from == ASSISTANT:
                waiting.pop(message.role_to, None)
        return waiting

    def who_is(self, name: str) -> str | None:
        """The character ``name`` means, or None."""
        return who_is_named(name, self.characters, self.aliases)

    def hidden_from(self, hearer: str) -> tuple[PrivateFact, ...]:
        """The private facts ``hearer`` must not be told."""
        return tuple(fact for fact in self.private_facts if hearer != fact.owner and hearer not in fact.permitted)


class Dataset(Loaded[Case]):
    """Cases in the order of their file."""

    @property
    def cases(self) -> tuple[Case, ...]:
        return self.items

    @property
    def dialogues(self) -> dict[str, list[Case]]:
        grouped: dict[str, list[Case]] = defaultdict(list)
        for case in self.cases:
            grouped[case.dialogue].append(case)
        return dict(grouped)


def load_dataset(path: Path | None = None, *, skip_invalid: bool = False) -> Dataset:
    """Reads a file (JSON or JSON Lines), a folder of such files, or the bundled dialogues.

    Raises DataError at the first bad record, naming file, line, field and what was expected; with ``skip_invalid``
    bad records are left out and counted instead.
    """
    return _loaded(path, skip_invalid) if path else _bundled()


@cache
def _bundled() -> Dataset:
    """Read once: a command opens its data several times."""
    return _loaded(None, False)


def _loaded(path: Path | None, skip_invalid: bool) -> Dataset:
    loaded = load_items(
        path,
        Path(str(resources.files("sociable.benchmarks.hsii").joinpath("data", "dialogues"))),
        lambda raw: cut_cases(raw.value, raw.place, raw.default_id),
        skip_invalid=skip_invalid,
        expected=f"dialogues with turns of '{ASSISTANT}', or cases with a golden response",
    )
    return Dataset(**vars(loaded))


def select_dialogues(dataset: Dataset, limit: int | None, seed: int) -> tuple[Case, ...]:
    """The cases of ``limit`` whole dialogues, spread evenly over topics, drawn by ``seed``; all without a limit."""
    if limit is None or limit >= len(dataset.dialogues):
        return dataset.cases
    by_topic: dict[str, list[str]] = defaultdict(list)
    for dialogue, cases in sorted(dataset.dialogues.items()):
        by_topic[cases[0].topic].append(dialogue)
    chosen = drawn_evenly(by_topic, limit, named_generator(seed, "limit"))
    return tuple(case for case in dataset.cases if case.dialogue in chosen)


def cut_cases(raw: Any, place: str, default_id: str) -> Iterator[Case]:
    """The cases of one record: one for every turn of the assistant, or the one it is. Raises DataError."""
    if not isinstance(raw, dict):
        raise DataError(place, "", f"expected an object with topic, background and messages, found {type(raw).__name__}")
    record = _validated(CaseRecord if "golden" in raw else DialogueRecord, raw, place)
    name = record.id or default_id
    spell = _speller(record, place)
    facts = [_spelled_fact(fact, spell, f"private_facts.{number}") for number, fact in enumerate(record.private_facts)]
    for number, fact in enumerate(facts):
        for field, index in (("told_at", fact.told_at), ("public_at", fact.public_at or 0)):
            if index > len(record.messages):
                problem = f"there is no message {index}, only {len(record.messages)}"
                raise DataError(place, f"private_facts.{number}.{field}", problem)
    turns = [_spelled(message, spell, f"messages.{number}") for number, message in enumerate(record.messages)]
    if isinstance(record, CaseRecord):
        turns.append(_spelled(record.golden, spell, "golden"))
        cuts = [_Cut(name, len(record.messages), record, "")]
    else:
        cuts = list(_cuts(record, turns, name, place))
    turns = [_numbered(turn, number, record, place) for number, turn in enumerate(turns, start=1)]
    for cut in cuts:
        note = {field: getattr(cut.note, field) for field in CaseNotes.model_fields}
        note["continuation"] = tuple(
            _spelled(message, spell, f"{cut.field}continuation.{number}") for number, message in enumerate(cut.note.continuation)
        )
        if weaker := cut.note.weaker:
            note["weaker"] = weaker.model_copy(update={"role_to": spell(weaker.role_to, f"{cut.field}weaker.role_to")})
        try:
            yield Case(
                id=cut.id,
                dialogue=(record.dialogue if isinstance(record, CaseRecord) else "") or name,
                topic=record.topic,
                stage=record.stage,
                background=record.background,
                aliases=record.aliases,
                private_facts=tuple(fact for fact in facts if fact.told_at <= cut.turn and not _is_public(fact, cut.turn)),
                messages=tuple(turns[: cut.turn]),
                golden=turns[cut.turn],
                **note,
            )
        except ValidationError as error:
            raise complaint(error, f"{place}, case {cut.id}") from None


def _is_public(fact: PrivateFact, turns: int) -> bool:
    return fact.public_at is not None and fact.public_at <= turns


@dataclass(frozen=True, slots=True)
class _Cut:
    """Where a case is cut from its record: ``turn`` turns come before the golden one."""

    id: str
    turn: int
    note: CaseNotes
    field: str
    """Of the note in the record, with a full stop."""


def _cuts(record: DialogueRecord, turns: Sequence[Message], name: str, place: str) -> Iterator[_Cut]:
    """One for every turn of the assistant but an opening one, which answers nobody."""
    places = [number for number, turn in enumerate(turns) if turn.role_from == ASSISTANT and number > 0]
    if not places:
        raise DataError(place, "messages", f"no turn of '{ASSISTANT}' after the first message: there is nothing to test")
    notes = {note.index: (note, f"cases.{number}.") for number, note in enumerate(record.cases)}
    if unknown := set(notes) - {number + 1 for number in places}:
        raise DataError(place, "cases", f"index {min(unknown)} is not a turn of '{ASSISTANT}' after the first message")
    if len(notes) < len(record.cases):
        twice = next(index for index, count in Counter(note.index for note in record.cases).items() if count > 1)
        raise DataError(place, "cases", f"index {twice} has two entries; each turn has one")
    for number in places:
        note, field = notes.get(number + 1, (CaseNotes(), ""))
        yield _Cut(f"{name}:{number + 1}", number, note, field)


Speller = Callable[[str, str], str]
"""From a name and the field it stands in to the name as it is in ``characters``."""


def _speller(record: _DialogueFields, place: str) -> Speller:
    """A function that spells a name as in ``characters``, and complains about strangers."""
    characters = record.background.characters
    spellings = {normalised_name(name): name for name in characters}
    if len(spellings) < len(characters):
        raise DataError(place, "background.characters", "two characters have the same name once case and titles are ignored")
    if normalised_name(ASSISTANT) in spellings:
        raise DataError(place, "background.characters", f"'{ASSISTANT}' is not one of the characters; leave it out")
    spellings[normalised_name(ASSISTANT)] = ASSISTANT
    for name, aliases in record.aliases.items():
        if name not in characters:
            raise DataError(place, "aliases", f"'{name}' is not among background.characters")
        for alias in aliases:
            if who_is_named(alias, characters, record.aliases) != name:
                raise DataError(place, f"aliases.{name}", f"'{alias}' must name '{name}', and only '{name}'")

    def spell(name: str, field: str) -> str:
        try:
            return spellings[normalised_name(name)]
        except KeyError:
            known = ", ".join(f"'{known}'" for known in spellings.values())
            raise DataError(place, field, f"'{name}' is nobody here; expected one of {known}") from None

    return spell


def _spelled(message: Message, spell: Speller, field: str) -> Message:
    return message.model_copy(
        update={
            "role_from": spell(message.role_from, f"{field}.role_from"),
            "role_to": spell(message.role_to, f"{field}.role_to"),
        }
    )


def _spelled_fact(fact: PrivateFact, spell: Speller, field: str) -> PrivateFact:
    return fact.model_copy(
        update={
            "owner": spell(fact.owner, f"{field}.owner"),
            "permitted": tuple(spell(name, f"{field}.permitted") for name in fact.permitted),
        }
    )


def _numbered(turn: Message, number: int, record: _DialogueFields, place: str) -> Message:
    if turn.index not in (None, number):
        field = f"messages.{number - 1}.index" if number <= len(record.messages) else "golden.index"
        raise DataError(place, field, f"expected {number}, found {turn.index}: turns are numbered from 1")
    return turn.model_copy(update={"index": number})


def _validated(kind: type[CaseRecord] | type[DialogueRecord], raw: Mapping[str, Any], place: str) -> CaseRecord | DialogueRecord:
    try:
        return kind.model_validate(raw)
    except ValidationError as error:
        raise complaint(error, place) from None
