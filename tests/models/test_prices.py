from __future__ import annotations

import pytest
from pydantic import ValidationError

from sociable.core.records import Usage
from sociable.models.limits import Price, find_price, load_packaged_prices


def test_a_price_is_of_a_million_tokens() -> None:
    # A million at 2 and half a million at 8 are 2 + 4 dollars.
    assert Price(input=2, output=8).compute_cost(Usage(calls=9, input_tokens=1_000_000, output_tokens=500_000)) == 6.0


@pytest.mark.parametrize("name", ["gpt-4o-mini", "openai/gpt-4o-mini", "inspect/openai/gpt-4o-mini"])
def test_a_model_is_found_with_and_without_its_provider(name: str) -> None:
    assert find_price(name, {}) == load_packaged_prices()["gpt-4o-mini"]


def test_ones_own_price_comes_first_and_the_full_name_before_the_short() -> None:
    short, full = Price(input=1, output=1), Price(input=2, output=2)
    assert find_price("openai/gpt-4o-mini", {"gpt-4o-mini": short}) == short
    assert find_price("openai/gpt-4o-mini", {"gpt-4o-mini": short, "openai/gpt-4o-mini": full}) == full


@pytest.mark.parametrize("name", ["openai-compatible/nobody-knows", "gpt", ""])
def test_nobody_wrote_down_its_price(name: str) -> None:
    assert find_price(name, {}) is None


@pytest.mark.parametrize("name", ["reference/oracle", "python:agents/mine.py:gpt-4o"])
def test_what_runs_here_costs_nothing(name: str) -> None:
    assert find_price(name, {}) == Price(input=0, output=0)


@pytest.mark.parametrize("values", [{"input": -1, "output": 1}, {"input": 1}, {"input": 1, "output": 1, "cached": 1}])
def test_a_price_has_two_figures_and_neither_is_negative(values: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        Price.model_validate(values)
