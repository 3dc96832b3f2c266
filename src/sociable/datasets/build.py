"""The build folder: everything a construction needs to be resumed, reviewed and documented.

    manifest.json  calls.sqlite  1-articles.jsonl  2-scenes.jsonl  …  dataset.jsonl  sources.jsonl

Each stage has a file with a line for every item that came in: what was made of it, or why nothing was. A build that was
stopped goes on where it was, and buys no reply twice. Where somebody edits what a stage made, the stages after it work on it
anew. One process at a time works in a folder.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import platform
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

from sociable.core.data_files import validate_record
from sociable.core.errors import ContextLengthExceeded, DataError, InputError, RunFolderError
from sociable.core.records import Record
from sociable.core.run_folder import RecordFile, RunFolder, write_atomically
from sociable.core.spreading import Spread, work_here
from sociable.datasets.recipe import Plan, digest_items
from sociable.datasets.stages import AnyStage, EachStage, Item, Outcome, Rejected, SpreadStage, WholeStage, Writer
from sociable.engine.opening import Watch
from sociable.engine.phases import Progress, run_phase
from sociable.models.journal import Journal, JournalledModel
from sociable.models.limits import Budget
from sociable.models.protocol import Model, Sampling, Scope

T = TypeVar("T")
R = TypeVar("R")

DATASET = "dataset.jsonl"
"""The file that a build is made for."""
SOURCES = "sources.jsonl"
"""The file that says where records are from, if their sources have titles or addresses."""
LICENCE = "that of its sources"
"""The licence in a data card, where nothing else is said."""
REMEDY = "Remove that line and build again: what it held is made anew, and what a model wrote for it comes from the journal."
"""The advice to users about a line of a stage's file that cannot be read."""

WRITING = Sampling(temperature=1.0, max_tokens=4096)
"""The sampling unless the configuration says otherwise: what is written should not all sound alike."""


@dataclass(frozen=True)
class Writing:
    """The model that writes, and how it is asked."""

    model: Model | None = None
    """The model that writes; None: no model yet, and the build goes as far as it can."""
    sampling: Sampling = WRITING
    budget: Budget = field(default_factory=lambda: Budget({}))
    at_once: int = 8
    give_up: bool = False
    """Whether an item that gets no reply is rejected, in place of being tried again when the build goes on."""

    @property
    def in_manifest(self) -> dict[str, Any] | None:
        return {"model": self.model.name, "sampling": asdict(self.sampling)} if self.model else None


class StageCounts(Record):
    """Counts of what came into a stage and what became of it."""

    name: str
    meaning: str
    asks: bool
    """Whether a model was needed."""
    came: int
    made: int
    rejected: dict[str, int]
    """Items by reason, the most frequent first."""
    left_out: dict[str, int]
    """Parts of items that stayed, by reason."""


@dataclass(frozen=True)
class Build:
    """An opened build folder. ``open_build`` opens one."""

    folder: RunFolder
    plan: Plan
    writing: Writing
    watch: Watch
    spread: Spread = work_here

    async def run(self) -> list[StageCounts]:
        """Works through the stages, as far as it can without a model if there is none; what was done stays done.

        Raises RunStopped where it must end early, RunFailure where an item's failure is the run's: both can be resumed.
        """
        found: list[StageCounts] = []
        items = self.plan.items
        path, budget, writer = self.folder.path, self.writing.budget, self.writing.model
        with Journal(path / "calls.sqlite") as journal:
            for name, role, usage in journal.sum_usage():
                budget.book(name, role, usage)
                if writer is not None and name != writer.name:
                    raise RunFolderError(f"{path} was written by {name}. Go on with it, or choose another --out.")
            model = JournalledModel(writer, journal, budget) if writer is not None else None
            try:
                for number, stage in enumerate(self.plan.stages, start=1):
                    came = _digest_each(stage, items)
                    file = RecordFile(path / f"{number}-{stage.name}.jsonl", Outcome, REMEDY)
                    with contextlib.closing(file):
                        if model is not None or not stage.asks:
                            await self._work(stage, items, came, file, model)
                        elif {each.id: each.of for each in file} != came:
                            # What was written stays, and nothing can be added.
                            break
                        found.append(_count_outcomes(stage, file))
                        items = list(_read_made(stage, file, items))
                else:
                    self._hand_over(items)
            finally:
                if model is not None:
                    await model.close()
                self._note_progress(found)
        return found

    async def _work(
        self, stage: AnyStage, items: Sequence[Item], came: Mapping[str, str], file: RecordFile[Outcome], model: Model | None
    ) -> None:
        """Writes down the outcome of every item that has none yet, or has changed since, and drops those of other items."""
        writing = self.writing
        known = {outcome.id: outcome.of for outcome in file}
        pending = [item for item in items if known.get(item.id) != came[item.id]]
        if isinstance(stage, WholeStage | SpreadStage):
            # In a thread, so that Ctrl-C is heard meanwhile.
            rejected = await asyncio.to_thread(_decide, stage, items, self._spread_until_stopped) if pending else {}
            for item in pending:
                file.append(_make_outcome(item, came, rejected.get(item.id, (item,))))
        elif isinstance(stage, EachStage):

            def give_up(item: Item, reason: str) -> Outcome | None:
                # Not recorded, it is tried again when the build is resumed.
                return _make_outcome(item, came, Rejected("no reply", reason[:200])) if writing.give_up else None

            progress = Progress(stage.name, len(pending), changed=lambda counts: self.watch(counts, writing.budget))
            work = partial(self._work_on_item, stage, model, came)
            await run_phase(pending, work, give_up, file, writing.budget, progress, at_once=writing.at_once)
            if progress.failures and not writing.give_up:
                reason, count = progress.failures.most_common(1)[0]
                raise RunFolderError(
                    f"{progress.errored} items could not be worked on; of {count}, {reason}. Build again to try again, or with "
                    "--give-up to go on without them."
                )
        file.arrange(list(came), only=True)

    def _spread_until_stopped(self, function: Callable[[T], R], things: Iterable[T], /, *, on_gpu: bool = False) -> Iterator[R]:
        """The build's ``Spread``. Raises RunStopped where the build is stopped meanwhile."""
        for found in self.spread(function, things, on_gpu=on_gpu):
            self.writing.budget.check()
            yield found

    async def _work_on_item(
        self, stage: EachStage[Any, Any], model: Model | None, came: Mapping[str, str], item: Item
    ) -> Outcome:
        scope = Scope(f"{stage.name}:{item.id}", "writer", model.name if model else "")
        writer = Writer(model, self.writing.sampling, scope, self.plan.prompts)
        made: Sequence[Item] | Rejected
        try:
            made = await stage.work(item, writer)
        except Rejected as rejected:
            made = rejected
        except DataError as error:
            made = Rejected("not in the data's layout", f"{error.field}: {error.problem}")
        except ContextLengthExceeded as error:
            # It would be as long the next time.
            made = Rejected("longer than the model can read", str(error)[:200])
        return _make_outcome(item, came, made, left_out=dict(writer.left_out), usage=scope.usage)

    def _hand_over(self, items: Sequence[Item]) -> None:
        """Writes the data set, and beside it where each record is from."""
        path, recipe = self.folder.path, self.plan.recipe
        _check_unique(items)
        if credited := [{"id": item.id, "source": credit} for item in items if (credit := recipe.credit(item))]:
            write_atomically(path / SOURCES, format_json_lines(credited))
        else:
            (path / SOURCES).unlink(missing_ok=True)
        write_atomically(path / DATASET, format_json_lines(map(recipe.record, items)))
        _update_manifest(self.folder, facts=dict(recipe.facts(items)))

    def _note_progress(self, found: Sequence[StageCounts]) -> None:
        budget = self.writing.budget
        stages = [each.model_dump() for each in found]
        # A build that is asked for again without a model comes less far, and takes nothing back.
        _update_manifest(self.folder, stages=stages + self.folder.read_manifest()["stages"][len(stages) :])
        if self.writing.model is not None:
            # Without a model no price is known.
            usage = {role: usage.model_dump() for role, usage in sorted(budget.usage.items())}
            cost = {role: round(cost, 6) for role, cost in sorted(budget.cost.items())}
            _update_manifest(self.folder, usage=usage, cost=cost)


@contextlib.contextmanager
def open_build(
    path: Path,
    plan: Plan,
    writing: Writing,
    *,
    licence: str | None = None,
    watch: Watch | None = None,
    spread: Spread = work_here,
) -> Iterator[Build]:
    """A build in a new folder, or in one that was begun in the same way. Raises RunFolderError naming what differs.

    The ``licence`` stays what it was where none is given.
    """
    is_new = not (path / "manifest.json").exists()
    if is_new and path.is_dir() and (there := sorted(each.name for each in path.iterdir() if not each.name.startswith("."))):
        raise RunFolderError(f"{path} holds {there[0]} already, and is no build. Choose a new folder with --out.")
    recipe = plan.recipe
    asked = {
        "recipe": recipe.material,
        "version": recipe.version,
        "benchmark": recipe.benchmark,
        "settings": dict(plan.settings),
        "digests": dict(plan.digests),
    }
    with RunFolder.create(path) if is_new else RunFolder.open(path) as folder:
        if is_new:
            packages = {name: metadata.version(name) for name in ("sociable", "pydantic", "scikit-learn")}
            said = {"use": recipe.use, "audit": recipe.audit, "licence": licence or LICENCE, "writer": writing.in_manifest}
            made = {"created": datetime.now(UTC).isoformat(timespec="seconds"), "stages": []}
            packages["python"] = platform.python_version()
            folder.write_manifest({"kind": "build", **asked, **said, **made, "packages": packages})
        else:
            _check_same(path, asked, writing)
            if licence:
                _update_manifest(folder, licence=licence)
            if not _has_calls(path):
                # Who is named now writes.
                _update_manifest(folder, writer=writing.in_manifest)
        yield Build(folder, plan, writing, watch or (lambda _progress, _budget: None), spread)


def _check_same(path: Path, asked: Mapping[str, Any], writing: Writing) -> None:
    """Raises RunFolderError where a build was begun in another way."""
    manifest = read_build_manifest(path)
    if manifest is None:
        raise RunFolderError(f"{path} is no build. Choose another --out.")
    before, now = ({"recipe": each["recipe"], "version": each["version"], **each["settings"]} for each in (manifest, asked))
    different = [f"{name} ({before.get(name)} and {now.get(name)})" for name in _find_changes(before, now)]
    # What is behind a digest cannot be told.
    different += [f"other {name}" for name in _find_changes(manifest["digests"], asked["digests"])]
    if different:
        raise RunFolderError(
            f"{path} was begun in another way: {'; '.join(different)}. Give what it was begun with, or another --out."
        )
    if writing.model is not None and manifest["writer"] != writing.in_manifest and _has_calls(path):
        raise RunFolderError(
            f"{path} was written by {manifest['writer']['model']}, or with other settings. Go on in that way, or choose "
            "another --out."
        )


def _find_changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    return [name for name in sorted({*before, *now}) if before.get(name) != now.get(name)]


def read_build_manifest(path: Path) -> dict[str, Any] | None:
    """The manifest of the build in a folder; None where the folder holds none. Raises RunFolderError where it is unreadable."""
    if not (path / "manifest.json").is_file():
        return None
    with RunFolder.open(path, lock=False) as folder:
        manifest = folder.read_manifest()
    if manifest.get("kind") != "build":
        return None
    if lacking := {"audit", "licence", "use"} - manifest.keys():
        raise RunFolderError(f"{path} was built by an earlier version (no {min(lacking)}). Build it anew, in another folder.")
    return manifest


def _update_manifest(folder: RunFolder, **changed: Any) -> None:
    folder.write_manifest({**folder.read_manifest(), **changed})


def _has_calls(path: Path) -> bool:
    """Whether a model has written anything, even in a build that was killed."""
    if not (path / "calls.sqlite").exists():
        return False
    with Journal(path / "calls.sqlite") as journal:
        return any(journal.sum_usage())


def _read_made(stage: AnyStage, file: RecordFile[Outcome], came: Sequence[Item]) -> Iterator[Item]:
    """The items that a stage made. Raises RunFolderError where somebody has edited its file into something else."""
    known = {item.id: item for item in came}
    for outcome in file:
        for each in outcome.made:
            try:
                item: Item = validate_record(stage.makes, each, f"{file.path}, item '{outcome.id}'")
            except DataError as fault:
                raise RunFolderError(f"{fault}. Mend that line, or remove it: what it held is made anew.") from None
            # What was handed on as it came is held once.
            yield before if (before := known.get(item.id)) == item else item


def _count_outcomes(stage: AnyStage, file: RecordFile[Outcome]) -> StageCounts:
    came = made = 0
    rejected, left_out = Counter[str](), Counter[str]()
    for outcome in file:
        came, made = came + 1, made + len(outcome.made)
        rejected.update(filter(None, [outcome.rejected]))
        left_out.update(outcome.left_out)
    return StageCounts(
        name=stage.name,
        meaning=stage.meaning,
        asks=stage.asks,
        came=came,
        made=made,
        rejected=dict(rejected.most_common()),
        left_out=dict(left_out.most_common()),
    )


def _digest_each(stage: AnyStage, items: Sequence[Item]) -> dict[str, str]:
    """The digest, by id, of what each outcome depends on: the item, or all of them."""
    _check_unique(items)
    if isinstance(stage, WholeStage | SpreadStage):
        return dict.fromkeys((item.id for item in items), digest_items(items))
    return {item.id: digest_items((item,)) for item in items}


def _decide(stage: WholeStage[Any] | SpreadStage[Any], items: Sequence[Item], spread: Spread) -> Mapping[str, Rejected]:
    return stage.reject(items, spread) if isinstance(stage, SpreadStage) else stage.reject(items)


def _check_unique(items: Sequence[Item]) -> None:
    (name, count), *_ = [*Counter(item.id for item in items).most_common(1), ("", 0)]
    if count > 1:
        raise InputError(f"'{name}' was made twice; ids must be unique.")


def _make_outcome(item: Item, came: Mapping[str, str], made: Sequence[Item] | Rejected, **more: Any) -> Outcome:
    if isinstance(made, Rejected):
        return Outcome(id=item.id, of=came[item.id], rejected=made.reason, detail=made.detail, **more)
    return Outcome(id=item.id, of=came[item.id], made=tuple(each.model_dump(mode="json") for each in made), **more)


def format_json_lines(records: Iterable[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
