"""Reading a turn by rule: what is said, and what is done. Nothing is guessed."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sociable.benchmarks.agentsense.duels.dataset import Agreement, Bargain
from sociable.benchmarks.agentsense.duels.records import Move
from sociable.core.prompts import defuse, put_on_one_line
from sociable.dialogue.limits import cut_words

_MARKS = " \t*_`#>\"'“”.,:;!|()[]–-"
"""What may stand around a line that does something."""
_ENDS = (".", "!", ";")
"""What may stand before a word in capitals that does something; after a colon or a question it may be said to the other."""
_OFFER = re.compile(r"\bOFFER\b", re.IGNORECASE)
_DECISION = re.compile(r"\b(?:I\s+)?(ACCEPT|LEAVE)\b", re.IGNORECASE)
_CHOICE = re.compile(rf"[{re.escape(_MARKS)}]*(?:and\b)?\s*(\d)\s*[.:)-]?\s*([a-z])\b", re.IGNORECASE)
_YOUR_OFFER = re.compile(r"^[\s*_`]*(?:(?:your|the|this|that)\s+)?(?:(?:latest|last)\s+)?offer\b", re.IGNORECASE)
MOST = 100
"""Characters that name the options of an offer at the most."""


@dataclass(frozen=True)
class Read:
    """A reply as it was read."""

    said: str
    cut: int = 0
    """Words over the limit, which were cut off."""
    move: Move | None = None
    offer: Agreement = ()
    problem: str = ""
    """The reason why what it was meant to do could not be read; empty: it could, or nothing was meant."""


def read_turn(text: str, bargain: Bargain, words: int, on_table: Agreement, *, is_cut: bool = False) -> Read:
    """Reads a reply; ``on_table`` is the other side's latest offer. A line that could not be read stands among the words.

    ``is_cut``: whether the reply was cut off, so that nobody knows how its last line would have ended.
    """
    spoken, done, problems = list[str](), set[tuple[Move, Agreement]](), list[str]()
    lines = defuse(text).split("\n")
    for place, line in enumerate(lines):
        is_open = is_cut and place == len(lines) - 1
        read = None if is_open else _read_decision(line, bargain, on_table) or _read_offer(line, bargain)
        found = read or Read(line)
        spoken.append(found.said)
        if found.problem:
            problems.append(found.problem)
        if found.move:
            done.add((found.move, found.offer))
    if len(done) > 1:
        problems.append("it does several things at once")
    move, offer = (None, ()) if problems or not done else done.pop()
    said, cut = cut_words(put_on_one_line("\n".join(spoken)), words)
    return Read(said, cut, move, offer, "; ".join(problems))


def _find_word(pattern: re.Pattern[str], line: str) -> tuple[str, re.Match[str], str] | None:
    """(what stands before it, the word, what stands behind it): the word that begins the line, or else the last one in it."""
    found = list(pattern.finditer(line))
    if not found:
        return None
    word = found[-1] if line[: found[0].start()].strip(_MARKS) else found[0]
    return line[: word.start()], word, line[word.end() :]


def _read_offer(line: str, bargain: Bargain) -> Read | None:
    """The offer in a line; None where none is meant: the word stands in a sentence."""
    found = _find_word(_OFFER, line)
    if found is None:
        return None
    before, word, rest = found
    begins = not before.strip(_MARKS)
    if not (begins or (word[0].isupper() and before.rstrip(" *_`>").endswith(_ENDS))):
        return None
    choices = _read_choices(rest)
    if choices is None:
        is_meant = begins and (word[0].isupper() or rest.lstrip(" *_`").startswith(":"))
        return Read(line, problem="an offer that names no option by number and letter") if is_meant else None
    offer = _make_agreement(choices, bargain)
    if offer is None:
        return Read(line, problem="an offer that does not name one option for every issue")
    return Read(_strip_marks(before), move=Move.OFFER, offer=offer)


def _read_decision(line: str, bargain: Bargain, on_table: Agreement) -> Read | None:
    """ACCEPT or LEAVE in a line by itself, or in capitals at its end; None where neither is meant."""
    found = _find_word(_DECISION, line)
    if found is None:
        return None
    before, word, rest = found
    begins, in_capitals = not before.strip(_MARKS), word[1].isupper()
    if not (begins or (in_capitals and before.rstrip(" *_`>").endswith(_ENDS))):
        return None
    move = Move(word[1].lower())
    if rest.strip(_MARKS):
        named = _read_choices(_YOUR_OFFER.sub("", rest))
        if move is Move.LEAVE or named is None or _make_agreement(named, bargain) != on_table:
            return Read(line, problem=f"more than the word {word[1]}") if begins and in_capitals else None
    if move is Move.ACCEPT and not on_table:
        return Read(line, problem="there is no offer of the other's to accept")
    return Read(_strip_marks(before), move=move)


def _strip_marks(before: str) -> str:
    """What was said before an offer or a decision in its line, without the marks around it."""
    return before.rstrip(" *_`#>") if before.strip(_MARKS) else ""


def _read_choices(text: str) -> list[tuple[int, str]] | None:
    """The pairs of number and letter that a text consists of; None where it has anything else, or none."""
    pairs, place = list[tuple[int, str]](), 0
    if len(text) > MOST:
        return None
    while found := _CHOICE.match(text, place):
        pairs.append((int(found[1]), found[2].lower()))
        place = found.end()
    return pairs if pairs and not text[place:].strip(_MARKS) else None


def _make_agreement(choices: list[tuple[int, str]], bargain: Bargain) -> Agreement | None:
    """One option for every issue; None where an issue lacks one, has two, or there is no such option."""
    chosen = dict(choices)
    wanted = range(1, len(bargain.issues) + 1)
    if len(set(choices)) != len(chosen) or set(chosen) != set(wanted):
        return None
    agreement = tuple(chosen[number] for number in wanted)
    fits = all(letter in issue.letters for letter, issue in zip(agreement, bargain.issues, strict=True))
    return agreement if fits else None
