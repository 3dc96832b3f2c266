"""Scenes as a reader of a report sees them: what was said, what each hid and wanted, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from sociable.benchmarks.agentsense.briefing import as_shown
from sociable.benchmarks.agentsense.records import AgentSenseEpisode, ProbeAnswer, ProbeKind
from sociable.benchmarks.agentsense.scenario import Character, Scenario
from sociable.core.records import EpisodeStatus, Judgment, Verdict
from sociable.core.view import MISSING, Block, Callout, Column, Paragraph, Row, Table, Tag, Tone
from sociable.core.view import Case as CaseView
from sociable.engine.run import FinishedRun

SCENES_SHOWN = 5
"""Of the best, and of the worst."""


def scenes(run: FinishedRun) -> Iterator[Block]:
    """Those where the fewest goals were reached, and the most."""
    metric = "majority" if run.result.estimate("majority") else "self"
    values = {(s.scenario, s.repeat): s.value for s in run.result.scores if s.metric == metric}
    done = [cast(AgentSenseEpisode, each) for each in run.records.episodes if each.status is EpisodeStatus.COMPLETED]
    ranked = sorted(done, key=lambda episode: values.get((episode.scenario, episode.repeat)) or 0.0)
    shown = {f"Fewest goals reached ({metric})": ranked[:SCENES_SHOWN]}
    if len(ranked) > SCENES_SHOWN:
        rest = ranked[SCENES_SHOWN:]
        shown[f"Most goals reached ({metric})"] = rest[-SCENES_SHOWN:][::-1]
    for heading, episodes in shown.items():
        if episodes:
            yield Paragraph(f"{heading}. Any other: sociable show {run.result.folder} EPISODE.")
            yield from (scene_view(run, episode) for episode in episodes)


def scene_view(run: FinishedRun, episode: AgentSenseEpisode) -> CaseView:
    """One scene, turn by turn, each participant's private view in its own column, then what came of it."""
    scenario: Scenario = run.study.scenarios[episode.scenario]
    tags = [Tag(str(scenario.domain))] if scenario.domain else []
    tags.append(Tag(f"{len(scenario.characters)} participants"))
    own = [
        s for s in run.result.scores if (s.scenario, s.repeat) == (episode.scenario, episode.repeat) and s.metric == "majority"
    ]
    if own and own[0].value is not None:
        tags.append(Tag(f"goals {own[0].value:.2f}", Tone.GOOD if own[0].value > 0.5 else Tone.BAD))
    return CaseView(episode.id, tags, list(_scene_blocks(scenario, episode, run.judgments_of(episode))))


def _scene_blocks(
    scenario: Scenario, episode: AgentSenseEpisode, judgments: Sequence[Judgment]
) -> Iterator[Paragraph | Callout | Table]:
    for problem in filter(None, (episode.error, episode.partner_failure)):
        yield Callout(problem, Tone.WARNING)
    yield Paragraph(scenario.background)
    if scenario.description:
        yield Paragraph(scenario.description)
    yield _turns_table(scenario, episode)
    goals = list(_goal_rows(scenario, episode, judgments))
    if goals:
        judges = list(dict.fromkeys(judgment.judge for judgment in judgments))
        columns = [Column("Goal of"), Column("Goal"), Column("Self"), Column("Others"), *(Column(judge) for judge in judges)]
        yield Table("Were the goals reached?", columns, [Row(row) for row in goals])
    quiz = list(_quiz_rows(scenario, episode))
    if quiz:
        columns = [Column("Asked"), Column("Question"), Column("Answer"), Column("before"), Column("after")]
        yield Table("The quiz on the others' secrets", columns, [Row(row) for row in quiz], "✓ right, ✗ wrong, — no answer")


def _turns_table(scenario: Scenario, episode: AgentSenseEpisode) -> Table:
    """What nobody else knows stands above what everybody heard."""

    def private(character: Character) -> list[str]:
        goals = "\n".join(f"• {goal.goal}" for goal in character.goals) or "(no goal)"
        return [character.profile or MISSING, goals, character.private_info or "(no secret)"]

    names = [character.name for character in scenario.characters]
    titles = [f"{name} ({episode.played_by[name]})" if "partner" in episode.played_by.values() else name for name in names]
    rows = [
        Row([label, *texts])
        for label, texts in zip(("profile", "wants", "hides"), zip(*map(private, scenario.characters), strict=True), strict=True)
    ]
    for turn in episode.turns:
        said = as_shown(turn) or "(says nothing)"
        if turn.note:
            said = f"{said} [{turn.note}]"
        rows.append(Row([str(turn.index), *(said if name == turn.speaker else "" for name in names)]))
    return Table("The scene", [Column("Turn"), *map(Column, titles)], rows, "Turn 0 is the greeting.")


_YES_NO: Mapping[bool | None, str] = {True: "yes", False: "no", None: MISSING}
_RIGHT: Mapping[bool | None, str] = {True: "✓", False: "✗", None: MISSING}
_VERDICT = {Verdict.WIN: "yes", Verdict.LOSS: "no"}


def _goal_rows(scenario: Scenario, episode: AgentSenseEpisode, judgments: Sequence[Judgment]) -> Iterator[list[str]]:
    end = max((turn.index for turn in episode.turns), default=0)
    judges = list(dict.fromkeys(judgment.judge for judgment in judgments))
    for owner in scenario.characters:
        for item, goal in enumerate(owner.goals):

            def said(kind: ProbeKind, name: str = owner.name, place: int = item) -> str:
                answers = [p for p in episode.probes if (p.kind, p.about, p.item, p.after) == (kind, name, place, end)]
                return ", ".join(_who_said(p, kind) for p in answers) or MISSING

            by_judge = []
            for judge in judges:
                own = [each for each in judgments if each.judge == judge and _is_about(each, owner.name, item, end)]
                by_judge.append("; ".join(f"{_VERDICT.get(j.verdict, MISSING)}: {j.reason}".removesuffix(": ") for j in own))
            yield [owner.name, goal.goal, said(ProbeKind.OWN_GOAL), said(ProbeKind.OTHERS_GOAL), *by_judge]


def _is_about(judgment: Judgment, owner: str, item: int, after: int) -> bool:
    return judgment.criterion.startswith(f"{owner}|goal {item + 1}.") and judgment.criterion.endswith(f"|{after}")


def _who_said(probe: ProbeAnswer, kind: ProbeKind) -> str:
    return _YES_NO[probe.answer] if kind is ProbeKind.OWN_GOAL else f"{probe.asked} {_YES_NO[probe.answer]}"


def _quiz_rows(scenario: Scenario, episode: AgentSenseEpisode) -> Iterator[list[str]]:
    answers = {(p.kind, p.asked, p.item): p for p in episode.probes}
    for character in scenario.characters:
        for item, question in enumerate(character.info_reason_questions):
            found = [answers.get((kind, character.name, item)) for kind in (ProbeKind.BLIND_QUIZ, ProbeKind.QUIZ)]
            marks = [_RIGHT[probe.answer] if probe else "" for probe in found]
            yield [character.name, question.question, question.answer, *marks]
