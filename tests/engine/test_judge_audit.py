"""Audits of judges: what is asked, what is kept, what the cards say and where they are shown."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sociable.api import judges, people, reports, results, runs
from sociable.cli.main import main
from sociable.core.errors import InputError, RunFolderError
from sociable.core.records import Verdict
from sociable.core.view import Callout, Document, Table
from sociable.engine.judge_asking import reverse_list
from sociable.judging.auditing.card import JudgeCard
from sociable.render.html import render_html

JUDGE = """
import json

calls = []

def {name}(messages):
    calls.append(messages)
    with open({log!r}, "a") as file:
        file.write("x")
    {body}
"""
YES = 'return json.dumps({"reason": "", "matches": [[1, "A"]]})'
AUDIT: dict[str, Any] = {"benchmark": "anteval-iep", "known": 5}


@pytest.fixture
def make_judge(tmp_path: Path) -> Callable[..., str]:
    """Writes a judge as a function, and returns its name. Its calls are counted in a file."""

    def make(body: str = YES, name: str = "judge") -> str:
        file, log = tmp_path / f"{name}.py", tmp_path / f"{name}.log"
        file.write_text(JUDGE.format(name=name, log=str(log), body=body))
        return f"python:{file}:{name}"

    return make


def count_calls(tmp_path: Path, name: str = "judge") -> int:
    log = tmp_path / f"{name}.log"
    return len(log.read_text()) if log.exists() else 0


def test_an_audit_makes_a_card_a_page_and_as_many_calls_as_it_said(make_judge: Callable[..., str], tmp_path: Path) -> None:
    judge = make_judge()
    asked = judges.make_audit_settings(judges=[judge], **AUDIT)
    estimate = judges.estimate_audit(asked).summary.rows[0].cells
    assert count_calls(tmp_path) == 0
    (card,) = judges.run_audit(asked, tmp_path / "audit")
    assert estimate[2] == f"{count_calls(tmp_path):,}" == f"{card.usage.calls:,}"
    assert {"audit.json", "calls.sqlite", "answers.jsonl", "judge-card.json", "report.html"} <= {
        path.name for path in (tmp_path / "audit").iterdir()
    }
    (kind,) = card.kinds
    assert (kind.kind, kind.unread, kind.missing) == ("key point", 0, 0)
    assert JudgeCard.model_validate_json((tmp_path / "audit" / "judge-card.json").read_bytes()) == card
    assert "key point" in (tmp_path / "audit" / "report.html").read_text()


def test_what_was_asked_is_not_asked_again(make_judge: Callable[..., str], tmp_path: Path) -> None:
    failing = 'if len(calls) > 40: raise ValueError("down")\n    ' + YES
    judge = make_judge(failing)
    (card,) = judges.audit_judges(judges=[judge], out=tmp_path / "audit", **AUDIT)
    (kind,) = card.kinds
    # One call was for the plan, which looks whether the prompt has criteria that could stand in another order.
    assert 0 < kind.asked <= 40 and kind.missing > 0
    assert "down" in kind.causes[0]
    page = (tmp_path / "audit" / "report.html").read_text()
    assert f"{kind.missing} things could not be asked" in page
    before = count_calls(tmp_path)
    make_judge()
    (card,) = judges.resume_audit(tmp_path / "audit")
    assert (card.kinds[0].asked, card.kinds[0].missing) == (kind.asked + kind.missing, 0)
    assert count_calls(tmp_path) - before == kind.missing
    # Once more costs nothing at all.
    before = count_calls(tmp_path)
    assert judges.audit_judges(judges=[judge], out=tmp_path / "audit", **AUDIT) == [card]
    assert count_calls(tmp_path) == before


def test_of_a_judge_who_says_nothing_readable_the_card_says_so(make_judge: Callable[..., str], tmp_path: Path) -> None:
    (card,) = judges.audit_judges(judges=[make_judge('return "I would rather not say."')], out=tmp_path / "audit", **AUDIT)
    (kind,) = card.kinds
    assert kind.unread == kind.asked > 0
    assert kind.findings == kind.by_damage == ()
    document = judges.report_cards(tmp_path / "audit")
    assert document.summary.rows[0].cells[1] == "nothing readable"
    assert "no number can be made of them" in (tmp_path / "audit" / "report.html").read_text()


def test_several_judges_have_a_card_each(make_judge: Callable[..., str], tmp_path: Path) -> None:
    names = ["reference/rule", make_judge()]
    cards = judges.audit_judges(judges=names, out=tmp_path / "audit", **AUDIT)
    assert [card.judge for card in cards] == names
    assert {card.judge for card in judges.load_cards(tmp_path / "audit")} == set(names)
    assert cards[0].sampling is None and cards[1].sampling == {
        "temperature": 0.0,
        "max_tokens": 1024,
        "top_p": None,
        "seed": None,
    }


def test_a_card_stands_beside_what_its_judge_judged(make_judge: Callable[..., str], tmp_path: Path) -> None:
    settings: dict[str, Any] = {"limit": 3, "judges": ["reference/rule"]}
    result = runs.run("anteval-iep", "reference/oracle", out=tmp_path / "run", **settings)

    def read(document: Document) -> str:
        (section,) = (section for section in document.sections if section.title == "Judges")
        texts = [
            block.text if isinstance(block, Callout) else block.caption
            for block in section.blocks
            if isinstance(block, Callout | Table)
        ]
        return f"{document.summary.note} {texts}"

    before = read(reports.make_report_document(result))
    assert "Judged by reference/rule (not audited)." in before
    assert "sociable audit-judge anteval-iep --judge reference/rule" in before
    judges.audit_judges("anteval-iep", ["reference/rule"], known=20, out=tmp_path / "audit")
    after = read(reports.make_report_document(result))
    assert "Judged by reference/rule (key point: right in " in after and "not audited" not in after
    (table,) = (
        block
        for section in reports.make_report_document(result).sections
        if section.title == "Judges"
        for block in section.blocks
        if isinstance(block, Table)
    )
    assert table.rows[0].cells[:2] == ["reference/rule", "key point"]
    # Another benchmark's card, and one that is damaged, are none.
    card = json.loads((tmp_path / "audit" / "judge-card.json").read_text())
    (tmp_path / "audit" / "judge-card.json").write_text(json.dumps(card | {"version": "0.0.1"}))
    assert "not audited" in read(reports.make_report_document(result))
    (tmp_path / "audit" / "judge-card.json").write_text('{"format": 1}')
    assert "not audited" in read(reports.make_report_document(result))


def test_a_judge_is_asked_about_what_people_judged_on_the_sheets_of_a_run(tmp_path: Path) -> None:
    options = {"stages": [1, 2, 3]}
    runs.run("hsii", "reference/better", out=tmp_path / "run", limit=6, judges=["reference/rule"], options=options)
    count = people.export_sheet(tmp_path / "run", 12, tmp_path / "sheet.csv")
    with (tmp_path / "sheet.csv").open(encoding="utf-8-sig", newline="") as sheet:
        rows = list(csv.DictReader(sheet))
    with (tmp_path / "ada.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(row | {"verdict": "0"} for row in rows)
    with pytest.raises(InputError, match=r"holds no verdicts of people. Give their sheets back first"):
        judges.audit_judges("hsii", ["reference/rule"], corrections=[tmp_path / "run"], out=tmp_path / "a")
    people.add_corrections(tmp_path / "run", [tmp_path / "ada.csv"])
    ties = sum(judgment.verdict is Verdict.TIE for judgment in results.load_result(tmp_path / "run").judgments())
    (card,) = judges.audit_judges(
        "hsii", ["reference/rule"], kinds=["first utterance"], known=40, corrections=[tmp_path / "run"], out=tmp_path / "a"
    )
    (beside,) = card.people
    assert (beside.items, beside.people, beside.unread) == (count, 1, 0)
    assert beside.agreement is not None and beside.agreement.value is not None
    assert 0 < beside.agreement.value <= ties
    assert "on sheets of run" in render_html(judges.report_cards(tmp_path / "a"))


def test_only_whoever_is_kinder_to_its_own_family_than_others_are_has_that_fault(
    tmp_path: Path, make_judge: Callable[..., str]
) -> None:
    options = {"stages": [1, 2, 3]}
    for name in ("brief", "oracle"):
        runs.run("hsii", f"reference/{name}", out=tmp_path / name, limit=12, judges=["reference/rule"], options=options)

    def audit(judge: str, out: str) -> bool:
        families = {"same_family": tmp_path / "brief", "other_family": tmp_path / "oracle"}
        (card,) = judges.audit_judges("hsii", [judge], kinds=["first utterance"], known=40, out=tmp_path / out, **families)
        (kind,) = (kind for kind in card.kinds if kind.kind.endswith("own family"))
        finding = kind.find("own family")
        assert finding is not None
        return finding.lit

    first = 'return json.dumps({"reason": "", "verdict": 1})'
    ours = json.dumps([turn.content for episode in results.load_result(tmp_path / "brief").episodes() for turn in episode.turns])
    kind = (
        f"ours = json.loads({ours!r})\n"
        "    sides = [' '.join(part.replace('| ', '').split()) for part in messages[-1]['content'].split('Response 2:')]\n"
        "    first, second = (any(' '.join(each.split())[:60] in side for each in ours) for side in sides)\n"
        "    return json.dumps({'reason': '', 'verdict': 1 if first > second else 2 if second > first else 0})"
    )
    assert audit(make_judge(kind, "kind"), "a")
    assert not audit(make_judge(first, "first"), "b"), "a judge that always says the first is kind to nobody"
    with pytest.raises(InputError, match=r"must have been judged by others than those who are audited"):
        audit("reference/rule", "c")
    with pytest.raises(InputError, match=r"--same-family and --other-family go together"):
        judges.make_audit_settings("hsii", ["reference/rule"], same_family=tmp_path / "brief")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"judges": []}, r"Name at least one judge with --judge MODEL"),
        ({"judges": ["reference/rule", "reference/rule"]}, r"A judge is named twice"),
        ({"judges": ["reference/longest"]}, r"'reference/longest' cannot be the judge; .*reference/longer"),
        ({"judges": ["reference/rule"], "kinds": ["goal"]}, r"anteval-iep has no kind of judging 'goal'; it has: key point"),
        (
            {"judges": ["reference/rule"], "languages": ["Welsh"]},
            r"Nothing is written in 'Welsh'; there are: German, Spanish, Chinese",
        ),
        ({"judges": ["reference/rule"], "known": 0}, r"--known takes a number of at least 1"),
        (
            {"judges": ["reference/rule"], "benchmark": "hsii-live"},
            r"hsii-live has no known answers by which a judge could be audited",
        ),
        ({"judges": ["reference/rule"], "people": ["nowhere.json"]}, r"nowhere.json: no such file"),
    ],
)
def test_wrong_settings_are_refused_before_anything_is_written(settings: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        judges.audit_judges(**{**AUDIT, **settings}, out=tmp_path / "audit")
    assert not (tmp_path / "audit").exists()


def test_a_folder_with_another_audit_or_a_run_is_left_alone(tmp_path: Path) -> None:
    judges.audit_judges(judges=["reference/rule"], out=tmp_path / "audit", **AUDIT)
    with pytest.raises(InputError, match=r"holds an audit with other known"):
        judges.audit_judges("anteval-iep", ["reference/rule"], known=6, out=tmp_path / "audit")
    with pytest.raises(InputError, match=r"holds an audit with other settings \(seed\)"):
        judges.audit_judges(judges=["reference/rule"], out=tmp_path / "audit", seed=3, **AUDIT)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "manifest.json").write_text("{}")
    with pytest.raises(InputError, match=r"holds a run. Choose another --out"):
        judges.audit_judges(judges=["reference/rule"], out=tmp_path / "run", **AUDIT)
    (tmp_path / "audit" / "audit.json").write_text("{")
    with pytest.raises(RunFolderError, match=r"audit.json cannot be read"):
        judges.resume_audit(tmp_path / "audit")


def test_languages_are_asked_where_they_are_written(tmp_path: Path) -> None:
    (card,) = judges.audit_judges(judges=["reference/rule"], languages=["German"], out=tmp_path / "audit", **AUDIT)
    found = card.kinds[0].find("in German")
    assert found is not None and found.bias == "language" and found.items == 12


def test_the_criteria_of_a_prompt_are_reversed_and_what_is_quoted_is_not() -> None:
    text = "Criteria:\n- first\n- second\n- third\n\n| - quoted one\n| - quoted two"
    assert reverse_list(text) == "Criteria:\n- third\n- second\n- first\n\n| - quoted one\n| - quoted two"
    assert reverse_list("none") == "none"


def test_the_command_line_audits_resumes_and_reports(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    def sociable(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr("sys.argv", ["sociable", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        shown = capsys.readouterr()
        return int(ended.value.code or 0), shown.out + shown.err

    audit = ("audit-judge", "anteval-iep", "--judge", "reference/rule@0.2", "--known", "20", "--out", "audit")
    code, shown = sociable(*audit)
    assert code == 0 and "What judges are worth" in shown and "key point" in shown and "Report: audit/report.html" in shown
    assert sociable("resume", "audit")[0] == 0
    code, shown = sociable("report", "audit", "--out", "page.html")
    assert code == 0 and (tmp_path / "page.html").exists()
    code, shown = sociable(*audit[:-1], "other", "--estimate")
    assert code == 0 and "Calls and tokens" in shown and not (tmp_path / "other").exists()
    Path("down.py").write_text("def down(messages):\n    raise ValueError('\\x1b[31mdown')\n")
    code, shown = sociable("audit-judge", "anteval-iep", "--judge", "python:down.py:down", "--known", "2", "--out", "failed")
    assert code == 3 and "things could not be asked" in shown and "down" in shown and "\x1b[31m" not in shown
    code, shown = sociable("audit-judge", "anteval-iep")
    assert code == 2 and "Name at least one judge" in shown


def test_whoever_judges_by_rule_is_said_to_whatever_its_defect(tmp_path: Path) -> None:
    result = runs.run("anteval-iep", "reference/oracle", out=tmp_path / "run", limit=2, judges=["reference/longer@0.1"])
    assert any(note.startswith("Judged by reference/longer@0.1, which looks for wordings") for note in result.notes)
