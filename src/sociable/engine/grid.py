"""A grid of runs as a file asks for it: models × benchmarks × conditions × seeds, with settings for all and for some.

Every fault in the file is told with its line and, where a name is wrong, with the nearest right one.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from pydantic import ValidationError

from sociable.core.errors import InputError
from sociable.core.form import PERSON
from sociable.core.toml_lines import Path as Place
from sociable.core.toml_lines import find_lines
from sociable.engine.benchmark import Benchmark
from sociable.engine.registry import find_benchmark, list_benchmark_names
from sociable.engine.seats import Role
from sociable.engine.settings import RoleSettings, RunSettings, add_role_defaults, strip_endpoint
from sociable.engine.study import Contested, Rated

_FOR_ALL = ("max_cost", "max_connections", "prices")
"""Settings that hold for the study as a whole or not at all."""
_OF_THE_GRID = ("models", "benchmarks", "seeds", "conditions", "settings")
_ANYWHERE = tuple(name for name in RunSettings.model_fields if name not in ("benchmark", "model", "seed", "options", *_FOR_ALL))
"""Settings that the file may give for all runs, for one benchmark, or for one condition."""
_ROLES = {
    "partner": Role.PARTNER,
    "opponent": Role.OPPONENT,
    "judges": Role.JUDGE,
    "reference": Role.REFERENCE,
    "reference_file": Role.REFERENCE,
}
_SEATED = {"model": Role.SUBJECT, **_ROLES}
_PROVIDERS = ("openai", "openai-compatible", "local", "inspect")


@dataclass(frozen=True)
class GridRun:
    """One run of a grid, and where in the file its settings stand."""

    settings: RunSettings
    condition: str
    places: Mapping[str, Place] = field(repr=False, compare=False)
    """By setting the way to it in the file."""

    def __str__(self) -> str:
        condition = f", condition {self.condition}" if self.condition else ""
        return f"{self.settings.benchmark} with {strip_endpoint(self.settings.model)}{condition}, seed {self.settings.seed}"


@dataclass(frozen=True)
class Grid:
    """All runs that a file asks for."""

    file: Path
    lines: Mapping[Place, int] = field(repr=False)
    runs: tuple[GridRun, ...]
    has_seeds: bool
    """Whether the runs differ in their seeds."""
    remarks: tuple[str, ...]
    """What was left out, and why."""

    def blame(self, run: GridRun, error: InputError) -> InputError:
        """The error of one run with the line of the setting that it names, or else of the run's benchmark."""
        said = str(error)
        named = [
            (name, place, text)
            for name, way in run.places.items()
            for place, text in _list_values(run.settings, name, way)
            if any(each in said for each in (f"'{text}'", f"'{strip_endpoint(text)}'", *_list_written(name, text)))
        ]
        # Who sits in two roles is named twice; the error tells in which role it was wrong.
        named.sort(key=lambda each: f"the {_SEATED.get(each[0], each[0])}" not in said)
        if not named:
            return self._locate(run.places["benchmark"], f"{run}: {error}")
        name, place, text = named[0]
        near = suggest(text, _list_model_names(text, run.settings.benchmark, _SEATED[name])) if name in _SEATED else ""
        return self._locate(place, f"{run}: {error}{near}")

    def _locate(self, place: Place, problem: str) -> InputError:
        return InputError(f"{name_place(self.file, self.lines, place)}: {problem}")


def name_place(file: Path, lines: Mapping[Place, int], place: Place) -> str:
    """The file and the line of a value, or of the nearest table around it that has one."""
    for end in range(len(place), 0, -1):
        if place[:end] in lines:
            return f"{file}, line {lines[place[:end]]}"
    return str(file)


def suggest(name: str, known: Iterable[str]) -> str:
    """A sentence with the known name that is most like one that is wrong; empty where none is like it."""
    near = difflib.get_close_matches(name, [each for each in known if each != name], 1)
    return f" Did you mean '{near[0]}'?" if near else ""


def _list_values(settings: RunSettings, name: str, way: Place) -> Iterator[tuple[Place, str]]:
    """(where it stands, text) of each text that a setting holds; of an option its name."""
    if name.startswith("options."):
        yield way, name.removeprefix("options.")
    elif name in RunSettings.model_fields:
        value = getattr(settings, name)
        several = isinstance(value, tuple)
        for number, each in enumerate(value if several else [value]):
            if isinstance(each, str) and each:
                yield (*way, number) if several else way, each


def _list_written(name: str, text: str) -> Iterator[str]:
    """A path as errors write it."""
    if name in ("dataset", "prompts", "reference_file"):
        yield str(Path(text).resolve())


def _list_model_names(name: str, benchmark: str, role: Role) -> Iterator[str]:
    """Right names that a wrong one may have been meant for."""
    yield from (f"reference/{agent}" for agent in find_benchmark(benchmark).reference_agents.get(role, ()))
    provider, slash, rest = name.partition("/")
    if slash and provider not in (*_PROVIDERS, "reference"):
        yield from (f"{each}/{rest}" for each in _PROVIDERS)


def read_grid(file: Path) -> Grid:
    """The grid in a TOML file. Raises InputError naming the line; nothing but the file is looked at yet."""
    try:
        text = file.read_text(encoding="utf-8-sig")
        values = tomllib.loads(text)
    except FileNotFoundError:
        raise InputError(f"{file}: no such file. A study is described by a TOML file: models, benchmarks, settings.") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"{file}: cannot be read as TOML: {error}") from None
    return _GridFile(file, values, find_lines(text)).expand()


def _list_texts(value: Any) -> list[str]:
    """The texts that a setting holds, one or several; whatever else it is, somebody else complains about it."""
    return [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str)]


class _GridFile:
    """The values of a file, checked one after the other."""

    def __init__(self, file: Path, values: dict[str, Any], lines: Mapping[Place, int]) -> None:
        self.file = file
        self.values = values
        self.lines = lines
        self.remarks: dict[str, None] = {}

    def expand(self) -> Grid:
        """Checks everything, and makes the settings of each run."""
        known = list_benchmark_names()
        self._check_fields((), self.values, (*_OF_THE_GRID, *_ANYWHERE, *_FOR_ALL), known)
        models, benchmarks = self._read_list("models"), self._read_list("benchmarks")
        self._check_models(models)
        for number, name in enumerate(benchmarks):
            if name not in known:
                self._fail(("benchmarks", number), f"there is no benchmark '{name}'.{suggest(name, known)}", known)
        seeds = self._read_list("seeds", int) if "seeds" in self.values else [0]
        conditions = self._read_conditions(benchmarks)
        self._check_settings(benchmarks)
        for name in self.values:
            if name in known and name not in benchmarks:
                self._fail((name,), f"[{name}] has options of a benchmark that is none of this study's.", benchmarks)
        self.named = {strip_endpoint(each) for each in [*models, *self._list_named_models()]}
        runs = [
            self._make_run(find_benchmark(benchmark), ("benchmarks", number), model, condition, seed)
            for number, benchmark in enumerate(benchmarks)
            for condition in self._list_conditions(benchmark, conditions)
            for model in range(len(models))
            if self._can_play(models[model], benchmark, benchmarks)
            for seed in seeds
        ]
        return Grid(self.file, self.lines, tuple(runs), len(seeds) > 1, tuple(self.remarks))

    def _fail(self, place: Place, problem: str, known: Iterable[str] = ()) -> NoReturn:
        listed = f" Known are: {', '.join(known)}." if known else ""
        raise InputError(f"{name_place(self.file, self.lines, place)}: {problem}{listed}")

    # The parts of the file.

    def _check_fields(self, place: Place, given: Mapping[str, Any], known: Collection[str], tables: Collection[str] = ()) -> None:
        for name, value in given.items():
            if name in tables and name not in known:
                if not isinstance(value, dict):
                    self._fail((*place, name), f"'{name}' must be a table, as in [{name}].")
            elif name not in known:
                where = f" in [{'.'.join(map(str, place))}]" if place else ""
                for_all = " It holds for all runs: write it at the top of the file." if name in _FOR_ALL else ""
                near = suggest(name, [*known, *tables])
                self._fail((*place, name), f"unknown setting '{name}'{where}.{for_all or near}", known)

    def _read_list(self, name: str, kind: type = str) -> list[Any]:
        """A list that is not empty and names nothing twice."""
        listed, what = self.values.get(name), {str: 'texts, as in ["…"]', int: "whole numbers, as in [0, 1]"}[kind]
        if not isinstance(listed, list) or not listed:
            self._fail((name,), f"'{name}' must be a list of {what}; it is {'empty' if listed == [] else 'missing or none'}.")
        for number, each in enumerate(listed):
            if type(each) is not kind or not str(each).strip():
                self._fail((name, number), f"{each!r} in '{name}': expected {what}.")
            if each in listed[:number]:
                self._fail((name, number), f"{each!r} stands twice in '{name}'. Take one out.")
        return listed

    def _check_models(self, models: Sequence[str]) -> None:
        stripped = [strip_endpoint(name) for name in models]
        for number in range(len(models)):
            if stripped[number] in stripped[:number]:
                self._fail(("models", number), f"'{stripped[number]}' stands twice; an address alone makes no other model.")

    def _read_conditions(self, benchmarks: Sequence[str]) -> list[dict[str, Any]]:
        conditions = self.values.get("conditions", [])
        if not isinstance(conditions, list) or not all(isinstance(each, dict) for each in conditions):
            self._fail(("conditions",), "conditions must be tables of their own, each below a line [[conditions]].")
        names: list[str] = []
        for number, condition in enumerate(conditions):
            place: Place = ("conditions", number)
            self._check_fields(place, condition, ("name", "benchmarks", "options", *_ANYWHERE))
            name = condition.get("name")
            if not isinstance(name, str) or not name.strip():
                self._fail(place, 'a condition needs a name, as in name = "plain".')
            if name in names:
                self._fail((*place, "name"), f"two conditions are called '{name}'. Call one otherwise.")
            names.append(name)
            for index, each in enumerate(self._read_names(condition, benchmarks, place)):
                if each not in benchmarks:
                    near = suggest(each, benchmarks)
                    self._fail((*place, "benchmarks", index), f"'{each}' is none of this study's benchmarks.{near}", benchmarks)
            if not isinstance(condition.get("options", {}), dict):
                self._fail((*place, "options"), "options must be a table, as in [conditions.options].")
        return conditions

    def _read_names(self, condition: Mapping[str, Any], benchmarks: Sequence[str], place: Place) -> list[str]:
        names = condition.get("benchmarks", benchmarks)
        if not isinstance(names, list) or not names:
            self._fail((*place, "benchmarks"), 'benchmarks must be a list of one or more, as in ["hsii"].')
        return list(map(str, names))

    def _check_settings(self, benchmarks: Sequence[str]) -> None:
        tables = self.values.get("settings", {})
        if not isinstance(tables, dict):
            self._fail(("settings",), "settings are given by benchmark, as in [settings.hsii].")
        for name, table in tables.items():
            if name not in benchmarks:
                near = suggest(name, benchmarks)
                self._fail(("settings", name), f"'{name}' is none of this study's benchmarks.{near}", benchmarks)
            if not isinstance(table, dict):
                self._fail(("settings", name), f"settings of one benchmark are a table, as in [settings.{name}].")
            if "options" in table:
                self._fail(("settings", name, "options"), f"{name}'s own options stand in the table [{name}].")
            self._check_fields(("settings", name), table, _ANYWHERE)

    def _list_named_models(self) -> Iterator[str]:
        """The models that the file names anywhere but in its list."""
        conditions, tables = self.values.get("conditions", []), self.values.get("settings", {})
        for layer in (self.values, *conditions, *tables.values()):
            for name in (*_ROLES, "raters"):
                yield from _list_texts(layer.get(name))

    # The runs.

    def _list_conditions(self, benchmark: str, conditions: Sequence[dict[str, Any]]) -> list[int | None]:
        """The conditions of a benchmark, by their places; None: it has none, and is run as it is."""
        of_it = [place for place, each in enumerate(conditions) if benchmark in each.get("benchmarks", [benchmark])]
        return [*of_it] or [None]

    def _can_play(self, model: str, benchmark: str, benchmarks: Sequence[str]) -> bool:
        """Whether a benchmark has this reference agent. It is left out of those that lack it, if any has it."""
        agent = model.removeprefix("reference/").partition("@")[0]
        having = [name for name in benchmarks if agent in find_benchmark(name).reference_agents.get(Role.SUBJECT, ())]
        if not model.startswith("reference/") or benchmark in having or not having:
            return True
        self.remarks[f"{benchmark} has no {model}: it is left out there."] = None
        return False

    def _make_run(self, benchmark: Benchmark, place: Place, model: int, condition: int | None, seed: int) -> GridRun:
        name = benchmark.name
        values: dict[str, Any] = {"benchmark": name, "model": self.values["models"][model], "seed": seed}
        places: dict[str, Place] = {"benchmark": place, "model": ("models", model), "seed": ("seeds",)}
        options = dict(self.values.get(name, {}))
        places |= {f"options.{key}": (name, key) for key in options}
        layers: list[tuple[Place, Mapping[str, Any]]] = [((), self._leave_unasked_out(benchmark))]
        layers.append((("settings", name), self.values.get("settings", {}).get(name, {})))
        if condition is not None:
            own = self.values["conditions"][condition]
            layers.append((("conditions", condition), own))
            options |= own.get("options", {})
            places |= {f"options.{key}": ("conditions", condition, "options", key) for key in own.get("options", {})}
        roles: dict[str, Any] = {}
        for way, layer in layers:
            known = {key: value for key, value in layer.items() if key in (*_ANYWHERE, *(() if way else _FOR_ALL))}
            own_roles = known.get("roles", {})
            if not isinstance(own_roles, dict):
                self._fail((*way, "roles"), "roles are given by role or model, as in [roles.subject].")
            for key, own_role in own_roles.items():
                both = isinstance(own_role, dict) and isinstance(roles.get(key), dict)
                roles[key] = {**roles[key], **own_role} if both else own_role
            values |= known
            places |= {key: (*way, key) for key in known}
            places |= {f"roles.{key}": (*way, "roles", key) for key in own_roles}
        for role in ("model", *_ROLES, "raters", "people"):
            named = _list_texts(values.get(role))
            if PERSON in named or (named and role == "people"):
                self._fail(places[role], f"'{PERSON}' cannot play many runs at once. Run a person's with: sociable run {name}.")
        settings = self._validate({**values, "roles": self._leave_absent_out(roles, values), "options": options}, places)
        try:
            settings = add_role_defaults(settings, benchmark.role_defaults)
        except InputError as error:
            self._fail(place, str(error))
        made = GridRun(settings, self.values["conditions"][condition]["name"] if condition is not None else "", places)
        self._check_opponent(benchmark, made)
        return made

    def _leave_unasked_out(self, benchmark: Benchmark) -> dict[str, Any]:
        """The settings for all runs, without the roles that a benchmark asks nothing of."""
        kind = benchmark.load_study_type()
        unasked: dict[str, str] = {name: why for name, role in _ROLES.items() if (why := kind.list_unasked().get(role))}
        if not issubclass(kind, Contested):
            unasked["opponent"] = "in {benchmark} no two models meet"
        if not issubclass(kind, Rated):
            unasked |= dict.fromkeys(("rubric", "raters"), "{benchmark} is not rated by rubrics")
        for name in filter(self.values.__contains__, unasked):
            self.remarks[f"{unasked[name].format(benchmark=benchmark.name)}: '{name}' is left out there."] = None
        return {name: value for name, value in self.values.items() if name not in unasked}

    def _leave_absent_out(self, roles: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
        """The settings of roles, and of the models that take part in a run; those of other models of the study are left out."""
        present: set[str] = set()
        for name in ("model", *_ROLES, "raters"):
            present |= set(map(strip_endpoint, _list_texts(values.get(name))))
        return {key: role for key, role in roles.items() if key in present or key not in self.named}

    def _validate(self, values: Mapping[str, Any], places: Mapping[str, Place]) -> RunSettings:
        try:
            return RunSettings.model_validate(values)
        except ValidationError as error:
            self._fail_validation(error, places)

    def _fail_validation(self, error: ValidationError, places: Mapping[str, Place]) -> NoReturn:
        # A word that nobody knows is why another is missing.
        first = min(error.errors(include_url=False), key=lambda each: each["type"] != "extra_forbidden")
        way = list(first["loc"])
        name = ".".join(map(str, way)) or "roles"
        message, near = first["msg"].removeprefix("Value error, "), ""
        inner = 2 if ".".join(map(str, way[:2])) in places else 1
        place = (*places.get(".".join(map(str, way[:inner])), ("roles",)), *way[inner:])
        if not way and message.startswith("roles."):
            # A check of the whole: it names the key of a role.
            place = next((at for key, at in places.items() if message.startswith(f"{key} ")), place)
            near = suggest(str(place[-1]), Role)
        if first["type"] == "extra_forbidden":
            known = tuple(RoleSettings.model_fields if way[0] == "roles" else ("input", "output"))
            self._fail(place, f"unknown setting '{name}'.{suggest(str(way[-1]), known)}", known)
        self._fail(place, f"setting '{name}': {message}.{near}")

    def _check_opponent(self, benchmark: Benchmark, run: GridRun) -> None:
        if issubclass(benchmark.load_study_type(), Contested) and not run.settings.opponent:
            self._fail(
                run.places["benchmark"],
                f'in {benchmark.name} two models meet. Name whom all models meet, as opponent = "MODEL" below '
                f"[settings.{benchmark.name}], or have every pair meet: sociable duel {benchmark.name}.",
            )
