"""The draft that every reader fills: scenes of parts as printed, made into a Play once all speech headings are known."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sociable.core.errors import InputError
from sociable.datasets.plays.cast import find_cast_on_stage
from sociable.datasets.plays.directions import DirectionHabit, find_habit, make_mender, split_directions
from sociable.datasets.plays.headings import HeadingKind, find_heading
from sociable.datasets.plays.names import Names
from sociable.datasets.plays.records import CastMember, Direction, Entry, InlineDirection, Play, PlayScene, Speech
from sociable.datasets.plays.script import clean_name
from sociable.datasets.plays.spelling import join_names

_SCENE_NUMBER = re.compile(r"\s*#[\w.\-]+#\s*$|\s{2,}\d{1,4}[A-Z]?\.?$")


@dataclass
class Part:
    """A speech under its ``label``, or a direction where that is empty.

    ``lines`` are as printed, with the directions in them, unless the file itself tells these apart (``directions``);
    ``speakers`` are given where it also says who speaks.
    """

    label: str
    place: str
    lines: list[str]
    directions: tuple[InlineDirection, ...] | None = None
    speakers: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return "\n".join(line for line in self.lines if line)


@dataclass
class DraftScene:
    act: str = ""
    scene: str = ""
    heading: str = ""
    parts: list[Part] = field(default_factory=list)

    @property
    def has_speech(self) -> bool:
        return any(part.label for part in self.parts)


@dataclass
class Draft:
    """A play while it is read; the first scene is what stands before any heading.

    Names in a screenplay are said in full; where and how somebody speaks stands in parentheses, behind the name or below it.
    """

    path: Path
    layout: str
    title: str = ""
    cast: Sequence[CastMember] = ()
    is_screenplay: bool = False
    scenes: list[DraftScene] = field(default_factory=lambda: [DraftScene()])
    numbered: int = 0

    def open_scene(self, heading: str) -> None:
        """Begins an act or a scene; one whose heading has no label of its own is numbered through."""
        found, act = find_heading(heading), self.scenes[-1].act
        if found is None or not found.kind.is_division:
            self.numbered += 1
            scene = DraftScene(act, f"Scene {self.numbered}", _SCENE_NUMBER.sub("", heading).strip(". "))
        elif found.kind is HeadingKind.ACT:
            inner = find_heading(found.rest)
            is_scene = inner is not None and inner.kind is HeadingKind.SCENE
            scene = DraftScene(found.label, *((inner.label, inner.rest) if inner and is_scene else ("", found.rest)))
        elif found.kind is HeadingKind.SCENE or (act.startswith("Act ") and not found.label.startswith("Epilogue")):
            scene = DraftScene(act, found.label, found.rest)
        else:
            scene = DraftScene(found.label, "", found.rest)
        scene.heading = scene.heading.strip("[]_ ")
        self.scenes.append(scene)

    def add(self, label: str, lines: Sequence[str], line: int, file: Path | None = None) -> Part:
        """A speech, or a direction where ``label`` is empty, which begins in a line of the file."""
        part = Part(label, f"{(file or self.path).name}:{line}", list(lines))
        self.scenes[-1].parts.append(part)
        return part

    @property
    def last_speech(self) -> Part | None:
        """The last speech of the scene."""
        return next((part for part in reversed(self.scenes[-1].parts) if part.label), None)

    def finish(self, expected: str) -> Play:
        """The play. Raises InputError where nobody speaks, which says what was ``expected``."""
        parts = [part for scene in self.scenes for part in scene.parts]
        speeches = [part for part in parts if part.label]
        if not speeches:
            raise InputError(f"{self.path}: nobody speaks in it, read as {self.layout}. {expected}")
        texts = [part.text for part in parts]
        labels = Counter(self._find_name(part) for part in speeches if not part.speakers)
        if self.is_screenplay:
            names, habit = Names((), labels), DirectionHabit()
        else:
            cast = self.cast or find_cast_on_stage(part.text for part in parts if not part.label)
            printed = [*texts, *(direction.text for part in parts for direction in part.directions or ())]
            # What has a stop behind it may be shortened by that.
            words = {word for text in printed for word in re.findall(r"[^\W\d_]+\b(?!\.)", text)}
            names, habit = Names(cast, labels, words, is_listed=bool(self.cast)), find_habit([part.text for part in speeches])
        mend = make_mender(texts)
        scenes = tuple(
            PlayScene(
                act=scene.act,
                scene=scene.scene,
                heading=scene.heading,
                entries=tuple(self._make_entry(part, names, habit, mend) for part in scene.parts),
            )
            for scene in self._find_kept_scenes()
        )
        return Play(title=self.title or self.path.stem, layout=self.layout, cast=tuple(self.cast), scenes=scenes)

    def _find_kept_scenes(self) -> Iterator[DraftScene]:
        """The scenes but those that hold nothing, or that a table of contents announced only."""
        spoken = {(scene.act, scene.scene) for scene in self.scenes if scene.has_speech}
        has_begun = False
        for scene in self.scenes:
            has_begun = has_begun or scene.has_speech
            is_announced = not has_begun and ((scene.act, scene.scene) in spoken or scene is self.scenes[0])
            if scene.parts and not is_announced and (scene.has_speech or scene.act or scene.scene):
                yield scene

    def _find_name(self, part: Part) -> str:
        return clean_name(part.label) if self.is_screenplay else part.label

    def _make_entry(self, part: Part, names: Names, habit: DirectionHabit, mend: Callable[[str], str]) -> Entry:
        if not part.label:
            return Direction(text=" ".join(mend(part.text).replace("_", "").strip("[]").split()), place=part.place)
        text, directions = part.text, part.directions
        if directions is None:
            text, directions = split_directions(mend(text), habit)
        speakers = part.speakers or names.find_speakers(self._find_name(part))
        return Speech(
            speaker=join_names(speakers), speakers=speakers, label=part.label, text=text, directions=directions, place=part.place
        )
