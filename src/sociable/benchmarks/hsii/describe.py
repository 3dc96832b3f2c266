"""The contents of a data set: size, topics, and the clusters its dialogues fall into (HSII, section 6.2, Figures 3 and 5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from operator import attrgetter
from statistics import fmean
from typing import Any

from sociable.benchmarks.hsii.clusters import (
    EMBEDDING_MODEL,
    FEWEST_DIALOGUES,
    Clustering,
    cluster_dialogues,
    find_longest_cases,
    find_telling_terms,
    list_passages,
    measure_agreement,
    place_in_plane,
)
from sociable.benchmarks.hsii.dataset import Case, CaseNotes
from sociable.benchmarks.hsii.published import MULTI_PARTY_SETS, MultiPartySet
from sociable.core.names import find_words
from sociable.core.plots import Dot, RadarPlot, ScatterPlot
from sociable.core.view import MISSING, Block, Callout, Column, Document, Paragraph, Row, Section, Table, Tone, format_figure
from sociable.statistics.density import NEAR, SEED, UNCLUSTERED

MOST_AXES = 12
"""The number of axes of a radar chart that can still be read."""

OPTIONAL_FIELDS: dict[str, Callable[[Case], Any]] = {
    "relationships": attrgetter("background.relationships"),
    "conflicts": attrgetter("background.conflicts"),
    "goals": attrgetter("background.goals"),
    **{name: attrgetter(name) for name in ("aliases", "private_facts", *CaseNotes.model_fields)},
}
"""Fields that a data file may leave out, by their names there."""


def make_description(cases: Sequence[Case], source: str, features: str = "tfidf") -> Document:
    """Size, topics and clusters of a data set of at least one case.

    ``features`` is "tfidf" or "embeddings". Raises InputError for another name, and for embeddings when the package or
    the model is missing.
    """
    import sklearn  # type: ignore[import-untyped]

    clustering = cluster_dialogues(cases, features)
    details = [("features", EMBEDDING_MODEL if features == "embeddings" else features)]
    if clustering:
        density = clustering.density
        details += [("eps", f"{density.radius:.6f}"), ("min_samples", str(density.neighbours)), ("seed", str(SEED))]
    return Document(
        title="Description of hsii",
        subtitle=f"{len(cases)} cases of {len(find_longest_cases(cases))} dialogues ({source})",
        summary=_make_size_table(cases),
        sections=[
            Section("Beside other sets", [_make_comparison_table(cases)]),
            Section("Topics", [_make_topic_table(cases)]),
            Section("Clusters", _show_clusters(cases, clustering)),
            Section("Shares", [_plot_shares(cases, clustering)]),
        ],
        details=[*details, ("scikit-learn", sklearn.__version__)],
    )


def _make_size_table(cases: Sequence[Case]) -> Table:
    dialogues = find_longest_cases(cases)
    turns = [[message.content for message in (*case.messages, case.golden)] for case in dialogues]
    stages = Counter(case.stage for case in cases)
    shares = {f"stage {name or 'not stated'}": stages[name] for name in ("single", "multi", "") if name or stages[name]}
    shares |= {f"with {name}": sum(bool(of(case)) for case in cases) for name, of in OPTIONAL_FIELDS.items()}
    spreads = {
        "cases a dialogue": list(Counter(case.dialogue for case in cases).values()),
        "characters a dialogue": [len(case.characters) for case in dialogues],
        "turns a dialogue": [len(own) for own in turns],
        "words a turn": [len(find_words(content)) for own in turns for content in own],
        "letters a case": [sum(map(len, list_passages(case))) for case in cases],
    }
    return Table(
        "Size and contents",
        [Column(""), Column("Count, mean or share", numeric=True), Column("Smallest to largest", numeric=True)],
        [
            Row(["dialogues", str(len(dialogues)), ""]),
            Row(["cases", str(len(cases)), ""]),
            *(Row([name, f"{fmean(sizes):,.1f}", f"{min(sizes):,} to {max(sizes):,}"]) for name, sizes in spreads.items()),
            *(Row([f"cases {name}", _format_share(count, len(cases)), ""]) for name, count in shares.items()),
        ],
        note="Turns are counted to a dialogue's last golden response, which is one of them. Letters are all characters, spaces "
        "included, of scene, relationships, conflicts and the messages before the golden response.",
    )


def _make_comparison_table(cases: Sequence[Case]) -> Table:
    dialogues = find_longest_cases(cases)
    turns = [message.content for case in dialogues for message in (*case.messages, case.golden)]
    words = fmean(len(find_words(content)) for content in turns)
    own = MultiPartySet("these data", len(dialogues), len(turns), words, "", "addressees, golden turns")
    rows = []
    for each in (own, *MULTI_PARTY_SETS):
        mean = f"{each.turns / each.dialogues:,.1f}"
        counts = [f"{each.dialogues:,}", f"{each.turns:,}", mean, format_figure(each.words, 1)]
        rows.append(Row([each.name, *counts, each.source, each.marked], emphasis=each is own))
    titles = ("Set", "Dialogues", "Turns", "Turns a dialogue", "Words a turn", "Source", "Marked in it")
    columns = [Column(title, 0 < place < 5) for place, title in enumerate(titles)]
    return Table("Conversations of several", columns, rows, "Figures of other sets are their papers' own.")


def _format_share(count: int, total: int) -> str:
    return f"{count / total:.1%}"


def _count_topics(cases: Sequence[Case]) -> list[tuple[str, int]]:
    """Topics with their cases, most cases first, then by name."""
    return sorted(Counter(case.topic for case in cases).items(), key=lambda item: (-item[1], item[0]))


def _count_and_share(count: int, total: int) -> list[str]:
    return [str(count), _format_share(count, total)]


def _make_topic_table(cases: Sequence[Case]) -> Table:
    dialogues = find_longest_cases(cases)
    of_dialogues = Counter(case.topic for case in dialogues)
    rows = [
        Row([topic, *_count_and_share(of_dialogues[topic], len(dialogues)), *_count_and_share(count, len(cases))])
        for topic, count in _count_topics(cases)
    ]
    columns = [Column("Topic"), *(Column(name, True) for name in ("Dialogues", "Share", "Cases", "Share of cases"))]
    every = Row(["all", str(len(dialogues)), "100.0%", str(len(cases)), "100.0%"], emphasis=True)
    return Table("Topics, as the data name them", columns, [*rows, every])


def _show_clusters(cases: Sequence[Case], clustering: Clustering | None) -> list[Block]:
    if clustering is None:
        lacking = f"{FEWEST_DIALOGUES} dialogues, and words that some of them share and others do not"
        return [Callout(f"No clusters were looked for: it takes {lacking}.", Tone.WARNING)]
    tables = _make_cluster_table(cases, clustering), _make_agreement_table(clustering)
    return [Callout(_describe_clusters(cases, clustering)), *tables, _plot_dialogues(clustering)]


def _describe_clusters(cases: Sequence[Case], clustering: Clustering) -> str:
    alone = clustering.list_members(UNCLUSTERED)
    found = {0: "No cluster", 1: "1 cluster"}.get(clustering.count, f"{clustering.count} clusters")
    share, total = _format_share(_count_cases(cases, alone), len(cases)), len(clustering.dialogues)
    text = f"{found} found; {len(alone)} of {total} dialogues, with {share} of the cases, are in none (noise)."
    if chance := clustering.density.chance:
        text += (
            f" In dialogues whose words were dealt at random the same rule finds {chance.clusters:.1f} clusters on average, "
            f"with {chance.clustered:.1%} of the dialogues."
        )
    return text


def _count_cases(cases: Sequence[Case], dialogues: Sequence[Case]) -> int:
    names = {case.dialogue for case in dialogues}
    return sum(case.dialogue in names for case in cases)


def _name_cluster(clustering: Clustering, label: int) -> str:
    """A number and the first three telling terms; nothing for no cluster."""
    if label == UNCLUSTERED:
        return ""
    terms = find_telling_terms(clustering, label)[:3]
    return f"{label + 1}: {', '.join(terms)}" if terms else str(label + 1)


def name_clusters(cases: Sequence[Case]) -> dict[str, str]:
    """The cluster of each dialogue, by its number and telling terms; empty for one in no cluster."""
    clustering = cluster_dialogues(cases, "tfidf")
    if clustering is None:
        return {case.dialogue: "" for case in cases}
    names = {label: _name_cluster(clustering, label) for label in set(clustering.labels)}
    return {case.dialogue: names[label] for case, label in zip(clustering.dialogues, clustering.labels, strict=True)}


def _make_cluster_table(cases: Sequence[Case], clustering: Clustering) -> Table:
    rows, density = [], clustering.density
    for label in [*range(clustering.count), UNCLUSTERED]:
        members = clustering.list_members(label)
        name, terms = "in none", ""
        if label != UNCLUSTERED:
            name, terms = str(label + 1), ", ".join(find_telling_terms(clustering, label)) or MISSING
        topics = ", ".join(f"{topic} {number}" for topic, number in _count_topics(members))
        counts = [str(len(members)), *_count_and_share(_count_cases(cases, members), len(cases))]
        rows.append(Row([name, *counts, terms, topics]))
    rule = (
        f"the distance within which only {NEAR:.0%} of dialogues with words dealt at random have as many"
        if density.chance
        else "the knee of the sorted distances to the farthest of as many"
    )
    columns = [
        *(Column(name, name != "Cluster") for name in ("Cluster", "Dialogues", "Cases", "Share of cases")),
        Column("Most telling words", explanation="mean weight in the cluster most above that elsewhere"),
        Column("Topics", explanation="with their dialogues"),
    ]
    note = (
        f"A cluster grows from dialogues that have {density.neighbours} within {density.radius:.3f} (themselves "
        f"included): {rule}. Dialogues are clustered and their cases counted, as cases of one dialogue share most of their text."
    )
    return Table("Clusters of dialogues (DBSCAN, cosine distance)", columns, rows, note)


def _make_agreement_table(clustering: Clustering) -> Table:
    agreement = measure_agreement(clustering)
    rows = [
        Row(["dialogues in a cluster", format_figure(agreement.clustered if agreement else None, 2)]),
        Row(["all dialogues, those in none each alone", format_figure(agreement.every if agreement else None, 2)]),
    ]
    columns = [Column("Over"), Column("Index", numeric=True, explanation="1: the same groups; 0: what chance gives on average")]
    note = "" if agreement else "Undefined for fewer than two clusters."
    return Table("Agreement of clusters and topics (adjusted Rand index)", columns, rows, note)


def _plot_dialogues(clustering: Clustering) -> ScatterPlot:
    names = {label: _name_cluster(clustering, label) for label in set(clustering.labels)}
    places = place_in_plane(clustering.density.distances)
    return ScatterPlot(
        f"Dialogues in a plane: t-SNE of their cosine distances, seed {SEED}. Near dialogues stay near; far distances and axes "
        "mean nothing. Clusters were found before the reduction; dots of no group are in no cluster.",
        [
            Dot(float(x), float(y), names[label], f"{case.dialogue} ({case.topic})")
            for case, label, (x, y) in zip(clustering.dialogues, clustering.labels, places, strict=True)
        ],
    )


def _plot_shares(cases: Sequence[Case], clustering: Clustering | None) -> RadarPlot | Paragraph:
    """Shares of cases of the clusters, or of the topics where there are fewer than three clusters."""
    if clustering and clustering.count >= 3:
        labels = range(clustering.count)
        shares = [(_name_cluster(clustering, label), _count_cases(cases, clustering.list_members(label))) for label in labels]
        rest = len(cases) - sum(size for _, size in shares)
        caption = f"Share of the cases in each cluster; {_format_share(rest, len(cases))} are in none"
    else:
        shares = _count_topics(cases)
        caption = "Share of the cases of each topic, as fewer than three clusters were found"
        if len(shares) < 3:
            return Paragraph("Neither three clusters nor three topics: there are no shares to draw.")
    if len(shares) > MOST_AXES:
        caption += f"; the {MOST_AXES} largest of {len(shares)}"
        shares = shares[:MOST_AXES]
    return RadarPlot(caption, [name for name, _ in shares], [size / len(cases) for _, size in shares])
