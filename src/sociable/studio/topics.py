"""Prints the topics of a run's scenarios as JSON, by scenario: ``python -m sociable.studio.topics DIR``.

The studio's index asks this way, once for each data set (see ``indexing``).
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from sociable.core.errors import SociableError
from sociable.core.run_folder import RunFolder
from sociable.engine.opening import reopen_study

FIELDS = ("topic", "domain", "type", "level", "design")
"""Names under which benchmarks say what a scenario is about, the plainest first."""


def list_topics(folder: Path) -> dict[str, str]:
    """The topic of each scenario of a run; scenarios without one are left out. Raises RunFolderError."""
    scenarios = reopen_study(RunFolder.open(folder, lock=False), only_read=True).study.scenarios
    found = {name: [getattr(scenario, field, "") for field in FIELDS] for name, scenario in scenarios.items()}
    return {name: str(next(filter(None, values), "")) for name, values in found.items()}


if __name__ == "__main__":
    if hasattr(os, "nice"):
        os.nice(10)  # Runs and pages come first.
    try:
        sys.stdout.write(json.dumps(list_topics(Path(sys.argv[1]))))
    except SociableError as error:
        sys.exit(str(error))
