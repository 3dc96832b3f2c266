"""Finds benchmarks and models by their names. Other packages add theirs through entry points.

A package registers a benchmark under the entry point group ``sociable.benchmarks`` (an object of the class Benchmark),
or a provider of models under ``sociable.models`` (a function of model name, RoleSettings and connection limit that
returns a Model).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from importlib import import_module, metadata

from sociable.core.errors import InputError
from sociable.core.extras import load_plugin
from sociable.core.form import PERSON
from sociable.engine.benchmark import Benchmark
from sociable.engine.seats import AbsentModel, Role, Seat
from sociable.engine.settings import RoleSettings, RunSettings, strip_endpoint
from sociable.judging.reference import REFERENCE_JUDGES
from sociable.models.protocol import Model

OPENAI_URL = "https://api.openai.com/v1"

_NOT_OF_INSPECT = ("key_variable", "timeout_seconds", "attempts", "requests_per_minute", "context_window")
"""Settings of a role that a provider of Inspect's cannot be given."""

USUAL_AT_ONCE = 20
"""Calls at once where nothing is said, and the number is not found by trial."""

_BENCHMARKS = {
    "agentsense": "sociable.benchmarks.agentsense.benchmark",
    "agentsense-duels": "sociable.benchmarks.agentsense.duels.benchmark",
    "anteval-hidden": "sociable.benchmarks.anteval.hidden.benchmark",
    "anteval-ieg": "sociable.benchmarks.anteval.ieg.benchmark",
    "anteval-iep": "sociable.benchmarks.anteval.iep.benchmark",
    "anteval-informants": "sociable.benchmarks.anteval.informants.benchmark",
    "hsii": "sociable.benchmarks.hsii.benchmark",
    "hsii-cot": "sociable.benchmarks.hsii.cot.benchmark",
    "hsii-live": "sociable.benchmarks.hsii.live.benchmark",
    "hsii-memory": "sociable.benchmarks.hsii.memory.benchmark",
    "stss": "sociable.benchmarks.stss.benchmark",
    "stss-conversations": "sociable.benchmarks.stss.conversations.benchmark",
}
"""The recipes' modules. They are imported when asked for, so that the command line starts at once."""
_UNLISTED = {"imported": "sociable.benchmarks.imported.benchmark"}
"""Benchmarks on which nobody can be tested; their runs are made in another way."""
RECORDED = "recorded/"
"""What the name of a model begins with that spoke in conversations of such a run, and is asked nothing."""


def list_benchmark_names() -> list[str]:
    return sorted({*_BENCHMARKS, *(point.name for point in metadata.entry_points(group="sociable.benchmarks"))})


def find_benchmark(name: str) -> Benchmark:
    """The benchmark of this name. Raises InputError naming those there are."""
    if module := {**_BENCHMARKS, **_UNLISTED}.get(name):
        found = import_module(module).BENCHMARK
    else:
        points = metadata.entry_points(group="sociable.benchmarks", name=name)
        if not points:
            raise InputError(f"There is no benchmark '{name}'; there are: {', '.join(list_benchmark_names())}.")
        found = load_plugin(next(iter(points)), Benchmark)
    assert isinstance(found, Benchmark)
    return found


def build_seat(role: Role, name: str, settings: RunSettings, benchmark: Benchmark) -> Seat:
    """The seat for a role, its model built.

    Raises InputError when the name is of no known kind, or lacks an address or a key.
    """
    own = settings.find_role_settings(role, name)
    agents, graded = benchmark.reference_agents.get(role, ()), benchmark.graded_agents
    if role is Role.JUDGE and "rule" in agents:
        # Where a rule can judge, so can the rule with a defect.
        agents, graded = REFERENCE_JUDGES, REFERENCE_JUDGES
    if name.startswith(RECORDED):
        if benchmark.name not in _UNLISTED:
            raise InputError(f"'{name}' spoke in conversations that were imported, and cannot be asked: name a model.")
        return Seat(role, name, AbsentModel(name), own.sampling)
    if name.startswith("reference/"):
        agent = name.removeprefix("reference/")
        if agent not in agents and agent.partition("@")[0] not in agents:
            known = ", ".join(f"reference/{each}" for each in agents) or "none"
            raise InputError(f"'{name}' cannot be the {role.value}; reference agents for that role: {known}.")
        if "@" in agent and agent not in agents and not _is_graded(agent, graded):
            who = f"the {' and '.join(graded)} {'takes' if len(graded) == 1 else 'take'}"
            raise InputError(f"'{name}': only {who} a number, between 0 and 1, as in reference/oracle@0.3.")
        return Seat(role, name, None, own.sampling)
    return Seat(role, strip_endpoint(name), build_model(name, own, settings.base_url, settings.max_connections), own.sampling)


def _is_graded(agent: str, graded: Sequence[str]) -> bool:
    """Whether an agent with a number is one of those that take one, and the number is possible."""
    name, _, rate = agent.partition("@")
    with contextlib.suppress(ValueError):
        return name in graded and 0.0 <= float(rate) <= 1.0
    return False


def build_model(name: str, own: RoleSettings, base_url: str | None = None, max_connections: int | None = None) -> Model:
    """The model a name means. Raises InputError."""
    if name == PERSON:
        # Where people sit is known when the run is opened.
        return AbsentModel(PERSON)
    if name.startswith("python:"):
        from sociable.models.python_function import FunctionModel, load_function

        return FunctionModel(name, load_function(name), max_connections or USUAL_AT_ONCE)
    provider, _, rest = name.partition("/")
    if provider == "local" and rest:
        from sociable.models.local import LocalModel
        from sociable.models.weights import find_weights

        return LocalModel(name, find_weights(rest), own.context_window)
    if provider == "inspect" and rest:
        from sociable.models.inspect_bridge import InspectModel

        for field in _NOT_OF_INSPECT:
            if getattr(own, field) != RoleSettings.model_fields[field].default:
                raise InputError(f"'{name}': Inspect's provider cannot be given {field}. Leave it out, and see its own settings.")
        return InspectModel(name, max_connections or USUAL_AT_ONCE, own.base_url)
    if provider in ("openai", "openai-compatible") and rest:
        usual = os.environ.get("OPENAI_BASE_URL")
        default_url = (usual or OPENAI_URL) if provider == "openai" else (base_url or usual)
        return _build_openai_compatible(name, rest, own, default_url, max_connections)
    for point in metadata.entry_points(group="sociable.models", name=provider):
        model: Model = point.load()(rest, own, max_connections or USUAL_AT_ONCE)
        return model
    raise InputError(
        f"'{name}' is no model name. Write openai/MODEL, openai-compatible/MODEL (with --base-url or @http://host:port/v1), "
        "local/smollm2, local/FILE.gguf, inspect/PROVIDER/MODEL, python:file.py:function, human, or reference/AGENT."
    )


def check_address(url: str) -> None:
    """Raises InputError for an address that is none, or holds what no manifest may."""
    if not url.startswith(("http://", "https://")):
        raise InputError(f"'{url}' is not an address: write http://host:port/v1.")
    if "@" in url.partition("://")[2].partition("/")[0] or "?" in url:
        raise InputError(
            "An address must hold no name, password or query: it is written into the manifest. Put the key into an "
            "environment variable and name it as key_variable in the configuration."
        )


def _build_openai_compatible(
    name: str, model: str, own: RoleSettings, default_url: str | None, max_connections: int | None
) -> Model:
    from sociable.models.openai_compatible import EndpointSettings, OpenAICompatibleModel

    model, at, address = model.partition("@http")
    url = f"http{address}" if at else own.base_url or default_url
    if not url:
        raise InputError(
            f"'{name}' needs an address: --base-url URL, OPENAI_BASE_URL, base_url in the configuration, or {name}@http://host:port/v1."
        )
    check_address(url)
    # The key in OPENAI_API_KEY is meant for the address in OPENAI_BASE_URL or on the command line. An address that
    # stands in a model name or in a role's settings gets a key only if a variable is named for it.
    variable = own.key_variable or ("" if at or own.base_url else "OPENAI_API_KEY")
    key = os.environ.get(variable, "") if variable else ""
    if own.key_variable and not key:
        raise InputError(f"'{name}': the environment variable {own.key_variable} (key_variable) is not set.")
    if url == OPENAI_URL and not key:
        raise InputError(f"'{name}' needs a key: set OPENAI_API_KEY in the environment or in a file .env here.")
    settings = EndpointSettings(
        base_url=url,
        key=key,
        timeout_seconds=own.timeout_seconds,
        attempts=own.attempts,
        max_connections=max_connections,
        # A hosted service takes many at once; nothing is known of a server of one's own.
        connections_at_first=USUAL_AT_ONCE if url == OPENAI_URL else 1,
        requests_per_minute=own.requests_per_minute,
        context_window=own.context_window,
    )
    return OpenAICompatibleModel(strip_endpoint(name), model, settings)
