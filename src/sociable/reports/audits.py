"""The parts of an audit that are the same for every benchmark: shortcuts beside chance, texts that are too alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from sociable.core.names import find_words
from sociable.core.plots import IntervalPlot, Mark
from sociable.core.view import Callout, Column, Row, Table, Tone, format_figure, format_interval, format_with_interval
from sociable.statistics.intervals import Interval, estimate_mean


@dataclass(frozen=True, slots=True)
class ShortcutResult:
    """The result of a shortcut: how often a rule that understands nothing finds what is right."""

    name: str
    hits: Interval
    chance: float

    @property
    def distance(self) -> float:
        """The distance from chance, with sign."""
        return (self.hits.value or 0.0) - self.chance


def compare_with_chance(
    hits: Mapping[str, Sequence[float]], clusters: Sequence[str], chances: Sequence[float]
) -> list[ShortcutResult]:
    """The results by shortcut: its hits in the cases (in [0, 1]) beside their mean chance; the farthest from chance first."""
    chance = sum(chances) / len(chances)
    return sort_by_distance([ShortcutResult(name, estimate_mean(own, clusters), chance) for name, own in hits.items()])


def sort_by_distance(results: Sequence[ShortcutResult]) -> list[ShortcutResult]:
    return sorted(results, key=lambda result: -abs(result.distance))


def rate_shortcuts(results: Sequence[ShortcutResult], tolerance: float) -> Callout:
    """Whether any is further from chance than it may be on data that are to be trusted."""
    if far := [result.name for result in results if abs(result.distance) > tolerance]:
        named = "; ".join(far)
        return Callout(f"{len(far)} of {len(results)} shortcuts are further than {tolerance:g} from chance: {named}.", Tone.BAD)
    most = max(results, key=lambda result: abs(result.distance))
    low, high, chance = most.hits.low, most.hits.high, most.chance
    beyond = low is not None and high is not None and not low <= chance <= high
    told = f"The farthest is '{most.name}': {format_with_interval(most.hits.value, low, high, 2)} against {chance:.2f} by chance."
    return Callout(f"No shortcut is further than {tolerance:g} from chance. {told}", Tone.NEUTRAL if beyond else Tone.GOOD)


def make_shortcuts_table(
    caption: str,
    results: Sequence[ShortcutResult],
    tolerance: float,
    of: str,
    beside: tuple[Column, Mapping[str, str]] | None = None,
) -> Table:
    """``of`` says what the hits are a share of; ``beside`` is a further column, with its cells by shortcut."""
    columns = [Column("Shortcut"), Column("Hits", True, f"share of {of}"), Column("Chance", True), Column("Distance", True)]
    columns += [beside[0]] if beside else []
    rows = []
    for result in results:
        hits = format_interval(result.hits, 2)
        cells = [result.name, hits, format_figure(result.chance, 2), f"{result.distance:+.2f}"]
        cells += [beside[1].get(result.name, format_figure(None))] if beside else []
        rows.append(Row(cells, emphasis=abs(result.distance) > tolerance))
    return Table(caption, columns, rows)


def make_shortcuts_plot(results: Sequence[ShortcutResult], of: str) -> IntervalPlot:
    """A plot of how often each shortcut hits; ``of`` names what it hits."""
    return IntervalPlot(
        caption="Hits of each shortcut; the line is chance",
        axis=f"share of {of}",
        marks=[Mark(result.name, result.hits.value, result.hits.low, result.hits.high) for result in results],
        minimum=0.0,
        maximum=1.0,
        reference=results[0].chance,
        reference_label="chance",
    )


ALIKE = 0.05
"""Jaccard similarity of the sets of five words in a row, above which two texts are too alike."""


def find_alike_texts(texts: Mapping[str, str]) -> list[str]:
    """Pairs of texts that share too many runs of five words, named by their keys, the most alike first."""
    said = {name: find_words(text) for name, text in texts.items()}
    runs = {name: {tuple(own[place : place + 5]) for place in range(len(own) - 4)} for name, own in said.items()}
    found: list[tuple[float, str]] = []
    for one, other in combinations(texts, 2):
        either = runs[one] | runs[other]
        similarity = len(runs[one] & runs[other]) / len(either) if either else 0.0
        if similarity > ALIKE:
            found.append((similarity, f"{one} and {other} share {similarity:.0%} of their runs of five words"))
    return [said for _, said in sorted(found, key=lambda pair: -pair[0])]


MOST_SHOWN = 10


def shorten_list(problems: Sequence[str]) -> list[str]:
    """The first few of many problems of one kind, and how many more there are."""
    more = len(problems) - MOST_SHOWN
    return [*problems[:MOST_SHOWN], *([f"And {more:,} more like these."] if more > 0 else [])]
