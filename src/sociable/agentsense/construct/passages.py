"""Plays to passages: the stretches in which people talk (section 3.5)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sociable.agentsense.construct.draft import Passage
from sociable.construction.plays import Play, PlayScenario, Speech, read_play, scenarios_of
from sociable.construction.stages import slug
from sociable.core.errors import InputError

REMEMBERED = 3_000
"""Characters of what was said before a passage that are told with it, the last ones."""
LONGEST = 40
"""Speeches of a passage; a longer scene is cut, for the model reads all of it several times."""
_KINDS = (".txt", ".fountain", ".spmd", ".fdx", ".xhtml")
_EXPECTED = "Expected plays as .txt, .fountain or .fdx, folders of Standard Ebooks' .xhtml, or a folder of those."


def read_passages(source: Path) -> list[Passage]:
    """Of one play or of all in a folder. Raises DataError and InputError, which name file and line."""
    if not source.exists():
        raise InputError(f"{source}: no such file or folder. {_EXPECTED}")
    found: list[Passage] = []
    for path in _plays(source):
        play = read_play(path)
        found += _passages(play, slug(path.stem if path.stem != "play" else path.parent.name))
    if not found:
        raise InputError(f"{source}: no scene in it with enough speeches and speakers. {_EXPECTED}")
    return found


def _plays(source: Path) -> Iterator[Path]:
    if source.is_file() or any(source.glob("*.xhtml")):
        yield source
        return
    files = sorted(path for path in source.rglob("*") if path.suffix in _KINDS[:-1])
    yield from files or sorted({path.parent for path in source.rglob("*.xhtml")})


def _passages(play: Play, name: str) -> Iterator[Passage]:
    told = ""
    for number, scenario in enumerate(scenarios_of(play), start=1):
        said = [(speech.speaker, speech.with_directions()) for speech in scenario.entries if isinstance(speech, Speech)]
        said = [(speaker, words) for speaker, words in said if words]
        for part, first in enumerate(range(0, len(said), LONGEST), start=1):
            stretch = said[first : first + LONGEST]
            if len(stretch) >= LONGEST // 4 and len({speaker for speaker, _ in stretch}) > 1:
                yield Passage(
                    id=f"{name}-{number}" + (f"-{part}" if len(said) > LONGEST else ""),
                    script=name,
                    title=play.title,
                    scene=_where(scenario),
                    before=told[-REMEMBERED:],
                    said=tuple(stretch),
                )
            told = f"{told}\n" + "\n".join(f"{speaker}: {words}" for speaker, words in stretch)


def _where(scenario: PlayScenario) -> str:
    return ", ".join(filter(None, (scenario.act, scenario.scene, scenario.heading)))
