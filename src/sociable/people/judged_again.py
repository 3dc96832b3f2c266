"""What people have judged on the sheets of a run, as another judge can be asked about it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sociable.core.errors import InputError
from sociable.core.people_files import PeopleFiles, SheetItem
from sociable.core.records import Judgment, Verdict
from sociable.engine.judge_people import FamilyKind, PeopleKind
from sociable.engine.result import RunResult
from sociable.engine.seats import Seat
from sociable.engine.study import Judged, JudgingTask, ShownPair
from sociable.judging.auditing.known_answers import KnownAnswer, Said
from sociable.people.pairs import find_shown_item, list_judged_pairs


class CheckedItems(PeopleKind):
    """The items of one stage on which people gave verdicts, asked about as in the run."""

    is_pair = True

    def __init__(self, run: RunResult, stage: str, items: dict[str, SheetItem], labels: dict[str, tuple[Verdict, ...]]) -> None:
        super().__init__(f"{stage}, on sheets of {Path(run.folder).name}", "sheets of a run")
        self._run, self._items, self.labels = run, items, labels
        # Whether two sides are shown together differs from stage to stage, not from item to item.
        self.has_sides = not next(iter(items.values())).question  # type: ignore[misc]

    def list_known(self) -> list[KnownAnswer]:
        known = []
        for name, item in self._items.items():
            ((verdict, count),) = Counter(self.labels[name]).most_common(1)
            if 2 * count <= len(self.labels[name]) or verdict is Verdict.UNSCORED:
                continue
            shown = find_shown_item(self._run, self._run.records.episodes.read(item.episode), item.criterion)
            if shown is None:
                continue
            texts = (shown.subject, shown.golden) if isinstance(shown, ShownPair) else (shown.conversation,)
            sides = [(Said(speaker="the subject", content=text.strip() or "(nothing)"),) for text in texts]
            cluster = self._run.study.find_cluster(item.scenario)
            known.append(
                KnownAnswer(
                    id=name,
                    kind=self.name,
                    scenario=name,
                    cluster=cluster,
                    speaker="the subject",
                    subject=sides[0],
                    golden=sides[1] if len(sides) > 1 else (),
                    truth=verdict,
                )
            )
        return known

    async def judge(self, known: KnownAnswer, seat: Seat, name: str) -> Judgment:
        item = self._items[known.scenario]
        return await _judge_again(self._run, self._run.records.episodes.read(item.episode), item.criterion, seat)


def list_checked_items(run: RunResult) -> list[PeopleKind]:
    """What people have judged on the sheets of a run, a kind for each stage. Raises InputError where it is nothing."""
    with PeopleFiles(Path(run.folder)) as people:
        given: dict[str, list[Verdict]] = defaultdict(list)
        for verdict in people.verdicts:
            given[verdict.item].append(verdict.verdict)
        stages: dict[str, dict[str, SheetItem]] = defaultdict(dict)
        for item in people.sheets:
            if item.id in given:
                stages[item.counted_as][item.id] = item
    if not stages:
        remedy = f"sociable judge {run.folder} --corrections FILE"
        raise InputError(f"{run.folder} holds no verdicts of people. Give their sheets back first: {remedy}")
    return [CheckedItems(run, stage, items, {name: tuple(given[name]) for name in items}) for stage, items in stages.items()]


class OwnFamily(FamilyKind):
    """Two runs that other judges have judged, one of a model of the judge's own family: is it kinder to that one?

    Asked about are the items on which the others gave both runs the same verdict: a judge that merely sees less, or more, than
    they do is kinder to neither.
    """

    def __init__(self, own: RunResult, other: RunResult, stage: str) -> None:
        self.name = f"{stage}, own family"  # type: ignore[misc]
        self._runs = {"own": own, "other": other}
        self._judged = {
            side: {f"{pair.episode.id}|{pair.criterion}": pair for pair in list_judged_pairs(run) if pair.stage == stage}
            for side, run in self._runs.items()
        }

    def list_both(self) -> list[tuple[KnownAnswer, KnownAnswer]]:
        own, other = self._judged["own"], self._judged["other"]
        both = [name for name in own if name in other and own[name].verdict is other[name].verdict]
        made = [(self._make("own", name), self._make("other", name)) for name in both]
        return [(one, other) for one, other in made if one is not None and other is not None]

    def _make(self, side: str, name: str) -> KnownAnswer | None:
        pair, run = self._judged[side][name], self._runs[side]
        if pair.verdict is Verdict.UNSCORED:
            return None
        return KnownAnswer(
            id=f"{side}/{name}",
            kind=self.name,
            scenario=pair.episode.scenario,
            cluster=run.study.find_cluster(pair.episode.scenario),
            speaker="the subject",
            subject=(Said(speaker="the subject", content=name),),
            truth=pair.verdict,
        )

    async def judge(self, known: KnownAnswer, seat: Seat, name: str) -> Judgment:
        side, _, item = known.id.partition("/")
        return await _judge_again(self._runs[side], self._judged[side][item].episode, self._judged[side][item].criterion, seat)


async def _judge_again(run: RunResult, episode: Any, criterion: str, seat: Seat) -> Judgment:
    assert isinstance(run.study, Judged)
    task = JudgingTask(episode.id, episode.scenario, criterion, seat)
    return await run.study.judge(task, episode, run.find_reference(episode.scenario))


def list_own_family(own: RunResult, other: RunResult, judges: Sequence[str]) -> list[OwnFamily]:
    """A kind for each stage that both runs have judged. Raises InputError where the runs do not fit."""
    panel = {seat.name for seat in own.seats.judges}
    if not panel or panel & set(judges):
        raise InputError(
            f"{own.folder} must have been judged by others than those who are audited: sociable judge {own.folder} --judge OTHER"
        )
    stages = dict.fromkeys(pair.stage for pair in list_judged_pairs(own))
    kinds = [kind for stage in stages if (kind := OwnFamily(own, other, stage)).list_both()]
    if not kinds:
        raise InputError(f"{own.folder} and {other.folder} have no case in common of which their judges thought the same.")
    return kinds
