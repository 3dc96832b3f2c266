"""Recorded conversations as a study: an episode is what was said, rubrics rate it, and the source's own scores stand beside."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from pydantic import Field

from sociable.benchmarks.imported.formats import FORMATS, find_format
from sociable.benchmarks.imported.records import Conversation, Person
from sociable.core.data_files import load_items, make_cut
from sociable.core.errors import InputError
from sociable.core.names import find_words
from sociable.core.records import Episode, Record, Score
from sociable.engine.seats import Role, Seats
from sociable.engine.study import Rated, Study, StudyOptions
from sociable.judging.rubric import RatedParticipant
from sociable.statistics.metrics import Metric, Metrics, Value, mean

REPORTED = "reported_"
"""What the names of a source's own scores begin with."""


class ImportedOptions(Record):
    """Where the conversations are from. ``sociable import`` fills it in."""

    format: str = Field(default="", description=f"the layout they were read from: {', '.join(FORMATS)}")
    file: str = Field(default="", description="the name of the file or folder that they were read from")


class Recorded(NamedTuple):
    """An episode, and the conversation that it is."""

    episode: Episode
    conversation: Conversation


class ImportedStudy(Study[Conversation, Episode], Rated[Episode]):
    episode_type = Episode
    cluster_field = "cluster"
    tested_options = frozenset({"file"})
    unasked = {
        **Study.unasked,
        Role.JUDGE: "{benchmark} has no criteria of its own: add --rubric sotopia. Without a rubric",
    }

    def __init__(self, options: StudyOptions[ImportedOptions]) -> None:
        super().__init__(options)
        own, path = options.own, options.dataset
        if path is None:
            raise InputError("imported has no data of its own: sociable import FORMAT FILE --out DIR makes a run of others'.")
        reported = find_format(own.format).reported
        loaded = load_items(path, path, make_cut(Conversation), skip_invalid=False, expected="conversations, a line each")
        self.take_data(loaded, loaded.items, {})
        self.source = own.file or str(path)
        self.data = f"{own.format}: {len(self.scenarios)} conversations of {Path(self.source).name}"
        # Two models are compared on the same tasks: what they said is not part of the data.
        self.digests = {"dataset": _digest_tasks(loaded.items)}
        self.metrics = Metrics(
            Metric(
                "turns",
                "turns",
                "turns of whoever is tested, of those that speak to somebody",
                value=_count_turns,
                aggregate=mean,
                unit="turns",
                high=None,
            ),
            Metric(
                "words", "words", "words of these turns, on average", value=_count_words, aggregate=mean, unit="words", high=None
            ),
            *(
                Metric(
                    f"{REPORTED}{name}",
                    name,
                    f"{score.meaning}, by {own.format}'s own instrument",
                    value=partial(_find_reported, name=name),
                    aggregate=mean,
                    unit="its own",
                    low=score.low,
                    high=score.high,
                    best=score.best,
                )
                for name, score in reported.items()
            ),
        )

    async def run_episode(self, scenario: str, repeat: int, seats: Seats) -> Episode:
        return self.make_episode(scenario, repeat, turns=self.scenarios[scenario].turns)

    def score(self, episode: Episode, judgments: Sequence[Any], panel: Sequence[str], measured: Record | None) -> list[Score]:
        return self.metrics.score(episode, Recorded(episode, self.scenarios[episode.scenario]))

    def list_rated_participants(self, episode: Episode) -> Mapping[str, RatedParticipant]:
        """Whoever has a goal; each knows of the conversation what was said to everybody, by it or to it."""
        conversation = self.scenarios[episode.scenario]
        with_goals = [person for person in conversation.people if person.goal]
        roles = Counter(_find_role(person) for person in with_goals)
        rated = {}
        for person in with_goals:
            role = _find_role(person)
            heard = [
                (turn.speaker, turn.content)
                for turn in episode.turns
                if not turn.addressees or person.name in (turn.speaker, *turn.addressees)
            ]
            key = role if roles[role] == 1 else f"{role}:{person.name}"
            rated[str(key)] = RatedParticipant(person.name, conversation.situation, person.goal, person.knows, tuple(heard))
        return rated


def _find_role(person: Person) -> Role:
    return Role.SUBJECT if person.is_tested else Role.PARTNER


def _digest_tasks(conversations: Sequence[Conversation]) -> str:
    """The digest of the tasks that the conversations were held for."""
    people = {"people": {"__all__": {"model", "is_tested", "reported"}}, "turns": True}
    tasks = sorted(each.model_dump_json(exclude=people) for each in conversations)  # type: ignore[arg-type]
    return hashlib.sha256("\n".join(tasks).encode("utf-8", "replace")).hexdigest()


def _list_own_words(recorded: Recorded) -> list[str]:
    """What those who are tested said to people: a call of a tool is none."""
    names = {person.name for person in recorded.conversation.people}
    tested = {person.name for person in recorded.conversation.tested}
    turns = (turn for turn in recorded.episode.turns if turn.speaker in tested)
    return [turn.content for turn in turns if not turn.addressees or names.intersection(turn.addressees)]


def _count_turns(recorded: Recorded) -> Value:
    return Value(float(len(_list_own_words(recorded))))


def _count_words(recorded: Recorded) -> Value:
    counts = [len(find_words(words)) for words in _list_own_words(recorded)]
    return Value(fmean(counts)) if counts else Value.not_reached("it said nothing")


def _find_reported(recorded: Recorded, *, name: str) -> Value:
    found = [person.reported[name] for person in recorded.conversation.tested if name in person.reported]
    return Value(fmean(found)) if found else Value.not_reached("the source gives no such score")
