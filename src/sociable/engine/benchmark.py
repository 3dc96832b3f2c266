"""A benchmark as it is declared: its name, who can sit where, and where its parts are found.

The declaration is light, so that the command line can list all benchmarks at once; data, protocol and tables are imported
when a benchmark is opened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, TypeVar

from sociable.core.errors import InputError
from sociable.engine.seats import Role

if TYPE_CHECKING:
    from pydantic import BaseModel

    from sociable.engine.study import AnyStudy


Options = TypeVar("Options", bound="BaseModel")


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """One benchmark of the registry. ``study``, ``options`` and ``views`` are classes, or name them as ``module:Class``."""

    name: str
    version: str
    """The version, which changes whenever a score can change."""
    title: str
    study: type[AnyStudy] | str
    """The class that is opened with ``StudyOptions``."""
    options: type[BaseModel] | str = "sociable.core.records:Record"
    """The record of the benchmark's own options; its fields are options of the command line."""
    views: type[Any] | str = "sociable.reports.views:Views"
    """The class that shows runs; by default tables are derived from the study's metrics."""
    series: type[BaseModel] | str = ""
    """The record of options that make several runs of one command, with a method ``plan``; empty where there is none."""
    duels: str = ""
    """The benchmark in which two models meet, for `sociable duel`: this one's own name, or another's; empty: there is none."""
    anchors: Sequence[str] = ()
    """The reference agents, without ``reference/``, whose ability is known: a tournament can have them take part. The first that
    does has 1000 points."""
    cluster_unit: str = "scenario"
    """The unit that intervals resample, in the singular, lower case: dialogue, template, task, session."""
    scenarios_called: str = "cases"
    """A reader's name for the scenarios, in the plural, lower case."""
    reference_agents: Mapping[Role, Sequence[str]] = field(default_factory=dict)
    """The reference agents that can fill each role, without ``reference/``."""
    graded_agents: Sequence[str] = ("oracle",)
    """The reference agents that take a number from 0 to 1 after ``@``: the oracle its error rate."""
    role_defaults: Mapping[Role, Mapping[str, Any]] = field(default_factory=dict)
    """The sampling of a role's model unless the user says otherwise, where it differs from other benchmarks'."""
    rehearsed: str = "at the most: as if each went its longest way"
    """A description of an estimate's counts of calls, in words."""
    demo: Mapping[str, Any] = field(default_factory=dict)
    """Settings, apart from ``model``, of the run that `sociable demo` makes with every agent in ``demo_agents``."""
    demo_agents: Sequence[str] = ()
    demo_cases: Mapping[str, Any] = field(default_factory=dict)
    """Settings, apart from ``model``, of the few cases on which `sociable demo` runs a small language model; empty: none."""

    def load_options_type(self) -> type[BaseModel]:
        """The record of the benchmark's own options."""
        return _load(self.options)  # type: ignore[no-any-return]

    def load_series_type(self) -> type[BaseModel] | None:
        """The record of options that make several runs of one command; None where there is none."""
        return _load(self.series) if self.series else None

    def parse_options(self, values: Mapping[str, Any]) -> BaseModel:
        """The benchmark's own options. Raises InputError naming the one that is wrong, and those there are."""
        return parse_options(self.load_options_type(), values, self.name)

    def load_study_type(self) -> type[AnyStudy]:
        """The class of its studies."""
        return _load(self.study)  # type: ignore[no-any-return]

    def open(self, values: Mapping[str, Any] | None = None, **given: Any) -> AnyStudy:
        """The study of these own options (``values``) and of what ``StudyOptions`` takes. Raises InputError."""
        from sociable.engine.study import StudyOptions

        own = self.parse_options(values or {})
        options: StudyOptions[Any] = StudyOptions(own, **given)
        return self.load_study_type()(options)

    def load_views(self) -> Any:
        """Returns the views that show its runs (``sociable.reports.views.Views``)."""
        return _load(self.views)(self)


def parse_options(kind: type[Options], values: Mapping[str, Any], owner: str) -> Options:
    """The options that a benchmark or a recipe has of its own. Raises InputError naming the one that is wrong."""
    from pydantic import ValidationError

    try:
        return kind.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = ".".join(part for part in first["loc"] if isinstance(part, str))
        if first["type"] == "extra_forbidden":
            has = f"it has: {', '.join(kind.model_fields)}" if kind.model_fields else "it has none"
            raise InputError(f"{owner} has no option '{name}'; {has}.") from None
        message = first["msg"].removeprefix("Value error, ").replace("a valid tuple", 'a list, as in ["a", "b"]')
        raise InputError(f"option '{name}' of {owner}: {message}." if name else f"{owner}: {message}.") from None


def _load(named: Any) -> Any:
    return resolve_name(named) if isinstance(named, str) else named
