"""The panel's rule on verdicts nobody here made up: 999 pairs, each judged by three people."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from sociable.core.records import Judgment, Verdict
from sociable.judging.panel import decide_panel

PAIRS = Path(__file__).parents[3] / "shared" / "data" / "judge_pandalm" / "testset-v1.json"
VERDICTS = {0: Verdict.TIE, 1: Verdict.WIN, 2: Verdict.LOSS}


@pytest.mark.skipif(not PAIRS.exists(), reason="the pairs judged by people are not beside the project")
def test_three_peoples_majority_or_a_tie() -> None:
    labelled = [[pair[f"annotator{number}"] for number in (1, 2, 3)] for pair in json.loads(PAIRS.read_text(encoding="utf-8"))]
    assert len(labelled) == 999
    found: Counter[Verdict] = Counter()
    for labels in labelled:
        judgments = [
            Judgment(id=str(place), episode="e", scenario="s", criterion="c", judge=str(place), verdict=VERDICTS[label])
            for place, label in enumerate(labels)
        ]
        verdict, note = decide_panel(judgments)
        assert note == ""
        found[verdict] += 1
    # The same counted from the labels themselves: two of three, or nothing in common, which is a tie.
    expected = Counter(VERDICTS[sorted(labels)[1]] if len(set(labels)) < 3 else Verdict.TIE for labels in labelled)
    assert found == expected
    assert min(found.values()) > 50
