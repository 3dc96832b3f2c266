"""Every benchmark as a task of Inspect's: ``inspect eval sociable/hsii --model openai/gpt-4o -T judge=openai/gpt-4o-mini``."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, get_origin

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import Model

from sociable.core.errors import InputError
from sociable.engine.opening import describe_packages, describe_run
from sociable.engine.registry import find_benchmark, list_benchmark_names
from sociable.engine.settings import RunSettings
from sociable.inspect.samples import VIEWER, describe_case, find_headline
from sociable.inspect.scorer import sociable
from sociable.inspect.seating import (
    NO_MODEL,
    ROLES,
    SETTINGS,
    Asked,
    find_models,
    forget_studies,
    name_models,
    open_asked,
    tell_inspect,
)
from sociable.inspect.solver import play
from sociable.models.inspect_bridge import make_inspect_model

_REMEDIES = {
    "limit": "--limit N",
    "scenarios": "--sample-id ID",
    "repeats": "--epochs N",
    "max_connections": "--max-connections N",
    "max_cost": "--cost-limit X",
    "base_url": "--model-base-url URL",
}
"""Settings of a run that Inspect has options of its own for."""


def make_task(name: str, given: Mapping[str, Any]) -> Task:
    """The task of a benchmark, with what the user gave as ``-T NAME=VALUE``. Raises InputError."""
    if os.environ.get("INSPECT_ASYNC_BACKEND", "").lower() == "trio":
        raise InputError("Tasks of sociable run in asyncio, Inspect's default: unset INSPECT_ASYNC_BACKEND.")
    benchmark = find_benchmark(name)
    own = benchmark.load_options_type().model_fields
    roles = {role: _build_models(given[role.value]) for role in ROLES if given.get(role.value)}
    settings = {key: given[key] for key in SETTINGS if key in given}
    options = {key: value for key, value in given.items() if key not in {*ROLES, *settings}}
    for key in (options.keys() - own.keys()) & RunSettings.model_fields.keys():
        remedy = f"use {_REMEDIES[key]}" if key in _REMEDIES else "`sociable run` takes it, a task of Inspect's does not"
        raise InputError(f"-T {key}: {remedy}.")
    settings["options"] = {key: _wrap(value, own.get(key)) for key, value in options.items()}
    names = name_models({**find_models(), **{role: models for role, models in roles.items() if role not in find_models()}})
    if names["model"] == NO_MODEL:
        raise InputError("No model to test: add --model PROVIDER/MODEL, or --model reference/AGENT.")
    forget_studies()
    opened = open_asked(name, settings, names)
    study = opened.study
    opened = replace(opened, settings=opened.settings.model_copy(update=dict(study.resolved)))
    asked = Asked(
        benchmark=name,
        version=benchmark.version,
        digests=dict(study.digests),
        packages=describe_packages(),
        settings=opened.settings.model_dump(mode="json", include={*SETTINGS, "options"}, exclude_defaults=True),
        models={role: name for role, name in names.items() if role != "judges"},
    )
    samples = [
        Sample(id=each, input=describe_case(benchmark, study, each), metadata={"sociable": asked.model_dump()})
        for each in study.scenarios
    ]
    return Task(
        dataset=MemoryDataset(samples, name=f"sociable/{name}"),
        solver=play(),
        scorer=sociable(),
        model_roles={role.value: models for role, models in roles.items()},
        version=benchmark.version,
        metadata={"sociable": describe_run(opened)},
        viewer=VIEWER,
        headline_metric=find_headline(study),
        description=benchmark.title,
    )


def _build_models(named: Any) -> list[Model]:
    """The models named for a role. Raises InputError for one that Inspect cannot make."""
    names = named if isinstance(named, list | tuple) else [named]
    return [each if isinstance(each, Model) else make_inspect_model(str(each)) for each in names]


def _wrap(value: Any, field: Any) -> Any:
    """A lone value for an option that takes several."""
    return [value] if field is not None and get_origin(field.annotation) is tuple and not isinstance(value, list) else value


def _declare(name: str) -> Callable[..., Task]:
    @task(name=name)
    def make(**given: Any) -> Task:
        with tell_inspect():
            return make_task(name, {key: value for key, value in given.items() if value is not None})

    return make


TASKS = {name: _declare(name) for name in list_benchmark_names()}
"""The tasks by name; the same names as those of the benchmarks."""
