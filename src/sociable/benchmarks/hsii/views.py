"""HSII's part of a report: tables, figures and cases, as plain view records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from sociable.benchmarks.hsii.dataset import ASSISTANT, Case
from sociable.benchmarks.hsii.metrics import BEHAVIOURS, RATES
from sociable.benchmarks.hsii.published import TABLE_1
from sociable.benchmarks.hsii.records import HSIIEpisode, ReferenceConversation
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
from sociable.engine.benchmark import RunResult
from sociable.engine.run import FinishedRun
from sociable.judging.pairwise import PairJudgment
from sociable.judging.panel import panel_verdict
from sociable.reports.result_tables import (
    Metric,
    cells,
    columns_of,
    cost_block,
    counts_table,
    interval_plot,
    metrics_table,
    notes_of,
)
from sociable.statistics.estimates import estimate_proportion

CASES_SHOWN = 5
"""Of the best, and of the worst."""

RATE_METRICS = {
    "r1": Metric("r1", "format: the reply yields an addressee and words"),
    "r2": Metric("r2", "target: the addressee is the golden one, of those with a format"),
    "r3": Metric("r3", "first utterance wins against the golden one, of those with the right target"),
    "r4": Metric("r4", "long run wins against the reference conversation, of those with the right target"),
}
SUMMARY = RATE_METRICS | {"hsii": Metric("ι", "ι in the form Table 1 follows: r1 (1 + α r2 β (r3 + γ r4))")}
OTHERS = {
    "hsii_printed": Metric("ι as printed", "ι as Equation 1 is printed: r1 (1 + α r2 (1 + β (r3 + γ r4)))"),
    "hsii_ties_half": Metric("ι, ties half", "ι in the form of Table 1, with ties as half a win"),
    "hsii_cascade": Metric("cascade", "(n2 + n3 + n4) / 3n: nothing for a wrong target, a third for each stage passed"),
    "leak_rate": Metric("leaks", "private words passed on, of the cases where there was something to keep from the hearer"),
    "evades_conflict": Metric("evades", "first utterances that go round the clash or the bad news, by rule (section 6.3)"),
    "asks_again": Metric("asks again", "first utterances that ask for what was said already, by rule (section 6.3)"),
    "r1_strict": Metric("r1 strict", "replies that are one line of JSON and nothing else"),
}
_TONES = {Verdict.WIN: Tone.GOOD, Verdict.LOSS: Tone.BAD, Verdict.TIE: Tone.NEUTRAL, Verdict.UNSCORED: Tone.WARNING}


def summary_table(results: Sequence[RunResult]) -> Table:
    """One row a run: the four rates and the score."""
    halved = {result.manifest["settings"]["options"].get("ties") == "half" for result in results}
    ties = {frozenset({True}): "Ties count half.", frozenset({False}): "Ties are no wins."}.get(frozenset(halved), "")
    note = f"95% intervals by dialogue; none where all dialogues are alike. — : nothing to measure. {ties}".strip()
    return metrics_table("HSII", results, SUMMARY, note)


def sections(runs: Sequence[FinishedRun]) -> list[Section]:
    results = [run.result for run in runs]
    parts = [
        Section("Scores", [*_scores(results), _paper_table(results)]),
        Section("By topic", list(_by_topic(runs))),
    ]
    parts.append(Section("First utterance and long run", [_gap_table(results)]))
    if any(run.seats.judges for run in runs):
        parts.append(Section("Judges", list(_judges(runs))))
    parts.append(
        Section("What was counted", [counts_table(result, (*RATES, "leak_rate", *BEHAVIOURS), ("r1",)) for result in results])
    )
    parts.append(Section("Cost", [cost_block(results)]))
    parts += [Section(f"Cases: {run.result.label}" if len(runs) > 1 else "Cases", list(_cases(run))) for run in runs]
    return parts


def _scores(results: Sequence[RunResult]) -> Iterator[Block]:
    yield from notes_of(results)
    yield metrics_table(
        "Other forms of the score, and what it leaves out",
        results,
        OTHERS,
        "In the form of Table 1 a right target alone earns nothing, and perfect format with every target wrong earns 1; "
        "the cascade earns nothing without the right target.",
    )
    for name, metric in RATE_METRICS.items():
        published = {row.model: float(getattr(row, name)) for row in TABLE_1}
        yield interval_plot(name, metric, results, published, "share of cases")


def _paper_table(results: Sequence[RunResult]) -> Table:
    columns = [Column("Model"), *columns_of(SUMMARY)]
    own = [Row([result.label, *cells(result, SUMMARY)], emphasis=True) for result in results]
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


def _by_topic(runs: Sequence[FinishedRun]) -> Iterator[Table]:
    """For one run a table of all rates; for several a table of each rate, the runs side by side."""
    means = [_topic_means(run) for run in runs]
    topics = sorted({topic for run in means for topic in run})
    note = "Few dialogues a topic support no interval: read these as descriptions."
    if len(runs) == 1:
        columns = [
            Column("Topic"),
            Column("Cases", True),
            *(Column(metric.title, True, metric.meaning) for metric in RATE_METRICS.values()),
        ]
        rows = [[t, str(means[0][t].cases), *(figure(means[0][t].rates[metric], 2) for metric in RATES)] for t in topics]
        yield Table(runs[0].result.label, columns, [Row(cells) for cells in rows], note)
        return
    for metric in RATES:
        columns = [Column("Topic"), *(Column(run.result.label, True) for run in runs)]
        rows = [[t, *(figure(run[t].rates[metric], 2) if t in run else MISSING for run in means)] for t in topics]
        yield Table(f"{metric}: {RATE_METRICS[metric].meaning}", columns, [Row(cells) for cells in rows], note)


@dataclass(frozen=True)
class _TopicMeans:
    cases: int
    rates: dict[str, float | None]


def _topic_means(run: FinishedRun) -> dict[str, _TopicMeans]:
    by_topic: dict[str, list[Score]] = defaultdict(list)
    for score in run.result.scores:
        by_topic[run.study.scenarios[score.scenario].topic].append(score)
    return {
        topic: _TopicMeans(
            cases=len({score.scenario for score in scores}),
            rates={metric: estimate_proportion(metric, scores).value for metric in RATES},
        )
        for topic, scores in by_topic.items()
    }


def _gap_table(results: Sequence[RunResult]) -> Table:
    metrics = {name: RATE_METRICS[name] for name in ("r3", "r4")} | {"r4_minus_r3": Metric("r4 − r3", "of the same cases")}
    note = "The paper reports an average gap of 0.025 in favour of the long run (section 6.3)."
    return metrics_table("Is the first utterance after a switch harder than what follows?", results, metrics, note)


def _judges(runs: Sequence[FinishedRun]) -> Iterator[Block]:
    rows = []
    for run in runs:
        own: dict[tuple[str, str], list[PairJudgment]] = defaultdict(list)
        for judgment in run.records.judgments:
            if isinstance(judgment, PairJudgment) and judgment.judge in {seat.name for seat in run.seats.judges}:
                own[judgment.judge, judgment.criterion].append(judgment)
        for (judge, criterion), judgments in sorted(own.items()):
            rows.append(Row([run.result.label, judge, criterion, *_judge_figures(judgments)]))
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


@dataclass(frozen=True)
class _Ranked:
    points: float
    episode: str


def _cases(run: FinishedRun) -> Iterator[Block]:
    """The best and the worst cases in full."""
    ranked = [_Ranked(_points(each, run), each.id) for each in _episodes(run) if each.status is EpisodeStatus.COMPLETED]
    ranked.sort(key=lambda each: each.points)
    worst = ranked[:CASES_SHOWN]
    best = [each for each in reversed(ranked[-CASES_SHOWN:]) if each not in worst]
    for heading, chosen in (("The best", best), ("The worst", worst)):
        if chosen:
            yield Paragraph(f"{heading} {len(chosen)} of {len(ranked)}. Any other: sociable show {run.result.folder} EPISODE.")
        for each in chosen:
            yield case_view(run, cast(HSIIEpisode, run.records.episodes.read(each.episode)))


def _episodes(run: FinishedRun) -> Iterator[HSIIEpisode]:
    return (cast(HSIIEpisode, episode) for episode in run.records.episodes)


def _points(episode: HSIIEpisode, run: FinishedRun) -> float:
    """How far the case came, and how well."""
    worth = {Verdict.WIN: 1.0, Verdict.TIE: 0.5, Verdict.LOSS: 0.0, Verdict.UNSCORED: 0.5}
    verdicts = [worth[judgment.verdict] for judgment in run.judgments_of(episode)]
    return (not episode.format_failure) + 2 * episode.target_correct + (sum(verdicts) / len(verdicts) if verdicts else 0.0)


def case_view(run: FinishedRun, episode: HSIIEpisode) -> CaseView:
    """One episode: what the model saw, what it said, the golden response and why, both judging orders."""
    case: Case = run.study.scenarios[episode.scenario]
    reference = run.records.reference_of(episode.scenario)
    judgments = run.judgments_of(episode)
    return CaseView(
        title=episode.id,
        tags=list(_tags(case, episode, judgments)),
        blocks=list(_case_blocks(case, episode, reference, judgments)),
    )


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
        verdict, _ = panel_verdict([judgment for judgment in judgments if judgment.criterion == criterion])
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
