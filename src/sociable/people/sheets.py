"""Sheets for people to fill in: CSV as spreadsheets read it, or JSON Lines."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

from sociable.core.errors import InputError
from sociable.core.people_files import SheetItem
from sociable.core.records import Score, make_episode_id
from sociable.core.run_folder import write_atomically
from sociable.core.seeding import make_generator
from sociable.core.spreadsheets import render_csv
from sociable.engine.result import RunResult
from sociable.engine.study import ShownPair, ShownQuestion
from sociable.people.pairs import find_shown_item

PAIR_FIELDS = ("item", "stage", "situation", "addressee", "response_1", "response_2", "verdict", "comment", "person")
"""The columns of a sheet of pairs. ``verdict`` is to be filled in: 1 or 2 for the better response, 0 if neither is."""

QUESTION_FIELDS = ("item", "stage", "situation", "about", "conversation", "question", "verdict", "comment", "person")
"""The columns of a sheet of questions. ``verdict`` is to be filled in: yes or no."""

WORD_FIELDS = ("episode", "score", "read_it_with", "word", "person")
"""The columns of a sheet of episodes that went badly. ``word`` is to be filled in: what a reader felt, in one word."""
LOW = 0.5
"""The value of a benchmark's first metric below which an episode went badly."""
LOW_EPISODES = 20
"""The number that the paper had each of five people read."""


def require_free(file: Path, endings: Sequence[str]) -> None:
    """Raises InputError where a new sheet cannot be in this file: it is there, or a run's records are in such files."""
    if file.suffix not in endings:
        raise InputError(f"{file}: a sheet is a {' or a '.join(endings)} file.")
    if file.exists():
        raise InputError(f"{file} is there already, and may hold what people said. Name another file, or move it away.")
    if file.suffix == ".jsonl" and (file.parent / "manifest.json").exists():
        raise InputError(f"{file}: the run keeps its own records in .jsonl files there. Name a .csv file, or another folder.")


def write_sheet(run: RunResult, items: Sequence[SheetItem], file: Path) -> None:
    """Writes the sheet as CSV or as JSON Lines, by the ending of its name. Raises InputError as ``require_free`` does."""
    require_free(file, (".csv", ".jsonl"))
    rows = [make_row(item, require_shown(run, item)) for item in items]
    if file.suffix == ".jsonl":
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    else:
        text = render_csv(list(rows[0]), [list(row.values()) for row in rows])
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, text)


def require_shown(run: RunResult, item: SheetItem) -> ShownPair | ShownQuestion:
    """An item of a sheet as a person reads it."""
    shown = find_shown_item(run, run.records.episodes.read(item.episode), item.criterion)
    assert shown is not None
    return shown


def make_row(item: SheetItem, shown: ShownPair | ShownQuestion) -> dict[str, str]:
    """The row of one item, to be filled in."""
    fields: tuple[str, ...]
    if isinstance(shown, ShownQuestion):
        fields, texts = QUESTION_FIELDS, (shown.situation, shown.about, shown.conversation, shown.question)
    else:
        sides = (shown.subject, shown.golden) if item.subject_first else (shown.golden, shown.subject)
        fields, texts = PAIR_FIELDS, (shown.situation, shown.addressee, *sides)
    return dict(zip(fields, (item.id, item.counted_as, *texts, "", "", ""), strict=True))


def write_word_sheet(run: RunResult, file: Path, seed: int) -> int:
    """Writes a sheet of episodes that went badly, drawn by seed. Returns their number.

    Raises InputError where there are none, and as ``require_free`` does.
    """
    require_free(file, (".csv",))
    low = list_low_scores(run)
    drawn = make_generator(seed, "low").sample(low, min(LOW_EPISODES, len(low)))
    stream = io.StringIO(newline="")
    writer = csv.writer(stream)
    writer.writerow(WORD_FIELDS)
    for score in drawn:
        episode = make_episode_id(score.scenario, score.repeat)
        writer.writerow([episode, f"{score.value:.2f}", f"sociable show {run.folder} {episode}", "", ""])
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, stream.getvalue())
    return len(drawn)


def list_low_scores(run: RunResult) -> list[Score]:
    """The scores of the episodes that went badly. Raises InputError where there are none."""
    metric = run.study.low_metric
    if not metric:
        raise InputError(f"In {run.manifest['benchmark']} no episode goes well or badly by itself: there is no such sheet.")
    low = [score for score in run.scores if score.metric == metric and score.value is not None and score.value < LOW]
    if not low:
        raise InputError(f"{run.folder} has no episode with {metric} below {LOW}.")
    return low
