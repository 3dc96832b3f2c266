"""AgentSense's part of a report: tables and figures, as plain view records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

from sociable.benchmarks.agentsense.metrics import GOALS, JUDGE, MIXED, QUIZ
from sociable.benchmarks.agentsense.mixed_views import pair_sections, person_sections
from sociable.benchmarks.agentsense.published import BLIND_ACCURACY, TABLE_2
from sociable.benchmarks.agentsense.scenario import Domain, GoalType, Need
from sociable.benchmarks.agentsense.scene_views import scenes
from sociable.benchmarks.agentsense.sensitivity import ABNORMAL, depending_templates
from sociable.core.records import PANEL, Verdict
from sociable.core.view import (
    MISSING,
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
    with_interval,
)
from sociable.engine.benchmark import RunResult
from sociable.engine.run import FinishedRun
from sociable.judging.panel import with_panel
from sociable.reports.result_tables import Metric, Metrics, cells, columns_of, cost_block, counts_table, metrics_table, notes_of
from sociable.statistics.agreement import measure_cohen

SUMMARY = {
    "self": Metric("Self", "goals reached, as their owners say"),
    "other": Metric("Other", "goals reached, as the other participants say"),
    "majority": Metric("Majority", "goals reached, as the majority of the judges say"),
    "psi_goal": Metric("PSI", "profile sensitivity: standard deviation of Majority over the casts of a template"),
    "information": Metric("Info", "quiz on the others' secrets, share of right answers after the scene"),
    "information_gain": Metric("Gain", "the same less the blind test before the scene, paired by question"),
}
TABLE_2_METRICS = {
    "self": SUMMARY["self"],
    "other": SUMMARY["other"],
    "average": Metric("Average", "mean of the judges' columns"),
    "majority": SUMMARY["majority"],
    "psi_goal": Metric("PSI goal", SUMMARY["psi_goal"].meaning),
    "information": SUMMARY["information"],
    "psi_information": Metric("PSI info", "profile sensitivity of Info"),
}
SECRETS = {
    "information_blind": Metric("Blind", "the quiz before anybody has spoken"),
    "information": SUMMARY["information"],
    "information_gain": SUMMARY["information_gain"],
}
ATTACK = {
    "attack_blind": Metric("Attack blind", "own accuracy on the partner's secrets before the scene"),
    "attack": Metric("Attack", "own accuracy on the partner's secrets after the scene"),
    "defence_blind": Metric("Defence blind", "1 less the partner's accuracy on one's own secrets before the scene"),
    "defence": Metric("Defence", "1 less the partner's accuracy on one's own secrets after the scene"),
}
SENSITIVITY = {
    f"psi_{of}{suffix}": Metric(f"{title} {label}", meaning)
    for of, title in (("goal", "Goal"), ("self", "Self"), ("information", "Info"))
    for suffix, label, meaning in (
        ("", "PSI", "standard deviation over the casts of a template, averaged over templates"),
        ("_noise", "noise", "the same over repeats of one cast: what chance alone gives"),
        ("_excess", "excess", "PSI less noise: what is left for the profiles to explain"),
    )
}
CONFIDENCE = {"overconfidence": Metric("Over-confidence", "Self less Majority, over the goals that have both")}
CONDUCT_METRICS = {
    "no_answer": Metric("no answer", "probes to which the model gave none that could be read"),
    "silent_turns": Metric("silent turns", "turns in which it said nothing"),
    "cut_off_turns": Metric("cut off", "turns that ended at the token limit; what came before stands"),
}
ANOTHER_DATA_SET = "Published rows (paper) are of the authors' data and models of 2024: to look at, not to compare with."


def summary_table(results: Sequence[RunResult]) -> Table:
    """One row a run: the views of the goals, the secrets, and how much both depend on who is played."""
    note = "95% intervals by template; none where all templates are alike. Info by chance: 0.25. — : nothing to measure."
    return metrics_table("AgentSense", results, _measured(SUMMARY, results), note)


def sections(runs: Sequence[FinishedRun]) -> list[Section]:
    """The body of a report on one or several runs."""
    results = [run.result for run in runs]
    parts = [
        Section("Scores", [*notes_of(results), _table_2(results), *_conduct(results)]),
        Section("Goals", list(_goals(results))),
        *([Section("Judges", [_judges(runs)])] if any(run.seats.judges for run in runs) else []),
        Section("Secrets", list(_secrets(results))),
        Section("Who is played", list(_sensitivity(runs))),
    ]
    if rounds := _rounds(results):
        parts.append(Section("Rounds", [rounds]))
    parts += [*pair_sections(results), *person_sections(runs)]
    main = (*GOALS, "overconfidence", *QUIZ, *(MIXED if _mixed(results) else ()))
    parts += [
        Section("What was counted", [counts_table(result, [m for m in main if result.estimate(m)]) for result in results]),
        Section("Cost", [cost_block(results)]),
    ]
    parts += [Section(f"Scenes: {run.result.label}" if len(runs) > 1 else "Scenes", list(scenes(run))) for run in runs]
    return parts


def _measured(metrics: Metrics, results: Sequence[RunResult]) -> Metrics:
    """Those that any of the runs has an estimate of."""
    return {name: metric for name, metric in metrics.items() if any(result.estimate(name) for result in results)}


def _mixed(results: Sequence[RunResult]) -> bool:
    return any(result.estimate("attack") for result in results)


def _table_2(results: Sequence[RunResult]) -> Table:
    """Table 2's layout: our runs first, then the published rows."""
    judges = list(dict.fromkeys(e.metric for result in results for e in result.estimates if e.metric.startswith(JUDGE)))
    metrics: dict[str, Metric] = {}
    for name, metric in TABLE_2_METRICS.items():
        if name == "average":
            metrics |= {judge: Metric(judge.removeprefix(JUDGE), "goals reached, as this judge says") for judge in judges}
        metrics[name] = metric
    rows = []
    for result in results:
        # The main columns have their intervals; with all of them nothing would fit a page.
        found = {name: result.estimate(name) for name in metrics}
        whole = {name: with_interval(e.value, e.low, e.high) if e else MISSING for name, e in found.items()}
        shown = [text if name in SUMMARY else text.partition(" [")[0] for name, text in whole.items()]
        rows.append(Row([result.label, *shown], emphasis=True))
    for published in TABLE_2:
        own = {name: getattr(published, name, None) for name in metrics}
        rows.append(Row([f"{published.model} (paper)", *(figure(value) for value in own.values())]))
    note = (
        f"{ANOTHER_DATA_SET} Intervals of the rest stand in scores.json. Their judges were GPT-4o, Qwen2.5-72b and Llama-3-70b."
    )
    return Table("Goal completion and information (Table 2's layout)", [Column("Model"), *columns_of(metrics)], rows, note)


def _conduct(results: Sequence[RunResult]) -> Iterator[Block]:
    yield metrics_table("What came to nothing", results, CONDUCT_METRICS, "Shares of what the model was asked, and of its turns.")
    for result in results:
        cut = result.estimate("cut_off_turns")
        if cut and cut.value and cut.value > 0.05:
            yield Callout(
                f"{result.label}: {cut.value:.0%} of its turns were cut off at the token limit (by default the paper's 128). A "
                "model that thinks before it speaks needs more: max_tokens under [roles.subject] in the --config file.",
                Tone.WARNING,
            )


def _goals(results: Sequence[RunResult]) -> Iterator[Block]:
    """Figures 6, 9 and 11: by kind of goal, domain and number of participants."""
    view = "majority" if any(result.estimate("majority") for result in results) else "self"
    said = "as the judges' majority says" if view == "majority" else "as their owners say"
    if len(results) == 1:
        found = (_mark(results[0], f"{view}/{kind.value}", kind.value) for kind in GoalType)
        if marks := [mark for mark in found if mark is not None]:
            yield IntervalPlot(f"Goals reached by kind, {said}", "share of goals reached", marks, minimum=0.0, maximum=1.0)
        yield _kinds_of_one(results[0])
    else:
        yield _kinds_of_several(results, view, said)
    if confident := _measured(CONFIDENCE, results):
        yield metrics_table("Over-confidence", results, confident, "Above 0: participants claim more than the judges see.")


def _groups(results: Sequence[RunResult]) -> Iterator[tuple[str, str]]:
    """(what scenes are parted by, one part), as far as any run has it."""
    known = {e.metric.removeprefix("self/") for result in results for e in result.estimates if e.metric.startswith("self/")}
    groups = {
        "kind": [kind.value for kind in GoalType],
        "need (ERG)": [need.value for need in Need],
        "domain": [domain.value for domain in Domain],
        "participants": sorted(name for name in known if name.endswith(" participants")),
    }
    yield from ((group, name) for group, names in groups.items() for name in names if name in known)


def _kinds_of_one(result: RunResult) -> Table:
    rows = []
    for group, name in _groups([result]):
        own, judged = result.estimate(f"self/{name}"), result.estimate(f"majority/{name}")
        shown = [with_interval(e.value, e.low, e.high) if e else MISSING for e in (own, judged)]
        rows.append(Row([group, name, str(own.scored if own else 0), *shown]))
    columns = [Column("By"), Column(""), Column("Scenes", True)]
    columns += [Column("Self", True, SUMMARY["self"].meaning), Column("Majority", True, SUMMARY["majority"].meaning)]
    return Table("Goals reached, by what the scenes are like", columns, rows, "A scene's value is over its goals of that kind.")


def _kinds_of_several(results: Sequence[RunResult], view: str, said: str) -> Table:
    """A heat map, one column a run."""
    rows = []
    for group, name in _groups(results):
        values = [found.value if (found := result.estimate(f"{view}/{name}")) else None for result in results]
        rows.append(Row([group, name, *(figure(value, 2) for value in values)], shades=[None, None, *values]))
    columns = [Column("By"), Column(""), *(Column(result.label, True) for result in results)]
    note = "A scene's value is over its goals of that kind. Intervals stand in the report on one run."
    return Table(f"Goals reached, by what the scenes are like, {said}", columns, rows, note)


def _mark(result: RunResult, metric: str, title: str) -> Mark | None:
    found = result.estimate(metric)
    return Mark(f"{title} (n = {found.scored})", found.value, found.low, found.high) if found else None


def _judges(runs: Sequence[FinishedRun]) -> Table:
    """How each judge answers, and how far it goes with the panel."""
    rows = []
    for run in runs:
        panel = [seat.name for seat in run.seats.judges]
        verdicts = [with_panel(run.judgments_of(episode), panel) for episode in run.records.episodes]
        for judge in panel:
            own = [
                (verdict, found[criterion, PANEL][0])
                for found in verdicts
                for (criterion, name), (verdict, _) in found.items()
                if name == judge and (criterion, PANEL) in found
            ]
            given = [pair for pair in own if pair[0] is not Verdict.UNSCORED]
            yes = fmean(mine is Verdict.WIN for mine, _ in given) if given else None
            both = [pair for pair in given if pair[1] in (Verdict.WIN, Verdict.LOSS)]
            with_them = fmean(mine is theirs for mine, theirs in both) if both else None
            kappa = measure_cohen([mine for mine, _ in both], [theirs for _, theirs in both]).value if both else None
            shown = (
                [figure(yes, 2), figure(with_them, 2), figure(kappa, 2)] if len(panel) > 1 else [figure(yes, 2), MISSING, MISSING]
            )
            rows.append(Row([run.result.label, judge, str(len(own)), str(len(own) - len(given)), *shown]))
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


def _secrets(results: Sequence[RunResult]) -> Iterator[Block]:
    measured = _measured(SECRETS, results)
    if measured:
        rows = [Row([result.label, *cells(result, measured)], emphasis=True) for result in results]
        for published in TABLE_2:
            values = {"information": published.information, "information_blind": BLIND_ACCURACY.get(published.model)}
            rows.append(Row([f"{published.model} (paper)", *(figure(values.get(name)) for name in measured)]))
        note = f"Chance is 0.25 with four options. {ANOTHER_DATA_SET} Their blind test took 100 of the questions (Table 4)."
        yield Table("Quiz on the others' secrets", [Column("Model"), *columns_of(measured)], rows, note)
    if _mixed(results):
        yield metrics_table(
            "Attack and defence (section 5.2)",
            [result for result in results if result.estimate("attack")],
            _measured(ATTACK, results),
            "Mixed runs only. What the blind test gives is the baseline of both.",
        )


def _sensitivity(runs: Sequence[FinishedRun]) -> Iterator[Block]:
    results = [run.result for run in runs]
    if measured := _measured(SENSITIVITY, results):
        note = "Intervals by template. Noise and excess need --repeats; without them PSI is profile and chance together."
        yield metrics_table("Profile sensitivity (PSI)", results, measured, note)
    # A model that has several runs has one vote: of a run in which it plays everybody, if there is one.
    alone_last = sorted(results, key=lambda result: result.manifest["models"]["partner"] is None)
    first = {result.manifest["models"]["subject"]: result for result in alone_last}
    tested = {model: probabilities for model, result in first.items() if (probabilities := _tested(result))}
    if not tested:
        return
    templates = sorted(set().union(*tested.values()))
    flags = {
        template: [probabilities.get(template, 1.0) < ABNORMAL for probabilities in tested.values()] for template in templates
    }
    flagged = [template for template in templates if 2 * sum(flags[template]) > len(tested)]
    yield Paragraph(
        f"Templates whose goal completion depends on who is played (χ², App. D.7, p < {ABNORMAL:g} for most of the models): "
        f"{len(flagged)} of {len(templates)}; by chance alone about {ABNORMAL * len(templates):.0f} for each model."
    )
    if flagged:
        columns = [Column("Template"), *(Column(label, True, "p of the χ² test") for label in tested)]
        rows = [Row([template, *(figure(tested[label].get(template)) for label in tested)]) for template in flagged]
        yield Table("Templates that depend on who is played", columns, rows)


def _tested(result: RunResult) -> dict[str, float]:
    """By template; of the judges' view if there is one, else of the participants' own."""
    for metric in ("majority", "self"):
        if own := [score for score in result.scores if score.metric == metric and score.value is not None]:
            return depending_templates(own)
    return {}


def _rounds(results: Sequence[RunResult]) -> CurvePlot | None:
    """Figure 10: goal completion as it stood after so many turns."""
    curves = []
    for result in results:
        for view in ("majority", "self", "other"):
            found = [(int(e.metric.rpartition(" ")[2]), e) for e in result.estimates if e.metric.startswith(f"{view}/after ")]
            points = [Point(after, e.value, e.low, e.high) for after, e in sorted(found) if e.value is not None]
            if len(points) > 1:
                label = SUMMARY[view].title
                curves.append(Curve(f"{result.label}: {label}" if len(results) > 1 else label, points))
    if not curves:
        return None
    return CurvePlot("Goals reached by turns taken", "turns", "share of goals reached", curves, minimum=0.0, maximum=1.0)
