"""What a report shows of intention expression, as plain view records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from sociable.benchmarks.anteval.characters import in_words
from sociable.benchmarks.anteval.ieg.contrast import contrast_sections
from sociable.benchmarks.anteval.ieg.metrics import CONDUCT, METRICS, doubts
from sociable.benchmarks.anteval.ieg.records import IegEpisode
from sociable.benchmarks.anteval.ieg.results import (
    BASE,
    GENERATED,
    KINDS,
    LAST,
    REAL,
    SHUFFLED,
    Bounds,
    Confusion,
    Results,
    f_metric,
    gap_metric,
    read_results,
)
from sociable.benchmarks.anteval.ieg.study import IegStudy
from sociable.benchmarks.anteval.published import TABLE_2
from sociable.benchmarks.anteval.views import ANOTHER_DATA_SET, percent, run_label, session_lines, table_1
from sociable.core.records import EpisodeStatus, Estimate
from sociable.core.view import (
    MISSING,
    Block,
    Callout,
    Case,
    Column,
    Curve,
    CurvePlot,
    IntervalPlot,
    Mark,
    Paragraph,
    Point,
    Quotation,
    Row,
    Section,
    Table,
    Tag,
    Tone,
    Transcript,
)
from sociable.engine.result import RunResult
from sociable.reports.result_tables import counts_table, metrics_table
from sociable.reports.views import Views

MASTERS = {
    BASE: "untuned (f_0)",
    GENERATED: "tuned on generated sessions (f_g)",
    REAL: "tuned on real sessions (f_r)",
    SHUFFLED: "tuned on generated sessions, labels shuffled",
    LAST: "last speaker, most frequent skill",
}
_KIND_TITLES = {"character": "who acts", "tuple": "who acts, with which skill"}
_SHORT = {"character": "characters", "tuple": "overall"}
SESSIONS_SHOWN = 8


Run = RunResult[IegStudy]


class IegViews(Views):
    episodes_called = "Sessions"

    def label(self, manifest: Mapping[str, Any]) -> str:
        return run_label(manifest)

    def remarks(self, estimates: Sequence[Estimate]) -> Sequence[str]:
        return doubts(estimates)

    def summary(self, runs: Sequence[Run]) -> Table:
        names = [metric for kind in KINDS for metric in (f_metric(GENERATED, kind), gap_metric(kind))]
        note = f"F-scores of virtual DMs on held-out real sessions, as shares. {' '.join(dict.fromkeys(map(_intervals, runs)))}"
        return metrics_table("AntEval, intention expression", runs, METRICS.named(*names), note)

    def scores(self, runs: Sequence[Run]) -> list[Block]:
        return [*_without({run.label: _results(run) for run in runs}), _plot(runs), table_1(runs), _table_2(runs)]

    def parts(self, runs: Sequence[Run]) -> list[Section]:
        found = {run.label: each for run in runs if (each := _results(run)) is not None}
        conduct = metrics_table("How it was played", runs, METRICS.in_group("conduct"), "95% intervals by session.")
        parts = [
            Section("Controls", [*[table for label, each in found.items() for table in _masters(label, each)], conduct]),
            Section(
                "Over the size of the training set", [block for label, each in found.items() for block in _curve(label, each)]
            ),
            Section("Confusion", [block for label, each in found.items() for block in _confusion(label, each)]),
            Section("The experiment", [_counted(label, each) for label, each in found.items()]),
        ]
        # Without a curve, or where nothing was said, some have nothing to show.
        return [section for section in parts if section.blocks]

    def counts(self, run: Run) -> Table:
        return counts_table(run, CONDUCT)

    def shown_episodes(self, run: Run) -> Iterator[Block]:
        done = [each for each in run.records.episodes if each.status is EpisodeStatus.COMPLETED]
        yield Paragraph(
            f"The first {min(len(done), SESSIONS_SHOWN)} of {len(done)}. Any other: sociable show {run.folder} EPISODE."
        )
        for episode in done[:SESSIONS_SHOWN]:
            yield from self.episode(run, cast(IegEpisode, episode))

    def episode(self, run: Run, episode: IegEpisode) -> list[Block]:
        """The scene, who means to do what, and who said what."""
        scenario = run.study.scenarios[episode.scenario]
        tags = [Tag(f"{player.split()[0]}: {skill}") for player, skill in scenario.intentions.items()] or [Tag("no intention")]
        npc = scenario.scene.npc
        players = [
            Quotation(f"{s.name}, a player; intends: {scenario.intentions.get(s.name) or 'nothing in particular'}", in_words(s))
            for s in scenario.players
        ]
        blocks: list[Paragraph | Callout | Quotation | Transcript] = [
            *(Callout(problem, Tone.WARNING) for problem in (episode.error, episode.npc_failure) if problem),
            Paragraph(scenario.scene.scene),
            Quotation(f"{npc.name} ({npc.pronouns}), the NPC", f"{npc.who}\n{npc.manner}\nWants: {npc.wants}"),
            *players,
            session_lines(episode.turns, {}),
        ]
        return [Case(f"{scenario.scene.title} ({episode.id})", tags, blocks)]

    def contrast(self, first: Run, second: Run) -> list[Section]:
        return contrast_sections(first, second)


def _intervals(run: Run) -> str:
    """Where a run's intervals come from."""
    options = run.study.options
    if options.resamples == 0:
        return "No intervals were asked for."
    if options.master != "local":
        return "95% intervals: held-out sessions resampled; DMs are not trained again."
    return "95% intervals: sessions resampled, generated and real, and DMs trained again."


def _results(run: Run) -> Results | None:
    kept = read_results(Path(run.folder))
    return kept[1] if kept else None


def _without(found: Mapping[str, Results | None]) -> Iterator[Callout]:
    for label, each in found.items():
        if each is None:
            why = "no session was finished in which anything was said, so that nothing can be learned from it"
            yield Callout(f"{label}: {why}.", Tone.WARNING)


def _plot(results: Sequence[Run]) -> IntervalPlot:
    """What does not depend on the model under test once, where runs agree on it; then each model's own."""
    marks: dict[Mark, None] = {}
    for kind in KINDS:
        for master in (LAST, BASE, REAL):
            shared = [(result, found) for result in results if (found := result.estimate(f_metric(master, kind))) is not None]
            called = f"{_SHORT[kind]}: {MASTERS[master].partition(',')[0]}"
            agree = len({(found.value, found.low, found.high) for _, found in shared if found.value is not None}) == 1
            for result, found in shared:
                if found.value is not None:
                    whose = "" if agree else f" ({result.label})"
                    marks[Mark(f"{called}{whose}", found.value, found.low, found.high)] = None
        for result in results:
            found = result.estimate(f_metric(GENERATED, kind))
            if found is not None:
                marks[Mark(f"{_SHORT[kind]}: {result.label} (f_g)", found.value, found.low, found.high)] = None
    return IntervalPlot("F-scores on held-out real sessions", "F-score", list(marks), minimum=0.0, maximum=1.0)


def _table_2(results: Sequence[Run]) -> Table:
    """Table 2's layout: our runs first, then the published rows."""
    columns = [Column("Interaction agent"), Column("Virtual DM")]
    columns += [Column(f"{name} {kind}", True) for kind in ("char.", "overall") for name in ("f_0", "f_g", "f_r", "G")]
    rows = []
    for result in results:
        cells = []
        for kind in KINDS:
            for metric in (*(f_metric(master, kind) for master in (BASE, GENERATED, REAL)), gap_metric(kind)):
                found = result.estimate(metric)
                cells.append(percent(found.value) if found else MISSING)
        rows.append(Row([result.label, result.study.options.master, *cells], emphasis=True))
    for row in TABLE_2:
        figures = (row.f_0_c, row.f_g_c, row.f_r_c, row.gap_c, row.f_0_o, row.f_g_o, row.f_r_o, row.gap_o)
        rows.append(Row([f"{row.agents} (paper)", row.master, *(f"{each:.2f}" for each in figures)]))
    return Table("Virtual DMs in percent, in the layout of the paper's Table 2", columns, rows, ANOTHER_DATA_SET)


def _masters(label: str, results: Results) -> Iterator[Table]:
    """All masters: micro, then macro, then with the names of skills taken out."""
    parts = (
        ("", results.figures, "", ""),
        (
            ", skills' names masked",
            results.masked,
            " masked",
            "The names of skills are taken out of all windows, so that saying them is no help.",
        ),
    )
    for title, figures, suffix, note in parts:
        rows = []
        for name, called in MASTERS.items():
            own = figures[name]
            cells = [_shown(own.character), _shown(own.tuple), _shown(own.character_macro), _shown(own.tuple_macro)]
            rows.append(Row([called, *cells], emphasis=name in (GENERATED, REAL)))
        for called, before in (("G", ""), ("signed G: above 0 where f_r is better", "signed ")):
            rows.append(Row([called, *(_shown(results.gaps[f"{before}{kind}{suffix}"]) for kind in KINDS), MISSING, MISSING]))
        columns = [
            Column("Virtual DM"),
            *(Column(each, True) for each in ("characters", "overall", "char., macro", "overall, macro")),
        ]
        yield Table(f"{label}: virtual DMs on {results.tested_on} held-out windows{title}", columns, rows, note or _CONTROLS)


_CONTROLS = (
    "With shuffled labels a DM knows which skills are frequent, and not the play: f_g must beat it to mean something. Macro: the "
    "mean over windows in place of all counted together."
)


def _shown(bounds: Bounds) -> str:
    if bounds.value is None:
        return MISSING
    if bounds.low is None or bounds.high is None:
        return f"{bounds.value:.3f}"
    return f"{bounds.value:.3f} [{bounds.low:.2f}, {bounds.high:.2f}]"


def _curve(label: str, results: Results) -> Iterator[Block]:
    for kind in KINDS:
        curves = []
        for master in (GENERATED, REAL):
            points = [(each.windows, getattr(each, kind)) for each in results.curve if each.master == master]
            known = [Point(float(windows), value) for windows, value in points if value is not None]
            if known:
                curves.append(Curve(MASTERS[master], known))
        if curves:
            caption = f"{label}: F-score for {_KIND_TITLES[kind]}"
            yield CurvePlot(caption, "training windows", "F-score", curves, logarithmic=True, minimum=0.0, maximum=1.0)


def _confusion(label: str, results: Results) -> Iterator[Block]:
    for each in results.confusion:
        yield _skills(label, each)
        rows = [Row([what, str(count)]) for what, count in each.who.items()]
        yield Table(f"{label}, {MASTERS[each.master]}: players", [Column("What became of them"), Column("Players", True)], rows)


def _skills(label: str, confusion: Confusion) -> Table:
    """A row a skill called for, a column a skill said."""
    said = sorted({skill for counts in confusion.skills.values() for skill in counts})
    rows = []
    for called, counts in confusion.skills.items():
        total = sum(counts.values())
        cells = [str(counts[skill]) if skill in counts else "" for skill in said]
        rows.append(Row([called, *cells], shades=[None, *(counts.get(skill, 0) / total for skill in said)]))
    note = (
        "Of players rightly picked: the skill called for (rows) and the skill the DM said (columns, by their first letters). "
        "The darker, the larger its share of the row."
    )
    return Table(
        f"{label}, {MASTERS[confusion.master]}: skills",
        [Column("Called for"), *(Column(each[:4], True, each) for each in said)],
        rows,
        note,
    )


def _counted(label: str, results: Results) -> Table:
    rows = [
        Row(["windows each DM was tuned on", str(results.trained_on)]),
        Row(["held-out real windows", str(results.tested_on)]),
        Row(["real sessions for training, held out", f"{results.real_sessions[0]}, {results.real_sessions[1]}"]),
        Row(["generated sessions", str(results.generated_sessions)]),
        Row(["resamples", f"{results.resamples}, {'each trained on anew' if results.retrained else 'none trained on anew'}"]),
        *(
            Row([f"held-out skills that no window had: {MASTERS[master]}", lacking])
            for master, _, lacking in (each.partition(": ") for each in results.unseen)
        ),
        *([Row(["DMs of an earlier run, tuned on the same", ", ".join(results.taken_over)])] if results.taken_over else []),
    ]
    return Table(f"{label}: the experiment", [Column("What"), Column("Count", True)], rows)
