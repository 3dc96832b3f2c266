"""The language level as users run it: a server, a limit, the report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sociable.api import datasets, estimation, reports, runs
from sociable.benchmarks.stss.conversations.benchmark import BENCHMARK
from sociable.benchmarks.stss.conversations.study import ConversationStudy
from sociable.benchmarks.stss.conversations.views import _format_share
from sociable.core.errors import InputError
from sociable.core.records import Estimate
from sociable.core.view import Callout, Case, Paragraph, Section, Table
from sociable.render.html import render_html

NAME = "stss-conversations"
OFFLINE: dict[str, Any] = {"partner": "reference/residents", "judges": ("reference/rule",), "limit": 5}


def table(section: Section, caption: str) -> Table:
    (found,) = [block for block in section.blocks if isinstance(block, Table) and block.caption.startswith(caption)]
    return found


def test_a_model_runs_against_a_server_and_is_judged(tmp_path: Path, chat_server: Any) -> None:
    result = runs.run(
        NAME,
        "openai-compatible/social:conversations",
        judges=("openai-compatible/social:judge",),
        base_url=chat_server.url,
        limit=1,
        options={"turns_each": 2, "agent": "generative+tdp"},
        out=tmp_path / "run",
    )
    # The server says prose: words are taken for words, but there is no summary in them, which is the instrument's failure.
    found = {estimate.metric: estimate for estimate in result.estimates}
    assert found["conversation_gcsr_micro"].scored == 12
    assert found["conversation_gcsr_micro"].value not in (None, 0.0, 1.0)
    assert (found["summary_sr_micro"].value, found["summary_sr_micro"].unscored) == (None, 12)
    usage = result.manifest["usage"]
    # In each of 12 scenes two plans, and twice two turns; a summary asked for twice; 2 to 4 conditions.
    assert usage["subject"]["calls"] == 12 * (2 + 2)
    assert usage["partner"]["calls"] == 12 * (2 + 2)
    assert usage["judge"]["calls"] in (24, 36, 48)
    assert any("No partner was named" in note for note in result.notes)
    assert runs.resume(tmp_path / "run").manifest["usage"] == usage


def test_reports_say_that_scenes_were_made_with_reference_residents(tmp_path: Path) -> None:
    result = runs.run(NAME, "reference/oracle@0.5", out=tmp_path / "run", **OFFLINE)
    assert any("60 of 60 scenes were made with reference residents" in note for note in result.notes)
    document = reports.make_report_document([tmp_path / "run"])
    page = render_html(document)
    assert "made with reference residents" in page
    scores, by_type, by_condition = document.sections[:3]
    ours, *published = table(scores, "Conversations and summaries").rows
    assert (len(ours.cells), len(published)) == (9, 8)
    assert published[-1].cells[:3] == ["GPT-4 GA + TDP (paper)", "0.812", "0.748"]
    assert len(table(by_type, "By the conversation").rows) == 5
    assert len(table(by_condition, "Conditions met").rows) == 3 + 3 + 3 + 2 + 4
    *_, scenes, judges = document.sections
    assert judges.title == "Judges"
    case = next(block for block in scenes.blocks if isinstance(block, Case))
    assert "made with reference residents" in [tag.text for tag in case.tags]
    shown = json.dumps([str(block) for block in case.blocks])
    for part in ("begins", "before it", "The conversation", "takes away", "Verdicts", "Frozen from stss-"):
        assert part in shown
    assert datasets.audit(NAME).summary.rows[0].cells[1] == "360"


def test_a_run_that_nobody_judged_says_what_to_do_until_somebody_has(tmp_path: Path) -> None:
    runs.run(NAME, "reference/oracle", out=tmp_path / "run", **(OFFLINE | {"judges": (), "limit": 1}))

    def said() -> str:
        blocks = [block for section in reports.make_report_document([tmp_path / "run"]).sections for block in section.blocks]
        return " ".join(block.text for block in blocks if isinstance(block, Callout))

    assert "Nobody judged" in said()
    assert f"Go on with: sociable judge {tmp_path / 'run'} --judge M" in said()
    runs.judge(tmp_path / "run", ["reference/rule"])
    assert "Nobody judged" not in said()


def test_shares_of_few_scenes_have_their_number_beside_them() -> None:
    share = Estimate(metric="m", value=0.5, scored=4)
    assert _format_share(share) == "0.50 (4)"
    assert _format_share(share.model_copy(update={"scored": 10})) == "0.50"
    assert _format_share(share.model_copy(update={"value": None, "scored": 0})) == "—"


def test_a_scene_that_nobody_judged_is_not_among_those_with_the_fewest_conditions_met(tmp_path: Path) -> None:
    runs.run(NAME, "reference/oracle", out=tmp_path / "run", **(OFFLINE | {"judges": (), "limit": 1}))
    said = [
        block.text
        for block in reports.make_report_document([tmp_path / "run"]).sections[-1].blocks
        if isinstance(block, Paragraph)
    ]
    assert [text.partition(",")[0] for text in said] == ["Not scored"]


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"reference": "reference/oracle"}, "cannot be the reference"),
        ({"options": {"stages": (1,)}}, "has no option 'stages'"),
        ({"partner": "reference/oracle"}, "cannot be the partner"),
        ({"options": {"turns_each": 0}}, "'turns_each' of stss-conversations"),
        ({"options": {"agent": "golem"}}, "no architecture 'golem'"),
        ({"options": {"town": "nowhere.json"}}, "nowhere.json"),
    ],
)
def test_settings_that_cannot_be(tmp_path: Path, settings: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        runs.run(NAME, "reference/oracle", out=tmp_path / "run", **settings)
    assert not (tmp_path / "run").exists()


def test_what_a_run_costs_is_told_before(tmp_path: Path) -> None:
    rows = estimation.estimate(
        NAME, "openai-compatible/m", partner="openai-compatible/p", judges=("openai-compatible/j",), limit=1
    ).summary.rows
    cells = [cell for row in rows for cell in row.cells]
    # Twelve scenes, eight turns each, and a summary.
    assert "96" in cells
    assert str(12 * 9) in cells


def test_a_reader_is_shown_what_judges_judged() -> None:
    study = BENCHMARK.open(limit=1)
    assert isinstance(study, ConversationStudy)
    assert set(study.win_rates) == {study.find_stage(c) for c in ("conversation|invited", "summary|place")}
    assert study.find_cluster(next(iter(study.scenarios))) == next(iter(study.scenarios.values())).template
