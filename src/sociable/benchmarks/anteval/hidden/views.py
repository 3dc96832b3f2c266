"""Hidden profiles' part of a report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sociable.benchmarks.anteval.hidden.metrics import Played
from sociable.benchmarks.anteval.hidden.records import HiddenEpisode, HiddenTurn
from sociable.benchmarks.anteval.hidden.solver import find_needed
from sociable.benchmarks.anteval.hidden.study import HiddenStudy
from sociable.core.records import EpisodeStatus
from sociable.core.view import (
    MISSING,
    Block,
    Callout,
    Case,
    Column,
    Line,
    Paragraph,
    Row,
    Section,
    Table,
    Tag,
    Tone,
    Transcript,
)
from sociable.engine.result import RunResult
from sociable.reports.result_tables import list_members, make_metrics_table
from sociable.reports.views import Views

Run = RunResult[HiddenStudy]


class HiddenViews(Views):
    def show_summary(self, runs: Sequence[Run]) -> Table:
        note = (
            "Right: the option that follows from all clues together. Informed: what the same model decides with all clues in "
            "view. 95% intervals by case."
        )
        return make_metrics_table(self.benchmark.title, runs, runs[0].study.metrics.select_groups("main"), note)

    def show_parts(self, runs: Sequence[Run]) -> list[Section]:
        metrics = runs[0].study.metrics
        levels = make_metrics_table(
            "By level", runs, list_members(metrics.select_groups("levels"), runs), "95% intervals by case."
        )
        talk = make_metrics_table(
            "The talk", runs, metrics.select_groups("talk"), f"95% intervals by case. {_tell_readers(runs)}"
        )
        return [Section("Levels and talk", [levels, talk])]

    def show_episode(self, run: Run, episode: HiddenEpisode) -> list[Block]:
        """One episode in full: who said what, who knew which needed clue, and how each decided."""
        if episode.status is EpisodeStatus.ERRORED:
            return list(super().show_episode(run, episode))
        played = run.study.make_played(episode, run.find_judgments(episode), [seat.name for seat in run.seats.judges])
        right = sum(episode.after.get(name) == played.best for name in played.members)
        tags = [Tag(str(played.scenario.level)), Tag(f"{right} of {len(played.members)} right")]
        return [Case(episode.id, tags, list(_show_played(played)))]


def _show_hearers(turn: HiddenTurn) -> str:
    if turn.addressees:
        return f"{turn.addressees[0]} alone" if turn.heard_by else f"{turn.addressees[0]}, out of earshot"
    return ", ".join(turn.heard_by)


def _tell_readers(runs: Sequence[Run]) -> str:
    """Who reads which clues are told, run by run where it is not the same in all."""
    by_judges, by_rule = ([run.label for run in runs if bool(run.seats.judges) is judged] for judged in (True, False))
    if not by_judges:
        return "Which clues a turn tells is read by a rule, which finds too few in a model's turns; claims need a judge."
    but = f", but for {', '.join(by_rule)} a rule, which finds too few in a model's turns" if by_rule else ""
    return f"Which clues a turn tells is what the judges say{but}."


def _show_played(played: Played) -> Iterator[Paragraph | Callout | Transcript | Table]:
    scenario, episode = played.scenario, played.episode
    words = {option.id: option.text for option in scenario.case.options}
    if episode.partner_failure:
        yield Callout(episode.partner_failure, Tone.WARNING)
    if played.told.problem:
        yield Callout(played.told.problem, Tone.WARNING)
    yield Paragraph(scenario.case.setting)
    yield Paragraph(f"{scenario.case.question} Right: {words[played.best]}.")
    if scenario.dissenter:
        yield Paragraph(f"{scenario.dissenter} wants another outcome: {words[scenario.wanted]}.")
    lines = []
    for turn in episode.turns:
        lean = f" (leans to: {words[turn.lean]})" if turn.lean else ""
        said = turn.content or ("(nothing)" if turn.note else "(passes)")
        note = f" [{turn.note}]" if turn.note else ""
        lines.append(Line(turn.speaker, _show_hearers(turn), f"[{turn.round}] {said}{lean}{note}"))
    yield Transcript("What was said", lines)
    needed = []
    rests_on = find_needed(scenario)
    for clue in rests_on:
        told = next((turn for turn in episode.turns if clue.id in played.list_told(turn)), None)
        when = f"{told.speaker}, round {told.round}" if told else "nobody"
        needed.append(Row([clue.text, ", ".join(clue.to) or "everybody", when]))
    reader = "as the judges read it" if played.told.is_judged else "as far as the rule reads it"
    columns = [Column("Clue"), Column("Known to"), Column("First told by", explanation=reader)]
    yield Table("What the answer rests on", columns, needed)
    decided = []
    for name in scenario.case.names:
        before, after = (words.get(chosen.get(name, ""), MISSING) for chosen in (episode.before, episode.after))
        known = sum(clue.id in played.list_known(name) for clue in rests_on)
        decided.append(Row([name, before, after, f"{known} of {len(rests_on)}"]))
    decided.append(Row(["With all clues in view", MISSING, words.get(episode.informed, MISSING), MISSING]))
    columns = [Column("Member"), Column("Before"), Column("After")]
    columns.append(Column("Knew", explanation="of the clues that the answer rests on, those that it had or was told"))
    yield Table("How each decided", columns, decided)
