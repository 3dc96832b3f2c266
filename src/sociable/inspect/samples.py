"""What a sample of an Inspect log holds of an episode: the same shape in the logs of our tasks and in exported runs.

The episode and its reference are in the sample's store, as the records that a run folder keeps; its conversation is in the
messages, for those who read; judgments and scores are in the metadata of the score.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from inspect_ai.event import Event
from inspect_ai.log import HeadlineMetric
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageUser,
    ContentReasoning,
    ContentText,
    ModelOutput,
)
from inspect_ai.scorer import Score as InspectScore
from inspect_ai.util import Store, store_from_events
from inspect_ai.viewer import ViewerConfig
from pydantic import Field

from sociable.core.records import Episode, Estimate, Judgment, Record, Score, Turn
from sociable.engine.benchmark import Benchmark
from sociable.engine.seats import Role
from sociable.engine.study import AnyStudy, Concluded

EPISODE, REFERENCE = "episode", "reference"
"""Keys of the store."""
SCORER = "sociable"
"""The name of our scorer, and the key of its scores."""
VIEWER = ViewerConfig(trust_content=False)
"""What models said is shown as text."""


class Kept(Record):
    """The metadata of a sample's score: all that it rests on beside the episode in the store."""

    models: dict[str, Any]
    """Who took part, as settings of a run."""
    scores: tuple[Score, ...]
    judgments: tuple[dict[str, Any], ...] = ()
    ratings: tuple[dict[str, Any], ...] = ()
    """What raters said by a rubric."""
    reference: dict[str, Any] | None = None
    """The reference, where it was made for the judges of this score."""
    episode: dict[str, Any] | None = Field(default=None, repr=False)
    """The episode, where estimates need all of them at once."""


def find_headline(study: AnyStudy, estimates: Sequence[Estimate] = ()) -> HeadlineMetric | None:
    """The estimate that Inspect shows first: the metric by which models are ranked, of those that were measured if that is known.

    None leaves it to Inspect, which takes the first estimate.
    """
    known = {each.metric for each in estimates if each.value is not None} or study.main_metrics
    return next((HeadlineMetric(metric=each.name) for each in study.list_main_metrics() if each.name in known), None)


def describe_case(benchmark: Benchmark, study: AnyStudy, scenario: str) -> str:
    """The input of a sample: which case it is, and who plays whom."""
    cast = [f"{name}: {role.value}" for name, role in study.find_cast(scenario).items()]
    return "\n".join([benchmark.title, f"Case {scenario}", *cast])


def make_messages(study: AnyStudy, episode: Episode) -> list[ChatMessage]:
    """What was said as a conversation: the model under test is the assistant; the metadata tell who heard it."""
    cast = study.find_cast(episode.scenario)
    # Who has no name in a cast without the model under test is the model under test.
    others = Role.PARTNER if Role.SUBJECT in cast.values() else Role.SUBJECT
    turns = study.list_turns(episode)
    return [_make_message(f"{episode.id}/{turn.index}", turn, cast.get(turn.speaker, others)) for turn in turns]


def _make_message(identifier: str, turn: Turn, role: Role) -> ChatMessage:
    to = f" to {', '.join(turn.addressees)}" if turn.addressees else ""
    note = f" ({turn.note})" if turn.note else ""
    said = ContentText(text=f"{turn.speaker}{to}{note}: {turn.content}")
    thoughts = [ContentReasoning(reasoning=turn.thinking)] if turn.thinking else []
    metadata = {"speaker": turn.speaker, "heard_by": ", ".join(turn.addressees) or "everybody present"}
    if role is Role.SUBJECT:
        return ChatMessageAssistant(id=identifier, content=[*thoughts, said], metadata=metadata)
    return ChatMessageUser(id=identifier, content=[said], metadata={**metadata, "role": role.value})


def make_output(model: str, messages: Sequence[ChatMessage]) -> ModelOutput:
    """The last words of the model under test."""
    said = [message.text for message in messages if isinstance(message, ChatMessageAssistant)]
    return ModelOutput.from_content(model, said[-1] if said else "")


def find_records(store: Mapping[str, Any] | Store, events: Sequence[Event]) -> Mapping[str, Any] | Store:
    """The records in a sample's store. After a crash Inspect restores a sample without it, but with the events that filled it."""
    return store if store.get(EPISODE) else store_from_events(list(events))


def make_score(
    study: AnyStudy, episode: Episode, scores: Sequence[Score], judgments: Sequence[Judgment], **kept: Any
) -> InspectScore:
    """One score of Inspect's with the value of each metric, NaN where there is none; ``kept`` are further fields of ``Kept``."""
    if isinstance(study, Concluded):
        kept["episode"] = episode.model_dump(mode="json")
    dumped = tuple(each.model_dump(mode="json") for each in judgments)
    return InspectScore(
        value={score.metric: math.nan if score.value is None else score.value for score in scores},
        explanation="\n\n".join(_explain(scores, judgments)) or None,
        metadata=Kept(scores=tuple(scores), judgments=dumped, **kept).model_dump(mode="json", exclude_defaults=True),
    )


def _explain(scores: Iterable[Score], judgments: Iterable[Judgment]) -> Iterable[str]:
    for judgment in judgments:
        yield f"{judgment.criterion}, {judgment.judge}: {judgment.verdict}{_add(judgment.reason)}"
    for score in scores:
        if score.value is None:
            yield f"{score.metric}: {score.outcome}{_add(score.reason)}"


def _add(reason: str) -> str:
    return f". {reason}" if reason else ""


def list_values(estimates: Iterable[Estimate]) -> dict[str, float]:
    """The estimates as figures with names: NAME, NaN over nothing, and where there are any NAME_low and NAME_high.

    NAME_unscored and NAME_errored count the episodes that are not in an estimate, where there are any.
    """
    figures = {
        f"{each.metric}{end}": value
        for each in estimates
        for end, value in (
            ("", math.nan if each.value is None else each.value),
            ("_low", each.low),
            ("_high", each.high),
            ("_unscored", each.unscored or None),
            ("_errored", each.errored or None),
        )
    }
    return {name: value for name, value in figures.items() if value is not None}
