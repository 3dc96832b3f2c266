"""Prices of calls: a small table anyone can edit.

The packaged ``prices.toml`` is a starting point; a ``[prices]`` table in the user's configuration file adds to it and
overrides it. Prices change: reports name the figures that were used.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources

from pydantic import Field

from sociable.core.records import Record, Usage


class Price(Record):
    """US dollars per million tokens."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)

    def of(self, usage: Usage) -> float:
        """US dollars."""
        return (usage.input_tokens * self.input + usage.output_tokens * self.output) / 1_000_000


@cache
def load_packaged_prices() -> Mapping[str, Price]:
    text = resources.files("sociable.models").joinpath("prices.toml").read_text(encoding="utf-8")
    return {name: Price.model_validate(row) for name, row in tomllib.loads(text)["prices"].items()}


def find_price(model: str, own: Mapping[str, Price]) -> Price | None:
    """The price of a model by its full name, or by its name without provider. None when nobody wrote one down.

    Reference agents and a user's own function cost nothing.
    """
    if model.startswith(("reference/", "python:")):
        return Price(input=0, output=0)
    table = {**load_packaged_prices(), **own}
    return table.get(model) or table.get(model.rpartition("/")[2])
