"""STSS's part of a report: tables and figures, as plain view records."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import cast

from sociable.benchmarks.stss import published
from sociable.benchmarks.stss.metrics import NOTHING, RATIO, SCORE, STAGES
from sociable.benchmarks.stss.records import Measured, Stage, StssEpisode
from sociable.benchmarks.stss.speech import parse_speech
from sociable.benchmarks.stss.study import StssStudy
from sociable.benchmarks.stss.task import Task, TaskType
from sociable.core.records import EpisodeStatus, Usage
from sociable.core.view import (
    MISSING,
    Block,
    Callout,
    Case,
    Column,
    IntervalPlot,
    Line,
    Mark,
    Paragraph,
    Row,
    Section,
    Table,
    Tag,
    Tone,
    Transcript,
    figure,
)
from sociable.engine.benchmark import RunResult
from sociable.engine.run import FinishedRun
from sociable.reports.result_tables import Metric, cells, columns_of, cost_block, counts_table, metrics_table, notes_of
from sociable.town.clock import MINUTES_PER_DAY, Clock, time_of_day
from sociable.town.events import Noted, Talked, Walked
from sociable.town.map import Address, Tile
from sociable.town.timeline import read_timelines

_BY_TYPE = {
    TaskType.PUBLIC: "Pub. act.",
    TaskType.APPOINTMENT: "Appo.",
    TaskType.COMPANIONS: "Inv. com.",
    TaskType.ONLINE: "Online act.",
    TaskType.HELP: "Help",
}
TABLE_4 = {
    **{f"{SCORE}/{kind}": Metric(title, f"mean score of the tasks of {kind}") for kind, title in _BY_TYPE.items()},
    SCORE: Metric("Overall", "mean over all tasks"),
    RATIO: Metric("Conv. ratio", "different people talked with before the event's day, over those expected; help left out"),
}
STAGE_METRICS = {
    STAGES[Stage.NOT_MET]: Metric("Not met", "never in the performer's sight, nor told by anybody"),
    STAGES[Stage.NOT_TOLD]: Metric("Not told", "nobody told them all that they would have had to know"),
    STAGES[Stage.NOT_AGREED]: Metric("Not agreed", "told, and did not agree"),
    STAGES[Stage.NOT_DONE]: Metric("Not done", "agreed, and did not do it"),
    STAGES[Stage.DONE]: Metric("Done", "took part"),
}
CONDUCT = {NOTHING: Metric("Came to nothing", "share of the performer's plans and words in which nothing could be read")}
ANOTHER_TOWN = "Published rows (paper) are of the authors' town, tasks and models of 2023: to look at, not to compare with."
EPISODES_SHOWN = 5
"""Of the worst, and of the best."""

TALKS_SHOWN = 20
"""Conversations of an episode's performer, those about the task first; the replay has them all."""


def summary_table(results: Sequence[RunResult]) -> Table:
    """One row a run: overall first, then by type."""
    metrics = {name: TABLE_4[name] for name in (SCORE, RATIO, *(name for name in TABLE_4 if name not in (SCORE, RATIO)))}
    note = "95% intervals by task; those of the types stand in the report. — : no task of that type."
    columns = [Column("Model"), *columns_of(metrics)]
    return Table("STSS", columns, [Row([result.label, *_scores(result, metrics)]) for result in results], note)


def _scores(result: RunResult, metrics: Mapping[str, Metric], whole: Container[str] = (SCORE, RATIO)) -> list[str]:
    """With the intervals of ``whole``; with all of them nothing would fit a page."""
    return [
        text if name in whole else text.partition(" [")[0] for name, text in zip(metrics, cells(result, metrics), strict=True)
    ]


def sections(runs: Sequence[FinishedRun]) -> list[Section]:
    """The body of a report on one or several runs."""
    results = [run.result for run in runs]
    return [
        Section("Scores", [*notes_of(results), _table_4(results), *_score_plot(results)]),
        Section("Where it failed", list(_stages(results))),
        Section("Tasks", [_tasks(run) for run in runs]),
        Section("What was counted", [counts_table(result, (SCORE, RATIO)) for result in results]),
        Section("Cost", [cost_block(results), *_per_resident_day(runs)]),
        *[Section(f"Episodes: {run.result.label}" if len(runs) > 1 else "Episodes", list(_episodes(run))) for run in runs],
    ]


def _table_4(results: Sequence[RunResult]) -> Table:
    """Table 4's layout: our runs first, then the published rows."""
    rows = [Row([result.label, *_scores(result, TABLE_4)], emphasis=True) for result in results]
    for row in published.TABLE_4:
        values = [*(row.by_type[kind] for kind in _BY_TYPE), row.overall, row.conversation_ratio]
        rows.append(Row([f"{row.model} {row.agent} (paper)", *map(figure, values)]))
    return Table("Scores by type of task (Table 4's layout)", [Column("Model"), *columns_of(TABLE_4)], rows, ANOTHER_TOWN)


def _score_plot(results: Sequence[RunResult]) -> Iterator[Block]:
    if len(results) == 1:
        found = [(TABLE_4[name].title, results[0].estimate(name)) for name in TABLE_4 if name != RATIO]
        caption = "Scores by type of task"
    else:
        labels = short_labels([result.label for result in results])
        found = [(label, result.estimate(SCORE)) for label, result in zip(labels, results, strict=True)]
        caption = "Scores over all tasks"
    counted = [(label, each) for label, each in found if each is not None]
    marks = [Mark(f"{label} (n = {each.scored})", each.value, each.low, each.high) for label, each in counted]
    yield IntervalPlot(caption, "score", marks, minimum=0.0, maximum=1.0)


_FOLDERS = re.compile(r"[^\s(]*/")


def short_labels(labels: Sequence[str]) -> list[str]:
    """Without providers and folders, for the narrow room beside a figure; whole, should that make two of them alike."""
    short = [_FOLDERS.sub("", label) for label in labels]
    return short if len(set(short)) == len(set(labels)) else list(labels)


def _stages(results: Sequence[RunResult]) -> Iterator[Block]:
    yield Paragraph(
        "Everybody who could have come (of an appointment its target), by the first thing that was missing. What was told is "
        "read from the words by rule (speech.py): a place and a time that are named count as told, whatever is said about them."
    )
    note = (
        "Shares of people, averaged over tasks; the 95% interval is by task. Not done: agreed, and did not do it. Of help one "
        "helper is enough: the others are not expected to be asked."
    )
    rows = [Row([result.label, *_scores(result, STAGE_METRICS, (STAGES[Stage.DONE],))]) for result in results]
    yield Table("How far the task came with people", [Column("Model"), *columns_of(STAGE_METRICS)], rows, note)
    if any((found := result.estimate(NOTHING)) and found.value is not None for result in results):
        unread = "Of the performer alone. A plan that cannot be read is asked for twice."
        yield metrics_table("What came to nothing", results, CONDUCT, unread)


def _tasks(run: FinishedRun) -> Table:
    """One row an episode."""
    study = cast(StssStudy, run.study)
    scores = {(s.scenario, s.repeat): s for s in run.result.scores if s.metric == SCORE}
    rows = []
    for episode in _completed(run):
        task = study.scenarios[episode.scenario]
        score = scores.get((episode.scenario, episode.repeat))
        shown = [figure(score.value if score else None, 2), score.reason if score else MISSING]
        rows.append(Row([episode.id, *shown, task.performer]))
    return Table(run.result.label, [Column("Episode"), Column("Score", True), Column("Why"), Column("Performer")], rows)


def _per_resident_day(runs: Sequence[FinishedRun]) -> Iterator[Block]:
    """Calls and tokens beside the original's public figure."""
    rows = []
    for run in runs:
        episodes = _completed(run)
        days = sum(_models(each) * each.minutes / MINUTES_PER_DAY for each in episodes)
        used = sum((usage for each in episodes for usage in each.usage.values()), Usage())
        if used.calls and days:
            tokens = used.input_tokens + used.output_tokens
            rows.append(Row([run.result.label, f"{used.calls / days:,.0f}", f"{tokens / days:,.0f}"], emphasis=True))
    if not rows:
        return
    original = [published.original_per_resident_day(q) for q in (published.ORIGINAL_REQUESTS, published.ORIGINAL_TOKENS)]
    rows.append(Row(["generative agents, the original", *(f"{each:,.0f}" for each in original)]))
    columns = [Column("Run of"), Column("Calls", True), Column("Tokens", True)]
    note = (
        f"The original: {published.ORIGINAL_REQUESTS:,} requests and {published.ORIGINAL_TOKENS / 1e6:.1f} M tokens for "
        f"{published.ORIGINAL_RESIDENTS} agents and {published.ORIGINAL_HOURS} simulated hours, taken to 24 hours. A run of ours "
        "counts the performer and all background residents that are models, nights included."
    )
    yield Table("Per resident and day", columns, rows, note)


def _models(episode: StssEpisode) -> int:
    """How many residents have one."""
    return sum(not player.startswith("reference/") for player in episode.played_by.values())


def _completed(run: FinishedRun) -> list[StssEpisode]:
    return [cast(StssEpisode, each) for each in run.records.episodes if each.status is EpisodeStatus.COMPLETED]


def _episodes(run: FinishedRun) -> Iterator[Block]:
    """The worst, the best and what has no score; each says how to watch it."""
    values = {(s.scenario, s.repeat): s.value for s in run.result.scores if s.metric == SCORE}
    valued = [(values.get((episode.scenario, episode.repeat)), episode) for episode in _completed(run)]
    scored = [(value, episode) for value, episode in valued if value is not None]
    ranked = [episode for _, episode in sorted(scored, key=lambda each: each[0])]
    shown = {
        "Lowest scores": ranked[:EPISODES_SHOWN],
        "Highest scores": ranked[EPISODES_SHOWN:][-EPISODES_SHOWN:][::-1],
        "Not scored": [episode for value, episode in valued if value is None][:EPISODES_SHOWN],
    }
    for heading, episodes in shown.items():
        if episodes:
            yield Paragraph(f"{heading}. To watch one: sociable replay {run.result.folder} EPISODE.")
            yield from (episode_view(run, episode) for episode in episodes)


def episode_view(run: FinishedRun, episode: StssEpisode) -> Case:
    """What was wanted, what came of it with whom, and the performer's conversations."""
    study = cast(StssStudy, run.study)
    task = study.scenarios[episode.scenario]
    if episode.task is None:
        return Case(episode.id, [Tag("errored", Tone.BAD)], [Callout(episode.error, Tone.WARNING)])
    measured = study.measured(episode)
    failure = measured.failure
    tone = Tone.GOOD if measured.score >= 0.5 else Tone.BAD
    result = Tag("not scored") if failure else Tag(f"score {measured.score:.2f}", tone)
    why = Callout(f"{_sentence(measured.reason)}: {measured.score:.2f}.")
    if failure:
        why = Callout(f"Not scored: {failure}.", Tone.WARNING)
    clock = study.setting.clock
    blocks = [
        Paragraph(task.goal),
        why,
        _people_table(task, measured, clock),
        *_talks(study, task, episode, run.result.folder),
        *_noted(task, episode),
    ]
    return Case(episode.id, [Tag(str(task.type)), result], blocks)


def _sentence(reason: str) -> str:
    return reason[:1].upper() + reason[1:]


def _moment(minute: int, clock: Clock) -> str:
    """Mon 07:10."""
    return f"{clock.day(minute):%a} {time_of_day(minute)}"


def _people_table(task: Task, measured: Measured, clock: Clock) -> Table:
    told = {each.listener: each for each in reversed(measured.told)}
    rows = []
    for name, stage in measured.stages.items():
        by = told.get(name)
        who = f"{by.teller}, {_moment(by.minute, clock)}" if by else MISSING
        # Of an appointment, whoever has done its part with the other elsewhere.
        half = task.type is TaskType.APPOINTMENT and stage is Stage.DONE and measured.score < 1
        rows.append(
            Row([name, f"{stage}, in another place: half a point" if half else str(stage), who, _presence(name, measured)])
        )
    if task.type in (TaskType.APPOINTMENT, TaskType.COMPANIONS):
        # Only what is done together with the performer counts.
        rows.append(Row([task.performer, "(performer)", MISSING, _presence(task.performer, measured)]))
    columns = [Column("Person"), Column("How far it came"), Column("First told by"), Column("At the event")]
    return Table("People", columns, rows)


def _presence(name: str, measured: Measured) -> str:
    return "; ".join(str(each) for each in measured.attendance if each.resident == name) or MISSING


def _talks(study: StssStudy, task: Task, episode: StssEpisode, folder: str) -> Iterator[Paragraph | Transcript]:
    """The performer's conversations, one by one; of many those about the task, and the earliest of the others."""
    clock, performer = study.setting.clock, task.performer
    talks = [event for event in episode.events if isinstance(event, Talked) and performer in (event.resident, event.partner)]
    if not talks:
        yield Paragraph(f"{performer} talked with nobody.")
        return
    about = [talk for talk in talks if parse_speech(task, [line.says for line in talk.lines], talk.minute, clock).parts]
    shown = [*about, *(talk for talk in talks if talk not in about)][:TALKS_SHOWN]
    count = f"{len(talks)} conversation{'' if len(talks) == 1 else 's'}"
    first = ", which come first" if len(about) > 1 else ", which comes first" if about else ""
    text = f"{performer} had {count}, {len(about) or 'none'} of them about the task{first}."
    if len(shown) < len(talks):
        text += f" {len(shown)} are shown; the other {len(talks) - len(shown)}: sociable replay {folder} {episode.id}"
    yield Paragraph(text)
    # Where somebody stands follows from its own walks.
    own = [event for event in episode.events if isinstance(event, Walked) and event.resident == performer]
    life = read_timelines(own, {performer: Tile(*episode.starts[performer])}, episode.minutes)[performer]
    for talk in shown:
        partner = talk.partner if talk.resident == performer else talk.resident
        here = study.setting.town.address_of(life.tiles[talk.minute])
        # Without the thing they stand at.
        place = str(Address(here.sector, here.arena)) if here else "in the street"
        title = f"{_moment(talk.minute, clock)} with {partner}, {place}, {talk.until - talk.minute} min"
        yield Transcript(title, [Line(line.speaker, "", line.says or f"({line.note})") for line in talk.lines], folded=True)


def _noted(task: Task, episode: StssEpisode) -> Iterator[Table]:
    notes = Counter((event.about, event.resident == task.performer) for event in episode.events if isinstance(event, Noted))
    if notes:
        rows = [Row([about, "performer" if own else "background", str(count)]) for (about, own), count in notes.most_common()]
        yield Table("Noted in the event log", [Column("What"), Column("Of"), Column("Times", True)], rows)
