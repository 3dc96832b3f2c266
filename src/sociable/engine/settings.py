"""The settings of a run, from the command line, a TOML file or Python. The manifest keeps them."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping, Sequence
from itertools import chain, count
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from sociable.core.errors import InputError
from sociable.core.form import PERSON
from sociable.core.records import Record
from sociable.engine.seats import Role
from sociable.engine.stopping import parse_rule
from sociable.models.concurrency import MOST_AT_ONCE
from sociable.models.limits import Price
from sociable.models.protocol import Sampling

_OR_DEFAULT = BeforeValidator(lambda value: None if value == "default" else value)
"""TOML has no null: "default" leaves the choice to the server."""


_AS_TUPLE = BeforeValidator(lambda value: (value,) if isinstance(value, str) else value)


class RoleSettings(Record):
    """The address and sampling of one role's model. ``None`` (in a file "default") leaves the choice to the server."""

    base_url: str | None = None
    key_variable: str | None = Field(default=None, description="name of the environment variable that holds the key")
    temperature: Annotated[float | None, _OR_DEFAULT] = Field(default=0.0, ge=0, le=2)
    max_tokens: Annotated[int | None, _OR_DEFAULT] = Field(default=1024, ge=1)
    top_p: float | None = Field(default=None, gt=0, le=1)
    seed: int | None = None
    context_window: int | None = Field(default=None, ge=1, description="tokens; longer prompts are not sent")
    timeout_seconds: float = Field(default=300.0, gt=0, description="the longest silence of a server that is borne")
    attempts: int = Field(default=6, ge=1)
    requests_per_minute: float | None = Field(default=None, gt=0)

    @property
    def sampling(self) -> Sampling:
        return Sampling(self.temperature, self.max_tokens, self.top_p, self.seed)


class RunSettings(Record):
    """Everything that decides a run's result, and what it may use. Field names are the command line's options."""

    benchmark: str
    model: str
    partner: str | None = None
    opponent: str | None = None
    judges: Annotated[tuple[str, ...], _AS_TUPLE] = ()
    rubric: str | None = None
    """The rubric by which ``raters`` rate every participant that has a goal."""
    raters: tuple[str, ...] = ()
    people: Annotated[tuple[str, ...], _AS_TUPLE] = ()
    """Participants who are people, by name, though their role is a model's."""
    reference: str | None = None
    reference_file: str | None = None
    dataset: str | None = None
    skip_invalid: bool = False
    limit: int | None = Field(default=None, ge=1)
    scenarios: Annotated[tuple[str, ...], _AS_TUPLE] = ()
    """The scenarios to run, by id; empty: all."""
    until: Annotated[str | None, BeforeValidator(lambda text: None if text is None else str(parse_rule(str(text))))] = None
    """The rule by which the run ends, as in ``r2 ± 0.03``; None: when all scenarios have been played."""
    seed: int = 0
    repeats: int = Field(default=1, ge=1, le=10_000)
    max_connections: int | None = Field(default=None, ge=1, le=10_000)
    """Calls at once to each model; None: found by trial."""
    max_cost: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    base_url: str | None = None
    prompts: str | None = None
    roles: dict[str, RoleSettings] = Field(default_factory=dict)
    """The settings by role (subject, partner, opponent, judge, reference) or, for one model of a panel, by its full name."""
    prices: dict[str, Price] = Field(default_factory=dict)
    options: dict[str, Any] = Field(default_factory=dict)
    """The benchmark's own options; in a file the table named after the benchmark."""

    @property
    def at_once(self) -> int:
        """Episodes that are begun at once: enough for all the calls at once that there may be."""
        return self.max_connections or MOST_AT_ONCE

    @property
    def has_people(self) -> bool:
        """Whether people take part, in whatever role."""
        return bool(self.people) or PERSON in {*self.raters, *(name for _, name in self.list_models())}

    def list_models(self) -> list[tuple[Role, str]]:
        """(role, model) of everybody who takes part, but for the raters."""
        single = {
            Role.SUBJECT: self.model,
            Role.PARTNER: self.partner,
            Role.OPPONENT: self.opponent,
            Role.REFERENCE: self.reference,
        }
        return [*((role, name) for role, name in single.items() if name), *((Role.JUDGE, name) for name in self.judges)]

    @model_validator(mode="after")
    def _check_roles(self) -> Self:
        named = {strip_endpoint(name) for name in (*(name for _, name in self.list_models()), *self.raters)}
        for key in self.roles:
            if key not in {*Role, *named}:
                raise ValueError(f"roles.{key} is neither a role ({', '.join(Role)}) nor a model of this run")
        return self

    def find_role_settings(self, role: Role, model: str) -> RoleSettings:
        """The settings for a model in a role: its own, else the role's, else the defaults."""
        return self.roles.get(strip_endpoint(model)) or self.roles.get(role) or RoleSettings()


def strip_endpoint(model: str) -> str:
    """A model's name without the endpoint it may carry: what manifests, journals and reports show."""
    return model.partition("@http")[0] if model.startswith(("openai/", "openai-compatible/")) else model


def make_folder_name(model: str) -> str:
    """A model's name as part of a file's."""
    return "".join(character if character.isalnum() or character in "-._" else "-" for character in strip_endpoint(model))


def name_pair(first: str, second: str, taken: Collection[str]) -> str:
    """A folder's name for the run of two models, none of those ``taken``: names that differ in punctuation only make one name."""
    return make_unique(f"{make_folder_name(first)}--{make_folder_name(second)}", taken)


def make_unique(name: str, taken: Collection[str]) -> str:
    """The name, with a number behind it where it is ``taken``."""
    return next(each for each in chain([name], (f"{name}-{number}" for number in count(2))) if each not in taken)


def load_settings(
    benchmark: str, file: Path | None = None, *, elsewhere: Sequence[str] = (), beside: Collection[str] = (), **given: Any
) -> RunSettings:
    """Settings from ``file`` with those ``given`` (and not None) on top. Raises InputError naming file and field.

    The file may hold tables of the benchmarks ``beside`` this one, and roles of models ``elsewhere``, in other runs of a series;
    those that have no part in this run are left out.
    """
    given = {name: value for name, value in given.items() if value is not None and value != ()}
    values = _read_file(benchmark, file) if file else {}
    if elsewhere and isinstance(values.get("roles"), dict):
        absent = set(map(strip_endpoint, elsewhere)) - set(map(strip_endpoint, _find_models(values | given)))
        values["roles"] = {key: role for key, role in values["roles"].items() if key not in absent}
    if values.get("benchmark", benchmark) != benchmark:
        raise InputError(f"{file} is for the benchmark '{values['benchmark']}', not for {benchmark}.")
    values = {name: value for name, value in values.items() if name not in beside or not isinstance(value, dict)}
    if unknown := values.keys() - RunSettings.model_fields.keys():
        known = ", ".join((*RunSettings.model_fields, benchmark))
        raise InputError(f"{file}: unknown setting '{min(unknown)}'. Known are: {known}.")
    options = values.get("options", {})
    if not isinstance(options, dict):
        raise InputError(f"{file}: '{benchmark}' must be a table, as in [{benchmark}].")
    values |= given | {"benchmark": benchmark, "options": options | given.get("options", {})}
    if "model" not in values:
        raise InputError('No model to test: add --model MODEL, or model = "MODEL" to the --config file.')
    return _validate(values, file, given)


def _find_models(values: Mapping[str, Any]) -> list[str]:
    """All models that settings name."""
    judges = values.get("judges") or ()
    several = [judges] if isinstance(judges, str) else judges
    single = (values.get(name) for name in ("model", "partner", "opponent", "reference"))
    return [name for name in (*single, *several) if name]


def add_role_defaults(settings: RunSettings, defaults: Mapping[Role, Mapping[str, Any]]) -> RunSettings:
    """``settings`` with what a benchmark prefers for a role where the user has said nothing.

    Settings that stand under a model's name get the defaults of its role. Raises InputError when it is a judge as well, who
    would be asked in the same way.
    """
    roles = dict(settings.roles)
    judges = {strip_endpoint(name) for name in (*settings.judges, *settings.raters)}
    seated = {Role.SUBJECT: settings.model, Role.PARTNER: settings.partner or "", Role.OPPONENT: settings.opponent or ""}
    for role, default in defaults.items():
        name = strip_endpoint(seated.get(role, ""))
        if name in roles and name in judges:
            raise InputError(
                f"{name} is {role.value} and judge, which are sampled differently here: write [roles.{role.value}] and "
                f'[roles.judge], not [roles."{name}"].'
            )
        for key in (role.value, *([name] if name in roles else ())):
            given = roles.get(key)
            said = {field: getattr(given, field) for field in given.model_fields_set} if given else {}
            roles[key] = RoleSettings(**{**default, **said})
    return settings.model_copy(update={"roles": roles})


def change_settings(settings: RunSettings, **changes: Any) -> RunSettings:
    """``settings`` with those ``changes`` that are not None. Raises InputError."""
    given = {name: value for name, value in changes.items() if value is not None}
    return _validate(settings.model_dump() | given, None, given)


SETTINGS_OF_NO_REPLY = frozenset({"max_cost", "max_connections", "prices", "base_url"})
"""Settings of a run on which no reply depends."""
_TRANSPORT = frozenset({"base_url", "key_variable", "timeout_seconds", "attempts", "requests_per_minute"})
"""The same of a role."""


def describe_replies(settings: RunSettings) -> dict[str, Any]:
    """The settings on which replies depend, as JSON: two runs of which they are the same are one."""
    described = settings.model_dump(mode="json", exclude=set(SETTINGS_OF_NO_REPLY))
    for name, value in described.items():
        if name in _NAMES_OF_MODELS and value:
            described[name] = strip_endpoint(value) if isinstance(value, str) else list(map(strip_endpoint, value))
    # As they are used, wherever in the file they stand.
    described["roles"] = {
        f"{role} {strip_endpoint(name)}": settings.find_role_settings(role, name).model_dump(exclude=set(_TRANSPORT))
        for role, name in _list_asked(settings)
    }
    return described


def change_transport(settings: RunSettings, other: RunSettings) -> RunSettings:
    """``settings`` with what ``other`` says of addresses, keys, prices and limits: of anything on which no reply depends."""
    addresses = {strip_endpoint(name): name for name in (*(name for _, name in other.list_models()), *other.raters)}
    changed: dict[str, Any] = {name: getattr(other, name) for name in SETTINGS_OF_NO_REPLY}
    for field in _NAMES_OF_MODELS:
        if named := getattr(settings, field):
            names = [addresses.get(strip_endpoint(name), name) for name in ([named] if isinstance(named, str) else named)]
            changed[field] = names[0] if isinstance(named, str) else tuple(names)
    known = {*Role, *(strip_endpoint(name) for _, name in _list_asked(settings))}
    changed["roles"] = {
        key: RoleSettings(**_find_role(settings, key) | {name: _find_role(other, key)[name] for name in _TRANSPORT})
        for key in dict.fromkeys((*settings.roles, *other.roles))
        if key in known
    }
    return settings.model_copy(update=changed)


_NAMES_OF_MODELS = ("model", "partner", "opponent", "judges", "raters", "reference")


def _validate(values: dict[str, Any], file: Path | None, given: Mapping[str, Any]) -> RunSettings:
    try:
        return RunSettings.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "roles"
        place = f"{file}: " if file and field.partition(".")[0] not in given else ""
        fields = RoleSettings.model_fields if field.startswith("roles.") else RunSettings.model_fields
        known = f" Known are: {', '.join(fields)}." if first["type"] == "extra_forbidden" else ""
        raise InputError(f"{place}setting '{field}': {first['msg'].removeprefix('Value error, ')}.{known}") from None


def _read_file(benchmark: str, file: Path) -> dict[str, Any]:
    try:
        values = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{file}: no such file. --config takes a TOML file.") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{file}: cannot be read as TOML: {error}") from None
    options = values.pop(benchmark, {})
    return values | ({"options": options} if options else {})


def read_roles_and_prices(settings: RunSettings, file: str | Path | None) -> dict[str, Any]:
    """The ``roles`` and ``prices`` of a TOML file, on top of a run's own. Raises InputError for anything else in it."""
    if file is None:
        return {}
    values = _read_file(settings.benchmark, Path(file))
    if unknown := set(values) - {"roles", "prices"}:
        raise InputError(f"{file}: {', '.join(sorted(unknown))} cannot change in a run; only roles and prices can.")
    own = settings.model_dump()
    # Role by role and field by field: a new key does not change the temperature.
    before = {"prices": own["prices"], "roles": {name: _find_role(settings, name) for name in values.get("roles", {})}}
    return {
        name: own[name] | {key: _update(before[name].get(key), each) for key, each in given.items()}
        for name, given in values.items()
    }


def _find_role(settings: RunSettings, name: str) -> dict[str, Any]:
    """The settings so far of a role or a model, which a file calls ``name``."""
    roles = (settings.find_role_settings(role, model) for role, model in _list_asked(settings) if name == strip_endpoint(model))
    return (settings.roles.get(name) or next(roles, RoleSettings())).model_dump()


def _list_asked(settings: RunSettings) -> list[tuple[Role, str]]:
    """(role, model) of everybody who takes part, raters too."""
    return [*settings.list_models(), *((Role.JUDGE, rater) for rater in settings.raters)]


def _update(before: Any, given: Any) -> Any:
    return before | given if isinstance(before, dict) and isinstance(given, dict) else given
