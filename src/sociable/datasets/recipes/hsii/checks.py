"""Checks of a written scene and a written dialogue that need no understanding (section 5.1, rebuttal).

Each check raises Rejected with a reason that can be counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from sociable.benchmarks.hsii.dataset import ASSISTANT, Case, Message, cut_cases, load_dataset
from sociable.core.names import find_people, find_words, normalise_name
from sociable.datasets.duplicates import cut_shingles
from sociable.datasets.stages import Rejected

PARTIES = (2, 5)
"""Characters of a scene (Figure 6: not more than five)."""
ASSISTANT_TURNS = 3
_THE_ASSISTANT = frozenset(("the", "an", "assistant", "ai", *find_words(ASSISTANT)))
"""A shop assistant is somebody else."""
COPIED, FEWEST = 8, 5
"""Words in a row: who says so many of another's has them from there; or all of them, if they are no fewer than these."""
_SINGLE = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
_PARTICLES = "de|del|la|le|van|von|der|den|bin|ibn|al|el|du|di|da|dos|of|the"
_LETTERS = [chr(number) for number in (*range(0x41, 0x250), *range(0x370, 0x530))]
_CAPITALS, _SMALLS = ("".join(filter(kind, _LETTERS)) for kind in (str.isupper, str.islower))
"""Letters of the Latin, Greek and Cyrillic alphabets."""
_CAPITAL = rf"[{_CAPITALS}][\w'’-]+"
_NAMED = re.compile(rf"\b{_CAPITAL}(?: (?:[A-Z]\.|{_PARTICLES}))*(?: {_CAPITAL})+\b")
"""Two capitalised words or more: people, firms and places; and offices."""
_CALLED = re.compile(rf"(?<=[{_SMALLS},;] ){_CAPITAL}")
"""A capitalised word inside of a sentence."""
_SMALL = re.compile(rf"(?<![\w'’-])[{_SMALLS}][\w'’-]+")
_ADDRESS = re.compile(r"[@/]|\w\.\w")
"""What stands only in an address: of mail, of a page, of somebody on a network: there names are written small."""
_NOBODY = frozenset(
    find_words(
        "prime minister president vice secretary general chief justice supreme high court senate house parliament police "
        "department ministry council mayor governor attorney officer director executive member committee office monday tuesday "
        "wednesday thursday friday saturday sunday january february march april may june july august september october november "
        "december internet"
    )
)
"""Offices, and what is written with a capital and names nobody."""
_OF_A_PEOPLE = re.compile(r"(?:an|ese|ish|ench|utch|reek|erman|ic|im|ims|ans|crat|crats)$")
"""Endings of words that say of what people, faith or party somebody is."""


def find_common_words(texts: Iterable[str]) -> frozenset[str]:
    """Words that somebody writes in small letters, so that a capital makes no name of them; the bundled dialogues' too."""
    bundled = (text for case in load_dataset().items for text in (case.golden.content, case.background.scene))
    found = set(_NOBODY)
    for text in chain(bundled, texts):
        found.update(_SMALL.findall(" ".join(part for part in text.split() if not _ADDRESS.search(part))))
    return frozenset(found)


def check_characters(characters: Sequence[str]) -> None:
    """Raises Rejected for a cast that no scene of the data may have."""
    low, high = PARTIES
    if not low <= len(characters) <= high:
        raise Rejected(f"not {low} to {high} characters", f"{len(characters)} characters")
    if len({normalise_name(each) for each in characters}) < len(characters):
        raise Rejected("two characters of one name", ", ".join(characters))
    if any(find_words(each)[-1:] == ["assistant"] and set(find_words(each)) <= _THE_ASSISTANT for each in characters):
        raise Rejected("an assistant among the characters", ", ".join(characters))
    if placeholders := [each for each in characters if set(find_words(each)) - {"role", "character", "name"} <= _SINGLE]:
        raise Rejected("a role without a name", ", ".join(placeholders))
    if identified := [each for each in characters if each.upper() != each]:
        raise Rejected("a character without a role in capitals", ", ".join(identified))


def check_relationships(characters: Sequence[str], relationships: Sequence[str]) -> None:
    """Raises Rejected for a character that stands in no relationship."""
    told = " ".join(relationships)
    if alone := [each for each in characters if each not in find_people(told, characters, {})]:
        raise Rejected("a character in no relationship", ", ".join(alone))


def find_identities(article: str, common: Collection[str]) -> list[str]:
    """Names in a report: people, firms and places, whole and by each word; no offices, and nothing that is a ``common`` word."""

    def is_name(word: str) -> bool:
        return word[:1].isupper() and len(word) > 2 and not word.endswith(".") and word.lower() not in common

    found = set()
    for match in _NAMED.finditer(article):
        said = [_strip_genitive(word) for word in match.group().split()]
        own = [place for place, word in enumerate(said) if is_name(word)]
        if own:
            # Without the office before it, unless nothing but one word were left.
            first = own[0] if own[0] + 1 < len(said) else 0
            found |= {" ".join(said[first:]), *(said[place] for place in own)}
    singles = map(_strip_genitive, _CALLED.findall(article))
    return sorted(found | {word for word in singles if is_name(word) and not _OF_A_PEOPLE.search(word)})


def _strip_genitive(word: str) -> str:
    return re.sub(r"['’]s?$", "", word)


def check_identities(names: Sequence[str], said: str) -> None:
    """Raises Rejected where a name of the report stands in what was written after it, in capitals or not."""
    spelled = "|".join(map(re.escape, names))
    if names and (kept := set(re.findall(rf"(?<!\w)(?:{spelled})(?!\w)", said, re.IGNORECASE))):
        raise Rejected("a name out of the report", ", ".join(sorted(kept)[:5]))


def check_dialogue(record: Mapping[str, Any], place: str) -> list[Case]:
    """The cases of a dialogue. Raises Rejected, or DataError where it is not in the data's layout."""
    cases = list(cut_cases(dict(record), place, str(record.get("id", "dialogue"))))
    last = cases[-1]
    turns = [*last.messages, last.golden]
    own = [turn for turn in turns if turn.role_from == ASSISTANT]
    if len(own) < ASSISTANT_TURNS:
        raise Rejected(f"the assistant speaks fewer than {ASSISTANT_TURNS} times", f"{len(own)} times")
    if wordless := [turn for turn in turns if not find_words(turn.content)]:
        raise Rejected("a turn without words", f"{wordless[0].role_from}: {wordless[0].content}")
    if len({turn.role_to for turn in own}) < 2:
        raise Rejected("the assistant speaks to one character only", own[0].role_to)
    spoken = Counter(turn.role_from for turn in turns if turn.role_from != ASSISTANT)
    if sum(count > 1 for count in spoken.values()) * 2 <= len(last.characters):
        raise Rejected("most characters speak once or never", ", ".join(f"{name} {count}" for name, count in spoken.items()))
    for case in cases:
        check_golden(case)
    _check_confidences(last)
    return cases


def check_golden(case: Case) -> None:
    """Raises Rejected where the setting, or anybody before, has said most of the case's golden response."""
    length = _count_telling(case.golden.content)
    golden = _find_runs(case.golden.content, length)
    for text in (*_list_setting(case), *(message.content for message in case.messages)):
        if golden and len(golden & _find_runs(text, length)) * 2 > len(golden):
            raise Rejected("a golden response is given away", f"{case.id}: {text}")


def _check_confidences(case: Case) -> None:
    """Raises Rejected where the assistant says to another, in the same words, what it was told alone and not to pass on."""
    turns = (*case.messages, case.golden)
    for place, turn in enumerate(turns):
        if turn.role_from != ASSISTANT:
            continue
        before = turns[:place]
        known = [*_list_setting(case), *(each.content for each in before if _is_known_to(turn.role_to, each))]
        for secret in before:
            length = _count_telling(secret.content)
            if secret.role_to != ASSISTANT or not length or _is_for(secret, turn.role_to):
                continue
            copied = _find_runs(secret.content, length) & _find_runs(turn.content, length)
            if copied - {run for text in known for run in _find_runs(text, length)}:
                raise Rejected("private words passed on", f"of {secret.role_from} to {turn.role_to}: {turn.content}")


def _is_known_to(hearer: str, message: Message) -> bool:
    """Whether the hearer has heard a message: all hear what people say to one another."""
    return hearer in (message.role_from, message.role_to) or ASSISTANT not in (message.role_from, message.role_to)


def _is_for(message: Message, hearer: str) -> bool:
    """Whether the assistant is to pass a message on: it names the hearer, and asks for no silence (Figure 7, 4)."""
    return hearer == message.role_from or (
        bool(find_people(message.content, [hearer], {})) and not _KEEPS.search(message.content.replace("’", "'"))
    )


_KEEPS = re.compile(
    r"\b(?:not|\w+n't|never|nobody|no one|without|secret\w*|private\w*|confiden\w+|between us|yourself)\b", re.IGNORECASE
)


def _list_setting(case: Case) -> Iterator[str]:
    yield case.background.scene
    yield from case.background.relationships
    yield case.background.conflicts


def _count_telling(text: str) -> int:
    """The number of a text's words in a row that cannot be elsewhere by chance; 0 where the text is too short to tell."""
    length = len(find_words(text))
    return min(COPIED, length) if length >= FEWEST else 0


def cut_runs(text: str) -> set[str]:
    """The runs of five words in a text."""
    return _find_runs(text, FEWEST)


def _find_runs(text: str, length: int) -> set[str]:
    """The runs of so many words in a text."""
    return set(cut_shingles(text, length)) if length else set()
