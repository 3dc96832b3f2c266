"""SOTOPIA's episodes: the rows of its published data (``episode_id``, ``raw_messages``, …) and its own ``EpisodeLog``.

A message is [sender, receiver, text]. What an agent says goes to ``Environment`` as ``said: "…"``, ``[action] …``,
``[non-verbal communication] …``, ``left the conversation`` or ``did nothing``, at times behind ``[private to ['…']]``. What the
environment tells an agent first is its view of the scene, its own goal and secrets among it; the same stands in a row without
being cut to what each knows, and with marks (``<extra_info>``) that no agent saw.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from sociable.benchmarks.imported.records import Conversation, Person, Refused, Reported, keep_scores, make_turns
from sociable.core.data_files import RawRecord, read_records, validate_record
from sociable.core.errors import DataError, InputError
from sociable.judging.rubric import SOTOPIA

_LOW, _HIGH = (fmean(getattr(each, end) for each in SOTOPIA.dimensions) for end in ("low", "high"))
REPORTED = {
    each.name: Reported(f"the dimension {each.name}", each.low, each.high, each.high)
    for each in SOTOPIA.dimensions  # its own ranges
} | {"overall_score": Reported("the mean of all dimensions", _LOW, _HIGH, _HIGH)}
_NAMES = {"financial_and_material_benefits": "financial"}
_ENVIRONMENT = "Environment"
_UNKNOWN = "Unknown"
_PRIVATE = re.compile(r"\[private to \[(?P<to>[^\]]*)\]\]\s*")
_SAID = re.compile(r'said: "(?P<words>.*)"', re.DOTALL)
_SILENT = "did nothing"
_MARK = re.compile(r"<p\b[^<>]*>[^<]*</p>|</?\w+>")
"""Marks in rows that no agent saw; what stands between those of ``<p viewer="environment">`` none saw either."""
_NEXT_FIELD = r"(?=^[ \t]*(?:Scenario|Participants|Conversation Starts|[^\n:]+'s (?:background|goal)):|\Z)"


class _Episode(BaseModel):
    model_config = ConfigDict(extra="ignore", populate_by_name=True)

    id: str = Field(validation_alias=AliasChoices("episode_id", "pk"), min_length=1)
    environment: str = Field(validation_alias=AliasChoices("environment_id", "environment"), min_length=1)
    agents: list[str] = Field(validation_alias=AliasChoices("agent_ids", "agents"))
    models: list[str] | None = Field(default=None, validation_alias=AliasChoices("experiment_model_name_pairs", "models"))
    messages: list[list[tuple[str, str, str]]] = Field(validation_alias=AliasChoices("raw_messages", "messages"))
    rewards: list[Any] = Field(default=[], validation_alias=AliasChoices("rewards", "raw_rewards"))
    scenario: str = ""
    agents_background: dict[str, str] = {}
    social_goals: dict[str, str] = {}


def read_episodes(path: Path) -> Iterator[Conversation | Refused]:
    """The episodes of a file or folder. Raises InputError and DataError."""
    if path.suffix == ".csv":
        raise InputError(f"{path}: SOTOPIA's CSV has neither models nor rewards. Take the episodes as JSON Lines or JSON.")
    for raw in read_records(path, None):
        if isinstance(raw.value, Mapping) and "model_mapping" in raw.value:
            yield Refused(raw.place, "a log of SOTOPIA's games, whose players have roles and no goals of their own")
            continue
        yield _make_conversation(validate_record(_Episode, raw.value, raw.place), raw)


def _make_conversation(episode: _Episode, raw: RawRecord) -> Conversation | Refused:
    messages = [message for turn in episode.messages for message in turn]
    views: dict[str, str] = {}
    for sender, receiver, text in messages:
        if sender == _ENVIRONMENT and receiver != _ENVIRONMENT:
            views.setdefault(receiver, text)
    names = list(views) or list(episode.social_goals)
    if not names:
        raise DataError(raw.place, "messages", "expected what the environment tells each agent first: [Environment, NAME, …]")
    acts = [(sender, *_read_act(text)) for sender, receiver, text in messages if sender in names and receiver == _ENVIRONMENT]
    said = [act for act in acts if act[-1] != _SILENT]
    if not said:
        return Refused(raw.place, "nobody said anything")
    # Of the models the first is the environment's.
    models = (episode.models or [])[-len(names) :] if len(episode.models or []) >= len(names) else [""] * len(names)
    people = [
        Person(
            name=name,
            model=model,
            goal=_find_own(views.get(name, ""), f"{name}'s goal") or _MARK.sub("", episode.social_goals.get(name, "")),
            knows=_find_own(views.get(name, ""), f"{name}'s background") or episode.agents_background.get(name, ""),
            reported=_read_rewards(episode.rewards, place),
        )
        for place, (name, model) in enumerate(zip(names, models, strict=True))
    ]
    return Conversation(
        id=f"{episode.environment}:{'+'.join(episode.agents)}",
        cluster=episode.environment,
        situation=_find_own(next(iter(views.values()), ""), "Scenario") or _MARK.sub("", episode.scenario).strip(),
        people=tuple(people),
        turns=make_turns(said),
    )


def _find_own(view: str, field: str) -> str:
    """What a view says of ``field``, up to its next field; empty where it is not known to whoever has the view."""
    found = re.search(rf"^[ \t]*{re.escape(field)}:(.*?){_NEXT_FIELD}", view, re.MULTILINE | re.DOTALL)
    value = found[1].strip() if found else ""
    return "" if value == _UNKNOWN else value


def _read_act(text: str) -> tuple[tuple[str, ...], str]:
    """(whom it is for, where it is not for all; the words, or what was done)."""
    to: tuple[str, ...] = ()
    if private := _PRIVATE.match(text.lstrip()):
        to = tuple(name.strip(" '\"") for name in private["to"].split(","))
        text = text.lstrip()[private.end() :]
    said = _SAID.fullmatch(text.strip())
    return to, said["words"] if said else text.strip()


def _read_rewards(rewards: list[Any], place: int) -> dict[str, float]:
    """The scores of one agent: ``[overall, {dimension: score}]``, or the second alone; a number alone is the overall."""
    given = rewards[place] if place < len(rewards) else None
    last = given[-1] if isinstance(given, list) and given else given
    parts: Mapping[str, Any] = last if isinstance(last, Mapping) else {}
    found: dict[str, Any] = {_NAMES.get(name, name): value for name, value in parts.items()}
    if isinstance(given, int | float):
        found["overall_score"] = given
    return keep_scores(found, REPORTED)
