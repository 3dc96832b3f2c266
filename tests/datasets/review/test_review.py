"""Review by people: who decides what, what it comes to, and how far they agree."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sociable.api import datasets
from sociable.core.errors import DataError, InputError, RunFolderError
from sociable.core.view import Callout, Table
from sociable.datasets.review.items import (
    ReviewItem,
    State,
    digest_record,
    find_majority,
    fix_field,
    outline,
    parse_fix,
    settle,
    show_json,
)
from sociable.datasets.review.records import (
    AGENTSENSE_TAGS,
    ALL_TAGS,
    HSII_TAGS,
    Choice,
    Decision,
    Group,
    ReviewSettings,
    load_tags,
)
from sociable.datasets.review.results import (
    DECISION,
    apply_review,
    find_labels,
    is_applied_before_last,
    measure_agreement,
    show_status,
)
from sociable.datasets.review.reviewing import Review
from sociable.datasets.review.sheets import Imported, read_review_sheet, write_review_sheet

PANDALM = Path(__file__).resolve().parents[4] / "shared" / "data" / "judge_pandalm" / "testset-v1.json"
KEEP, FIX, DROP = Choice.KEEP, Choice.FIX, Choice.DROP


def a_folder(path: Path, count: int = 6) -> Path:
    path.mkdir(exist_ok=True)
    records = [{"id": f"scene-{n}", "title": f"Title {n}", "cast": [{"role": "DOCTOR", "goal": "ask"}]} for n in range(count)]
    (path / "dataset.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return a_folder(tmp_path / "build")


def decide(review: Review, item: str, reviewer: str, choice: Choice, group: Group = 1, **more: Any) -> None:
    review.add([review.decide(review.items[item], reviewer, group, choice, **more)])


def decide_all(review: Review, item: str, said: str, group: Group = 1) -> None:
    """``said`` is a letter for each reviewer."""
    for number, letter in enumerate(said):
        choice = {"k": KEEP, "f": FIX, "d": DROP}[letter]
        fixed = fix_field(review.items[item], review.items[item].record, "title", "Better") if choice is FIX else None
        decide(review, item, f"{'first' if group == 1 else 'second'}-{number}", choice, group, fixed=fixed)


@pytest.mark.parametrize(
    ("said", "panel", "outcome"),
    [
        ("", 3, None),
        ("k", 3, None),  # one of three
        ("kk", 3, KEEP),  # the third cannot change it
        ("kdk", 3, KEEP),
        ("kfd", 3, None),
        ("kkdd", 3, None),  # four have decided: two are no more than half
        ("kkkd", 3, KEEP),
        ("k", 1, KEEP),
        ("kd", 2, None),
        ("dd", 2, DROP),
    ],
)
def test_majority(said: str, panel: int, outcome: Choice | None) -> None:
    assert find_majority([{"k": KEEP, "f": FIX, "d": DROP}[letter] for letter in said], panel) is outcome


@given(st.lists(st.sampled_from(list(Choice)), max_size=7), st.integers(1, 5), st.randoms())
def test_order_does_not_matter_and_one_more_vote_never_turns_a_majority_around(
    choices: list[Choice], panel: int, random: Any
) -> None:
    found = find_majority(choices, panel)
    shuffled = random.sample(choices, len(choices))
    assert find_majority(shuffled, panel) is found
    if found:
        assert find_majority([*choices, found], panel) is found


ITEM = ReviewItem(id="a", record={"id": "a", "title": "t"}, digest=digest_record({"id": "a", "title": "t"}))


def said(reviewer: str, choice: Choice, group: Group = 1, title: str | None = None) -> Decision:
    fixed = {"id": "a", "title": title} if title else None
    return Decision(
        id=f"a|{reviewer}", item="a", digest=ITEM.digest, reviewer=reviewer, group=group, decision=choice, fixed=fixed, time=""
    )


@pytest.mark.parametrize(
    ("decisions", "settings", "state", "title"),
    [
        ([], {}, State.FIRST, None),
        ([said("x", KEEP), said("y", KEEP)], {}, State.KEPT, "t"),
        ([said("x", DROP), said("y", DROP)], {}, State.DROPPED, None),
        ([said("x", DROP), said("y", DROP)], {"dropped_again": True}, State.SECOND, None),
        ([said("x", KEEP), said("y", DROP)], {}, State.FIRST, None),
        ([said("x", KEEP), said("y", DROP), said("z", FIX)], {}, State.SECOND, None),
        ([said("x", KEEP)], {"panel": 1}, State.KEPT, "t"),
        # A fix that two of three write alike; two that differ, which the third could still settle; three that differ.
        ([said("x", FIX, title="u"), said("y", FIX, title="u")], {}, State.FIXED, "u"),
        ([said("x", FIX, title="u"), said("y", FIX, title="v")], {}, State.FIRST, None),
        ([said("x", FIX, title="u"), said("y", FIX, title="v"), said("z", KEEP)], {}, State.SECOND, None),
        ([said("x", FIX), said("y", FIX), said("z", FIX, title="u")], {}, State.SECOND, None),
    ],
)
def test_what_decisions_come_to(decisions: list[Decision], settings: dict[str, Any], state: State, title: str | None) -> None:
    outcome = settle(ITEM, decisions, ReviewSettings(**settings))
    assert outcome.state is state
    assert (outcome.record or {}).get("title") == title


APART = [said("x", KEEP), said("y", DROP), said("z", FIX)]


@pytest.mark.parametrize(
    ("second", "settings", "state", "title"),
    [
        ([said("p", KEEP, 2)], {}, State.SECOND, None),
        ([said("p", KEEP, 2), said("q", KEEP, 2)], {}, State.KEPT, "t"),
        ([said("p", KEEP, 2)], {"second_panel": 1}, State.KEPT, "t"),
        ([said("p", FIX, 2, "u"), said("q", FIX, 2, "v")], {}, State.FIXED, "u"),  # the earliest
        ([said("p", FIX, 2, "u"), said("q", FIX, 2, "v"), said("r", FIX, 2, "v")], {}, State.FIXED, "v"),
        ([said("p", KEEP, 2), said("q", DROP, 2), said("r", FIX, 2, "u")], {}, State.OPEN, None),
    ],
)
def test_what_the_second_group_says(second: list[Decision], settings: dict[str, Any], state: State, title: str | None) -> None:
    outcome = settle(ITEM, [*APART, *second], ReviewSettings(**settings))
    assert outcome.state is state
    assert (outcome.record or {}).get("title") == title
    # It has no say in what the first group agrees on.
    assert settle(ITEM, [said("x", DROP), said("y", DROP), *second], ReviewSettings(**settings)).state is State.DROPPED


def test_everybody_has_an_order_of_their_own_that_nothing_moves(tmp_path: Path) -> None:
    review = Review.begin(a_folder(tmp_path / "build", 30))
    orders = {name: [item.id for item in review.find_open_items(name, 1)] for name in ("Ada", "Ben")}
    assert sorted(orders["Ada"]) == sorted(orders["Ben"]) == sorted(review.items)
    assert orders["Ada"] != orders["Ben"] != list(review.items)
    assert [item.id for item in Review.begin(tmp_path / "build").find_open_items("Ada", 1)] == orders["Ada"]
    # Whatever another says, Ada is shown the same.
    for number, item in enumerate(orders["Ben"]):
        decide(review, item, "Ben", list(Choice)[number % 3])
    assert [item.id for item in review.find_open_items("Ada", 1)] == orders["Ada"]
    # Further items come in between.
    longer = Review.begin(a_folder(tmp_path / "build", 40))
    assert [item.id for item in longer.find_open_items("Ada", 1) if item.id in review.items] == orders["Ada"]
    other = Review.begin(a_folder(tmp_path / "other", 30), seed=1)
    assert [item.id for item in other.find_open_items("Ada", 1)] != orders["Ada"]


def test_what_was_decided_is_not_shown_again_until_it_is_taken_back(folder: Path) -> None:
    review = Review.begin(folder)
    first, second = review.find_open_items("Ada", 1)[:2]
    decide(review, first.id, "Ada", KEEP, note=" fine \ud800")
    decide(review, second.id, "Ada", DROP, tags=("goal-unclear",))
    again = Review.begin(folder)
    assert not [item for item in again.find_open_items("Ada", 1) if item in (first, second)]
    assert len(again.find_open_items("Ben", 1)) == 6
    assert [each.note for each in again.read_decisions()] == ["fine ?", ""]
    assert again.take_back("Ben") is None
    assert [again.take_back("Ada"), again.take_back("Ada"), again.take_back("Ada")] == [second, first, None]
    assert len(again.find_open_items("Ada", 1)) == 6
    # Nothing is rubbed out.
    assert len((folder / "review" / "decisions.jsonl").read_text().splitlines()) == 4


def test_items_that_enough_people_have_seen_go_to_nobody_else(folder: Path) -> None:
    review = Review.begin(folder, panel=2)
    decide_all(review, "scene-0", "kd")
    assert "scene-0" not in [item.id for item in review.find_open_items("Eve", 1)]
    assert [item.id for item in review.find_open_items("Zoe", 2)] == ["scene-0"]
    with pytest.raises(InputError, match=r"first-0 has decided in group 1"):
        review.check_reviewer("first-0", 2)


SESSION = """
import sys
from pathlib import Path
from sociable.datasets.review.reviewing import Choice, Review
review = Review.begin(Path(sys.argv[1]), panel=9)
print("ready", flush=True)
sys.stdin.readline()
for item in review.find_open_items(sys.argv[2], 1):
    review.add([review.decide(item, sys.argv[2], 1, Choice.KEEP)])
"""


def test_several_people_decide_at_once_and_nothing_is_lost(tmp_path: Path) -> None:
    folder = a_folder(tmp_path / "build", 25)
    names = ["Ada", "Ben", "Eve"]
    people = [
        subprocess.Popen(
            [sys.executable, "-c", SESSION, str(folder), name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for name in names
    ]
    for person in people:
        assert person.stdout is not None
        assert person.stdout.readline() == "ready\n"
    for person in people:
        person.communicate("go\n", timeout=30)
        assert person.returncode == 0
    assert Counter(each.reviewer for each in Review.open(folder).read_decisions()) == dict.fromkeys(names, 25)


def test_a_torn_line_is_a_decision_not_made(folder: Path) -> None:
    review = Review.begin(folder)
    decide(review, "scene-0", "Ada", KEEP)
    file = folder / "review" / "decisions.jsonl"
    whole = file.read_bytes()
    file.write_bytes(whole + whole[: len(whole) // 2])
    assert len(review.read_decisions()) == 1
    decide(review, "scene-1", "Ada", KEEP)
    assert [each.item for each in review.read_decisions()] == ["scene-0", "scene-1"]
    file.write_text("not JSON\n")
    with pytest.raises(RunFolderError, match=r"decisions\.jsonl, line 1.*Mend that line, or remove it"):
        review.read_decisions()


def test_a_decision_is_on_the_item_as_it_was(folder: Path) -> None:
    review = Review.begin(folder)
    for item in ("scene-0", "scene-1", "scene-5"):
        decide(review, item, "Ada", KEEP)
    lines = (folder / "dataset.jsonl").read_text().splitlines()
    lines[0] = lines[0].replace("Title 0", "Another")
    # The order of fields is no change.
    lines[1] = json.dumps(dict(reversed(json.loads(lines[1]).items())))
    (folder / "dataset.jsonl").write_text("\n".join(lines[:5]))
    changed = Review.open(folder)
    assert [each.item for each in changed.read_decisions()] == ["scene-1"]
    assert changed.count_outdated() == 2
    assert "scene-0" in [item.id for item in changed.find_open_items("Ada", 1)]
    (warning,) = [block for block in show_status(changed) if isinstance(block, Callout)]
    assert "2 decisions do not count" in warning.text


def test_settings_are_fixed_by_the_first_decision(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Nobody has begun to review"):
        Review.open(folder)
    Review.begin(folder, panel=9, seed=1)
    # Nobody has decided anything yet.
    assert Review.begin(folder, panel=2).settings == ReviewSettings(panel=2, seed=1)
    decide(Review.begin(folder), "scene-0", "Ada", KEEP)
    assert Review.begin(folder).settings.panel == 2
    assert Review.begin(folder, panel=2).settings == Review.open(folder).settings
    with pytest.raises(InputError, match=r"begun with another --second-panel 3.*leave the option out"):
        Review.begin(folder, second_panel=1)
    file = tmp_path / "tags.json"
    file.write_text('[{"name": "dull", "means": "nobody would listen"}]')
    with pytest.raises(InputError, match="begun with another --tags"):
        Review.begin(folder, tags=load_tags(file))
    (folder / "review" / "settings.json").write_text('{"panel": 0}')
    with pytest.raises(DataError, match=r"settings\.json: field 'panel'"):
        Review.open(folder)


def test_tags_by_name_number_and_beginning(folder: Path) -> None:
    review = Review.begin(folder)
    assert review.find_tags(["9", "goals-v", "goal-unclear", " "]) == ["goals-valid", "goal-unclear"]
    for wrong, words in (
        (["goals"], "may be goals-invalid, goals-valid"),
        (["99"], "is none of"),
        (["1", "2"], "exclude each other"),
    ):
        with pytest.raises(InputError, match=words):
            review.find_tags(wrong)
    # Appendix A.3: three tags for social goals, four for private information.
    assert Counter(tag.question for tag in AGENTSENSE_TAGS) == {"social goals": 3, "private information": 4, "": 4}
    assert not any(tag.question for tag in HSII_TAGS)
    assert set(ALL_TAGS) == {*AGENTSENSE_TAGS, *HSII_TAGS} and len(ALL_TAGS) == 16


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[{"name": "two words", "means": "m"}]', "expected one word"),
        ('[{"name": "7", "means": "m"}]', "no number"),
        ('[{"name": "a", "means": "m"}, {"name": "a", "means": "m"}]', "no other tag has"),
        ('[{"name": "a"}]', "field 'means'"),
        ("[]", "no tag in it"),
    ],
)
def test_tags_that_cannot_be_used(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "tags.json").write_text(text)
    with pytest.raises(InputError, match=words):
        load_tags(tmp_path / "tags.json")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("[1]", r"dataset\.jsonl, line 2: expected an object with an 'id', found list"),
        ('{"title": "x"}', "line 2: field 'id': expected a text"),
        ('{"id": true}', "field 'id'"),
        ('{"id": "scene-0"}', r"is used already by .*line 1"),
        ('{"id": "x", "n": NaN}', "number that JSON does not have"),
        ('{"id": "x", "n": 1e999}', "number that JSON does not have"),
        ('{"id": "x", "t": "\\ud800"}', "half a character"),
        ('{"id": "x", "t": ' + "[" * 200 + "]" * 200 + "}", "more than 100 levels"),
        ('{"id": ', "line 2: not JSON"),
    ],
)
def test_data_sets_that_cannot_be_reviewed(line: str, words: str, tmp_path: Path) -> None:
    folder = a_folder(tmp_path / "build", 1)
    with (folder / "dataset.jsonl").open("a") as stream:
        stream.write(line + "\n")
    with pytest.raises(InputError, match=words):
        Review.begin(folder)


def test_no_data_set(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"dataset\.jsonl: no such file\. A construction writes it"):
        Review.begin(tmp_path)
    (tmp_path / "dataset.jsonl").write_text("")
    with pytest.raises(InputError, match="nothing in it"):
        Review.begin(tmp_path)
    assert not (tmp_path / "review").exists()


@pytest.mark.parametrize("name", ["", " Ada", "A|b", "A\x1b[31m", "x" * 81])
def test_names_that_are_none(name: str, folder: Path) -> None:
    with pytest.raises(InputError, match="--reviewer takes a name"):
        Review.begin(folder).check_reviewer(name, 1)


def test_nearly_somebody_elses_name(folder: Path) -> None:
    review = Review.begin(folder)
    decide(review, "scene-0", "Ada", KEEP)
    review.check_reviewer("Ada", 1)
    with pytest.raises(InputError, match="There is a reviewer 'Ada'"):
        review.check_reviewer("ada", 1)


def test_fixes_in_an_editor_and_by_field() -> None:
    item = ReviewItem(id="a", record={"id": "a", "cast": [{"goal": "ask"}], "n": 1, "x.y": "t"}, digest="")
    assert parse_fix(show_json(item.record).replace("ask", "tell"), item)["cast"] == [{"goal": "tell"}]
    assert fix_field(item, item.record, "cast.0.goal", "=1+1")["cast"] == [{"goal": "=1+1"}]
    assert fix_field(item, item.record, "n", "[2]")["n"] == [2]
    assert fix_field(item, item.record, "x.y", "z")["x.y"] == "z"
    assert item.record["cast"] == [{"goal": "ask"}]
    for path, value, words in [
        ("cast.1.goal", "", r"no field 'cast\.1\.goal': at '1' there is 0"),
        ("cast.²", "", "no field"),
        ("m", "", "there is id, cast, n"),
        ("n", "two", "must be JSON"),
        ("n", "NaN", "a number that JSON does not have"),
        ("id", "b", "must stay as it is"),
    ]:
        with pytest.raises(InputError, match=words):
            fix_field(item, item.record, path, value)
    same = ReviewItem(id="a", record=item.record, digest=digest_record(item.record))
    for text, words in [("{", "not JSON"), ("[]", "Expected an object"), (show_json(item.record), "Nothing is changed")]:
        with pytest.raises(InputError, match=words):
            parse_fix(text, same)


def test_an_outline_is_read_without_brackets() -> None:
    assert outline({"cast": [{"role": "A", "says": "one\ntwo"}, "B"], "n": None, "none": []}) == (
        "cast:\n  0:\n    role: A\n    says: one\n      two\n  1: B\nn: null\nnone: []"
    )


def rows_of_table(review: Review, caption: str) -> list[list[str]]:
    (table,) = [block for block in show_status(review) if isinstance(block, Table) and block.caption == caption]
    return [list(row.cells) for row in table.rows]


def reviewed(folder: Path) -> Review:
    """Kept, fixed, dropped; apart and kept by the second group; apart in both; and one that waits."""
    review = Review.begin(folder)
    for item, letters in zip(review.items, ("kkk", "ffk", "ddk", "kfd", "kfd", "k"), strict=True):
        decide_all(review, item, letters)
    decide_all(review, "scene-3", "kkd", group=2)
    decide_all(review, "scene-4", "kfd", group=2)
    return review


def test_the_status_says_how_far_everybody_is(folder: Path) -> None:
    review = reviewed(folder)
    states = {row[0]: row[1] for row in rows_of_table(review, "6 items")}
    assert states == {
        "kept": "2", "fixed": "1", "dropped": "1", "waits for the first group": "1", "waits for the second group": "0",
        "the second group does not agree either": "1",
    }  # fmt: skip
    assert [row[:4] for row in rows_of_table(review, "Reviewers")] == [
        ["first-0", "1", "6", "0"], ["first-1", "1", "5", "1"], ["first-2", "1", "5", "1"],
        ["second-0", "2", "2", "0"], ["second-1", "2", "2", "0"], ["second-2", "2", "2", "0"],
    ]  # fmt: skip
    agreement = rows_of_table(review, "Agreement beyond chance")
    assert [row[:4] for row in agreement] == [["1", "decision", "3", "6"], ["2", "decision", "3", "2"]]
    assert agreement[0][4] == "—"  # items seen by one and by three
    assert len(rows_of_table(review, "Agreement in pairs")) == 6


def test_agreement_on_what_tags_answer(folder: Path) -> None:
    review = Review.begin(folder, panel=2)
    for number, item in enumerate(review.items):
        decide(review, item, "Ada", KEEP, tags=["goals-valid" if number % 2 else "goals-invalid", "not-lifelike"])
        decide(review, item, "Ben", KEEP, tags=["goals-valid" if number % 2 else "goals-invalid"] if number else [])
    labels = find_labels(review, review.read_decisions(), "social goals")
    assert labels["Ben"]["scene-0"] is None
    found = measure_agreement(labels)
    assert (found.pairs[0].items, found.pairs[0].kappa.value) == (5, pytest.approx(1.0))
    assert found.fleiss.value is None
    # On the decision they agree too, but on one answer only: nothing beyond chance can be said.
    assert measure_agreement(find_labels(review, review.read_decisions(), DECISION)).pairs[0].kappa.value is None


def test_applying_waits_for_all_decisions(folder: Path) -> None:
    review = Review.begin(folder)
    with pytest.raises(InputError, match="Nobody has decided on anything yet"):
        apply_review(review, anyway=True)
    reviewed(folder)
    with pytest.raises(InputError, match=r"2 of 6 items are undecided: 1 wait for the first group, 0 for the second.*--anyway"):
        apply_review(review)
    assert not (folder / "dataset.reviewed.jsonl").exists()


def test_what_is_applied(folder: Path) -> None:
    review = reviewed(folder)
    decide(review, "scene-2", "first-1", DROP, tags=["goal-unclear", "goals-invalid"], note="who could tell?")
    assert apply_review(review, anyway=True) == "2 kept, 1 fixed, 1 dropped, 2 undecided"
    kept = [json.loads(line) for line in (folder / "dataset.reviewed.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(record["id"], record["title"]) for record in kept] == [
        ("scene-0", "Title 0"), ("scene-1", "Better"), ("scene-3", "Title 3"),
    ]  # fmt: skip
    (dropped,) = [json.loads(line) for line in (folder / "review" / "dropped.jsonl").read_text().splitlines()]
    assert (dropped["id"], dropped["tags"], dropped["reasons"]) == (
        "scene-2", ["goal-unclear", "goals-invalid"], ["who could tell?"],
    )  # fmt: skip
    manifest = json.loads((folder / "review" / "outcomes.json").read_text())
    assert manifest["counts"]["kept"] == 2
    assert [each["state"] for each in manifest["items"]][3:5] == ["kept", State.OPEN.value]
    deciders = [(each["reviewer"], each["decision"]) for each in manifest["items"][3]["decisions"]]
    assert deciders == [
        ("first-0", "keep"),
        ("first-1", "fix"),
        ("first-2", "drop"),
        ("second-0", "keep"),
        ("second-1", "keep"),
        ("second-2", "drop"),
    ]
    assert all(each["time"] for item in manifest["items"] for each in item["decisions"])


def legible(text: str) -> str:
    return text.replace("\x1b", "‹ESC›")


def filled_in(file: Path, answers: Sequence[dict[str, str]]) -> None:
    """As a spreadsheet would save it that separates by semicolons."""
    with file.open(encoding="utf-8-sig", newline="") as stream:
        separator = ";" if ";" in stream.readline() else ","
        stream.seek(0)
        rows = list(csv.DictReader(stream, delimiter=separator))
    assert len(rows) >= len(answers)
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), delimiter=";")
        writer.writeheader()
        writer.writerows(row | answer for row, answer in zip(rows, answers, strict=False))


def test_a_sheet_goes_out_and_comes_back(tmp_path: Path) -> None:
    folder, file = tmp_path / "build", tmp_path / "ada.csv"
    folder.mkdir()
    records = [
        {"id": "007", "title": "=HYPERLINK(1)", "cast": [{"goal": "\x1b[31mask"}]},
        {"id": "008", "title": "b", "decision": "no column of ours"},
        {"id": "009", "title": "c"},
    ]
    (folder / "dataset.jsonl").write_text("\n".join(map(json.dumps, records)))
    review = Review.begin(folder, panel=1)
    assert write_review_sheet(review, "Ada", 1, file, legible) == 3
    text = file.read_text(encoding="utf-8-sig")
    assert "\x1b" not in text
    assert "'=HYPERLINK" in text
    with pytest.raises(InputError, match="may be filled in"):
        write_review_sheet(review, "Ada", 1, file, legible)
    order = [item.id for item in review.find_open_items("Ada", 1)]
    answers = {
        "007": {"decision": "Fix", "fix_field": "item.title", "fix_value": "a", "note": "no formula"},
        "008": {"decision": "d", "tags": "goal-unclear, goals-invalid"},
        "009": {},
    }
    filled_in(file, [answers[name] for name in order])
    assert read_review_sheet(review, None, 1, file) == Imported(2, 0, 0)
    assert read_review_sheet(review, "Ada", 1, file) == Imported(0, 0, 0)
    found = {each.item: each for each in review.read_decisions()}
    assert found["007"].fixed == {**records[0], "title": "a"}
    assert (found["008"].tags, found["008"].seconds) == (("goals-invalid", "goal-unclear"), None)
    assert [item.id for item in review.find_open_items("Ada", 1)] == ["009"]
    filled_in(file, [answers[name] | ({"decision": "k"} if name != "007" else {}) for name in order])
    assert read_review_sheet(review, None, 1, file) == Imported(1, 1, 0)
    with pytest.raises(InputError, match="nothing to decide for Ada"):
        write_review_sheet(review, "Ada", 1, tmp_path / "more.csv", legible)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"decision": "maybe"}, r"row 2: field 'decision': expected keep, fix, drop or nothing, found 'maybe'"),
        ({"tags": "goal-unclear"}, "'decision': is empty, but something is said beside it"),
        ({"decision": "k", "item": "7"}, "'7' is no item as the data set is now"),
        ({"decision": "k", "tags": "dull"}, "the tag 'dull' is none of"),
        ({"decision": "k", "fix_field": "title", "fix_value": "x"}, "There is a fix, but the decision is 'keep'"),
        ({"decision": "f", "fix_value": "x"}, "'fix_field': is empty"),
        ({"decision": "f", "fix_field": "name", "fix_value": "x"}, "There is no field 'name'"),
        ({"decision": "k", "reviewer": "Ben"}, "the sheet is of reviewer Ben, not of --reviewer Ada"),
        ({}, "no decision in it"),
    ],
)
def test_sheets_that_cannot_be_read(answer: dict[str, str], words: str, folder: Path, tmp_path: Path) -> None:
    review, file = Review.begin(folder), tmp_path / "ada.csv"
    write_review_sheet(review, "Ada", 1, file, legible, limit=1)
    filled_in(file, [answer])
    with pytest.raises(InputError, match=f"(?i){words}"):
        read_review_sheet(review, "Ada", 1, file)
    assert review.read_decisions() == []


def test_the_second_groups_fix_must_be_written(folder: Path) -> None:
    review = Review.begin(folder)
    with pytest.raises(InputError, match="a fix needs the fixed record"):
        review.decide(review.items["scene-0"], "Zoe", 2, FIX)


@pytest.mark.skipif(not PANDALM.is_file(), reason="needs PandaLM's human labels in ../shared/data/judge_pandalm")
def test_agreement_of_three_real_annotators(tmp_path: Path) -> None:
    # 999 pairs, each with what three people said: 0 for a tie, 1, 2. Published: Cohen .852 .879 .862, Fleiss .864.
    pairs = json.loads(PANDALM.read_text(encoding="utf-8"))
    people = ("annotator1", "annotator2", "annotator3")
    lines = (json.dumps({"id": str(pair["idx"]), "instruction": pair["instruction"]}) + "\n" for pair in pairs)
    (tmp_path / "dataset.jsonl").write_text("".join(lines), encoding="utf-8")
    review = Review.begin(tmp_path)
    review.add(
        review.decide(review.items[str(pair["idx"])], person, 1, list(Choice)[pair[person]])
        for pair in pairs
        for person in people
    )
    found = measure_agreement(find_labels(review, review.read_decisions(), DECISION))
    assert (found.reviewers, found.items) == (3, 999)
    kappas = {(pair.first[-1], pair.second[-1]): pair.kappa for pair in found.pairs}
    assert sorted(round(kappa.value or 0, 3) for kappa in kappas.values()) == [0.852, 0.862, 0.879]
    assert found.fleiss.value == pytest.approx(0.864, abs=0.0005)
    # Nothing is missing: alpha is Fleiss' kappa but for the correction for few answers, here 2997 (Krippendorff 2011).
    assert found.alpha.value == pytest.approx(1 - (1 - found.fleiss.value) * (1 - 1 / 2997), abs=1e-9)
    for interval in (*kappas.values(), found.fleiss, found.alpha):
        assert interval.low is not None and interval.high is not None and interval.value is not None
        assert interval.low < interval.value < interval.high
        assert 0.02 < interval.high - interval.low < 0.07
    # Two of three settle an item; fixes nobody wrote down go on to the second group, as do those on which all three differ.
    votes = [Counter(pair[person] for person in people).most_common(1)[0] for pair in pairs]
    states = Counter(outcome.state for outcome in review.settle_all().values())
    assert states[State.KEPT] == votes.count((0, 2)) + votes.count((0, 3))
    assert states[State.DROPPED] == votes.count((2, 2)) + votes.count((2, 3))
    assert states[State.SECOND] == 999 - states[State.KEPT] - states[State.DROPPED]


def test_answers_may_be_missing_where_alpha_allows_it() -> None:
    labels = {"x": {"a": "k", "b": "k", "c": "d"}, "y": {"a": "k", "b": None, "c": "d"}, "z": {"d": "k"}}
    found = measure_agreement(labels)
    assert (found.reviewers, found.items, found.fleiss.value) == (3, 4, None)
    assert [(pair.items, pair.kappa.value) for pair in found.pairs] == [(2, pytest.approx(1.0)), (0, None), (0, None)]
    assert found.alpha.value == pytest.approx(1.0)


def test_a_sheet_knows_its_group_and_comes_too_late_for_what_is_settled(folder: Path, tmp_path: Path) -> None:
    review = Review.begin(folder)
    for item, said in (("scene-0", "kfd"), ("scene-1", "kkk")):
        decide_all(review, item, said)
    file = tmp_path / "zoe.csv"
    assert write_review_sheet(review, "Zoe", 2, file, str) == 1
    filled_in(file, [{"decision": "k"}])
    with pytest.raises(DataError, match="the sheet is of group 2, not of --group 1"):
        read_review_sheet(review, None, 1, file)
    assert read_review_sheet(review, None, None, file) == Imported(1, 0, 0)
    assert [each.group for each in review.read_decisions() if each.reviewer == "Zoe"] == [2]
    # Whoever took a sheet while others were still at it.
    late = tmp_path / "eve.csv"
    assert write_review_sheet(review, "Eve", 1, late, str) == 4
    decide_all(review, "scene-2", "kkk")
    filled_in(late, [{"decision": "d"}] * 4)
    assert read_review_sheet(review, None, None, late) == Imported(3, 0, 1)
    assert review.settle_all()["scene-2"].state is State.KEPT


def test_a_fix_that_the_benchmark_cannot_read_is_none(tmp_path: Path) -> None:
    said = [("Ann", "Bo, hold the rope."), ("Bo", "I have it."), ("Ann", "Cy, the lamp."), ("Cy", "It is out.")]
    turns = [{"speaker": who, "text": text} for who, text in said]
    (tmp_path / "talk.jsonl").write_text(json.dumps({"id": "pier", "title": "fog", "turns": turns}))
    datasets.construct("hsii-dialogues", tmp_path / "talk.jsonl", tmp_path / "build", licence="CC0 1.0")
    review = Review.begin(tmp_path / "build", panel=1)
    assert review.settings.tags == HSII_TAGS
    (item,) = review.items.values()
    with pytest.raises(InputError, match=r"could not read it: field 'golden.role_to': 'NOBODY' is nobody"):
        review.decide(item, "Ada", 1, FIX, fixed=fix_field(item, item.record, "golden.role_to", "NOBODY"))
    made = review.decide(item, "Ada", 1, FIX, fixed=fix_field(item, item.record, "golden.content", "Cy, light it."))
    review.add([made])
    apply_review(review)
    # The card is of what people made of it now, and stays so when nothing is new.
    datasets.construct("hsii-dialogues", tmp_path / "talk.jsonl", tmp_path / "build")
    card = (review.folder / "README.md").read_text()
    assert "| reviewed | 0 kept, 1 fixed, 0 dropped, 0 undecided, by 1 people |" in card
    assert 'license: "cc0-1.0"' in card and "--dataset dataset.reviewed.jsonl" in card
    assert json.loads((review.folder / "croissant.json").read_text())["distribution"][0]["name"] == "dataset.reviewed.jsonl"
    assert not is_applied_before_last(review)
    os.utime(review.folder / "dataset.reviewed.jsonl", (0, 0))
    assert any(isinstance(each, Callout) and "older than the last decision" in each.text for each in show_status(review))


def test_cases_of_one_dialogue_are_no_independent_samples() -> None:
    labels = {who: {f"c{n}": "k" if n // 4 % 3 else "d" for n in range(64)} for who in ("Ada", "Ben")}
    labels["Ben"] |= {f"c{n}": "d" for n in range(16, 20)}
    apart = measure_agreement(labels)
    alike = measure_agreement(labels, clusters={f"c{n}": str(n // 4) for n in range(64)})
    assert apart.alpha.value == alike.alpha.value
    assert alike.alpha.low is not None and apart.alpha.low is not None and alike.alpha.low < apart.alpha.low
    # Fewer dialogues than 8 say nothing.
    assert measure_agreement(labels, clusters={f"c{n}": str(n // 16) for n in range(64)}).alpha.low is None


def test_a_conversation_is_shown_as_one_is_read() -> None:
    turn = {"role_from": "CLERK", "role_to": "BAKER", "content": "The ovens,\nat noon.", "index": 1}
    assert outline([turn]) == "0:\n  CLERK → BAKER: The ovens,\n  at noon."
