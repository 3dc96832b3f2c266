"""The items of a survey, as people are shown them, drawn from a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sociable.core.errors import InputError
from sociable.core.people_files import SheetItem
from sociable.core.records import EpisodeStatus, Verdict, make_episode_id
from sociable.core.seeding import derive_seed, make_generator
from sociable.engine.result import RunResult
from sociable.engine.study import AnyStudy, JudgeAudited, Rated
from sociable.people.sheets import list_low_scores, require_shown
from sociable.people.surveys import NewItem, ShownEpisode, Task

INSTRUCTIONS = {
    Task.RATE: "Read the whole conversation, then say how well the people in it dealt with one another.",
    # AntEval, section 5.4: volunteers summarised their feelings in a single word.
    Task.WORD: "Read the whole conversation, then sum up in one single word what you felt while you read it.",
}
"""The instructions of tasks whose items no judge has judged."""


def show_sheet_items(run: RunResult, items: Sequence[SheetItem]) -> list[NewItem]:
    """The items of a sheet as they are dealt to people."""
    return [NewItem(item.id, require_shown(run, item)) for item in items]


def draw_episodes(run: RunResult, task: Task, count: int, seed: int) -> list[NewItem]:
    """``count`` whole episodes, drawn by seed; for words those that went badly. Raises InputError where there are none."""
    low = {make_episode_id(each.scenario, each.repeat) for each in (list_low_scores(run) if task is Task.WORD else ())}
    readable = [
        each.id
        for each in run.episodes()
        if each.status is EpisodeStatus.COMPLETED and each.turns and (task is Task.RATE or each.id in low)
    ]
    drawn = make_generator(seed, "episodes for people").sample(readable, min(count, len(readable)))
    found = [NewItem(name, _show_episode(run, run.find_episode(name))) for name in drawn]
    if not found:
        raise InputError(f"{run.folder} holds no conversation that people could read for --task {task}.")
    return found


def _show_episode(run: RunResult, episode: Any) -> ShownEpisode:
    rated = run.study.list_rated_participants(episode) if isinstance(run.study, Rated) else {}
    situation = next((each.situation for each in rated.values()), "")
    turns = [(turn.speaker, ", ".join(turn.addressees), turn.content) for turn in episode.turns]
    return ShownEpisode(situation, turns)


def draw_attention_checks(study: AnyStudy, items: Sequence[SheetItem], count: int, seed: int) -> list[NewItem]:
    """``count`` texts written by hand whose right answer is known, of the kinds that ``items`` are of; none is a tie.

    ``study`` holds all scenarios of the data, not only those that were run. Raises InputError where there are too few.
    """
    stages = {item.counted_as for item in items}
    kinds = study.list_judging_kinds() if isinstance(study, JudgeAudited) else ()
    found = [
        NewItem(f"i{derive_seed(seed, 'item', known.id):016x}", shown, known.truth)
        for kind in kinds
        if kind.name in stages
        for known in kind.list_by_hand()
        # Careful readers may prefer one of two that are meant to be as good.
        if known.truth is not Verdict.TIE and (shown := kind.show(known))
    ]
    if count > len(found):
        there = f"there are {len(found)}" if found else "there are none"
        raise InputError(f"--attention-checks {count}: of answers known beforehand that fit these items {there}.")
    return make_generator(seed, "attention checks").sample(found, count)
