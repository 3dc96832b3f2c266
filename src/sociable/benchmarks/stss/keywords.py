"""The keyword filter (section 3.1): whether an activity's text says that somebody does the thing.

Words are compared by their stems, phrases word by word, clause by clause. Talking about the thing and getting ready for it never
count; conversing is a field beside the activity and no part of its text.

Differs from the paper: the authors look for substrings, which misses "exercising" where "exercise" is listed and takes
"preparing decorations for the party" for a party.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib import import_module
from itertools import chain, dropwhile
from pathlib import Path
from typing import Any

from sociable.benchmarks.stss.task import Signs

_WORDS: Mapping[str, Sequence[str]] = json.loads(
    (Path(__file__).parent / "data" / "filter_words.json").read_text(encoding="utf-8")
)
ERRANDS = _WORDS["at the head, but for errands"]
"""Words at the head of a clause that show that somebody is not at an activity, though an errand may be just that."""

_CLAUSE_ENDS = re.compile(
    r"""[,;:.!?()–—] | \b(?: and[ ]then | then | before(?![ ]the[ ](?:laptop|lens|camera|screen)) | after | afterwards | until
      | (?<!the[ ])till | while | because | so[ ]that | so(?![ ]as) | but | when | where | who | which | since | although | though
      | as[ ]if | if | in[ ]case | than )\b""",
    re.IGNORECASE | re.VERBOSE,
)
_BESIDE = frozenset({"before", "after", "until", "till", "because", "so that", "so", "since", "if", "in case", "than", "as if"})
"""Words that begin a clause of what is not done now: before and after it, or why."""
_OF_THE_SAME = frozenset({"who", "which", "where", "when"})
"""Words that begin a clause of what was said before: whoever tells who comes is still telling."""
_TAKING_PART = re.compile(
    r"\b(?:attend\w*|join\w*|tak(?:e|es|ing) part|participat\w*|at (?:the|an?|\w+[’']s)|during|in the middle of|"
    r"help(?:s|ing)? (?:out )?(?:with|at))\b",
    re.IGNORECASE,
)
_DECLINED = re.compile(
    r"(?:^|[.;,] )\W*(?:(?:it|i|he|she)[’']?(?:s|m)? )?(?:feel\w* )?(?:far |much |a bit |still )?too\b", re.IGNORECASE
)
"""Too tired for it."""
_HAS_VERB = re.compile(r"\W*(?:(?:and|i|he|she|we|they)\b|[\w-]+(?:ing|s|ed)\b)", re.IGNORECASE)
"""The beginning of a clause with a verb of its own; without one it goes with the clause before: "…, a torch in my coat"."""
_FROM_IT = re.compile(
    r"\b(?:i|he|she|we|they|you) (?:got|learn(?:ed|t)|bought|won|made|brought home|picked up|heard) (?:it |them )?(?:at|from)\b",
    re.IGNORECASE,
)
"""A thing somebody has from it, and now is elsewhere."""

_DOUBLE = re.compile(r"([^\W\daeiou])\1$")


@cache
def _load_stemmer() -> Any:
    return import_module("snowballstemmer").stemmer("english")


@lru_cache(maxsize=8192)
def find_stems(text: str) -> tuple[str, ...]:
    """The stems of a text's words, hyphenated ones as several."""
    return tuple(_find_stem(word) for word in re.findall(r"[^\W_]+", text.casefold()) if word != "s")


@lru_cache(maxsize=65536)
def _find_stem(word: str) -> str:
    # The stemmer leaves a double consonant at the end of a word, and takes one of it from "bluffing".
    return _DOUBLE.sub(r"\1", _load_stemmer().stemWord(word))


def has_phrase(text: str, phrase: str) -> bool:
    """Whether ``phrase`` stands in ``text``, word by word, whatever the endings."""
    words, wanted = find_stems(text), find_stems(phrase)
    return any(words[place : place + len(wanted)] == wanted for place in range(len(words) - len(wanted) + 1))


def is_about(text: str, signs: Signs) -> bool:
    """Whether a text is about the activity at all: whether it has one keyword of every group."""
    return all(any(has_phrase(text, keyword) for keyword in group) for group in signs.keywords)


@cache
def _phrase_attendance(activity: str) -> tuple[str, ...]:
    """Phrases with an activity's name for what people do at it: "at the soup swap"."""
    return _prefix_name(activity, "at", "during", "in the middle of")


@cache
def _phrase_preparation(activity: str) -> tuple[str, ...]:
    """Phrases with an activity's name for what is done beside it: "for the soup swap"."""
    return _prefix_name(activity, "for", "before", "after", "until", "about")


def _prefix_name(activity: str, *words: str) -> tuple[str, ...]:
    return tuple(f"{word} {article} {activity}" for word in words for article in ("the", "a", "an")) if activity else ()


def _split_clauses(text: str) -> Iterator[tuple[str, str]]:
    """(the word that begins a clause, or a comma, the clause) in order."""
    lead, start = "", 0
    for end in _CLAUSE_ENDS.finditer(text):
        if clause := text[start : end.start()].strip():
            yield lead, clause
        lead, start = " ".join(end.group().lower().split()), end.end()
    if clause := text[start:].strip():
        yield lead, clause


def _is_begun_by(text: str, phrase: str) -> bool:
    """Whether the first word of ``phrase`` heads a clause, and the others come anywhere after it, in order."""
    rest = dropwhile(_find_passed_over().__contains__, find_stems(text))
    first, *others = find_stems(phrase)
    return next(rest, None) == first and all(any(stem == word for word in rest) for stem in others)


@cache
def _find_passed_over() -> frozenset[str]:
    return frozenset(chain(*map(find_stems, _WORDS["passed over"])))


@lru_cache(maxsize=65536)
def is_doing(text: str, signs: Signs) -> bool:
    """Whether somebody of whom this is said is doing the activity.

    A text is read clause by clause. What a clause says counts unless a word at its head shows that it is about something else
    (telling, packing, going home), or it says what comes before, after or why. Whoever takes part ("joining", "at") in what
    the keywords name does it, whatever else the text says.
    """
    if not is_about(text, signs):
        return False
    # What is the thing itself cannot show that it is not: to discuss a book, to deliver a medicine.
    own = [keyword for group in signs.keywords for keyword in group]
    name = find_stems(signs.activity)

    def has_any(is_in: Callable[[str, str], bool], said: str, *phrases: Iterable[str]) -> bool:
        return any(is_in(said, each) and not any(is_in(word, each) for word in own) for each in chain(*phrases))

    is_online = not signs.errand and any("online" in group or "video" in group for group in signs.keywords)
    elsewhere = [_WORDS["anywhere"]]
    elsewhere += [_WORDS["anywhere, of errands" if signs.errand else "anywhere, but for errands"]]
    elsewhere += [] if signs.errand or is_online else [_WORDS["anywhere, but for errands and online"]]
    if _FROM_IT.search(text) or _DECLINED.search(text) or has_any(has_phrase, text, *elsewhere):
        return False
    known = [_WORDS["at the head"]]
    known += [] if signs.errand else [ERRANDS]
    known += [] if signs.errand or is_online else [_WORDS["at the head, but for errands and online"]]
    heads = [each for each in chain(*known) if find_stems(each)[0] not in name]
    counted, is_other = [], False
    for lead, clause in _split_clauses(text):
        if lead in _BESIDE:
            continue
        goes_on = lead in _OF_THE_SAME or not _HAS_VERB.match(clause)
        is_other = (is_other and goes_on) or has_any(_is_begun_by, clause, heads)
        is_other = is_other and not any(_is_begun_by(clause, each) for each in _WORDS["at the head, all the same"])
        if is_other and lead == "while" and has_any(_is_begun_by, clause, _WORDS["beside it"]):
            return False
        if is_other or has_any(has_phrase, clause, _WORDS["in a clause"]):
            continue
        if any(has_phrase(clause, phrase) for phrase in _phrase_attendance(signs.activity)):
            return True
        if has_any(has_phrase, clause, signs.not_keywords):
            continue
        if _TAKING_PART.search(clause) and is_about(clause, signs):
            return True
        counted.append(clause)
    if any(has_phrase(text, phrase) for phrase in _phrase_preparation(signs.activity)):
        return False
    # The first group names the thing; the others may stand in a clause of when or where. Of an errand any group will do.
    said = ", ".join(counted)
    return any(has_phrase(said, keyword) for keyword in (own if signs.errand else signs.keywords[0]))
