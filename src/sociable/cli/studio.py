"""The command of the studio."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from sociable.cli.options import declare_option
from sociable.cli.output import messages, say
from sociable.core.errors import InputError
from sociable.core.extras import import_extra

if TYPE_CHECKING:
    from sociable.studio.server import StudioServer


def studio(
    folder: Annotated[Path, typer.Argument(metavar="[FOLDER]", help="The folder your runs are in.")] = Path("runs"),
    host: Annotated[str, declare_option("--host", "ADDRESS", "The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, declare_option("--port", "N", "The port to listen at; 0 for any that is free.")] = 8008,
    public: Annotated[bool, typer.Option("--public", help="Needed with a --host that other machines reach.")] = False,
    name: Annotated[
        list[str] | None, declare_option("--name", "HOST", "A name under which browsers reach this machine; repeatable.")
    ] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the studio in your browser.")] = True,
) -> None:
    """Look at runs in your browser, on this machine; needs the extra studio. Ctrl-C ends it, and no run."""
    for module in ("uvicorn", "starlette", "python_multipart"):
        import_extra(module, "studio", "The studio")
    from sociable.studio import server

    if not server.is_loopback(host) and not public:
        raise InputError(
            f"--host {host} lets other machines reach the studio. If you want that, add --public; otherwise leave --host out."
        )
    # Ctrl-C is the way to end it.
    with contextlib.suppress(KeyboardInterrupt):
        server.serve(folder, host, port, name or (), open_browser=browser, tell=lambda each: _tell(each, public=public))


def _tell(server: StudioServer, *, public: bool) -> None:
    say(f"Studio: {server.owners_url}")
    if public:
        warning = (
            "Warning: other machines reach this studio, and what is sent to it goes through the network unencrypted. "
            "The address above lets anybody in who has it: keep it to yourself, and give people links of their own."
        )
        messages.print(Text(warning), soft_wrap=True)
