"""Runs opened to be looked at: their records one at a time, without the whole being read, and the study where there is one.

What only needs the records works for a run of any benchmark and any version; what the benchmark shows of an episode needs its
study, which is kept for the next page.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cachetools import LRUCache
from pydantic import BaseModel, ConfigDict, ValidationError

from sociable.api.results import load_result
from sociable.core.errors import InputError, RunFolderError
from sociable.core.run_folder import RecordFile, RunFolder
from sociable.core.view import Block, Case
from sociable.engine.registry import find_benchmark
from sociable.engine.result import RunRecords, RunResult
from sociable.engine.seats import Role
from sociable.models.journal import Call, Journal
from sociable.studio.folders import stamp_file

RUNS_KEPT = 4
MOST_CALLS_TRACED = 400
"""Calls of an episode among which what was said is looked for; an episode of a town has thousands, and no turns."""


class AnyRecord(BaseModel):
    """A record of any benchmark, unchecked."""

    model_config = ConfigDict(extra="allow")

    id: str

    def to_dict(self) -> dict[str, Any]:
        return self.model_dump(mode="json")


class _Usage(BaseModel):
    calls: int
    input_tokens: int
    output_tokens: int


class _Manifest(BaseModel):
    """What pages print of a manifest, of any version."""

    benchmark: str
    version: str
    models: dict[str, str | list[str] | None]
    created: str
    episodes: int
    settings: dict[str, Any]
    digests: dict[str, str]
    usage: dict[str, _Usage] = {}
    cost: dict[str, float] = {}
    failures: dict[str, int] = {}


def read_manifest(path: Path) -> dict[str, Any]:
    """The manifest of a run. Raises RunFolderError where there is none, or one of another layout."""
    manifest = RunFolder.open(path, lock=False).read_manifest()
    try:
        _Manifest.model_validate(manifest)
    except ValidationError as error:
        place = ".".join(map(str, error.errors()[0]["loc"]))
        problem = f"{path / 'manifest.json'}, '{place}': {error.errors()[0]['msg']}. Restore it from a copy."
        raise RunFolderError(problem) from None
    return manifest


@dataclass(frozen=True)
class OpenedRun:
    """A run that is looked at."""

    path: Path
    manifest: Mapping[str, Any]
    episodes: RecordFile[AnyRecord]
    judgments: RecordFile[AnyRecord]

    def list_judgments(self, episode: str) -> Iterator[dict[str, Any]]:
        """All opinions that judges ever gave on an episode; those that are damaged are left out."""
        for identifier in self.judgments.list_ids():
            # Their ids begin with the episode's, which may itself be the beginning of another's.
            if identifier.startswith(f"{episode}|"):
                record = self.judgments.read(identifier).to_dict()
                if record.get("episode") == episode:
                    yield record

    def count_calls(self, episode: str) -> int:
        """The number of calls that were made for an episode; 0 where no journal was kept."""
        if not self._journal.exists():
            return 0
        with Journal(self._journal, replay_only=True) as journal:
            return journal.count_calls(episode)

    def list_calls(self, episode: str, first: int, count: int) -> list[Call]:
        """Some calls that were made for an episode, in the order in which they were answered."""
        if not self._journal.exists():
            return []
        with Journal(self._journal, replay_only=True) as journal:
            return list(journal.list_calls(episode, first, count))

    @property
    def _journal(self) -> Path:
        return self.path / "calls.sqlite"


Stamps = tuple[list[int] | None, ...]
"""What changes when a file of a run does."""

_FILES = ("manifest.json", "episodes.jsonl", "judgments.jsonl", "measurements.jsonl", "references.jsonl")

_opened: LRUCache[Path, tuple[Stamps, OpenedRun]] = LRUCache(RUNS_KEPT)
_studied: LRUCache[Path, tuple[Stamps, RunResult]] = LRUCache(RUNS_KEPT)
_lock = threading.Lock()


def _stamp(path: Path) -> Stamps:
    return tuple(stamp_file(path / name) for name in _FILES)


def open_to_look(path: Path) -> OpenedRun:
    """The run in a folder. Raises RunFolderError where it has no manifest, or one of another layout."""
    stamps = _stamp(path)
    with _lock:
        known = _opened.get(path)
    if known and known[0] == stamps:
        return known[1]
    manifest = read_manifest(path)
    files = (RecordFile(path / f"{name}.jsonl", AnyRecord, lenient=True) for name in ("episodes", "judgments"))
    run = OpenedRun(path, manifest, *files)
    with _lock:
        _opened[path] = (stamps, run)
    return run


def load_study_of(path: Path) -> RunResult:
    """A run with its study, as reports see it, without scores. Raises InputError where benchmark or data are others by now."""
    stamps = _stamp(path)
    with _lock:
        known = _studied.get(path)
    if known and known[0] == stamps:
        return known[1]
    if known and known[0][0] == stamps[0]:
        # The manifest is as it was, so the study is; the run has gone on.
        result = replace(known[1], records=RunRecords.open(path, known[1].study, lenient=True))
    else:
        result = load_result(path, scored=False, lenient=True)
    with _lock:
        _studied[path] = (stamps, result)
    return result


def show_episode(path: Path, episode: str) -> list[Block]:
    """What the benchmark shows of an episode. Raises InputError where it cannot, and says why."""
    result = load_study_of(path)
    found = result.records.episodes.find(episode)
    if found is None:
        raise InputError(f"{path} has no episode '{episode}'.")
    if found.scenario not in result.study.scenarios:
        raise InputError(f"The data of {path} no longer hold the scenario '{found.scenario}'.")
    blocks = find_benchmark(result.manifest["benchmark"]).load_views().show_episode(result, found)
    return [inner for block in blocks for inner in (block.blocks if isinstance(block, Case) else [block])]


@dataclass(frozen=True, slots=True)
class HeardTurn:
    """One turn with who heard it."""

    number: int
    speaker: str
    addressees: Sequence[str]
    heard_by: Sequence[str]
    """The hearers that the record names; empty: it names none."""
    sent_to: Sequence[str]
    """Those who were sent these words in a call, as the journal has it."""
    content: str
    thinking: str
    note: str


SHORTEST_TRACED = 12
"""Characters of a turn that is looked for in calls: shorter ones stand in many texts."""


def list_turns(record: Mapping[str, Any], calls: Sequence[Call]) -> list[HeardTurn]:
    """The turns of an episode with who heard each: as the record says, and as the calls show."""
    # The longest call of each holds whatever it was sent before.
    by_length = sorted((call for call in calls if call.role != Role.JUDGE), key=lambda call: len(str(call.request)))
    texts = {call.participant.partition("|")[0]: _join_sent(call) for call in by_length}
    turns = list_dicts(record.get("turns"))
    return [_make_turn(turn, number, texts) for number, turn in enumerate(turns, start=1)]


def list_dicts(value: object) -> list[dict[str, Any]]:
    """The records in a list of a record; none where it is no list."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _list_names(value: object) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else []


def _join_sent(call: Call) -> str:
    """All that was sent in a call but what the receiver said itself."""
    messages: Any = call.request.get("messages", ())
    return "\n".join(str(message.get("content", "")) for message in messages if message.get("role") != "assistant")


def _make_turn(turn: Mapping[str, Any], number: int, texts: Mapping[str, str]) -> HeardTurn:
    content, speaker = str(turn.get("content", "")), str(turn.get("speaker", ""))
    addressees = _list_names(turn.get("addressees"))
    heard = turn.get("heard_by")
    if heard is None and turn.get("is_aside"):
        heard = addressees
    traced = len(content) >= SHORTEST_TRACED
    return HeardTurn(
        number,
        speaker,
        addressees,
        _list_names(heard),
        [name for name, text in texts.items() if traced and name != speaker and content in text],
        content,
        str(turn.get("thinking", "")),
        str(turn.get("note", "")),
    )
