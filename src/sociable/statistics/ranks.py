"""Ranks that the data allow: who is surely better than whom, for all pairs at once, and what follows for each one's place."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_lowercase

from sociable.statistics.conclusions import Conclusion

Pair = tuple[str, str]
"""The names of two who were compared; of two who are told apart, the better one first."""


@dataclass(frozen=True, slots=True)
class RankRange:
    """The places that somebody may have, 1 being the best; ``group`` has a letter for each group of whom none are told apart."""

    best: int
    worst: int
    group: str


def rank(names: Sequence[str], better: Collection[Pair]) -> Mapping[str, RankRange]:
    """The range of ranks of each of ``names``, which are in order of their values, from who is ``better`` than whom for sure.

    One more than the number of those who are surely better is the best rank that somebody may have; all but those who are surely
    worse can be ahead. Where pairs are told apart by ``draw_conclusions`` over all of them, all ranges hold at once with
    probability 1 - level. Who was compared with nobody can have any rank.

    Source: Mogstad, Romano, Shaikh and Wilhelm 2024, "Inference for Ranks with Applications to Mobility across Neighbourhoods and
    Academic Achievement across Countries", section 3.

    With two names, one more win never makes a range worse. With more, the p-values of a winner's pairs still move the right way,
    but Holm's correction of one pair depends on all others.
    """
    letters = _find_letters(names, better)
    return {
        name: RankRange(
            1 + sum((other, name) in better for other in names),
            len(names) - sum((name, other) in better for other in names),
            letters[name],
        )
        for name in names
    }


def find_better(compared: Iterable[tuple[Pair, float | None, Conclusion | None]]) -> set[Pair]:
    """Every pair that is told apart, from (names, how much better the second is, what was concluded) of each."""
    return {
        (second, first) if ahead > 0 else (first, second)
        for (first, second), ahead, conclusion in compared
        if ahead and conclusion and conclusion.is_told_apart
    }


def _find_letters(names: Sequence[str], better: Collection[Pair]) -> dict[str, str]:
    """The letters of each name: two share one exactly where they are not told apart.

    Source: Piepho 2004, "An Algorithm for a Letter-Based Representation of All-Pairwise Comparisons", for what letters say. They
    are found as a cover by cliques, as in Gramm et al. 2007, "Algorithms for Compact Letter Displays": each pair that has no
    letter in common gets a new one, which goes to all others as well who are told apart from nobody who has it.
    """
    apart = {frozenset(pair) for pair in better}

    def grow(group: list[str]) -> list[str]:
        for name in names:
            if name not in group and not any(frozenset((name, other)) in apart for other in group):
                group.append(name)
        return group

    groups: list[list[str]] = []
    for place, first in enumerate(names):
        for second in names[place:]:
            if frozenset((first, second)) not in apart and not any({first, second} <= set(group) for group in groups):
                groups.append(grow(list(dict.fromkeys((first, second)))))
    groups.sort(key=lambda group: sorted(map(names.index, group)))
    named = list(zip(_list_letters(len(groups)), groups, strict=True))
    return {name: "".join(letter for letter, group in named if name in group) for name in names}


def _list_letters(count: int) -> Iterator[str]:
    """a to z; then a2 to z2, and so on."""
    for place in range(count):
        round_, letter = divmod(place, len(ascii_lowercase))
        yield f"{ascii_lowercase[letter]}{round_ + 1 if round_ else ''}"
