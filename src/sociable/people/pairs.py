"""The pairs and questions that judges have judged and people can look at."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sociable.core.errors import InputError
from sociable.core.records import Judgment, Verdict
from sociable.engine.result import RunResult
from sociable.engine.study import Judged, ShownPair, ShownQuestion
from sociable.judging.pairwise import PairJudgment
from sociable.judging.panel import decide_panel


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """A pair, or a question, on which all judges of the panel have given their opinion."""

    episode: Any
    criterion: str
    stage: str
    verdict: Verdict
    """The panel's."""
    by_judge: Mapping[str, Verdict]

    is_disputed: bool = False
    """Whether judges gave different verdicts, or one of them another verdict when the sides were swapped."""

    @property
    def names(self) -> tuple[str, str]:
        return self.episode.id, self.criterion

    @property
    def stratum(self) -> str:
        return f"{self.stage}: {self.verdict}{', disputed' if self.is_disputed else ''}"


def find_shown_item(run: RunResult, episode: Any, criterion: str) -> ShownPair | ShownQuestion | None:
    """The pair, or question, that judges judged, as a person reads it; None where there is nothing to be shown."""
    return run.study.show(episode, criterion, run.find_reference(episode.scenario)) if isinstance(run.study, Judged) else None


def list_judged_pairs(run: RunResult, panel: Sequence[str] = ()) -> Iterator[JudgedPair]:
    """Every pair that a panel has judged in full; by default the current one."""
    if not isinstance(run.study, Judged):
        return
    judges = set(panel) or {seat.name for seat in run.seats.judges}
    given: dict[tuple[str, str], list[Judgment]] = defaultdict(list)
    for judgment in run.judgments():
        if judgment.judge in judges:
            given[judgment.episode, judgment.criterion].append(judgment)
    for episode in run.records.episodes:
        for criterion in filter(run.study.is_shown, run.study.list_criteria(episode)):
            judgments = given[episode.id, criterion]
            by_judge = {judgment.judge: judgment.verdict for judgment in judgments}
            if judges and judges <= by_judge.keys():
                swapped = any(isinstance(each, PairJudgment) and each.orders_disagree for each in judgments)
                disputed = swapped or len(set(by_judge.values())) > 1
                stage, verdict = run.study.find_stage(criterion), decide_panel(judgments)[0]
                yield JudgedPair(episode, criterion, stage, verdict, by_judge, disputed)


def list_strata(run: RunResult, panel: Sequence[str] = ()) -> dict[str, list[JudgedPair]]:
    """The judged pairs that can be shown to people, by the group that they are drawn from. Raises InputError without any."""
    strata: dict[str, list[JudgedPair]] = defaultdict(list)
    for pair in list_judged_pairs(run, panel):
        if find_shown_item(run, pair.episode, pair.criterion):
            strata[pair.stratum].append(pair)
    if not strata:
        if not (isinstance(run.study, Judged) and run.study.win_rates):
            raise InputError(f"What judges do in {run.manifest['benchmark']} cannot be put on a sheet.")
        raise InputError(f"{run.folder} holds no judged pair that could be shown. Have it judged first.")
    return dict(sorted(strata.items()))
