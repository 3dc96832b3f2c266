"""The desk: a file in a run's folder in which questions wait for people, and people's answers for the run.

A run puts its questions here (``PersonAtDesk``); another process shows them and writes down what people answer. Neither needs
the other to be alive: what one has written the other finds when it comes. Every change is durable before the call that makes
it returns, and a question keeps its name when its run is started again, so that a kill of either side loses nothing.

A *place* is one participant of one case. Whoever is first asked there keeps it, and is asked nothing else until the case is
over. A *link* stands for one person: its secret opens their places alone, and only its hash is kept.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sociable.core.database import Database
from sociable.core.errors import InputError
from sociable.core.form import Form
from sociable.core.form_json import read_form, write_form
from sociable.core.records import make_storable

DESK_FILE = "desk.sqlite"
"""Its name in the run folder."""

SECONDS_BETWEEN_BEATS = 2.0
"""The seconds after which a run tells again that it is there."""

_SECONDS_OF_SILENCE = 4 * SECONDS_BETWEEN_BEATS
_SECRET_BYTES = 32

_SCHEMA = """
CREATE TABLE IF NOT EXISTS links (
    id INTEGER PRIMARY KEY, secret BLOB NOT NULL UNIQUE, person TEXT NOT NULL, role TEXT NOT NULL, participant TEXT NOT NULL,
    item TEXT NOT NULL, several INTEGER NOT NULL, is_open INTEGER NOT NULL DEFAULT 1
);
CREATE TABLE IF NOT EXISTS cases (item TEXT PRIMARY KEY, in_play INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS places (
    item TEXT NOT NULL, role TEXT NOT NULL, participant TEXT NOT NULL, link INTEGER NOT NULL REFERENCES links,
    PRIMARY KEY (item, role, participant)
);
CREATE TABLE IF NOT EXISTS questions (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, item TEXT NOT NULL, role TEXT NOT NULL, participant TEXT NOT NULL,
    form TEXT NOT NULL, asked REAL NOT NULL, is_waiting INTEGER NOT NULL, shown REAL, draft TEXT,
    answers TEXT, answered REAL, seconds REAL, link INTEGER REFERENCES links
);
CREATE INDEX IF NOT EXISTS places_of ON places (link);
CREATE INDEX IF NOT EXISTS waiting ON questions (item, role, participant) WHERE answers IS NULL AND is_waiting;
CREATE INDEX IF NOT EXISTS answered ON questions (answered) WHERE answers IS NOT NULL AND is_waiting;
CREATE TABLE IF NOT EXISTS run (
    one INTEGER PRIMARY KEY CHECK (one = 1), beat REAL NOT NULL, phase TEXT NOT NULL, done INTEGER NOT NULL,
    total INTEGER NOT NULL
);
"""


@dataclass(frozen=True, slots=True)
class Place:
    """One participant of one case; for a judge, what it is asked about one criterion of one episode."""

    item: str
    """The episode, judgment or reference."""
    role: str
    participant: str


@dataclass(frozen=True, slots=True)
class Answer:
    """One person's answers to one question."""

    question: str
    place: Place
    answers: tuple[str, ...]
    """As many as the form has questions, in their order."""
    person: str
    asked: float
    """Seconds since 1970, as are all points in time here."""
    answered: float
    seconds: float
    """The time from when the question was first shown to when it was answered, breaks included."""


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question that waits for the answer of one person."""

    id: str
    place: Place
    form: Form
    """Its ``reply`` is not here, but with the run."""
    asked: float
    shown: float
    """When it was first shown to whoever has the place."""
    draft: tuple[str, ...] = ()
    """What the person has written so far; empty where that is nothing."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """A question that was answered at the same place before."""

    form: Form
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Link:
    """One person's way to the desk. An empty ``role``, ``participant`` or ``item`` stands for any."""

    id: int
    person: str
    role: str = ""
    participant: str = ""
    item: str = ""
    several: bool = False
    """Whether the person takes further places of its own case: for somebody who plays everybody alone."""
    is_open: bool = True
    """Whether it still opens anything."""


@dataclass(frozen=True, slots=True)
class NewLink:
    """A link with its secret, which is told once and kept nowhere."""

    link: Link
    secret: str
    """43 characters that can stand in an address: 256 bits."""


@dataclass(frozen=True, slots=True)
class RunState:
    """The state of the run as the desk knows it."""

    is_alive: bool
    """Whether it has shown signs of life in the last seconds."""
    phase: str = ""
    done: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class WaitingPlace:
    """A place at which a question waits."""

    place: Place
    person: str
    """Whose place it is; empty while it is free."""
    since: float


class Desk(Database):
    """One process's opened desk. Its methods may be called from several threads."""

    def __init__(self, folder: Path, *, is_run: bool = False) -> None:
        """Opens the desk in a run's folder, and makes it where there is none. ``is_run`` says which side opens it.

        Raises StorageFailure, and RunFolderError for a file that is no desk.
        """
        remedy = "Restore it from a copy, or remove it: answers that the run has taken are in calls.sqlite."
        # A power cut may take what a run put here, which it puts again, and no answer of a person.
        super().__init__(folder / DESK_FILE, _SCHEMA, remedy, outlives_power_cuts=not is_run)

    def count_changes(self) -> int:
        """A number that is another after others have changed the desk: asking for it costs next to nothing."""
        return int(self._execute("PRAGMA data_version")[0][0])

    # The run's side.

    def put(self, identifier: str, place: Place, form: Form) -> None:
        """Puts a question; the same one again waits again, and keeps its draft and the answer it may have."""
        self._execute(
            "INSERT INTO questions (id, item, role, participant, form, asked, is_waiting) VALUES (?, ?, ?, ?, ?, ?, 1)"
            " ON CONFLICT (id) DO UPDATE SET is_waiting = 1, form = excluded.form",
            identifier, place.item, place.role, place.participant, write_form(form), time.time(),
        )  # fmt: skip

    def withdraw(self, identifier: str) -> None:
        """Takes a question away until it is put again. An answer that comes all the same is kept."""
        self._execute("UPDATE questions SET is_waiting = 0 WHERE id = ?", identifier)

    def find_answer(self, identifier: str) -> Answer | None:
        """The answer to a question, if there is one."""
        found = self._select_answers("questions.id = ?", identifier)
        return found[0] if found else None

    def begin_case(self, item: str) -> None:
        """Notes that a case is played: whoever takes a place in it keeps to it."""
        self._execute("INSERT OR REPLACE INTO cases VALUES (?, 1)", item)

    def end_case(self, item: str) -> None:
        """Notes that a case is over: its people may take places in others."""
        self._execute("UPDATE cases SET in_play = 0 WHERE item = ?", item)

    def beat(self, phase: str, done: int, total: int) -> None:
        """Tells that the run is there, and how far it has come."""
        self._execute("INSERT OR REPLACE INTO run VALUES (1, ?, ?, ?, ?)", time.time(), phase, done, total)

    def end_all_cases(self) -> None:
        """Notes that no case is played: those that a run was killed in are begun again, each in its turn."""
        self._execute("UPDATE cases SET in_play = 0")

    def clear(self) -> None:
        """Takes all questions away, of a run that has ended or that is begun again, and tells that no run is there."""
        with self._change():
            self._execute("UPDATE questions SET is_waiting = 0 WHERE is_waiting")
            self._execute("UPDATE run SET beat = 0")

    def list_new_answers(self) -> list[Answer]:
        """The answers to questions that have not been taken away since."""
        return self._select_answers("is_waiting")

    def count_playable(self, seats: int) -> int:
        """The number of cases for which there are people, where each needs so many: those who only judge do not count."""
        rows = self._execute("SELECT several, count(*) FROM links WHERE is_open AND role != 'judge' GROUP BY several")
        found = dict(rows)
        return int(found.get(1, 0) + found.get(0, 0) // seats)

    # The people's side.

    def make_link(self, person: str, *, role: str = "", participant: str = "", item: str = "", several: bool = False) -> NewLink:
        """A new link for a person; ``role``, ``participant`` and ``item`` narrow down where it may sit."""
        secret = secrets.token_urlsafe(_SECRET_BYTES)
        values = (make_storable(person), role, participant, item, several)
        with self._change():
            self._execute(
                "INSERT INTO links (secret, person, role, participant, item, several) VALUES (?, ?, ?, ?, ?, ?)",
                _hash(secret), *values,
            )  # fmt: skip
            (link,) = self._select_links("id = last_insert_rowid()")
        return NewLink(link, secret)

    def renew_link(self, link: Link) -> NewLink:
        """The link with another secret, in place of the old one. Its person keeps places, drafts and answers."""
        secret = secrets.token_urlsafe(_SECRET_BYTES)
        self._execute("UPDATE links SET secret = ? WHERE id = ?", _hash(secret), link.id)
        return NewLink(link, secret)

    def find_link(self, secret: str) -> Link | None:
        """The open link of this secret; None where there is none."""
        found = self._select_links("secret = ? AND is_open", _hash(secret))
        return found[0] if found else None

    def list_links(self) -> list[Link]:
        """All links, in the order in which they were made."""
        return self._select_links("1")

    def close_link(self, link: Link) -> None:
        """Ends a link. Its places are free for others; what it answered stays."""
        with self._change():
            self._execute("UPDATE links SET is_open = 0 WHERE id = ?", link.id)
            self._execute("DELETE FROM places WHERE link = ?", link.id)

    def release_place(self, place: Place) -> None:
        """Makes a place free again whose person has gone away."""
        self._execute(
            "DELETE FROM places WHERE item = ? AND role = ? AND participant = ?", place.item, place.role, place.participant
        )

    def find_open_question(self, link: Link) -> OpenQuestion | None:
        """The question that waits for this person; None while others are asked, or nobody.

        Whoever has no place in a case under way takes the first that is free, in a case in which somebody sits already if
        there is one. Who played in an episode does not judge it. The clock of an answer begins here.
        """
        found = self._find_in_own_places(link)
        if found is None or found[-2] is None:
            # Most who ask wait for somebody else: only who is shown something new changes the desk.
            if found is None and self._find_free_place(link) is None:
                return None
            found = self._show_next(link)
        if found is None:
            return None
        identifier, item, role, participant, form, asked, shown, draft = found
        place = Place(item, role, participant)
        return OpenQuestion(identifier, place, read_form(form), asked, shown, tuple(json.loads(draft or "[]")))

    def list_earlier(self, question: OpenQuestion) -> list[Earlier]:
        """What was shown and answered before at the place of a question: a form may show only what is new.

        A judge who has taken over from another is not told what that one said.
        """
        rows = self._execute(
            "SELECT form, answers FROM questions LEFT JOIN places USING (item, role, participant)"
            " WHERE item = ? AND role = ? AND participant = ? AND answers IS NOT NULL"
            " AND (role != 'judge' OR questions.link = places.link) ORDER BY answered",
            question.place.item, question.place.role, question.place.participant,
        )  # fmt: skip
        return [Earlier(read_form(form), tuple(json.loads(answers))) for form, answers in rows]

    def find_form(self, link: Link, question: str) -> Form:
        """The form of a question, waiting or not. Raises InputError if the question is not put to this person."""
        rows = self._execute(
            "SELECT form FROM questions JOIN places USING (item, role, participant) JOIN links ON links.id = places.link"
            " WHERE questions.id = ? AND places.link = ? AND is_open",
            question, link.id,
        )  # fmt: skip
        if not rows:
            raise InputError("This question is not put to you any more. Open your link again: it shows what is.")
        return read_form(rows[0][0])

    def keep_draft(self, link: Link, question: str, answers: Sequence[str]) -> None:
        """Keeps what a person has written so far, to be found on coming back. Raises InputError if the place is not theirs."""
        with self._change():
            self.find_form(link, question)
            draft = json.dumps([make_storable(each) for each in answers])
            self._execute("UPDATE questions SET draft = ? WHERE id = ? AND answers IS NULL", draft, question)

    def answer(self, link: Link, question: str, answers: Sequence[str]) -> Answer:
        """Writes down a person's answers to a question: the first ones hold. Line ends are made ``\\n``, margins cut off.

        The same answers again, from a second window, say, or after a lost connection, are taken as the first. Raises
        InputError if the place is not this person's, if other answers were given already, and, naming the question, if one
        is no answer to it.
        """
        given = [make_storable(each.replace("\r\n", "\n").replace("\r", "\n").strip()) for each in answers]
        with self._change():
            form = self.find_form(link, question)
            earlier = self.find_answer(question)
            if earlier is not None:
                if list(earlier.answers) != given:
                    raise InputError("This question has been answered already, in another window perhaps: that answer holds.")
                return earlier
            _check_answers(form, given)
            self._execute(
                "UPDATE questions SET answers = ?, answered = ?, seconds = max(? - coalesce(shown, asked), 0), link = ?,"
                " draft = NULL WHERE id = ?",
                json.dumps(given), now := time.time(), now, link.id, question,
            )  # fmt: skip
            found = self.find_answer(question)
            assert found is not None
            return found

    def list_answers(self, link: Link | None = None) -> list[Answer]:
        """What a person has answered, or everybody, the earliest first."""
        return self._select_answers("questions.link = ?", link.id) if link else self._select_answers("1")

    def list_waiting(self) -> list[WaitingPlace]:
        """The places at which questions wait, the longest wait first."""
        rows = self._execute(
            "SELECT q.item, q.role, q.participant, coalesce(person, ''), min(q.asked) FROM questions AS q"
            " LEFT JOIN places USING (item, role, participant) LEFT JOIN links ON links.id = places.link"
            " WHERE answers IS NULL AND is_waiting GROUP BY q.item, q.role, q.participant ORDER BY min(q.number)"
        )
        return [WaitingPlace(Place(*place), person, since) for *place, person, since in rows]

    def list_places(self, link: Link) -> list[Place]:
        """The places that a person has or had, in the order in which they were taken."""
        rows = self._execute("SELECT item, role, participant FROM places WHERE link = ? ORDER BY rowid", link.id)
        return [Place(*row) for row in rows]

    def is_in_case(self, link: Link) -> bool:
        """Whether the person sits in a case that is under way, be it another's turn."""
        return bool(self._execute(_OWN_CASES, link.id, link.id))

    def count_done(self, link: Link) -> int:
        """The number of cases in which the person has answered something and that are over."""
        rows = self._execute(_COUNT_DONE, link.id, link.id, link.id)
        return int(rows[0][0])

    def read_run(self) -> RunState:
        """The run's state."""
        rows = self._execute("SELECT beat, phase, done, total FROM run")
        return RunState(rows[0][0] > time.time() - _SECONDS_OF_SILENCE, *rows[0][1:]) if rows else RunState(is_alive=False)

    # Inside.

    def _show_next(self, link: Link) -> Any:
        """The row of the question that the person is shown now, in a place that it takes if it must."""
        with self._change():
            if self._find_in_own_places(link) is None and (place := self._find_free_place(link)):
                self._execute("INSERT INTO places VALUES (?, ?, ?, ?)", place.item, place.role, place.participant, link.id)
            if found := self._find_in_own_places(link):
                self._execute("UPDATE questions SET shown = coalesce(shown, ?) WHERE id = ?", time.time(), found[0])
            return self._find_in_own_places(link)

    def _find_in_own_places(self, link: Link) -> Any:
        rows = self._execute(
            "SELECT id, item, role, participant, form, asked, shown, draft FROM questions"
            " JOIN places USING (item, role, participant)"
            # The plus keeps SQLite from going through all questions in their order.
            " WHERE places.link = ? AND answers IS NULL AND is_waiting ORDER BY +number LIMIT 1",
            link.id,
        )
        return rows[0] if rows else None

    def _find_free_place(self, link: Link) -> Place | None:
        """The place that the person takes next, if there is one."""
        own = [row[0] for row in self._execute(_OWN_CASES, link.id, link.id)]
        if own and not link.several:
            return None
        rows = self._execute(
            "SELECT q.item, q.role, q.participant FROM questions AS q LEFT JOIN places AS taken USING (item, role, participant)"
            " WHERE answers IS NULL AND is_waiting AND taken.link IS NULL"
            " AND ? IN ('', q.role) AND ? IN ('', q.participant) AND ? IN ('', q.item)"
            " AND (NOT ? OR q.item IN (SELECT value FROM json_each(?)))"
            " AND NOT (q.role = 'judge' AND EXISTS"
            " (SELECT 1 FROM places AS o WHERE o.item = q.item AND o.link = ? AND o.role != 'judge'"
            " UNION SELECT 1 FROM questions AS o WHERE o.item = q.item AND o.link = ? AND o.role != 'judge'))"
            " ORDER BY EXISTS (SELECT 1 FROM places AS o WHERE o.item = q.item AND o.role = q.role) DESC, q.number LIMIT 1",
            link.role, link.participant, link.item, bool(own), json.dumps(own), link.id, link.id,
        )  # fmt: skip
        return Place(*rows[0]) if rows else None

    def _select_answers(self, condition: str, *values: object) -> list[Answer]:
        rows = self._execute(f"{_SELECT_ANSWERS} AND {condition} ORDER BY answered", *values)
        return [
            Answer(identifier, Place(item, role, participant), tuple(json.loads(answers)), *rest)
            for identifier, item, role, participant, answers, *rest in rows
        ]

    def _select_links(self, condition: str, *values: object) -> list[Link]:
        rows = self._execute(f"{_SELECT_LINKS} WHERE {condition} ORDER BY id", *values)
        return [
            Link(number, person, role, participant, item, bool(several), bool(is_open))
            for number, person, role, participant, item, several, is_open in rows
        ]


_OWN_CASES = """
SELECT item FROM places JOIN cases USING (item) WHERE link = ? AND in_play AND role != 'judge'
UNION SELECT item FROM questions JOIN places USING (item, role, participant)
WHERE places.link = ? AND answers IS NULL AND is_waiting
"""
"""The cases in which a person, given twice, sits: those that are played, and those in which something is asked of them."""
_COUNT_DONE = f"SELECT count(DISTINCT item) FROM questions WHERE link = ? AND item NOT IN ({_OWN_CASES})"  # noqa: S608
_SELECT_ANSWERS = """
SELECT questions.id, questions.item, questions.role, questions.participant, answers, person, asked, answered, seconds
FROM questions JOIN links ON links.id = questions.link WHERE answers IS NOT NULL
"""
_SELECT_LINKS = "SELECT id, person, role, participant, item, several, is_open FROM links"


def _hash(secret: str) -> bytes:
    """The hash of a secret: of 256 random bits, so that no slow one is needed."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()


def _check_answers(form: Form, answers: Sequence[str]) -> None:
    if len(answers) != len(form.questions):
        raise InputError(f"{len(form.questions)} answers were expected, {len(answers)} came.")
    for question, answer in zip(form.questions, answers, strict=True):
        if problem := question.find_problem(answer):
            raise InputError(f"{question.text} {problem}")
