"""What screenplays of all layouts are read into, and how their headings, names and transitions look."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sociable.core.errors import InputError
from sociable.datasets.plays.directions import DirectionHabit, split_directions
from sociable.datasets.plays.headings import HeadingKind, heading_of
from sociable.datasets.plays.names import Names
from sociable.datasets.plays.persons import joined
from sociable.datasets.plays.records import Direction, Entry, Play, PlayScene, Speech
from sociable.datasets.plays.wrapping import mender_of

TRANSITION = re.compile(r"^(?:[A-Z ]+ TO|FADE (?:IN|OUT|TO [A-Z ]+)|THE END|END CREDITS?|DISSOLVE|BLACK)[:.]?$")
CONTINUED = re.compile(r"^\(?\s*(?:CONTINUED|CONT['’]?D)\s*:?\s*(?:\(\d+\))?\s*\)?$", re.I)
_SCENE = re.compile(r"^(?:\d{1,4}[A-Z]?\.?\s+)?(?:INT|EXT|EST|I/E|E/I)(?:\b|\.)[./ ]", re.I)
_SCENE_NUMBER = re.compile(r"\s*#[\w.\-]+#\s*$|\s{2,}\d{1,4}[A-Z]?\.?$")
_EXTENSION = re.compile(r"\s*\([^()]*(?:\)|$)\s*")
_SCANNED_STOP = re.compile(r"(?<=[^\W\d_]{4})[.,]+$")
_CUE = re.compile(r"^[^a-zß-öø-ÿ]*[A-ZÀ-Þ][^a-zß-öø-ÿ]*$")
_LONGEST_CUE = 45
_HABIT = DirectionHabit()


@dataclass
class Part:
    """A speech as cued, or an action where ``cue`` is empty; ``lines`` include parentheses, each on a line of its own."""

    cue: str
    lines: list[str]
    place: str


@dataclass
class Scene:
    act: str
    scene: str
    heading: str
    parts: list[Part] = field(default_factory=list)


@dataclass
class Script:
    """What any of the layouts is read into."""

    name: str
    title: str = ""
    scenes: list[Scene] = field(default_factory=lambda: [Scene("", "", "")])
    number: int = 0

    def open_scene(self, heading: str) -> None:
        """A scene, numbered through, unless the heading has a label of its own."""
        found = heading_of(heading)
        act = self.scenes[-1].act
        if found is not None and found.kind is HeadingKind.ACT:
            inner = heading_of(found.rest)
            has_scene = inner is not None and inner.kind is HeadingKind.SCENE
            label, rest = (inner.label, inner.rest) if inner is not None and has_scene else ("", found.rest)
            self.scenes.append(Scene(found.label, label, rest))
        elif found is not None and found.kind is HeadingKind.SCENE:
            self._replace_empty(Scene(act, found.label, found.rest))
        elif found is not None and found.kind is HeadingKind.APART:
            is_act = not act.startswith("Act ") or found.label == "Epilogue"
            self.scenes.append(Scene(found.label if is_act else act, "" if is_act else found.label, found.rest))
        else:
            self.number += 1
            self._replace_empty(Scene(act, f"Scene {self.number}", _SCENE_NUMBER.sub("", heading).strip(". ")))

    def _replace_empty(self, scene: Scene) -> None:
        if not self.scenes[-1].parts:
            self.scenes.pop()
        self.scenes.append(scene)

    def add(self, cue: str, lines: Sequence[str], line: int) -> None:
        self.scenes[-1].parts.append(Part(cue, list(lines), f"{self.name}:{line}"))

    def play(self, path: Path, layout: str) -> Play:
        cues = [part.cue for scene in self.scenes for part in scene.parts if part.cue]
        if not cues:
            raise InputError(
                f"{path}: nobody speaks in it, read as {layout}. Expected a name in capitals on a line of its own with the "
                "speech under it; for a stage play in another layout give the file the ending .txt."
            )
        names = Names((), Counter(map(speaker_of, cues)))
        mended = mender_of("\n".join(part.lines) for scene in self.scenes for part in scene.parts)
        return Play(
            title=self.title or path.stem,
            layout=layout,
            scenes=tuple(
                PlayScene(
                    act=s.act, scene=s.scene, heading=s.heading, entries=tuple(_entry(part, names, mended) for part in s.parts)
                )
                for s in self.scenes
                if any(part.cue for part in s.parts) or (s.parts and (s.act or s.scene))
            ),
        )


def _entry(part: Part, names: Names, mended: Callable[[str], str]) -> Entry:
    printed = mended("\n".join(part.lines))
    if not part.cue:
        return Direction(text=" ".join(printed.split()), place=part.place)
    text, directions = split_directions(printed, _HABIT)
    speakers = names.speakers(speaker_of(part.cue))
    return Speech(speaker=joined(speakers), speakers=speakers, label=part.cue, text=text, directions=directions, place=part.place)


def speaker_of(cue: str) -> str:
    """The name alone, without where the voice comes from and whether the speech goes on."""
    return _SCANNED_STOP.sub("", _EXTENSION.sub(" ", cue).strip(" ^@:-'`\"*"))


def is_scene_heading(text: str) -> bool:
    return bool(_SCENE.match(text)) and text[:40].upper() == text[:40] and len(text) < 120


def is_stage_heading(text: str) -> bool:
    found = heading_of(text.strip("> <"))
    return found is not None and found.kind in (HeadingKind.ACT, HeadingKind.SCENE, HeadingKind.APART)


def is_cue(text: str) -> bool:
    name = name_in(text)
    is_name = bool(name and _CUE.match(name)) and len(name) <= _LONGEST_CUE and (len(name) > 1 or name.isascii())
    return is_name and name[-1] not in "!?" and not name.endswith("TO:") and not CONTINUED.match(text)


def name_in(text: str) -> str:
    return _EXTENSION.sub(" ", text).strip(" ^")


def is_marked(text: str) -> bool:
    """It is a heading or a transition."""
    return heading_of(text) is not None or is_scene_heading(text) or bool(TRANSITION.match(text))
