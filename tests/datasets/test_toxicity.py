"""What falls out as toxic, and what must not: disguises, real news, and a classifier's stand-in."""

from __future__ import annotations

import csv
import json
import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sociable.core.errors import InputError
from sociable.datasets.toxicity import Kind, Toxicity, WordDetector, load_classifier

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
NEWS, GUM = DATA / "news_wikinews", DATA / "gum" / "news.jsonl"
needs_news = pytest.mark.skipif(not NEWS.is_dir(), reason="needs Wikinews in ../shared/data/news_wikinews")
needs_gum = pytest.mark.skipif(not GUM.is_file(), reason="needs GUM in ../shared/data/gum")

DETECT = WordDetector()
OWN = WordDetector(
    {"grobble": Kind.SLURS, "snarf": Kind.ABUSE, "zib": Kind.ABUSE, "go away now": Kind.SLURS, "plague": Kind.SUBJECTS}
)
"""Words that offend nobody."""


def found(text: str) -> tuple[str, ...]:
    return OWN([text])[0].because


@pytest.mark.parametrize(
    "text",
    [
        "You grobble!", "GROBBLE", "a grobble's", "gr0bble", "grobb1e", "gr0bbl3", "g r o b b l e",
        "you g.r.o.b.b.l.e you", "g-r-o-b-b-l-e", "grooobble", "grobbllllle", "gro**le", "gröbblé", "gr\u200bobble", "gr\u00adobble",
        "ｇｒｏｂｂｌｅ", "grоbblе", "well,grobble|snarf", "I g r o b b l e",
    ],
)  # fmt: skip
def test_words_are_known_in_disguise(text: str) -> None:
    assert "grobble" in found(text)


@pytest.mark.parametrize(
    "text",
    [
        "grobbles",
        "agrobble",
        "grobblecester",
        "gr ob ble",
        "g r o",
        "z1b",
        "z i b",
        "ziiib",
        "gr***",
        "gr**le",
        "go away",
        "nowgo away",
        "",
        "* * * *",
        "1 2 3 4",
    ],
)
def test_other_words_are_not(text: str) -> None:
    assert found(text) == ()


def test_phrases_are_known_across_lines_and_punctuation() -> None:
    assert found("Go away,\nNOW.") == ("go away now",)


def test_scores_are_added_up_in_the_worst_passage() -> None:
    scores = [each.score for each in OWN(["snarf", "snarf snarf", "grobble", "plague", "plague " * 500, "plague " * 6 + "snarf"])]
    assert scores == pytest.approx([1 - math.exp(-strength) for strength in (0.4, 0.8, 1.0, 0.05, 0.3, 0.7)])
    # 200 words apart, the two are in no common passage; 199 apart, they are.
    near, distant = (OWN(["snarf " + "word " * between + "snarf"])[0].score for between in (198, 199))
    assert near == pytest.approx(1 - math.exp(-0.8))
    assert distant == pytest.approx(1 - math.exp(-0.4))
    assert OWN(["word " * 5000 + "grobble"])[0].score == pytest.approx(1 - math.exp(-1))


@pytest.mark.parametrize(
    ("text", "harmless"),
    [
        ("Suspect charged with murder after woman was raped and killed, police say", True),
        ("Three killed in suspected terrorist attack near synagogue; killer found dead by suicide", True),
        ("Report on child pornography: paedophile ring molested and tortured boys", True),
        ("Band from Scunthorpe plays Pussy Riot songs in Penistone, with Dick Cheney in the cockpit", True),
        ("Minister apologises for calling reporter a bastard", True),
        ("The night bus on the A55 to Niger, 5417 tickets sold, 4 5 5 3 left", True),
        ("Homo sapiens and other apes", True),
        ("you fucking bitch", False),
        ("you f u c k i n g b1tch", False),
        ("Shut up you sh!t, you a$$hole", False),
        ("f*cking c*nts, all of them", False),
    ],
)
def test_news_stays_and_insults_fall_out(text: str, harmless: bool) -> None:
    (measured,) = DETECT([text])
    assert measured.is_harmless is harmless


@given(st.text(alphabet=st.sampled_from("grobleGR018*!@$ .-_'\u200bоz"), max_size=60))
def test_any_text_has_a_score_and_more_words_never_lower_it(text: str) -> None:
    (alone, more) = OWN([text, f"{text} \n, snarf"])
    assert 0 <= alone.score < 1
    assert more.score >= alone.score


@pytest.mark.parametrize("piece", ["!", "$", "*", "1", "a ", "a!", "a*", "g r o b ", "grobble ", "\u0301", "a."])
def test_long_texts_take_their_length_in_time(piece: str) -> None:
    began = time.process_time()
    OWN([piece * (60_000 // len(piece))])
    assert time.process_time() - began < 5  # tenths of a second; by the square of the length, a minute


def test_words_that_would_never_be_found_are_refused() -> None:
    for word in ("", "!!", "a+b"):
        with pytest.raises(InputError, match="never be found"):
            WordDetector({word: Kind.ABUSE})


@needs_news
@needs_gum
def test_real_news_stay() -> None:
    """Of 319 articles on wars, trials and attacks at most one in a hundred falls out."""
    csv.field_size_limit(10**6)
    texts = [article["text"] for article in map(json.loads, GUM.read_text(encoding="utf-8").splitlines())]
    for file in sorted(NEWS.glob("*.csv")):
        with file.open(encoding="utf-8", newline="") as opened:
            texts += [f"{row['title']}\n{row['text']}" for row in csv.DictReader(opened)]
    measured = DETECT(texts)
    assert len(measured) == 319
    assert sum("murder" in each.because or "killed" in each.because for each in measured) > 30
    out = [each for each in measured if not each.is_harmless]
    assert len(out) <= 3, out


# A classifier


class Pipeline:
    """Finds toxic whatever says so."""

    def __init__(self, labels: Sequence[str]) -> None:
        self.model = SimpleNamespace(config=SimpleNamespace(id2label=dict(enumerate(labels))))
        self.labels = labels
        self.read: list[str] = []

    def __call__(self, texts: list[str], *, batch_size: int, truncation: bool) -> list[list[dict[str, Any]]]:
        assert truncation
        self.read += texts
        return [[{"label": label, "score": 0.9 if label in text else 0.05} for label in self.labels] for text in texts]


def stand_in(monkeypatch: pytest.MonkeyPatch, labels: Sequence[str]) -> Pipeline:
    pipeline = Pipeline(labels)

    def make(task: str, *, model: str, top_k: int | None) -> Pipeline:
        assert (task, top_k) == ("text-classification", None)
        if model == "nobody/nothing":
            raise OSError("no such model")
        return pipeline

    module = ModuleType("transformers")
    module.pipeline = make  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "transformers", module)
    return pipeline


def test_a_classifier_takes_the_place_of_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline = stand_in(monkeypatch, ["toxic", "insult", "non-toxic"])
    detector = load_classifier("some/model")
    texts = ["an insult", "non-toxic", " ", "word " * 450 + "insult", "fine"]
    measured = dict(zip("abcde", detector(texts), strict=True))
    # "non-toxic" says toxic, too, to this stand-in; its own label does not count.
    assert measured["a"] == Toxicity(0.9, ("insult",))
    assert measured["b"] == Toxicity(0.9, ("toxic",))
    assert measured["c"] == Toxicity(0.0)
    assert measured["d"] == Toxicity(0.9, ("insult",))
    assert [name for name, each in measured.items() if each.is_harmless] == ["c", "e"]
    assert [len(passage.split()) for passage in pipeline.read] == [2, 1, 200, 200, 51, 1]


def test_labels_must_tell_what_is_harmful(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch, ["LABEL_0", "LABEL_1"])
    with pytest.raises(InputError, match="do not say which of them is harmful: LABEL_0, LABEL_1"):
        load_classifier("some/model")
    stand_in(monkeypatch, ["Neutral", "not_hate"])
    with pytest.raises(InputError, match="no harmful label"):
        load_classifier("some/model")


def test_a_classifier_that_is_not_there_is_said_to_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch, ["toxic"])
    with pytest.raises(InputError, match="'nobody/nothing' cannot be loaded: no such model"):
        load_classifier("nobody/nothing")
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(InputError, match=r"sociable\[toxicity\]"):
        load_classifier("some/model")
