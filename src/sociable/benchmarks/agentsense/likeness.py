"""The likeness of scenes to the source they were made from (Table 3), and of dialogues to it (Table 10).

A source is longer than a scene by far, so a text is compared with the passage of its own length that shares most words with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from statistics import fmean, stdev
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from sociable.benchmarks.agentsense.briefing import describe_scene
from sociable.benchmarks.agentsense.records import AgentSenseEpisode
from sociable.benchmarks.agentsense.scenario import Scenario
from sociable.core.names import find_words
from sociable.core.view import Column, Row, Section, Table

MOST_SHOWN = 5
"""Texts that are shown: those most like a source."""


class Nearest(NamedTuple):
    """The passage of a source that is most like a text, and three measures of their likeness in [0, 1], over words."""

    source: str
    passage: str
    jaccard: float
    """Words in both texts, of the words in either."""
    gestalt: float
    """Ratcliff and Obershelp: twice the matching words, of the words of both (difflib)."""
    levenshtein: float
    """1 less the edit distance in words, of the longer text's words (rapidfuzz)."""


def find_nearest_passage(text: str, sources: Mapping[str, str]) -> Nearest | None:
    """The passage with most shared words, of those of the text's length, half a length apart. None without sources or words."""
    own = find_words(text)
    if not own:
        return None
    counted, step = Counter(own), max(1, len(own) // 2)
    passages = (
        (name, every[start : start + len(own)])
        for name, every in ((name, find_words(source)) for name, source in sources.items())
        for start in range(0, max(1, len(every) - step), step)
    )
    best = max(passages, key=lambda each: (counted & Counter(each[1])).total(), default=None)
    if best is None:
        return None
    name, passage = best
    return Nearest(name, " ".join(passage), *_measure_likeness(own, passage))


def _measure_likeness(one: Sequence[str], other: Sequence[str]) -> tuple[float, float, float]:
    """Jaccard's index, Ratcliff and Obershelp's, and Levenshtein's likeness of two texts with words in them."""
    jaccard = len(set(one) & set(other)) / len(set(one) | set(other))
    gestalt = SequenceMatcher(None, one, other, autojunk=False).ratio()
    return jaccard, gestalt, Levenshtein.normalized_similarity(one, other)


def compare_texts(scenarios: Sequence[Scenario], sources: Mapping[str, str], episodes: Sequence[AgentSenseEpisode]) -> Section:
    """Scenes beside the sources, one cast a template; and dialogues, where there are any."""
    first = {scenario.template: scenario for scenario in reversed(scenarios)}
    scenes = {template: describe_scene(scenario) for template, scenario in sorted(first.items())}
    tables = [_tabulate_likeness("Scenes beside the sources (Table 3)", scenes, sources)]
    if episodes:
        said = {episode.id: " ".join(turn.content for turn in episode.turns if turn.index > 0) for episode in episodes}
        tables.append(_tabulate_likeness("Dialogues beside the sources (Table 10)", said, sources))
    return Section("Beside the sources", tables)


def _tabulate_likeness(caption: str, texts: Mapping[str, str], sources: Mapping[str, str]) -> Table:
    """Mean and standard deviation over the texts, and the texts most like a source."""
    found = {name: nearest for name, text in texts.items() if (nearest := find_nearest_passage(text, sources)) is not None}
    rows = []
    if found:
        whole = {name: find_words(source) for name, source in sources.items()}
        beside_all = [_measure_likeness(find_words(texts[name]), whole[nearest.source]) for name, nearest in found.items()]
        rows += [
            Row(
                ["nearest passages: mean ± standard deviation", "", *_average([each[2:] for each in found.values()]), ""],
                emphasis=True,
            ),
            Row(["whole scripts, as the paper has it", "", *_average(beside_all), ""], emphasis=True),
        ]
    for name, (source, passage, *measures) in sorted(found.items(), key=lambda each: -each[1].gestalt)[:MOST_SHOWN]:
        rows.append(Row([name, source, *(f"{value:.3f}" for value in measures), passage[:200]]))
    figures = [Column(measure.capitalize(), True) for measure in Nearest._fields[2:]]
    return Table(
        caption,
        [Column("Text"), Column("Source"), *figures, Column("Nearest passage")],
        rows,
        "Each text beside the passage of its own length that shares most words with it, and beside the whole script that holds "
        "that; over words, without case and punctuation. A whole script is longer by far than a scene, so that it is like none.",
    )


def _average(measured: Sequence[Sequence[float]]) -> list[str]:
    columns = list(zip(*measured, strict=True))
    return [f"{fmean(own):.3f} ± {stdev(own):.3f}" if len(own) > 1 else f"{own[0]:.3f}" for own in columns]
