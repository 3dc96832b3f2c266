"""Listens, and opens the browser."""

from __future__ import annotations

import ipaddress
import secrets
import socket
import threading
import webbrowser
from collections.abc import Callable, Sequence
from pathlib import Path

import uvicorn

from sociable.core.errors import InputError
from sociable.studio.application import Studio, make_application
from sociable.studio.index import Index, choose_place
from sociable.studio.indexing import Indexer
from sociable.studio.security import TOKEN_BYTES, TOKEN_PARAMETER, Access
from sociable.studio.surveys import find_open_surveys, make_path

LOOPBACK = "127.0.0.1"
PORT = 8008
SECONDS_TO_CLOSE = 2
"""Streams of events never end of themselves: they are cut when the server is stopped."""


def check_folder(folder: Path) -> Path:
    """The folder. Raises InputError where there is none."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder. Name the one your runs are in, as in: sociable studio runs")
    return folder


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a server that listens there."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens at ``host``; a ``port`` of 0 takes any that is free. Raises InputError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise InputError(
            f"Cannot listen at {host}, port {port}: {error.strerror or error}. Choose another with --port."
        ) from None


class StudioServer:
    """A studio that listens. ``run`` serves until it is stopped, by Ctrl-C or by ``stop`` from another thread."""

    def __init__(self, folder: Path, host: str = LOOPBACK, port: int = 0, names: Sequence[str] = ()) -> None:
        """``names``: other names of hosts under which browsers reach it. Raises InputError."""
        self._folder = path = check_folder(folder).resolve()
        index = Index(choose_place(path))
        self.studio = Studio(path, index, Indexer(index, path))
        self._socket = listen(host, port)
        self.port = int(self._socket.getsockname()[1])
        own = () if is_loopback(host) else (host.lower(),)
        self.access = Access(secrets.token_urlsafe(TOKEN_BYTES), self.port, (*own, *map(str.lower, names)))
        shown = LOOPBACK if host in ("0.0.0.0", "::", "") else f"[{host}]" if ":" in host else host  # noqa: S104
        self.url = f"http://{shown}:{self.port}"
        config = uvicorn.Config(
            make_application(self.studio, self.access),
            log_level="error",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=SECONDS_TO_CLOSE,
            ws="none",
        )
        self._server = uvicorn.Server(config)

    @property
    def owners_url(self) -> str:
        """The address that lets the owner in."""
        return self._make_url(self.access.token)

    def make_url_for_once(self) -> str:
        """An address that lets the owner in once."""
        return self._make_url(self.access.make_token_for_once())

    def _make_url(self, token: str) -> str:
        return f"{self.url}/?{TOKEN_PARAMETER}={token}"

    def make_persons_url(self, person: str, secret: str) -> str:
        """The address of a person's page. The owner's pages show it until the studio is stopped."""
        find_open_surveys(self._folder).links[self._folder, person] = secret
        return f"{self.url}{make_path(secret)}"

    def run(self) -> None:
        self.studio.indexer.start()
        # Answers that an earlier studio could not make records any more are seen to first.
        threading.Thread(target=find_open_surveys(self._folder).search, daemon=True).start()
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self.studio.indexer.stop()
            self._socket.close()

    def stop(self) -> None:
        self._server.should_exit = True


def serve(
    folder: Path, host: str, port: int, names: Sequence[str], *, open_browser: bool, tell: Callable[[StudioServer], None]
) -> None:
    """Serves the runs below ``folder`` until Ctrl-C. ``tell`` is called once it listens. Raises InputError."""
    server = StudioServer(folder, host, port, names)
    tell(server)
    if open_browser:
        webbrowser.open(server.make_url_for_once())
    server.run()
