"""Plays to passages: the stretches in which people talk (section 3.5)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sociable.core.errors import InputError
from sociable.datasets.recipes.agentsense.draft import Passage
from sociable.datasets.sources import is_about, make_slug

if TYPE_CHECKING:
    from sociable.datasets.plays import Speech

REMEMBERED = 3_000
"""Characters of what was said before a passage that are told with it, the last ones."""
LONGEST, LONGEST_TEXT = 40, 12_000
"""Speeches and characters of a passage; a longer scene is cut, for the model reads all of it several times."""
_KINDS = (".txt", ".fountain", ".spmd", ".fdx", ".xhtml")
_EXPECTED = "Expected plays as .txt, .fountain or .fdx, folders of Standard Ebooks' .xhtml, or a folder of those."


def read_passages(source: Path) -> list[Passage]:
    """The passages of one play or of all plays in a folder. Raises DataError and InputError, which name file and line."""
    if not source.exists():
        raise InputError(f"{source}: no such file or folder. {_EXPECTED}")
    found: list[Passage] = []
    named: dict[str, Path] = {}
    for path in _plays(source):
        name = _name(path, source)
        if named.setdefault(name, path) != path:
            raise InputError(f"{path} and {named[name]} would both be called '{name}'. Rename one of them.")
        found += _passages(path, name)
    if not found:
        raise InputError(f"{source}: no scene in it with enough speeches and speakers. {_EXPECTED}")
    return found


def _plays(source: Path) -> Iterator[Path]:
    if source.is_file() or any(source.glob("*.xhtml")):
        yield source
        return
    files = sorted(path for path in source.rglob("*") if path.suffix in _KINDS[:-1] and not is_about(path))
    yield from files or sorted({path.parent for path in source.rglob("*.xhtml")})


def _name(path: Path, source: Path) -> str:
    """A play is called after its file, or the file's folder where that says more; a digest stands for what a slug leaves out."""
    named = path if path.is_dir() or path.stem != "play" else path.parent
    within = named.relative_to(source) if named != source and named.is_relative_to(source) else Path(named.name)
    plain = " ".join((within.with_suffix("") if named.is_file() else within).parts)
    short = make_slug(plain)
    is_whole = len(re.findall(r"[^\W_]", plain)) == len(short.replace("-", ""))
    return (
        short if is_whole else "-".join(filter(None, (short, hashlib.sha256(plain.encode("utf-8", "replace")).hexdigest()[:6])))
    )


def _passages(path: Path, name: str) -> Iterator[Passage]:
    # Nothing else reads plays, so nothing else loads what reads them.
    from sociable.datasets.plays import read_play
    from sociable.datasets.recipes.agentsense.play_scenes import find_scenarios, is_scenario

    play = read_play(path)
    told = ""
    for number, scene in enumerate(find_scenarios(play), start=1):
        stretches = _cut([speech for speech in scene.speeches if speech.with_directions()])
        for part, stretch in enumerate(stretches, start=1):
            names = tuple(dict.fromkeys(name for speech in stretch for name in speech.speakers))
            said = tuple((speech.speaker, speech.with_directions()) for speech in stretch)
            if is_scenario(stretch):
                yield Passage(
                    # A dot, which no name of a play holds: parts of one scene are not scenes of another play.
                    id=f"{name}-{number}" + (f".{part}" if len(stretches) > 1 else ""),
                    script=name,
                    title=play.title,
                    scene=", ".join(filter(None, (scene.act, scene.scene, scene.heading))),
                    before=told[-REMEMBERED:],
                    names=names,
                    said=said,
                )
            told = f"{told}\n" + "\n".join(f"{speaker}: {words}" for speaker, words in said)


def _cut(speeches: Sequence[Speech]) -> list[list[Speech]]:
    """Stretches of at most ``LONGEST`` speeches and ``LONGEST_TEXT`` characters, unless one speech is longer."""
    found: list[list[Speech]] = [[]]
    length = 0
    for speech in speeches:
        longer = length + len(speech.with_directions())
        if found[-1] and (len(found[-1]) == LONGEST or longer > LONGEST_TEXT):
            found.append([])
            longer = len(speech.with_directions())
        found[-1].append(speech)
        length = longer
    return found
