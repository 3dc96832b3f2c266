"""The commands where the extra is not installed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sociable.cli.main import main


@pytest.mark.parametrize("command", [["export-log", "run"], ["import-log", "run.eval", "--out", "run"]])
def test_it_is_said_what_to_install(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    monkeypatch.setattr(sys, "argv", ["sociable", *command])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    assert "A log of Inspect AI needs an extra: pip install 'sociable[inspect]'" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
