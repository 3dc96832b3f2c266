"""What can be checked of a written scene and a written dialogue without understanding them (section 5.1, rebuttal).

Each check raises Rejected with a reason that can be counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sociable.construction.stages import Rejected
from sociable.core.errors import DataError
from sociable.dialogue.names import normalised_name, words
from sociable.hsii.dataset import ASSISTANT, Case, Message, cut_cases

PARTIES = (2, 5)
"""Characters of a scene (Figure 6: not more than five)."""
ASSISTANT_TURNS = 3
COPIED, FEWEST = 8, 5
"""Words in a row: who says so many of another's has them from there; or all of them, if they are no fewer than these."""
_PARTICLES = "de|del|la|le|van|von|der|den|bin|ibn|al|el|du|di|da|dos|of|the"
_NAMED = re.compile(rf"\b[A-Z\u00c0-\u00de][\w'’-]+(?: (?:[A-Z]\.|{_PARTICLES}))*(?: [A-Z\u00c0-\u00de][\w'’-]+)+\b")
"""Two capitalised words or more: people, firms and places; and offices."""
_OFFICES = frozenset(
    {"Prime", "Minister", "President", "Vice", "Secretary", "General", "Chief", "Justice", "Supreme", "High", "Court", "Senate"}
    | {"House", "Parliament", "Police", "Department", "Ministry", "Council", "Mayor", "Governor", "Attorney", "Officer"}
    | {"Director", "Executive", "Member", "Committee", "Office", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday"}
    | {"Saturday", "Sunday"}
)
_BEGINNINGS = frozenset(
    {"A", "An", "The", "On", "In", "At", "By", "For", "From", "With", "After", "Before", "When", "While", "As", "If", "But"}
    | {"And", "Although", "Since", "Until", "Under", "Over", "According", "Meanwhile", "However", "Earlier", "Later", "Last"}
)
"""Words with which sentences begin."""


def check_characters(characters: Sequence[str]) -> None:
    low, high = PARTIES
    if not low <= len(characters) <= high:
        raise Rejected(f"not {low} to {high} characters", f"{len(characters)} characters")
    if len({normalised_name(each) for each in characters}) < len(characters):
        raise Rejected("two characters of one name", ", ".join(characters))
    if any("assistant" in words(each) for each in characters):
        raise Rejected("an assistant among the characters", ", ".join(characters))
    if identified := [each for each in characters if each.upper() != each]:
        raise Rejected("a character without a role in capitals", ", ".join(identified))


def identities_in(article: str) -> list[str]:
    """Names of two words or more in a report: people, firms, places; no offices, nor words that begin a sentence."""
    plain = set(re.findall(r"\b[a-z][\w'’-]+", article))
    found = set()
    for match in _NAMED.finditer(article):
        said = match.group().split()
        capitals = [re.sub(r"['’]s$", "", word) for word in said if word[:1].isupper() and not word.endswith(".")]
        while capitals and (capitals[0] in _OFFICES | _BEGINNINGS or capitals[0].lower() in plain):
            capitals = capitals[1:]
        if len(capitals) > 1 and not _OFFICES.issuperset(capitals):
            found.add(re.sub(r"['’]s$", "", match.group()[match.group().index(capitals[0]) :]))
    return sorted(found)


def check_identities(names: Sequence[str], said: str) -> None:
    """Names of a report must not stand in what was written after it, in capitals neither."""
    kept = [name for name in names if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", said, re.IGNORECASE)]
    if kept:
        raise Rejected("a name out of the report", ", ".join(kept[:5]))


def check_dialogue(record: Mapping[str, Any], place: str) -> list[Case]:
    """The cases of a dialogue. Raises Rejected."""
    try:
        cases = list(cut_cases(dict(record), place, str(record.get("id", "dialogue"))))
    except DataError as error:
        raise Rejected("not in the data's layout", f"{error.field}: {error.problem}") from None
    last = cases[-1]
    turns = [*last.messages, last.golden]
    own = [turn for turn in turns if turn.role_from == ASSISTANT]
    if len(own) < ASSISTANT_TURNS:
        raise Rejected(f"the assistant speaks fewer than {ASSISTANT_TURNS} times", f"{len(own)} times")
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
    """Neither the setting nor anybody before may have said the most of its golden response. Raises Rejected."""
    length = _telling(case.golden.content)
    golden = _runs(case.golden.content, length)
    for text in (*_setting(case), *(message.content for message in case.messages)):
        if golden and len(golden & _runs(text, length)) * 2 > len(golden):
            raise Rejected("a golden response is given away", f"{case.id}: {text}")


def _check_confidences(case: Case) -> None:
    """What the assistant was told by one alone it must not say in the same words to another."""
    public = list(_setting(case))
    told: list[Message] = []
    for turn in (*case.messages, case.golden):
        if turn.role_to == ASSISTANT:
            told.append(turn)
        elif turn.role_from != ASSISTANT:
            public.append(turn.content)
        for secret in told if turn.role_from == ASSISTANT else ():
            length = _telling(secret.content)
            known = {run for text in public for run in _runs(text, length)}
            if secret.role_from != turn.role_to and (_runs(secret.content, length) & _runs(turn.content, length)) - known:
                raise Rejected("private words passed on", f"of {secret.role_from} to {turn.role_to}: {turn.content}")


def _setting(case: Case) -> Iterator[str]:
    yield case.background.scene
    yield from case.background.relationships
    yield case.background.conflicts


def _telling(text: str) -> int:
    """How many of its words in a row cannot be there by chance; 0 where it is too short to tell."""
    length = len(words(text))
    return min(COPIED, length) if length >= FEWEST else 0


def _runs(text: str, length: int) -> set[tuple[str, ...]]:
    """Its runs of so many words."""
    found = words(text)
    return {tuple(found[place : place + length]) for place in range(len(found) - length + 1)} if length else set()
