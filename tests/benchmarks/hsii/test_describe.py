"""What a data set is made of, and which of its dialogues are about the same."""

from __future__ import annotations

import math
import random
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.cluster import DBSCAN
from sklearn.metrics import adjusted_rand_score

from sociable.benchmarks.hsii import clusters
from sociable.benchmarks.hsii.clusters import (
    FEWEST_DIALOGUES,
    Clustering,
    cluster_dialogues,
    find_longest_cases,
    find_telling_terms,
    list_nameless_passages,
    measure_agreement,
    place_in_plane,
    weigh_terms,
)
from sociable.benchmarks.hsii.dataset import ASSISTANT, Case, cut_cases, load_dataset
from sociable.benchmarks.hsii.describe import make_description
from sociable.core.errors import InputError
from sociable.core.plots import RadarPlot, ScatterPlot
from sociable.core.view import Document, Paragraph, Table
from sociable.models.embeddings import load_encoder
from sociable.statistics.density import UNCLUSTERED, find_knee, measure_distances

ANN, BEN, CARA = "Ann Lee", "Ben Cole", "Cara Diaz"

_THEMES = {
    "sea": "anchor boat captain deck fish harbour island keel mast net oar pier rope sail tide wave",
    "school": "blackboard chalk class desk essay exam grade homework lesson mark pencil pupil reading teacher term test",
    "court": "appeal bail clerk court crime evidence fine guilty judge jury lawyer oath prison sentence trial witness",
}
THEMES = {name: listed.split(" ") for name, listed in _THEMES.items()}
COMMON = [
    f"{first}{second}{last}" for first in "bcdfghjklmnprst" for second in "aeiou" for last in ("do", "lu", "ko", "na", "ri")
]


def written(theme: str, number: int) -> str:
    """Thirty of 375 words anybody might use and twelve of the theme's sixteen, twice; of no theme, twelve more of the former."""
    generator = random.Random(f"{theme}{number}")
    own = generator.sample(THEMES[theme], 12) if theme in THEMES else []
    return " ".join(own * 2 + generator.sample(COMMON, 42 - len(own)))


def made(name: str, content: str, topic: str = "news", cases: int = 1) -> list[Case]:
    """A dialogue of that many cases, the message first."""
    turns = [{"role_from": ANN, "role_to": ASSISTANT, "content": content}]
    turns += [{"role_from": ASSISTANT, "role_to": ANN, "content": "Yes."}] * cases
    background = {"scene": "Here.", "characters": [ANN, BEN]}
    return list(cut_cases({"id": name, "topic": topic, "background": background, "messages": turns}, "test", name))


def grouped(sizes: dict[str, int], cases: dict[str, int] | None = None) -> list[Case]:
    """So many dialogues of each theme, whose name is their topic."""
    return [
        case
        for theme, size in sizes.items()
        for number in range(size)
        for case in made(f"{theme}-{number}", written(theme, number), theme, (cases or {}).get(theme, 1))
    ]


THREE_GROUPS = {"sea": 10, "school": 8, "court": 6, "none": 6}


def clustered(cases: Sequence[Case], **options: str) -> Clustering:
    found = cluster_dialogues(cases, **options)
    assert found is not None
    return found


def topics_of(clustering: Clustering) -> dict[int, dict[str, int]]:
    labels = sorted(set(clustering.labels))
    return {label: dict(Counter(case.topic for case in clustering.list_members(label))) for label in labels}


def tables(document: Document) -> dict[str, Table]:
    every = [document.summary, *(block for section in document.sections for block in section.blocks if isinstance(block, Table))]
    return {table.caption.split(" ")[0]: table for table in every}


def cells(table: Table) -> dict[str, list[str]]:
    return {row.cells[0]: list(row.cells[1:]) for row in table.rows}


def radar(document: Document) -> RadarPlot:
    (block,) = document.sections[-1].blocks
    assert isinstance(block, RadarPlot)
    return block


def scatter(document: Document) -> ScatterPlot:
    (plot,) = [block for section in document.sections for block in section.blocks if isinstance(block, ScatterPlot)]
    return plot


# Size and topics


def test_sizes_are_counted_by_hand(cases: list[Case]) -> None:
    rows = cells(make_description(cases, "test").summary)
    assert rows["dialogues"][0] == "1"
    assert rows["cases"][0] == "2"
    assert rows["cases a dialogue"] == ["2.0", "2 to 2"]
    assert rows["characters a dialogue"] == ["3.0", "3 to 3"]
    assert rows["turns a dialogue"] == ["5.0", "5 to 5"]
    # 9 + 6 + 9 + 5 + 9 words.
    assert rows["words a turn"] == ["7.6", "5 to 9"]
    assert rows["cases stage multi"][0] == "100.0%"
    assert rows["cases stage single"][0] == "0.0%"
    assert "cases stage not stated" not in rows


def test_letters_are_those_before_the_golden_response(cases: list[Case], raw: dict[str, Any]) -> None:
    background = raw["background"]
    shared = len(background["scene"]) + sum(map(len, background["relationships"])) + len(background["conflicts"])
    contents = [len(message["content"]) for message in raw["messages"]]
    first, second = shared + sum(contents[:2]), shared + sum(contents[:4])
    row = cells(make_description(cases, "test").summary)["letters a case"]
    assert row == [f"{(first + second) / 2:.1f}", f"{first} to {second}"]


def test_optional_fields_are_shares_of_cases(cases: list[Case]) -> None:
    rows = cells(make_description(cases, "test").summary)
    shares = {name.removeprefix("cases with "): row[0] for name, row in rows.items() if name.startswith("cases with ")}
    assert shares == {
        "relationships": "100.0%",
        "conflicts": "100.0%",
        "goals": "0.0%",
        "aliases": "100.0%",
        "private_facts": "100.0%",
        # The notes are those of the first case only.
        "why": "50.0%",
        "weaker": "50.0%",
        "better": "0.0%",
        "acceptable": "0.0%",
        "must_convey": "50.0%",
        "already_said": "0.0%",
        "readings": "0.0%",
        "continuation": "50.0%",
    }


def test_a_stage_that_is_not_stated_is_no_stage() -> None:
    rows = cells(make_description(made("x", "Words."), "test").summary)
    assert [rows[f"cases stage {name}"][0] for name in ("single", "multi", "not stated")] == ["0.0%", "0.0%", "100.0%"]


def test_topics_count_dialogues_and_cases() -> None:
    cases = [*made("a", "Words.", "sea", 3), *made("b", "Words.", "sea"), *made("c", "Words.", "law", 4)]
    table = tables(make_description(cases, "test"))["Topics,"]
    assert [row.cells for row in table.rows] == [
        ["law", "1", "33.3%", "4", "50.0%"],  # as many cases as sea: by name
        ["sea", "2", "66.7%", "4", "50.0%"],
        ["all", "3", "100.0%", "8", "100.0%"],
    ]


# What is compared


def test_names_and_the_topic_are_left_out_and_the_matter_is_kept(case: Case) -> None:
    text = "\n".join(list_nameless_passages(case))
    assert "mill by a rising river" in text
    assert "The water is at the door." in text
    assert "a nurse, lodges with" in text  # what an alias in lower case means is matter
    for absent in ("Ann", "Lee", "Ben", "Cole", "Cara", "Diaz", case.topic, case.golden.content):
        assert absent not in text


def test_a_name_is_left_out_with_its_genitive_and_as_a_whole_word_only() -> None:
    (case,) = made("x", "Ann's annex and Annex, Ann’s, Lee, lees and ANN; the Intelligent Assistant.")
    assert list_nameless_passages(case)[-1].split() == ["annex", "and", "Annex,", ",", ",", "lees", "and", "ANN;", "the", "."]


def test_a_dialogue_is_its_longest_case() -> None:
    cases = [*made("a", "Words.", cases=3), *made("b", "Words.")]
    assert [case.id for case in find_longest_cases([cases[2], cases[3], cases[0]])] == [cases[2].id, cases[3].id]


def test_weights_are_those_of_the_formula() -> None:
    # "boat" in 2 of 4 texts: idf = ln(5/3) + 1; "sail" too, but twice in the first: 1 + ln 2. "sun" is in 3 of 4, more than
    # half; "one" in 1; "x" and "12" are no words.
    terms = weigh_terms(["boat sail Sail, sun x 12", "boat sun x 12", "sail sun", "one"])
    assert terms is not None
    assert terms.names == ("boat", "sail")
    sail = 1 + math.log(2)
    length = math.hypot(1, sail)
    expected = [[1 / length, sail / length], [1, 0], [0, 1], [0, 0]]
    assert terms.weights.toarray() == pytest.approx(np.array(expected))
    distances = measure_distances(terms.weights)
    assert distances[0, 1] == pytest.approx(1 - 1 / length)
    assert distances[1, 2] == 1
    assert list(distances[3, :3]) == [1, 1, 1]
    assert weigh_terms(["one", "two"]) is None


# Clusters


def test_groups_of_texts_fall_into_their_clusters() -> None:
    assert topics_of(clustered(grouped(THREE_GROUPS))) == {
        UNCLUSTERED: {"none": 6},
        0: {"sea": 10},
        1: {"school": 8},
        2: {"court": 6},
    }


def test_dialogues_about_nothing_in_common_are_in_no_cluster() -> None:
    clustering = clustered(grouped({"none": 40}))
    # Of dialogues dealt at random 1 in 100 is a core; it takes its near ones along.
    assert sum(label != UNCLUSTERED for label in clustering.labels) <= 6


def test_what_chance_gives_is_measured_by_the_same_rule() -> None:
    clustering = clustered(grouped(THREE_GROUPS))
    assert clustering.density.chance is not None
    # 1 in 100 is a core, and each has two others beside it: seldom more than 3 in 100 in all.
    assert 0.01 <= clustering.density.chance.clustered < 0.06
    assert 0 < clustering.density.chance.clusters < 1


def test_clusters_are_dbscans() -> None:
    cases = grouped(THREE_GROUPS)
    clustering = clustered(cases)
    terms = weigh_terms(["\n".join(list_nameless_passages(case)) for case in cases])
    assert terms is not None
    assert clustering.density.neighbours == 3  # ln 30 = 3.4
    expected = DBSCAN(eps=clustering.density.radius, min_samples=3, metric="cosine").fit_predict(terms.weights)
    assert adjusted_rand_score(expected, clustering.labels) == 1
    assert [label == UNCLUSTERED for label in clustering.labels] == list(expected == -1)


def test_the_order_of_the_cases_does_not_matter() -> None:
    cases = grouped(THREE_GROUPS)
    random.Random(3).shuffle(cases)
    assert topics_of(clustered(cases)) == topics_of(clustered(grouped(THREE_GROUPS)))


def test_topics_do_not_make_clusters() -> None:
    cases = [case.model_copy(update={"topic": "sea"}) for case in grouped(THREE_GROUPS)]
    assert clustered(cases).labels == clustered(grouped(THREE_GROUPS)).labels


def test_names_do_not_make_clusters() -> None:
    same = clustered(grouped({"none": 30})).labels
    named = []
    for place, case in enumerate(grouped({"none": 30})):
        name = ("Zora", "Quentin", "Wanda")[place % 3]
        message = case.messages[0].model_copy(update={"content": f"{name}, {name}'s {case.messages[0].content} {name}!"})
        background = case.background.model_copy(update={"characters": (name, *case.characters), "scene": f"Here is {name}."})
        named.append(case.model_copy(update={"messages": (message,), "background": background}))
    assert clustered(named).labels == same


def test_more_cases_of_a_dialogue_change_shares_and_not_clusters() -> None:
    # Court: 6 dialogues of 5 cases; sea 10, school 8 and none 6 of 1: 54 cases.
    more = grouped(THREE_GROUPS, {"court": 5})
    clustering = clustered(more)
    assert topics_of(clustering)[0] == {"court": 6}  # the most cases come first
    assert len(clustering.labels) == 30
    document = make_description(more, "test")
    rows = cells(tables(document)["Clusters"])
    assert [rows[name][:3] for name in ("1", "2", "3", "in none")] == [
        ["6", "30", "55.6%"],
        ["10", "10", "18.5%"],
        ["8", "8", "14.8%"],
        ["6", "6", "11.1%"],
    ]
    assert radar(document).values == pytest.approx([30 / 54, 10 / 54, 8 / 54])
    assert "11.1% are in none" in radar(document).caption


def test_a_cluster_is_told_by_the_words_of_its_theme() -> None:
    clustering = clustered(grouped(THREE_GROUPS))
    for label, theme in enumerate(["sea", "school", "court"]):
        terms = find_telling_terms(clustering, label)
        assert len(terms) == 6
        assert set(terms) <= set(THEMES[theme])


def test_agreement_is_one_when_clusters_are_the_topics() -> None:
    agreement = measure_agreement(clustered(grouped(THREE_GROUPS)))
    assert agreement is not None
    assert agreement.clustered == 1
    # Pairs of a common topic: 45 + 28 + 15 + 15 = 103; of a common cluster: 88, all of them of a common topic; pairs: 435.
    # By chance 103 · 88 / 435 are both; the mean of both counts is 95.5.
    expected = 103 * 88 / 435
    assert agreement.every == pytest.approx((88 - expected) / (95.5 - expected))


def test_agreement_with_topics_that_cross_the_clusters_is_about_zero() -> None:
    cases = [case.model_copy(update={"topic": ("odd", "even")[place % 2]}) for place, case in enumerate(grouped(THREE_GROUPS))]
    agreement = measure_agreement(clustered(cases))
    assert agreement is not None
    assert agreement.clustered < 0.05


def test_one_cluster_has_no_agreement() -> None:
    clustering = clustered(grouped({"sea": 8, "none": 16}))
    assert topics_of(clustering)[0] == {"sea": 8}
    assert measure_agreement(clustering) is None


def test_texts_that_are_the_same_are_together() -> None:
    cases = [case for n in range(12) for case in made(f"d{n}", written(("sea", "school", "court")[n % 3], 0))]
    assert clustered(cases).labels == (0, 1, 2) * 4


def test_texts_that_are_all_the_same_tell_nothing_apart() -> None:
    cases = [case for n in range(12) for case in made(f"d{n}", "One text for all.")]
    assert cluster_dialogues(cases) is None
    assert make_description(cases, "test").summary.rows


# Plots


def test_the_plane_keeps_groups_together() -> None:
    clustering = clustered(grouped(THREE_GROUPS))
    places = place_in_plane(clustering.density.distances)
    inside, outside = [], []
    for one in range(24):
        for other in range(one):
            distance = math.dist(places[one], places[other])
            (inside if clustering.labels[one] == clustering.labels[other] else outside).append(distance)
    assert np.mean(inside) < np.mean(outside) / 2


def test_dots_are_dialogues_in_the_groups_of_their_clusters() -> None:
    dots = scatter(make_description(grouped(THREE_GROUPS, {"sea": 2}), "test")).dots
    assert [dot.label.split("-")[0] for dot in dots] == ["sea"] * 10 + ["school"] * 8 + ["court"] * 6 + ["none"] * 6
    assert [dot.group[:2] for dot in dots] == ["1:"] * 10 + ["2:"] * 8 + ["3:"] * 6 + [""] * 6


def test_with_fewer_than_three_clusters_the_radar_shows_topics_and_says_so() -> None:
    document = make_description(grouped({"sea": 8, "school": 8, "none": 8}), "test")
    assert set(cells(tables(document)["Clusters"])) == {"1", "2", "in none"}
    assert radar(document).axes == ["none", "school", "sea"]
    assert radar(document).values == pytest.approx([1 / 3, 1 / 3, 1 / 3])
    assert "Share of the cases of each topic, as fewer than three clusters were found" in radar(document).caption


def test_a_radar_has_no_more_axes_than_can_be_read() -> None:
    cases = [case for n in range(15) for case in made(f"d{n}", "Words.", f"topic {n:02}", 2 if n == 14 else 1)]
    plot = radar(make_description(cases, "test"))
    assert plot.axes == ["topic 14", *(f"topic {n:02}" for n in range(11))]
    assert "the 12 largest of 15" in plot.caption
    assert plot.values[0] == pytest.approx(2 / 16)


# Any data set


@pytest.mark.parametrize("dialogues", range(1, 10))
def test_few_dialogues_can_be_described(dialogues: int) -> None:
    document = make_description(grouped({"none": dialogues}), "test")
    looked = "Clusters" in tables(document)
    assert looked == (dialogues >= FEWEST_DIALOGUES)


def test_two_cases_of_one_dialogue_can_be_described(cases: list[Case]) -> None:
    document = make_description(cases[:2], "test")
    assert document.title == "Description of hsii"
    assert document.subtitle == "2 cases of 1 dialogues (test)"
    assert isinstance(document.sections[-1].blocks[0], Paragraph)


def test_the_bundled_data_are_described_alike_every_time() -> None:
    cases = load_dataset().items
    document = make_description(cases, "bundled")
    assert document == make_description(cases, "bundled")
    assert len(scatter(document).dots) == len({case.dialogue for case in cases})
    assert cells(document.summary)["cases"][0] == str(len(cases))


# Features


def test_other_features_are_refused() -> None:
    with pytest.raises(InputError, match=r"no features 'bert'\. Choose 'tfidf' or 'embeddings'"):
        make_description(made("x", "Words."), "test", features="bert")


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(InputError, match=r"sociable\[embeddings\]"):
        make_description(made("x", "Words."), "test", features="embeddings")


Encode = Callable[..., Any]


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """A stand-in for sentence-transformers: one direction a theme, as long as a passage has words of it. Lists what it got."""
    got: list[Any] = []

    class Transformer:
        def __init__(self, model: str) -> None:
            if model == "absent":
                raise OSError("no such model")
            got.append(model)

        def encode(self, passages: list[str], show_progress_bar: bool = True) -> Any:
            assert not show_progress_bar
            got.append(passages)
            return [self._vector(passage) for passage in passages]

        def _vector(self, passage: str) -> list[float]:
            words = passage.split()
            own = [len(set(words) & set(theme)) for theme in THEMES.values()]
            # And a direction of its own for every text.
            return [*map(float, own), *np.random.default_rng(zlib.crc32(passage.encode())).normal(0, 0.5, 40)]

    monkeypatch.setitem(sys.modules, "sentence_transformers", SimpleNamespace(SentenceTransformer=Transformer))
    load_encoder.cache_clear()
    yield got
    load_encoder.cache_clear()


def test_embeddings_of_passages_are_clustered(package: list[Any]) -> None:
    clustering = clustered(grouped(THREE_GROUPS), features="embeddings")
    assert package[0] == "sentence-transformers/all-MiniLM-L6-v2"
    assert package[1] == list_nameless_passages(grouped(THREE_GROUPS)[0])
    assert len(package) == 1 + 30
    themes = [topics for label, topics in topics_of(clustering).items() if label != UNCLUSTERED]
    assert {theme for topics in themes for theme in topics if topics[theme] > 2} >= set(THEMES)
    assert all(len(set(topics) & set(THEMES)) == 1 for topics in themes)
    assert clustering.density.chance is None
    core = np.sort(clustering.density.distances, axis=1)[:, clustering.density.neighbours - 1]
    assert clustering.density.radius == find_knee(core)


def test_the_embedding_model_is_named_and_must_be_there(package: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    document = make_description(grouped(THREE_GROUPS), "test", "embeddings")
    assert ("features", package[0]) in document.details
    monkeypatch.setattr(clusters, "EMBEDDING_MODEL", "absent")
    with pytest.raises(InputError, match="'absent' cannot be loaded: no such model"):
        make_description(made("x", "Words."), "test", "embeddings")
