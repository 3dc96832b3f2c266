"""The build folder: everything a construction needs to be resumed, reviewed and documented.

    manifest.json  calls.sqlite  1-articles.jsonl  2-scenes.jsonl  …  dataset.jsonl  sources.jsonl

Each stage has a file with a line for every item that came in: what was made of it, or why nothing was. A build that was
stopped goes on where it was, and buys no reply twice. Whoever edits what a stage made has the stages after it work on it anew.
One process at a time works in a folder.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from sociable.core.errors import ContextLengthExceeded, InputError, RunFolderError
from sociable.core.run_folder import RecordFile, RunFolder, write_atomically
from sociable.datasets.stages import EachStage, Outcome, Rejected, Stage, WholeStage, Writer, items_of
from sociable.engine.phases import Progress, run_phase
from sociable.models.journal import Journal, JournalledModel
from sociable.models.limits import Budget
from sociable.models.protocol import Model, Sampling, Scope

DATASET = "dataset.jsonl"
"""What a build is made for."""
SOURCES = "sources.jsonl"
"""Where its records are from, where the sources have titles or addresses."""

Watch = Callable[[Progress, Budget], None]


@dataclass(frozen=True)
class Recipe:
    """How a data set is built: from sources, by stages."""

    name: str
    version: str
    benchmark: str
    """Which takes what comes out."""
    use: str
    """The command that takes it, with ``{data}`` for the file."""
    audit: str
    """The command that says whether a shortcut solves it, or nothing."""
    stages: Sequence[Stage[Any, Any]]
    settings: Mapping[str, Any]
    """All that the outcome depends on beside sources, prompts and model, as plain values."""
    digests: Mapping[str, str]
    """Of sources and prompts."""
    record: Callable[[Any], dict[str, Any]]
    """An item of the last stage as a record of the data set."""
    source: Callable[[Any], str] = lambda _item: ""
    """Of an item of the last stage, where it is from: for those to whom credit is due."""
    facts: Callable[[Sequence[Any]], Mapping[str, str]] = lambda _items: {}
    """What the data card says of the items of the last stage."""


@dataclass(frozen=True)
class Counted:
    """What came into a stage and what became of it."""

    stage: str
    meaning: str
    asks: bool
    """Whether a model was needed."""
    came: int
    made: int
    rejected: Mapping[str, int]
    """By reason."""
    left_out: Mapping[str, int]
    """Parts of items that stayed, by reason."""


@dataclass
class Build:
    """An opened build folder."""

    folder: RunFolder
    recipe: Recipe
    model: Model | None
    sampling: Sampling
    budget: Budget
    at_once: int = 8
    give_up: bool = False
    """Whether an item that cannot be worked on for want of a reply is rejected, in place of being tried again."""
    watch: Watch = field(default=lambda _progress, _budget: None)

    async def run(self, sources: Sequence[BaseModel]) -> list[Counted]:
        """Works through the stages, as far as it can without a model if there is none; what was done stays done.

        Raises RunStopped where it must end early, RunFailure where an item's failure is the run's: both can be resumed.
        """
        found: list[Counted] = []
        items: Sequence[BaseModel] = sources
        path = self.folder.path
        with Journal(path / "calls.sqlite") as journal:
            for name, role, usage in journal.bought():
                self.budget.book(name, role, usage)
                if self.model is not None and name != self.model.name:
                    raise RunFolderError(f"{path} was written by {name}. Go on with it, or choose another --out.")
            model = JournalledModel(self.model, journal, self.budget) if self.model is not None else None
            try:
                for number, stage in enumerate(self.recipe.stages, start=1):
                    file = outcome_file(path, number, stage)
                    try:
                        if not (stage.asks and model is None):
                            await self._work(stage, items, file, model)
                        elif {each.id: each.of for each in file} != _digests(stage, items):
                            # What was written stays, and nothing can be added.
                            break
                        found.append(counted(stage, file))
                        items = list(items_of(file, stage.makes, file.path))
                    finally:
                        file.close()
                else:
                    self._hand_over(items)
            finally:
                if model is not None:
                    await model.close()
                self._note(found)
        return found

    def _hand_over(self, items: Sequence[BaseModel]) -> None:
        """Writes the data set, and beside it where each record is from."""
        path = self.folder.path
        if twice := [name for name, count in Counter(map(_id, items)).items() if count > 1]:
            raise InputError(f"'{twice[0]}' was made twice; ids must be unique.")
        sources = [{"id": _id(item), "source": source} for item in items if (source := self.recipe.source(item))]
        for name, records in ((SOURCES, sources), (DATASET, [self.recipe.record(item) for item in items])):
            if records or name == DATASET:
                write_atomically(path / name, "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in records))
            else:
                (path / name).unlink(missing_ok=True)
        self._rewrite_manifest({"facts": dict(self.recipe.facts(items))})

    def _rewrite_manifest(self, changed: dict[str, Any]) -> None:
        kept = {name: value for name, value in self.folder.read_manifest().items() if name != "format"}
        self.folder.write_manifest(kept | changed)

    async def _work(
        self,
        stage: Stage[Any, Any],
        items: Sequence[BaseModel],
        file: RecordFile[Outcome],
        model: JournalledModel | None,
    ) -> None:
        came = _digests(stage, items)
        if len(came) < len(items):
            twice = Counter(map(_id, items)).most_common(1)[0][0]
            raise InputError(f"'{twice}' came into the stage {stage.name} twice; ids must be unique.")
        known = {outcome.id: outcome.of for outcome in file}
        if isinstance(stage, WholeStage):
            if known != came:
                kept = stage.select(items)
                for item in items:
                    file.append(_outcome(_id(item), kept.get(_id(item), (item,)), came))
        elif isinstance(stage, EachStage):
            pending = [item for item in items if known.get(_id(item)) != came[_id(item)]]
            progress = Progress(stage.name, len(pending), changed=lambda counts: self.watch(counts, self.budget))

            async def work(item: BaseModel) -> Outcome:
                writer = Writer(model, self.sampling, Scope(f"{stage.name}:{_id(item)}", "writer", model.name if model else ""))
                try:
                    made: Sequence[BaseModel] | Rejected = await stage.work(item, writer)
                except Rejected as rejected:
                    made = rejected
                except ContextLengthExceeded as error:
                    # It would be as long the next time.
                    made = Rejected("longer than the model can read", str(error)[:200])
                found = {"usage": writer.scope.usage, "left_out": dict(writer.left_out)}
                return _outcome(_id(item), made, came).model_copy(update=found)

            def failed(item: BaseModel, reason: str) -> Outcome | None:
                # Not recorded, it is tried again when the build is resumed.
                return _outcome(_id(item), Rejected("no reply", reason[:200]), came) if self.give_up else None

            await run_phase(pending, work, failed, file, self.budget, progress, at_once=self.at_once)
            if progress.failures and not self.give_up:
                reason, count = progress.failures.most_common(1)[0]
                raise BuildUnfinished(
                    f"{sum(progress.failures.values())} items could not be worked on; of {count}, {reason}. Build again to "
                    "try again, or with --give-up to go on without them."
                )
        file.arrange(list(came), only=True)

    def _note(self, found: Sequence[Counted]) -> None:
        manifest = self.folder.read_manifest()
        stages = [
            {
                "name": each.stage,
                "meaning": each.meaning,
                "asks": each.asks,
                "came": each.came,
                "made": each.made,
                "rejected": dict(each.rejected),
                "left_out": dict(each.left_out),
            }
            for each in found
        ]
        # Whoever asks again without a model comes less far, and takes nothing back.
        spent = {
            "usage": {role: usage.model_dump() for role, usage in sorted(self.budget.usage.items())},
            "cost": {role: round(cost, 6) for role, cost in sorted(self.budget.cost.items())},
        }
        # Without a model no price is known.
        self._rewrite_manifest({"stages": stages + manifest["stages"][len(stages) :]} | (spent if self.model is not None else {}))


class BuildUnfinished(RunFolderError):
    """Some items could not be worked on; the build can be resumed."""


LICENCE = "that of its sources"
"""In a data card, where nothing else is said."""


def begin(path: Path, recipe: Recipe, model: str | None, sampling: Sampling, licence: str | None = None) -> RunFolder:
    """A new build folder, or one that was begun in the same way. Raises RunFolderError naming what differs.

    The ``licence`` stays what it was where none is given.
    """
    asked = {
        "recipe": recipe.name,
        "version": recipe.version,
        "benchmark": recipe.benchmark,
        "settings": dict(recipe.settings),
        "digests": dict(recipe.digests),
    }
    writer = {"model": model, "sampling": asdict(sampling)}
    if not (path / "manifest.json").exists():
        if path.is_dir() and (there := sorted(each.name for each in path.iterdir() if not each.name.startswith("."))):
            raise RunFolderError(f"{path} holds {there[0]} already, and is no build. Choose a new folder with --out.")
        folder = RunFolder.create(path)
        made = {"created": datetime.now(UTC).isoformat(timespec="seconds"), "packages": _packages(), "stages": []}
        said = {"use": recipe.use, "audit": recipe.audit, "licence": licence or LICENCE, "writer": writer if model else None}
        folder.write_manifest({"kind": "build", **asked, **said, **made})
        return folder
    folder = RunFolder.open(path)
    try:
        manifest = build_manifest(path)
        if manifest is None:
            raise RunFolderError(f"{path} is no build. Choose another --out.")
        known = json.loads(json.dumps(asked))
        if different := _differences(manifest, known):
            raise RunFolderError(
                f"{path} was begun in another way: {'; '.join(different)}. Give what it was begun with, or another --out."
            )
        changed: dict[str, Any] = {"licence": licence} if licence else {}
        if not _written_in(path):
            # Whoever is named now writes.
            changed["writer"] = writer if model else None
        elif model is not None and manifest["writer"] != writer:
            raise RunFolderError(
                f"{path} was written by {manifest['writer']['model']}, or with other settings. Go on in that way, or choose "
                "another --out."
            )
        folder.write_manifest({key: value for key, value in manifest.items() if key != "format"} | changed)
    except BaseException:
        folder.close()
        raise
    return folder


def build_manifest(path: Path) -> dict[str, Any] | None:
    """Of the build in a folder; None where it holds none. Raises RunFolderError where it cannot be read."""
    if not (path / "manifest.json").is_file():
        return None
    with RunFolder.open(path, lock=False) as folder:
        manifest = folder.read_manifest()
    if manifest.get("kind") != "build":
        return None
    if lacking := {"audit", "licence", "use"} - manifest.keys():
        raise RunFolderError(f"{path} was built by an earlier version (no {min(lacking)}). Build it anew, in another folder.")
    return manifest


def _written_in(path: Path) -> bool:
    """Whether a model has written anything, even in a build that was killed."""
    if not (path / "calls.sqlite").exists():
        return False
    with Journal(path / "calls.sqlite") as journal:
        return any(journal.bought())


def _differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """In words. Of digests only that they differ can be told."""
    found = [f"{name} ({before.get(name)} and {now[name]})" for name in ("recipe", "version") if before.get(name) != now[name]]
    for part, said in (("settings", "{name} ({old} and {new})"), ("digests", "other {name}")):
        one, other = before.get(part, {}), now[part]
        names = [name for name in sorted({*one, *other}) if one.get(name) != other.get(name)]
        found += [said.format(name=name, old=one.get(name), new=other.get(name)) for name in names]
    return found


def outcome_file(path: Path, number: int, stage: Stage[Any, Any]) -> RecordFile[Outcome]:
    remedy = "Remove that line and build again: what it held is made anew, and what a model wrote for it comes from the journal."
    return RecordFile(path / f"{number}-{stage.name}.jsonl", Outcome.model_validate_json, lambda outcome: outcome.id, remedy)


def counted(stage: Stage[Any, Any], outcomes: RecordFile[Outcome]) -> Counted:
    reasons: Counter[str] = Counter()
    left_out: Counter[str] = Counter()
    made = came = 0
    for outcome in outcomes:
        came += 1
        made += len(outcome.made)
        if outcome.rejected:
            reasons[outcome.rejected] += 1
        left_out.update(outcome.left_out)
    return Counted(stage.name, stage.meaning, stage.asks, came, made, dict(reasons.most_common()), dict(left_out.most_common()))


def digest_of(items: Sequence[BaseModel]) -> str:
    return hashlib.sha256("\n".join(each.model_dump_json() for each in items).encode("utf-8", "replace")).hexdigest()


def _packages() -> dict[str, str]:
    return {name: metadata.version(name) for name in ("sociable", "pydantic", "scikit-learn")} | {
        "python": platform.python_version()
    }


def _digests(stage: Stage[Any, Any], items: Sequence[BaseModel]) -> dict[str, str]:
    """By id, of what each outcome depends on: the item, or all of them."""
    if isinstance(stage, WholeStage):
        return dict.fromkeys(map(_id, items), digest_of(items))
    return {_id(item): digest_of((item,)) for item in items}


def _id(item: BaseModel) -> str:
    return str(item.id)  # type: ignore[attr-defined]


def _outcome(identifier: str, made: Sequence[BaseModel] | Rejected, came: Mapping[str, str]) -> Outcome:
    if isinstance(made, Rejected):
        return Outcome(id=identifier, of=came[identifier], rejected=made.reason, detail=made.detail)
    return Outcome(id=identifier, of=came[identifier], made=tuple(each.model_dump(mode="json") for each in made))
