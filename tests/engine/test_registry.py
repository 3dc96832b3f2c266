"""Benchmarks and models of other packages, found through their entry points."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from sociable.api import runs
from sociable.cli.main import main
from sociable.core.errors import InputError
from sociable.engine.registry import build_model, find_benchmark, list_benchmark_names
from sociable.engine.settings import RoleSettings

PLUGIN = """
from dataclasses import replace

from sociable.benchmarks.hsii.benchmark import BENCHMARK as HSII
from sociable.models.scripted import ScriptedModel

BENCHMARK = replace(HSII, name="twin")

def echo(model, settings, max_connections):
    return ScriptedModel(lambda request: '{"role_to": "Nobody", "content": "%s %s"}' % (model, settings.max_tokens), name="echo/" + model)
"""


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package, as far as Python's own machinery can tell."""
    information = tmp_path / "sociable_twin-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: sociable-twin\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(
        "[sociable.benchmarks]\ntwin = sociable_twin:BENCHMARK\n[sociable.models]\necho = sociable_twin:echo\n"
    )
    (tmp_path / "sociable_twin.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("plugin")
def test_a_benchmark_and_a_provider_of_another_package_are_found_and_run(tmp_path: Path) -> None:
    assert "twin" in list_benchmark_names()
    assert find_benchmark("twin").version == find_benchmark("hsii").version
    assert build_model("echo/loud", RoleSettings()).name == "echo/loud"
    result = runs.run("twin", "echo/loud", out=tmp_path / "run", limit=1)
    assert json.loads((tmp_path / "run" / "scores.json").read_text())["benchmark"] == "twin"
    estimate = result.estimate("r1")
    assert estimate is not None
    assert estimate.value == 1.0


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import absent_library", "cannot be loaded: ModuleNotFoundError: No module named 'absent_library'"),
        ("BENCHMARK = 3", "is no Benchmark"),
    ],
)
def test_a_package_with_a_fault_is_named_and_hides_no_other(
    code: str, said: str, plugin: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "sociable_twin.py").write_text(code)
    monkeypatch.delitem(sys.modules, "sociable_twin", raising=False)
    with pytest.raises(InputError, match=f"'twin' of the package sociable-twin .*{said}"):
        find_benchmark("twin")
    monkeypatch.setattr(sys, "argv", ["sociable", "list"])
    with pytest.raises(SystemExit) as ended:
        main()
    shown = capsys.readouterr()
    assert ended.value.code == 0
    assert "stss-conversations" in shown.out and said.partition(":")[0] in " ".join(shown.err.split())
