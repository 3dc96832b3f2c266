"""People review what a construction has made: keep, fix or drop, with tags, several people an item, nobody seeing another's.

    dataset.jsonl  review/settings.json  review/decisions.jsonl
        →  dataset.reviewed.jsonl  review/dropped.jsonl  review/outcomes.json

As in AgentSense (section 3.5 and appendix A.3): each item is looked at by three people, what two of them agree on stands,
and what they do not agree on goes to a second group. Nothing here knows a terminal.

Differs from the paper: there each tag was voted on, here what is to be done with the item, and tags say why. Whether the
second group looks again at all that the first found invalid, as there, is a setting (``dropped_again``).
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import filelock
from pydantic import ValidationError

from sociable.core.data_files import make_data_error
from sociable.core.errors import DataError, InputError, StorageFailure
from sociable.core.records import make_storable
from sociable.core.run_folder import RecordFile, write_atomically
from sociable.core.seeding import derive_seed
from sociable.datasets.build import DATASET, format_json_lines, read_build_manifest
from sociable.datasets.recipe import Recipe, find_recipe_of
from sociable.datasets.review.items import ReviewItem, ReviewOutcome, load_review_items, settle
from sociable.datasets.review.records import ALL_TAGS, Choice, Decision, Group, ReviewSettings

LONGEST_NAME = 80

LOCK_SECONDS = 10.0
"""The time to wait for another reviewer's decision to be written."""


class Review:
    """The review of one folder. Several people may work in it at once, each in a process of their own."""

    def __init__(self, folder: Path) -> None:
        """Raises InputError where there is no such data set."""
        self.folder = folder
        self.items: Mapping[str, ReviewItem] = load_review_items(folder)
        """The items by id, in the order of the data set."""
        self._recipe: Recipe[Any, Any, Any] | None = find_recipe_of(read_build_manifest(folder))
        self._own = folder / "review"
        self.settings = self._read_settings() or ReviewSettings(tags=self._recipe.tags if self._recipe else ALL_TAGS)

    @classmethod
    def begin(cls, folder: Path, **asked: Any) -> Review:
        """Opens the review of ``folder`` to take part in it; its settings, those ``asked`` for, are fixed by the first decision.

        Raises InputError where there is no such data set, or where it was begun with other settings.
        """
        review = cls(folder)
        own = review._own
        try:
            own.mkdir(exist_ok=True)
        except OSError as error:
            raise InputError(
                f"{own} cannot be made: {error}. Make {folder} writable, or copy it to a place of your own."
            ) from None
        with _lock(own):
            review.settings = review._read_settings() or review.settings
            if not all((own / name).exists() for name in ("settings.json", "decisions.jsonl")):
                review.settings = ReviewSettings(**{**dict(review.settings), **asked})
                write_atomically(own / "settings.json", review.settings.model_dump_json(indent=2) + "\n")
        for name, value in asked.items():
            if getattr(review.settings, name) != value:
                shown = f" {getattr(review.settings, name)}" if name != "tags" else ""
                raise InputError(
                    f"The review in {own} was begun with another --{name.replace('_', '-')}{shown}. It is the same for all "
                    "reviewers: leave the option out, or review a copy of the data set in another folder."
                )
        return review

    @classmethod
    def open(cls, folder: Path) -> Review:
        """Opens a review that was begun, to see or to apply what came of it. Raises InputError."""
        review = cls(folder)
        if not (review._own / "settings.json").exists():
            raise InputError(f"Nobody has begun to review {folder}. Begin with: sociable review {folder} --reviewer NAME")
        return review

    def _read_settings(self) -> ReviewSettings | None:
        """The settings of this review; None where nobody has begun. Raises InputError."""
        file = self._own / "settings.json"
        try:
            return ReviewSettings.model_validate_json(file.read_bytes())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise InputError(f"{file}: cannot be read: {error}. Ask its owner.") from None
        except ValidationError as error:
            raise make_data_error(error, str(file)) from None

    def read_decisions(self) -> list[Decision]:
        """All decisions that stand, in their order: not taken back, and on an item that is still as it was shown."""
        return [each for each in self._read_made() if not self._is_outdated(each)]

    def count_outdated(self) -> int:
        """The number of decisions on items that have been changed or taken out of the data set since."""
        return sum(map(self._is_outdated, self._read_made()))

    def _read_made(self) -> Iterator[Decision]:
        return (each for each in self._open_decisions() if each.decision is not None)

    def _is_outdated(self, decision: Decision) -> bool:
        return decision.item not in self.items or self.items[decision.item].digest != decision.digest

    def sort_decisions(self) -> dict[str, list[Decision]]:
        """The decisions that stand on each item, none where nobody has decided."""
        found: dict[str, list[Decision]] = {name: [] for name in self.items}
        for decision in self.read_decisions():
            found[decision.item].append(decision)
        return found

    def settle_all(self) -> dict[str, ReviewOutcome]:
        """The outcome of the decisions that stand on each item."""
        return {name: settle(self.items[name], own, self.settings) for name, own in self.sort_decisions().items()}

    def check_reviewer(self, name: str, group: Group) -> None:
        """Raises InputError where this is no name, the name of somebody in the other group, or nearly somebody else's."""
        if not name.strip() or name != name.strip() or len(name) > LONGEST_NAME or not name.isprintable() or "|" in name:
            raise InputError(
                f"--reviewer takes a name of up to {LONGEST_NAME} printable characters without '|' or blanks around it."
            )
        for each in self._read_made():
            if each.reviewer == name and each.group != group:
                raise InputError(
                    f"{name} has decided in group {each.group}. The second group is of people who have not seen the items: "
                    f"leave --group {group} to others."
                )
            if each.reviewer != name and each.reviewer.casefold() == name.casefold():
                raise InputError(
                    f"There is a reviewer '{each.reviewer}'. If that is you, write the name so; if not, add to yours."
                )

    def find_open_items(self, reviewer: str, group: Group) -> list[ReviewItem]:
        """The items that somebody has to decide on, in an order that is only theirs.

        Items that enough others have decided on are left out; and for the second group all that did not come to it.
        """
        enough = self.settings.panel if group == 1 else self.settings.second_panel
        found = []
        for name, decisions in self.sort_decisions().items():
            is_closed = sum(each.group == group for each in decisions) >= enough
            if is_closed or any(each.reviewer == reviewer for each in decisions):
                continue
            if group == 1 or settle(self.items[name], decisions, self.settings).group == 2:
                found.append(self.items[name])
        return sorted(found, key=lambda item: derive_seed(self.settings.seed, "review", reviewer, item.id))

    def decide(
        self,
        item: ReviewItem,
        reviewer: str,
        group: Group,
        choice: Choice,
        *,
        tags: Sequence[str] = (),
        note: str = "",
        fixed: Mapping[str, Any] | None = None,
        seconds: float | None = None,
    ) -> Decision:
        """A decision that can be added. Raises InputError where its parts contradict one another."""
        if fixed is not None:
            if choice is not Choice.FIX:
                raise InputError(f"There is a fix, but the decision is '{choice}'.")
            self.check_layout(fixed)
        elif choice is Choice.FIX and group == 2:
            raise InputError("The second group's word is the last: a fix needs the fixed record.")
        return Decision(
            id=f"{item.id}|{reviewer}",
            item=item.id,
            digest=item.digest,
            reviewer=reviewer,
            group=group,
            decision=choice,
            tags=tuple(self.find_tags(tags)),
            note=make_storable(note.strip()),
            fixed=None if fixed is None else dict(fixed),
            seconds=None if seconds is None else round(seconds, 1),
            time=tell_time(),
        )

    def check_layout(self, record: Mapping[str, Any]) -> None:
        """Raises InputError for a record that the benchmark cannot read; where that is unknown, anything goes."""
        if self._recipe is None:
            return
        # Among the others: what must be unique or alike is so among all.
        records = [record if item.record["id"] == record["id"] else item.record for item in self.items.values()]
        with tempfile.TemporaryDirectory() as place:
            file = Path(place) / DATASET
            file.write_text(format_json_lines(records), encoding="utf-8")
            try:
                self._recipe.load(file)
            except DataError as error:
                raise InputError(f"The benchmark could not read it: field '{error.field}': {error.problem}.") from None

    def add(self, decisions: Iterable[Decision]) -> None:
        """Writes decisions down, in the place of earlier ones of the same people on the same items. Raises StorageFailure."""
        # Opened anew, since others may have added to it: what is behind the end it knows would be cut off.
        with _lock(self._own), closing(self._open_decisions()) as file:
            for each in decisions:
                file.append(each)

    def take_back(self, reviewer: str) -> ReviewItem | None:
        """Takes back the last decision of somebody that stands, and returns its item; None where there is none."""
        last = next((each for each in reversed(self.read_decisions()) if each.reviewer == reviewer), None)
        if last is None:
            return None
        nothing = {"decision": None, "tags": (), "note": "", "fixed": None, "seconds": None, "time": tell_time()}
        self.add([last.model_copy(update=nothing)])
        return self.items[last.item]

    def find_tags(self, given: Sequence[str]) -> list[str]:
        """Names of tags by name, number or unambiguous beginning, in the order of the list. Raises InputError."""
        chosen = {self._find_tag(each.strip()) for each in given if each.strip()}
        tags = [tag for tag in self.settings.tags if tag.name in chosen]
        for question in {tag.question for tag in tags if tag.question}:
            both = [tag.name for tag in tags if tag.question == question]
            if len(both) > 1:
                raise InputError(f"{' and '.join(both)} exclude each other: give one on {question}.")
        return [tag.name for tag in tags]

    def _find_tag(self, given: str) -> str:
        names = [tag.name for tag in self.settings.tags]
        if given in names:
            return given
        if given.isdecimal() and 1 <= int(given) <= len(names):
            return names[int(given) - 1]
        meant = [name for name in names if name.casefold().startswith(given.casefold())]
        if len(meant) != 1:
            what = f"may be {', '.join(meant)}" if meant else f"is none of {', '.join(names)}"
            raise InputError(f"The tag '{given[:40]}' {what}.")
        return meant[0]

    def _open_decisions(self) -> RecordFile[Decision]:
        remedy = "Mend that line, or remove it: its item is then asked about again."
        return RecordFile(self._own / "decisions.jsonl", Decision, remedy)


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Keeps others waiting for their turn: a decision is written in milliseconds. Raises StorageFailure."""
    try:
        lock = filelock.FileLock(folder / ".lock").acquire(timeout=LOCK_SECONDS)
    except filelock.Timeout:
        raise StorageFailure(f"{folder} is locked by another process. End that process; then try again.") from None
    except OSError as error:
        raise StorageFailure(f"Cannot lock {folder}: {error}. It must be writable; nothing in it was changed.") from error
    with lock:
        yield


def tell_time() -> str:
    """The time, in UTC and to the second, as ISO 8601 writes it."""
    return datetime.now(UTC).isoformat(timespec="seconds")
