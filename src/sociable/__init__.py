"""Measures the social intelligence of language agents.

``sociable.run("hsii", model=...)`` does what ``sociable run hsii --model ...`` does; so it is with every command.
"""

from importlib import import_module, metadata
from typing import TYPE_CHECKING, Any

from sociable.core.errors import InputError, RunFolderError, RunStopped, SociableError

if TYPE_CHECKING:
    from sociable.api.datasets import audit, construct
    from sociable.api.runs import compare, demo, estimate, judge, open_run, prompts, report, result, resume, run, score, study

__version__ = metadata.version("sociable")

__all__ = [
    "InputError", "RunFolderError", "RunStopped", "SociableError",
    "audit", "compare", "construct", "demo", "estimate", "judge", "open_run",
    "prompts", "report", "result", "resume", "run", "score", "study",
]  # fmt: skip


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def __getattr__(name: str) -> Any:
    # Imported when first used, so that `sociable --help` and plugins start at once.
    if name in __all__:
        return getattr(import_module("sociable.api.datasets" if name in ("audit", "construct") else "sociable.api.runs"), name)
    raise AttributeError(f"module 'sociable' has no attribute '{name}'")
