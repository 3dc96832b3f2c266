"""The command line. Each command is one call of ``sociable.api``; nothing is decided here."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Annotated

import typer

import sociable
from sociable.cli import construct, datasets, judging, logs, planning, reporting, running, towns, watching
from sociable.cli.benchmarks import Purpose, make_benchmark_group
from sociable.cli.demo import demo
from sociable.cli.exporting import export
from sociable.cli.importing import import_
from sociable.cli.leaderboard import leaderboard
from sociable.cli.new import new_app
from sociable.cli.output import complain, say
from sociable.cli.review import review
from sociable.cli.show import list_, show
from sociable.cli.studies import study
from sociable.cli.studio import studio
from sociable.core.errors import Interrupted, RunStopped, SociableError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Measures the social intelligence of language agents.",
    epilog="Models: openai/NAME, openai-compatible/NAME[@URL], local/smollm2, local/FILE.gguf, inspect/PROVIDER/NAME, "
    "python:FILE:NAME, human, reference/AGENT.",
)

_RUN = "Run a benchmark, score it, and write the report."
_DUEL = "Have models meet in pairs, and rate them; or add models to a tournament."
_ESTIMATE = "Tell calls, tokens and price of a run before anything is spent; with --probe the time, after a few cases."

app.add_typer(make_benchmark_group(running.run, _RUN), name="run")
app.add_typer(make_benchmark_group(running.duel, _DUEL, Purpose.DUEL), name="duel")
app.add_typer(make_benchmark_group(planning.estimate, _ESTIMATE, Purpose.ESTIMATE), name="estimate")
app.add_typer(new_app, name="new", help="Start something of your own: a benchmark.")
app.add_typer(construct.app, name="construct")

_COMMANDS: dict[str, Callable[..., None]] = {
    "demo": demo,
    "list": list_,
    "resume": running.resume,
    "judge": judging.judge,
    "score": reporting.score,
    "report": reporting.report,
    "compare": reporting.compare,
    "leaderboard": leaderboard,
    "power": planning.power,
    "audit": datasets.audit,
    "audit-judge": judging.audit_judge,
    "label": datasets.label,
    "describe": datasets.describe,
    "dataset": datasets.dataset,
    "show": show,
    "replay": towns.replay,
    "export": export,
    "import": import_,
    "fork": towns.fork,
    "interview": towns.interview,
    "map": towns.draw_map,
    "export-log": logs.export_log,
    "import-log": logs.import_log,
    "review": review,
    "study": study,
    "studio": studio,
    "status": watching.status,
    "stop": watching.stop,
    "raise": watching.raise_limit,
}
"""In the order in which help lists them."""

for name, command in _COMMANDS.items():
    app.command(name)(command)


@app.callback(invoke_without_command=True)
def version(show_version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False) -> None:
    if show_version:
        say(f"sociable {sociable.__version__}")
        raise typer.Exit


def main() -> None:
    """The entry point: what goes wrong ends in one clear message and an exit code, never in a traceback.

    2: something to mend before anything is spent; 3: the run ended early and can be resumed; 130: interrupted.
    """
    logging.basicConfig(level=logging.ERROR, format="%(message)s")
    logging.getLogger("sociable").setLevel(logging.INFO)
    try:
        app(standalone_mode=True)
    except Interrupted as stop:
        complain(stop, 130)
    except RunStopped as stop:
        complain(stop, 3)
    except SociableError as error:
        complain(error, 2)
    except KeyboardInterrupt:
        complain("Interrupted.", 130)
