"""STSS's part of a report: tables and figures, as plain view records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

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
from sociable.runner.benchmark import RunResult
from sociable.runner.result_tables import Metric, cells, columns_of, cost_block, counts_table, metrics_table, notes_of
from sociable.runner.run import FinishedRun
from sociable.stss import published
from sociable.stss.measure import Measured, in_words
from sociable.stss.metrics import RATIO, SCORE, STAGES
from sociable.stss.records import Stage, StssEpisode
from sociable.stss.study import StssStudy
from sociable.stss.task import Task, TaskType
from sociable.town.clock import MINUTES_PER_DAY, day_number, time_of_day
from sociable.town.events import Noted, Talked

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
    STAGES[stage]: Metric(stage.capitalize(), meaning)
    for stage, meaning in {
        Stage.NOT_MET: "never in the performer's sight, nor told by anybody",
        Stage.NOT_TOLD: "nobody told them all that they would have had to know",
        Stage.NOT_AGREED: "told, and did not agree",
        Stage.NOT_DONE: "agreed, and did not do it",
        Stage.DONE: "took part",
    }.items()
}
ANOTHER_TOWN = "Published rows (paper) are of the authors' town, tasks and models of 2023: to look at, not to compare with."
EPISODES_SHOWN = 5
"""Of the worst, and of the best."""

MAX_LINES = 60
"""Of conversations in a report; the replay has them all."""


def summary_table(results: Sequence[RunResult]) -> Table:
    """One row a run: overall first, then by type."""
    metrics = {name: TABLE_4[name] for name in (SCORE, RATIO, *(name for name in TABLE_4 if name not in (SCORE, RATIO)))}
    note = "95% intervals by task; those of the types stand in the report. — : no task of that type."
    columns = [Column("Model"), *columns_of(metrics)]
    return Table("STSS", columns, [Row([result.label, *_scores(result, metrics)]) for result in results], note)


def _scores(result: RunResult, metrics: Mapping[str, Metric]) -> list[str]:
    """With the intervals of what is over all tasks; with all of them nothing would fit a page."""
    return [
        text if name in (SCORE, RATIO) else text.partition(" [")[0]
        for name, text in zip(metrics, cells(result, metrics), strict=True)
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
    metrics = [name for name in TABLE_4 if name != RATIO] if len(results) == 1 else [SCORE]
    marks = [
        Mark(
            f"{TABLE_4[name].title if len(results) == 1 else result.label} (n = {found.scored})",
            found.value,
            found.low,
            found.high,
        )
        for result in results
        for name in metrics
        if (found := result.estimate(name)) is not None
    ]
    caption = "Scores by type of task" if len(results) == 1 else "Scores over all tasks"
    yield IntervalPlot(caption, "score", marks, minimum=0.0, maximum=1.0)


def _stages(results: Sequence[RunResult]) -> Iterator[Block]:
    yield Paragraph(
        "Everybody who could have come (of an appointment its target), by the first thing that was missing. What was told is "
        "read from the words by rule (speech.py): a place and a time that are named count as told, whatever is said about them."
    )
    note = "Shares of people, averaged over tasks. Of help one helper is enough: the others are not expected to be asked."
    yield metrics_table("How far the task came with people", results, STAGE_METRICS, note)


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
        days = sum(len(each.played_by) * each.minutes / MINUTES_PER_DAY for each in episodes)
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


def _completed(run: FinishedRun) -> list[StssEpisode]:
    return [cast(StssEpisode, each) for each in run.records.episodes if each.status is EpisodeStatus.COMPLETED]


def _episodes(run: FinishedRun) -> Iterator[Block]:
    """The worst and the best; each says how to watch it."""
    values = {(s.scenario, s.repeat): s.value for s in run.result.scores if s.metric == SCORE}
    ranked = sorted(_completed(run), key=lambda episode: values.get((episode.scenario, episode.repeat)) or 0.0)
    shown = {"Lowest scores": ranked[:EPISODES_SHOWN], "Highest scores": ranked[EPISODES_SHOWN:][-EPISODES_SHOWN:][::-1]}
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
    tone = Tone.GOOD if measured.score >= 0.5 else Tone.BAD
    tags = [Tag(str(task.type)), Tag(f"score {measured.score:.2f}", tone)]
    return Case(episode.id, tags, list(_episode_blocks(task, episode, measured)))


def _episode_blocks(task: Task, episode: StssEpisode, measured: Measured) -> Iterator[Paragraph | Callout | Transcript | Table]:
    yield Paragraph(task.goal)
    yield Callout(f"{measured.reason[:1].upper()}{measured.reason[1:]}: {measured.score:.2f}.")
    yield _people_table(task, measured)
    talks = [e for e in episode.events if isinstance(e, Talked) and task.performer in (e.resident, e.partner)]
    lines = [Line(line.speaker, "", line.says or f"({line.note})") for talk in talks for line in talk.lines][:MAX_LINES]
    if lines:
        yield Transcript(f"What {task.performer} said and heard ({len(talks)} conversations)", lines, folded=True)
    notes = Counter((event.about, event.resident == task.performer) for event in episode.events if isinstance(event, Noted))
    if notes:
        rows = [Row([about, "performer" if own else "background", str(count)]) for (about, own), count in notes.most_common()]
        yield Table("Noted in the event log", [Column("What"), Column("Of"), Column("Times", True)], rows)


def _people_table(task: Task, measured: Measured) -> Table:
    told = {each.listener: each for each in reversed(measured.told)}
    rows = []
    for name, stage in measured.stages.items():
        by = told.get(name)
        who = f"{by.teller}, {day_number(by.minute)} {time_of_day(by.minute)}" if by else MISSING
        there = "; ".join(in_words(each) for each in measured.attendance if each.resident == name) or MISSING
        rows.append(Row([name, str(stage), who, there]))
    columns = [Column("Person"), Column("How far it came"), Column("First told by, day and time"), Column("At the event")]
    return Table("People", columns, rows)
