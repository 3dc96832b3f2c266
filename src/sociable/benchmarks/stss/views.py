"""STSS's part of a report: tables and figures, as plain view records."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sociable.agents.generative.target_driven import PLANS
from sociable.benchmarks.stss import published
from sociable.benchmarks.stss.metrics import AGREEMENT, MET, NOTHING, OF_BEST, RATIO, REFUSED_EVENTS, SCORE, STAGES, TYPES
from sociable.benchmarks.stss.records import Measured, Stage, StssEpisode
from sociable.benchmarks.stss.study import StssStudy
from sociable.benchmarks.stss.task import Task, TaskType
from sociable.core.plots import IntervalPlot, Mark
from sociable.core.records import EpisodeStatus, Estimate, Usage
from sociable.core.view import (
    MISSING,
    Block,
    Callout,
    Case,
    Column,
    Line,
    Paragraph,
    Row,
    Section,
    Table,
    Tag,
    Tone,
    Transcript,
    format_figure,
)
from sociable.engine.result import RunResult
from sociable.reports.result_tables import make_metrics_table, make_outcomes_table
from sociable.reports.views import EPISODES_SHOWN, Views
from sociable.town.clock import MINUTES_PER_DAY, Clock, format_time_of_day
from sociable.town.events import Noted

Runs = Sequence[RunResult[StssStudy]]

ANOTHER_TOWN = "Published rows (paper) are of the authors' town, tasks and models of 2023: to look at, not to compare with."
TALKS_SHOWN = 20
"""Conversations of an episode's performer, those about the task first; the replay has them all."""
MUCH = 0.2
"""The share of the performer's plans and words that may come to nothing before readers are warned."""
PUBLISHED = {model: dict(zip((*TYPES.values(), SCORE, RATIO), row, strict=True)) for model, row in published.TABLE_4.items()}


_ABOUT_JUDGE = (
    "Of every text of an activity of somebody who was at the place while the task's thing went on; of an online activity or an "
    "appointment anywhere. The judge decides, and the keyword filter where the judge gave no answer. 95% interval by task."
)


_ABOUT_REASONS = (
    "Read from the words by rule: a reason counts as heard where a line has most of its words, and what moves somebody as said "
    "where the performer puts it in one of the wordings that the task lists. Models put things in other ways, too."
)


class TownViews(Views):
    """The names of runs and the groups of episodes that are shown, as both of STSS's levels have them."""

    def make_label(self, manifest: Mapping[str, Any]) -> str:
        """The model, its architecture where that is not the plain one, and the background where it is another's."""
        subject, partner = manifest["models"]["subject"], manifest["models"]["partner"]
        options = manifest["settings"]["options"]
        agent = options.get("agent", "generative")
        label = subject if subject.startswith("reference/") or agent == "generative" else f"{subject} {agent}"
        if options.get("fork"):
            label = f"{label} (fork)"
        plain = partner is None or (subject.startswith("reference/") and partner == "reference/residents")
        return label if plain else f"{label} among {partner}"

    def show_groups(self, run: RunResult[Any], groups: Mapping[str, Sequence[Any]], remedy: str) -> Iterator[Block]:
        """Groups of episodes in full, each under its heading and the command with which others are looked at."""
        for heading, episodes in groups.items():
            if episodes:
                yield Paragraph(f"{heading}. {remedy} {run.folder} EPISODE.")
                yield from (block for episode in episodes for block in self.show_episode(run, episode))


class StssViews(TownViews):
    def list_remarks(self, estimates: Sequence[Estimate]) -> Sequence[str]:
        found, said = {each.metric: each.value for each in estimates}, []
        if (nothing := found.get(NOTHING) or 0.0) > MUCH:
            said.append(
                f"{nothing:.0%} of the performer's plans and words could not be read or were empty: its scores say little of its "
                "social intelligence. Look at what it writes with `sociable show DIR EPISODE --prompt`; a model that thinks "
                "needs more max_tokens, one too weak for JSON --plain."
            )
        if found.get(REFUSED_EVENTS):
            said.append(
                "The performer's architecture wrote events that are not its own to write, such as what others did. They were "
                "left out and counted (`sociable show DIR EPISODE`); look into that architecture before you trust its scores."
            )
        return said

    def show_summary(self, runs: Runs) -> Table:
        """One row a run: overall first, then by type."""
        main = _name_main(runs)
        shown = runs[0].study.metrics.select_named(*main, RATIO, *TYPES.values())
        note = "95% intervals by task; those of the types stand in the report. — : no task of that type."
        return make_metrics_table(f"STSS{_name_level(runs)}", runs, shown, note, (*main, RATIO))

    def show_published(self) -> list[Table]:
        columns = [Column("Model"), *(Column(name, True) for name in (*TYPES.values(), SCORE, RATIO))]
        rows = [Row([f"{model} (paper)", *map(format_figure, own.values())]) for model, own in PUBLISHED.items()]
        return [Table("STSS, the paper's Table 4", columns, rows, ANOTHER_TOWN)]

    def show_scores(self, runs: Runs) -> list[Block]:
        """Table 4's layout: our runs first, then the published rows, which are of level 1."""
        main = _name_main(runs)
        shown = runs[0].study.metrics.select_named(*TYPES.values(), *main, RATIO)
        caption = f"Scores by type of task (Table 4's layout){_name_level(runs)}"
        is_papers = not has_obstacles(runs)
        note, beside = (ANOTHER_TOWN, PUBLISHED) if is_papers else ("95% intervals by task.", None)
        # With the intervals of all nothing would fit a page.
        return [make_metrics_table(caption, runs, shown, note, (*main, RATIO), beside), _plot_scores(runs)]

    def show_parts(self, runs: Runs) -> list[Section]:
        parts = [Section("Where it failed", list(_show_stages(runs))), Section("Tasks", [_tabulate_tasks(run) for run in runs])]
        if has_obstacles(runs):
            asked = runs[0].study.metrics.select_groups("reasons")
            table = make_metrics_table("Of people with a reason, and of secrets and rumours", runs, asked, _ABOUT_REASONS, (MET,))
            parts.append(Section("What stood in the way", [table]))
        if any((found := run.estimate(AGREEMENT)) and found.value is not None for run in runs):
            asked = runs[0].study.metrics.select_groups("instrument")
            parts.append(Section("Filter and judge", [make_metrics_table("How often both agree", runs, asked, _ABOUT_JUDGE)]))
        return parts

    def show_counts(self, run: RunResult[StssStudy]) -> Table:
        return make_outcomes_table(run, (SCORE, RATIO))

    def show_costs(self, runs: Runs) -> Sequence[Block]:
        """Calls and tokens beside the original's public figure."""
        rows = []
        for run in runs:
            episodes = _list_completed(run)
            # Residents that have a model.
            played = [sum(not player.startswith("reference/") for player in each.played_by.values()) for each in episodes]
            days = sum(models * each.minutes / MINUTES_PER_DAY for models, each in zip(played, episodes, strict=True))
            used = sum((usage for each in episodes for usage in each.usage.values()), Usage())
            if used.calls and days:
                tokens = used.input_tokens + used.output_tokens
                rows.append(Row([run.label, f"{used.calls / days:,.0f}", f"{tokens / days:,.0f}"], emphasis=True))
        if not rows:
            return []
        original = [published.divide_by_resident_days(q) for q in (published.ORIGINAL_REQUESTS, published.ORIGINAL_TOKENS)]
        rows.append(Row(["generative agents, the original", *(f"{each:,.0f}" for each in original)]))
        note = (
            f"The original: {published.ORIGINAL_REQUESTS:,} requests and {published.ORIGINAL_TOKENS / 1e6:.1f} M tokens for "
            f"{published.ORIGINAL_RESIDENTS} agents and {published.ORIGINAL_HOURS} simulated hours, taken to 24 hours. A run of "
            "ours counts the performer and all background residents that are models, nights included."
        )
        return [Table("Per resident and day", [Column("Run of"), Column("Calls", True), Column("Tokens", True)], rows, note)]

    def show_episodes(self, run: RunResult[StssStudy]) -> Iterator[Block]:
        """The worst, the best and what has no score; each says how to watch it."""
        ranked, unscored = rank_episodes(run, SCORE)
        shown = {
            "Lowest scores": ranked[:EPISODES_SHOWN],
            "Highest scores": ranked[EPISODES_SHOWN:][-EPISODES_SHOWN:][::-1],
            "Not scored": unscored[:EPISODES_SHOWN],
        }
        return self.show_groups(run, shown, "To watch one: sociable replay")

    def show_episode(self, run: RunResult[StssStudy], episode: StssEpisode) -> list[Block]:
        """The task, the stage it reached with each person, and the performer's conversations."""
        task, clock = run.study.scenarios[episode.scenario], run.study.setting.clock
        if episode.task is None:
            return [Case(episode.id, [Tag("errored", Tone.BAD)], [Callout(episode.error, Tone.WARNING)])]
        measured: Measured = run.find_measurement(episode)
        result = Tag(f"score {measured.score:.2f}", Tone.GOOD if measured.score >= 0.5 else Tone.BAD)
        why = Callout(f"{measured.reason[:1].upper()}{measured.reason[1:]}: {measured.score:.2f}.")
        if measured.failure:
            result, why = Tag("not scored"), Callout(f"Not scored: {measured.failure}.", Tone.WARNING)
        talks = _show_talks(task, measured, clock, f"sociable replay {run.folder} {episode.id}")
        blocks = [
            Paragraph(task.goal),
            why,
            _tabulate_people(task, measured, clock),
            *_show_hindered(task, measured, clock),
            *talks,
        ]
        blocks += _show_plans_for_task(episode, clock)
        if differing := [each for each in measured.judged if each.by_filter is not each.by_judge]:
            texts = [Row([each.text, _say_yes(each.by_filter), _say_yes(each.by_judge)]) for each in differing]
            columns = [Column("Activity"), Column("Filter"), Column("Judge")]
            blocks.append(Table("Where filter and judge differ", columns, texts, "The judge's word counts."))
        if measured.notes:
            about = [(each, "performer" if each.of_performer else "background") for each in measured.notes]
            notes = [Row([each.about, whom, str(each.count)]) for each, whom in about]
            blocks.append(Table("Noted in the event log", [Column("What"), Column("Of"), Column("Times", True)], notes))
        return [Case(episode.id, [Tag(str(task.type)), result], blocks)]


def _name_level(runs: Runs) -> str:
    """The level of tasks, where it is not the paper's."""
    levels = {task.obstacles.level for run in runs for task in run.study.scenarios.values() if task.obstacles is not None}
    return f", level {' and '.join(map(str, sorted(levels)))}" if levels else ""


def has_obstacles(runs: Runs) -> bool:
    """Whether the tasks are of level 2 or 3."""
    return bool(runs[0].study.metrics.select_groups("reasons"))


def _name_main(runs: Runs) -> tuple[str, ...]:
    return (OF_BEST, SCORE) if has_obstacles(runs) else (SCORE,)


def _show_hindered(task: Task, measured: Measured, clock: Clock) -> Iterator[Paragraph | Table]:
    """What stood in the way of a task of level 2 or 3: who had which reason, who learnt it, and what moved whom."""
    found, obstacles = measured.hindered, task.obstacles
    if found is None or obstacles is None:
        return
    wills = {will.who: will for will in obstacles.wills}
    rows = []
    for each in found.persuaded:
        will = wills[each.name]
        learnt = f"{each.learnt_from}, {_format_moment(each.learnt, clock)}" if each.learnt is not None else MISSING
        said = _format_moment(each.moved, clock) if each.moved is not None else MISSING
        rows.append(Row([each.name, will.reason, learnt, will.moved_by, said if each.is_true else f"{said}, and it was not so"]))
    columns = [Column("Person"), Column("Reason"), Column("Heard from"), Column("Moved if"), Column("Said")]
    yield Table("Reasons", columns, rows, _ABOUT_REASONS)
    plan = ", ".join(obstacles.best_plan)
    most = f"{obstacles.best} {'person' if obstacles.best == 1 else 'people'}"
    told = [f"The best that a search found is {most}: {plan}. This run came to {format_figure(found.of_best, 2)} of it."]
    if obstacles.budget is not None:
        told.append(f"{task.performer} spoke of it in {found.talks} conversations; {obstacles.budget} were allowed.")
    if found.secret_out is not None:
        out = found.secret_out
        told.append(f"{out.listener} learnt of it from {out.teller}, {_format_moment(out.minute, clock)}.")
    elif found.has_secret and obstacles.secret is not None:
        told.append(f"{obstacles.secret.keeps_from} learnt nothing of it before.")
    for name, minute in found.set_right.items():
        when = f"was set right, {_format_moment(minute, clock)}" if minute is not None else "was never told better"
        told.append(f"{name} believed the rumour and {when}.")
    yield Paragraph(" ".join(told))
    if found.discounted:
        discounted = [Row([name, why]) for name, why in found.discounted.items()]
        yield Table("People who do not count", [Column("Person"), Column("Why")], discounted)


def _say_yes(takes_part: bool) -> str:
    return "takes part" if takes_part else "does not"


def _show_plans_for_task(episode: StssEpisode, clock: Clock) -> Iterator[Transcript]:
    """The texts of target-driven planning."""
    for event in episode.events:
        if isinstance(event, Noted) and event.about in PLANS:
            title = f"{event.about.capitalize()}, {_format_moment(event.minute, clock)}"
            yield Transcript(title, [Line(event.resident, "", event.text)], folded=True)


def rank_episodes(run: RunResult[Any], metric: str) -> tuple[list[Any], list[Any]]:
    """The completed episodes from the lowest value of a metric to the highest, and those without a value."""
    values = {(score.scenario, score.repeat): score.value for score in run.scores if score.metric == metric}
    valued = [(values.get((each.scenario, each.repeat)), each) for each in _list_completed(run)]
    scored = [(value, episode) for value, episode in valued if value is not None]
    ranked = [episode for _, episode in sorted(scored, key=lambda pair: pair[0])]
    return ranked, [episode for value, episode in valued if value is None]


def _plot_scores(runs: Runs) -> IntervalPlot:
    if len(runs) == 1:
        found = [
            (metric.title, runs[0].estimate(metric.name)) for metric in runs[0].study.metrics.select_named(*TYPES.values(), SCORE)
        ]
        caption = "Scores by type of task"
    else:
        labels = shorten_labels([run.label for run in runs])
        found = [(label, run.estimate(SCORE)) for label, run in zip(labels, runs, strict=True)]
        caption = "Scores over all tasks"
    counted = [(label, each) for label, each in found if each is not None]
    marks = [Mark(f"{label} (n = {each.scored})", each.value, each.low, each.high) for label, each in counted]
    return IntervalPlot(caption, "score", marks, minimum=0.0, maximum=1.0)


_FOLDERS = re.compile(r"[^\s(]*/")


def shorten_labels(labels: Sequence[str]) -> list[str]:
    """The labels without providers and folders, for the narrow room beside a figure; whole where two would be alike."""
    short = [_FOLDERS.sub("", label) for label in labels]
    return short if len(set(short)) == len(set(labels)) else list(labels)


def _show_stages(runs: Runs) -> Iterator[Block]:
    yield Paragraph(
        "Everybody who could have come (of an appointment its target), by the first thing that was missing. What was told is "
        "read from the words by rule (speech.py): a place and a time that are named count as told, whatever is said about them."
    )
    note = (
        "Shares of people, averaged over tasks; the 95% interval is by task. Not done: agreed, and did not do it. Of help one "
        "helper is enough: the others are not expected to be asked."
    )
    metrics = runs[0].study.metrics
    done = (STAGES[Stage.DONE],)
    yield make_metrics_table("How far the task came with people", runs, metrics.select_groups("stages"), note, done)
    if any((found := run.estimate(NOTHING)) and found.value is not None for run in runs):
        unread = "Of the performer alone. A plan that cannot be read is asked for twice."
        yield make_metrics_table("What came to nothing", runs, metrics.select_groups("conduct"), unread)


def _tabulate_tasks(run: RunResult[StssStudy]) -> Table:
    """One row an episode."""
    scores = {(s.scenario, s.repeat): s for s in run.scores if s.metric == SCORE}
    rows = []
    for episode in _list_completed(run):
        score = scores.get((episode.scenario, episode.repeat))
        shown = [format_figure(score.value, 2), score.reason] if score else [MISSING, MISSING]
        rows.append(Row([episode.id, *shown, run.study.scenarios[episode.scenario].performer]))
    return Table(run.label, [Column("Episode"), Column("Score", True), Column("Why"), Column("Performer")], rows)


def _list_completed(run: RunResult[Any]) -> list[Any]:
    return [each for each in run.episodes() if each.status is EpisodeStatus.COMPLETED]


def _format_moment(minute: int, clock: Clock) -> str:
    """Mon 07:10."""
    return f"{clock.to_date(minute):%a} {format_time_of_day(minute)}"


def _tabulate_people(task: Task, measured: Measured, clock: Clock) -> Table:
    told = {each.listener: each for each in reversed(measured.told)}
    rows = []
    for name, stage in measured.stages.items():
        by = told.get(name)
        who = f"{by.teller}, {_format_moment(by.minute, clock)}" if by else MISSING
        # Of an appointment, whoever has done its part with the other elsewhere.
        half = task.type is TaskType.APPOINTMENT and stage is Stage.DONE and measured.score < 1
        reached = f"{stage}{', in another place: half a point' if half else ''}"
        rows.append(Row([name, reached, who, _list_attendance(name, measured)]))
    if task.type in (TaskType.APPOINTMENT, TaskType.COMPANIONS):
        # Only what is done together with the performer counts.
        rows.append(Row([task.performer, "(performer)", MISSING, _list_attendance(task.performer, measured)]))
    columns = [Column("Person"), Column("How far it came"), Column("First told by"), Column("At the event")]
    return Table("People", columns, rows)


def _list_attendance(name: str, measured: Measured) -> str:
    return "; ".join(str(each) for each in measured.attendance if each.resident == name) or MISSING


def _show_talks(task: Task, measured: Measured, clock: Clock, replay: str) -> Iterator[Paragraph | Transcript]:
    """The performer's conversations, one by one; of many those about the task, and the earliest of the others."""
    talks = measured.talks
    if not talks:
        yield Paragraph(f"{task.performer} talked with nobody.")
        return
    about = [talk for talk in talks if talk.is_about_task]
    shown = [*about, *(talk for talk in talks if not talk.is_about_task)][:TALKS_SHOWN]
    count = f"{len(talks)} conversation{'' if len(talks) == 1 else 's'}"
    first = ", which come first" if len(about) > 1 else ", which comes first" if about else ""
    text = f"{task.performer} had {count}, {len(about) or 'none'} of them about the task{first}."
    if len(shown) < len(talks):
        text += f" {len(shown)} are shown; the other {len(talks) - len(shown)}: {replay}"
    yield Paragraph(text)
    for talk in shown:
        place = talk.place or "in the street"
        title = f"{_format_moment(talk.minute, clock)} with {talk.partner}, {place}, {talk.until - talk.minute} min"
        yield Transcript(title, [Line(line.speaker, "", line.says or f"({line.note})") for line in talk.lines], folded=True)
