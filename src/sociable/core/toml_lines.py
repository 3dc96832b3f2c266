"""The line of every key and every listed value of a TOML file, so that an error can name it.

The standard reader tells values only.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator

Path = tuple[str | int, ...]
"""The way to a value: keys of tables, places in lists."""

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"""(?:""?(?!"))?' + r"|'''.*?'''(?:''?(?!'))?" + r'|"(?:\\.|[^"\\\n])*"' + r"|'[^'\n]*'", re.DOTALL
)
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR = re.compile(r"[^,\]}#\n]+")


def find_lines(text: str) -> dict[Path, int]:
    """The line, counted from 1, of each key and each item of a list, in a text that ``tomllib`` can read."""
    return _Reader(text.replace("\r\n", "\n")).read()


class _Reader:
    """Walks through a text that is known to be TOML, from one key to the next."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0
        self._lines: dict[Path, int] = {}
        self._counts: dict[Path, int] = {}
        """The tables so far of each ``[[list of tables]]``."""

    def read(self) -> dict[Path, int]:
        table: Path = ()
        while self._skip_blank():
            if not self._take("["):
                self._read_pair(table)
                continue
            is_listed = self._take("[")
            table = self._follow(self._read_keys())
            self._note(table)
            if is_listed:
                self._counts[table] = self._counts.get(table, -1) + 1
                table = (*table, self._counts[table])
                self._note(table)
                self._take("]")
            self._take("]")
        return self._lines

    def _follow(self, keys: Path) -> Path:
        """The path of a header: a list of tables in it means its last table."""
        path: Path = ()
        for place, key in enumerate(keys, start=1):
            path = (*path, key)
            if place < len(keys) and path in self._counts:
                path = (*path, self._counts[path])
        return path

    def _note(self, path: Path) -> None:
        line = self._text.count("\n", 0, self._place) + 1
        for end in range(1, len(path) + 1):
            self._lines.setdefault(path[:end], line)

    def _read_pair(self, table: Path) -> None:
        path = (*table, *self._read_keys())
        self._note(path)
        self._take("=")
        self._read_value(path)

    def _read_keys(self) -> Path:
        return tuple(self._list_keys())

    def _list_keys(self) -> Iterator[str]:
        while True:
            self._skip_blank()
            if bare := _BARE_KEY.match(self._text, self._place):
                self._place = bare.end()
                yield bare[0]
            else:
                yield tomllib.loads(f"key = {self._take_string()}")["key"]
            if not self._take("."):
                return

    def _read_value(self, path: Path) -> None:
        self._skip_blank()
        if self._take("["):
            for place in range(len(self._text)):
                if self._take("]"):
                    return
                self._note((*path, place))
                self._read_value((*path, place))
                self._take(",")
        elif self._take("{"):
            while not self._take("}"):
                self._read_pair(path)
                self._take(",")
        elif self._text[self._place] in "\"'":
            self._take_string()
        elif scalar := _SCALAR.match(self._text, self._place):
            self._place = scalar.end()

    def _take_string(self) -> str:
        found = _STRING.match(self._text, self._place)
        assert found is not None, "the text is no TOML"
        self._place = found.end()
        return found[0]

    def _take(self, sign: str) -> bool:
        """Steps over a sign, if it comes next."""
        if self._skip_blank() and self._text.startswith(sign, self._place):
            self._place += len(sign)
            return True
        return False

    def _skip_blank(self) -> bool:
        """Steps over spaces, comments and line ends. Returns whether anything follows."""
        blank = _BLANK.match(self._text, self._place)
        assert blank is not None
        self._place = blank.end()
        return self._place < len(self._text)
