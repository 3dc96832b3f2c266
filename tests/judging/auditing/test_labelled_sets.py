"""Sets that people have judged, in the layouts of those who published them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sociable.core.errors import DataError, InputError
from sociable.core.records import Verdict
from sociable.judging.auditing.labelled_sets import read_labelled_set
from sociable.statistics.agreement import measure_cohen, measure_fleiss

PANDALM = Path(__file__).parents[4] / "shared" / "data" / "judge_pandalm"
WIN, TIE, LOSS = Verdict.WIN, Verdict.TIE, Verdict.LOSS
A_PAIR = {"idx": 0, "instruction": "Say it.", "input": "", "response1": "It.", "response2": "No."}


@pytest.mark.skipif(not PANDALM.is_dir(), reason="PandaLM's test set is not beside the repository")
def test_pandalm_as_it_is_gives_the_published_agreement() -> None:
    found = read_labelled_set(PANDALM / "testset-v1.json")
    assert (found.layout, len(found.pairs)) == ("PandaLM", 999)
    assert measure_fleiss([pair.labels for pair in found.pairs]).value == pytest.approx(0.864, abs=5e-4)
    # What another model said of the same pairs, as its makers recorded it.
    said = {
        str(row["idx"]): str(row["gpt_result"]) for row in json.loads((PANDALM / "gpt-3.5-turbo-testset-v1.json").read_text())
    }
    verdicts = [{"1": WIN, "2": LOSS, "Tie": TIE}.get(said[pair.id], "garbage") for pair in found.pairs]
    most = [pair.majority for pair in found.pairs]
    assert sum(a is b for a, b in zip(most, verdicts, strict=True)) / 999 == pytest.approx(0.698, abs=5e-4)
    assert measure_cohen(most, verdicts).value == pytest.approx(0.476, abs=5e-4)


def write(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = value if path.suffix == ".jsonl" else None
    path.write_text("\n".join(map(json.dumps, rows)) if isinstance(rows, list) else json.dumps(value))  # type: ignore[arg-type]
    return path


def test_pandalm_and_llmbar_are_told_by_their_fields(tmp_path: Path) -> None:
    made = [A_PAIR | {"annotator1": 1, "annotator2": 2, "annotator3": 0}, A_PAIR | {"idx": 1, "annotator1": 2, "annotator2": 2}]
    first, second = read_labelled_set(write(tmp_path / "p.json", made)).pairs
    assert (first.labels, first.majority) == ((WIN, LOSS, TIE), None)
    assert second.majority is LOSS
    bar = [{"input": "Say it.", "output_1": "No.", "output_2": "It.", "label": 2}]
    found = read_labelled_set(write(tmp_path / "Natural" / "dataset.json", bar))
    assert (found.name, found.layout, found.pairs[0].labels) == ("Natural", "LLMBar", (LOSS,))


def make_faireval(folder: Path, labels: str = "CHATGPT\nTIE\nVICUNA13B\n") -> Path:
    rows = [{"question_id": number, "text": f"text {number}"} for number in range(3)]
    for name in ("question.jsonl", "answer/answer_gpt35.jsonl", "answer/answer_vicuna-13b.jsonl"):
        write(folder / name, rows)
    (folder / "review").mkdir()
    (folder / "review" / "review_gpt35_vicuna-13b_human.txt").write_text(labels)
    return folder


def test_fairevals_folder(tmp_path: Path) -> None:
    found = read_labelled_set(make_faireval(tmp_path / "FairEval"))
    assert [pair.majority for pair in found.pairs] == [WIN, TIE, LOSS]
    with pytest.raises(InputError, match=r"3 in question.jsonl.* and 2 verdicts in review_gpt35_vicuna-13b_human.txt"):
        read_labelled_set(make_faireval(tmp_path / "short", "TIE\nTIE\n"))
    with pytest.raises(DataError, match=r"human.txt, line 2.*expected CHATGPT, VICUNA13B, TIE, found 'nobody'"):
        read_labelled_set(make_faireval(tmp_path / "odd", "TIE\nnobody\nTIE\n"))


def make_sotopia(folder: Path, rewards: object) -> Path:
    episode = {
        "episode_id": "e1",
        "scenario": "Two neighbours and a hedge.",
        "agents_background": {"Mia Davis": "Mia is 50.", "Sam Ode": "Sam is 30."},
        "social_goals": {"Mia Davis": "Keep the hedge.", "Sam Ode": "Have it cut."},
        "social_interactions": 'Turn #1\nMia Davis said: "It stays."\nTurn #2\nSam Ode said: "It goes."',
    }
    write(folder / "episodes.jsonl", [episode])
    write(folder / "annotations.jsonl", [{"episode": "e1", "annotator_id": "a", "rewards": rewards, "reasoning": ""}])
    return folder


def test_sotopias_folder(tmp_path: Path) -> None:
    dimensions = {"goal": 7, "financial_and_material_benefits": 1}
    mia, sam = read_labelled_set(make_sotopia(tmp_path / "s", [[4.0, dimensions], [2.0, {"goal": 3}]])).ratings
    assert (mia.rated.goal, mia.ratings) == ("Keep the hedge.", ({"goal": 7.0, "financial": 1.0},))
    assert sam.ratings == ({"goal": 3.0},)
    assert ("Sam Ode", 'said: "It goes."') in sam.rated.conversation
    with pytest.raises(DataError, match=r"annotations.jsonl, line 1: field 'rewards': expected for every agent"):
        read_labelled_set(make_sotopia(tmp_path / "odd", [4.0, 2.0]))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([A_PAIR | {"annotator1": 3}], r"line 1, record 1: field 'annotator1': expected 0 \(neither\), 1 or 2, found '3'"),
        ([{"response1": "x"}], r"no set of texts that people have judged. Expected a .json file of PandaLM"),
        ([], r"no set of texts that people have judged"),
    ],
)
def test_what_is_no_such_set_is_refused_with_the_place(tmp_path: Path, value: object, message: str) -> None:
    with pytest.raises((InputError, DataError), match=message):
        read_labelled_set(write(tmp_path / "x.json", value))
