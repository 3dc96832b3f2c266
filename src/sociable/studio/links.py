"""People's links: where the desk of each lies, and what one server knows of them that is written nowhere."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request

from sociable.agents.people.desk import DESK_FILE, Desk, Link, NewLink
from sociable.api.watching import DEEPEST
from sociable.core.errors import InputError, SociableError

SECONDS_BETWEEN_WALKS = 0.5
"""The least time between two walks through all folders for their desks: whoever guesses at links keeps no disk busy."""
SECONDS_OF_ABSENCE = 5.0
"""The silence of a page after which its reader counts as gone: an open page asks every second."""
LONGEST_NAME = 80

_NOBODYS = "This link opens nothing: it has been withdrawn, or is not whole. Ask whoever sent it to you for another."


@dataclass
class Links:
    """What a server knows as long as it runs: the secrets that it told, and who has a page open."""

    _secrets: dict[tuple[Path, int], str] = field(default_factory=dict, repr=False)
    _seen: dict[tuple[Path, int], float] = field(default_factory=dict)
    _folders: dict[str, Path] = field(default_factory=dict, repr=False)
    _walked: tuple[float, Sequence[Path]] = (float("-inf"), ())
    """When the desks were looked for last, and where there were some."""

    def note(self, folder: Path, made: NewLink) -> None:
        """Keeps the secret of a link, so that its maker can be shown it again."""
        self._secrets[folder, made.link.id] = made.secret
        self._folders[made.secret] = folder

    def find_secret(self, folder: Path, link: Link) -> str:
        """The secret of a link; empty where another server told it."""
        return self._secrets.get((folder, link.id), "")

    def note_presence(self, folder: Path, link: Link) -> None:
        self._seen[folder, link.id] = time.monotonic()

    def is_here(self, folder: Path, link: Link) -> bool:
        """Whether the person of a link has its page open."""
        return time.monotonic() - self._seen.get((folder, link.id), float("-inf")) < SECONDS_OF_ABSENCE

    def list_folders(self, root: Path, secret: str) -> Iterator[Path]:
        """The folders whose desk may know a secret, the likeliest first."""
        if (likely := self._folders.get(secret)) is not None:
            yield likely
        if time.monotonic() > self._walked[0] + SECONDS_BETWEEN_WALKS:
            self._walked = time.monotonic(), list(find_desk_folders(root))
        yield from self._walked[1]

    def note_folder(self, secret: str, folder: Path) -> None:
        self._folders[secret] = folder

    def is_known_in(self, folder: Path, secret: str) -> bool:
        """Whether the desk in this folder is the one that knows a secret."""
        return self._folders.get(secret) == folder


@dataclass(frozen=True)
class OpenedLink:
    """A link that somebody came with: the folder it belongs to, its desk opened, and its secret."""

    folder: Path
    desk: Desk
    link: Link
    secret: str = field(repr=False)

    @property
    def address(self) -> str:
        """The path of its page."""
        return f"/desk/{self.secret}"


def find_desk_folders(root: Path) -> Iterator[Path]:
    """All folders below ``root`` in which there is a desk, by path."""
    for path, folders, files in os.walk(root):
        here = Path(path)
        if DESK_FILE in files:
            yield here
        is_deep = len(here.relative_to(root).parts) >= DEEPEST
        folders[:] = [] if is_deep or "manifest.json" in files else sorted(each for each in folders if not each.startswith("."))


@contextmanager
def open_link(request: Request) -> Iterator[OpenedLink]:
    """The link whose secret stands in the address. Raises HTTPException: 404 where it opens nothing."""
    secret: str = request.path_params["secret"]
    links: Links = request.app.state.studio.links
    for folder in links.list_folders(request.app.state.studio.folder, secret):
        if not (folder / DESK_FILE).is_file():
            continue
        try:
            opened = Desk(folder)
        except SociableError:
            if links.is_known_in(folder, secret):
                raise
            continue  # A damaged desk closes no other.
        with opened as desk:
            if (link := desk.find_link(secret)) is not None:
                links.note_folder(secret, folder)
                yield OpenedLink(folder, desk, link, secret)
                return
    raise HTTPException(HTTPStatus.NOT_FOUND, _NOBODYS)


def check_name(name: str, desk: Desk | None = None) -> str:
    """A person's name for a new link. Raises InputError where it is none, or somebody's who has a link already."""
    if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
        raise InputError(f"A person's name has 1 to {LONGEST_NAME} printable characters.")
    if desk and any(each.is_open and each.person.casefold() == name.strip().casefold() for each in desk.list_links()):
        raise InputError(f"{name.strip()} has a link already. Withdraw it first, or tell the two apart by their names.")
    return name.strip()
