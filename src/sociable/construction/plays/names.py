"""Whom a speech heading means: abbreviations and titles by the dramatis personae and the play's other names; several speakers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from sociable.construction.plays.records import CastMember
from sociable.construction.plays.wordlists import ABBREVIATED_TITLES, ARTICLES, NUMBERS, PEERESSES, PEERS, SMALL, TITLES

_JOINED = re.compile(r"\s*(?:,\s*(?:and|&)\s+|\s(?:and|&|with)\s|,\s|\s/\s|/|\s\+\s)\s*", re.I)
_SEVERAL = re.compile(
    r"(?P<names>(?:{0},\s*)+{0},?\s+and\s+{0})(?:,\s*(?P<rest>.*))?$".format(r"[A-Z][\w’'.-]+(?: [A-Z][\w’'.-]+){0,2}")
)
_ROMAN = re.compile(r"^(?:I{1,3}|IV|VI{0,3}|IX|XI{0,3})$")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*", re.U)


def full_form(label: str) -> str:
    """A heading as a name: no stop or colon behind, no shouting ("THE FLOWER GIRL" is The Flower Girl)."""
    text = " ".join(label.replace("_", "").replace("*", "").split()).rstrip(":;,—- ")
    if text.endswith(".") and not ABBREVIATED_TITLES & set(_tokens(text)[-1:]):
        text = text.rstrip(".")
    if is_capitals(text) and len(text) > 1:
        return " ".join(_lowered(word, index) if word.isupper() else word for index, word in enumerate(text.split(" ")))
    return text


def is_capitals(name: str) -> bool:
    """Whether a name is printed in capitals; its titles need not be ("Sir ANTHONY")."""
    words = name.split()
    bare = [word for word in words if word.casefold().strip(".,") not in TITLES]
    return name.isupper() or (len(bare) < len(words) and " ".join(bare).isupper() and len(bare[0].strip(".")) > 1)


def _lowered(word: str, index: int) -> str:
    if _ROMAN.match(word) and (index or len(word) > 1):
        return word
    if word.lower() in SMALL and index:
        return word.lower()
    # A capital after a hyphen or after O', none after the apostrophe of a possessive.
    return re.sub(r"(?<![^\W\d_])(?<!\w\w['’])[^\W\d_]", lambda found: found[0].upper(), word.lower())


def cast_members(entry: str) -> tuple[CastMember, ...]:
    """The people one entry of a dramatis personae names: "Montague and Capulet, heads of houses" names two."""
    text = " ".join(re.sub(r"[{}_|*]+", " ", entry).split()).strip(" .;")
    text = re.sub(r"^(?:[-–—•·]|\d{1,2}[.)])\s+", "", text)
    members: list[CastMember] = []
    for part in re.split(r";\s+", text):
        match = re.match(
            r"(?P<name>[^,:(—–]+?)\s*(?:,|:|\(|—|–|--|\s-\s|\.{2,}|(?<=\w)\sto\s(?=[A-Z])|(?<=\w)\s(?=An?\s[a-z])|$)\s*(?P<rest>.*)$",
            part,
        )
        if not match or not any(sign.isalpha() for sign in match["name"]):
            continue
        description = match["rest"].strip(" .)")
        if several := _SEVERAL.match(part):
            listed = re.split(r",\s*(?:and\s+)?|\s+and\s+", several["names"])
            members += [CastMember(name=full_form(name), description=(several["rest"] or "").strip(" .)")) for name in listed]
            continue
        names = re.split(r"\s+(?:and|AND)\s+|\s*&\s*", match["name"])
        if not all(name[:1].isupper() for name in names):
            names = [match["name"]]
        members += [CastMember(name=full_form(name), description=description) for name in names]
    return tuple(members)


_MOVES = re.compile(r"\b(?:enters?|exit|exeunt|manet|manent)\b", re.I)
_NAMED = re.compile(r"(?<!\bof )(?<!\bfrom )\b(?:[A-Z][a-zà-ÿ]{2,}|[A-Z]{3,})\b")
_NO_PERSONS = re.compile(r"^(?:re-?)?(?:enters?|exit|exeunt|manet|manent|the|an?|all|both|with|and|at|to)$", re.I)


def cast_on_stage(directions: Iterable[str]) -> tuple[CastMember, ...]:
    """For a play without a list of persons: the names in its entrances and exits, each in its commonest spelling."""
    counts = Counter(
        word for text in directions if _MOVES.search(text) for word in _NAMED.findall(text) if not _NO_PERSONS.match(word)
    )
    common: list[str] = []
    for word, _ in counts.most_common():
        at = next((at for at, other in enumerate(common) if _is_spelling(word.casefold(), other.casefold())), None)
        if at is None:
            common.append(word)
        elif len(word) > len(common[at]) + 1:
            common[at] = word
    return tuple(CastMember(name=full_form(word)) for word in dict.fromkeys(common))


def _is_spelling(word: str, other: str) -> bool:
    """ "Benedick" and "Benedicke", "Ben" and "Benedicke": all but the ending is alike, or one shortens the other."""
    short, long = sorted((word, other), key=len)
    return long.startswith(short) or (len(short) > 5 and long.startswith(short[:-2]))


def _tokens(name: str) -> list[str]:
    words = (word.casefold().replace("’", "'") for word in _WORD.findall(name))
    return ["lord" if word == "ld" else word for word in words]


def _significant(name: str) -> list[str]:
    tokens = _tokens(name)
    kept = [token for token in tokens if token not in ARTICLES]
    return kept or tokens


def _abbreviates(token: str, word: str) -> bool:
    """ "Mr" is not short for "Mrs", "I" not for "II", nor is one of them short for several."""
    if token in NUMBERS or token in ("mr", "mrs") or word == f"{token}s":
        return word == token
    return word.startswith(token)


_FEW_SHORTENED = 4
"""At least one in so many known headings is shortened in a play that abbreviates."""


class Names:
    """Resolves the headings of one play.

    ``labels`` are all headings as printed, with how often each occurs; ``words`` are the words of the play in the spelling in
    which they stand outside headings: what occurs there as a word of its own is no abbreviation.
    """

    def __init__(self, cast: Sequence[CastMember], labels: Mapping[str, int], words: Iterable[str] = ()) -> None:
        self._cast = tuple({tuple(_significant(member.name)): member for member in reversed(cast)}.values())[::-1]
        self._words = frozenset(words)
        self._known: dict[str, str] = {}
        self._abbreviates = False
        self._of_several: set[str] = set()
        singles = Counter[str]()
        for label, count in labels.items():
            singles[full_form(label)] += count
        self._labels = singles
        self._stopped = {full_form(label) for label in labels if label.endswith(".")}
        self._resolve()

    def _resolve(self) -> None:
        for label in self._labels:
            self._settle(label)
        waiting = [label for label in self._labels if label not in self._known]
        shortened = sum(self._is_short(label) for label in self._known)
        if shortened >= 2 and shortened * _FEW_SHORTENED >= len(self._known):
            # A play that abbreviates does so even where that makes a word, such as "Nor."
            self._abbreviates = True
            waiting = [label for label in waiting if not self._settle(label)]
        self._part_the_merged()
        # Of several people of one name the one nobody else's heading means.
        taken = set(self._known.values())
        for label in list(waiting):
            free = [name for name in self._bearing(label) if name not in taken]
            if len(free) == 1 and len(self._bearing(label)) > 1:
                self._known[label] = free[0]
                taken.add(free[0])
                waiting.remove(label)
        for label in waiting:
            if label not in self._of_several and not _JOINED.search(label) and (full := self._longer(label)):
                self._known[label] = self._known.get(full, full)

    def _part_the_merged(self) -> None:
        """Two names that share nothing are two people, even where one entry of the cast holds both: each keeps its own words."""
        by_member: dict[str, list[str]] = {}
        for label, name in self._known.items():
            by_member.setdefault(name, []).append(label)
        for name, labels in by_member.items():
            own = {label: self._own_words(label, name) for label in labels}
            telling = [said for words in own.values() if (said := {word.casefold() for word in words} - TITLES)]
            if any(not one & other for one in telling for other in telling):
                self._known.update({label: " ".join(words) for label, words in own.items() if words})

    def _own_words(self, label: str, name: str) -> list[str]:
        """The words of a name that a heading is made of, or shortens."""
        words = _WORD.findall(name)
        return [word for token in _significant(label) for word in words if word.casefold().startswith(token)][
            : len(_tokens(label))
        ]

    def _is_short(self, label: str) -> bool:
        return not set(_significant(label)) <= set(_significant(self._known[label]))

    def _bearing(self, label: str) -> list[str]:
        """Who in the cast has this name, or the one name of several that it shortens."""
        wanted = _significant(label)
        if label in self._of_several and len(wanted) == 1:
            shared = {word for member in self._cast for word in _significant(member.name) if _abbreviates(wanted[0], word)}
            wanted = list(shared) if len(shared) == 1 else wanted
        return [member.name for member in self._cast if set(wanted) <= set(_significant(member.name))]

    def _settle(self, label: str) -> bool:
        """By the cast, the surest ground first; a ground that fits several people settles nothing, nor do weaker ones then."""
        wanted = _significant(label)
        if wanted in (["mr"], ["mrs"]):
            return False
        for fits in (self._same, self._part, self._described, self._shortened, self._of_rank, self._initials):
            found = [member for member in self._cast if fits(wanted, member)]
            if fits == self._described:
                found = [member for member in found if not self._is_named(member)]
            if len(found) == 1:
                self._known[label] = found[0].name
                return True
            if found and fits == self._shortened:
                if self._first_of(label, wanted, found):
                    return True
                self._of_several.add(label)
            if found and fits != self._described:
                return False
        return False

    def _first_of(self, label: str, wanted: list[str], found: list[CastMember]) -> bool:
        """ "Cap." is Capulet rather than Lady Capulet: the only one whose name begins with it, or is as long."""
        begins = [member for member in found if _significant(member.name)[0].startswith(wanted[0])]
        alike = [member for member in begins or found if len(_significant(member.name)) == len(wanted)]
        for few in (begins, alike):
            if len(few) == 1:
                self._known[label] = few[0].name
                return True
        return False

    def _same(self, wanted: list[str], member: CastMember) -> bool:
        return wanted == _significant(member.name)

    def _part(self, wanted: list[str], member: CastMember) -> bool:
        # A bare title is nobody's name; "Man" may be another than "An old man" of the list.
        is_described = _tokens(member.name)[0] in ARTICLES
        return set(wanted) <= set(_significant(member.name)) and not is_described and not set(wanted) <= TITLES

    def _described(self, wanted: list[str], member: CastMember) -> bool:
        """Not where the list has others who are called so: "Gentlemen" beside "Curan, gentleman of the household"."""
        others = {token for other in self._cast for token in _tokens(other.name)}
        is_one_of_many = bool(others & ({f"{wanted[-1]}s", re.sub("man$", "men", wanted[-1])} - {wanted[-1]}))
        return _significant(member.description)[: len(wanted)] == wanted and not is_one_of_many

    def _is_named(self, member: CastMember) -> bool:
        """Some heading has the name of this person, so that "Servant" will be another than "Reynaldo, servant of Polonius"."""
        return any(
            fits(_significant(label), member) for label in self._labels for fits in (self._same, self._part, self._shortened)
        )

    def _shortened(self, wanted: list[str], member: CastMember) -> bool:
        # "Helmer's three children" is nobody called Helmer.
        own = iter(word for word in _significant(member.name) if not word.endswith("'s"))
        return all(any(_abbreviates(token, word) for word in own) for token in wanted) and not self._is_word(wanted)

    def _of_rank(self, wanted: list[str], member: CastMember) -> bool:
        """ "Lord Gor." is Viscount Goring: lords and ladies are called so whatever their rank."""
        own = _significant(member.name)
        ranks = {"lord": PEERS, "lady": PEERESSES}.get(wanted[0], frozenset())
        return len(wanted) > 1 and own[0] in ranks and self._shortened(wanted[1:], member)

    def _initials(self, wanted: list[str], member: CastMember) -> bool:
        """ "LG" is Lord Goring."""
        own = _significant(member.name)
        return len(wanted) == 1 and len(own) > 1 and wanted[0] == "".join(word[0] for word in own) and not self._is_word(wanted)

    def _is_word(self, wanted: list[str]) -> bool:
        """Every part of it stands somewhere else in the play as a name or a word of its own."""
        if self._abbreviates:
            return False
        return all(token.capitalize() in self._words for token in wanted if len(token) > 1) and any(len(t) > 1 for t in wanted)

    def _longer(self, label: str) -> str:
        """The one other heading that this one abbreviates, or nothing."""
        wanted = _significant(label)
        if not wanted or self._is_word(wanted) or len("".join(wanted)) < 2:
            return ""
        found = []
        for other in self._labels:
            own = _significant(other)
            # Without a stop it is a name of its own ("KIT" beside one "KITCHEN"), unless the longer is the usual one.
            is_alike = len(own) == len(wanted) and own != wanted
            is_alike &= label in self._stopped or self._labels[other] > self._labels[label]
            if is_alike and all(_abbreviates(token, word) for token, word in zip(wanted, own, strict=True)):
                found.append(other)
        return found[0] if len(found) == 1 else ""

    def speakers(self, label: str) -> tuple[str, ...]:
        """Who is meant, each in full. Never empty."""
        whole = full_form(label)
        if whole in self._known:
            return (self._known[whole],)
        parts = [full_form(part) for part in _JOINED.split(whole) if part.strip()]
        if len(parts) > 1 and all(self._is_somebody(part) for part in parts):
            return tuple(dict.fromkeys(self._one(part) for part in parts))
        return (whole,)

    def _is_somebody(self, part: str) -> bool:
        return part in self._known or part in self._labels or self._settle(part)

    def _one(self, part: str) -> str:
        return self._known.get(part, part)


def joined(speakers: Sequence[str]) -> str:
    """ "Jack and Algernon"; "Jack, Lane and Algernon"."""
    return " and ".join([", ".join(speakers[:-1]), speakers[-1]]) if len(speakers) > 1 else speakers[0]


def words_of(texts: Iterable[str]) -> set[str]:
    """Every word that stands in ``texts`` without a stop behind it, which might shorten it, as spelled."""
    return {match[0] for text in texts for match in re.finditer(r"[^\W\d_]+\b(?!\.)", text)}
