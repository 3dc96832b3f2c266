"""Commands that take a benchmark and its options: ``run``, ``estimate`` and ``duel``.

What every benchmark takes is written down here; what one alone takes is read from the record of its own options, and of
its series, so that a new option is declared by the benchmark and nowhere else.
"""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

import typer
from typer.core import TyperGroup

from sociable import api
from sociable.cli import options as shared
from sociable.core.errors import InputError
from sociable.core.form import PeopleAt

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from sociable.engine.benchmark import Benchmark


@dataclass(frozen=True)
class Asked:
    """A run as the command line asks for it."""

    benchmark: Benchmark
    model: str | None
    """The model under test; None where the settings may name it, and of a tournament, which has ``models``."""
    config: Path | None
    settings: dict[str, Any]
    """The settings, with the names of ``RunSettings``."""
    series: dict[str, Any]
    """Options that make several runs."""
    out: Path | None
    probe: int = 0
    """The number of cases that are run for an estimate."""
    models: tuple[str, ...] = ()
    """The participants of a tournament."""
    anchors: bool = False
    """Whether reference agents take part in it."""
    people_at: PeopleAt = PeopleAt.TERMINAL
    cluster: str | None = None
    workers: int | None = None
    is_estimate: bool = False
    """Whether only what it will take is asked for."""


def _take_settings(
    model: shared.Model = None,
    partner: shared.Partner = None,
    opponent: shared.Opponent = None,
    person: shared.Persons = None,
    judge: shared.Judges = None,
    reference: shared.Reference = None,
    reference_file: shared.ReferenceFile = None,
    config: shared.Config = None,
    dataset: shared.DatasetPath = None,
    skip_invalid: shared.SkipInvalid = None,
    limit: shared.Limit = None,
    scenario: shared.Scenarios = None,
    until: shared.Until = None,
    seed: shared.Seed = None,
    repeats: shared.Repeats = None,
    max_connections: shared.Connections = None,
    max_cost: shared.MaxCost = None,
    base_url: shared.BaseUrl = None,
    prompts: shared.PromptsFolder = None,
    option: shared.Options = None,
    probe: shared.Probe = None,
    people_at: shared.At = PeopleAt.TERMINAL,
    cluster: shared.OnCluster = None,
    workers: shared.Workers = None,
    out: Annotated[Path | None, typer.Option("--out", help="The run folder; by default a new one under runs/.")] = None,
) -> None:
    """The options of every benchmark."""


def _take_tournament(
    models: shared.Models = None,
    anchors: shared.Anchors = False,
    estimate: shared.OnlyEstimate = False,
    out: Annotated[
        Path | None, typer.Option("--out", help="The tournament's folder, new or old; by default under runs/.")
    ] = None,
) -> None:
    """The options of every tournament, in place of those that name who takes part in one run."""


_SHARED = inspect.signature(_take_settings, eval_str=True).parameters
_OF_TOURNAMENTS = inspect.signature(_take_tournament, eval_str=True).parameters


class Purpose(Enum):
    """What is done with a benchmark."""

    RUN = "run"
    ESTIMATE = "estimate"
    DUEL = "duel"

    def list_options(self) -> list[inspect.Parameter]:
        """The options of all benchmarks."""
        left_out = {
            Purpose.RUN: {"probe"},
            Purpose.ESTIMATE: {"people_at", "cluster", "workers"},
            Purpose.DUEL: {"probe", "until", "model", "opponent", "out", "person", "cluster", "workers"},
        }[self]
        first = _OF_TOURNAMENTS.values() if self is Purpose.DUEL else ()
        return [*first, *(each for name, each in _SHARED.items() if name not in left_out)]

    def list_benchmarks(self) -> list[str]:
        """The names of those that it can be done with."""
        from sociable.engine.registry import find_benchmark, list_benchmark_names

        return [name for name in list_benchmark_names() if self is not Purpose.DUEL or find_benchmark(name).duels]


def make_benchmark_group(action: Callable[[Asked], None], help_text: str, purpose: Purpose = Purpose.RUN) -> typer.Typer:
    """A command with a subcommand for each benchmark that it can be done with."""

    class BenchmarkGroup(TyperGroup):
        def list_commands(self, ctx: Any) -> list[str]:
            return purpose.list_benchmarks()

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            from sociable.engine.registry import find_benchmark

            return _make_command(find_benchmark(cmd_name), action, purpose)

        def format_commands(self, ctx: Any, formatter: Any) -> None:
            from sociable.engine.registry import find_benchmark

            with formatter.section("Benchmarks"):
                formatter.write_dl([(name, find_benchmark(name).title) for name in self.list_commands(ctx)])

        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            """The benchmark may stand anywhere among the options."""
            names = self.list_commands(ctx)
            place = next((place for place, arg in enumerate(args) if arg in names), 0)
            if args and args[place].startswith("-") and "--help" not in args:
                raise InputError(f"Name a benchmark: {', '.join(names)}.")
            return super().parse_args(ctx, [*args[place : place + 1], *args[:place], *args[place + 1 :]])

    return typer.Typer(
        cls=BenchmarkGroup,
        help=help_text,
        no_args_is_help=True,
        rich_markup_mode=None,
        subcommand_metavar="BENCHMARK [OPTIONS]",
        callback=lambda: None,
    )


def _make_command(benchmark: Benchmark, action: Callable[[Asked], None], purpose: Purpose) -> Any:
    """The command of one benchmark, with its own options after those of all."""
    name, title = benchmark.name, benchmark.title
    if purpose is Purpose.DUEL:
        benchmark = api.tournaments.find_duels(name)
    own, series = benchmark.load_options_type(), benchmark.load_series_type() if purpose is Purpose.RUN else None
    parameters = purpose.list_options()
    for record in filter(None, (own, series)):
        parameters += [_make_parameter(name, field) for name, field in record.model_fields.items() if name not in _SHARED]

    def command(**given: Any) -> None:
        said = {name: value for name, value in given.items() if value not in (None, [])}
        names = ("probe", "anchors", "people_at", "cluster", "workers")
        apart: dict[str, Any] = {name: said.pop(name) for name in names if name in said}
        apart |= {"is_estimate": said.pop("estimate", False), "models": tuple(said.pop("models", ()))}
        named = [said.pop(name, None) for name in ("model", "config", "out")]
        values = read_options(said.pop("option", ()))
        for name in values.keys() & own.model_fields.keys():
            if tuple in _list_kinds(own.model_fields[name].annotation) and not isinstance(values[name], list):
                values[name] = _read_value([str(values[name])])
        values |= {name: _read_value(said.pop(name)) for name in own.model_fields if name in said}
        several = {name: said.pop(name) for name in (series.model_fields if series else ()) if name in said}
        for name in ("judge", "scenario"):
            if name in said:
                said[f"{name}s"] = tuple(said.pop(name))
        if "person" in said:
            said["people"] = tuple(said.pop("person"))
        settings = said | ({"options": values} if values else {})
        action(Asked(benchmark, named[0], named[1], settings, several, named[2], **apart))

    return shared.make_command(name, title, command, parameters)


def _make_parameter(name: str, field: FieldInfo) -> inspect.Parameter:
    """An option of a benchmark, as one of the command line."""
    kinds = _list_kinds(field.annotation)
    kind: Any = bool if bool in kinds else list[str] if tuple in kinds else str
    choices = [each for each in kinds if isinstance(each, str)]
    numbers = "N" if int in kinds else "X" if float in kinds else ""
    metavar = "|".join(choices) or (f"{numbers or 'WORD'},…" if tuple in kinds else numbers or "TEXT")
    if any(hasattr(each, "model_fields") for each in kinds):
        metavar = "{NAME=VALUE,…}"
    flag = f"--{name.replace('_', '-')}"
    return shared.make_option(flag, kind | None, field.description, metavar=None if kind is bool else metavar)


def _list_kinds(annotation: Any) -> list[Any]:
    """The types that values can have, and the words where they are some of a few."""
    if get_origin(annotation) in (tuple, list):
        return [tuple, get_args(annotation)[0]]
    parts = get_args(annotation)
    return [kind for part in parts for kind in _list_kinds(part)] if parts else [annotation]


def _read_value(said: Any) -> Any:
    """The value given for an option; for a list the words between commas, given once or several times."""
    if isinstance(said, bool):
        return said
    if isinstance(said, str):
        return _read_toml(said)
    parts: list[Any] = []
    for text in said:
        found = _read_toml(text)
        parts += found if isinstance(found, list) else [found] if isinstance(found, dict) else map(_read_toml, text.split(","))
    return parts


def read_options(texts: Iterable[str] | None) -> dict[str, Any]:
    """The values in texts like ``NAME=VALUE``, each read as in a TOML file, or as the text it is."""
    found = {}
    for text in texts or ():
        name, separator, value = text.partition("=")
        if not separator:
            raise InputError(f"--option takes NAME=VALUE, not '{text}'.")
        found[name] = _read_toml(value)
    return found


def _read_toml(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text.strip()}")["value"]
    except tomllib.TOMLDecodeError:
        return text
