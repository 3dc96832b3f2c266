"""The town, its people and small real runs of it, from the tests of the benchmark that scenes are frozen for."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

STSS = Path(__file__).resolve().parents[3] / "benchmarks" / "stss"


def _load(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"fixtures_of_{file.parent.name}", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_stss, _conversations = _load(STSS / "conftest.py"), _load(STSS / "conversations" / "conftest.py")
town, clock, places, people, templates = _stss.town, _stss.clock, _stss.places, _stss.people, _stss.templates
make_task, make_persona = _stss.make_task, _stss.make_persona
make_run, runs = _conversations.make_run, _conversations.runs
