"""Families of metrics: their names depend on the episode, their declaration stands once."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from sociable.core.records import Episode, EpisodeStatus, Outcome
from sociable.statistics.metrics import Metric, Metrics, Value, make_markdown, mean


def length(word: str, said: str) -> Value:
    return Value(float(len(word))) if word in said else Value.not_reached()


METRICS: Metrics[str] = Metrics(
    Metric("words", "Words", "how many words", value=lambda said: Value(float(len(said.split()))), aggregate=mean, high=None),
    Metric(
        "length: …",
        "…",
        "letters of a word",
        "each",
        unit="letters",
        high=None,
        aggregate=mean,
        members=lambda said: {f"length: {word}": partial(length, word) for word in said.split()},
    ),
    Metric("length: … squared", "…", "never there", "each", members=lambda _: {}),
)


def episode(name: str, status: EpisodeStatus = EpisodeStatus.COMPLETED) -> Episode:
    return Episode(id=f"{name}#0", scenario=name, cluster=name, status=status, error="cut" if status != "completed" else "")


def test_each_member_has_a_score_and_an_estimate_of_its_own() -> None:
    scores = [*METRICS.score(episode("a"), "an ox"), *METRICS.score(episode("b"), "the ox")]
    assert [(score.metric, score.value) for score in scores] == [
        ("words", 2.0), ("length: an", 2.0), ("length: ox", 2.0), ("words", 2.0), ("length: the", 3.0), ("length: ox", 2.0),
    ]  # fmt: skip
    estimates = METRICS.estimate(scores, seed=0)
    assert [(estimate.metric, estimate.value, estimate.scored) for estimate in estimates] == [
        ("words", 2.0, 2), ("length: an", 2.0, 1), ("length: ox", 2.0, 2), ("length: the", 3.0, 1),
    ]  # fmt: skip


def test_an_errored_episode_and_a_failed_instrument_miss_every_member() -> None:
    errored = METRICS.score(episode("a", EpisodeStatus.ERRORED), "an ox")
    assert [(score.metric, score.outcome, score.reason) for score in errored] == [
        (name, Outcome.ERRORED, "cut") for name in ("words", "length: an", "length: ox")
    ]
    failed = METRICS.score(episode("a"), "an ox", failure="no partner")
    assert {(score.outcome, score.reason) for score in failed} == {(Outcome.UNSCORED, "no partner")}


def test_a_member_belongs_to_the_last_family_that_fits_and_is_not_compared() -> None:
    assert METRICS.find("words") is METRICS["words"]
    assert METRICS.find("length: ox") is METRICS["length: …"]
    assert METRICS.find("length: ox squared") is METRICS["length: … squared"]
    with pytest.raises(KeyError, match="height: ox"):
        METRICS.find("height: ox")
    assert [metric.name for metric in METRICS.list_compared()] == ["words"]


def test_a_readme_lists_metrics_and_families_with_unit_and_range() -> None:
    assert make_markdown(METRICS).splitlines()[2:4] == [
        "| `words` | how many words | share | 0 to – |",
        "| `length: …` | letters of a word | letters | 0 to – |",
    ]


@pytest.mark.parametrize(
    ("declared", "said"),
    [({}, "give it a value, or an aggregate"), ({"value": lambda _: Value(3.0), "high": None}, "is no share of 0 to 1")],
)
def test_what_cannot_be_aggregated_is_refused_where_it_is_declared(declared: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=f"metric 'words'.*{said}"):
        Metric("words", "words", "words of a turn", **declared)
