"""The cases of a benchmark, and what each role would be sent in one of them."""

from __future__ import annotations

from pathlib import Path

from typing_extensions import Unpack

from sociable.api.runs import RunOptions, make_settings
from sociable.core.errors import InputError
from sociable.engine.event_loop import run_to_end
from sociable.engine.opening import make_study_options
from sociable.engine.registry import find_benchmark
from sociable.engine.rehearsal import RehearsedCall, rehearse
from sociable.engine.seats import AbsentModel, Role, Seat, Seats
from sociable.engine.study import AnyStudy, Referenced
from sociable.models.protocol import Sampling


def rehearse_scenario(
    benchmark: str, scenario: str, *, config: str | Path | None = None, **settings: Unpack[RunOptions]
) -> list[RehearsedCall]:
    """The calls that each role would get in one scenario; where they depend on replies, stand-ins for the replies are shown."""
    settings = {"partner": "nobody", "opponent": "nobody", "reference": "nobody", "judges": ("nobody",), **settings}
    study = load_study(benchmark, config=config, **settings)
    if scenario not in study.scenarios:
        raise InputError(f"{benchmark} has no case '{scenario}'. `sociable show {benchmark}` lists them.")
    roles = {role: Seat(role, f"(the {role.value})", AbsentModel(role), Sampling()) for role in Role}
    seats = Seats(
        roles[Role.SUBJECT], roles[Role.PARTNER], roles[Role.REFERENCE], (roles[Role.JUDGE],), opponent=roles[Role.OPPONENT]
    )
    references = isinstance(study, Referenced) and study.needs_references
    return run_to_end(rehearse(study, seats, [scenario], 1, references=references))


def load_study(benchmark: str, *, config: str | Path | None = None, **settings: Unpack[RunOptions]) -> AnyStudy:
    """The benchmark bound to its data: ``load_study(...).scenarios`` are its scenarios by id."""
    asked = make_settings(benchmark, config, model="nobody", **settings)
    return find_benchmark(benchmark).open(**make_study_options(asked))
