"""Chain of thought's records: its options, a case under a design, the cycles of an episode."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field, field_validator

from sociable.benchmarks.hsii.dataset import Case
from sociable.core.records import Episode, Record

NO_DESIGN = "none"
"""The design that is no chain of thought: HSII's own question, asked once."""


class CoTOptions(Record):
    """The switches of this benchmark."""

    cycle_cap: int = Field(
        default=128, ge=1, description="the greatest number of cycles; an unsolved pair counts as so many (N_inf)"
    )
    designs: tuple[str, ...] = Field(
        default=("states", "knowledge", "consequences"), min_length=1, description="designs of the chain of thought, each once"
    )
    without_cot: bool = Field(default=True, description="ask HSII's own question too, once a case, to have the gain")

    @field_validator("designs")
    @classmethod
    def _check_designs(cls, designs: tuple[str, ...]) -> tuple[str, ...]:
        if len({*designs, NO_DESIGN}) < len(designs) + 1:
            raise ValueError(f"each is named once, and none is called '{NO_DESIGN}'")
        return designs


class Pair(Record):
    """One case under one design: Definition 2's (s_i, mu_ij)."""

    case: Case
    design: str

    @property
    def id(self) -> str:
        return f"{self.case.id}@{self.design}"

    @property
    def characters(self) -> tuple[str, ...]:
        return self.case.characters


class Cycle(Record):
    """One round of thinking, answering and reflecting."""

    reply: str
    """The thoughts and the answer, as they came (the beginning, if they were enormous)."""
    thinking: str = ""
    format_failure: str = ""
    role_to: str = ""
    target: str | None = None
    content: str = ""
    drawbacks: str = ""
    """The drawbacks that the model found in its own turn; empty when it was not asked, or found none."""
    reflection: str = ""
    """The reflection as it came, where it named no drawback."""


class End(StrEnum):
    """The reasons for which a pair's cycles end."""

    SOLVED = "solved"
    SATISFIED = "satisfied with a wrong target"
    """The reflection found no drawback: there is nothing that a further cycle could begin with."""
    NO_REFLECTION = "gave no reflection"
    """The reflection was empty or refused: no opinion, and nothing to begin with either."""
    NO_FORMAT = "no format, however often asked"
    """Several cycles in a row had no format: the next would ask the same again."""
    CAP = "cap reached"
    ONE_PASS = "one pass"  # noqa: S105
    """Without chain of thought there is no second cycle."""


class CoTEpisode(Episode):
    """One pair played by one model."""

    cycles: tuple[Cycle, ...] = ()
    end: End = End.CAP
    calls: int = 0
    """The number of answers and reflections asked for, of reference agents too."""

    @property
    def solved(self) -> bool:
        return self.end is End.SOLVED
