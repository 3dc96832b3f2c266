"""The examples as installed packages, as far as Python's own machinery can tell, and as scripts."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Registers the entry points of a folder's ``pyproject.toml`` and puts the folder on ``sys.path``."""

    def register(folder: Path) -> None:
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        site = tmp_path / "site"
        information = site / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
        information.mkdir(parents=True)
        (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
        groups = [
            f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in points.items())
            for group, points in project["entry-points"].items()
        ]
        (information / "entry_points.txt").write_text("\n".join(groups))
        monkeypatch.syspath_prepend(str(site))
        monkeypatch.syspath_prepend(str(folder))

    return register


@pytest.fixture
def run_script(tmp_path: Path) -> Callable[..., str]:
    """Runs a Python file in a folder of its own and returns what it prints."""

    def run(script: Path, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, str(script), *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
