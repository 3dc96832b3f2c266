"""The command of the studio."""

from __future__ import annotations

import contextlib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from sociable import api
from sociable.cli.options import declare_option
from sociable.cli.output import messages, say
from sociable.core.errors import InputError
from sociable.core.extras import import_extra

if TYPE_CHECKING:
    from collections.abc import Callable

    from sociable.api.surveys import BegunSurvey
    from sociable.studio.server import StudioServer


def studio(
    folder: Annotated[Path, typer.Argument(metavar="[FOLDER]", help="The folder your runs are in.")] = Path("runs"),
    host: Annotated[str, declare_option("--host", "ADDRESS", "The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, declare_option("--port", "N", "The port to listen at; 0 for any that is free.")] = 8008,
    public: Annotated[bool, typer.Option("--public", help="Needed with a --host that other machines reach.")] = False,
    name: Annotated[
        list[str] | None, declare_option("--name", "HOST", "A name under which browsers reach this machine; repeatable.")
    ] = None,
    people: Annotated[
        int | None, declare_option("--people", "N", "Ask so many people about the run in FOLDER: a link for each.")
    ] = None,
    task: Annotated[
        str, declare_option("--task", "TASK", "With --people: judge, rate (episodes), or word (on episodes that went badly).")
    ] = "judge",
    sample: Annotated[int | None, declare_option("--sample", "N", "With --people: items drawn; by default 60.")] = None,
    precision: Annotated[
        float | None, declare_option("--precision", "P", "In place of --sample: items until corrected scores are known to ± P.")
    ] = None,
    per_item: Annotated[int | None, declare_option("--per-item", "K", "People who get each item; by default all.")] = None,
    attention_checks: Annotated[
        int, declare_option("--attention-checks", "N", "Items with a known answer, dealt to everybody among the others.")
    ] = 0,
    consent: Annotated[
        Path | None, declare_option("--consent", "FILE", "A text that people agree to before anything is shown.")
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
    begin = None
    if people is None:
        besides = {"--task": task != "judge", "--sample": sample is not None, "--precision": precision is not None}
        besides |= {
            "--per-item": per_item is not None,
            "--attention-checks": attention_checks != 0,
            "--consent": consent is not None,
        }
        if named := next((option for option, is_given in besides.items() if is_given), ""):
            raise InputError(f"{named} goes with --people N, which asks so many people about the run in {folder}.")
    else:
        begin = partial(
            api.surveys.begin_survey,
            folder,
            people,
            task=api.surveys.read_task(task),
            sample=api.surveys.USUAL_SAMPLE if sample is None else sample,
            precision=precision,
            per_item=per_item,
            attention_checks=attention_checks,
            consent=api.surveys.read_consent(consent) if consent else "",
        )
    # Ctrl-C is the way to end it.
    with contextlib.suppress(KeyboardInterrupt):
        server.serve(folder, host, port, name or (), open_browser=browser, tell=lambda each: _tell(each, begin, public=public))


def _tell(server: StudioServer, begin: Callable[[], BegunSurvey] | None, *, public: bool) -> None:
    begun = begin() if begin is not None else None
    say(f"Studio: {server.owners_url}")
    if begun is not None:
        for remark in begun.remarks:
            say(remark)
        say(f"{begun.items} items, {len(begun.people)} people. Their links, which are shown this once:")
        for person in begun.people:
            say(f"  {person.name}: {server.make_persons_url(person.name, person.secret)}")
    if public:
        warning = (
            "Warning: other machines reach this studio, and what is sent to it goes through the network unencrypted. "
            "The address above lets anybody in who has it: keep it to yourself, and give people links of their own."
        )
        messages.print(Text(warning), soft_wrap=True)
