"""AgentSense's part of a report: tables and figures, as plain view records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

from sociable.benchmarks.agentsense.briefing import as_shown
from sociable.benchmarks.agentsense.metrics import JUDGE
from sociable.benchmarks.agentsense.mixed_views import show_pairs, show_persons
from sociable.benchmarks.agentsense.published import METRICS as PAPER_METRICS
from sociable.benchmarks.agentsense.published import TABLE_2
from sociable.benchmarks.agentsense.records import PARTNER, AgentSenseEpisode, ProbeKind, name_goal_criterion
from sociable.benchmarks.agentsense.scenario import Domain, GoalType, Need, Scenario
from sociable.benchmarks.agentsense.sensitivity import ABNORMAL, find_template_probabilities
from sociable.benchmarks.agentsense.study import AgentSenseStudy
from sociable.core.plots import Curve, CurvePlot, IntervalPlot, Mark, Point
from sociable.core.records import PANEL, EpisodeStatus, Judgment, Verdict
from sociable.core.view import MISSING, Block, Callout, Case, Column, Paragraph, Row, Section, Table, Tag, Tone, format_figure
from sociable.engine.result import RunResult
from sociable.judging.panel import add_panel
from sociable.reports.result_tables import (
    format_metric_cells,
    list_estimated_metrics,
    make_group_tables,
    make_metrics_table,
    make_outcomes_table,
)
from sociable.reports.views import Views
from sociable.statistics.agreement import measure_cohen, measure_observed

Runs = Sequence[RunResult[AgentSenseStudy]]

SUMMARY = ("self", "other", "majority", "inferred", "inferred_blind", "leak_rate")
SCENES_SHOWN = 5
"""Scenes with the fewest goals reached, and with the most, that a report shows."""
ANOTHER_DATA_SET = "Published rows (paper) are of the authors' data and models of 2024: to look at, not to compare with."


class AgentSenseViews(Views):
    episodes_called = "Scenes"

    def make_label(self, manifest: Mapping[str, Any]) -> str:
        """A run with a partner names both: who sends to whom, or who plays with whom."""
        subject, partner = manifest["models"]["subject"], manifest["models"]["partner"]
        sends = manifest["settings"]["options"].get("plays") == "senders"
        return f"{subject} {'→' if sends else '+'} {partner}" if partner else subject

    def show_summary(self, runs: Runs) -> Table:
        """The views of the goals, the secrets, and how much both depend on who is played."""
        note = "95% intervals by template; none where all templates are alike. Inferred by chance: 0.25. — : nothing to measure."
        if any(run.study.options.plays == "senders" for run in runs):
            note += " Of a pair, A → B, all columns are of A's characters, the senders; partner_ metrics in the report are B's."
        return make_metrics_table(
            "AgentSense", runs, list_estimated_metrics(runs[0].study.metrics.select_named(*SUMMARY), runs), note
        )

    def show_published(self) -> list[Table]:
        columns = [Column("Model"), *(Column(name.replace("_", " "), True) for name in PAPER_METRICS)]
        rows = [Row([f"{model} (paper)", *map(format_figure, own.values())]) for model, own in TABLE_2.items()]
        return [Table("AgentSense, the paper's Table 2", columns, rows, ANOTHER_DATA_SET)]

    def show_scores(self, runs: Runs) -> list[Block]:
        return [_tabulate_scores(runs), *_show_conduct(runs)]

    def show_parts(self, runs: Runs) -> list[Section]:
        return [
            Section("Goals", list(_show_goals(runs))),
            *([Section("Judges", [_tabulate_judges(runs)])] if any(run.seats.judges for run in runs) else []),
            Section("Secrets", list(_show_secrets(runs))),
            Section("Who is played", list(_show_sensitivity(runs))),
            *([Section("Rounds", [rounds])] if (rounds := _plot_rounds(runs)) else []),
            *show_pairs(runs),
            *show_persons(runs),
        ]

    def show_counts(self, run: RunResult[AgentSenseStudy]) -> Table:
        counted = run.study.metrics.select_groups("goals", "confidence", "secrets", "attack")
        return make_outcomes_table(run, [metric.name for metric in list_estimated_metrics(counted, [run])])

    def show_episodes(self, run: RunResult[AgentSenseStudy]) -> Iterator[Block]:
        return _list_scenes(run)

    def show_episode(self, run: RunResult[AgentSenseStudy], episode: AgentSenseEpisode) -> list[Block]:
        return [_show_scene(run, episode)]


def _tabulate_scores(runs: Runs) -> Table:
    """Table 2's layout: our runs first, then the published rows."""
    metrics = runs[0].study.metrics
    judges = list(dict.fromkeys(e.metric for run in runs for e in run.estimates if e.metric.startswith(JUDGE)))
    shown = []
    for metric in (*metrics.select_groups("goals"), *metrics.select_named("psi_goal", "information", "psi_information")):
        by_judge = [replace(metric, name=name, title=name.removeprefix(JUDGE)) for name in judges]
        shown += by_judge if metric.members else [metric]
    note = (
        f"{ANOTHER_DATA_SET} Intervals of the rest stand in scores.json. Their judges were GPT-4o, Qwen2.5-72b and Llama-3-70b."
    )
    # The main columns have their intervals; with all of them nothing would fit a page.
    return make_metrics_table("Goal completion and information (Table 2's layout)", runs, shown, note, SUMMARY, TABLE_2)


def _show_conduct(runs: Runs) -> Iterator[Block]:
    yield from make_group_tables("What came to nothing", runs, "conduct", "Shares of what the model was asked, and of its turns.")
    for run in runs:
        cut = run.estimate("cut_off_turns")
        if cut and cut.value and cut.value > 0.05:
            yield Callout(
                f"{run.label}: {cut.value:.0%} of its turns were cut off at the token limit (by default the paper's 128). A "
                "model that thinks before it speaks needs more: max_tokens under [roles.subject] in the --config file.",
                Tone.WARNING,
            )


def _show_goals(runs: Runs) -> Iterator[Block]:
    """Figures 6, 9 and 11: by kind of goal, domain and number of participants."""
    view = "majority" if any(run.estimate("majority") for run in runs) else "self"
    said = "as the judges' majority says" if view == "majority" else "as their owners say"
    if len(runs) == 1:
        found = [(kind.value, estimate) for kind in GoalType if (estimate := runs[0].estimate(f"{view}/{kind.value}"))]
        if marks := [Mark(f"{kind} (n = {e.scored})", e.value, e.low, e.high) for kind, e in found]:
            yield IntervalPlot(f"Goals reached by kind, {said}", "share of goals reached", marks, minimum=0.0, maximum=1.0)
        yield _tabulate_kinds(runs[0])
    else:
        yield _compare_kinds(runs, view, said)
    yield from make_group_tables("Over-confidence", runs, "confidence", "Above 0: participants claim more than the judges see.")


def _list_kinds(runs: Runs) -> Iterator[tuple[str, str]]:
    """(a way to group goals and scenes, one group), as far as any run has it."""
    known = {e.metric.removeprefix("self/") for run in runs for e in run.estimates if e.metric.startswith("self/")}
    groups = {
        "kind": [kind.value for kind in GoalType],
        "need (ERG)": [need.value for need in Need],
        "domain": [domain.value for domain in Domain],
        "participants": sorted(name for name in known if name.endswith(" participants")),
    }
    yield from ((group, name) for group, names in groups.items() for name in names if name in known)


def _tabulate_kinds(run: RunResult[AgentSenseStudy]) -> Table:
    views, rows = run.study.metrics.select_named("self", "majority"), []
    for group, name in _list_kinds([run]):
        of_kind = [replace(metric, name=f"{metric.name}/{name}") for metric in views]
        scenes = run.estimate(of_kind[0].name)
        rows.append(Row([group, name, str(scenes.scored if scenes else 0), *format_metric_cells(run, of_kind)]))
    columns = [
        Column("By"),
        Column(""),
        Column("Scenes", True),
        *(Column(metric.title, True, metric.meaning) for metric in views),
    ]
    return Table("Goals reached, by what the scenes are like", columns, rows, "A scene's value is over its goals of that kind.")


def _compare_kinds(runs: Runs, view: str, said: str) -> Table:
    """A heat map, one column a run."""
    rows = []
    for group, name in _list_kinds(runs):
        values = [found.value if (found := run.estimate(f"{view}/{name}")) else None for run in runs]
        rows.append(Row([group, name, *(format_figure(value, 2) for value in values)], shades=[None, None, *values]))
    columns = [Column("By"), Column(""), *(Column(run.label, True) for run in runs)]
    note = "A scene's value is over its goals of that kind. Intervals stand in the report on one run."
    return Table(f"Goals reached, by what the scenes are like, {said}", columns, rows, note)


def _tabulate_judges(runs: Runs) -> Table:
    """Each judge's answers, and their agreement with the panel's."""
    rows = []
    for run in runs:
        panel = [seat.name for seat in run.seats.judges]
        answers: dict[str, list[tuple[Verdict, Verdict]]] = defaultdict(list)
        for episode in run.episodes():
            verdicts = add_panel(run.find_judgments(episode), panel)
            for (criterion, judge), (verdict, _) in verdicts.items():
                if (criterion, PANEL) in verdicts:
                    answers[judge].append((verdict, verdicts[criterion, PANEL][0]))
        rows += [Row([run.label, judge, *_count_answers(answers[judge], several=len(panel) > 1)]) for judge in panel]
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


def _count_answers(answers: Sequence[tuple[Verdict, Verdict]], *, several: bool) -> list[str]:
    """A judge's row, from each of its verdicts with the panel's on the same question."""
    own = [None if verdict is Verdict.UNSCORED else verdict for verdict, _ in answers]
    panel = [verdict if several and verdict in (Verdict.WIN, Verdict.LOSS) else None for _, verdict in answers]
    given = [verdict is Verdict.WIN for verdict in own if verdict]
    shares = (fmean(given) if given else None, measure_observed(own, panel), measure_cohen(own, panel).value)
    return [str(len(answers)), str(own.count(None)), *(format_figure(share, 2) for share in shares)]


def _show_secrets(runs: Runs) -> Iterator[Block]:
    note = f"Chance is 0.25 with four options. {ANOTHER_DATA_SET} Their blind test took 100 of the questions (Table 4)."
    yield from make_group_tables("Quiz on the others' secrets", runs, "secrets", note, TABLE_2)
    note = "Mixed runs only. What the blind test gives is the baseline of both."
    yield from make_group_tables(
        "Attack and defence (section 5.2)", [run for run in runs if run.estimate("attack")], "attack", note
    )


def _show_sensitivity(runs: Runs) -> Iterator[Block]:
    note = "Intervals by template. Noise and excess need --repeats; without them PSI is profile and chance together."
    yield from make_group_tables("Profile sensitivity (PSI)", runs, "sensitivity", note)
    # A model that has several runs has one vote: of a run in which it plays everybody, if there is one.
    alone_last = sorted(runs, key=lambda run: run.manifest["models"]["partner"] is None)
    one_each = {run.manifest["models"]["subject"]: run for run in alone_last}
    tested = {model: probabilities for model, run in one_each.items() if (probabilities := _find_probabilities(run))}
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
        rows = [Row([template, *(format_figure(tested[label].get(template)) for label in tested)]) for template in flagged]
        yield Table("Templates that depend on who is played", columns, rows)


def _find_probabilities(run: RunResult[AgentSenseStudy]) -> dict[str, float]:
    """Each template's probability, by the judges' view if there is one, else by the participants' own."""
    for metric in ("majority", "self"):
        if own := [score for score in run.scores if score.metric == metric and score.value is not None]:
            return find_template_probabilities(own)
    return {}


def _plot_rounds(runs: Runs) -> CurvePlot | None:
    """Figure 10: goal completion as it stood after so many turns."""
    curves = []
    for run in runs:
        for view in run.study.metrics.select_named("majority", "self", "other"):
            found = [(int(e.metric.rpartition(" ")[2]), e) for e in run.estimates if e.metric.startswith(f"{view.name}/after ")]
            points = [Point(after, e.value, e.low, e.high) for after, e in sorted(found) if e.value is not None]
            if len(points) > 1:
                curves.append(Curve(f"{run.label}: {view.title}" if len(runs) > 1 else view.title, points))
    if not curves:
        return None
    return CurvePlot("Goals reached by turns taken", "turns", "share of goals reached", curves, minimum=0.0, maximum=1.0)


# Scenes as a reader sees them: what was said, what each hid and wanted, and what came of it.


def _list_scenes(run: RunResult[AgentSenseStudy]) -> Iterator[Block]:
    """The scenes in which the fewest goals were reached, and those with the most."""
    metric = "majority" if run.estimate("majority") else "self"
    values = {(s.scenario, s.repeat): s.value for s in run.scores if s.metric == metric}
    done = [episode for episode in run.episodes() if episode.status is EpisodeStatus.COMPLETED]
    ranked = sorted(done, key=lambda episode: values.get((episode.scenario, episode.repeat)) or 0.0)
    best = ranked[SCENES_SHOWN:][-SCENES_SHOWN:][::-1]
    for heading, episodes in (("Fewest", ranked[:SCENES_SHOWN]), ("Most", best)):
        if episodes:
            yield Paragraph(f"{heading} goals reached ({metric}). Any other: sociable show {run.folder} EPISODE.")
            yield from (_show_scene(run, episode) for episode in episodes)


def _show_scene(run: RunResult[AgentSenseStudy], episode: AgentSenseEpisode) -> Case:
    """One scene, turn by turn, each participant's private view in its own column, then what came of it."""
    scenario, judgments = run.study.scenarios[episode.scenario], run.find_judgments(episode)
    tags = [Tag(str(scenario.domain))] if scenario.domain else []
    tags.append(Tag(f"{len(scenario.characters)} participants"))
    own = (s for s in run.scores if (s.scenario, s.repeat, s.metric) == (episode.scenario, episode.repeat, "majority"))
    value = next((score.value for score in own), None)
    if value is not None:
        tags.append(Tag(f"goals {value:.2f}", Tone.GOOD if value > 0.5 else Tone.BAD))
    blocks: list[Paragraph | Callout | Table] = [
        *(Callout(problem, Tone.WARNING) for problem in (episode.error, episode.partner_failure) if problem),
        *(Paragraph(text) for text in (scenario.background, scenario.description) if text),
        _tabulate_turns(scenario, episode),
    ]
    judges = list(dict.fromkeys(judgment.judge for judgment in judgments))
    if goals := list(_list_goals(scenario, episode, judgments, judges)):
        columns = [Column("Goal of"), Column("Goal"), Column("Self"), Column("Others"), *(Column(judge) for judge in judges)]
        blocks.append(Table("Were the goals reached?", columns, goals))
    if quiz := list(_list_quiz(scenario, episode)):
        columns = [Column("Asked"), Column("Question"), Column("Answer"), Column("before"), Column("after")]
        blocks.append(Table("The quiz on the others' secrets", columns, quiz, "✓ right, ✗ wrong, — no answer"))
    return Case(episode.id, tags, blocks)


def _tabulate_turns(scenario: Scenario, episode: AgentSenseEpisode) -> Table:
    """The turns in a column for each character, below what nobody else knows."""
    cast, is_mixed = scenario.characters, PARTNER in episode.played_by.values()
    rows = [
        Row(["profile", *(each.profile or MISSING for each in cast)]),
        Row(["wants", *("\n".join(f"• {goal.goal}" for goal in each.goals) or "(no goal)" for each in cast)]),
        Row(["hides", *(each.private_info or "(no secret)" for each in cast)]),
    ]
    for turn in episode.turns:
        said = f"{as_shown(turn) or '(says nothing)'}{f' [{turn.note}]' if turn.note else ''}"
        rows.append(Row([str(turn.index), *(said if name == turn.speaker else "" for name in scenario.names)]))
    titles = [f"{name} ({episode.played_by[name]})" if is_mixed else name for name in scenario.names]
    return Table("The scene", [Column("Turn"), *map(Column, titles)], rows, "Turn 0 is the greeting.")


_YES_NO: Mapping[bool | None, str] = {True: "yes", False: "no", None: MISSING}
_RIGHT: Mapping[bool | None, str] = {True: "✓", False: "✗", None: MISSING}
_VERDICT = {Verdict.WIN: "yes", Verdict.LOSS: "no"}


def _list_goals(
    scenario: Scenario, episode: AgentSenseEpisode, judgments: Sequence[Judgment], judges: Sequence[str]
) -> Iterator[Row]:
    """One row a goal: the answers of its owner, the others and the judges at the end."""
    end = max((turn.index for turn in episode.turns), default=0)
    for owner in scenario.characters:
        for item, goal in enumerate(owner.goals):
            own, others = (
                [each for each in episode.answers.get((kind, owner.name, item), ()) if each.after == end]
                for kind in (ProbeKind.OWN_GOAL, ProbeKind.OTHERS_GOAL)
            )
            wordings = range(len(goal.eval_questions.judge or ()))
            asked = {name_goal_criterion(owner.name, item, wording, end) for wording in wordings}
            said = [
                ", ".join(_YES_NO[each.answer] for each in own),
                ", ".join(f"{each.asked} {_YES_NO[each.answer]}" for each in others),
            ]
            by_judge = [
                "; ".join(_format_judgment(each) for each in judgments if each.judge == judge and each.criterion in asked)
                for judge in judges
            ]
            yield Row([owner.name, goal.goal, *(text or MISSING for text in said), *by_judge])


def _format_judgment(judgment: Judgment) -> str:
    return f"{_VERDICT.get(judgment.verdict, MISSING)}: {judgment.reason}".removesuffix(": ")


def _list_quiz(scenario: Scenario, episode: AgentSenseEpisode) -> Iterator[Row]:
    for character in scenario.characters:
        for item, question in enumerate(character.info_reason_questions):
            found = [episode.answers.get((kind, character.name, item), ()) for kind in (ProbeKind.BLIND_QUIZ, ProbeKind.QUIZ)]
            marks = [_RIGHT[answers[-1].answer] if answers else "" for answers in found]
            yield Row([character.name, question.question, question.answer, *marks])
