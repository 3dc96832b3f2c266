"""A play once its layout is read: a title, a cast, and scenes of speeches and directions in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from sociable.core.records import Record


class CastMember(Record):
    """One person of the dramatis personae: the name, what the list says of them, and how headings shorten it, if it says so."""

    name: str
    description: str = ""
    short: str = ""


class InlineDirection(Record):
    """A direction given inside a speech. ``at`` is where in the speech's text it stood, in characters."""

    text: str
    at: int = Field(ge=0)


class Direction(Record):
    """A stage direction, or a screenplay's action, between speeches. ``place`` is its file and line."""

    kind: Literal["direction"] = "direction"
    text: str
    place: str


class Speech(Record):
    """Words that somebody says without a break.

    ``speaker`` is the name in full: as the cast has it where the heading means one of the cast and no other, otherwise as
    the heading has it. ``speakers`` are they one by one where several speak together. ``label`` is the heading as printed.
    ``text`` is what is said, on one line, without the directions.
    """

    kind: Literal["speech"] = "speech"
    speaker: str
    speakers: tuple[str, ...]
    label: str
    text: str
    directions: tuple[InlineDirection, ...] = ()
    place: str

    def format_with_directions(self) -> str:
        """The text with its directions where they stood, in parentheses."""
        parts, done = [], 0
        for direction in self.directions:
            parts += [self.text[done : direction.at], f"({direction.text})"]
            done = direction.at
        return " ".join(" ".join([*parts, self.text[done:]]).split())


Entry = Annotated[Speech | Direction, Field(discriminator="kind")]


class PlayScene(Record):
    """A scene as the play marks it.

    ``act`` and ``scene`` are labels such as "Act I" and "Scene II", each empty where the play has none; ``heading`` is what
    the heading says besides, usually the place.
    """

    act: str = ""
    scene: str = ""
    heading: str = ""
    entries: tuple[Entry, ...] = ()

    @property
    def speeches(self) -> tuple[Speech, ...]:
        return tuple(entry for entry in self.entries if isinstance(entry, Speech))

    @property
    def speakers(self) -> tuple[str, ...]:
        """The people who speak, in the order of their first speeches."""
        return tuple(dict.fromkeys(name for speech in self.speeches for name in speech.speakers))


class Play(Record):
    """A play or a screenplay. ``layout`` is what its file was recognised as."""

    title: str
    layout: str
    cast: tuple[CastMember, ...] = ()
    scenes: tuple[PlayScene, ...] = ()

    def list_speeches(self) -> Iterator[Speech]:
        for scene in self.scenes:
            yield from scene.speeches
