"""Runs as tables, long and tidy: one row a thing. Every table joins the others by ``run`` and ``episode``.

A field of a row is a column, and its description is the column's; a column that may be empty says so by its type.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import BaseModel, Field

from sociable.core.errors import InputError
from sociable.core.people_files import PeopleFiles
from sociable.core.records import Episode, Judgment, Record, Turn, Usage, make_episode_id, parse_episode_id
from sociable.core.tables import TEXTS, TableColumn, list_columns
from sociable.models.journal import Journal

if TYPE_CHECKING:
    import pandas as pd

    from sociable.engine.result import RunResult


class TableName(StrEnum):
    RUNS = "runs"
    SCORES = "scores"
    ESTIMATES = "estimates"
    EPISODES = "episodes"
    TURNS = "turns"
    JUDGMENTS = "judgments"
    PEOPLE = "people"
    CALLS = "calls"


class OfRun(Record):
    run: str = Field(description="the run: the name of its folder, with those around it where two have the same")
    benchmark: str = Field(description="the benchmark")
    model: str = Field(description="the model under test, as reports name it")


class OfEpisode(OfRun):
    scenario: str = Field(description="the scenario")
    cluster: str = Field(description="the unit that intervals resample, such as the dialogue that several scenarios are cut from")
    repeat: int = Field(description="how often the scenario had been played before in this run: 0 the first time")
    episode: str = Field(description="the episode's id, unique in its run")


class RunRow(OfRun):
    version: str = Field(description="the benchmark's version, without which scores do not compare")
    created: str = Field(description="when the run was begun, in UTC, as in 2026-01-31T09:30:00+00:00")
    partner: str | None = Field(description="the model that plays everybody else; empty where there is none")
    opponent: str | None = Field(description="the model that the tested one meets; empty where there is none")
    reference: str | None = Field(description="the model whose answers are the references; empty where there is none")
    judges: TEXTS = Field(description="the judges whose verdicts count")
    raters: TEXTS = Field(description="the judges who rate by the rubric")
    rubric: str | None = Field(description="the rubric; empty where nobody rates")
    seed: int = Field(description="the seed of all randomness")
    repeats: int = Field(description="how often each scenario is played")
    planned: int = Field(description="episodes that the run is to have: it is not finished while it has fewer")
    options: str = Field(description="the benchmark's own options, as JSON")
    digests: str = Field(description="digests of data set and prompts, as JSON")
    sociable: str | None = Field(description="the version of sociable that began the run")


class ScoreRow(OfEpisode):
    metric: str = Field(description="the metric")
    outcome: str = Field(description="scored, not reached, unscored or errored")
    value: float | None = Field(description="the value; empty unless the outcome is scored")
    reason: str = Field(description="the reason why there is no value, or why it is what it is")


class EstimateRow(OfRun):
    metric: str = Field(description="the metric")
    value: float | None = Field(description="the estimate; empty where nothing was scored")
    low: float | None = Field(description="the lower end of its interval")
    high: float | None = Field(description="the upper end of its interval")
    confidence: float = Field(description="the interval's confidence, as in 0.95")
    scored: int = Field(description="scores with a value")
    unscored: int = Field(description="scores that the instrument failed to give")
    errored: int = Field(description="scores that the run failed to reach")
    not_reached: int = Field(description="scores that were never due: an earlier stage ended the episode")


class EpisodeRow(OfEpisode):
    status: str = Field(description="completed or errored")
    error: str = Field(description="the reason why it is errored")
    turns: int = Field(description="number of turns")
    calls: int = Field(description="calls to models, without those of judges")
    input_tokens: int = Field(description="tokens that were sent")
    output_tokens: int = Field(description="tokens that came back")
    details: str | None = Field(description="the benchmark's own fields, such as answers to probes, as JSON")


class TurnRow(OfEpisode):
    turn: int = Field(description="the turn's place in its episode")
    speaker: str = Field(description="who spoke")
    addressees: TEXTS = Field(description="whom it was said to; nobody: everyone present")
    heard_by: TEXTS | None = Field(description="who heard it; empty where the benchmark does not note that")
    content: str = Field(description="what was said or done")
    thinking: str = Field(description="the speaker's thoughts, which nobody else saw")
    note: str = Field(description="cut off, refused, shortened")
    details: str | None = Field(description="the benchmark's own fields, as JSON")


class JudgmentRow(OfEpisode):
    judgment: str = Field(description="the judgment's id; the ratings of one judgment are several rows")
    judge: str = Field(description="the judge")
    counts: bool = Field(description="whether the judge is of the run's present panel; earlier opinions stay in the table")
    criterion: str = Field(description="what was judged: a criterion of the benchmark, or the rubric")
    participant: str | None = Field(description="the participant who was rated; empty in a verdict")
    dimension: str | None = Field(description="the rubric's dimension; empty in a verdict")
    verdict: str | None = Field(description="win, tie, loss or unscored; empty in a rating")
    rating: float | None = Field(description="the rating; empty in a verdict, and where none could be read")
    reason: str = Field(description="the judge's reason, or why there is no opinion")
    details: str | None = Field(description="the benchmark's own fields, as JSON")


class PersonRow(OfEpisode):
    person: str = Field(description="who gave it, by the name in the file or on the link")
    given: str = Field(description="verdict, rating or word")
    criterion: str | None = Field(description="what was judged; empty but in a verdict")
    item: str | None = Field(description="the item of a sheet, or of a link; empty but in a verdict")
    question: bool | None = Field(description="whether it was asked with yes (win) or no (loss); empty but in a verdict")
    subject_first: bool | None = Field(description="whether the tested model's answer was shown first; empty but in a verdict")
    stratum: str | None = Field(description="the kind of items that it was drawn among; empty but in a verdict")
    inclusion: float | None = Field(description="the share of its stratum that people were given; empty where it was not noted")
    verdict: str | None = Field(description="win, tie or loss of the tested model, unscored: undecided; empty but in a verdict")
    rating: float | None = Field(description="the rating of the whole episode; empty but in a rating")
    word: str | None = Field(description="the one word on the whole episode; empty but in a word")
    comment: str = Field(description="the person's comment on a verdict")
    seconds: float | None = Field(description="the time that a verdict took; empty where it was not measured")


class CallRow(OfRun):
    scenario: str | None = Field(description="the scenario; empty where the call belongs to none")
    cluster: str | None = Field(description="its cluster")
    repeat: int | None = Field(description="its repeat; empty where the call belongs to all, such as a reference's")
    episode: str | None = Field(description="the episode; empty where the call belongs to none")
    item: str = Field(description="what the call was made for: an episode's id, or a scenario for a reference")
    role: str = Field(description="subject, partner, opponent, judge or reference")
    participant: str = Field(description="the participant, or the judge and what it was asked")
    answered_by: str = Field(description="the model that replied")
    request: str = Field(description="what was sent, as JSON: model, messages, sampling, schema")
    reply: str = Field(description="the reply")
    thinking: str = Field(description="the thinking that came with it")
    finish: str = Field(description="stop, length, refusal or content filter")
    input_tokens: int = Field(description="tokens that were sent")
    output_tokens: int = Field(description="tokens that came back")
    seconds: float = Field(description="seconds until the reply was whole")
    first_token_seconds: float | None = Field(description="seconds until it began; empty where the server did not tell")
    bought_by: str | None = Field(description="the other run of a study that paid for the reply; empty: this one")


class Table(NamedTuple):
    rows: type[OfRun]
    meaning: str
    read: Callable[[RunResult], Iterator[dict[str, Any]]]
    """What each row has beyond run, benchmark and model."""


def read_rows(result: RunResult, table: TableName, run: str = "") -> Iterator[list[Any]]:
    """The rows of a run's table, cells in the order of its columns; ``run`` is the run's name, by default its folder's.

    All but scores and estimates are read from disk one at a time. Raises RunFolderError.
    """
    rows, _, read = TABLES[table]
    names = list(rows.model_fields)
    common = {"run": run or Path(result.folder).name, "benchmark": result.manifest["benchmark"], "model": result.label}
    for own in read(result):
        row = common | own
        yield [row[name] for name in names]


def name_runs(folders: Iterable[Path]) -> dict[Path, str]:
    """A name for each run folder: its own, with those of the folders around it where two have the same."""
    named = {folder: folder.resolve().parts for folder in folders}
    lengths = dict.fromkeys(named, 1)
    while True:
        names = {folder: "/".join(parts[-lengths[folder] :]) for folder, parts in named.items()}
        taken = Counter(names.values())
        same = [folder for folder, name in names.items() if taken[name] > 1 and lengths[folder] < len(named[folder])]
        if not same:
            return names
        for folder in same:
            lengths[folder] += 1


def _read_run(result: RunResult) -> Iterator[dict[str, Any]]:
    manifest, settings = result.manifest, result.manifest["settings"]
    yield {
        **{name: manifest[name] for name in ("version", "created")},
        **{name: manifest["models"].get(name) for name in ("partner", "opponent", "reference")},
        "judges": tuple(manifest["models"]["judges"]),
        "raters": tuple(manifest.get("rubric", {}).get("raters", ())),
        **{name: settings.get(name) for name in ("rubric", "seed", "repeats")},
        "planned": manifest["episodes"],
        "options": _make_json(settings.get("options", {})),
        "digests": _make_json(manifest["digests"]),
        "sociable": manifest.get("packages", {}).get("sociable"),
    }


def _read_scores(result: RunResult) -> Iterator[dict[str, Any]]:
    for score in result.scores:
        yield {**dict(score), "outcome": score.outcome.value, "episode": make_episode_id(score.scenario, score.repeat)}


def _read_estimates(result: RunResult) -> Iterator[dict[str, Any]]:
    return (dict(estimate) for estimate in result.estimates)


def _read_episodes(result: RunResult) -> Iterator[dict[str, Any]]:
    for episode in result.episodes():
        yield {
            **_identify(episode),
            "status": episode.status.value,
            "error": episode.error,
            "turns": sum(1 for _ in episode.list_turns()),
            **dict(sum(episode.usage.values(), Usage())),
            "details": _dump_own_fields(episode, Episode),
        }


def _read_turns(result: RunResult) -> Iterator[dict[str, Any]]:
    for episode in result.episodes():
        for turn in episode.list_turns():
            yield {
                **_identify(episode),
                "turn": turn.index,
                **{name: getattr(turn, name) for name in ("speaker", "addressees", "content", "thinking", "note")},
                "heard_by": getattr(turn, "heard_by", None),
                "details": _dump_own_fields(turn, Turn, "heard_by"),
            }


def _read_judgments(result: RunResult) -> Iterator[dict[str, Any]]:
    clusters = _find_clusters(result)
    panel, raters = ({seat.name for seat in seats} for seats in (result.seats.judges, result.seats.raters))
    for judgment in result.judgments():
        yield {
            **_identify_by_name(judgment.episode, clusters),
            **{name: getattr(judgment, name) for name in ("judge", "criterion", "reason")},
            **dict.fromkeys(("participant", "dimension", "rating")),
            "judgment": judgment.id,
            "counts": judgment.judge in panel,
            "verdict": judgment.verdict.value,
            "details": _dump_own_fields(judgment, Judgment),
        }
    for given in result.records.rubrics:
        for dimension in {**given.ratings, **given.failures}:
            yield {
                **_identify_by_name(given.episode, clusters),
                **{name: getattr(given, name) for name in ("judge", "criterion", "participant")},
                "judgment": given.id,
                "counts": given.judge in raters,
                "dimension": dimension,
                "verdict": None,
                "rating": given.ratings.get(dimension),
                "reason": given.reasons.get(dimension) or given.failures.get(dimension, ""),
                "details": None,
            }


def _read_people(result: RunResult) -> Iterator[dict[str, Any]]:
    clusters = _find_clusters(result)
    empty = dict.fromkeys(PersonRow.model_fields.keys() - OfEpisode.model_fields.keys(), None) | {"comment": ""}
    own = ("criterion", "question", "subject_first", "stratum", "inclusion")
    with PeopleFiles(Path(result.folder)) as files:
        items = {item.id: item for item in files.sheets}
        # As in reports, a verdict counts as long as the sheet that it is on is there.
        for given in files.verdicts:
            if item := items.get(given.item):
                yield {
                    **empty,
                    **_identify_by_name(item.episode, clusters),
                    **{name: getattr(given, name) for name in ("person", "item", "comment", "seconds")},
                    **{name: getattr(item, name) for name in own},
                    "given": "verdict",
                    "verdict": given.verdict.value,
                }
        for name, file in (("rating", files.ratings), ("word", files.words)):
            for each in file:
                about = _identify_by_name(each.episode, clusters)
                yield {**empty, **about, "person": each.person, "given": name, name: getattr(each, name)}


def _read_calls(result: RunResult) -> Iterator[dict[str, Any]]:
    file = Path(result.folder) / "calls.sqlite"
    if not file.exists():
        return
    clusters = _find_clusters(result)
    names = [name for name in CallRow.model_fields if name not in {*OfEpisode.model_fields, "answered_by"}]
    with Journal(file, replay_only=True) as journal:
        for answered_by, *values in journal.stream(("model", *names)):
            call = dict(zip(names, values, strict=True))
            about = _identify_by_name(call["item"], clusters)
            if call["item"] not in result.records.episodes and (call["item"] in clusters or about["scenario"] not in clusters):
                # A reference is made once for a scenario, whatever its repeats.
                scenario = call["item"] if call["item"] in clusters else None
                about = {"scenario": scenario, "cluster": clusters.get(call["item"]), "repeat": None, "episode": None}
            yield {**about, **call, "answered_by": answered_by}


def _identify(episode: Episode) -> dict[str, Any]:
    return {"scenario": episode.scenario, "cluster": episode.cluster, "repeat": episode.repeat, "episode": episode.id}


def _identify_by_name(name: str, clusters: Mapping[str, str]) -> dict[str, Any]:
    scenario, repeat = parse_episode_id(name)
    return {"scenario": scenario, "cluster": clusters.get(scenario, scenario), "repeat": repeat, "episode": name}


def _find_clusters(result: RunResult) -> dict[str, str]:
    """The cluster of each scenario. Scores do not tell: a run that goes on has episodes that they do not know yet."""
    return {scenario: result.study.find_cluster(scenario) for scenario in result.study.scenarios}


def _dump_own_fields(record: BaseModel, base: type[BaseModel], *shown: str) -> str | None:
    """What a benchmark's record has beyond those of its ``base``, but for what is ``shown`` elsewhere; None: nothing."""
    own = set(type(record).model_fields) - set(base.model_fields) - set(shown)
    return _make_json(record.model_dump(mode="json", include=own)) if own else None


def _make_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


TABLES: Mapping[TableName, Table] = {
    TableName.RUNS: Table(RunRow, "one row a run: the conditions under which it was made", _read_run),
    TableName.SCORES: Table(ScoreRow, "one row for each episode and metric", _read_scores),
    TableName.ESTIMATES: Table(EstimateRow, "one row for each run and metric", _read_estimates),
    TableName.EPISODES: Table(EpisodeRow, "one row for each episode", _read_episodes),
    TableName.TURNS: Table(TurnRow, "one row for each turn of a conversation", _read_turns),
    TableName.JUDGMENTS: Table(JudgmentRow, "one row for each verdict, and for each rating on a dimension", _read_judgments),
    TableName.PEOPLE: Table(PersonRow, "one row for each verdict, rating and word of a person", _read_people),
    TableName.CALLS: Table(CallRow, "one row for each call to a model, judges' calls too", _read_calls),
}
"""The tables of a run, in the order in which they are listed."""


def make_frame(result: RunResult, table: str) -> pd.DataFrame:
    """A run's table as a data frame, typed by its columns. Raises InputError for a name that is no table's."""
    import pandas as pd

    if table not in TABLES:
        raise InputError(f"There is no table '{table}'; there are: {', '.join(TABLES)}.")
    name = TableName(table)
    columns = list_columns(TABLES[name].rows)
    frame = pd.DataFrame(read_rows(result, name), columns=[column.name for column in columns])
    return frame.astype({column.name: _find_type(column) for column in columns})


def _find_type(column: TableColumn) -> str:
    """pandas' type of a column: integers and booleans know no missing value unless they are its own."""
    if column.nullable and column.kind in (int, bool):
        return "Int64" if column.kind is int else "boolean"
    return {int: "int64", float: "float64", bool: "bool"}.get(column.kind, "object")
