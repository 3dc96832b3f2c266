"""People as a play names them: in headings, in its list of persons, in its entrances."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from sociable.datasets.plays.records import CastMember
from sociable.datasets.plays.shortening import may_stand_for
from sociable.datasets.plays.wordlists import ABBREVIATED_TITLES, SMALL, TITLES

_SEVERAL = re.compile(
    r"(?P<names>(?:{0},\s*)+{0},?\s+and\s+{0})(?:,\s*(?P<rest>.*))?$".format(r"[A-Z][\w’'.-]+(?: [A-Z][\w’'.-]+){0,2}")
)
_CODE = r"[A-Z0-9][\w.’'#]{0,9}(?: [A-Z0-9][\w.’'#]{0,9})?"
_WITH_SHORT = (
    re.compile(rf"(?P<short>{_CODE})\s*(?:\s{{2}}|[:=–—]|--|\s-\s)\s*(?P<rest>[A-Z].*)$"),
    re.compile(rf"(?P<rest>[^,(\[]+?)\s*[\[(](?P<short>{_CODE})[\])]"),
)
_CALLED = re.compile(r"(?P<front>[A-Z][\w.’' ]*?) [(“\"](?P<short>[A-Z][\w.’']+)[)”\"] (?P<back>[A-Z]\w+.*)$")
""" "John (Jack) Worthing"."""
_ROMAN = re.compile(r"^(?:I{1,3}|IV|VI{0,3}|IX|XI{0,3})$")


def full_form(label: str) -> str:
    """A heading as a name: no stop or colon behind, no shouting ("THE FLOWER GIRL" is The Flower Girl)."""
    text = " ".join(label.replace("_", "").replace("*", "").split()).rstrip(":;,—- ")
    if text.endswith(".") and text.split()[-1].casefold().rstrip(".") not in ABBREVIATED_TITLES:
        text = text.rstrip(".")
    if is_capitals(text) and len(text) > 1:
        return " ".join(_lowered(word, index) if word.isupper() else word for index, word in enumerate(text.split(" ")))
    return text


def is_capitals(name: str) -> bool:
    """Whether a name is printed in capitals; its titles need not be ("Sir ANTHONY"), nor what joins two."""
    words = name.split()
    bare = [word for word in words if word.casefold().strip(".,") not in TITLES and word != "and"]
    return name.isupper() or (len(bare) < len(words) and " ".join(bare).isupper() and len(bare[0].strip(".")) > 1)


def _lowered(word: str, index: int) -> str:
    if _ROMAN.match(word) and (index or len(word) > 1):
        return word
    if word.lower() in SMALL and index:
        return word.lower()
    # A capital after a hyphen or after O', none after the apostrophe of a possessive.
    return re.sub(r"(?<![^\W_])(?<!\w\w['’])[^\W\d_]", lambda found: found[0].upper(), word.lower())


def cast_members(entry: str) -> tuple[CastMember, ...]:
    """The people one entry of a dramatis personae names: "Montague and Capulet, heads of houses" names two."""
    text = re.sub(r"\t+", " – ", re.sub(r"[{}_|*]+", " ", entry).strip(" .;"))
    text = re.sub(r"^(?:[-–—•·#]|\d{1,2}[.)])\s+", "", text)
    for pattern in _WITH_SHORT:
        match = pattern.match(text)
        named = cast_members(match["rest"] + text[match.end() :]) if match else ()
        if match and named and may_stand_for(match["short"], named[0].name):
            return named[0].model_copy(update={"short": match["short"]}), *named[1:]
    if match := _CALLED.match(text):
        named = cast_members(f"{match['front']} {match['back']}")
        return named[0].model_copy(update={"short": match["short"]}), *named[1:]
    # Two columns: a name and, a gap behind it, who that is.
    text = " ".join(re.sub(r"(?<=\w)\s{2,}(?=\w)", " – ", text, count=1).split())
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


def join_names(speakers: Sequence[str]) -> str:
    """ "Jack and Algernon"; "Jack, Lane and Algernon"."""
    return " and ".join([", ".join(speakers[:-1]), speakers[-1]]) if len(speakers) > 1 else speakers[0]


def words_of(texts: Iterable[str]) -> set[str]:
    """Every word that stands in ``texts`` without a stop behind it, which might shorten it, as spelled."""
    return {match[0] for text in texts for match in re.finditer(r"[^\W\d_]+\b(?!\.)", text)}
