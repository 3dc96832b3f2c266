"""The language level's part of a report: tables and scenes, as plain view records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sociable.benchmarks.stss.conversations.judge import ConditionQuestion
from sociable.benchmarks.stss.conversations.metrics import KINDS, METRICS, TEXTS
from sociable.benchmarks.stss.conversations.records import ConversationEpisode, Scene
from sociable.benchmarks.stss.conversations.study import ConversationStudy
from sociable.benchmarks.stss.published import TABLE_3
from sociable.benchmarks.stss.task import TaskType
from sociable.benchmarks.stss.views import TownViews, rank_episodes
from sociable.core.plots import IntervalPlot, Mark
from sociable.core.records import Estimate, Judgment, Verdict
from sociable.core.view import (
    MISSING,
    Block,
    Callout,
    Case,
    Column,
    Line,
    Paragraph,
    Quotation,
    Row,
    Section,
    Table,
    Tag,
    Tone,
    Transcript,
    format_figure,
    format_interval,
)
from sociable.engine.result import RunResult
from sociable.reports.result_tables import make_metrics_table, make_outcomes_table, warn_of_unjudged
from sociable.reports.views import EPISODES_SHOWN
from sociable.town.clock import format_time_of_day

Runs = Sequence[RunResult[ConversationStudy]]

ANOTHER_DATA_SET = (
    "Published rows (paper) are of the authors' 325 scenes, which were never published, and of models of 2023: to look at, not "
    "to compare with."
)
FEW = 10
"""Scenes of a type below which their number stands beside a share of them."""
_VERDICT = {Verdict.WIN: "yes", Verdict.LOSS: "no"}
PUBLISHED = {
    model: dict(zip((metric.name for metric in METRICS.select_groups("table")), row, strict=True))
    for model, row in TABLE_3.items()
}


class ConversationViews(TownViews):
    episodes_called = "Scenes"

    def show_summary(self, runs: Runs) -> Table:
        rates = "SR: scenes with every condition met; GCSR: share of conditions met."
        note = f"95% intervals by template; none where all are alike. {rates}"
        shown = [metric for metric in runs[0].study.metrics.select_groups("table") if metric.name.endswith("_micro")]
        return make_metrics_table("STSS, language level", runs, shown, note)

    def show_sections(self, runs: Runs) -> list[Section]:
        first, *rest = super().show_sections(runs)
        unjudged = warn_of_unjudged(runs, "whether conditions are met")
        return [Section(first.title, [*unjudged, *first.blocks]), *rest]

    def show_published(self) -> list[Table]:
        caption, metrics = "STSS, the paper's Table 3", METRICS.select_groups("table")
        return [make_metrics_table(caption, [], metrics, ANOTHER_DATA_SET, published=PUBLISHED)]

    def show_scores(self, runs: Runs) -> list[Block]:
        """Table 3's layout: our runs first, then the published rows."""
        metrics = runs[0].study.metrics
        note = f"{ANOTHER_DATA_SET} Intervals stand in the plots and in scores.json."
        caption = "Conversations and summaries (Table 3's layout)"
        silent = "A performer that says nothing meets no condition."
        return [
            make_metrics_table(caption, runs, metrics.select_groups("table"), note, (), PUBLISHED),
            *_plot_shares(runs),
            make_metrics_table("How it talked", runs, metrics.select_groups("conduct"), silent),
        ]

    def show_parts(self, runs: Runs) -> list[Section]:
        by_type = [_tabulate_types(runs, text) for text in TEXTS]
        return [Section("By type of task", by_type), Section("By condition", [_tabulate_conditions(runs)])]

    def show_counts(self, run: RunResult[ConversationStudy]) -> Table:
        names = [metric.name for metric in run.study.metrics.select_groups("scenes")]
        return make_outcomes_table(run, names, [name for name in names if name.endswith("_sr")])

    def show_episodes(self, run: RunResult[ConversationStudy]) -> Iterator[Block]:
        """Scenes with the fewest conditions met, those with the most, and those without a score."""
        ranked, unscored = rank_episodes(run, "conversation_gcsr")
        worst = _choose_templates(ranked)
        shown = {
            "Fewest conditions met, of different templates": worst,
            "Most conditions met, of different templates": _choose_templates([e for e in ranked[::-1] if e not in worst]),
            "Not scored, of different templates": _choose_templates(unscored),
        }
        return self.show_groups(run, shown, "Any other: sociable show")

    def show_episode(self, run: RunResult[ConversationStudy], episode: ConversationEpisode) -> list[Block]:
        """One scene, readable in full: what was wanted, what both knew, was said and was taken away, and the verdicts."""
        study = run.study
        scene = study.scenarios[episode.scenario]
        tags = [Tag(str(scene.type)), *([Tag("made with reference residents")] if scene.reference_residents else [])]
        own = {s.metric: s.value for s in run.scores if (s.scenario, s.repeat) == (episode.scenario, episode.repeat)}
        for text in TEXTS:
            value = own.get(f"{text}_gcsr")
            if value is not None:
                tags.append(Tag(f"{text} {value:.2f}", Tone.GOOD if value == 1.0 else Tone.BAD))
        return [Case(episode.id, tags, list(_show_scene(study, scene, episode, run.find_judgments(episode))))]


def _plot_shares(runs: Runs) -> Iterator[Block]:
    for run in runs:
        found = [(metric.title, run.estimate(metric.name)) for metric in run.study.metrics.select_groups("table")]
        marks = [Mark(title, each.value, each.low, each.high) for title, each in found if each is not None]
        if marks:
            yield IntervalPlot(run.label, "share", marks, minimum=0.0, maximum=1.0)


def _tabulate_types(runs: Runs, text: str) -> Table:
    """One row a type and a run."""
    rows = []
    for kind in TaskType:
        for run in runs:
            found = [run.estimate(f"{text}_{name}/{kind}") for name in KINDS]
            if any(found):
                shown = [format_interval(each) for each in found]
                rows.append(Row([str(kind), run.label, str(found[0].scored if found[0] else 0), *shown]))
    columns = [Column("Type"), Column("Model"), Column("Scenes", True)]
    columns += [Column(title, True, meaning) for title, meaning in KINDS.values()]
    return Table(f"By the {text}, over scenes", columns, rows, "95% intervals by template.")


def _tabulate_conditions(runs: Runs) -> Table:
    """A heat map: one row a condition, two columns a run."""
    rows = []
    for kind in TaskType:
        for condition in dict.fromkeys(each for run in runs for each in run.study.evaluator.conditions[kind]):
            found = [run.estimate(f"{text}/{kind}/{condition}") for run in runs for text in TEXTS]
            values = [each.value if each else None for each in found]
            if any(found):
                rows.append(Row([str(kind), str(condition), *map(_format_share, found)], shades=[None, None, *values]))
    columns = [Column("Type"), Column("Condition")]
    columns += [Column(f"{run.label}, {text}" if len(runs) > 1 else text.capitalize(), True) for run in runs for text in TEXTS]
    note = (
        "Shares of scenes. What is seldom met is what conversations of that type fail at. (n) is the number of scenes where they "
        f"are fewer than {FEW}."
    )
    return Table("Conditions met", columns, rows, note)


def _format_share(share: Estimate | None) -> str:
    """0.50 (4): with the number of scenes where it is small."""
    if share is None or share.value is None:
        return MISSING
    return f"{format_figure(share.value, 2)} ({share.scored})" if share.scored < FEW else format_figure(share.value, 2)


def _choose_templates(episodes: Sequence[ConversationEpisode]) -> list[ConversationEpisode]:
    """The first episode of each template, a few in all."""
    first: dict[str, ConversationEpisode] = {}
    for episode in episodes:
        first.setdefault(episode.cluster, episode)
    return list(first.values())[:EPISODES_SHOWN]


def _show_scene(
    study: ConversationStudy, scene: Scene, episode: ConversationEpisode, judgments: Sequence[Judgment]
) -> Iterator[Paragraph | Callout | Transcript | Quotation | Table]:
    for problem in filter(None, (episode.error, episode.partner_failure, episode.summary_failure)):
        yield Callout(problem, Tone.WARNING)
    clock = study.setting.clock
    where = f"at {scene.address}" if scene.address else "in the street"
    began = scene.performer.name if scene.performer_begins else scene.target.name
    yield Paragraph(f"{clock.render_minute(scene.minute)}, {where}; {began} begins. {scene.task.goal}")
    for side, part in ((scene.performer, "performer"), (scene.target, "target")):
        label = f"{side.name} ({part}, played by {episode.played_by.get(side.name, MISSING)}) before it"
        memories = [
            f"{clock.to_datetime(each.minute):%a} {format_time_of_day(each.minute)} {each.text}" for each in side.memories
        ]
        promised = [f"Promised {each.partner}: {each.doing}" for each in side.agreed]
        yield Quotation(label, "\n".join([f"Doing: {side.doing}", *memories, *promised]))
    said = [f"{turn.content or '(says nothing)'}{f' [{turn.note}]' if turn.note else ''}" for turn in episode.turns]
    lines = [Line(turn.speaker, "", text) for turn, text in zip(episode.turns, said, strict=True)]
    yield Transcript("The conversation", lines)
    yield Quotation(f"What {scene.target.name} takes away", episode.summary or "(nothing)")
    if judgments:
        yield _tabulate_verdicts(study.evaluator.list_questions(scene, episode), judgments)
    source = scene.source
    yield Paragraph(
        f"Frozen from {source.run}, episode {source.episode}: performer {source.agent}, residents {source.residents}, "
        f"seed {source.seed}, stss {source.version}."
    )


def _tabulate_verdicts(questions: Mapping[str, ConditionQuestion], judgments: Sequence[Judgment]) -> Table:
    judges = list(dict.fromkeys(judgment.judge for judgment in judgments))
    by = {(judgment.criterion, judgment.judge): judgment for judgment in judgments}
    rows = []
    for criterion, asked in questions.items():
        said = [by.get((criterion, judge)) for judge in judges]
        shown = [f"{_VERDICT.get(each.verdict, MISSING)}: {each.reason}".removesuffix(": ") if each else MISSING for each in said]
        rows.append(Row([str(asked.text), str(asked.condition), *shown]))
    return Table("Verdicts", [Column("In the"), Column("Condition"), *map(Column, judges)], rows)
