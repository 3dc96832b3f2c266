"""Retrieval, near-duplicates and clusters over up to a million synthetic headlines: time, memory, what is found. See README.md.

python benchmarks/construction.py [--quick] [--part retrieval|duplicates|clusters|build] [--folder DIR]
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import numpy as np
from headlines import TOPICS, Headline, read_headlines, write_headlines

from sociable.api import datasets
from sociable.datasets.articles import CLUSTERS
from sociable.datasets.clusters import cluster_texts
from sociable.datasets.duplicates import cut_shingles, find_near_duplicates
from sociable.datasets.retrieval import open_index
from sociable.statistics.density import UNCLUSTERED

R = TypeVar("R")

SIZES = (62_500, 250_000, 1_000_000)
QUICK_SIZES = (15_625, 62_500)
SIMILARITY = 0.8
SEARCHES = 20
MEGABYTE = 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description="Measures the general steps of building a data set out of news.")
    parser.add_argument("--quick", action="store_true", help="few headlines, in less than a minute")
    parser.add_argument("--part", choices=["retrieval", "duplicates", "clusters", "build"], help="only one of the tables")
    parser.add_argument("--folder", type=Path, help="where to put 100 MB of headlines (default: a temporary one)")
    arguments = parser.parse_args()
    sizes = QUICK_SIZES if arguments.quick else SIZES
    parts: dict[str, Callable[[Path, Sequence[int]], None]] = {
        "retrieval": measure_retrieval,
        "duplicates": measure_duplicates,
        "clusters": measure_clusters,
        "build": measure_builds,
    }
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        file = Path(folder) / "headlines.tsv"
        write_headlines(file, max(sizes))
        for name, part in parts.items():
            if arguments.part in (None, name):
                part(file, sizes)


def in_process(function: Callable[..., R], *arguments: object) -> R:
    """In a process of its own, so that memory peaks are each measurement's own."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class PerHeadline:
    """Microseconds a headline, and how many times those of the smallest size."""

    def __init__(self) -> None:
        self._first: float | None = None

    def __call__(self, seconds: float, size: int) -> str:
        micro = 1e6 * seconds / size
        self._first = self._first or micro
        return f"{micro:.1f} | {micro / self._first:.2f}"


# Retrieval


@dataclass(frozen=True)
class Retrieved:
    building_seconds: float
    peak_megabytes: float
    milliseconds: Sequence[float]
    """Median of a search for a frequent word, a rare one, two frequent ones."""


def measure_retrieval(file: Path, sizes: Sequence[int]) -> None:
    print(
        "\n## Retrieval\n\n| headlines | building, s | µs / headline | × the smallest | peak MB "
        "| ms: frequent word | ms: rare word | ms: two words |\n|---|---|---|---|---|---|---|---|"
    )
    per_headline = PerHeadline()
    for size in sizes:
        found = in_process(retrieved, file, size)
        searches = " | ".join(f"{each:.2f}" for each in found.milliseconds)
        print(
            f"| {size:,} | {found.building_seconds:.1f} | {per_headline(found.building_seconds, size)} "
            f"| {found.peak_megabytes:.0f} | {searches} |",
            flush=True,
        )


def retrieved(file: Path, size: int) -> Retrieved:
    documents = ((f"h{number}", each.text, "") for number, each in enumerate(read_headlines(file, size)))
    began = time.perf_counter()
    with open_index(documents) as search:
        built = time.perf_counter() - began
        frequent, rare = by_frequency(read_headlines(file, min(size, 10_000)))
        medians = []
        pairs = list(pairwise(frequent))
        for searches in ([[word] for word in frequent], [[word] for word in rare], pairs):
            times = []
            for keywords in searches:
                began = time.perf_counter()
                search(keywords, 50)
                times.append(time.perf_counter() - began)
            medians.append(1000 * statistics.median(times))
    return Retrieved(built, peak_megabytes(), medians)


def by_frequency(headlines: Iterator[Headline]) -> tuple[list[str], list[str]]:
    """The most frequent words, and as many that are in one headline."""
    counts: dict[str, int] = {}
    for each in headlines:
        for word in set(cut_shingles(each.text, 1)):
            counts[word] = counts.get(word, 0) + 1
    ordered = sorted(counts, key=lambda word: (-counts[word], word))
    return ordered[:SEARCHES], ordered[-SEARCHES:]


# Near-duplicates


@dataclass(frozen=True)
class Found:
    seconds: float
    peak_megabytes: float
    kept: int
    of_similarity: Sequence[float]
    """Share that fell out of the copies with an exact similarity to their origin in each of BANDS."""
    precision: float
    """Share of those that fell out whose exact similarity to the one kept is at least SIMILARITY."""
    tolerant_precision: float
    """The same, with 0.1 less: nearly three standard errors of the estimate."""


BANDS = ((0.9, 1.01), (SIMILARITY, 0.9), (0.7, SIMILARITY), (0.0, 0.7))


def measure_duplicates(file: Path, sizes: Sequence[int]) -> None:
    print(
        "\n## Near-duplicates\n\n| headlines | s | µs / headline | × the smallest | peak MB | kept "
        "| fell out: similarity ≥ 0.9 | 0.8–0.9 | 0.7–0.8 | below | precision at 0.8 | at 0.7 |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|---|"
    )
    per_headline = PerHeadline()
    for size in sizes:
        found = in_process(deduplicated, file, size)
        shares = " | ".join(f"{share:.4f}" for share in found.of_similarity)
        print(
            f"| {size:,} | {found.seconds:.1f} | {per_headline(found.seconds, size)} | {found.peak_megabytes:.0f} "
            f"| {found.kept:,} | {shares} | {found.precision:.4f} | {found.tolerant_precision:.4f} |",
            flush=True,
        )


def deduplicated(file: Path, size: int) -> Found:
    texts = ((str(number), each.text) for number, each in enumerate(read_headlines(file, size)))
    kept_of = np.empty(size, dtype=np.int64)
    began = time.perf_counter()
    for kinship in find_near_duplicates(texts, SIMILARITY, words_per_shingle=1):
        kept_of[int(kinship.id)] = int(kinship.kept)
    seconds, peak = time.perf_counter() - began, peak_megabytes()
    headlines = list(read_headlines(file, size))

    def exact(one: int, other: int) -> float:
        first, second = set(cut_shingles(headlines[one].text, 1)), set(cut_shingles(headlines[other].text, 1))
        return len(first & second) / len(first | second)

    planted, fallen = [0] * len(BANDS), [0] * len(BANDS)
    right = nearly = out = 0
    for number, each in enumerate(headlines):
        if each.origin != number:
            similarity = exact(number, each.origin)
            band = next(place for place, (low, high) in enumerate(BANDS) if low <= similarity < high)
            planted[band] += 1
            fallen[band] += int(kept_of[number]) != number
        if kept_of[number] != number:
            similarity = exact(number, int(kept_of[number]))
            out, right, nearly = out + 1, right + (similarity >= SIMILARITY), nearly + (similarity >= SIMILARITY - 0.1)
    shares = [one / other for one, other in zip(fallen, planted, strict=True)]
    return Found(seconds, peak, size - out, shares, right / out, nearly / out)


# Clusters


@dataclass(frozen=True)
class Clustered:
    count: int
    seconds: float
    peak_megabytes: float
    rand: float
    """Adjusted Rand index of clusters and planted topics."""
    purity: float
    """Share of the clustered headlines whose topic is the most frequent of their cluster."""
    clustered: float


def measure_clusters(file: Path, sizes: Sequence[int]) -> None:
    print(
        f"\n## Clusters, {TOPICS} planted topics\n\n| headlines | clusters | s | µs / headline | × the smallest "
        "| peak MB | adjusted Rand index | purity | share clustered |\n|---|---|---|---|---|---|---|---|---|"
    )
    per_headline = PerHeadline()
    for size in sizes:
        found = in_process(clustered, file, size)
        print(
            f"| {size:,} | {found.count} | {found.seconds:.1f} | {per_headline(found.seconds, size)} "
            f"| {found.peak_megabytes:.0f} | {found.rand:.3f} | {found.purity:.3f} | {found.clustered:.3f} |",
            flush=True,
        )


def clustered(file: Path, size: int) -> Clustered:
    from sklearn.metrics import adjusted_rand_score  # type: ignore[import-untyped]

    began = time.perf_counter()
    labels = cluster_texts((each.text for each in read_headlines(file, size)), CLUSTERS)
    seconds, peak = time.perf_counter() - began, peak_megabytes()
    topics = np.array([each.topic for each in read_headlines(file, size)])
    inside = labels != UNCLUSTERED
    count = int(labels.max()) + 1
    both = np.bincount(labels[inside] * TOPICS + topics[inside], minlength=count * TOPICS)
    return Clustered(
        count=count,
        seconds=seconds,
        peak_megabytes=peak,
        rand=float(adjusted_rand_score(topics[inside], labels[inside])),
        purity=float(both.reshape(-1, TOPICS).max(axis=1).sum() / inside.sum()),
        clustered=float(inside.mean()),
    )


# The whole build, as far as it goes without a model


def measure_builds(file: Path, sizes: Sequence[int]) -> None:
    print(
        "\n## Whole build\n\n| headlines | s | µs / headline | × the smallest | peak MB | MB on disk |\n|---|---|---|---|---|---|"
    )
    per_headline = PerHeadline()
    for size in sizes:
        source = file.with_name(f"{size}.jsonl")
        with source.open("w", encoding="utf-8") as stream:
            for number, each in enumerate(read_headlines(file, size)):
                stream.write(json.dumps({"id": str(number), "text": each.text}) + "\n")
        seconds, peak, disk = in_process(built, source)
        print(f"| {size:,} | {seconds:.1f} | {per_headline(seconds, size)} | {peak:.0f} | {disk:.0f} |", flush=True)


def built(source: Path) -> tuple[float, float, float]:
    """Seconds, megabytes of memory, megabytes of the folder."""
    out = source.with_suffix("")
    began = time.perf_counter()
    datasets.construct("hsii", source, out, options={"shortest": 0, "articles": 500})
    seconds, peak = time.perf_counter() - began, peak_megabytes()
    return seconds, peak, sum(path.stat().st_size for path in out.iterdir()) / MEGABYTE


if __name__ == "__main__":
    main()
