"""How like a text is to another: scenes beside the source they were made from (Table 3), dialogues beside it (Table 10).

A source is longer than a scene by far, so a text is held beside the passage of its own length that shares most words with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from statistics import fmean, stdev

from rapidfuzz.distance import Levenshtein

from sociable.benchmarks.agentsense.briefing import scene_in_words
from sociable.benchmarks.agentsense.records import AgentSenseEpisode
from sociable.benchmarks.agentsense.scenario import Scenario
from sociable.core.names import words
from sociable.core.view import Column, Row, Section, Table


@dataclass(frozen=True, slots=True)
class Similarity:
    """Three measures in [0, 1], over words in lower case."""

    jaccard: float
    """Words in both texts, of the words in either."""
    gestalt: float
    """Ratcliff and Obershelp: twice the matching words, of the words of both (difflib)."""
    levenshtein: float
    """1 less the edit distance in words, of the longer text's words (rapidfuzz)."""


def similarity(one: Sequence[str], two: Sequence[str]) -> Similarity:
    """Of two texts as lists of words. Two empty ones are the same."""
    either = set(one) | set(two)
    return Similarity(
        jaccard=len(set(one) & set(two)) / len(either) if either else 1.0,
        gestalt=SequenceMatcher(None, one, two, autojunk=False).ratio(),
        levenshtein=Levenshtein.normalized_similarity(one, two),
    )


@dataclass(frozen=True, slots=True)
class Nearest:
    """The passage of a source that is most like a text."""

    source: str
    passage: str
    similarity: Similarity


def nearest_passage(text: str, sources: Mapping[str, str]) -> Nearest | None:
    """By shared words among passages of the text's length, half a length apart. None without sources or words."""
    own = words(text)
    best: tuple[float, str, list[str]] | None = None
    counted = Counter(own)
    for name, source in sources.items():
        every = words(source)
        step = max(1, len(own) // 2)
        for start in range(0, max(1, len(every) - step), step):
            passage = every[start : start + len(own)]
            shared = sum((counted & Counter(passage)).values()) / max(1, len(own))
            if best is None or shared > best[0]:
                best = (shared, name, passage)
    if best is None or not own:
        return None
    _, name, passage = best
    return Nearest(name, " ".join(passage), similarity(own, passage))


def source_sections(
    scenarios: Sequence[Scenario], sources: Mapping[str, str], episodes: Sequence[AgentSenseEpisode]
) -> list[Section]:
    """Scenes beside the sources, one cast a template; and dialogues, where there are any."""
    first = {scenario.template: scenario for scenario in reversed(scenarios)}
    scenes = {template: scene_in_words(scenario) for template, scenario in sorted(first.items())}
    tables = [similarity_table("Scenes beside the sources (Table 3)", scenes, sources)]
    if episodes:
        said = {episode.id: " ".join(turn.content for turn in episode.turns if turn.index > 0) for episode in episodes}
        tables.append(similarity_table("Dialogues beside the sources (Table 10)", said, sources))
    return [Section("Beside the sources", tables)]


def similarity_table(caption: str, texts: Mapping[str, str], sources: Mapping[str, str]) -> Table:
    """Mean and standard deviation over the texts, and the texts most like a source."""
    found = {name: nearest for name, text in texts.items() if (nearest := nearest_passage(text, sources)) is not None}
    measures = ("jaccard", "gestalt", "levenshtein")
    rows = []
    if found:
        values = [[getattr(each.similarity, measure) for each in found.values()] for measure in measures]
        shown = [f"{fmean(own):.3f} ± {stdev(own):.3f}" if len(own) > 1 else f"{own[0]:.3f}" for own in values]
        rows.append(Row(["mean ± standard deviation", "", *shown, ""], emphasis=True))
        for name in sorted(found, key=lambda each: -found[each].similarity.gestalt)[:MOST_SHOWN]:
            nearest = found[name]
            own = [f"{getattr(nearest.similarity, measure):.3f}" for measure in measures]
            rows.append(Row([name, nearest.source, *own, nearest.passage[:200]]))
    figures = [Column(measure.capitalize(), True) for measure in measures]
    columns = [Column("Text"), Column("Source"), *figures, Column("Nearest passage")]
    return Table(
        caption,
        columns,
        rows,
        "Each text beside the passage of its own length that shares most words with it; over words, without case and "
        "punctuation. The paper's figures (Tables 3 and 10) are of whole scripts, and not comparable.",
    )


MOST_SHOWN = 5
"""Of the texts most like a source."""
