"""What stands in for real sessions where there are none, so that everything can be tried: the expressive agent's own."""

from __future__ import annotations

from functools import lru_cache

from sociable.benchmarks.anteval.characters import load_sheets
from sociable.benchmarks.anteval.ieg.briefing import ieg_prompts
from sociable.benchmarks.anteval.ieg.intentions import Marginals
from sociable.benchmarks.anteval.ieg.logs import Log
from sociable.benchmarks.anteval.ieg.protocol import run_session
from sociable.benchmarks.anteval.ieg.records import IegOptions
from sociable.benchmarks.anteval.ieg.scenario import drawn_scenarios, log_of
from sociable.benchmarks.anteval.rules import rules
from sociable.engine.event_loop import run_to_end
from sociable.engine.seats import Role, Seat, Seats
from sociable.models.protocol import Sampling

SESSIONS = 90
SEED = 777_777
EVEN = Marginals(dict.fromkeys(rules().skills, 1), {1: 6, 2: 3, 3: 1})
"""Every skill as often as any other; mostly one player who means to do something."""


@lru_cache(4)
def stand_in_sessions(turns: int, players: int, quiet: float) -> tuple[Log, ...]:
    """Out of the half of its lines that agents under test do not use, so that nothing is known by heart."""
    drawn = drawn_scenarios(load_sheets(None).items, SESSIONS, players, EVEN, quiet, SEED)
    options = IegOptions(turns=turns)
    seats = Seats(Seat(Role.SUBJECT, "reference/expressive", None, Sampling()))

    async def played() -> list[Log]:
        return [log_of(each, await run_session(each, 0, seats, ieg_prompts(), options, seed=SEED, half=1)) for each in drawn]

    return tuple(run_to_end(played()))
