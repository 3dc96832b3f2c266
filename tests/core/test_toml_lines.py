"""Lines of keys in TOML files: the paths are exactly those of the standard reader's values."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any

import pytest

from sociable.core.toml_lines import find_lines

NESTED = (
    '''# = [ not.a.key ]
models = [  # "a comment, with ] and ="
  "one",
  'two # not a comment',

  """three
]""",
]
title = "a = [b]"; '''.rstrip("; ")
    + """
"quoted.key" = 1
a.b."c d" = { x = 1, y = [ { z = "}" }, 2 ] }

[roles.subject]
temperature = 0.5
[roles."openai-compatible/m"]
max_tokens = 10
[[conditions]]
name = "plain"
[[conditions]]
name = "own" # the second
  [conditions.options]
  secret = [1, 2.5, 1979-05-27T07:32:00Z]
[settings.hsii]
limit = 3
text = \'\'\'
[not.a.table]
limit = 4\'\'\'
last = inf
"""
)


def list_paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if path:
        yield path
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in steps:
        yield from list_paths(inner, (*path, step))


@pytest.mark.parametrize("text", [NESTED, NESTED.replace("\n", "\r\n"), "", "x=1", "[a]", 'x=""""quoted""""\ny=1', "x=[]\ny={}"])
def test_every_value_has_a_line_and_nothing_else_has(text: str) -> None:
    assert set(find_lines(text)) == set(list_paths(tomllib.loads(text)))


@pytest.mark.parametrize(
    "path, said",
    [
        (("models",), "models = ["),
        (("models", 0), '"one"'),
        (("models", 2), '"""three'),
        (("title",), "title"),
        (("a", "b", "c d", "y", 0, "z"), "a.b"),
        (("roles", "openai-compatible/m", "max_tokens"), "max_tokens = 10"),
        (("conditions", 0), "[[conditions]]"),
        (("conditions", 1, "name"), "the second"),
        (("conditions", 1, "options", "secret", 1), "secret"),
        (("settings", "hsii", "limit"), "limit = 3"),
        (("settings", "hsii", "last"), "last = inf"),
    ],
)
def test_the_line_is_the_one_on_which_it_stands(path: tuple[str | int, ...], said: str) -> None:
    assert said in NESTED.splitlines()[find_lines(NESTED)[path] - 1]
