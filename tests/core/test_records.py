from __future__ import annotations

import pytest
from pydantic import ValidationError

from sociable.core.records import Episode, Estimate, Turn, Usage, make_episode_id, parse_episode_id
from sociable.core.view import MISSING, format_figure, format_with_interval


def test_usage_adds_up() -> None:
    assert Usage(calls=1, input_tokens=2, output_tokens=3) + Usage(calls=10, input_tokens=20, output_tokens=30) == Usage(
        calls=11, input_tokens=22, output_tokens=33
    )


def test_records_do_not_change() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Usage().calls = 5  # type: ignore[misc]


def test_an_unknown_field_is_an_error() -> None:
    with pytest.raises(ValidationError, match="mood"):
        Turn.model_validate({"index": 0, "speaker": "Ada", "content": "Hi", "mood": "glad"})


def test_an_episode_comes_back_as_it_was_written() -> None:
    turn = Turn(index=0, speaker="Ada\x00", addressees=("Ben",), content='"\u2028\n🙂', thinking="hm", note="cut off")
    episode = Episode(
        id=make_episode_id("case", 2),
        scenario="case",
        cluster="dialogue",
        repeat=2,
        turns=(turn,),
        usage={"subject": Usage(calls=1)},
    )
    assert episode.id == "case#2"
    assert "\n" not in episode.model_dump_json()
    assert Episode.model_validate_json(episode.model_dump_json()) == episode


def test_an_estimate_over_nothing_is_a_dash() -> None:
    estimate = Estimate(metric="r1", value=None)
    assert format_figure(estimate.value) == format_with_interval(estimate.value, estimate.low, estimate.high) == MISSING == "—"


def test_figures() -> None:
    assert format_figure(0.0) == "0.000"
    assert format_figure(0.73249, 2) == "0.73"
    assert format_with_interval(0.7321, 0.6149, 0.83) == "0.732 [0.61, 0.83]"
    assert format_with_interval(0.7321, None, None) == "0.732"


@pytest.mark.parametrize(("identifier", "parts"), [("a#b#12", ("a#b", 12)), ("own", ("own", 0)), ("own#x", ("own#x", 0))])
def test_an_episodes_id_is_its_scenario_and_its_repeat(identifier: str, parts: tuple[str, int]) -> None:
    assert parse_episode_id(identifier) == parts
