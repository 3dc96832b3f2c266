"""The sample of judged pairs that people are asked about.

It is drawn by stage, by the judges' verdict and by whether judges disagree, so that rare verdicts are looked at too; weights
undo that. Sides are shuffled and judges hidden.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sociable.core.errors import InputError
from sociable.core.people_files import PeopleFiles, SheetItem
from sociable.core.seeding import derive_seed, make_generator
from sociable.engine.result import RunResult
from sociable.engine.study import ShownQuestion
from sociable.people.pairs import JudgedPair, find_shown_item


def draw_sheet(
    run: RunResult, people: PeopleFiles, strata: Mapping[str, Sequence[JudgedPair]], count: int, seed: int
) -> list[SheetItem]:
    """``count`` pairs that are on no sheet yet, or all of them: with those that are, as even over the strata as sizes allow.

    Raises InputError when no pair is left, or a stratum would have none.
    """
    drawn = {(item.episode, item.criterion) for item in people.sheets}
    there = {name: sum(pair.names in drawn for pair in pairs) for name, pairs in strata.items()}
    sizes = {name: len(pairs) for name, pairs in strata.items()}
    if there == sizes:
        raise InputError(f"All {len(drawn)} judged pairs that could be shown are on sheets already.")
    if 0 <= count < (bare := sum(not each for each in there.values())):
        raise InputError(
            f"--sample {count} is too few: there are {bare} strata without a pair, and each needs one to be weighed."
        )
    return draw_items(run, strata, _spread(count, sizes, there), seed, ("sheet", count, len(drawn)), drawn)


def draw_items(
    run: RunResult,
    strata: Mapping[str, Sequence[JudgedPair]],
    taken: Mapping[str, int],
    seed: int,
    names: Sequence[str | int],
    drawn: Collection[tuple[str, str]] = (),
) -> list[SheetItem]:
    """As many pairs of each stratum as ``taken`` says, by chance from those that were not ``drawn`` yet, in random order."""
    generator = make_generator(seed, *names)
    panel = tuple(seat.name for seat in run.seats.judges)
    items = []
    for stratum, count in taken.items():
        pairs = generator.sample([pair for pair in strata[stratum] if pair.names not in drawn], count)
        items += [_make_item(run, pair, len(strata[stratum]), panel, seed) for pair in pairs]
    generator.shuffle(items)
    return items


def _make_item(run: RunResult, pair: JudgedPair, size: int, panel: tuple[str, ...], seed: int) -> SheetItem:
    # The same pair is the same item on every sheet, the same side first.
    names = (pair.episode.id, pair.criterion)
    return SheetItem(
        # With a letter in front no spreadsheet takes it for a number.
        id=f"i{derive_seed(seed, 'item', *names):016x}",
        episode=pair.episode.id,
        scenario=pair.episode.scenario,
        criterion=pair.criterion,
        stage=pair.stage,
        question=isinstance(find_shown_item(run, pair.episode, pair.criterion), ShownQuestion),
        subject_first=make_generator(seed, "side", *names).random() < 0.5,
        stratum=pair.stratum,
        size=size,
        panel=panel,
    )


def _spread(count: int, sizes: Mapping[str, int], there: Mapping[str, int]) -> dict[str, int]:
    """The number of pairs to add to each stratum: so that all have equally many, and what small ones lack goes to the larger."""
    taken = dict(there)
    for _ in range(min(count, sum(sizes.values()) - sum(there.values()))):
        least = min((name for name in sizes if taken[name] < sizes[name]), key=taken.__getitem__)
        taken[least] += 1
    return {name: taken[name] - there[name] for name in sizes}


def has_other_strata(people: PeopleFiles, strata: Mapping[str, Sequence[JudgedPair]], panel: tuple[str, ...]) -> bool:
    """Whether an earlier sheet was drawn from other strata than these, or by another panel's verdicts."""
    now = {pair.names: stratum for stratum, pairs in strata.items() for pair in pairs}
    return any(
        now.get((item.episode, item.criterion)) != item.stratum or len(strata[item.stratum]) != item.size or item.panel != panel
        for item in people.sheets
    )
