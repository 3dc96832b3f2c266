"""Scenes as a reader of a report sees them: what was said, what each hid and wanted, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sociable.benchmarks.agentsense.briefing import as_shown
from sociable.benchmarks.agentsense.records import PARTNER, AgentSenseEpisode, ProbeAnswer, ProbeKind, goal_criterion
from sociable.benchmarks.agentsense.scenario import Character, Scenario
from sociable.benchmarks.agentsense.study import AgentSenseStudy
from sociable.core.records import EpisodeStatus, Judgment, Verdict
from sociable.core.view import MISSING, Block, Callout, Column, Paragraph, Row, Table, Tag, Tone
from sociable.core.view import Case as CaseView
from sociable.engine.result import RunResult

SCENES_SHOWN = 5
"""Scenes of the best, and of the worst, that a report shows."""


def list_scenes(run: RunResult[AgentSenseStudy]) -> Iterator[Block]:
    """The scenes in which the fewest goals were reached, and those with the most."""
    metric = "majority" if run.estimate("majority") else "self"
    values = {(s.scenario, s.repeat): s.value for s in run.scores if s.metric == metric}
    done = [episode for episode in run.episodes() if episode.status is EpisodeStatus.COMPLETED]
    ranked = sorted(done, key=lambda episode: values.get((episode.scenario, episode.repeat)) or 0.0)
    best = ranked[SCENES_SHOWN:][-SCENES_SHOWN:][::-1]
    for heading, episodes in (("Fewest", ranked[:SCENES_SHOWN]), ("Most", best)):
        if episodes:
            yield Paragraph(f"{heading} goals reached ({metric}). Any other: sociable show {run.folder} EPISODE.")
            yield from (scene_view(run, episode) for episode in episodes)


def scene_view(run: RunResult[AgentSenseStudy], episode: AgentSenseEpisode) -> CaseView:
    """One scene, turn by turn, each participant's private view in its own column, then what came of it."""
    scenario = run.study.scenarios[episode.scenario]
    tags = [Tag(str(scenario.domain))] if scenario.domain else []
    tags.append(Tag(f"{len(scenario.characters)} participants"))
    own = (s for s in run.scores if (s.scenario, s.repeat, s.metric) == (episode.scenario, episode.repeat, "majority"))
    value = next((score.value for score in own), None)
    if value is not None:
        tags.append(Tag(f"goals {value:.2f}", Tone.GOOD if value > 0.5 else Tone.BAD))
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
    judges = list(dict.fromkeys(judgment.judge for judgment in judgments))
    if goals := list(_goal_rows(scenario, episode, judgments, judges)):
        columns = [Column("Goal of"), Column("Goal"), Column("Self"), Column("Others"), *(Column(judge) for judge in judges)]
        yield Table("Were the goals reached?", columns, goals)
    if quiz := list(_quiz_rows(scenario, episode)):
        columns = [Column("Asked"), Column("Question"), Column("Answer"), Column("before"), Column("after")]
        yield Table("The quiz on the others' secrets", columns, quiz, "✓ right, ✗ wrong, — no answer")


def _turns_table(scenario: Scenario, episode: AgentSenseEpisode) -> Table:
    """The turns in a column for each character, below what nobody else knows."""

    def private(character: Character) -> list[str]:
        goals = "\n".join(f"• {goal.goal}" for goal in character.goals) or "(no goal)"
        return [character.profile or MISSING, goals, character.private_info or "(no secret)"]

    names = [character.name for character in scenario.characters]
    titles = [f"{name} ({episode.played_by[name]})" if PARTNER in episode.played_by.values() else name for name in names]
    known = zip(*map(private, scenario.characters), strict=True)
    rows = [Row([label, *texts]) for label, texts in zip(("profile", "wants", "hides"), known, strict=True)]
    for turn in episode.turns:
        said = f"{as_shown(turn) or '(says nothing)'}{f' [{turn.note}]' if turn.note else ''}"
        rows.append(Row([str(turn.index), *(said if name == turn.speaker else "" for name in names)]))
    return Table("The scene", [Column("Turn"), *map(Column, titles)], rows, "Turn 0 is the greeting.")


_YES_NO: Mapping[bool | None, str] = {True: "yes", False: "no", None: MISSING}
_RIGHT: Mapping[bool | None, str] = {True: "✓", False: "✗", None: MISSING}
_VERDICT = {Verdict.WIN: "yes", Verdict.LOSS: "no"}


def _goal_rows(
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
            asked = {goal_criterion(owner.name, item, wording, end) for wording, _ in enumerate(goal.eval_questions.judge or ())}
            about = [judgment for judgment in judgments if judgment.criterion in asked]
            by_judge = ["; ".join(_say(judgment) for judgment in about if judgment.judge == judge) for judge in judges]
            said = [", ".join(_YES_NO[each.answer] for each in own), ", ".join(map(_say_of_other, others))]
            yield Row([owner.name, goal.goal, *(text or MISSING for text in said), *by_judge])


def _say(judgment: Judgment) -> str:
    return f"{_VERDICT.get(judgment.verdict, MISSING)}: {judgment.reason}".removesuffix(": ")


def _say_of_other(answer: ProbeAnswer) -> str:
    return f"{answer.asked} {_YES_NO[answer.answer]}"


def _quiz_rows(scenario: Scenario, episode: AgentSenseEpisode) -> Iterator[Row]:
    for character in scenario.characters:
        for item, question in enumerate(character.info_reason_questions):
            found = [episode.answers.get((kind, character.name, item), ()) for kind in (ProbeKind.BLIND_QUIZ, ProbeKind.QUIZ)]
            marks = [_RIGHT[answers[-1].answer] if answers else "" for answers in found]
            yield Row([character.name, question.question, question.answer, *marks])
