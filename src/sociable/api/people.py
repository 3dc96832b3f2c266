"""People's opinions on a run: sheets go out, verdicts, ratings and words come back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sociable.api.results import load_result
from sociable.core.errors import InputError
from sociable.core.people_files import PeopleFiles
from sociable.core.run_folder import RunFolder
from sociable.core.view import Document, Section, Table
from sociable.engine.result import RunResult
from sociable.people.agreement import show_people
from sociable.people.pairs import list_strata
from sociable.people.planning import PlannedSheet, draw_planned_sheet
from sociable.people.reading import read_ratings, read_verdicts, read_words
from sociable.people.sampling import draw_sheet, has_other_strata
from sociable.people.sheets import require_free, write_sheet, write_word_sheet


def export_sheet(folder: str | Path, count: int, file: str | Path) -> int:
    """Writes a sheet of ``count`` judged pairs for people to judge, and notes in the run folder what was on it.

    The pairs are drawn by stage, by the judges' verdict and by whether they disagree, as evenly as those allow, from pairs that
    are on no sheet yet; sides are shuffled, judges hidden. Returns how many there are. Raises InputError when nothing has been
    judged, or all is on sheets.
    """
    return len(_export(folder, file, count, None).items)


def export_planned_sheet(folder: str | Path, precision: float, file: str | Path) -> PlannedSheet:
    """Writes a sheet of the pairs that people must judge for corrected scores to be known to ± ``precision``.

    Earlier sheets of the run count: only what is missing is drawn. Raises InputError when nothing is, or nothing has been judged.
    """
    return _export(folder, file, 0, precision)


def _export(folder: str | Path, file: str | Path, count: int, precision: float | None) -> PlannedSheet:
    finished = load_result(folder)
    with RunFolder.open(Path(folder)), PeopleFiles(Path(folder)) as people:
        require_free(Path(file), (".csv", ".jsonl"))
        drawn = draw_for_people(finished, people, count, precision)
        write_sheet(finished, drawn.items, Path(file))
        people.note_sheet(drawn.items, Path(file))
        return drawn


def draw_for_people(finished: RunResult, people: PeopleFiles, count: int, precision: float | None) -> PlannedSheet:
    """``count`` judged pairs that nobody was given yet, or as many as a ``precision`` needs. Raises InputError."""
    strata, seed = list_strata(finished), finished.manifest["settings"]["seed"]
    if has_other_strata(people, strata, tuple(seat.name for seat in finished.seats.judges)):
        raise InputError(
            f"{finished.folder} has a sheet that was drawn when the judges had said otherwise; its weights would not fit. "
            "Judge with the same panel as then, or move sheets.jsonl and people.jsonl away to begin anew."
        )
    if precision is not None:
        return draw_planned_sheet(finished, people, strata, precision, seed)
    return PlannedSheet(draw_sheet(finished, people, strata, count, seed), ())


def add_corrections(folder: str | Path, files: Sequence[str | Path], *, replace: bool = False) -> Document:
    """Takes people's verdicts from sheets that were filled in, and shows what they say about judges and scores.

    Nothing is kept unless all files can be read. With ``replace`` a person's new verdict takes the place of an earlier one.
    """
    with RunFolder.open(Path(folder)), PeopleFiles(Path(folder)) as people:
        for verdict in read_verdicts([Path(file) for file in files], people, replace=replace):
            people.verdicts.append(verdict)
    return make_people_document(folder)


def add_ratings(folder: str | Path, files: Sequence[str | Path], *, replace: bool = False) -> Document:
    """Takes people's free ratings of episodes, as ``add_corrections`` does; shows how each metric agrees with them in rank."""
    episodes = load_result(folder).records.episodes
    with RunFolder.open(Path(folder)), PeopleFiles(Path(folder)) as people:
        for rating in read_ratings([Path(file) for file in files], people, episodes, replace=replace):
            people.ratings.append(rating)
    return make_people_document(folder)


def export_word_sheet(folder: str | Path, file: str | Path) -> int:
    """Writes a sheet of episodes that went badly, for readers to say in one word what they felt. Returns how many."""
    finished = load_result(folder)
    return write_word_sheet(finished, Path(file), finished.manifest["settings"]["seed"])


def add_words(folder: str | Path, files: Sequence[str | Path], *, replace: bool = False) -> Document:
    """Takes readers' one word on each episode, as ``add_corrections`` does, and counts them."""
    episodes = load_result(folder).records.episodes
    with RunFolder.open(Path(folder)), PeopleFiles(Path(folder)) as people:
        for word in read_words([Path(file) for file in files], people, episodes, replace=replace):
            people.words.append(word)
    return make_people_document(folder)


def make_people_document(folder: str | Path) -> Document:
    """Returns the document on what people have said about a run."""
    finished = load_result(folder)
    with PeopleFiles(Path(folder)) as people:
        tables = [block for section in show_people(finished, people) for block in section.blocks]
        if not tables or not isinstance(tables[0], Table):
            raise InputError(f"Nobody has said anything about {folder} yet: see --export, --ratings and --words.")
        return Document("People and judges", f"{finished.label} ({folder})", tables[0], [Section("More", tables[1:])])
