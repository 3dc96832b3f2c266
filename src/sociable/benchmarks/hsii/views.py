"""HSII's part of a report: tables, figures and cases, as plain view records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from sociable.benchmarks.hsii.contrast import contrast_sections
from sociable.benchmarks.hsii.dataset import ASSISTANT, Case
from sociable.benchmarks.hsii.metrics import BEHAVIOURS, RATES, JudgedCase
from sociable.benchmarks.hsii.published import TABLE_1
from sociable.benchmarks.hsii.records import HSIIEpisode, ReferenceConversation
from sociable.benchmarks.hsii.study import HSIIStudy
from sociable.core.records import EpisodeStatus, Judgment, Score, Turn, Verdict
from sociable.core.view import (
    MISSING,
    Block,
    Callout,
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
    figure,
)
from sociable.core.view import (
    Case as CaseView,
)
from sociable.engine.result import RunResult
from sociable.judging.pairwise import PairJudgment
from sociable.judging.panel import decide_panel
from sociable.reports.result_tables import counts_table, interval_plot, metric_cells, metric_columns, metrics_table
from sociable.reports.views import Views
from sociable.statistics.estimates import estimate_proportion
from sociable.statistics.metrics import Metric

CASES_SHOWN = 5
"""Of the best, and of the worst."""

_TONES = {Verdict.WIN: Tone.GOOD, Verdict.LOSS: Tone.BAD, Verdict.TIE: Tone.NEUTRAL, Verdict.UNSCORED: Tone.WARNING}


class HSIIViews(Views):
    episodes_called = "Cases"

    def summary(self, runs: Sequence[RunResult[HSIIStudy]]) -> Table:
        halved = {run.study.options.ties == "half" for run in runs}
        ties = {frozenset({True}): "Ties count half.", frozenset({False}): "Ties are no wins."}.get(frozenset(halved), "")
        note = f"95% intervals by dialogue; none where all dialogues are alike. — : nothing to measure. {ties}".strip()
        return metrics_table("HSII", runs, _main(runs), note)

    def scores(self, runs: Sequence[RunResult[HSIIStudy]]) -> list[Block]:
        metrics = runs[0].study.metrics
        published = {name: {row.model: float(getattr(row, name)) for row in TABLE_1} for name in RATES}
        others = [
            metric for metric in metrics.in_group("overall", "behaviour", "form") if metric.name not in ("hsii", "r4_minus_r3")
        ]
        return [
            metrics_table(
                "Other forms of the score, and what it leaves out",
                runs,
                others,
                "In the form of Table 1 a right target alone earns nothing, and perfect format with every target wrong earns 1; "
                "the cascade earns nothing without the right target.",
            ),
            *(interval_plot(metrics[name], runs, published[name], "share of cases") for name in RATES),
            _paper_table(runs),
        ]

    def parts(self, runs: Sequence[RunResult[HSIIStudy]]) -> list[Section]:
        gap = metrics_table(
            "Is the first utterance after a switch harder than what follows?",
            runs,
            runs[0].study.metrics.named("r3", "r4", "r4_minus_r3"),
            "The paper reports an average gap of 0.025 in favour of the long run (section 6.3).",
        )
        judges = [Section("Judges", list(_judges(runs)))] if any(run.seats.judges for run in runs) else []
        return [Section("By topic", list(_by_topic(runs))), Section("First utterance and long run", [gap]), *judges]

    def counts(self, run: RunResult[HSIIStudy]) -> Table:
        return counts_table(run, (*RATES, "leak_rate", *BEHAVIOURS), ("r1",))

    def shown_episodes(self, run: RunResult[HSIIStudy]) -> Iterator[Block]:
        """The best and the worst cases in full."""
        completed = [each for each in _episodes(run) if each.status is EpisodeStatus.COMPLETED]
        ranked = sorted(((_points(each, run), each.id) for each in completed), key=lambda pair: pair[0])
        worst = ranked[:CASES_SHOWN]
        best = [each for each in reversed(ranked[-CASES_SHOWN:]) if each not in worst]
        for heading, chosen in (("The best", best), ("The worst", worst)):
            if chosen:
                yield Paragraph(f"{heading} {len(chosen)} of {len(ranked)}. Any other: sociable show {run.folder} EPISODE.")
            for _, episode in chosen:
                yield from self.episode(run, cast(HSIIEpisode, run.records.episodes.read(episode)))

    def episode(self, run: RunResult[HSIIStudy], episode: HSIIEpisode) -> list[Block]:
        """What the model saw, what it said, the golden response and why, both judging orders."""
        case, judgments = run.study.scenarios[episode.scenario], run.judgments_of(episode)
        blocks = _case_blocks(case, episode, run.reference_of(episode.scenario), judgments)
        return [CaseView(episode.id, list(_tags(case, episode, judgments)), list(blocks))]

    def contrast(self, first: RunResult[HSIIStudy], second: RunResult[HSIIStudy]) -> list[Section]:
        return contrast_sections(first, second)


def _main(runs: Sequence[RunResult[HSIIStudy]]) -> list[Metric[JudgedCase]]:
    return runs[0].study.metrics.named(*RATES, "hsii")


def _paper_table(runs: Sequence[RunResult[HSIIStudy]]) -> Table:
    columns = [Column("Model"), *metric_columns(_main(runs))]
    own = [Row([run.label, *metric_cells(run, _main(runs))], emphasis=True) for run in runs]
    published = [
        Row([f"{row.model} (paper)", figure(row.r1), figure(row.r2), figure(row.r3, 2), figure(row.r4, 2), figure(row.hsii)])
        for row in TABLE_1
    ]
    return Table(
        caption="Beside the paper's Table 1",
        columns=columns,
        rows=[*own, *published],
        note="Published figures come from the authors' unreleased data and other judges: another data set, not a baseline.",
    )


def _by_topic(runs: Sequence[RunResult[HSIIStudy]]) -> Iterator[Table]:
    """For one run a table of all rates; for several a table of each rate, the runs side by side."""
    means = [_topic_means(run) for run in runs]
    topics = sorted({topic for run in means for topic in run})
    metrics = runs[0].study.metrics.named(*RATES)
    note = "Few dialogues a topic support no interval: read these as descriptions."
    if len(runs) == 1:
        columns = [
            Column("Topic"),
            Column("Cases", True),
            *metric_columns(metrics),
        ]
        rows = [[t, str(means[0][t].cases), *(figure(means[0][t].rates[metric], 2) for metric in RATES)] for t in topics]
        yield Table(runs[0].label, columns, [Row(cells) for cells in rows], note)
        return
    for metric in metrics:
        columns = [Column("Topic"), *(Column(run.label, True) for run in runs)]
        rows = [[t, *(figure(run[t].rates[metric.name], 2) if t in run else MISSING for run in means)] for t in topics]
        yield Table(f"{metric.title}: {metric.meaning}", columns, [Row(cells) for cells in rows], note)


@dataclass(frozen=True)
class _TopicMeans:
    cases: int
    rates: dict[str, float | None]


def _topic_means(run: RunResult[HSIIStudy]) -> dict[str, _TopicMeans]:
    by_topic: dict[str, list[Score]] = defaultdict(list)
    for score in run.scores:
        by_topic[run.study.scenarios[score.scenario].topic].append(score)
    return {
        topic: _TopicMeans(
            cases=len({score.scenario for score in scores}),
            rates={metric: estimate_proportion(metric, scores).value for metric in RATES},
        )
        for topic, scores in by_topic.items()
    }


def _judges(runs: Sequence[RunResult[HSIIStudy]]) -> Iterator[Block]:
    rows = []
    for run in runs:
        own: dict[tuple[str, str], list[PairJudgment]] = defaultdict(list)
        for judgment in run.records.judgments:
            if isinstance(judgment, PairJudgment) and judgment.judge in {seat.name for seat in run.seats.judges}:
                own[judgment.judge, judgment.criterion].append(judgment)
        for (judge, criterion), judgments in sorted(own.items()):
            rows.append(Row([run.label, judge, criterion, *_judge_figures(judgments)]))
    yield Table(
        caption="What each judge said",
        columns=[
            Column("Model"),
            Column("Judge"),
            Column("Stage"),
            Column("Pairs", True),
            Column("Win", True),
            Column("Tie", True),
            Column("Loss", True),
            Column("Unscored", True),
            Column("Position bias", True, "share of pairs in which the two orders disagree"),
            Column("Chose first", True, "share of decided verdicts for the response shown first; 0.5 without bias"),
        ],
        rows=rows,
        note=(
            "Each pair is judged in both orders: a win or a loss needs both to agree, otherwise it is a tie. "
            "A panel's verdict is that of more than half of its judges, otherwise a tie; "
            "with half of its judges or more missing it is unscored."
        ),
    )


def _judge_figures(judgments: Sequence[PairJudgment]) -> list[str]:
    counts = [sum(judgment.verdict is verdict for judgment in judgments) for verdict in Verdict]
    read = [judgment for judgment in judgments if judgment.orders_disagree is not None]
    bias = sum(bool(judgment.orders_disagree) for judgment in read) / len(read) if read else None
    decided = [
        (order.preference is Verdict.WIN) == order.subject_first
        for judgment in read
        for order in judgment.orders
        if order.preference in (Verdict.WIN, Verdict.LOSS)
    ]
    first = sum(decided) / len(decided) if decided else None
    return [str(len(judgments)), *map(str, counts), figure(bias, 2), figure(first, 2)]


def _episodes(run: RunResult[HSIIStudy]) -> Iterator[HSIIEpisode]:
    return (cast(HSIIEpisode, episode) for episode in run.records.episodes)


def _points(episode: HSIIEpisode, run: RunResult[HSIIStudy]) -> float:
    """How far the case came, and how well."""
    worth = {Verdict.WIN: 1.0, Verdict.TIE: 0.5, Verdict.LOSS: 0.0, Verdict.UNSCORED: 0.5}
    verdicts = [worth[judgment.verdict] for judgment in run.judgments_of(episode)]
    return (not episode.format_failure) + 2 * episode.target_correct + (sum(verdicts) / len(verdicts) if verdicts else 0.0)


def _tags(case: Case, episode: HSIIEpisode, judgments: Sequence[Judgment]) -> Iterator[Tag]:
    yield Tag(case.topic)
    if episode.status is EpisodeStatus.ERRORED:
        yield Tag("errored", Tone.WARNING)
        return
    if episode.format_failure:
        yield Tag("no format", Tone.BAD)
        return
    yield Tag("right target" if episode.target_correct else "wrong target", Tone.GOOD if episode.target_correct else Tone.BAD)
    for criterion in dict.fromkeys(judgment.criterion for judgment in judgments):
        verdict, _ = decide_panel([judgment for judgment in judgments if judgment.criterion == criterion])
        yield Tag(f"{criterion}: {verdict}", _TONES[verdict])


def _case_blocks(
    case: Case, episode: HSIIEpisode, reference: object, judgments: Sequence[Judgment]
) -> Iterator[Paragraph | Callout | Transcript | Quotation]:
    if episode.error:
        yield Callout(episode.error, Tone.WARNING)
    background = case.background
    yield Paragraph(background.scene)
    yield Paragraph(" ".join((*background.relationships, background.conflicts)).strip())
    yield Transcript(
        "The conversation so far",
        [Line(message.role_from, message.role_to, message.content) for message in case.messages],
        folded=len(case.messages) > 6,
    )
    if episode.format_failure:
        yield Quotation(f"The reply, without a format: {episode.format_failure}", episode.reply or "(empty)", Tone.BAD)
    elif episode.turns:
        first = episode.turns[0]
        line = Line(ASSISTANT, episode.target or episode.role_to, first.content, highlight=Tone.NEUTRAL)
        yield Transcript("The model", [line])
    yield Transcript("Golden", [Line(ASSISTANT, case.golden.role_to, case.golden.content)])
    if case.why:
        yield Paragraph(f"Why {case.golden.role_to} comes first: {case.why}")
    if len(episode.turns) > 1:
        yield Transcript("The long run", _lines(episode.turns), folded=True)
        if isinstance(reference, ReferenceConversation) and reference.turns:
            yield Transcript(f"The reference conversation ({reference.reference})", _lines(reference.turns), folded=True)
    for judgment in judgments:
        if isinstance(judgment, PairJudgment):
            yield from _opinions(judgment)


def _opinions(judgment: PairJudgment) -> Iterator[Quotation]:
    heading = f"{judgment.judge} on the {judgment.criterion}"
    if not judgment.orders:
        yield Quotation(f"{heading}: {judgment.verdict}", judgment.reason, _TONES[judgment.verdict])
    for order in judgment.orders:
        shown = "model shown first" if order.subject_first else "golden shown first"
        yield Quotation(f"{heading}, {shown}: {order.preference}", order.reason or "(no reason given)", _TONES[order.preference])


def _lines(turns: Sequence[Turn]) -> list[Line]:
    return [
        Line(turn.speaker, ", ".join(turn.addressees), f"{turn.content} [{turn.note}]" if turn.note else turn.content)
        for turn in turns
    ]
