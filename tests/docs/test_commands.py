"""Every command that the README and the documents show is carried out, page by page, in a folder of the page's own.

* A block ``console``: its lines that begin with ``$`` are carried out in order; what else stands there is for the reader.
* A block ``python`` is run as a script, in the same folder.
* A block behind a line that ends with "as `NAME`:" is saved under that name instead.
* A block ``text`` needs what is not there, a key, a person, a network, and is not carried out.

``sociable`` is called as its entry point, without a new process each time: starting Python would take longer than all
the runs. The model server of the documents is the tests' own.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sociable.cli.main import main

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts),
    *sorted((ROOT / "examples").glob("*/README.md")),
]
SERVER = "http://127.0.0.1:8000/v1"
MODELS = {
    "openai-compatible/qwen2.5-7b-instruct": "openai-compatible/social",
    "openai-compatible/a-writer": "openai-compatible/writer",
}
"""Models of the documents, and those of the tests' server that stand in for them."""

ELSEWHERE = "sociable demo"
"""Carried out, once for all pages that show it, in tests/cli/test_main.py."""

_BLOCK = re.compile(r"^```(?P<kind>[a-z]+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_SAVED = re.compile(r"as `([^`]+)`:$")


@dataclass(frozen=True)
class Step:
    """One thing to do: a ``command``, a ``script`` of Python, or a ``file`` to write."""

    kind: str
    text: str
    file: str = ""


def find_steps(page: str) -> Iterator[Step]:
    """What a page has its reader do, in order."""
    for block in _BLOCK.finditer(page):
        before = page[: block.start()].rstrip().rpartition("\n")[2]
        if saved := _SAVED.search(before):
            yield Step("file", block["text"], saved[1])
        elif block["kind"] == "python":
            yield Step("script", block["text"])
        elif block["kind"] == "console":
            for line in re.sub(r"\\\n\s*", "", block["text"]).splitlines():
                if line.startswith("$ ") and line != f"$ {ELSEWHERE}":
                    yield Step("command", line.removeprefix("$ "))


STEPS = {str(page.relative_to(ROOT)): list(find_steps(page.read_text(encoding="utf-8"))) for page in PAGES}


class Reader:
    """Does what a page says."""

    def __init__(self, folder: Path, environment: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.environment = environment

    def do(self, step: Step) -> None:
        if step.kind == "file":
            (self.folder / step.file).write_text(step.text, encoding="utf-8")
        elif step.kind == "script":
            self._run_python(["-c", step.text])
        else:
            program, *arguments = shlex.split(step.text, comments=True)
            {"sociable": self._run_sociable, "python": self._run_python, "pip": self._install}[program](arguments)

    def _run_sociable(self, arguments: list[str]) -> None:
        self.environment.setattr(sys, "argv", ["sociable", *arguments])
        try:
            main()
        except SystemExit as end:
            assert end.code in (0, None), f"sociable {shlex.join(arguments)} ended with code {end.code}"

    def _run_python(self, arguments: list[str]) -> None:
        done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr

    def _install(self, arguments: list[str]) -> None:
        """``pip install --editable FOLDER``, as far as entry points go: the environment of the tests stays as it is."""
        assert arguments[:2] == ["install", "--editable"], arguments
        folder = self.folder / arguments[2]
        project: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        information = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
        information.mkdir()
        (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
        points = [
            f"[{group}]\n{name} = {target}" for group, named in project["entry-points"].items() for name, target in named.items()
        ]
        (information / "entry_points.txt").write_text("\n".join(points) + "\n")
        self.environment.syspath_prepend(str(folder))


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reader:
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    return Reader(tmp_path, monkeypatch)


# The guide goes through all that there is, most of which the rooms' own tests do as well.
CARRIED_OUT = [
    pytest.param(page, marks=pytest.mark.long) if page.startswith("docs/guide/") else page
    for page, steps in STEPS.items()
    if steps
]


@pytest.mark.parametrize("page", CARRIED_OUT)
def test_what_a_page_shows_can_be_done(page: str, reader: Reader, request: pytest.FixtureRequest) -> None:
    steps = STEPS[page]
    substitutes = dict(MODELS) | {"docs/recordings/": f"{ROOT / 'docs' / 'recordings'}/"}
    if any(SERVER in step.text for step in steps):
        substitutes[SERVER] = request.getfixturevalue("chat_server").url
    # An example's README is read in the example's own folder; what a run leaves behind stays out of it.
    if page.startswith("examples/"):
        for file in (ROOT / page).parent.iterdir():
            if file.is_file():
                (reader.folder / file.name).write_bytes(file.read_bytes())
    for step in steps:
        text = step.text
        for shown, meant in substitutes.items():
            text = text.replace(shown, meant)
        reader.do(Step(step.kind, text, step.file))


def test_every_block_says_whether_it_is_carried_out() -> None:
    for page in PAGES:
        fences = re.findall(r"^```(.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
        kinds, ends = fences[::2], fences[1::2]
        assert all(kinds), (
            f"{page.relative_to(ROOT)} has a block of no kind: write console, text, python, toml, json, or a directive"
        )
        assert not any(ends), f"{page.relative_to(ROOT)} has a block that does not end"


def test_blocks_are_taken_apart() -> None:
    page = (
        "Save this as `a.py`:\n\n```python\nx = 1\n```\n\n```console\n$ sociable run hsii \\\n    --limit 1\nTable\n$ python a.py\n```\n"
        "\n```text\n$ sociable never\n```\n\n```python\nprint(1)\n```\n"
    )
    assert list(find_steps(page)) == [
        Step("file", "x = 1\n", "a.py"),
        Step("command", "sociable run hsii --limit 1"),
        Step("command", "python a.py"),
        Step("script", "print(1)\n"),
    ]
