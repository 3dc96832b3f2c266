"""People check judges: the sheet that goes out, what may come back, and what is made of it."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from sociable.api import reports, results, runs
from sociable.api.people import (
    add_corrections,
    add_ratings,
    add_words,
    export_planned_sheet,
    export_sheet,
    make_people_document,
)
from sociable.core.errors import DataError, InputError, RunFolderError
from sociable.core.people_files import PeopleFiles, PersonRating, PersonWord
from sociable.core.records import Verdict
from sociable.core.view import Callout, Document, Table
from sociable.people.pairs import list_judged_pairs
from sociable.people.sheets import PAIR_FIELDS

DEMO = {"partner": "reference/heuristic", "reference": "reference/oracle", "judges": ("reference/rule",)}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("people") / "run"
    runs.run("hsii", "reference/oracle@0.4", out=folder, **DEMO)
    return folder


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    """A copy of a finished run, for changing."""
    folder = tmp_path / "run"
    folder.mkdir()
    for file in finished.iterdir():
        if file.is_file():
            (folder / file.name).write_bytes(file.read_bytes())
    return folder


def rows_of(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8-sig", newline="") as opened:
        return list(csv.DictReader(opened))


def filled(file: Path, out: Path, verdict: dict[str, str] | str) -> Path:
    """The sheet with a verdict in every row, by item or the same for all."""
    rows = rows_of(file)
    for row in rows:
        row["verdict"] = verdict if isinstance(verdict, str) else verdict[row["item"]]
    with out.open("w", newline="") as opened:
        writer = csv.DictWriter(opened, PAIR_FIELDS)
        writer.writeheader()
        writer.writerows(rows)
    return out


def as_the_panel(run: Path, file: Path) -> dict[str, str]:
    """What somebody who always agrees with the panel would write into the sheet."""
    opened = results.load_result(run)
    with PeopleFiles(run) as people:
        panel = {(pair.episode.id, pair.criterion): pair.verdict for pair in list_judged_pairs(opened)}
        items = {item.id: item for item in people.sheets}
    answers = {}
    for row in rows_of(file):
        item = items[row["item"]]
        verdict = panel[item.episode, item.criterion]
        first = (verdict is Verdict.WIN) == item.subject_first
        answers[row["item"]] = "0" if verdict is Verdict.TIE else "1" if first else "2"
    return answers


def test_a_sheet_tells_neither_model_nor_judge_nor_side(run: Path, tmp_path: Path) -> None:
    count = export_sheet(run, 20, tmp_path / "sheet.csv")
    rows = rows_of(tmp_path / "sheet.csv")
    assert count == len(rows) == 20
    text = (tmp_path / "sheet.csv").read_text(encoding="utf-8-sig")
    assert "reference/" not in text
    with PeopleFiles(run) as people:
        assert {item.subject_first for item in people.sheets} == {True, False}
        for item in people.sheets:
            assert item.episode not in text
    assert {row["verdict"] for row in rows} == {""}


def test_rare_verdicts_are_looked_at_as_often_as_frequent_ones(run: Path, tmp_path: Path) -> None:
    export_sheet(run, 8, tmp_path / "sheet.csv")
    opened = results.load_result(run)
    with PeopleFiles(run) as people:
        drawn = Counter(item.stratum for item in people.sheets)
        there = Counter(pair.stratum for pair in list_judged_pairs(opened))
        assert {item.stratum: item.size for item in people.sheets} == there
    assert max(drawn.values()) - min(drawn.values()) <= 1
    assert max(there.values()) > 2 * min(there.values())


def test_the_same_sheet_is_drawn_again(run: Path, tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        export_sheet(run, 12, tmp_path / name)
        (run / "sheets.jsonl").rename(tmp_path / f"{name}.kept")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_a_second_sheet_holds_what_no_other_holds(run: Path, tmp_path: Path) -> None:
    counts = [export_sheet(run, count, tmp_path / f"{place}.csv") for place, count in enumerate((7, 7, 2))]
    assert counts == [7, 7, 2]
    items = [row["item"] for place in range(3) for row in rows_of(tmp_path / f"{place}.csv")]
    assert len(set(items)) == 16
    with PeopleFiles(run) as people:
        drawn = Counter(item.stratum for item in people.sheets)
    assert sorted(drawn.values()) == [2, 2, 6, 6]  # as even as on one sheet: the judge says "loss" of two pairs in each stage
    left = export_sheet(run, 10_000, tmp_path / "all.csv")
    assert left == len(list(list_judged_pairs(results.load_result(run)))) - 16
    with pytest.raises(InputError, match="judged pairs that could be shown are on sheets already"):
        export_sheet(run, 3, tmp_path / "more.csv")


def cells(document: Document, caption: str) -> list[dict[str, str]]:
    tables = [document.summary, *(b for section in document.sections for b in section.blocks if isinstance(b, Table))]
    table = next(table for table in tables if table.caption == caption)
    return [dict(zip((column.title for column in table.columns), row.cells, strict=True)) for row in table.rows]


CORRECTED = "Scores as judges gave them, and corrected by people"


def test_people_who_agree_with_the_judges_give_the_judges_scores_back(run: Path, tmp_path: Path) -> None:
    export_sheet(run, 20, tmp_path / "sheet.csv")
    answers = as_the_panel(run, tmp_path / "sheet.csv")
    document = add_corrections(run, [filled(tmp_path / "sheet.csv", tmp_path / "eve.csv", answers)])
    for row in cells(document, "Judges and people"):
        assert (row["Person"], row["Agreement"]) == ("eve", "1.00")
    # The sample has as many losses as ties; the weights give back what the run has.
    for row in cells(document, CORRECTED):
        assert row["By judges"].split()[0] == row["Corrected"].split()[0], row


def test_weights_undo_the_sampling(run: Path, tmp_path: Path) -> None:
    """Somebody for whom the model wins wherever the judge says tie."""
    export_sheet(run, 12, tmp_path / "sheet.csv")
    with PeopleFiles(run) as people:
        items = {item.id: item for item in people.sheets}
    wins = {
        name: ("1" if item.subject_first else "2") if item.stratum.endswith("tie") else ("2" if item.subject_first else "1")
        for name, item in items.items()
    }
    document = add_corrections(run, [filled(tmp_path / "sheet.csv", tmp_path / "eve.csv", wins)])
    opened = results.load_result(run)
    there = Counter(pair.stratum for pair in list_judged_pairs(opened))
    expected = there["first utterance: tie"] / sum(n for stratum, n in there.items() if stratum.startswith("first"))
    (row,) = [row for row in cells(document, CORRECTED) if row["Metric"] == "r3"]
    assert float(row["Corrected"].split()[0]) == pytest.approx(expected, abs=0.0005)


def test_verdicts_ratings_and_words_are_rows_of_a_table(run: Path, tmp_path: Path) -> None:
    export_sheet(run, 12, tmp_path / "sheet.csv")
    add_corrections(run, [filled(tmp_path / "sheet.csv", tmp_path / "eve.csv", as_the_panel(run, tmp_path / "sheet.csv"))])
    opened = results.load_result(run)
    episode = next(opened.episodes())
    with PeopleFiles(run) as people:
        people.ratings.append(PersonRating(id="r", episode=episode.id, person="ann", rating=3.5))
        people.words.append(PersonWord(id="w", episode=episode.id, person="ann", word="kind"))
    table = opened.frame("people")
    verdicts, rating, word = (table[table["given"] == kind] for kind in ("verdict", "rating", "word"))
    pairs = list(list_judged_pairs(opened))
    panel = {(pair.episode.id, pair.criterion): pair.verdict.value for pair in pairs}
    assert len(verdicts) == 12 and set(verdicts["person"]) == {"eve"}
    assert list(verdicts["verdict"]) == [panel[key] for key in verdicts[["episode", "criterion"]].itertuples(index=False)]
    # An item stands for as many as were not drawn: weights give back the size of each stratum.
    weights = (1 / verdicts["inclusion"]).groupby(verdicts["stratum"]).sum()
    assert weights.to_dict() == pytest.approx(Counter(pair.stratum for pair in pairs))
    assert (
        list(rating["rating"]) == [3.5]
        and list(word["word"]) == ["kind"]
        and rating[["verdict", "question"]].isna().all(axis=None)
    )
    assert set(word["cluster"]) == {episode.cluster}


def test_a_stratum_nobody_looked_at_leaves_no_corrected_score(run: Path, tmp_path: Path) -> None:
    export_sheet(run, 12, tmp_path / "sheet.csv")
    with PeopleFiles(run) as people:
        ties = {item.id: "0" if item.stratum.endswith("tie") else "skip" for item in people.sheets}
    document = add_corrections(run, [filled(tmp_path / "sheet.csv", tmp_path / "eve.csv", ties)])
    assert {row["Corrected"] for row in cells(document, CORRECTED)} == {"—"}


def test_several_people_and_a_change_of_mind(run: Path, tmp_path: Path) -> None:
    export_sheet(run, 12, tmp_path / "sheet.csv")
    ann, bob = (
        filled(tmp_path / "sheet.csv", tmp_path / f"{name}.csv", verdict) for name, verdict in (("ann", "1"), ("bob", "2"))
    )
    document = add_corrections(run, [ann, bob])
    for row in cells(document, "People among themselves"):
        assert row["People"] == "2"
        assert float(row["Krippendorff's α"]) < 0
    changed = filled(tmp_path / "sheet.csv", tmp_path / "bob.csv", "1")
    with pytest.raises(DataError, match=r"'bob' gave another verdict on 'i[0-9a-f]+' before. --replace"):
        add_corrections(run, [changed])
    document = add_corrections(run, [changed], replace=True)
    with PeopleFiles(run) as people:
        assert len(people.verdicts) == 24  # not 36: the later verdict replaces the earlier
        assert {(verdict.item, verdict.person) for verdict in people.verdicts if verdict.person == "bob"}
    assert {row["Agreement"] for row in cells(document, "Judges and people")}


def test_json_lines_and_semicolons_are_read_too(run: Path, tmp_path: Path) -> None:
    export_sheet(run, 8, tmp_path / "sheet.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "sheet.jsonl").read_text().splitlines()]
    assert tuple(rows[0]) == PAIR_FIELDS
    (tmp_path / "back.jsonl").write_text(
        "\n".join(json.dumps({"item": row["item"], "verdict": 2, "person": "Ann"}) for row in rows)
    )
    (tmp_path / "back.csv").write_text("item;verdict;person\n" + "\n".join(f"{row['item']};1;Bob" for row in rows))
    document = add_corrections(run, [tmp_path / "back.jsonl", tmp_path / "back.csv"])
    assert {row["Person"] for row in cells(document, "Judges and people")} == {"Ann", "Bob"}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("item,verdict\nffff,1\n", "row 2: field 'item'.*no sheet of this run"),
        ("item,verdict\n{item},3\n", "row 2: field 'verdict'.*expected 1, 2, 0 or skip"),
        ("item\n{item}\n", "field 'verdict'.*is missing"),
        ("item,verdict\n{item},\n", "no verdict in it"),
        ("item,verdict\n{item},skip\n", "no verdict in it"),
        ("item,verdict\n{item},1\n{item},2\n", "row 3: field 'verdict'.*'bad' has two verdicts.*row 2"),
        ("item,verdict,person\n{item},1,Eve\n{item},2,eve\n", "row 3: field 'person': 'eve' or 'Eve', as elsewhere"),
        (
            "item,verdict,person\n{item},1,a\n{item},,b\n{item},,c\n",
            "bad.csv, row 3, row 4: field 'verdict': is empty. Write skip",
        ),
    ],
)
def test_bad_sheets_are_named_with_their_place(run: Path, tmp_path: Path, text: str, complaint: str) -> None:
    export_sheet(run, 8, tmp_path / "sheet.csv")
    item = rows_of(tmp_path / "sheet.csv")[0]["item"]
    (tmp_path / "bad.csv").write_text(text.format(item=item))
    with pytest.raises((DataError, InputError), match=complaint):
        add_corrections(run, [tmp_path / "bad.csv"])
    good = filled(tmp_path / "sheet.csv", tmp_path / "good.csv", "1")
    with pytest.raises((DataError, InputError), match=complaint):
        add_corrections(run, [good, tmp_path / "bad.csv"])
    assert not (run / "people.jsonl").exists() or not (run / "people.jsonl").read_text()


def test_the_same_sheet_given_twice_changes_nothing(run: Path, tmp_path: Path) -> None:
    export_sheet(run, 8, tmp_path / "sheet.csv")
    for _ in range(2):
        add_corrections(run, [filled(tmp_path / "sheet.csv", tmp_path / "eve.csv", "1")])
    with PeopleFiles(run) as people:
        assert len(people.verdicts) == 8


def callouts(document: Document) -> list[str]:
    return [block.text for section in document.sections for block in section.blocks if isinstance(block, Callout)]


def test_what_was_skipped_or_not_looked_at_is_missing_and_said(run: Path, tmp_path: Path) -> None:
    export_sheet(run, 12, tmp_path / "sheet.csv")
    rows = rows_of(tmp_path / "sheet.csv")
    lines = [f"{row['item']},{verdict}" for row, verdict in zip(rows, ["skip"] * 2 + ["0"] * 9, strict=False)]
    (tmp_path / "eve.csv").write_text("\n".join(["item,verdict", *lines]))
    shown = callouts(add_corrections(run, [tmp_path / "eve.csv"]))
    assert any(text.startswith("eve skipped 2 of 11 items") for text in shown)
    assert any("looked at 1 of 12 items" in text for text in shown)
    assert any(text.startswith("Under 30 human verdicts: ") for text in shown)
    with PeopleFiles(run) as people:
        assert Counter(verdict.verdict for verdict in people.verdicts)[Verdict.UNSCORED] == 2


def test_a_second_sheet_keeps_inclusion_probabilities_right(run: Path, tmp_path: Path) -> None:
    for count in (8, 20):
        export_sheet(run, count, tmp_path / f"{count}.csv")
        with PeopleFiles(run) as people:
            drawn = Counter(item.stratum for item in people.sheets)
            for item in people.sheets:
                assert item.inclusion == drawn[item.stratum] / item.size


def test_a_planned_sheet_gives_the_precision_it_promises(run: Path, tmp_path: Path) -> None:
    planned = export_planned_sheet(run, 0.09, tmp_path / "sheet.csv")
    found = [re.fullmatch(r"(r[34])\w*: for ±0.09 (\d+) of 171 pairs need a verdict.", each) for each in planned.remarks]
    assert all(found)
    # The two metrics of a stage share its verdicts.
    needed = [int(each[2]) for each in found if each]
    assert len(planned.items) == max(needed[:2]) + max(needed[2:])
    document = add_corrections(
        run, [filled(tmp_path / "sheet.csv", tmp_path / "eve.csv", as_the_panel(run, tmp_path / "sheet.csv"))]
    )
    (half,) = [row["Corrected"] for row in cells(document, CORRECTED) if row["Metric"] == "r3_ties_half"]
    low, high = half.partition("[")[2].rstrip("]").split(", ")
    assert float(high) - float(low) <= 2 * 0.09 + 0.01
    reached = r"items on earlier sheets\. r3: ±0\.09 is reached: \d+ verdicts give ±0\.0\d+\."
    with pytest.raises(InputError, match=rf"Nothing need be added to the .* {reached}"):
        export_planned_sheet(run, 0.09, tmp_path / "more.csv")
    more = export_planned_sheet(run, 0.001, tmp_path / "more.csv")
    assert "out of reach" in more.remarks[0]
    assert not {item.id for item in more.items} & {item.id for item in planned.items}
    with pytest.raises(InputError, match=r"between 0 and 0\.5"):
        export_planned_sheet(run, 5, tmp_path / "x.csv")


def test_a_longer_sheet_than_needed_does_not_change_what_is_needed(run: Path, tmp_path: Path) -> None:
    plans = []
    for name in ("short", "long"):
        if name == "long":
            export_sheet(run, 150, tmp_path / "hundred.csv")
        plans.append(export_planned_sheet(run, 0.07, tmp_path / f"{name}.csv").remarks)
        (run / "sheets.jsonl").unlink()
    assert plans[0] == plans[1]


def test_pairs_on_which_judges_disagree_are_strata_of_their_own(run: Path, tmp_path: Path) -> None:
    """A judge who prefers the first side in whichever order disagrees with itself."""
    (tmp_path / "judge.py").write_text('def reply(messages):\n    return \'{"reason": "r", "verdict": 1}\'\n')
    runs.judge(run, [f"python:{tmp_path / 'judge.py'}:reply"])
    export_sheet(run, 8, tmp_path / "sheet.csv")
    with PeopleFiles(run) as people:
        assert {item.stratum for item in people.sheets} == {"first utterance: tie, disputed", "long run: tie, disputed"}


def test_verdicts_correct_another_panel_too(run: Path, tmp_path: Path) -> None:
    """They were drawn by the first panel's verdicts, with known probabilities; the second one's enter as predictions."""
    export_sheet(run, 20, tmp_path / "sheet.csv")
    answers = as_the_panel(run, tmp_path / "sheet.csv")
    before = cells(add_corrections(run, [filled(tmp_path / "sheet.csv", tmp_path / "eve.csv", answers)]), CORRECTED)
    (tmp_path / "judge.py").write_text('def reply(messages):\n    return \'{"reason": "r", "verdict": 0}\'\n')
    runs.judge(run, [f"python:{tmp_path / 'judge.py'}:reply"])
    after = cells(make_people_document(run), CORRECTED)
    assert [row["Corrected"] for row in after] == [row["Corrected"] for row in before]
    assert {row["By judges"].split()[0] for row in after if "half" in row["Metric"]} == {"0.500"}


def test_sheets_of_the_first_version_still_correct(run: Path, tmp_path: Path) -> None:
    export_sheet(run, 12, tmp_path / "sheet.csv")
    shown = cells(add_corrections(run, [filled(tmp_path / "sheet.csv", tmp_path / "eve.csv", "0")]), CORRECTED)
    lines = [json.loads(line) for line in (run / "sheets.jsonl").read_text().splitlines()]
    for line in lines:
        del line["inclusion"]
    (run / "sheets.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert cells(make_people_document(run), CORRECTED) == shown
    for line in lines:
        line["size"] += 1
    (run / "sheets.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert any("no score can be corrected" in text for text in callouts(make_people_document(run)))


def test_a_comparison_shows_the_corrected_difference_where_people_checked_both(run: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for file in run.iterdir():
        (other / file.name).write_bytes(file.read_bytes())
    assert "Corrected by people" not in [section.title for section in reports.compare(run, other).sections]
    for folder, verdict in ((run, "0"), (other, "1")):
        export_sheet(folder, 40, tmp_path / f"{folder.name}.csv")
        add_corrections(folder, [filled(tmp_path / f"{folder.name}.csv", tmp_path / "eve.csv", verdict)])
    rows = cells(reports.compare(run, other), "Scores corrected by people's verdicts")
    (row,) = [row for row in rows if row["Metric"] == "r3"]
    # Whoever says "neither" everywhere gives 0; whoever prefers the first side, shuffled, about a half.
    assert row["A"].split()[0] == "0.000"
    assert row["B − A"].split()[0] == row["B"].split()[0]
    assert row["Human verdicts"] == "20, 20"


def test_a_sheet_that_is_there_is_not_written_over(run: Path, tmp_path: Path) -> None:
    export_sheet(run, 8, tmp_path / "sheet.csv")
    with pytest.raises(InputError, match="is there already"):
        export_sheet(run, 8, tmp_path / "sheet.csv")


def test_no_sheet_is_written_among_the_records_of_a_run(run: Path, tmp_path: Path) -> None:
    for name in ("sheets.jsonl", "people.jsonl", "rubrics.jsonl"):
        with pytest.raises(InputError, match=rf"{name}: the run keeps its own records in .jsonl files there"):
            export_sheet(run, 8, run / name)
        assert not (run / name).exists()
    export_sheet(run, 8, run / "sheet.csv")
    (run / "people.jsonl").write_text("{}\n")
    with pytest.raises(RunFolderError, match=r"people.jsonl, line 1: .* give people's files back again"):
        make_people_document(run)


def test_two_files_of_one_name_are_two_people_only_if_they_say_so(run: Path, tmp_path: Path) -> None:
    export_sheet(run, 8, tmp_path / "sheet.csv")
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
        filled(tmp_path / "sheet.csv", tmp_path / name / "eve.csv", "1")
    with pytest.raises(InputError, match=r"by the same person, 'eve', in .*x/eve.csv, row 2"):
        add_corrections(run, [tmp_path / "x" / "eve.csv", tmp_path / "y" / "eve.csv"])


def test_a_sheet_that_has_its_own_name_still_names_nobody(run: Path, tmp_path: Path) -> None:
    export_sheet(run, 8, tmp_path / "spring.csv")
    for name in ("Spring.csv", "sheet.csv"):
        with pytest.raises(DataError, match=r"row 2: field 'person': is empty, and '(Spring|sheet)' is the name of the sheet"):
            add_corrections(run, [filled(tmp_path / "spring.csv", tmp_path / name, "1")])
    add_corrections(run, [filled(tmp_path / "spring.csv", tmp_path / "Eve.csv", "1")])
    with pytest.raises(DataError, match="field 'person': 'eve' or 'Eve', as elsewhere"):
        add_corrections(run, [filled(tmp_path / "spring.csv", tmp_path / "eve.csv", "2")], replace=True)


@pytest.mark.parametrize(("column", "add", "said"), [("rating", add_ratings, ("3", "1")), ("word", add_words, ("dull", "warm"))])
def test_ratings_and_words_are_kept_as_carefully_as_verdicts(
    run: Path, tmp_path: Path, column: str, add: Callable[..., Document], said: tuple[str, str]
) -> None:
    first, second = results.load_result(run).records.episodes.list_ids()[:2]
    eve, more = tmp_path / "eve.csv", tmp_path / "more"
    more.mkdir()

    def write(file: Path, *rows: tuple[str, str]) -> Path:
        file.write_text("\n".join([f"episode,{column}", *map(",".join, rows)]))
        return file

    with pytest.raises(DataError, match=rf"row 3: field '{column}': 'eve' has two {column}s on '{first}' in this file"):
        add(run, [write(eve, (first, said[0]), (first, said[1]))])
    with pytest.raises(DataError, match=rf"eve.csv, row 3: field '{column}': is empty. Take the row out"):
        add(run, [write(eve, (first, said[0]), (second, ""))])
    with pytest.raises(DataError, match=rf"has a {column} by the same person, 'eve'"):
        add(run, [write(eve, (first, said[0])), write(more / "eve.csv", (first, said[1]))])
    with pytest.raises(DataError, match="'sheet' is the name of the sheet"):
        add(run, [write(tmp_path / "sheet.csv", (first, said[0]))])
    assert not (run / f"{column}s.jsonl").exists()
    add(run, [eve])
    with pytest.raises(DataError, match=rf"'eve' gave another {column} on '{first}' before. --replace"):
        add(run, [write(eve, (first, said[1]))])
    add(run, [eve], replace=True)
    (kept,) = (run / f"{column}s.jsonl").read_text().splitlines()[1:]
    assert said[1] in kept


def test_a_sheet_of_another_panel_is_refused(run: Path, tmp_path: Path) -> None:
    export_sheet(run, 8, tmp_path / "sheet.csv")
    (tmp_path / "judge.py").write_text('def reply(messages):\n    return \'{"reason": "r", "verdict": 0}\'\n')
    runs.judge(run, [f"python:{tmp_path / 'judge.py'}:reply"])
    with pytest.raises(InputError, match="when the judges had said otherwise"):
        export_sheet(run, 8, tmp_path / "second.csv")


def test_ratings_must_be_numbers(run: Path, tmp_path: Path) -> None:
    opened = results.load_result(run)
    episode = opened.records.episodes.list_ids()[0]
    for value in ("nan", "inf", "good"):
        (tmp_path / "ratings.csv").write_text(f"episode,rating\n{episode},{value}\n")
        with pytest.raises(DataError, match="expected a number"):
            add_ratings(run, [tmp_path / "ratings.csv"])
    assert reports.make_report_document([run])


def test_too_small_a_sample_and_a_run_nobody_judged(run: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="too few"):
        export_sheet(run, 1, tmp_path / "sheet.csv")
    runs.run("hsii", "reference/oracle", out=tmp_path / "unjudged", limit=2)
    with pytest.raises(InputError, match="no judged pair"):
        export_sheet(tmp_path / "unjudged", 8, tmp_path / "sheet.csv")
    with pytest.raises(InputError, match="Nobody has said anything"):
        make_people_document(run)


def test_free_ratings_are_ranked_against_every_metric(run: Path, tmp_path: Path) -> None:
    opened = results.load_result(run)
    passed: Counter[str] = Counter()
    for score in opened.scores:
        passed[f"{score.scenario}#{score.repeat}"] += (score.value or 0) * (score.metric in ("r1", "r2", "r3", "r4"))  # type: ignore[assignment]
    lines = [f"{episode.removesuffix('#0')},{value * 10},ann" for episode, value in passed.items()]
    (tmp_path / "ratings.csv").write_text("\n".join(["episode,rating,person", *lines]))
    document = add_ratings(run, [tmp_path / "ratings.csv"])
    rows = {row["Metric"]: row for row in cells(document, document.summary.caption)}
    assert rows["stages passed"]["Spearman's ρ"].startswith("1.00")
    assert rows["stages passed"]["Episodes"] == str(len(passed))
    assert float(rows["r2"]["Spearman's ρ"].split()[0]) > 0.5
    assert rows["r3"]["Spearman's ρ"] == "—"  # an oracle never wins
    (tmp_path / "bad.csv").write_text("episode,rating\nnone,3\n")
    with pytest.raises(DataError, match="no episode 'none'"):
        add_ratings(run, [tmp_path / "bad.csv"])


def test_the_report_shows_what_people_said_and_the_scores_stay(run: Path, tmp_path: Path) -> None:
    before = (run / "scores.json").read_bytes()
    export_sheet(run, 12, tmp_path / "sheet.csv")
    add_corrections(run, [filled(tmp_path / "sheet.csv", tmp_path / "eve.csv", "1")])
    assert (run / "scores.json").read_bytes() == before
    sections = reports.make_report_document([run]).sections
    assert "People" in [section.title for section in sections]
    # Right below the scores, for each stage once.
    notes = [block.text for block in sections[0].blocks if isinstance(block, Callout)]
    assert [note.partition(":")[0] for note in notes] == ["r3", "r4"]
    assert "corrected by 6 human verdicts" in notes[0]
