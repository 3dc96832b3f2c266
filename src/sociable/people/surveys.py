"""Surveys: items of a run that are dealt to people who each have a link, and what they answer, in one file of the run's folder.

All that a person is shown is copied into the file when the survey is begun, so that pages need nothing but it. An answer is
durable here before its page is answered; it becomes a record of the run (``PersonVerdict`` and the like) as soon as the
folder is free, and stays noted as waiting until then.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from statistics import median
from typing import Any

from sociable.core.database import Database
from sociable.core.errors import InputError
from sociable.core.records import Verdict, make_storable
from sociable.engine.study import ShownPair, ShownQuestion
from sociable.people.dealing import Dealt

SURVEY_FILE = "surveys.sqlite"
"""Its name in the run folder."""
MOST_FAILED = 1 / 3
"""The share of attention checks above which a person who fails them is marked."""
LONGEST_COMMENT = 10_000
LOWEST, HIGHEST = 1, 7
"""The ends of the scale of free ratings: how the talk went, from badly to well."""

_SECRET_BYTES = 32
_SCHEMA = """
CREATE TABLE IF NOT EXISTS surveys (
    id INTEGER PRIMARY KEY, made REAL NOT NULL, task TEXT NOT NULL, consent TEXT NOT NULL, instructions TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS items (
    survey INTEGER NOT NULL REFERENCES surveys, id TEXT NOT NULL, shown TEXT NOT NULL, truth TEXT, PRIMARY KEY (survey, id)
);
CREATE TABLE IF NOT EXISTS persons (
    id INTEGER PRIMARY KEY, survey INTEGER NOT NULL REFERENCES surveys, name TEXT NOT NULL UNIQUE, secret BLOB NOT NULL UNIQUE,
    is_open INTEGER NOT NULL DEFAULT 1, is_left_out INTEGER NOT NULL DEFAULT 0, agreed REAL, digest TEXT
);
CREATE TABLE IF NOT EXISTS dealt (
    person INTEGER NOT NULL REFERENCES persons, position INTEGER NOT NULL, item TEXT NOT NULL, subject_first INTEGER NOT NULL,
    shown REAL, spent REAL NOT NULL DEFAULT 0, said TEXT, comment TEXT NOT NULL DEFAULT '', answered REAL,
    is_kept INTEGER NOT NULL DEFAULT 1, PRIMARY KEY (person, position)
);
CREATE INDEX IF NOT EXISTS waiting ON dealt (is_kept) WHERE NOT is_kept
"""


class Task(StrEnum):
    """What people are asked to do."""

    JUDGE = "judge"
    """Judged pairs and questions, as judges were asked."""
    RATE = "rate"
    """Whole episodes, by a number."""
    WORD = "word"
    """Episodes that went badly, in one word (AntEval, section 5.4)."""


@dataclass(frozen=True, slots=True)
class ShownEpisode:
    """A whole episode as a person reads it."""

    situation: str
    turns: Sequence[tuple[str, str, str]]
    """Speaker, addressees, words."""


Shown = ShownPair | ShownQuestion | ShownEpisode
_KINDS: Mapping[str, type[Shown]] = {"pair": ShownPair, "question": ShownQuestion, "episode": ShownEpisode}


@dataclass(frozen=True, slots=True)
class NewItem:
    """One item of a survey that is begun. ``truth`` is the answer known beforehand; None: it is no attention check."""

    id: str
    shown: Shown
    truth: Verdict | None = None


@dataclass(frozen=True, slots=True)
class Person:
    """One person with a link."""

    id: int
    survey: int
    name: str
    task: Task
    consent: str
    """The text that is to be agreed to before anything is shown; empty: none."""
    instructions: str
    agreed: float | None
    """When it was agreed to, in seconds since 1970."""


@dataclass(frozen=True, slots=True)
class NewPerson:
    """A person with the secret of the link, which is told once and kept nowhere."""

    name: str
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Asked:
    """One item as it is put to one person, and what the person has said of it so far."""

    position: int
    """Its place in the person's order, from 1."""
    shown: Shown
    subject_first: bool
    said: str
    comment: str

    @property
    def kind(self) -> str:
        return next(name for name, kind in _KINDS.items() if isinstance(self.shown, kind))


@dataclass(frozen=True, slots=True)
class PersonState:
    """How far one person has come."""

    id: int
    name: str
    is_open: bool
    is_left_out: bool
    has_agreed: bool
    asks_consent: bool
    done: int
    total: int
    seconds: float | None
    """The median time of an answer, in seconds."""
    checks: int
    """Attention checks answered."""
    failed: int
    last: float | None

    @property
    def is_marked(self) -> bool:
        """Whether more than a third of the attention checks were failed; what is skipped counts as failed."""
        return self.failed > MOST_FAILED * self.checks if self.checks else False


@dataclass(frozen=True, slots=True)
class Given:
    """One answer, as it becomes a record of the run: attention checks are none."""

    person: str
    position: int
    person_id: int
    item: str
    task: Task
    shown: Shown
    said: str
    comment: str
    seconds: float


class Surveys(Database):
    """The surveys of one run. Its methods may be called from several threads."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / SURVEY_FILE, _SCHEMA, "Restore it from a copy; verdicts that were taken are in people.jsonl.")

    # The owner's side.

    def begin(
        self,
        task: Task,
        items: Sequence[NewItem],
        people: Mapping[str, Sequence[Dealt]],
        *,
        consent: str = "",
        instructions: str = "",
    ) -> list[NewPerson]:
        """Begins a survey of ``items``. ``people`` are names, with what is dealt to each. Returns them with their secrets."""
        made = [NewPerson(name, secrets.token_urlsafe(_SECRET_BYTES)) for name in people]
        with self._change():
            ((survey,),) = self._execute(
                "INSERT INTO surveys (made, task, consent, instructions) VALUES (?, ?, ?, ?) RETURNING id",
                time.time(), task, make_storable(consent), make_storable(instructions),
            )  # fmt: skip
            for item in items:
                shown = _write_shown(item.shown)
                self._execute("INSERT INTO items VALUES (?, ?, ?, ?)", survey, item.id, shown, item.truth)
            for each in made:
                ((person,),) = self._execute(
                    "INSERT INTO persons (survey, name, secret) VALUES (?, ?, ?) RETURNING id",
                    survey, each.name, _hash(each.secret),
                )  # fmt: skip
                for position, dealt in enumerate(people[each.name], start=1):
                    self._execute(
                        "INSERT INTO dealt (person, position, item, subject_first) VALUES (?, ?, ?, ?)",
                        person, position, dealt.item, dealt.subject_first,
                    )  # fmt: skip
        return made

    def list_people(self) -> list[PersonState]:
        """Everybody, in the order of the links."""
        return [self._describe(*row) for row in self._execute(_SELECT_STATES)]

    def _describe(
        self, number: int, name: str, is_open: int, is_left_out: int, agreed: float | None, consent: str, total: int
    ) -> PersonState:
        rows = self._execute(
            "SELECT said, spent, answered, truth FROM dealt JOIN persons ON persons.id = person"
            " JOIN items ON items.survey = persons.survey AND items.id = item WHERE person = ? AND said IS NOT NULL",
            number,
        )  # fmt: skip
        checks = [(said, truth) for said, _, _, truth in rows if truth is not None]
        return PersonState(
            number,
            name,
            bool(is_open),
            bool(is_left_out),
            agreed is not None,
            bool(consent),
            len(rows),
            total,
            median(spent for _, spent, _, _ in rows) if rows else None,
            len(checks),
            sum(said != truth for said, truth in checks),
            max((answered for _, _, answered, _ in rows), default=None),
        )

    def leave_out(self, person: int, *, is_left_out: bool) -> None:
        """Notes whether a person counts in exports and figures."""
        self._execute("UPDATE persons SET is_left_out = ? WHERE id = ?", is_left_out, person)

    def close_link(self, person: int) -> None:
        """Ends a person's link. What was answered stays."""
        self._execute("UPDATE persons SET is_open = 0 WHERE id = ?", person)

    def renew_link(self, person: int) -> NewPerson:
        """A new link for a person, in place of the old one. Raises InputError where there is no such person."""
        secret = secrets.token_urlsafe(_SECRET_BYTES)
        rows = self._execute(
            "UPDATE persons SET secret = ?, is_open = 1 WHERE id = ? RETURNING name", _hash(secret), person
        )  # fmt: skip
        if not rows:
            raise InputError("There is no such person in this run's surveys.")
        return NewPerson(rows[0][0], secret)

    def list_given(self, *, only_waiting: bool = False) -> list[Given]:
        """The answers that are, or will be, records of the run; with ``only_waiting`` those that are none yet."""
        rows = self._execute(_SELECT_GIVEN + (" AND NOT is_kept" if only_waiting else "") + " ORDER BY answered")
        return [
            Given(name, position, person, item, Task(task), _read_shown(shown), *rest)
            for name, position, person, item, task, shown, *rest in rows
        ]

    def list_answered(self) -> list[tuple[Task, int, str]]:
        """(task, number, name) of everybody who has answered something."""
        rows = self._execute(
            "SELECT DISTINCT task, persons.id, name FROM persons JOIN surveys ON surveys.id = survey"
            " JOIN dealt ON person = persons.id WHERE said IS NOT NULL ORDER BY persons.id"
        )
        return [(Task(task), number, name) for task, number, name in rows]

    def count_waiting(self) -> int:
        """The number of answers that are no records of the run yet."""
        return len(self._execute(f"{_SELECT_GIVEN} AND NOT is_kept"))

    def note_kept(self, given: Sequence[Given]) -> None:
        """Notes that these answers are records now; one that was changed meanwhile still waits."""
        with self._change():
            for each in given:
                self._execute(
                    "UPDATE dealt SET is_kept = 1 WHERE person = ? AND position = ? AND said = ? AND comment = ? AND spent = ?",
                    each.person_id, each.position, each.said, each.comment, each.seconds,
                )  # fmt: skip

    # The people's side.

    def find_person(self, secret: str) -> Person | None:
        """The person whose link has this secret; None where there is none, or the link was withdrawn."""
        rows = self._execute(
            "SELECT persons.id, survey, name, task, consent, instructions, agreed FROM persons"
            " JOIN surveys ON surveys.id = survey WHERE secret = ? AND is_open",
            _hash(secret),
        )  # fmt: skip
        if not rows:
            return None
        number, survey, name, task, consent, instructions, agreed = rows[0]
        return Person(number, survey, name, Task(task), consent, instructions, agreed)

    def agree(self, person: Person) -> None:
        """Notes that a person has agreed to the text of consent, and to which."""
        digest = hashlib.sha256(person.consent.encode()).hexdigest()
        self._execute("UPDATE persons SET agreed = ?, digest = ? WHERE id = ? AND agreed IS NULL", time.time(), digest, person.id)

    def count(self, person: Person) -> tuple[int, int]:
        """(items answered, items dealt)."""
        ((done, total),) = self._execute("SELECT count(said), count(*) FROM dealt WHERE person = ?", person.id)
        return done, total

    def find_next(self, person: Person) -> int | None:
        """The first place in a person's order without an answer; None where all is done."""
        return self._execute("SELECT min(position) FROM dealt WHERE person = ? AND said IS NULL", person.id)[0][0]  # type: ignore[no-any-return]

    def find_asked(self, person: Person, position: int) -> Asked | None:
        """The item at one place in a person's order; None where there is no such place."""
        rows = self._execute(
            "SELECT items.shown, subject_first, coalesce(said, ''), comment FROM dealt"
            " JOIN items ON items.survey = ? AND items.id = item WHERE person = ? AND position = ?",
            person.survey, person.id, position,
        )  # fmt: skip
        if not rows:
            return None
        ((shown, subject_first, said, comment),) = rows
        return Asked(position, _read_shown(shown), bool(subject_first), said, comment)

    def start_clock(self, person: Person, position: int) -> None:
        """Notes that an item is looked at from now on."""
        self._execute("UPDATE dealt SET shown = ? WHERE person = ? AND position = ?", time.time(), person.id, position)

    def put_aside(self, person: Person, position: int, comment: str, *, stop_clock: bool = True) -> None:
        """Keeps a comment that was begun; with ``stop_clock`` the time until the item is shown again does not count."""
        pause = ", spent = spent + coalesce(max(? - shown, 0), 0), shown = NULL" if stop_clock else ""
        # A draft may come later than the answer that was sent after it, with the rest of the comment.
        unless_late = "" if stop_clock else " AND (said IS NULL OR shown IS NOT NULL)"
        values = (time.time(),) if stop_clock else ()
        self._execute(
            # An answer given already is another one with another comment, or time.
            f"UPDATE dealt SET comment = ?{pause}, is_kept = said IS NULL WHERE person = ? AND position = ?{unless_late}",  # noqa: S608
            _tidy(comment), *values, person.id, position,
        )  # fmt: skip

    def answer(self, person: Person, position: int, said: str, comment: str) -> None:
        """Keeps an answer; another one takes its place, and its time is added."""
        now = time.time()
        self._execute(
            "UPDATE dealt SET said = ?, comment = ?, answered = ?, spent = spent + coalesce(max(? - shown, 0), 0), shown = NULL,"
            " is_kept = 0 WHERE person = ? AND position = ?",
            said, _tidy(comment), now, now, person.id, position,
        )  # fmt: skip


_SELECT_STATES = """
SELECT persons.id, name, is_open, is_left_out, agreed, consent, (SELECT count(*) FROM dealt WHERE person = persons.id)
FROM persons JOIN surveys ON surveys.id = survey ORDER BY persons.id
"""
_SELECT_GIVEN = """
SELECT name, position, person, item, task, items.shown, said, comment, spent
FROM dealt JOIN persons ON persons.id = person JOIN surveys ON surveys.id = persons.survey
JOIN items ON items.survey = persons.survey AND items.id = item WHERE said IS NOT NULL AND truth IS NULL
"""


def _hash(secret: str) -> bytes:
    """The hash of a secret: of 256 random bits, so that no slow one is needed."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()


def _tidy(comment: str) -> str:
    return make_storable(comment.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "").strip())[:LONGEST_COMMENT]


def _write_shown(shown: Shown) -> str:
    kind = next(name for name, each in _KINDS.items() if isinstance(shown, each))
    return json.dumps({"kind": kind, **asdict(shown)})


def _read_shown(text: str) -> Shown:
    fields: dict[str, Any] = json.loads(text)
    return _KINDS[fields.pop("kind")](**fields)
