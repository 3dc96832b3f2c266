"""Measures the social intelligence of language agents.

``sociable.run("hsii", model=...)`` does what ``sociable run hsii --model ...`` does; so it is with every command.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sociable.core.errors import InputError, RunFolderError, RunStopped, SociableError

if TYPE_CHECKING:
    from sociable.api.cases import load_study
    from sociable.api.datasets import audit, construct, describe, review
    from sociable.api.demonstration import demo
    from sociable.api.estimation import estimate
    from sociable.api.exporting import export
    from sociable.api.importing import import_conversations
    from sociable.api.judges import audit_judges
    from sociable.api.leaderboard import leaderboard
    from sociable.api.power import plan_power
    from sociable.api.reports import compare, report
    from sociable.api.results import load_result
    from sociable.api.runs import judge, resume, run, score
    from sociable.api.studies import StudyResult, study
    from sociable.api.tournaments import duel
    from sociable.core.form import PeopleAt
    from sociable.engine.benchmark import Benchmark
    from sociable.engine.result import RunResult
    from sociable.engine.settings import RunSettings
    from sociable.engine.study import Study, StudyOptions
    from sociable.models.protocol import Model
    from sociable.models.scripted import ScriptedModel
    from sociable.statistics.metrics import Metric, Metrics, Value

    __version__: str

_MODULES = {
    "api.cases": ("load_study",),
    "api.datasets": ("audit", "construct", "describe", "review"),
    "api.demonstration": ("demo",),
    "api.estimation": ("estimate",),
    "api.exporting": ("export",),
    "api.importing": ("import_conversations",),
    "api.judges": ("audit_judges",),
    "api.leaderboard": ("leaderboard",),
    "api.power": ("plan_power",),
    "api.reports": ("compare", "report"),
    "api.results": ("load_result",),
    "api.runs": ("judge", "resume", "run", "score"),
    "api.studies": ("StudyResult", "study"),
    "api.tournaments": ("duel",),
    "core.form": ("PeopleAt",),
    "engine.benchmark": ("Benchmark",),
    "engine.result": ("RunResult",),
    "engine.settings": ("RunSettings",),
    "engine.study": ("Study", "StudyOptions"),
    "models.protocol": ("Model",),
    "models.scripted": ("ScriptedModel",),
    "statistics.metrics": ("Metric", "Metrics", "Value"),
}
"""The modules of the public names. They are imported when first used, so that the command line and plugins start at once."""

__all__ = ["InputError", "RunFolderError", "RunStopped", "SociableError"]
__all__ += [
    "Benchmark",
    "Metric",
    "Metrics",
    "Model",
    "PeopleAt",
    "RunResult",
    "RunSettings",
    "ScriptedModel",
    "Study",
    "StudyOptions",
    "StudyResult",
    "Value",
]
__all__ += ["audit", "audit_judges", "construct", "describe", "review"]
__all__ += [
    "compare",
    "demo",
    "duel",
    "estimate",
    "export",
    "import_conversations",
    "judge",
    "leaderboard",
    "load_result",
    "load_study",
    "plan_power",
    "report",
]
__all__ += ["resume", "run", "score", "study"]


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("sociable")  # which takes a moment to import
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"sociable.{module}"), name)
    raise AttributeError(f"module 'sociable' has no attribute '{name}'")
