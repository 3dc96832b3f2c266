"""One call for each command of the command line: a module for each subject, imported when it is first used."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sociable.api import (
        cases,
        datasets,
        demonstration,
        estimation,
        exporting,
        folders,
        importing,
        judges,
        leaderboard,
        people,
        power,
        processes,
        reports,
        results,
        runs,
        series,
        studies,
        surveys,
        tournaments,
        towns,
        watching,
    )

__all__ = [
    "cases",
    "datasets",
    "demonstration",
    "estimation",
    "exporting",
    "folders",
    "importing",
    "judges",
    "leaderboard",
    "people",
    "power",
    "processes",
    "reports",
    "results",
    "runs",
    "series",
    "studies",
    "surveys",
    "tournaments",
    "towns",
    "watching",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return import_module(f"sociable.api.{name}")
    raise AttributeError(f"module 'sociable.api' has no attribute '{name}'")
