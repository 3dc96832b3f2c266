"""Several runs of one benchmark that belong together, in one folder: pairs of models, scenes with and without a person.

``series.json`` says which runs there are; each has a folder of its own beside it, and is a run like any other.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain, count, product
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sociable.agents.person import NAME as PERSON
from sociable.api.runs import folder_name, resume, run_settings, settings_for
from sociable.core.errors import InputError, RunFolderError
from sociable.core.run_folder import SERIES_FILE, write_atomically
from sociable.engine.benchmark import Benchmark
from sociable.engine.opening import Watch, open_study, with_absolute_paths
from sociable.engine.result import RunResult
from sociable.engine.settings import RunSettings, plain_name

WITH_PERSON, WITHOUT_PERSON = "with-person", "without-person"


def pairs(
    senders: Sequence[str], receivers: Sequence[str], settings: Callable[[str, str], RunSettings]
) -> dict[str, RunSettings]:
    """One run for every sender with every receiver: the first plays all senders of a scene, the second all receivers.

    ``settings`` are those of a pair, as (sender, receiver). Raises InputError.
    """
    for role, models in (("sender", senders), ("receiver", receivers)):
        if not models:
            raise InputError(f"Pairs need both --sender and --receiver; there is no {role}.")
        if len({plain_name(model) for model in models}) < len(models):
            raise InputError(f"A {role} is named twice.")
    runs: dict[str, RunSettings] = {}
    for sender, receiver in product(senders, receivers):
        asked = settings(sender, receiver)
        name = f"{folder_name(sender)}--{folder_name(receiver)}"
        # Names that differ in punctuation only make one folder name.
        numbered = (f"{name}-{number}" for number in count(2))
        free = next(each for each in chain([name], numbered) if each not in runs)
        runs[free] = asked.model_copy(update={"options": asked.options | {"plays": "senders"}})
    return runs


def with_and_without_a_person(character: str, settings: RunSettings) -> dict[str, RunSettings]:
    """The same scenes twice: a person plays one character and the model the others, and the model plays everybody."""
    if settings.partner:
        raise InputError("With --human the person is the partner: leave --partner out.")
    # The same character in both, so that the same scenes are left out for want of it.
    options = settings.options | {"character": character}
    return {
        WITH_PERSON: settings.model_copy(update={"partner": PERSON, "options": options | {"plays": "others"}}),
        WITHOUT_PERSON: settings.model_copy(update={"options": options | {"plays": "all"}}),
    }


def plan_series(
    benchmark: Benchmark, options: Mapping[str, Any], model: str | None, config: Path | None, given: Mapping[str, Any]
) -> tuple[dict[str, RunSettings], str]:
    """(the runs by the name of their folder, a name for all of them) that a benchmark makes of its options for series."""
    kind = benchmark.series_type()
    if kind is None:
        raise InputError(f"{benchmark.name} has no series of runs.")
    planned: tuple[dict[str, RunSettings], str] = kind.model_validate(options).plan(  # type: ignore[attr-defined]
        partial(settings_for, benchmark.name, config), model, given
    )
    return planned


def write_new_series(folder: Path, runs: Mapping[str, RunSettings]) -> None:
    """Checks every run as it would be checked on its own, then notes which there are. Raises InputError."""
    if is_series(folder):
        raise InputError(f"{folder} holds a series of runs already. Go on with it: sociable resume {folder}")
    described = {}
    for name, settings in runs.items():
        settings = with_absolute_paths(settings)
        open_study(settings)
        described[name] = settings.model_dump(mode="json")
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / SERIES_FILE, json.dumps({"runs": described}, indent=1, ensure_ascii=False) + "\n")


def resume_series(folder: Path, watch: Watch | None = None) -> list[RunResult]:
    """Goes on with every run of a series, one after the other. Raises RunStopped where one is stopped."""
    return [
        resume(folder / name, watch=watch)
        if (folder / name / "manifest.json").exists()
        else run_settings(settings, folder / name, watch=watch)
        for name, settings in _read(folder).items()
    ]


def is_series(folder: Path) -> bool:
    return (folder / SERIES_FILE).exists()


def folders_of(path: Path) -> list[Path]:
    """The run folders of a series; of anything else, itself."""
    return [path / name for name in _read(path)] if is_series(path) else [path]


def has_person(folder: Path) -> bool:
    """Whether somebody sits at the terminal while the series is run."""
    return any(PERSON in (settings.model, settings.partner) for settings in _read(folder).values())


def _read(folder: Path) -> dict[str, RunSettings]:
    file = folder / SERIES_FILE
    try:
        described = json.loads(file.read_text(encoding="utf-8"))["runs"]
        return {Path(name).name: RunSettings.model_validate(settings) for name, settings in described.items()}
    except (OSError, ValueError, KeyError, AttributeError, ValidationError) as error:
        raise RunFolderError(f"{file}: cannot be read ({str(error).splitlines()[0]}). Report its runs one by one.") from None
