"""Finds the place that somebody means who writes freely: "the café", "college library", "my room", "Okafors grocery store".

A text means a place when every word of it is accounted for: by the place's name, by the names of what it is in, by its
kind, or by words that say nothing. A word too many ("Harbour Café" in a town where the café has another name) means a
place that is not there, and there is no guessing at the nearest one. What fits several places means none of them, but
that somebody's own rooms and things come before other people's.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from itertools import pairwise
from typing import TypeVar

from rapidfuzz.distance import OSA

from sociable.town.map import Address, TownMap

LONGEST = 200
"""Characters a place's name may have; what is longer is no name."""

Words = frozenset[str]
"""Words of a text without order, endings, articles and prepositions."""

T = TypeVar("T")


# Words.

_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def _stem(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _split_words(text: str) -> list[str]:
    """All words, in order: lower case, without accents, endings and possessives; numbers as digits."""
    plain = "".join(sign for sign in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(sign))
    plain = re.sub("['\u2019\u02bc`\u00b4](?:s\\b)?", "", plain.replace("&", " and ").replace("+", " and "))
    words = re.findall(r"[^\W_]+", plain)
    return [str(_NUMBERS.index(word)) if word in _NUMBERS else _stem(word) for word in words]


def _find_words(text: str) -> list[str]:
    """The words that say something, in order."""
    return [word for word in _split_words(text) if word not in _SILENT]


def _collect_words(text: str) -> Words:
    return frozenset(_find_words(text))


def _parse_list(text: str) -> tuple[Words, ...]:
    """Phrases with commas between, each by its words."""
    return tuple(map(_collect_words, text.split(",")))


# The language; the file says what each list means.

_LANGUAGE = tomllib.loads(resources.files("sociable.town").joinpath("place_words.toml").read_text(encoding="utf-8"))
_SILENT = frozenset(_split_words(_LANGUAGE["silent"]))
_GENERIC, _FILLING, _OWN, _HOME, _ORDINARY, _SURROUNDINGS = (
    _collect_words(_LANGUAGE[name]) for name in ("generic", "filling", "own", "home", "ordinary", "surroundings")
)
_BARE_HOMES, _SHOPS = _parse_list(_LANGUAGE["bare_homes"]), _LANGUAGE["shops"].split(", ")
_HERE = frozenset(tuple(_split_words(phrase)) for phrase in _LANGUAGE["here"].split(","))
_KINDS = {kind: _parse_list(phrases) for kind, phrases in _LANGUAGE["kinds"].items()}
_BESIDE_NAMES = {kind: _parse_list(phrases) for kind, phrases in _LANGUAGE["beside_a_name"].items()}
_HOUSEHOLD = {_collect_words(room): _parse_list(names) for room, names in _LANGUAGE["household"].items()}
_OTHER_WORDS = [(tuple(_find_words(said)), tuple(_find_words(meant))) for said, meant in _LANGUAGE["other_words"].items()]

_WHERE = re.compile(
    r"\s+(?P<how>next (?:door )?to|across (?:the (?:street|road) )?from|opposite|near|beside|behind|by|on|at|in|along|around)\s+",
    re.IGNORECASE,
)
_NEAR = ("next", "across", "opposite", "near", "beside", "behind", "by")


@dataclass(frozen=True, slots=True)
class _Place:
    """A place by its words."""

    address: Address
    order: tuple[str, ...]
    own: Words
    """The words of its name."""
    core: Words
    """The words of its name that must be said."""
    around: Words
    """The words of the places that it is in."""
    kinds: tuple[Words, ...]
    """The names of its sector's kind, alone or beside a name."""

    def find_unexplained(self, said: Words) -> Words:
        rest = said - self.own - self.around
        return rest.difference(*(phrase for phrase in self.kinds if phrase <= said)) if rest else rest

    def can_be_meant(self, said: Words) -> bool:
        return bool(self.core) and self.core <= said and self.find_unexplained(said) <= _FILLING

    def measure_cost(self, said: Words) -> tuple[int, int, int]:
        """The words that say nothing, the words of the name that were not said, the depth: less is better."""
        depth = 1 + bool(self.address.arena) + bool(self.address.thing)
        return len(self.find_unexplained(said)), len(self.own - said), depth


def _find_phrases(kind: str) -> tuple[Words, ...]:
    return _KINDS.get(kind) or _parse_list(kind)


def _find_kinds(sector: str, kind: str) -> tuple[str, ...]:
    """The kinds of a sector: the map's, and those that its name ends with, before a "for" or "of"."""
    name = re.split(r"\b(?:for|of)\b", sector, maxsplit=1)[0]
    parts = [_find_words(part) for part in re.split(r"\band\b|&", name)]
    named = (
        known
        for known, phrases in _KINDS.items()
        if any(frozenset(part[-len(phrase) :]) == phrase for phrase in phrases for part in parts)
    )
    return tuple(dict.fromkeys((*([kind] if kind else []), *named)))


def _make_place(address: Address, kinds: Sequence[str]) -> _Place:
    sector, arena = _find_words(address.sector), _find_words(address.arena)
    order = tuple(_find_words(address.thing) or arena or sector)
    own = frozenset(order)
    called = tuple(phrase for kind in kinds for phrase in (*_find_phrases(kind), *_BESIDE_NAMES.get(kind, ())))
    core = own
    if not address.arena:
        core = own.difference(_GENERIC, *(phrase for phrase in called if phrase <= own)) or own
    return _Place(address, order, own, core, frozenset((*sector, *arena)) - own, called)


class PlaceFinder:
    """Finds the places of one town."""

    def __init__(self, town: TownMap) -> None:
        self._town_name = _find_words(town.name)
        kinds = {address.sector: _find_kinds(address.sector, town.kinds.get(address.sector, "")) for address in town.places}
        self._places = [_make_place(address, kinds[address.sector]) for address in town.places]
        self._by_address = {place.address: place for place in self._places}
        self._rooms: dict[str, list[_Place]] = defaultdict(list)
        self._things: dict[str, list[_Place]] = defaultdict(list)
        """The things of each sector, as ``_rooms`` has its arenas."""
        for place in self._places:
            if place.address.arena:
                (self._things if place.address.thing else self._rooms)[place.address.sector].append(place)
        self._exact = {_as_address(str(address)): address for address in town.places}
        self._by_name: dict[tuple[str, ...], set[Address]] = defaultdict(set)
        """Places by the words of the whole address, in order."""
        for place in self._places:
            self._by_name[tuple(_find_words(str(place.address)))].add(place.address)
        self._by_kind: dict[Words, set[Address]] = defaultdict(set)
        """Sectors, by what their kind is called alone."""
        for sector, own_kinds in kinds.items():
            for kind in own_kinds:
                shops = ("", "shop", "store") if kind in _SHOPS else ("",)
                for phrase in {phrase.union(_find_words(shop)) for phrase in _find_phrases(kind) for shop in shops}:
                    self._by_kind[phrase].add(Address(sector))
        self._vocabulary: Words = frozenset().union(*(place.own for place in self._places), *self._by_kind)
        self._pairs = dict.fromkeys(pair for place in self._places for pair in pairwise(place.order))
        self._apart = {"".join(pair): pair for pair in self._pairs}
        self._cached = lru_cache(maxsize=8192)(self._find)

    def find(self, text: str, home: Address, here: Address | None = None) -> Address | None:
        """Finds the place meant by ``text``, for somebody who lives at ``home``, an arena, and is ``here`` (None: in the street).

        None where there is no such place, or where several fit. A sector when none of its arenas is said, or several are.
        """
        return self._cached(text, home, here) if len(text) <= LONGEST else None

    def _find(self, text: str, home: Address, here: Address | None) -> Address | None:
        if exact := self._exact.get(_as_address(text)):
            return exact
        text = self._strip_town(text)
        if tuple(_split_words(text)) in _HERE:
            return here
        words = _find_words(text)
        if words and len(named := self._by_name.get(tuple(words), ())) == 1:
            return next(iter(named))
        mine = not _OWN.isdisjoint(words)
        words = [word for word in words if word not in _OWN]
        for spelling in self._list_spellings(words):
            said = frozenset(spelling)
            if at_home := self._find_at_home(said, mine, home):
                return at_home
            if found := self._find_in_town(said, text):
                return _choose_nearest(found, home, here)
        return self._find_nearly_named(words) or self._find_without_surroundings(text, home, here)

    def _strip_town(self, text: str) -> str:
        """The text without the town's own name before or after a place, or after "in"."""
        parts = [part for part in re.split(r"[:;,>|<{}\[\]()]|\s[-–—]\s", text) if _find_words(part)]
        others = [part for part in parts if _find_words(part) != self._town_name]
        if 0 < len(others) < len(parts):
            return ": ".join(others)
        place, _, town = text.rpartition(" in ")
        return place if town and _find_words(town) == self._town_name else text

    # Spelling

    def _list_spellings(self, words: Sequence[str]) -> Iterator[tuple[str, ...]]:
        """The words as they are, then as they may have been meant, each way once."""

        def correct(words: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(map(self._correct, words))

        seen = set()
        spelling = tuple(words)
        for mend in (tuple, _say_otherwise, self._join_or_part, correct, _say_otherwise, self._join_or_part):
            spelling = mend(spelling)
            if spelling and spelling not in seen:
                seen.add(spelling)
                yield spelling

    def _join_or_part(self, words: tuple[str, ...]) -> tuple[str, ...]:
        """Two words as one where only that is known ("guild hall"), and one as two ("tearoom")."""
        found: list[str] = []
        for word in words:
            if found and found[-1] + word in self._vocabulary and (found[-1], word) not in self._pairs:
                found[-1] += word
            elif word not in self._vocabulary and word in self._apart:
                found += self._apart[word]
            else:
                found.append(word)
        return tuple(found)

    def _correct(self, word: str) -> str:
        """A longer word without its slips of the pen, where only one word of the town's can have been meant."""
        if word in self._vocabulary or word in _FILLING or any(sign.isdigit() for sign in word):
            return word
        # Short words are too often one letter away from another: beach and bench, mall and hall.
        close = {known: known for known in self._vocabulary if known[0] == word[0] and max(len(known), len(word)) >= 6}
        return _find_nearest_spelling(word, close, 2 if len(word) >= 9 else 1) or word

    def _find_nearly_named(self, words: Sequence[str]) -> Address | None:
        """A sector, or an arena of one, whose name differs from the whole text in a letter or two."""
        text, digits = " ".join(words), [word for word in words if word.isdigit()]
        names = {
            address: " ".join(order)
            for order, addresses in self._by_name.items()
            if order and order[0][0] == text[:1] and digits == [word for word in order if word.isdigit()]
            for address in addresses
            if not address.thing
        }
        return _find_nearest_spelling(text, names, 2 if len(text) >= 20 else 1) if len(text) >= 8 else None

    # At home

    def _find_at_home(self, said: Words, mine: bool, home: Address) -> Address | None:
        """The asker's own room, a room of its house, or a thing in it, where that is what is said."""
        room = self._by_address.get(Address(home.sector, home.arena))
        if room is None:
            return None
        mine = mine or "home" in said
        if said & _HOME and (mine or said in _BARE_HOMES) and room.find_unexplained(said) <= _HOME | _FILLING:
            return room.address
        said -= {"home"}
        if said and (mine or said in _HOUSEHOLD) and (found := self._find_home_room(said, room)):
            return found
        return self._find_home_thing(said, room)

    def _find_suite(self, room: _Place) -> list[_Place]:
        """The rooms of a house that go with one by name: flat 3's, Abigail Chen's; all where none do."""
        rooms = self._rooms[room.address.sector]
        telling = room.own - {"room", "bedroom", "main", "living"}
        alike = [each for each in rooms if telling <= each.own]
        return alike if telling and len(alike) > 1 else rooms

    def _find_home_room(self, said: Words, room: _Place) -> Address | None:
        suite = self._find_suite(room)
        for rooms in (suite, self._rooms[room.address.sector]):
            for wanted in _HOUSEHOLD.get(said, (said,)):
                fitting = [each for each in rooms if wanted <= each.own]
                fitting = [each for each in fitting if each.own == wanted] or fitting
                # Of bathroom west and bathroom east either will do.
                alike = all(frozenset(each.order[: len(wanted)]) == wanted for each in fitting)
                if fitting and (alike or len(fitting) == 1):
                    return fitting[0].address
            if rooms is suite and said in _HOUSEHOLD and len(said) == 1:
                # A living room with a kitchenette is a flat's kitchen.
                (word,) = said
                arenas = {each.address.arena for each in suite}
                for thing in self._things[room.address.sector]:
                    if thing.address.arena in arenas and any(part.startswith(word) for part in thing.own):
                        return Address(room.address.sector, thing.address.arena)
        return None

    def _find_home_thing(self, said: Words, room: _Place) -> Address | None:
        """The only such thing in the own room, or else in the rooms that go with it."""
        arenas = {each.address.arena for each in self._find_suite(room)}
        things = [thing.address for thing in self._find_things(said) if thing.address.sector == room.address.sector]
        near = [address for address in things if address.arena in arenas]
        return _find_only([address for address in near if address.arena == room.address.arena], near)

    # In town

    def _find_in_town(self, said: Words, text: str) -> list[Address]:
        """All places that fit equally well; empty when there is none."""
        fitting = [place for place in self._places if place.can_be_meant(said) and not _is_cut_short(place, said, text)]
        best = min((place.measure_cost(said) for place in fitting), default=None)
        found = [place for place in fitting if place.measure_cost(said) == best]
        if found and not all(place.address.thing and place.own == said for place in found):
            return [place.address for place in found]
        for words in (said, said - _FILLING):
            phrases = [phrase for phrase in self._by_kind if phrase <= words]
            if phrases and frozenset().union(*phrases) == words:
                sectors = {sector for phrase in phrases for sector in self._by_kind[phrase]}
                meant = [each for each in sectors if not self._by_address[each].find_unexplained(words)]
                # Of a football pitch with changing rooms, the pitch.
                rooms = {each: [room.address for room in self._rooms[each.sector] if room.own <= said] for each in meant}
                return [_find_only(own) or each for each, own in rooms.items()]
        if found:
            return [thing.address for thing in self._find_things(said)]
        return self._find_partly_named(said)

    def _find_things(self, said: Words) -> list[_Place]:
        """Things of such a name: a bread oven is an oven too."""
        return [each for each in self._places if each.address.thing and said and said <= each.own and each.order[-1] in said]

    def _find_partly_named(self, said: Words) -> list[Address]:
        """Adam's house, for Adam Smith's; Adam's room; what several rooms of one house have in common."""
        sectors = [
            place.address
            for place in self._places
            if not place.address.arena
            and said & place.core
            and place.find_unexplained(said) <= _FILLING
            and (said & (place.own - place.core) or any(phrase <= said for phrase in place.kinds))
        ]
        rooms = [place for place in self._places if place.address.is_arena]
        if len(said) > 1:
            sectors += [room.address for room in rooms if said <= room.own and room.order[-1] in said]
        if sectors:
            return sectors
        rooms = [room for room in rooms if said & room.own and room.find_unexplained(said) <= _FILLING]
        shared = [sector for sector, count in Counter(room.address.sector for room in rooms).items() if count > 1]
        if len(shared) != 1:
            return []
        living = [room.address for room in rooms if room.address.sector == shared[0] and {"living", "room"} <= room.own]
        return [_find_only(living) or Address(shared[0])]

    def _find_without_surroundings(self, text: str, home: Address, here: Address | None) -> Address | None:
        """The place before a word like "on" or "by", if none to be in follows: the pub, of "the pub on the quay"."""
        without = re.sub(r"\([^()]*\)", " ", text)
        if without != text and _find_words(without):
            return self._find(without, home, here)
        where = _WHERE.search(text)
        if where is None:
            return None
        head, tail = text[: where.start()], text[where.end() :]
        around = _collect_words(tail)
        near = where["how"].casefold().startswith(_NEAR) and self._find_in_town(around, tail)
        if not near and not around <= _SURROUNDINGS:
            return None
        meant = (self._find_in_town(frozenset(spelling), head) for spelling in self._list_spellings(_find_words(head)))
        place = _choose_nearest(next(filter(None, meant), []), home, here)
        return None if place is not None and place.thing else place


def _find_nearest_spelling(text: str, names: Mapping[T, str], most: int) -> T | None:
    """The one whose name is a text with the fewest slips of the pen, if there are no more than ``most``."""
    slips = {each: OSA.distance(text, name, score_cutoff=most) for each, name in names.items()}
    least = min(slips.values(), default=most + 1)
    return _find_only([each for each, distance in slips.items() if distance == least <= most])


def _find_only(*groups: Sequence[T]) -> T | None:
    """The member of the first group that has one member only."""
    return next((group[0] for group in groups if len(group) == 1), None)


def _as_address(text: str) -> str:
    return ":".join(part.strip() for part in text.casefold().split(":"))


def _is_cut_short(place: _Place, said: Words, text: str) -> bool:
    """Whether one word is left of a longer name, and could mean something else: the ferry is not Ferry Clinic.

    Written as a name, or as somebody's, it is one: Turnpage, Okafor's.
    """
    if place.address.arena or len(place.core) > 1 or said - _FILLING != place.core or place.core == place.own:
        return False
    (word,) = place.core
    if word in _ORDINARY:
        return True
    for found in re.finditer(r"(?P<article>\b(?:the|an?)\s+)?(?P<word>[^\W_]+(?P<whose>['’]s)?)", text, re.IGNORECASE):
        if _split_words(found["word"]) == [word]:
            somebodys = found["whose"] or found["word"].casefold() == f"{word}s"
            return not (somebodys or (found["word"][0].isupper() and not found["article"]))
    return True


def _choose_nearest(found: Sequence[Address], home: Address, here: Address | None) -> Address | None:
    """The only one, the only one at home, the only one around; or what they are all in."""
    areas = [Address(place.sector, arena) for place in (home, here) if place for arena in (place.arena, "")]
    wholes = ({Address(each.sector, each.arena) for each in found}, {Address(each.sector) for each in found})
    return _find_only(found, *([each for each in found if each.is_within(area)] for area in areas), *map(list, wholes))


def _say_otherwise(words: tuple[str, ...]) -> tuple[str, ...]:
    for said, meant in _OTHER_WORDS:
        for start in range(len(words) - len(said) + 1):
            if words[start : start + len(said)] == said:
                return words[:start] + meant + words[start + len(said) :]
    return words
