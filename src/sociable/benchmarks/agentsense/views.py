"""AgentSense's part of a report: tables and figures, as plain view records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from statistics import fmean
from typing import Any

from sociable.benchmarks.agentsense.metrics import JUDGE, Scene
from sociable.benchmarks.agentsense.mixed_views import pair_sections, person_sections
from sociable.benchmarks.agentsense.published import TABLE_2
from sociable.benchmarks.agentsense.records import AgentSenseEpisode
from sociable.benchmarks.agentsense.scenario import Domain, GoalType, Need
from sociable.benchmarks.agentsense.scene_views import list_scenes, scene_view
from sociable.benchmarks.agentsense.sensitivity import ABNORMAL, find_template_probabilities
from sociable.benchmarks.agentsense.study import AgentSenseStudy
from sociable.core.records import PANEL, Verdict
from sociable.core.view import (
    Block,
    Callout,
    Column,
    Curve,
    CurvePlot,
    IntervalPlot,
    Mark,
    Paragraph,
    Point,
    Row,
    Section,
    Table,
    Tone,
    figure,
)
from sociable.engine.result import RunResult
from sociable.judging.panel import with_panel
from sociable.reports.result_tables import (
    counts_table,
    estimated_metrics,
    group_table,
    metric_cells,
    metric_columns,
    metrics_table,
)
from sociable.reports.views import Views
from sociable.statistics.agreement import measure_cohen
from sociable.statistics.metrics import Metric

Runs = Sequence[RunResult[AgentSenseStudy]]

SUMMARY = ("self", "other", "majority", "psi_goal", "information", "information_gain")
PUBLISHED = {row.model: asdict(row) for row in TABLE_2}
ANOTHER_DATA_SET = "Published rows (paper) are of the authors' data and models of 2024: to look at, not to compare with."


class AgentSenseViews(Views):
    episodes_called = "Scenes"

    def label(self, manifest: Mapping[str, Any]) -> str:
        """A run with a partner names both: who sends to whom, or who plays with whom."""
        subject, partner = manifest["models"]["subject"], manifest["models"]["partner"]
        sends = manifest["settings"]["options"].get("plays") == "senders"
        return f"{subject} {'→' if sends else '+'} {partner}" if partner else subject

    def summary(self, runs: Runs) -> Table:
        """The views of the goals, the secrets, and how much both depend on who is played."""
        note = "95% intervals by template; none where all templates are alike. Info by chance: 0.25. — : nothing to measure."
        return metrics_table("AgentSense", runs, estimated_metrics(runs[0].study.metrics.named(*SUMMARY), runs), note)

    def scores(self, runs: Runs) -> list[Block]:
        return [_table_2(runs), *_conduct(runs)]

    def parts(self, runs: Runs) -> list[Section]:
        return [
            Section("Goals", list(_goals(runs))),
            *([Section("Judges", [_judges(runs)])] if any(run.seats.judges for run in runs) else []),
            Section("Secrets", list(_secrets(runs))),
            Section("Who is played", list(_sensitivity(runs))),
            *([Section("Rounds", [rounds])] if (rounds := _rounds(runs)) else []),
            *pair_sections(runs),
            *person_sections(runs),
        ]

    def counts(self, run: RunResult[AgentSenseStudy]) -> Table:
        counted = run.study.metrics.in_group("goals", "confidence", "secrets", "attack")
        return counts_table(run, [metric.name for metric in estimated_metrics(counted, [run])])

    def shown_episodes(self, run: RunResult[AgentSenseStudy]) -> Iterator[Block]:
        return list_scenes(run)

    def episode(self, run: RunResult[AgentSenseStudy], episode: AgentSenseEpisode) -> list[Block]:
        return [scene_view(run, episode)]


def _table_2(runs: Runs) -> Table:
    """Table 2's layout: our runs first, then the published rows."""
    metrics = runs[0].study.metrics
    shown = [each for metric in metrics.in_group("goals") for each in (_by_judge(metric, runs) if metric.members else [metric])]
    shown += metrics.named("psi_goal", "information", "psi_information")
    note = (
        f"{ANOTHER_DATA_SET} Intervals of the rest stand in scores.json. Their judges were GPT-4o, Qwen2.5-72b and Llama-3-70b."
    )
    # The main columns have their intervals; with all of them nothing would fit a page.
    return metrics_table("Goal completion and information (Table 2's layout)", runs, shown, note, SUMMARY, PUBLISHED)


def _by_judge(family: Metric[Scene], runs: Runs) -> list[Metric[Scene]]:
    names = dict.fromkeys(e.metric for run in runs for e in run.estimates if e.metric.startswith(JUDGE))
    return [replace(family, name=name, title=name.removeprefix(JUDGE)) for name in names]


def _conduct(runs: Runs) -> Iterator[Block]:
    yield from group_table("What came to nothing", runs, "conduct", "Shares of what the model was asked, and of its turns.")
    for run in runs:
        cut = run.estimate("cut_off_turns")
        if cut and cut.value and cut.value > 0.05:
            yield Callout(
                f"{run.label}: {cut.value:.0%} of its turns were cut off at the token limit (by default the paper's 128). A "
                "model that thinks before it speaks needs more: max_tokens under [roles.subject] in the --config file.",
                Tone.WARNING,
            )


def _goals(runs: Runs) -> Iterator[Block]:
    """Figures 6, 9 and 11: by kind of goal, domain and number of participants."""
    view = "majority" if any(run.estimate("majority") for run in runs) else "self"
    said = "as the judges' majority says" if view == "majority" else "as their owners say"
    if len(runs) == 1:
        found = [(kind.value, estimate) for kind in GoalType if (estimate := runs[0].estimate(f"{view}/{kind.value}"))]
        if marks := [Mark(f"{kind} (n = {e.scored})", e.value, e.low, e.high) for kind, e in found]:
            yield IntervalPlot(f"Goals reached by kind, {said}", "share of goals reached", marks, minimum=0.0, maximum=1.0)
        yield _kinds_of_one(runs[0])
    else:
        yield _kinds_of_several(runs, view, said)
    yield from group_table("Over-confidence", runs, "confidence", "Above 0: participants claim more than the judges see.")


def _kinds(runs: Runs) -> Iterator[tuple[str, str]]:
    """(a way to group goals and scenes, one group), as far as any run has it."""
    known = {e.metric.removeprefix("self/") for run in runs for e in run.estimates if e.metric.startswith("self/")}
    groups = {
        "kind": [kind.value for kind in GoalType],
        "need (ERG)": [need.value for need in Need],
        "domain": [domain.value for domain in Domain],
        "participants": sorted(name for name in known if name.endswith(" participants")),
    }
    yield from ((group, name) for group, names in groups.items() for name in names if name in known)


def _kinds_of_one(run: RunResult[AgentSenseStudy]) -> Table:
    views, rows = run.study.metrics.named("self", "majority"), []
    for group, name in _kinds([run]):
        of_kind = [replace(metric, name=f"{metric.name}/{name}") for metric in views]
        scenes = run.estimate(of_kind[0].name)
        rows.append(Row([group, name, str(scenes.scored if scenes else 0), *metric_cells(run, of_kind)]))
    columns = [Column("By"), Column(""), Column("Scenes", True), *metric_columns(views)]
    return Table("Goals reached, by what the scenes are like", columns, rows, "A scene's value is over its goals of that kind.")


def _kinds_of_several(runs: Runs, view: str, said: str) -> Table:
    """A heat map, one column a run."""
    rows = []
    for group, name in _kinds(runs):
        values = [found.value if (found := run.estimate(f"{view}/{name}")) else None for run in runs]
        rows.append(Row([group, name, *(figure(value, 2) for value in values)], shades=[None, None, *values]))
    columns = [Column("By"), Column(""), *(Column(run.label, True) for run in runs)]
    note = "A scene's value is over its goals of that kind. Intervals stand in the report on one run."
    return Table(f"Goals reached, by what the scenes are like, {said}", columns, rows, note)


def _judges(runs: Runs) -> Table:
    """How each judge answers, and how far it goes with the panel."""
    rows = []
    for run in runs:
        panel = [seat.name for seat in run.seats.judges]
        answers: dict[str, list[tuple[Verdict, Verdict]]] = defaultdict(list)
        for episode in run.episodes():
            verdicts = with_panel(run.judgments_of(episode), panel)
            for (criterion, judge), (verdict, _) in verdicts.items():
                if (criterion, PANEL) in verdicts:
                    answers[judge].append((verdict, verdicts[criterion, PANEL][0]))
        rows += [Row([run.label, judge, *_judge_figures(answers[judge], several=len(panel) > 1)]) for judge in panel]
    columns = [
        Column("Model"),
        Column("Judge"),
        Column("Questions", True),
        Column("No answer", True, "could not be read, refused, cut off"),
        Column("Yes", True, "share of its answers"),
        Column("With the panel", True, "share of its answers that are the panel's"),
        Column("Cohen's κ", True, "the same beyond chance; the panel's verdict is partly its own"),
    ]
    return Table("How the judges answered", columns, rows)


def _judge_figures(answers: Sequence[tuple[Verdict, Verdict]], *, several: bool) -> list[str]:
    """A judge's row, from each of its verdicts with the panel's on the same question."""
    given = [pair for pair in answers if pair[0] is not Verdict.UNSCORED]
    yes = fmean(mine is Verdict.WIN for mine, _ in given) if given else None
    both = [pair for pair in given if pair[1] in (Verdict.WIN, Verdict.LOSS)] if several else []
    agreement = fmean(mine is theirs for mine, theirs in both) if both else None
    kappa = measure_cohen([mine for mine, _ in both], [theirs for _, theirs in both]).value if both else None
    return [str(len(answers)), str(len(answers) - len(given)), figure(yes, 2), figure(agreement, 2), figure(kappa, 2)]


def _secrets(runs: Runs) -> Iterator[Block]:
    note = f"Chance is 0.25 with four options. {ANOTHER_DATA_SET} Their blind test took 100 of the questions (Table 4)."
    yield from group_table("Quiz on the others' secrets", runs, "secrets", note, PUBLISHED)
    note = "Mixed runs only. What the blind test gives is the baseline of both."
    yield from group_table("Attack and defence (section 5.2)", [run for run in runs if run.estimate("attack")], "attack", note)


def _sensitivity(runs: Runs) -> Iterator[Block]:
    note = "Intervals by template. Noise and excess need --repeats; without them PSI is profile and chance together."
    yield from group_table("Profile sensitivity (PSI)", runs, "sensitivity", note)
    # A model that has several runs has one vote: of a run in which it plays everybody, if there is one.
    alone_last = sorted(runs, key=lambda run: run.manifest["models"]["partner"] is None)
    one_each = {run.manifest["models"]["subject"]: run for run in alone_last}
    tested = {model: probabilities for model, run in one_each.items() if (probabilities := _template_probabilities(run))}
    if not tested:
        return
    templates = sorted(set().union(*tested.values()))
    flagged = [each for each in templates if 2 * sum(own.get(each, 1.0) < ABNORMAL for own in tested.values()) > len(tested)]
    yield Paragraph(
        f"Templates whose goal completion depends on who is played (χ², App. D.7, p < {ABNORMAL:g} for most of the models): "
        f"{len(flagged)} of {len(templates)}; by chance alone about {ABNORMAL * len(templates):.0f} for each model."
    )
    if flagged:
        columns = [Column("Template"), *(Column(label, True, "p of the χ² test") for label in tested)]
        rows = [Row([template, *(figure(tested[label].get(template)) for label in tested)]) for template in flagged]
        yield Table("Templates that depend on who is played", columns, rows)


def _template_probabilities(run: RunResult[AgentSenseStudy]) -> dict[str, float]:
    """Each template's probability, by the judges' view if there is one, else by the participants' own."""
    for metric in ("majority", "self"):
        if own := [score for score in run.scores if score.metric == metric and score.value is not None]:
            return find_template_probabilities(own)
    return {}


def _rounds(runs: Runs) -> CurvePlot | None:
    """Figure 10: goal completion as it stood after so many turns."""
    curves = []
    for run in runs:
        for view in run.study.metrics.named("majority", "self", "other"):
            found = [(int(e.metric.rpartition(" ")[2]), e) for e in run.estimates if e.metric.startswith(f"{view.name}/after ")]
            points = [Point(after, e.value, e.low, e.high) for after, e in sorted(found) if e.value is not None]
            if len(points) > 1:
                curves.append(Curve(f"{run.label}: {view.title}" if len(runs) > 1 else view.title, points))
    if not curves:
        return None
    return CurvePlot("Goals reached by turns taken", "turns", "share of goals reached", curves, minimum=0.0, maximum=1.0)
