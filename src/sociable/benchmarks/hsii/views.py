"""HSII's part of a report: tables, figures and cases, as plain view records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from statistics import fmean
from typing import cast

from sociable.benchmarks.hsii.contrast import make_contrast
from sociable.benchmarks.hsii.dataset import ASSISTANT, Case
from sociable.benchmarks.hsii.forms import CaseBlock, show_conversation, show_error, show_golden, show_reply, show_turns
from sociable.benchmarks.hsii.measure import FALSE_ALARMS
from sociable.benchmarks.hsii.metrics import BEHAVIOURS, RATES, JudgedCase
from sociable.benchmarks.hsii.published import TABLE_1
from sociable.benchmarks.hsii.records import CONFLICT, JUDGED, LEAK, HSIIEpisode, ReferenceConversation
from sociable.benchmarks.hsii.study import HSIIStudy
from sociable.core.records import Episode, EpisodeStatus, Judgment, Score, Verdict
from sociable.core.view import Block, Column, Paragraph, Quotation, Row, Section, Table, Tag, Tone, format_figure
from sociable.core.view import Case as CaseView
from sociable.engine.result import RunResult
from sociable.judging.pairwise import PairJudgment
from sociable.judging.panel import decide_panel
from sociable.reports.result_tables import (
    format_metric_cells,
    make_interval_plot,
    make_metric_columns,
    make_metrics_table,
    make_outcomes_table,
)
from sociable.reports.views import Views
from sociable.statistics.estimates import estimate_proportion
from sociable.statistics.metrics import Metric

CASES_SHOWN = 5
"""The number of the best cases shown, and of the worst."""
MANY_DIALOGUES = 20
"""With fewer no clusters are looked for."""

_QUESTIONS = {LEAK: "was a private fact told?", CONFLICT: "does it take hold of the clash?"}
_TONES = {Verdict.WIN: Tone.GOOD, Verdict.LOSS: Tone.BAD, Verdict.TIE: Tone.NEUTRAL, Verdict.UNSCORED: Tone.WARNING}

_OTHER_DATA = "Published figures come from the authors' unreleased data and other judges: another data set, not a baseline."

Run = RunResult[HSIIStudy]


class HSIIViews(Views):
    episodes_called = "Cases"

    def show_summary(self, runs: Sequence[Run]) -> Table:
        halved = {run.study.options.ties == "half" for run in runs}
        ties = "" if len(halved) > 1 else "Ties count half." if True in halved else "Ties are no wins."
        note = f"95% intervals by dialogue; none where all dialogues are alike. — : nothing to measure. {ties}".strip()
        return make_metrics_table("HSII", runs, _list_main_metrics(runs), note)

    def show_scores(self, runs: Sequence[Run]) -> list[Block]:
        metrics = runs[0].study.metrics
        published = {name: {row.model: float(getattr(row, name)) for row in TABLE_1} for name in RATES}
        in_groups = metrics.select_groups("overall", "behaviour", "form")
        others = [metric for metric in in_groups if metric.name not in ("hsii", "hsii_cascade", "r4_minus_r3")]
        note = (
            "In the form of Table 1 (ι) a right target alone earns nothing, and perfect format with every target wrong earns 1: "
            "the cascade, which earns nothing without the right target, comes first."
        )
        if any(not run.study.options.judge_behaviour or not any(seat.model for seat in run.seats.judges) for run in runs):
            note += (
                f" Leaks and evasions by rule are wordings that were found: {FALSE_ALARMS['leak_rate']:.1%} of unrelated turns "
                f"count as telling a secret, {FALSE_ALARMS['points']:.1%} as making a point; what is said otherwise is missed."
            )
        return [
            make_metrics_table("Other forms of the score, and what it leaves out", runs, others, note),
            *(make_interval_plot(metrics[name], runs, published[name], "share of cases") for name in RATES),
            _make_paper_table(runs),
        ]

    def show_published(self) -> list[Table]:
        columns = [Column("Model"), *(Column(title, True) for title in (*RATES, "ι"))]
        return [Table("HSII, the paper's Table 1", columns, list(_list_paper_rows()), _OTHER_DATA)]

    def show_parts(self, runs: Sequence[Run]) -> list[Section]:
        metrics = runs[0].study.metrics.select_named("r3", "r4", "r4_minus_r3")
        note = "The paper reports an average gap of 0.025 in favour of the long run (section 6.3)."
        gap = make_metrics_table("Is the first utterance after a switch harder than what follows?", runs, metrics, note)
        judges = [Section("Judges", [_make_judges_table(runs)])] if any(run.seats.judges for run in runs) else []
        scenarios = {name: case for run in runs for name, case in run.study.scenarios.items()}
        groupings = {
            "Topic": {name: case.topic for name, case in scenarios.items()},
            "Stage": {name: _STAGE_WORDS.get(case.stage, "not stated") for name, case in scenarios.items()},
            "Cluster": _name_clusters([*scenarios.values()]),
        }
        return [
            *(
                Section(f"By {kind.lower()}", list(_make_group_tables(kind, groups, runs)))
                for kind, groups in groupings.items()
                if len(set(groups.values())) > 1
            ),
            Section("Wrong targets", [_make_wrong_targets_table(runs)]),
            Section("First utterance and long run", [gap]),
            *judges,
        ]

    def show_counts(self, run: Run) -> Table:
        return make_outcomes_table(run, (*RATES, "leak_rate", *BEHAVIOURS), ("r1",))

    def show_episodes(self, run: Run) -> Iterator[Block]:
        """The best and the worst cases in full."""
        episodes = (cast(HSIIEpisode, episode) for episode in run.records.episodes)
        completed = [each for each in episodes if each.status is EpisodeStatus.COMPLETED]
        ranked = sorted(((_count_points(each, run), each.id) for each in completed), key=lambda pair: pair[0])
        worst = ranked[:CASES_SHOWN]
        best = [each for each in reversed(ranked[-CASES_SHOWN:]) if each not in worst]
        for heading, chosen in (("The best", best), ("The worst", worst)):
            if chosen:
                yield Paragraph(f"{heading} {len(chosen)} of {len(ranked)}. Any other: sociable show {run.folder} EPISODE.")
            for _, episode in chosen:
                yield from self.show_episode(run, run.find_episode(episode))

    def show_episode(self, run: Run, episode: HSIIEpisode) -> list[Block]:
        """One case: the model's view, its words, the golden response and the reason for it, both judging orders."""
        case, judgments = run.study.scenarios[episode.scenario], run.find_judgments(episode)
        blocks = _show_case(case, episode, run.find_reference(episode.scenario), judgments)
        return [CaseView(episode.id, list(_make_tags(case, episode, judgments)), list(blocks))]

    def list_cells(self, run: Run, episode: HSIIEpisode, scores: Mapping[str, Score]) -> Sequence[str]:
        """Whom the model addressed, how far it came, and whether it told a secret."""
        if episode.status is EpisodeStatus.ERRORED:
            return ["—", f"errored: {episode.error}"]
        if episode.format_failure:
            return ["—", f"no format: {episode.format_failure}"]
        golden = run.study.scenarios[episode.scenario].golden.role_to
        if not episode.target_correct:
            ended = [f"wrong target: {golden} was meant"]
        else:
            # What a tie is worth in r3 and r4 depends on the options.
            judged = [(name, scores[f"{name}_ties_half"]) for name in ("r3", "r4") if name in scores]
            ended = [f"{name} {_name_worth(score)}" for name, score in judged] or ["right target"]
        leaks = ["leak"] if "leak_rate" in scores and scores["leak_rate"].value else []
        return [episode.target or episode.role_to, ", ".join([*ended, *leaks])]

    def contrast(self, first: Run, second: Run) -> list[Section]:
        return make_contrast(first, second)


def _name_worth(score: Score) -> str:
    return str(score.outcome) if score.value is None else {1.0: "won", 0.5: "tied"}.get(score.value, "lost")


def _list_main_metrics(runs: Sequence[Run]) -> list[Metric[JudgedCase]]:
    return runs[0].study.metrics.select_named("hsii_cascade", *RATES, "hsii")


def _make_paper_table(runs: Sequence[Run]) -> Table:
    metrics = runs[0].study.metrics.select_named(*RATES, "hsii")
    own = [Row([run.label, *format_metric_cells(run, metrics)], emphasis=True) for run in runs]
    columns = [Column("Model"), *make_metric_columns(metrics)]
    return Table("Beside the paper's Table 1", columns, [*own, *_list_paper_rows()], _OTHER_DATA)


def _list_paper_rows() -> Iterator[Row]:
    for row in TABLE_1:
        yield Row([f"{row.model} (paper)", *map(format_figure, row[1:], (3, 3, 2, 2, 3))])


def _make_group_tables(kind: str, groups: Mapping[str, str], runs: Sequence[Run]) -> Iterator[Table]:
    """The tables: one of all rates for one run; for several runs one of each rate, the runs side by side.

    ``groups`` has the group of each case.
    """
    grouped = [_group_scores(groups, run) for run in runs]
    names = sorted(set().union(*grouped))
    metrics = runs[0].study.metrics.select_named(*RATES)
    note = f"Few dialogues a {kind.lower()} support no interval: read these as descriptions."
    if len(runs) == 1:
        counts = {name: len({score.scenario for score in scores}) for name, scores in grouped[0].items()}
        rows = [Row([name, str(counts[name]), *(_format_rate(rate, grouped[0][name]) for rate in RATES)]) for name in names]
        yield Table(runs[0].label, [Column(kind), Column("Cases", True), *make_metric_columns(metrics)], rows, note)
        return
    columns = [Column(kind), *(Column(run.label, True) for run in runs)]
    for metric in metrics:
        rows = [Row([name, *(_format_rate(metric.name, own.get(name, [])) for own in grouped)]) for name in names]
        yield Table(f"{metric.title}: {metric.meaning}", columns, rows, note)


def _group_scores(groups: Mapping[str, str], run: Run) -> dict[str, list[Score]]:
    found: dict[str, list[Score]] = defaultdict(list)
    for score in run.scores:
        found[groups[score.scenario]].append(score)
    return found


_STAGE_WORDS = {"single": "all at once (single-stage)", "multi": "one after the other (multi-stage)"}


def _name_clusters(cases: Sequence[Case]) -> dict[str, str]:
    """The cluster of each case's dialogue, as `sociable describe` finds them; none where the dialogues are few."""
    if len({case.dialogue for case in cases}) < MANY_DIALOGUES:
        return {}
    # Imported when asked for: scikit-learn takes a second.
    from sociable.benchmarks.hsii.describe import name_clusters

    names = name_clusters(cases)
    return {case.id: names[case.dialogue] or "in none" for case in cases}


WRONG_TARGETS: dict[str, Callable[[Case], Collection[str]]] = {
    "who spoke last": lambda case: [message.role_from for message in case.messages if message.role_from != ASSISTANT][-1:],
    "who asked the assistant last and still waits": lambda case: list(case.waiting)[-1:],
    "who confided something to it": lambda case: {fact.owner for fact in case.private_facts},
    "whom it addressed last": lambda case: [m.role_to for m in case.messages if m.role_from == ASSISTANT and m.role_to][-1:],
    "who has not spoken": lambda case: {*case.characters} - {message.role_from for message in case.messages},
}
"""The kinds of characters that a model can address in place of the golden one; a character can be of several."""


def _make_wrong_targets_table(runs: Sequence[Run]) -> Table:
    """Whom the model addressed instead, beside what a blind choice among the wrong ones would give."""
    columns, cells = [Column("Instead")], {name: [name] for name in (*WRONG_TARGETS, "nobody certain, or several")}
    for run in runs:
        wrong = [each for each in map(_as_episode, run.records.episodes) if each.turns and not each.target_correct]
        named = [(run.study.scenarios[each.scenario], each.target) for each in wrong if each.target]
        columns += [Column(f"{run.label}: share of {len(wrong)}", True), Column("blind", True, "expected of a blind choice")]
        for name, find in WRONG_TARGETS.items():
            found = [(target in (those := find(case)), _expect_hits(case, those)) for case, target in named]
            shares = [fmean(each) if found else None for each in zip(*found, strict=True)] or [None, None]
            cells[name] += [format_figure(share, 2) for share in shares]
        uncertain = 1 - len(named) / len(wrong) if wrong else None
        cells["nobody certain, or several"] += [format_figure(uncertain, 2), ""]
    note = "Of the replies with a wrong target; the first five of those that name one character, who can be of several kinds."
    return Table("Whom the model addressed in place of the golden character", columns, [Row(row) for row in cells.values()], note)


def _expect_hits(case: Case, those: Collection[str]) -> float:
    """The chance that one of the wrong characters, drawn blindly, is among those."""
    wrong = [name for name in case.characters if name != case.golden.role_to]
    return sum(name in those for name in wrong) / len(wrong)


def _as_episode(episode: Episode) -> HSIIEpisode:
    return cast(HSIIEpisode, episode)


def _format_rate(metric: str, scores: Sequence[Score]) -> str:
    return format_figure(estimate_proportion(metric, scores).value, 2)


def _make_judges_table(runs: Sequence[Run]) -> Table:
    rows = []
    for run in runs:
        panel = {seat.name for seat in run.seats.judges}
        own: dict[tuple[str, str], list[PairJudgment]] = defaultdict(list)
        for judgment in run.judgments():
            if isinstance(judgment, PairJudgment) and judgment.judge in panel:
                own[judgment.judge, run.study.find_stage(judgment.criterion)].append(judgment)
        rows += [Row([run.label, *key, *_describe_judge(judgments)]) for key, judgments in sorted(own.items())]
    columns = [
        *(Column(title) for title in ("Model", "Judge", "Asked")),
        *(Column(title, True) for title in ("Pairs", "Win", "Tie", "Loss", "Unscored")),
        Column("Position bias", True, "share of pairs in which the two orders disagree"),
        Column("Chose first", True, "share of decided verdicts for the response shown first; 0.5 without bias"),
    ]
    note = (
        "Each pair is judged in both orders: a win or a loss needs both to agree, otherwise it is a tie. "
        "A panel's verdict is that of more than half of its judges, otherwise a tie; "
        "with half of its judges or more missing it is unscored. Questions of yes (win) and no (loss) are asked once: was a "
        "private fact told (leak), does it take hold of the clash (conflict)."
    )
    return Table("What each judge said", columns, rows, note)


def _describe_judge(judgments: Sequence[PairJudgment]) -> list[str]:
    """The cells of one judge on one stage: pairs, verdicts by kind, position bias, share of first responses chosen."""
    counts = [len(judgments), *(sum(judgment.verdict is verdict for judgment in judgments) for verdict in Verdict)]
    read = [judgment for judgment in judgments if judgment.orders_disagree is not None]
    disagree = [bool(judgment.orders_disagree) for judgment in read]
    orders = [order for judgment in read for order in judgment.orders if order.preference in (Verdict.WIN, Verdict.LOSS)]
    chose_first = [(order.preference is Verdict.WIN) == order.subject_first for order in orders]
    return [*map(str, counts), *(format_figure(fmean(found) if found else None, 2) for found in (disagree, chose_first))]


def _count_points(episode: HSIIEpisode, run: Run) -> float:
    """One point for a format, two for the right target, up to one for the judges' verdicts."""
    worth = {Verdict.WIN: 1.0, Verdict.TIE: 0.5, Verdict.LOSS: 0.0, Verdict.UNSCORED: 0.5}
    verdicts = [worth[judgment.verdict] for judgment in run.find_judgments(episode) if judgment.criterion in JUDGED]
    return (not episode.format_failure) + 2 * episode.target_correct + (fmean(verdicts) if verdicts else 0.0)


def _make_tags(case: Case, episode: HSIIEpisode, judgments: Sequence[Judgment]) -> Iterator[Tag]:
    yield Tag(case.topic)
    if episode.status is EpisodeStatus.ERRORED:
        yield Tag("errored", Tone.WARNING)
    elif episode.format_failure:
        yield Tag("no format", Tone.BAD)
    else:
        yield Tag("right target", Tone.GOOD) if episode.target_correct else Tag("wrong target", Tone.BAD)
        for criterion in (stage for stage in JUDGED if any(judgment.criterion == stage for judgment in judgments)):
            verdict, _ = decide_panel([judgment for judgment in judgments if judgment.criterion == criterion])
            yield Tag(f"{criterion}: {verdict}", _TONES[verdict])


def _show_case(case: Case, episode: HSIIEpisode, reference: object, judgments: Sequence[Judgment]) -> Iterator[CaseBlock]:
    yield from show_error(episode)
    background = case.background
    yield Paragraph(background.scene)
    yield Paragraph(" ".join((*background.relationships, background.conflicts)).strip())
    yield show_conversation(case.messages, folded=len(case.messages) > 6)
    if episode.format_failure:
        yield Quotation(f"The reply, without a format: {episode.format_failure}", episode.reply or "(empty)", Tone.BAD)
    elif episode.turns:
        yield show_reply("The model", episode.target or episode.role_to, episode.turns[0].content, Tone.NEUTRAL)
    yield from show_golden(case)
    if len(episode.turns) > 1:
        yield show_turns("The long run", episode.turns)
        if isinstance(reference, ReferenceConversation) and reference.turns:
            yield show_turns(f"The reference conversation ({reference.reference})", reference.turns)
    for judgment in judgments:
        if isinstance(judgment, PairJudgment):
            yield from _show_opinions(judgment)


def _show_opinions(judgment: PairJudgment) -> Iterator[Quotation]:
    heading = f"{judgment.judge} on the {judgment.criterion}"
    if judgment.criterion not in JUDGED and judgment.verdict is not Verdict.UNSCORED:
        answer = "yes" if judgment.verdict is Verdict.WIN else "no"
        yield Quotation(f"{judgment.judge}: {_QUESTIONS[judgment.criterion.partition('|')[0]]} {answer}", judgment.reason)
    elif not judgment.orders:
        yield Quotation(f"{heading}: {judgment.verdict}", judgment.reason, _TONES[judgment.verdict])
    for order in judgment.orders:
        shown = "model shown first" if order.subject_first else "golden shown first"
        yield Quotation(f"{heading}, {shown}: {order.preference}", order.reason or "(no reason given)", _TONES[order.preference])
