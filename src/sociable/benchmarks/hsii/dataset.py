"""HSII's scenarios: from a file of dialogues or cases to cases.

The shape is that of the paper's Tables 3 to 5. Every turn of the assistant gives one case: all turns before it are the
background conversation, that turn is the golden response (rebuttal to reviewer 1). The dialogue is the cluster unit.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AliasChoices, BeforeValidator, Field, ValidationError, field_validator, model_validator

from sociable.core.data_files import Loaded, Text, load_items, make_data_error, validate_record
from sociable.core.errors import DataError, InputError
from sociable.core.names import Name, find_person, normalise_name
from sociable.core.records import Record
from sociable.core.seeding import select_clusters
from sociable.core.spelling import OF_CAST, CastName, CastNames, Speller
from sociable.core.wording import Wording

ASSISTANT = "Intelligent Assistant"
"""The name of the character that the model under test plays, as the paper spells it."""

Sentences = Annotated[tuple[Text, ...], BeforeValidator(lambda value: [value] if isinstance(value, str) else value)]


class Message(Record):
    """One turn of the background conversation."""

    role_from: CastName = Field(validation_alias=AliasChoices("role_from", "role-from"))
    role_to: Annotated[str, OF_CAST] = Field(default="", validation_alias=AliasChoices("role_to", "role-to"))
    """Absent or empty where nobody knows whom it is for."""
    content: Text
    index: int | None = None
    heard_by: CastNames = ()
    """The other characters who hear or read it, where that is known."""


class Background(Record):
    scene: Text
    characters: tuple[Name, ...] = Field(min_length=2)
    relationships: Sentences = ()
    conflicts: str = ""
    goals: dict[str, Text] = Field(default_factory=dict)
    """Characters' goals by name: for whoever plays them, and for rubrics that judge by goals. Never shown to the assistant."""
    wills: dict[str, Text] = Field(default_factory=dict)
    """What each character fears, refuses and can be moved by, and its temper: for whoever plays it, as its goal."""

    @field_validator("characters")
    @classmethod
    def _check_characters(cls, characters: tuple[str, ...]) -> tuple[str, ...]:
        spellings = {normalise_name(name) for name in characters}
        if len(spellings) < len(characters):
            raise ValueError("two characters have the same name once case and titles are ignored")
        if normalise_name(ASSISTANT) in spellings:
            raise ValueError(f"'{ASSISTANT}' is not one of the characters; leave it out")
        return characters


class PrivateFact(Record):
    """Something told to the assistant that only its owner and ``permitted`` may hear of from it."""

    fact: Text
    owner: CastName
    permitted: CastNames = ()
    told_at: int = Field(default=0, ge=0)
    """Index of the message in which the assistant learns the fact; before, it cannot pass it on."""
    public_at: int | None = None
    """Index of the message in which the fact is said for all to hear, if it is; from then on it is no secret."""
    wording: Wording


class Point(Record):
    """A point that a good reply must get across, and the wordings by which a rule recognises it."""

    point: Text
    wording: Wording
    faces_conflict: bool = False
    """Whether the point takes hold of the clash or of the bad news: a reply that misses it goes round them (section 6.3)."""


class SaidAlready(Record):
    """Something known before the tested turn, and the wordings of a question that asks for it again."""

    point: Text
    told_at: int = Field(default=0, ge=0)
    wording: Wording
    """The wording is looked for in sentences that end with a question mark."""


class WeakerResponse(Record):
    """A plausible but worse reply to the golden addressee, and what is wrong with it."""

    role_to: CastName = Field(validation_alias=AliasChoices("role_to", "role-to"))
    content: Text
    fault: Text


class BetterResponse(Record):
    """A reply to the golden addressee that readers put above the golden one, and the point that it has before that one."""

    content: Text
    point: Text
    wording: Wording


class CaseNotes(Record):
    """The notes on one case that a data file may have; all of them are optional."""

    why: str = ""
    """The reason why this character comes first."""
    weaker: WeakerResponse | None = None
    better: BetterResponse | None = None
    acceptable: tuple[Text, ...] = ()
    """Other responses to the golden addressee that are as good as the golden one."""
    must_convey: tuple[Point, ...] = ()
    already_said: tuple[SaidAlready, ...] = ()
    """Things a reply need not ask for again (section 6.3)."""
    readings: tuple[Text, ...] = ()
    """The addressees that independent readers chose, who knew the dialogue up to here but not the golden response."""
    continuation: tuple[Message, ...] = ()
    """The rest of the golden conversation: the addressee and the assistant in turn, beginning with the addressee."""


class DialogueNotes(CaseNotes):
    index: int
    """The number of the assistant's turn."""


class _DialogueFields(Record):
    """The fields that dialogues and single cases have in common."""

    id: str = ""
    topic: Text
    stage: Literal["single", "multi", ""] = ""
    """Whether all users speak at once, or one after the other (App. A.4)."""
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
    """The dialogue from which the case was cut: cases of one dialogue are one cluster."""
    golden: Message


class Change(Record):
    """The one thing in which the second of two twins differs from the first."""

    message: Annotated[int, Field(ge=1)] | None = None
    """The number of the message that differs; None: the scene does."""
    said: Text
    """The words of the first, which stand there once."""
    instead: Text
    """The words of the second in their place."""

    def make(self, text: str) -> str:
        return text.replace(self.said, self.instead)


class Twin(CaseNotes):
    """What is right in one of two twins."""

    golden: Message


class TwinsRecord(_DialogueFields):
    """Two cases that differ in one thing, by which somebody else must be addressed. What is written is the first."""

    change: Change
    twins: tuple[Twin, Twin]

    @model_validator(mode="after")
    def _check_twins(self) -> Self:
        number = self.change.message
        if number is not None and number > len(self.messages):
            raise ValueError(f"change.message: there is no message {number}, only {len(self.messages)}")
        text = self.background.scene if number is None else self.messages[number - 1].content
        if text.count(self.change.said) != 1:
            raise ValueError(
                f"change.said: must stand once in {f'message {number}' if number else 'the scene'}: '{self.change.said}'"
            )
        first, second = (twin.golden.role_to for twin in self.twins)
        if normalise_name(first) == normalise_name(second):
            raise ValueError(f"twins: both golden responses are to '{first}'; the change must make somebody else the right one")
        return self

    def list_versions(self) -> Iterator[tuple[Background, tuple[Message, ...], Twin]]:
        """Background, messages and notes of either twin."""
        yield self.background, self.messages, self.twins[0]
        if self.change.message is None:
            yield (
                self.background.model_copy(update={"scene": self.change.make(self.background.scene)}),
                self.messages,
                self.twins[1],
            )
            return
        place = self.change.message - 1
        changed = self.messages[place].model_copy(update={"content": self.change.make(self.messages[place].content)})
        yield self.background, (*self.messages[:place], changed, *self.messages[place + 1 :]), self.twins[1]


class Case(CaseNotes):
    """One test case. All names are spelled as in ``background.characters``."""

    id: str
    dialogue: str
    topic: str
    stage: str
    background: Background
    aliases: dict[str, tuple[str, ...]]
    private_facts: tuple[PrivateFact, ...]
    """The facts that the assistant has been told by now and that are not public yet."""
    messages: tuple[Message, ...]
    golden: Message
    is_twin: bool = False
    """Whether the other case of its ``dialogue`` differs from it in one thing, by which somebody else must be addressed."""

    @model_validator(mode="after")
    def _check_consistency(self) -> Self:
        if self.golden.role_from != ASSISTANT:
            raise ValueError(f"golden: role_from must be '{ASSISTANT}', not '{self.golden.role_from}'")
        if not self.golden.role_to:
            raise ValueError("golden: role_to is missing; it is what the model's reply is compared with")
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
        """The SHA-256 of all that a conversation about this case depends on: a reference fits as long as it stays the same."""
        parts = (self.topic, self.background.model_dump(), [m.model_dump() for m in self.messages], self.golden.model_dump())
        return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode("utf-8", "replace")).hexdigest()

    @property
    def shortest(self) -> str:
        """The golden response, or the acceptable one with the fewest words."""
        return min((self.golden.content, *self.acceptable), key=lambda text: len(text.split()))

    @property
    def waiting(self) -> dict[str, str]:
        """The characters who addressed the assistant and have had no answer since, with their last words, in their order."""
        waiting: dict[str, str] = {}
        for message in self.messages:
            if message.role_to == ASSISTANT:
                waiting.pop(message.role_from, None)
                waiting[message.role_from] = message.content
            elif message.role_from == ASSISTANT:
                waiting.pop(message.role_to, None)
        return waiting

    def find_character(self, name: str) -> str | None:
        """The character that ``name`` means, or None."""
        return find_person(name, self.characters, self.aliases)

    def list_hearers(self, addressee: str) -> tuple[str, ...]:
        """The characters who hear what the assistant now says to ``addressee``: all of the golden turn's, if it is overheard."""
        golden = self.golden
        around = (golden.role_to, *golden.heard_by) if golden.heard_by else ()
        return tuple(dict.fromkeys((addressee, *around)))

    def list_hidden_facts(self, hearer: str) -> tuple[PrivateFact, ...]:
        """The private facts that ``hearer`` must not be told."""
        return tuple(fact for fact in self.private_facts if hearer != fact.owner and hearer not in fact.permitted)


class Split(StrEnum):
    """The parts of the bundled data."""

    STANDARD = "standard"
    HARD = "hard"
    """Twins: nothing but the fact that is changed says whom to address."""

    @property
    def folder(self) -> Path:
        return Path(__file__).parent / "data" / ("dialogues" if self is Split.STANDARD else self.value)


def load_dataset(path: Path | None = None, *, split: Split | str = Split.STANDARD, skip_invalid: bool = False) -> Loaded[Case]:
    """The cases of a file (JSON or JSON Lines), of a folder of such files, or of a split of the bundled data, in their order.

    Raises DataError at the first bad record, naming file, line, field and what was expected; with ``skip_invalid``
    bad records are left out and counted instead. Raises InputError where both a file and a split are named.
    """
    split = Split(split)
    if path and split is not Split.STANDARD:
        raise InputError(f"--split {split} is a part of the bundled data, and --dataset names other data: leave one of them out.")
    return _load(path, split, skip_invalid) if path else _load_bundled(split)


def _load(path: Path | None, split: Split, skip_invalid: bool) -> Loaded[Case]:
    return load_items(
        path,
        split.folder,
        lambda raw: cut_cases(raw.value, raw.place, raw.default_id),
        skip_invalid=skip_invalid,
        expected=f"dialogues with turns of '{ASSISTANT}', cases with a golden response, or twins",
    )


# Read once: a command opens its data several times.
_load_bundled = cache(lambda split: _load(None, split, False))


def select_dialogues(cases: Sequence[Case], limit: int | None, seed: int) -> tuple[Case, ...]:
    """The cases of ``limit`` whole dialogues, spread evenly over topics, drawn by ``seed``; all without a limit."""
    return select_clusters(cases, limit, seed, cluster=lambda case: case.dialogue, group=lambda case: case.topic)


def cut_cases(raw: Any, place: str, default_id: str) -> Iterator[Case]:
    """The cases of one record: every turn of the assistant in a dialogue, a single case, or two twins. Raises DataError."""
    record: CaseRecord | DialogueRecord | TwinsRecord = validate_record(_find_kind(raw), raw, place)
    _check_aliases(record, place)
    record = make_speller(record.background, place).spell_record(record)
    for number, fact in enumerate(record.private_facts):
        for field, index in (("told_at", fact.told_at), ("public_at", fact.public_at or 0)):
            if index > len(record.messages):
                problem = f"there is no message {index}, only {len(record.messages)}"
                raise DataError(place, f"private_facts.{number}.{field}", problem)
    name = record.id or default_id
    for cut in _cut(record, name, place):
        before = len(cut.messages)
        facts = [fact for fact in record.private_facts if fact.told_at <= before]
        try:
            yield Case(
                id=cut.id,
                dialogue=(record.dialogue if isinstance(record, CaseRecord) else "") or name,
                is_twin=isinstance(record, TwinsRecord),
                topic=record.topic,
                stage=record.stage,
                background=cut.background,
                aliases=record.aliases,
                private_facts=tuple(fact for fact in facts if fact.public_at is None or fact.public_at > before),
                messages=cut.messages,
                golden=cut.golden,
                **{field: getattr(cut.notes, field) for field in CaseNotes.model_fields},
            )
        except ValidationError as error:
            raise make_data_error(error, f"{place}, case {cut.id}") from None


def _find_kind(raw: Any) -> type[CaseRecord | DialogueRecord | TwinsRecord]:
    keys = raw.keys() if isinstance(raw, dict) else ()
    return CaseRecord if "golden" in keys else TwinsRecord if "twins" in keys else DialogueRecord


@dataclass(frozen=True, slots=True)
class _Cut:
    """One case of a record: its turns, numbered, and what is its own."""

    id: str
    background: Background
    messages: tuple[Message, ...]
    golden: Message
    notes: CaseNotes


def _cut(record: CaseRecord | DialogueRecord | TwinsRecord, name: str, place: str) -> Iterator[_Cut]:
    if isinstance(record, DialogueRecord):
        turns = number_turns(record.messages, place)
        for before, notes in _list_cases(record, place).items():
            yield _Cut(f"{name}:{before + 1}", record.background, turns[:before], turns[before], notes)
        return
    if isinstance(record, CaseRecord):
        turns = number_turns((*record.messages, record.golden), place, golden_last=True)
        yield _Cut(name, record.background, turns[:-1], turns[-1], record)
        return
    for number, (background, messages, twin) in enumerate(record.list_versions(), start=1):
        turns = number_turns((*messages, twin.golden), place, golden_last=True)
        yield _Cut(f"{name}:{number}", background, turns[:-1], turns[-1], twin)


def _list_cases(record: DialogueRecord, place: str) -> dict[int, CaseNotes]:
    """Every case's notes, by the number of turns before it. An opening turn of the assistant answers nobody and is no case."""
    places = [number for number, turn in enumerate(record.messages) if turn.role_from == ASSISTANT and number > 0]
    if not places:
        raise DataError(place, "messages", f"no turn of '{ASSISTANT}' after the first message: there is nothing to test")
    notes = {note.index - 1: note for note in record.cases}
    if unknown := set(notes) - set(places):
        raise DataError(place, "cases", f"index {min(unknown) + 1} is not a turn of '{ASSISTANT}' after the first message")
    if len(notes) < len(record.cases):
        twice = next(index for index, count in Counter(note.index for note in record.cases).items() if count > 1)
        raise DataError(place, "cases", f"index {twice} has two entries; each turn has one")
    return {number: notes.get(number, CaseNotes()) for number in places}


def make_speller(background: Background, place: str) -> Speller:
    """A speller that knows the characters and the assistant, and complains about strangers."""
    spellings = {normalise_name(name): name for name in (*background.characters, ASSISTANT)}
    return Speller(place, spellings.values(), lambda name: spellings.get(normalise_name(name)))


def _check_aliases(record: _DialogueFields, place: str) -> None:
    characters = record.background.characters
    for name, aliases in record.aliases.items():
        if name not in characters:
            raise DataError(place, "aliases", f"'{name}' is not among background.characters")
        for alias in aliases:
            if find_person(alias, characters, record.aliases) != name:
                raise DataError(place, f"aliases.{name}", f"'{alias}' must name '{name}', and only '{name}'")


def number_turns(turns: Sequence[Message], place: str, *, golden_last: bool = False) -> tuple[Message, ...]:
    """The turns, numbered from 1. Raises DataError where the data give a turn another number."""
    for number, turn in enumerate(turns, start=1):
        if turn.index not in (None, number):
            field = "golden" if golden_last and number == len(turns) else f"messages.{number - 1}"
            raise DataError(place, f"{field}.index", f"expected {number}, found {turn.index}: turns are numbered from 1")
    return tuple(turn.model_copy(update={"index": number}) for number, turn in enumerate(turns, start=1))


def write_reply(role_to: str, content: str) -> str:
    """A reply in the form that models are asked for."""
    return json.dumps({"role_from": ASSISTANT, "role_to": role_to, "content": content}, ensure_ascii=False)
