"""What is dealt to people: attention checks that look as everything else does."""

from __future__ import annotations

import pytest

from sociable.core.people_files import SheetItem
from sociable.core.records import Verdict
from sociable.engine.registry import find_benchmark
from sociable.engine.study import JudgeAudited, Judged, ShownPair, ShownQuestion
from sociable.people.survey_items import draw_attention_checks

DEALT = [("hsii", 3), ("agentsense", 3), ("anteval-iep", 3), ("stss-conversations", 3)]


@pytest.mark.parametrize(("benchmark", "count"), DEALT)
def test_checks_are_of_the_kinds_that_the_items_are_of(benchmark: str, count: int) -> None:
    study = find_benchmark(benchmark).open()
    assert isinstance(study, Judged) and isinstance(study, JudgeAudited)
    stage = next(iter(study.win_rates))
    pair = benchmark == "hsii"
    item = SheetItem(
        id="i",
        episode="e",
        scenario="s",
        criterion=stage,
        stage=stage,
        subject_first=True,
        stratum="s",
        size=1,
        question=not pair,
    )
    checks = draw_attention_checks(study, [item], count, 0)
    assert len({each.id for each in checks}) == count
    for each in checks:
        assert isinstance(each.shown, ShownPair if pair else ShownQuestion)
        assert each.truth in (Verdict.WIN, Verdict.LOSS)
        assert each.id[0] == "i"
        assert len(each.id) == 17
