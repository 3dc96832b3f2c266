"""People's opinions on a run: sheets go out, verdicts, ratings and words come back."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from sociable.api.runs import load_result
from sociable.core.errors import InputError
from sociable.core.run_folder import RunFolder
from sociable.core.view import Document, Section, Table
from sociable.people.agreement import show_people
from sociable.people.sheets import PeopleFiles, draw_sheet, read_ratings, read_verdicts, read_words, write_sheet, write_word_sheet


def export_sheet(folder: str | Path, count: int, file: str | Path) -> int:
    """Writes a sheet of ``count`` judged pairs for people to judge, and notes in the run folder what was on it.

    The pairs are drawn by stage and by the judges' verdict, sides shuffled, judges hidden. Returns how many there are.
    Raises InputError when nothing has been judged.
    """
    finished = load_result(folder)
    with RunFolder.open(Path(folder)), PeopleFiles(Path(folder)) as people:
        items = draw_sheet(finished, count, finished.manifest["settings"]["seed"])
        if Path(file).exists():
            raise InputError(f"{file} is there already, and may hold verdicts. Name another file, or move it away.")
        if people.has_other_strata(items):
            raise InputError(
                f"{folder} has a sheet that was drawn when the judges had said otherwise; its weights would not fit. "
                "Judge with the same panel as then, or move sheets.jsonl and people.jsonl away to begin anew."
            )
        write_sheet(finished, items, Path(file))
        for item in (item for item in items if item.id not in people.sheets):
            people.sheets.append(item)
        return len(items)


def add_corrections(folder: str | Path, files: Sequence[str | Path]) -> Document:
    """Takes people's verdicts from sheets that were filled in, and shows what they say about judges and scores."""
    with RunFolder.open(Path(folder)), PeopleFiles(Path(folder)) as people:
        read = [read_verdicts(Path(file), people.sheets) for file in files]
        verdicts = list(chain.from_iterable(read))
        if len({verdict.id for verdict in verdicts}) < len(verdicts):
            raise InputError(
                "Two of these files are by the same person (told by the column 'person', or by the file's name). "
                "Fill in the column, or give the files different names."
            )
        for verdict in verdicts:
            people.verdicts.append(verdict)
    return make_people_document(folder)


def add_ratings(folder: str | Path, files: Sequence[str | Path]) -> Document:
    """Takes people's free ratings of episodes, and shows how each metric agrees with them in rank."""
    episodes = load_result(folder).records.episodes
    with RunFolder.open(Path(folder)), PeopleFiles(Path(folder)) as people:
        for rating in [each for file in files for each in read_ratings(Path(file), episodes)]:
            people.ratings.append(rating)
    return make_people_document(folder)


def export_word_sheet(folder: str | Path, file: str | Path) -> int:
    """Writes a sheet of episodes that went badly, for readers to say in one word what they felt. Returns how many."""
    finished = load_result(folder)
    return write_word_sheet(finished, Path(file), finished.manifest["settings"]["seed"])


def add_words(folder: str | Path, files: Sequence[str | Path]) -> Document:
    """Takes readers' one word on each episode, and counts them."""
    episodes = load_result(folder).records.episodes
    with RunFolder.open(Path(folder)), PeopleFiles(Path(folder)) as people:
        for word in [each for file in files for each in read_words(Path(file), episodes)]:
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
