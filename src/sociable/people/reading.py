"""Sheets, ratings and words that come back: CSV as spreadsheets save it, or JSON Lines."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from sociable.core.errors import DataError, InputError
from sociable.core.names import find_words
from sociable.core.people_files import PeopleFiles, PersonRating, PersonVerdict, PersonWord
from sociable.core.records import Verdict
from sociable.core.run_folder import RecordFile
from sociable.core.spreadsheets import read_rows

P = TypeVar("P", PersonVerdict, PersonRating, PersonWord)

SKIPPED = "skip"
"""The verdict of somebody who cannot decide: it counts as missing."""
MOST_LINES = 8
"""Lines of a sheet that an error names."""
_BESIDES = "and person, where there are several"
_ANSWERS = {"yes": Verdict.WIN, "y": Verdict.WIN, "no": Verdict.LOSS, "n": Verdict.LOSS}


def read_verdicts(files: Sequence[Path], people: PeopleFiles, *, replace: bool = False) -> list[PersonVerdict]:
    """Verdicts from sheets that were filled in, every row of them. An item that is left out counts as not looked at.

    The person is named in a column ``person``, or by the name of the file unless that is the sheet's own. Raises DataError
    naming file, line and field for an item of no sheet, for a row without a verdict or a person, for two spellings of one name,
    and for a second verdict of one person on one item: in the same file, in another, or, unless it is to ``replace`` that, in
    the run folder from before.
    """
    sheets = {item.sheet.casefold() for item in people.sheets}

    def find(name: str, place: str) -> str:
        if name not in people.sheets:
            remedy = "Give the sheet to the run that it was drawn from, with 'item' as it was there"
            raise DataError(place, "item", f"'{name[:40]}' is on no sheet of this run. {remedy}")
        return name

    def read(file: Path) -> Iterator[tuple[str, PersonVerdict]]:
        for row in _read_rows(file, "item", "verdict", find, sheets):
            item = people.sheets.read(row.about)
            said = row.said.removesuffix(".0")
            yield (
                row.place,
                PersonVerdict(
                    id=row.id,
                    item=row.about,
                    person=row.person,
                    verdict=parse_verdict(said, row.place, question=item.question, subject_first=item.subject_first),
                    comment=row.comment,
                    seconds=row.seconds,
                ),
            )

    return _gather(files, "verdict", read, people.verdicts, replace)


def parse_verdict(given: str, place: str, *, question: bool, subject_first: bool) -> Verdict:
    """The verdict for the subject's side, as it is written on a sheet. Raises DataError."""
    if given.lower() == SKIPPED:
        return Verdict.UNSCORED
    if question:
        if given.lower() not in _ANSWERS:
            raise DataError(place, "verdict", f"expected yes, no or {SKIPPED}, found '{given[:40]}'")
        return _ANSWERS[given.lower()]
    if given not in ("0", "1", "2"):
        raise DataError(place, "verdict", f"expected 1, 2, 0 or {SKIPPED}, found '{given[:40]}'")
    won = (given == "1") == subject_first
    return Verdict.TIE if given == "0" else Verdict.WIN if won else Verdict.LOSS


def write_verdict(verdict: Verdict, *, question: bool, subject_first: bool) -> str:
    """A verdict for the subject's side as it is written on a sheet: what ``parse_verdict`` reads."""
    if verdict is Verdict.UNSCORED:
        return SKIPPED
    if question:
        return "yes" if verdict is Verdict.WIN else "no"
    if verdict is Verdict.TIE:
        return "0"
    return "1" if (verdict is Verdict.WIN) == subject_first else "2"


def read_ratings(
    files: Sequence[Path], people: PeopleFiles, episodes: RecordFile[Any], *, replace: bool = False
) -> list[PersonRating]:
    """Ratings of whole episodes: columns ``episode``, ``rating`` (a number, higher is better) and, optionally, ``person``.

    Raises DataError as ``read_verdicts`` does.
    """

    def read(file: Path) -> Iterator[tuple[str, PersonRating]]:
        for row in _read_rows(file, "episode", "rating", lambda name, place: _find_episode(name, place, episodes)):
            try:
                rating = float(row.said)
            except ValueError:
                rating = math.nan
            if not math.isfinite(rating):
                raise DataError(row.place, "rating", f"expected a number, found '{row.said[:40]}'")
            yield row.place, PersonRating(id=row.id, episode=row.about, person=row.person, rating=rating)

    return _gather(files, "rating", read, people.ratings, replace)


def read_words(
    files: Sequence[Path], people: PeopleFiles, episodes: RecordFile[Any], *, replace: bool = False
) -> list[PersonWord]:
    """One word on each episode: columns ``episode``, ``word`` and, optionally, ``person``.

    Raises DataError as ``read_verdicts`` does.
    """

    def read(file: Path) -> Iterator[tuple[str, PersonWord]]:
        for row in _read_rows(file, "episode", "word", lambda name, place: _find_episode(name, place, episodes)):
            word = " ".join(find_words(row.said))
            if not word or " " in word:
                raise DataError(row.place, "word", f"expected a single word, found '{row.said[:40]}'")
            yield row.place, PersonWord(id=row.id, episode=row.about, person=row.person, word=word)

    return _gather(files, "word", read, people.words, replace)


def _find_episode(name: str, place: str, episodes: RecordFile[Any]) -> str:
    episode = name if name in episodes else f"{name}#0"
    if episode != name and f"{name}#1" in episodes:
        raise DataError(place, "episode", f"'{name[:80]}' was run several times; write {name[:80]}#0, #1, …")
    if episode not in episodes:
        raise DataError(place, "episode", f"this run has no episode '{name[:80]}'")
    return episode


@dataclass(frozen=True, slots=True)
class _Row:
    """A row in which a person said something."""

    place: str
    about: str
    """The item, or the episode."""
    person: str
    said: str
    comment: str
    seconds: float | None

    @property
    def id(self) -> str:
        return f"{self.about}|{self.person}"


def _read_rows(file: Path, about: str, column: str, find: Callable[[str, str], str], unnamed: Collection[str] = ()) -> list[_Row]:
    """The rows of one file; in each ``column`` is filled in. Files called "sheet", or as those ``unnamed``, name nobody."""
    found, empty = [], []
    for place, row in read_rows(file, (about, column), _BESIDES):
        said, name = row[column].strip(), row[about].strip()
        if not name and not said:
            continue  # Spreadsheets save empty rows at the end.
        name = find(name, place)
        if not said:
            empty.append(place.removeprefix(f"{file}, "))
            continue
        person = row.get("person", "").strip()
        if not person and file.stem.casefold() in ("sheet", *unnamed):
            remedy = "Fill in who it was, or give the file the person's name"
            raise DataError(place, "person", f"is empty, and '{file.stem}' is the name of the sheet. {remedy}")
        found.append(_Row(place, name, person or file.stem, said, row.get("comment", "").strip(), _read_seconds(row, place)))
    if all(row.said.lower() == SKIPPED for row in found):
        hint = ": 1, 2 or 0 for pairs, yes or no for questions" if column == "verdict" else ""
        raise InputError(f"{file}: no {column} in it. Fill in the column '{column}'{hint}.")
    if empty:
        lines = ", ".join(empty[:MOST_LINES]) + (f" and {len(empty) - MOST_LINES} more" if len(empty) > MOST_LINES else "")
        skip = f"Write {SKIPPED} where it cannot be decided, or take" if column == "verdict" else "Take"
        raise DataError(f"{file}, {lines}", column, f"is empty. {skip} the row out if nobody has looked at it")
    return found


def _read_seconds(row: Mapping[str, str], place: str) -> float | None:
    given = row.get("seconds", "").strip()
    if not given:
        return None
    try:
        seconds = float(given)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise DataError(place, "seconds", f"expected a number of seconds, or nothing, found '{given[:40]}'")
    return seconds


def _gather(
    files: Sequence[Path], noun: str, read: Callable[[Path], Iterable[tuple[str, P]]], kept: RecordFile[P], replace: bool
) -> list[P]:
    """What people said in all files together. Raises DataError where one would take another's place, or that of one ``kept``."""
    found: dict[str, P] = {}
    places: dict[str, tuple[Path, str]] = {}
    persons = {each.person for each in kept}
    for file in files:
        for place, given in read(file):
            who, about = f"'{given.person}'", f"'{given.id.removesuffix(f'|{given.person}')}'"
            if given.person not in persons:
                if alike := next((each for each in persons if _fold(each) == _fold(given.person)), None):
                    remedy = "Write the name of one person in one way; to that of another, add something"
                    raise DataError(place, "person", f"{who} or '{alike}', as elsewhere? {remedy}")
                persons.add(given.person)
            if given.id in found:
                other, where = places[given.id]
                if other != file:
                    remedy = "Fill in the column 'person', or give the files different names"
                    raise DataError(place, "person", f"{about} has a {noun} by the same person, {who}, in {where}. {remedy}")
                if not _say_the_same(given, found[given.id]):
                    remedy = "Keep the one that holds, or name both people in the column 'person'"
                    raise DataError(place, noun, f"{who} has two {noun}s on {about} in this file, see {where}. {remedy}")
            before = kept.find(given.id)
            if before and not replace and not _say_the_same(given, before):
                remedy = "--replace puts this one in its place; if it is another person's, fill in the column 'person'"
                raise DataError(place, noun, f"{who} gave another {noun} on {about} before. {remedy}")
            found[given.id], places[given.id] = given, (file, place)
    return list(found.values())


def _fold(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def _say_the_same(one: BaseModel, other: BaseModel) -> bool:
    return one.model_dump(exclude={"comment", "seconds"}) == other.model_dump(exclude={"comment", "seconds"})
