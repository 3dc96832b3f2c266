"""A recipe of one's own: cases for HSII out of the notes of a help desk, a table with one line for each case. No model writes."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from pydantic import Field, ValidationError

from sociable import InputError
from sociable.benchmarks.hsii.dataset import ASSISTANT, load_dataset
from sociable.datasets.recipe import Recipe, RecipeOptions
from sociable.datasets.stages import AnyStage, EachStage, Item, MadeRecord, Rejected, WholeStage, Writer


class DeskOptions(RecipeOptions):
    """Every field is an option of the command line."""

    shortest: int = Field(20, ge=1, description="Characters of an answer, at least.")


class Note(Item):
    """One line of the table: two people ask, the desk answers one of them."""

    scene: str
    first: str
    first_says: str
    second: str
    second_says: str
    answered: str
    answer: str


def read_notes(sources: Sequence[Path], options: DeskOptions) -> list[Note]:
    """The lines of a CSV file whose columns are the fields of ``Note``. Raises InputError."""
    (path,) = sources
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return [Note.model_validate(row) for row in csv.DictReader(file)]
    except (OSError, UnicodeDecodeError, ValidationError) as error:
        raise InputError(f"{path} is no table with the columns {', '.join(Note.model_fields)}: {error}") from None


async def check_answer(shortest: int, note: Note, writer: Writer) -> Sequence[Note]:
    """Hands a note on if its answer is for one of the two people, and long enough to be compared with."""
    if note.answered not in (note.first, note.second):
        raise Rejected("the answer is for nobody who asked", note.answered)
    if len(note.answer) < shortest:
        raise Rejected("the answer is too short", note.answer)
    return [note]


def find_repeated(notes: Sequence[Note]) -> Mapping[str, Rejected]:
    """The notes whose scene stands in an earlier note, by id."""
    first: dict[str, str] = {}
    return {note.id: Rejected("the same scene again") for note in notes if first.setdefault(note.scene, note.id) != note.id}


async def make_case(note: Note, writer: Writer) -> Sequence[MadeRecord]:
    """The case of a note: what both said, and the desk's answer as the golden response."""
    said = ((note.first, ASSISTANT, note.first_says), (note.second, ASSISTANT, note.second_says))
    *messages, golden = (
        {"role_from": speaker, "role_to": to, "content": words}
        for speaker, to, words in (*said, (ASSISTANT, note.answered, note.answer))
    )
    record = {
        "id": note.id,
        "dialogue": note.id,
        "topic": "help desk",
        "background": {"scene": note.scene, "characters": [note.first, note.second]},
        "messages": messages,
        "golden": golden,
        "why": "The desk answered this person first.",
    }
    return [MadeRecord(id=note.id, record=record)]


def plan_stages(notes: Sequence[Note], options: DeskOptions) -> Sequence[AnyStage]:
    return (
        EachStage("checked", "notes whose answer can be compared with", Note, partial(check_answer, options.shortest)),
        WholeStage("distinct", "one note for each scene", Note, find_repeated),
        EachStage("cases", "a case for each note", MadeRecord, make_case),
    )


RECIPE: Recipe[Note, DeskOptions, MadeRecord] = Recipe(
    name="desk",
    purpose="Cases for HSII out of the notes of a help desk. No model is needed.",
    material="notes",
    version="0.1.0",
    benchmark="hsii",
    load=load_dataset,
    sources="a table (.csv)",
    options=DeskOptions,
    read=read_notes,
    stages=plan_stages,
)
