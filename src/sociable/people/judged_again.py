"""What people have judged on the sheets of a run, as another judge can be asked about it."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

from sociable.core.errors import InputError
from sociable.core.records import Judgment, Verdict
from sociable.engine.judge_people import PeopleKind
from sociable.engine.result import RunResult
from sociable.engine.seats import Seat
from sociable.engine.study import Judged, JudgingTask, ShownPair
from sociable.judging.auditing.known_answers import KnownAnswer, Said
from sociable.people.sheets import PeopleFiles, SheetItem, find_shown_item


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
        item, study = self._items[known.scenario], self._run.study
        assert isinstance(study, Judged)
        episode = self._run.records.episodes.read(item.episode)
        task = JudgingTask(episode.id, episode.scenario, item.criterion, seat)
        return await study.judge(task, episode, self._run.find_reference(episode.scenario))


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
