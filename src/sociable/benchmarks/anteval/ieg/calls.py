"""Finding a game master's calls for skill checks in a transcript, and whom each is for.

A call is attributed when it names a character, when it is for a group whose members then report their rolls, or when somebody
then reports a roll. "The previous speaker" is never taken: recency would be built into the labels. What cannot be attributed is
dropped and counted.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from sociable.benchmarks.anteval.ieg.logs import compile_names
from sociable.benchmarks.anteval.rules import load_rules

ANSWERS_WITHIN = 10
"""Turns after a call in which its roll is reported."""

GROUP_ANSWERS_WITHIN = 20
"""The same for a group, whose rolls take longer."""

REPEATED_WITHIN = 12
"""Turns within which the same call for the same person is the same call."""

_SENTENCE = re.compile(r"(?:[^.?!]|\.(?=\w))+[.?!]*")
_GROUP = re.compile(
    r"""(?<!\bas[ ])\b(?: every(?:one|body) | (?:all|both|each|two|three)[ ]of[ ]you | you[ ](?:all|guys|both|two|three)
      | all[ ]roll )\b""",
    re.IGNORECASE | re.VERBOSE,
)
LONGEST_SENTENCE = 600
"""Characters; nobody calls for a check in a longer one, and patterns must end."""
_NO_CALL = re.compile(
    r"""\b(?: did[ ]you | what[ ](?:did|was|were) | what'?[ds]
      | rolled | failed | succeeded | had[ ]an? | you[ ]had | earlier | the[ ]\w+[ ]roll\b          # rolls that were made
      | (?:he|she|it|they|who|that|which)[ ](?:\w+[ ])?(?:makes?|rolls?|has|have|had)               # others' rolls
      | to[ ]see[ ]if[ ](?:he|she|it|they) | if[ ](?:it|he|she)[ ]rolls
      | I'?(?:m[ ]going[ ]to|[ ]am[ ]going[ ]to|ll)[ ](?:make|roll)                                  # the master's own
      | your[ ](?:\w+[ ])?(?:scores?|bonus) | based[ ]on | passive )\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""The wordings of a sentence that names a skill but calls for no check."""
_TAKEN_BACK = re.compile(r"\W*(?:no|actually|sorry)\b", re.IGNORECASE)
"""The words that begin a call which replaces the one before."""
_NUMBERS = (
    "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|"
    "twenty|thirty"
)
# "One" is a roll in "a one" and alone, not in "this one".
_NUMBER = re.compile(rf"\b(?:[1-3]?\d|(?<=\ba )one|(?<=\bnatural )one|{_NUMBERS})\b|^\W*one\W*$", re.IGNORECASE)
_NATURAL = re.compile(r"\b(?:natural|nat|crit\w*)\b", re.IGNORECASE)
_OTHER_NUMBER = re.compile(
    r"""\b\d*d\d+                                                                                  # dice
      | \b\w+[ -](?:feet|foot|gold|silver|copper|minutes?|hours?|days?|rounds?|points?|times|of[ ](?:us|you|them|the))\b""",
    re.IGNORECASE | re.VERBOSE,
)
LONGEST_REPORT = 14
"""Words of a turn that reports a roll."""


@cache
def _compile_patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    skills = "|".join(name.replace(" ", "[ -]") for name in sorted(load_rules().skills, key=len, reverse=True))
    skill = rf"(?:{skills})"
    several = rf"(?P<skills>(?:{skill}(?:,?[ ](?:or|and)[ ](?:an?[ ])?)?)+)"
    asked = re.compile(
        rf"\b(?:make|making|roll|give[ ]me|do|take|go|choose|need|want|another)\b[^.?!]{{0,45}}?\b{several}(?:s\b)?"
        r"(?![ ](?:score|bonus|modifier))",
        re.IGNORECASE,
    )
    lone = re.compile(
        rf"""^\W*(?:(?:okay|all[ ]right|yeah|yes|sure|so|then|no|actually|well)\W+)*
            (?:(?:it|that|this)(?:'s|[ ]is|[ ]would[ ]be|[ ]will[ ]be)|would[ ]be)?\W*
            (?:going[ ]to[ ]be[ ])?(?:more[ ]of[ ])?(?:an?[ ])?{several}[ ]?(?:checks?)?
            (?:[ ](?:for[ ]you|first|on[ ]this|on[ ]that|check))?(?:,?[ ]please)?(?:,?[ ][\w']+)?\W*$""",
        re.IGNORECASE | re.VERBOSE,
    )
    return asked, lone, re.compile(rf"\b{skill}\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Asked:
    """Skills called for in one sentence; several are a choice. ``words`` is the sentence."""

    skills: tuple[str, ...]
    words: str


def find_calls(text: str) -> list[Asked]:
    """The calls in one turn of a game master, each skill once."""
    asked, lone, one = _compile_patterns()
    found: list[Asked] = []
    for sentence in map(str.strip, _SENTENCE.findall(text)):
        if len(sentence) > LONGEST_SENTENCE or _NO_CALL.search(sentence):
            continue
        match = lone.match(sentence) or asked.search(sentence)
        if match is None or ("check" not in sentence.lower() and not _is_imperative(sentence, match)):
            continue
        if _TAKEN_BACK.match(sentence):
            found.clear()
        skills = tuple(dict.fromkeys(map(_spell_as_ruled, one.findall(match["skills"]))))
        if not any(set(skills) & set(each.skills) for each in found):
            found.append(Asked(skills, sentence))
    return found


def _spell_as_ruled(skill: str) -> str:
    return skill.replace("-", " ").title().replace(" Of ", " of ")


def _is_imperative(sentence: str, match: re.Match[str]) -> bool:
    """ "Roll stealth", "go ahead and roll insight", "actually, athletics!"; not as "the nature of roses"."""
    before, after = sentence[: match.start("skills")], sentence[match.end("skills") :].strip(" .!?,").lower()
    after = re.sub(r"^roll\b.*", "roll", after)
    return bool(re.search(r"\broll\b|\bgive me\b", before, re.IGNORECASE)) or after in ("", "please", "first", "roll")


@dataclass(frozen=True, slots=True)
class Heard:
    """A turn of a transcript, with its speakers' names as the transcript has them."""

    speakers: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Attributed:
    """A call at the turn ``index``, and whom it is for; nobody where that could not be told, and then why."""

    index: int
    skills: tuple[str, ...]
    who: tuple[str, ...]
    how: str
    """``named``, ``reported``, ``group``; or why it was dropped."""


def attribute_calls(turns: Sequence[Heard], master: str, names: Mapping[str, Sequence[str]]) -> Iterator[Attributed]:
    """Every call in a transcript. ``names``: by speaker all that the speaker's character is called."""
    known = {speaker: compile_names(called) for speaker, called in names.items()}
    called_at: dict[tuple[str, tuple[str, ...]], int] = {}
    for index, turn in enumerate(turns):
        if master not in turn.speakers:
            continue
        calls = find_calls(turn.text)
        for asked in calls:
            who, how = _attribute(asked, turns[index + 1 : index + 1 + GROUP_ANSWERS_WITHIN], master, known)
            if how == "reported" and len(calls) > 1:
                who, how = (), "several calls at once"
            before = {each: called_at.get((each, asked.skills), -REPEATED_WITHIN) for each in who}
            fresh = tuple(each for each in who if index - before[each] >= REPEATED_WITHIN)
            called_at |= dict.fromkeys(((each, asked.skills) for each in who), index)
            yield Attributed(index, asked.skills, fresh, "repeated" if who and not fresh else how)


def _attribute(
    asked: Asked, answers: Sequence[Heard], master: str, known: Mapping[str, re.Pattern[str]]
) -> tuple[tuple[str, ...], str]:
    """(whom a call is for, how that is known or why it is not), from its own words and from the turns after it."""
    if _GROUP.search(asked.words):
        reported = _find_reporters(asked, answers, master, known)
        return (reported, "group") if len(reported) > 1 else ((), "a group, and fewer than two rolls reported")
    if named := tuple(speaker for speaker, spelled in known.items() if spelled.search(asked.words)):
        return named, "named"
    reported = _find_reporters(asked, answers[:ANSWERS_WITHIN], master, known)
    if len(reported) == 1:
        return reported, "reported"
    return (), f"nobody named, and {'several rolls' if reported else 'no roll'} reported"


def _find_reporters(asked: Asked, answers: Sequence[Heard], master: str, known: Container[str]) -> tuple[str, ...]:
    """The speakers who report a roll, in order, until the master calls for something else."""
    found: dict[str, None] = {}
    for turn in answers:
        if master in turn.speakers:
            if any(each.skills != asked.skills for each in find_calls(turn.text)):
                break
        elif len(turn.speakers) == 1 and turn.speakers[0] in known and is_roll_report(turn.text):
            found[turn.speakers[0]] = None
    return tuple(found)


def is_roll_report(text: str) -> bool:
    if len(text.split()) > LONGEST_REPORT:
        return False
    text = _OTHER_NUMBER.sub(" ", text)
    return bool(_NATURAL.search(text) or _NUMBER.search(text))
