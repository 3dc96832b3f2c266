"""A study of many runs as it stands: what is finished, what is missing and why, and what each run took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sociable.core.view import Column, Document, Row, Table


@dataclass(frozen=True)
class RunState:
    """How far one run of a study is."""

    name: str
    """Of its folder."""
    benchmark: str
    model: str
    condition: str
    seed: int
    episodes: int = 0
    """The number that there will be; 0 where the run was not begun."""
    done: int = 0
    """Those that were scored."""
    errored: int = 0
    calls: int = 0
    shared: int = 0
    """The calls that another run of the study had bought."""
    cost: float = 0.0
    """US dollars, what others bought included."""
    problem: str = ""
    """What kept it from its end when it was last played."""

    @property
    def is_finished(self) -> bool:
        return 0 < self.episodes == self.done and not self.errored

    def describe(self) -> str:
        """The state in a few words."""
        if self.is_finished:
            return "finished"
        if not self.episodes:
            return "not begun"
        return f"{self.errored} errored" if self.errored else "not finished"


def make_study_document(name: str, states: Sequence[RunState], remarks: Sequence[str] = ()) -> Document:
    """The document on a study: a row for each run; ``remarks`` on what was left out stand below."""
    finished = sum(state.is_finished for state in states)
    rows = [
        Row(
            [
                state.name,
                state.describe(),
                f"{state.done - state.errored} of {state.episodes}" if state.episodes else "—",
                f"{state.calls:,}",
                f"{state.shared:,}",
                f"{state.cost:.2f}",
            ]
        )
        for state in states
    ]
    totals = [f"{sum(getattr(state, name) for state in states):,}" for name in ("calls", "shared")]
    cost = f"{sum(state.cost for state in states):.2f}"
    shared = "Shared calls were bought once, for another run; the dollars of each run are as if it had bought its own."
    table = Table(
        caption=f"{finished} of {len(states)} runs finished",
        columns=[*map(Column, ("Run", "State")), *(Column(name, True) for name in ("Episodes", "Calls", "Shared", "US dollars"))],
        rows=[*rows, Row(["all", "", "", *totals, cost], True)],
        note=" ".join([shared, *remarks]),
    )
    return Document(title=f"Study {name}", subtitle=f"{len(states)} runs", summary=table, sections=[])
