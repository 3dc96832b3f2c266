"""What a judge is asked in an audit: known answers, then some of them said otherwise, with orders to the judge, and again."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from sociable.core.names import find_words
from sociable.core.records import Verdict
from sociable.core.seeding import make_generator
from sociable.judging.auditing.alterations import ALTERATIONS, OTHER_SIDE, Alteration, add_fillers
from sociable.judging.auditing.injections import load_injections
from sociable.judging.auditing.known_answers import KnownAnswer, Said
from sociable.judging.reference import AGAIN

USUAL_KNOWN = 200
"""Known answers of a kind that a judge is asked about, unless the user says otherwise."""
SHARE_ALTERED = 0.4
"""The share of them that is altered in each way that rules can."""
SHARE_AGAIN = 0.2
"""The share of them that is asked about again."""
ITEMS_PER_WAY = 70
"""Known answers for each item that an injection is tried on, in each way."""
TIMES_AGAIN = 2
CONTROL = ", control"


class Part(StrEnum):
    """The part of an audit that something belongs to."""

    KNOWN = "known answer"
    ALTERED = "altered"
    INJECTED = "injection"
    AGAIN = "again"
    REORDERED = "criteria in another order"
    LANGUAGE = "language"
    FAMILY = "own family"


@dataclass(frozen=True, slots=True)
class Ask:
    """One thing that a judge is asked about."""

    name: str
    """Its own; calls and answers are kept under it."""
    part: Part
    way: str
    """The alteration, the injection, the language; empty for a known answer as it is."""
    base: str
    """The known answer that it was made from."""
    known: KnownAnswer
    """What is put to the judge."""
    control: str = ""
    """The name of what it is compared with; empty where it stands alone, or holds both sides itself."""


def plan_audit(
    known: Sequence[KnownAnswer], *, is_pair: bool, form: str, languages: Sequence[str], limit: int, seed: int
) -> list[Ask]:
    """All that a judge is asked about one kind of judging, in order. The same seed draws the same.

    ``form`` is that of the orders to the judge (pair, question, rating or matches), ``limit`` the number of known answers.
    """
    generator = make_generator(seed, "alterations", known[0].kind if known else "")
    asks = plan_known(known, limit, seed)
    taken, drawn = [ask.known for ask in asks], {ask.base for ask in asks}

    def draw(among: Sequence[KnownAnswer], share: float) -> list[KnownAnswer]:
        count = min(len(among), math.ceil(share * len(taken)))
        chosen = {each.id for each in generator.sample(list(among), count)}
        return [each for each in among if each.id in chosen]

    intact = [each for each in taken if each.truth is not Verdict.LOSS] if is_pair else taken
    for alteration in ALTERATIONS:
        # What is written by hand is written to be asked about, whether or not its text was drawn.
        chosen = draw(intact, SHARE_ALTERED) if alteration.alter else _draw_written(known, alteration, limit)
        for each in chosen:
            asks += _alter(each, alteration, seed, is_pair=is_pair, asked=each.id in drawn)
    worse = [each for each in taken if each.truth is Verdict.LOSS]
    for injection in load_injections():
        for each in generator.sample(worse, min(len(worse), math.ceil(len(taken) / ITEMS_PER_WAY))):
            told = each.say_otherwise(injection.add(each, form))
            # Beside it stands the same with as many words that ask for nothing: what is measured is the order, not its length.
            words = len(find_words(told.text)) - len(find_words(each.text))
            control = _make(each, Part.INJECTED, f"{injection.name}{CONTROL}", each.say_otherwise(add_fillers(each, words)), seed)
            asks += [control, _make(each, Part.INJECTED, injection.name, told, seed, control=control.name)]
    for each in draw(taken, SHARE_AGAIN):
        again = [(Part.AGAIN, f"time {number + 2}") for number in range(TIMES_AGAIN)]
        for part, way in (*again, (Part.REORDERED, "")):
            name = f"{seed}/{each.id}{AGAIN}, {way or part}"
            asks.append(Ask(name, part, way, each.id, each, f"{seed}/{each.id}"))
    for language in languages:
        for each in known:
            other_side = each.variants.get(f"{language}{OTHER_SIDE}", ())
            # A pair of which one side is in another language would be no fair one.
            if language in each.variants and (other_side or not is_pair):
                told = each.say_otherwise(each.variants[language]).model_copy(update={"golden": other_side})
                asks += _with_control(each, Part.LANGUAGE, language, told, seed, asked=each.id in drawn)
    return list({ask.name: ask for ask in asks}.values())


def plan_known(known: Sequence[KnownAnswer], limit: int, seed: int) -> list[Ask]:
    """``limit`` known answers as they are, of every damage and truth in proportion."""
    generator = make_generator(seed, "audit", known[0].kind if known else "")
    shuffled = generator.sample(list(known), len(known))
    ordered = sorted(shuffled, key=lambda each: (each.damage, each.truth))
    count = min(limit, len(known))
    start = generator.random()
    drawn = {ordered[int((number + start) * len(known) / count)].id for number in range(count)}
    return [Ask(f"{seed}/{each.id}", Part.KNOWN, "", each.id, each) for each in known if each.id in drawn]


def plan_family(both: Sequence[tuple[KnownAnswer, KnownAnswer]], limit: int, seed: int) -> list[Ask]:
    """``limit`` of the items that two runs have, each with the other run's beside it."""
    drawn = make_generator(seed, "family").sample(list(both), min(limit, len(both)))
    asks = []
    for own, other in drawn:
        asks.append(Ask(f"{seed}/{other.id}", Part.FAMILY, "", other.id, other))
        asks.append(Ask(f"{seed}/{own.id}", Part.FAMILY, "", own.id, own, f"{seed}/{other.id}"))
    return asks


def _draw_written(known: Sequence[KnownAnswer], alteration: Alteration, limit: int) -> list[KnownAnswer]:
    """Those with a variant by hand; fewer where the audit is small."""
    written = [each for each in known if alteration.name in each.variants]
    return written[: max(10, math.ceil(limit * SHARE_ALTERED))]


def _alter(each: KnownAnswer, alteration: Alteration, seed: int, *, is_pair: bool, asked: bool) -> Iterator[Ask]:
    words = alteration.apply(each)
    if words is None:
        return
    beside: tuple[Said, ...] = alteration.control(each) if alteration.control else each.subject
    told = each.say_otherwise(words)
    if is_pair:
        equal = told.model_copy(update={"golden": beside, "truth": Verdict.TIE})
        yield _make(each, Part.ALTERED, alteration.name, equal, seed)
    elif alteration.control:
        control = _make(each, Part.ALTERED, f"{alteration.name}{CONTROL}", each.say_otherwise(beside), seed)
        yield control
        yield _make(each, Part.ALTERED, alteration.name, told, seed, control=control.name)
    else:
        yield from _with_control(each, Part.ALTERED, alteration.name, told, seed, asked=asked)


def _with_control(each: KnownAnswer, part: Part, way: str, told: KnownAnswer, seed: int, *, asked: bool) -> Iterator[Ask]:
    """The altered text, and the plain one where it is not asked about as a known answer."""
    control = f"{seed}/{each.id}" if asked else f"{seed}/{each.id}|plain"
    if not asked:
        yield replace(_make(each, part, "plain", each, seed), name=control)
    yield _make(each, part, way, told, seed, control=control)


def _make(each: KnownAnswer, part: Part, way: str, told: KnownAnswer, seed: int, control: str = "") -> Ask:
    return Ask(f"{seed}/{each.id}|{way}", part, way, each.id, told, control)
