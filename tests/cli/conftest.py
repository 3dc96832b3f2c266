"""The command line as tests call it."""

from __future__ import annotations

import sys
from pathlib import Path

from sociable.cli import main as cli


def sociable(*arguments: str | Path) -> int:
    """Runs the command line in this process; returns its exit code."""
    sys_argv, sys.argv = sys.argv, ["sociable", *map(str, arguments)]
    try:
        cli.main()
    except SystemExit as stop:
        return int(stop.code or 0)
    finally:
        sys.argv = sys_argv
    return 0
