"""Speech headings are resolved to one or several people, by the dramatis personae and the play's other names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from sociable.datasets.plays.records import CastMember
from sociable.datasets.plays.spelling import (
    can_begin,
    can_begin_words,
    can_contract,
    can_run_over,
    is_familiar,
    list_forms,
    pick_words,
    split_words,
    to_full_form,
)
from sociable.datasets.plays.wordlists import ARTICLES, LADIES, ORDINALS, TITLES

_JOINED = re.compile(r"\s*(?:,\s*(?:and|&)\s+|\s(?:and|&|with)\s|,\s|/|\+)\s*", re.I)
_SELDOM = 20
"""A heading that stands once for so many of another one of the same person is an accident of print."""
_FEW_SHORTENED = 4
"""The number of known headings of which at least one is shortened in a play that abbreviates."""


class Names:
    """Resolves the headings of one play.

    ``labels`` are all headings as printed, with how often each occurs; ``words`` are the words of the play in the spelling in
    which they stand outside headings: what occurs there as a word of its own is no abbreviation. ``is_listed`` says that ``cast``
    is a list of persons; names out of entrances and exits are only shortened at their end.
    """

    def __init__(
        self, cast: Sequence[CastMember], labels: Mapping[str, int], words: Iterable[str] = (), *, is_listed: bool = True
    ) -> None:
        self._cast = tuple({pick_words(member.name): member for member in reversed(cast)}.values())[::-1]
        self._forms = {member.name: list_forms(member.name) for member in self._cast}
        self._words, self._is_listed, self._abbreviates = frozenset(words), is_listed, False
        self._known: dict[str, str] = {}
        self._several: dict[str, list[str]] = {}
        """The people whom a heading fits, for each heading that fits more than one of the cast."""
        self._labels = Counter[str]()
        for label, count in labels.items():
            self._labels[to_full_form(label)] += count
        self._stopped = {to_full_form(label) for label in labels if label.endswith(".")}
        self._resolve()

    def _resolve(self) -> None:
        for label in self._labels:
            self._settle(label)
        known, several = dict(self._known), dict(self._several)
        # A play that abbreviates does so even where that makes a word, such as "Nor."
        self._abbreviates = True
        for label in self._find_waiting():
            self._settle(label)
        shortened = sum(not set(pick_words(label)) <= set(pick_words(name)) for label, name in self._known.items())
        if shortened < 2 or shortened * _FEW_SHORTENED < len(self._known):
            self._abbreviates, self._known, self._several = False, known, several
        self._split_merged()
        self._settle_by_elimination()
        for label in self._find_waiting():
            if not _JOINED.search(label):
                longer = "" if label in self._several else self._find_longer(label)
                if full := longer or self._spell_out(label):
                    self._known[label] = self._known.get(full, full)

    def _find_waiting(self) -> list[str]:
        return [label for label in self._labels if label not in self._known]

    def _split_merged(self) -> None:
        """Two names that share nothing are two people, even where one entry of the cast holds both: each keeps its own words."""
        by_member: dict[str, list[str]] = {}
        for label, name in self._known.items():
            by_member.setdefault(name, []).append(label)
        for name, found in by_member.items():
            # A name at the beginning of a line of prose may pass for a heading, once or twice.
            most = max(self._labels[label] for label in found)
            labels = [label for label in found if self._labels[label] * _SELDOM >= most]
            own = {label: self._find_own_words(label, name) for label in labels}
            telling = [said for words in own.values() if (said := {word.casefold() for word in words} - TITLES)]
            if any(not one & other for one in telling for other in telling):
                self._known.update({label: " ".join(words) for label, words in own.items() if words})

    def _find_own_words(self, label: str, name: str) -> list[str]:
        """The words of a name that a heading is made of, or shortens."""
        tokens = pick_words(label)
        own = [
            word for token in tokens for word in name.split() if split_words(word)[:1] and can_begin(token, split_words(word)[0])
        ]
        return own[: len(tokens)]

    def _settle_by_elimination(self) -> None:
        """A heading that fits several people means the one whom no other heading means; this goes on while it settles any."""
        before = -1
        while before < len(self._known):
            before = len(self._known)
            for label in self._find_waiting():
                free = set(self._several.get(label, ())) - set(self._known.values())
                if len(free) == 1 and not self._can_shorten_known(label):
                    self._known[label] = free.pop()

    def _can_shorten_known(self, label: str) -> bool:
        """ "Ro." beside "Rom." may be Romeo again rather than Rosaline, for whom nobody else speaks."""
        wanted = pick_words(label)
        short = {m.name for m in self._cast if m.name in self._several[label] and self._is_shortened(wanted, m)}
        return any(name in short and can_begin_words(wanted, pick_words(known)) for known, name in self._known.items())

    def _settle(self, label: str) -> bool:
        """Whether the cast tells whom it means. The surest ground comes first; where it fits several, nothing is settled."""
        wanted = pick_words(label)
        if wanted in (("mr",), ("mrs",)):
            return False
        grounds = [self._has_short, self._has_name, self._has_words, self._is_described, self._is_shortened]
        if self._is_listed:
            grounds += [self._is_run_together, self._is_contracted, self._is_called_familiarly, self._is_described_in_short]
        for fits in grounds:
            found = [member for member in self._cast if fits(wanted, member) and not self._is_one_of(wanted, member)]
            if fits in (self._is_described, self._is_described_in_short):
                found = [member for member in found if not self._is_named(member)]
            if len(found) > 1 and fits in (self._is_shortened, self._is_contracted):
                found = self._prefer(wanted, found)
            if len(found) == 1:
                self._known[label] = found[0].name
                return True
            if found:
                self._several[label] = [member.name for member in found]
                return False
        return False

    def _prefer(self, wanted: Sequence[str], found: list[CastMember]) -> list[CastMember]:
        """ "Cap." is Capulet rather than Lady Capulet: the only one who begins so, is as long, or needs no title."""
        begin = [member for member in found if can_begin(wanted[0], pick_words(member.name)[0])]
        alike = [member for member in begin or found if len(pick_words(member.name)) == len(wanted)]
        men = [member for member in found if not (set(pick_words(member.name)) - set(wanted)) & LADIES]
        return next((few for few in (begin, alike, men) if len(few) == 1), found)

    def _is_one_of(self, wanted: Sequence[str], member: CastMember) -> bool:
        """ "Lord" is another than "Lords", but "Iri." may be Iris."""
        own = self._forms[member.name][0]
        return any(f"{token}s" in own and (not self._abbreviates or self._is_said(token)) for token in wanted)

    def _has_short(self, wanted: Sequence[str], member: CastMember) -> bool:
        return bool(member.short) and wanted == pick_words(member.short)

    def _has_name(self, wanted: Sequence[str], member: CastMember) -> bool:
        return wanted == pick_words(member.name)

    def _has_words(self, wanted: Sequence[str], member: CastMember) -> bool:
        # A bare title is nobody's name; "Man" may be another than "An old man" of the list.
        is_described = split_words(member.name)[0] in ARTICLES
        return set(wanted) <= set(pick_words(member.name)) and not is_described and not set(wanted) <= TITLES

    def _is_described(self, wanted: Sequence[str], member: CastMember) -> bool:
        """The list describes the person so and calls no others so: "Gentlemen" beside "Curan, gentleman of the household"."""
        others = {token for other in self._cast for token in split_words(other.name)}
        is_one_of_many = bool(others & ({f"{wanted[-1]}s", re.sub("man$", "men", wanted[-1])} - {wanted[-1]}))
        return pick_words(member.description)[: len(wanted)] == wanted and not is_one_of_many

    def _is_described_in_short(self, wanted: Sequence[str], member: CastMember) -> bool:
        """ "Prin." is Escalus, Prince of Verona, but "The children's nurse" is no child."""
        told = pick_words(member.description)[: len(wanted)]
        if not self._abbreviates or len(told) < len(wanted) or any(word.endswith(("'s", "s'")) for word in told):
            return False
        return all(map(can_begin, wanted, told)) and self._is_described(told, member)

    def _is_named(self, member: CastMember) -> bool:
        """Some heading has the name of this person, so that "Servant" will be another than "Reynaldo, servant of Polonius"."""
        own, names = pick_words(member.name), [pick_words(label) for label in self._labels]
        grounds = (self._has_short, self._has_name, self._has_words, self._is_shortened)
        return any(is_familiar(name, own) or any(fits(name, member) for fits in grounds) for name in names)

    def _is_shortened(self, wanted: Sequence[str], member: CastMember) -> bool:
        return any(can_begin_words(wanted, form) for form in self._forms[member.name]) and not self._is_word(wanted)

    def _is_run_together(self, wanted: Sequence[str], member: CastMember) -> bool:
        return any(can_run_over(wanted, form) for form in self._forms[member.name]) and not self._is_word(wanted)

    def _is_contracted(self, wanted: Sequence[str], member: CastMember) -> bool:
        is_word = any(self._is_said(token) for token in wanted if token not in TITLES and len(token) > 1)
        return self._abbreviates and can_contract(wanted, pick_words(member.name)) and not is_word

    def _is_called_familiarly(self, wanted: Sequence[str], member: CastMember) -> bool:
        return self._abbreviates and is_familiar(wanted, pick_words(member.name))

    def _is_said(self, token: str) -> bool:
        return token in self._words or token.capitalize() in self._words

    def _is_word(self, wanted: Sequence[str]) -> bool:
        """Every part of it stands somewhere else in the play as a name or a word of its own."""
        if self._abbreviates:
            return False
        telling = [token for token in wanted if token not in TITLES] or wanted
        long = [token for token in telling if len(token) > 1]
        return bool(long) and all(token.capitalize() in self._words for token in long)

    def _find_longer(self, label: str) -> str:
        """The one other heading that this one abbreviates, or nothing."""
        wanted = pick_words(label)
        if self._is_word(wanted) or len("".join(wanted)) < 2:
            return ""
        found = []
        for other, count in self._labels.items():
            own = pick_words(other)
            # Without a stop it is a name of its own ("KIT" beside one "KITCHEN"), unless the longer is the usual one.
            is_alike = own != wanted and (label in self._stopped or count > self._labels[label])
            if is_alike and len(own) == len(wanted) and all(map(can_begin, wanted, own)):
                found += [] if any(word == f"{token}s" for token, word in zip(wanted, own, strict=True)) else [other]
        return found[0] if len(found) == 1 else ""

    def _spell_out(self, label: str) -> str:
        """ "1 Cit." is First Citizen where the cast has citizens: every word in full that begins one word of the cast alone."""
        numbers, tokens = {*ORDINALS.values()}, pick_words(label)
        singular = {word.removesuffix("s") for member in self._cast for word in split_words(member.name)}
        found = [[word for word in singular if can_begin(token, word)] or [token] for token in tokens]
        is_clear = all(len(words) == 1 and words[0] in singular | numbers for words in found)
        if not self._abbreviates or set(tokens) <= numbers or not is_clear:
            return ""
        return " ".join(words[0].capitalize() for words in found)

    def find_speakers(self, label: str) -> tuple[str, ...]:
        """The people whom a heading means, each in full; at least one."""
        whole = to_full_form(label)
        parts = [to_full_form(part) for part in _JOINED.split(whole) if part.strip()]
        if whole not in self._known and len(parts) > 1 and all(map(self._is_somebody, parts)):
            return tuple(dict.fromkeys(self._known.get(part, part) for part in parts))
        return (self._known.get(whole, whole),)

    def _is_somebody(self, part: str) -> bool:
        return part in self._known or part in self._labels or self._settle(part)
