"""Several judges, one verdict.

The panel's verdict is the one that more than half of the judges who gave a verdict share; without such a majority it
is a tie (so two judges who contradict each other tie). A judge without a verdict is a missing panelist: he is left out
as long as more than half of the panel did give one, otherwise the panel's verdict is Unscored.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from sociable.core.records import PANEL, Judgment, Verdict, Verdicts


def decide_panel(judgments: Sequence[Judgment]) -> tuple[Verdict, str]:
    """(the panel's verdict, why where it needs saying) from one judgment a judge. Order does not matter."""
    given = [judgment.verdict for judgment in judgments if judgment.verdict is not Verdict.UNSCORED]
    missing = [judgment for judgment in judgments if judgment.verdict is Verdict.UNSCORED]
    if 2 * len(given) <= len(judgments):
        reasons = "; ".join(sorted(judgment.reason for judgment in missing))
        return Verdict.UNSCORED, reasons or "no judge"
    note = f"{len(missing)} of {len(judgments)} judges gave no verdict" if missing else ""
    verdict, count = Counter(given).most_common(1)[0]
    return (verdict, note) if 2 * count > len(given) else (Verdict.TIE, note)


def add_panel(judgments: Iterable[Judgment], panel: Sequence[str]) -> Verdicts:
    """Every judge's verdict, and under ``PANEL`` the panel's on each criterion that all its judges have judged."""
    by_criterion: dict[str, dict[str, Judgment]] = defaultdict(dict)
    for judgment in judgments:
        by_criterion[judgment.criterion][judgment.judge] = judgment
    verdicts = {
        (each.criterion, each.judge): (each.verdict, each.reason) for given in by_criterion.values() for each in given.values()
    }
    for criterion, given in by_criterion.items():
        if all(judge in given for judge in panel):
            verdicts[criterion, PANEL] = decide_panel([given[judge] for judge in panel])
    return verdicts
