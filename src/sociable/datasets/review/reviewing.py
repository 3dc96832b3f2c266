"""People review what a construction has made: keep, fix or drop, with tags, several people an item, nobody seeing another's.

    dataset.jsonl  review/settings.json  review/decisions.jsonl
        →  dataset.reviewed.jsonl  review/dropped.jsonl  review/outcomes.json

As in AgentSense (section 3.5 and appendix A.3): each item is looked at by three people, what two of them agree on stands,
and what they do not agree on goes to a second group. Nothing here knows a terminal.

Differs from the paper: there each tag was voted on, here what is to be done with the item, and tags say why. Whether the
second group looks again at all that the first found invalid, as there, is a setting (``dropped_again``).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import filelock
from pydantic import ValidationError

from sociable.core.data_files import make_data_error, read_records
from sociable.core.errors import DataError, InputError, StorageFailure
from sociable.core.records import storable
from sociable.core.run_folder import RecordFile, write_atomically
from sociable.core.seeding import derive_seed
from sociable.datasets.build import build_manifest
from sociable.datasets.card import write_cards
from sociable.datasets.review.items import ReviewItem, load_items_of, record_digest
from sociable.datasets.review.outcomes import SETTLED, Outcome, State, of_first_group, settle
from sociable.datasets.review.records import PAPER_TAGS, Choice, Decision, Group, ReviewSettings, Tag

REVIEWED = "dataset.reviewed.jsonl"

LONGEST_NAME = 80

LOCK_SECONDS = 10.0
"""How long to wait for another reviewer's decision to be written."""


class Review:
    """The review of one folder. Several people may work in it at once, each in a process of their own."""

    def __init__(self, folder: Path, settings: ReviewSettings, items: Mapping[str, ReviewItem]) -> None:
        self.folder = folder
        self.check: Callable[[Mapping[str, Any]], None] = lambda _record: None
        """Raises InputError for a record that what the data are for cannot read: no fix may come to such."""
        self.settings = settings
        self.items = items
        """By id, in the order of the data set."""

    @classmethod
    def begin(cls, folder: Path, **asked: Any) -> Review:
        """Opens the review of ``folder`` to take part in it; its settings, those ``asked`` for, are fixed by the first decision.

        Raises InputError where there is no such data set, or where it was begun with other settings.
        """
        items = load_items_of(folder)
        own = folder / "review"
        try:
            own.mkdir(exist_ok=True)
        except OSError as error:
            raise InputError(
                f"{own} cannot be made: {error}. Make {folder} writable, or copy it to a place of your own."
            ) from None
        with _locked(own):
            settings = _read_settings(own / "settings.json")
            if settings is None or not (own / "decisions.jsonl").exists():
                tags = {"tags": PAPER_TAGS.get((build_manifest(folder) or {}).get("benchmark", ""), PAPER_TAGS[""])}
                settings = ReviewSettings(**{**tags, **(dict(settings) if settings else {}), **asked})
                write_atomically(own / "settings.json", settings.model_dump_json(indent=2) + "\n")
        for name, value in asked.items():
            if getattr(settings, name) != value:
                shown = f" {getattr(settings, name)}" if name != "tags" else ""
                raise InputError(
                    f"The review in {own} was begun with another --{name.replace('_', '-')}{shown}. It is the same for all "
                    "reviewers: leave the option out, or review a copy of the data set in another folder."
                )
        return cls(folder, settings, items)

    @classmethod
    def open(cls, folder: Path) -> Review:
        """Opens a review that was begun, to see or to apply what came of it. Raises InputError."""
        items = load_items_of(folder)
        settings = _read_settings(folder / "review" / "settings.json")
        if settings is None:
            raise InputError(f"Nobody has begun to review {folder}. Begin with: sociable review {folder} --reviewer NAME")
        return cls(folder, settings, items)

    def decisions(self) -> list[Decision]:
        """All that stand, in the order in which they were made: not taken back, on an item that is still as it was shown."""
        return [each for each in self._made() if not self._outdated(each)]

    def outdated(self) -> int:
        """How many decisions are on items that have been changed or taken out of the data set since."""
        return sum(map(self._outdated, self._made()))

    def _made(self) -> Iterator[Decision]:
        return (each for each in self._file() if each.decision is not None)

    def _outdated(self, decision: Decision) -> bool:
        return decision.item not in self.items or self.items[decision.item].digest != decision.digest

    def by_item(self) -> dict[str, list[Decision]]:
        """The decisions that stand on each item, none where nobody has decided."""
        found: dict[str, list[Decision]] = {name: [] for name in self.items}
        for decision in self.decisions():
            found[decision.item].append(decision)
        return found

    def outcomes(self) -> dict[str, Outcome]:
        return {name: settle(self.items[name], own, self.settings) for name, own in self.by_item().items()}

    def check_reviewer(self, name: str, group: Group) -> None:
        """Raises InputError where this is no name, the name of somebody in the other group, or nearly somebody else's."""
        if not name.strip() or name != name.strip() or len(name) > LONGEST_NAME or not name.isprintable() or "|" in name:
            raise InputError(
                f"--reviewer takes a name of up to {LONGEST_NAME} printable characters without '|' or blanks around it."
            )
        for each in self._made():
            if each.reviewer == name and each.group != group:
                raise InputError(
                    f"{name} has decided in group {each.group}. The second group is of people who have not seen the items: "
                    f"leave --group {group} to others."
                )
            if each.reviewer != name and each.reviewer.casefold() == name.casefold():
                raise InputError(
                    f"There is a reviewer '{each.reviewer}'. If that is you, write the name so; if not, add to yours."
                )

    def open_items(self, reviewer: str, group: Group) -> list[ReviewItem]:
        """What there is to decide for somebody, in the order that is only theirs.

        Items that enough others have decided on are left out; and for the second group all that did not come to it.
        """
        enough = self.settings.panel if group == 1 else self.settings.second_panel
        found = []
        for name, decisions in self.by_item().items():
            own = [each for each in decisions if each.group == group]
            if any(each.reviewer == reviewer for each in decisions) or len(own) >= enough:
                continue
            first = [each for each in decisions if each.group == 1]
            if group == 1 or of_first_group(self.items[name], first, self.settings).state is State.SECOND:
                found.append(self.items[name])
        return sorted(found, key=lambda item: derive_seed(self.settings.seed, "review", reviewer, item.id))

    def decision(
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
        if fixed is not None and choice is not Choice.FIX:
            raise InputError(f"There is a fix, but the decision is '{choice}'.")
        if fixed is not None:
            self.check(fixed)
        if fixed is None and choice is Choice.FIX and group == 2:
            raise InputError("The second group's word is the last: a fix needs the fixed record.")
        return Decision(
            id=_decision_id(item.id, reviewer),
            item=item.id,
            digest=item.digest,
            reviewer=reviewer,
            group=group,
            decision=choice,
            tags=tuple(self.chosen_tags(tags)),
            note=storable(note.strip()),
            fixed=None if fixed is None else dict(fixed),
            seconds=None if seconds is None else round(seconds, 1),
            time=_now(),
        )

    def applied_before_last(self) -> bool:
        """Whether what was written of the review is older than its last decision."""
        written, decided = self.folder / REVIEWED, self.folder / "review" / "decisions.jsonl"
        return written.exists() and decided.exists() and written.stat().st_mtime < decided.stat().st_mtime

    def add(self, decisions: Iterable[Decision]) -> None:
        """Writes decisions down, in the place of earlier ones of the same people on the same items. Raises StorageFailure."""
        with _locked(self.folder / "review"):
            # Opened anew, since others may have added to it: what is behind the end it knows would be cut off.
            file = self._file()
            try:
                for each in decisions:
                    file.append(each)
            finally:
                file.close()

    def take_back(self, reviewer: str) -> ReviewItem | None:
        """Takes back the last decision of somebody that stands, and returns its item; None where there is none."""
        last = next((each for each in reversed(self.decisions()) if each.reviewer == reviewer), None)
        if last is None:
            return None
        nothing = {"decision": None, "tags": (), "note": "", "fixed": None, "seconds": None, "time": _now()}
        self.add([last.model_copy(update=nothing)])
        return self.items[last.item]

    def chosen_tags(self, given: Sequence[str]) -> list[str]:
        """Names of tags by name, number or unambiguous beginning, in the order of the list. Raises InputError."""
        chosen = {self._tag(each.strip()).name for each in given if each.strip()}
        tags = [tag for tag in self.settings.tags if tag.name in chosen]
        for question in {tag.question for tag in tags if tag.question}:
            both = [tag.name for tag in tags if tag.question == question]
            if len(both) > 1:
                raise InputError(f"{' and '.join(both)} exclude each other: give one on {question}.")
        return [tag.name for tag in tags]

    def _tag(self, given: str) -> Tag:
        tags = self.settings.tags
        exact = [tag for tag in tags if tag.name == given]
        if exact:
            return exact[0]
        if given.isdecimal() and 1 <= int(given) <= len(tags):
            return tags[int(given) - 1]
        meant = [tag for tag in tags if tag.name.casefold().startswith(given.casefold())]
        if len(meant) == 1:
            return meant[0]
        what = f"may be {', '.join(tag.name for tag in meant)}" if meant else f"is none of {', '.join(tag.name for tag in tags)}"
        raise InputError(f"The tag '{given[:40]}' {what}.")

    def _file(self) -> RecordFile[Decision]:
        remedy = "Mend that line, or remove it: its item is then asked about again."
        file = self.folder / "review" / "decisions.jsonl"
        return RecordFile(file, partial(Decision.model_validate_json, strict=False), lambda decision: decision.id, remedy)


def load_tags(file: Path) -> tuple[Tag, ...]:
    """Tags of one's own: JSON (a list) or JSON Lines with ``name``, ``means`` and, optionally, ``question``. Raises DataError."""
    tags: dict[str, Tag] = {}
    for raw in read_records(file, None):
        try:
            tag = Tag.model_validate(raw.value)
        except ValidationError as error:
            raise make_data_error(error, raw.place) from None
        if any(sign.isspace() or sign == "," for sign in tag.name) or tag.name.isdecimal() or tag.name in tags:
            raise DataError(raw.place, "name", f"'{tag.name[:40]}': expected one word, no number, that no other tag has")
        tags[tag.name] = tag
    if not tags:
        raise InputError(f"{file}: no tag in it. Expected objects with 'name' and 'means'.")
    return tuple(tags.values())


@dataclass(frozen=True, slots=True)
class Applied:
    """How many items became what, and where they are."""

    kept: int
    fixed: int
    dropped: int
    undecided: int
    file: Path


def apply_review(review: Review, *, anyway: bool = False) -> Applied:
    """Writes what came of a review: the reviewed data set, what was dropped and why, and who decided what.

    Raises InputError while there are undecided items; with ``anyway`` these are left out. Each file is replaced in one step,
    the data set last.
    """
    by_item, outcomes = review.by_item(), review.outcomes()
    states = [outcome.state for outcome in outcomes.values()]
    if not any(by_item.values()):
        raise InputError(f"Nobody has decided on anything yet. Begin with: sociable review {review.folder} --reviewer NAME")
    undecided = [state for state in states if state not in SETTLED]
    if undecided and not anyway:
        raise InputError(
            f"{len(undecided)} of {len(states)} items are undecided: {undecided.count(State.FIRST)} wait for the first group, "
            f"{undecided.count(State.SECOND)} for the second (--group 2), on {undecided.count(State.OPEN)} the second does not "
            "agree either. Have them decided, or leave them out with --anyway."
        )
    own = review.folder / "review"
    dropped = [
        _dropped(review.items[name], by_item[name], each) for name, each in outcomes.items() if each.state is State.DROPPED
    ]
    kept = [each.record for each in outcomes.values() if each.record is not None]
    write_atomically(own / "dropped.jsonl", _json_lines(dropped))
    write_atomically(own / "outcomes.json", json.dumps(_manifest(review, by_item, outcomes), indent=1, ensure_ascii=False) + "\n")
    write_atomically(review.folder / REVIEWED, _json_lines(kept))
    counts = [states.count(state) for state in SETTLED]
    if (manifest := build_manifest(review.folder)) is not None:
        people = len({each.reviewer for own in by_item.values() for each in own})
        done = f"{counts[0]} kept, {counts[1]} fixed, {counts[2]} dropped, {len(undecided)} undecided, by {people} people"
        write_cards(review.folder, manifest, REVIEWED, {"reviewed": done})
    return Applied(counts[0], counts[1], counts[2], len(undecided), review.folder / REVIEWED)


def _dropped(item: ReviewItem, decisions: Sequence[Decision], outcome: Outcome) -> dict[str, Any]:
    own = [each for each in decisions if each.group == outcome.group and each.decision is Choice.DROP]
    tags = sorted({tag for each in own for tag in each.tags})
    return {"id": item.id, "tags": tags, "reasons": [each.note for each in own if each.note], "record": item.record}


def _manifest(review: Review, by_item: Mapping[str, Sequence[Decision]], outcomes: Mapping[str, Outcome]) -> dict[str, Any]:
    """Who decided what, and what came of it."""
    told = ("reviewer", "group", "decision", "tags", "note", "seconds", "time")
    return {
        "made": _now(),
        "dataset": record_digest([item.digest for item in review.items.values()]),
        "settings": review.settings.model_dump(mode="json"),
        "counts": {state.value: sum(each.state is state for each in outcomes.values()) for state in State},
        "outdated decisions": review.outdated(),
        "items": [
            {
                "id": name,
                "state": outcome.state.value,
                "group": outcome.group,
                "reason": outcome.reason,
                "decisions": [
                    {**each.model_dump(mode="json", include=set(told)), "with a fix": each.fixed is not None}
                    for each in by_item[name]
                ],
            }
            for name, outcome in outcomes.items()
        ],
    }


def _json_lines(records: Iterable[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def _read_settings(file: Path) -> ReviewSettings | None:
    """None where nobody has begun. Raises DataError."""
    try:
        return ReviewSettings.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error}. Ask its owner.") from None
    except ValidationError as error:
        raise make_data_error(error, str(file)) from None


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Others wait their turn: a decision is written in milliseconds. Raises StorageFailure."""
    lock = filelock.FileLock(folder / ".lock")
    try:
        lock.acquire(timeout=LOCK_SECONDS)
    except filelock.Timeout:
        raise StorageFailure(f"{folder} is locked by another process. End that process; then try again.") from None
    except OSError as error:
        raise StorageFailure(f"Cannot lock {folder}: {error}. It must be writable; nothing in it was changed.") from error
    try:
        yield
    finally:
        lock.release()


def _decision_id(item: str, reviewer: str) -> str:
    return f"{item}|{reviewer}"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
