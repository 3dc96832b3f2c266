"""Reading a turn by rule: what is said, and what is done. Nothing is guessed."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sociable.benchmarks.agentsense.duels.dataset import Agreement, Bargain
from sociable.benchmarks.agentsense.duels.records import Move
from sociable.core.prompts import defuse, put_on_one_line

_MARK = r"[\s*_`#>\"'“”.,:;!|()\[\]–-]"
_OFFER = re.compile(rf"(?P<before>(?:.*{_MARK})?)\bOFFER\b(?P<rest>.*)", re.IGNORECASE)
_DECISION = re.compile(rf"(?P<before>(?:.*[.!?:;])?{_MARK}*)\b(?:I\s+)?(?P<word>ACCEPT|LEAVE)\b(?P<rest>.*)", re.IGNORECASE)
_MARKS = re.compile(f"{_MARK}*")
_CHOICE = re.compile(rf"{_MARK}*(?:and\b)?{_MARK}*(\d)\s*[.:)-]?\s*([a-z])\b", re.IGNORECASE)


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


def read_turn(text: str, bargain: Bargain, words: int, on_table: Agreement) -> Read:
    """Reads a reply; ``on_table`` is the other side's latest offer. A line that could not be read stands among the words."""
    spoken, done, problems = list[str](), set[tuple[Move, Agreement]](), list[str]()
    for line in defuse(text).split("\n"):
        found = _read_offer(line, bargain) or _read_decision(line, bargain, on_table) or Read(line)
        spoken.append(found.said)
        if found.problem:
            problems.append(found.problem)
        if found.move:
            done.add((found.move, found.offer))
    if len(done) > 1:
        problems.append("it does several things at once")
    move, offer = (None, ()) if problems or not done else done.pop()
    said = put_on_one_line("\n".join(spoken)).split()
    return Read(" ".join(said[:words]), max(len(said) - words, 0), move, offer, "; ".join(problems))


def _read_offer(line: str, bargain: Bargain) -> Read | None:
    """The offer in a line; None where none is meant: the word stands in a sentence."""
    found = _OFFER.fullmatch(line)
    if not found:
        return None
    choices = _read_choices(found["rest"])
    begins = _MARKS.fullmatch(found["before"])
    if choices is None:
        is_meant = begins and ("OFFER" in line or found["rest"].lstrip(" *_`").startswith(":"))
        return Read(line, problem="an offer that names no option by number and letter") if is_meant else None
    offer = _make_agreement(choices, bargain)
    if offer is None:
        return Read(line, problem="an offer that does not name one option for every issue")
    return Read("" if begins else found["before"], move=Move.OFFER, offer=offer)


def _read_decision(line: str, bargain: Bargain, on_table: Agreement) -> Read | None:
    """ACCEPT or LEAVE in a line by itself, or at its end; None where neither is meant."""
    found = _DECISION.fullmatch(line)
    if not found:
        return None
    move, rest, begins = Move(found["word"].lower()), found["rest"], _MARKS.fullmatch(found["before"])
    if not (begins or found["word"].isupper()):
        return None
    if not _MARKS.fullmatch(rest):
        named = _read_choices(rest)
        if move is Move.LEAVE or named is None or _make_agreement(named, bargain) != on_table:
            is_meant = begins and found["word"].isupper()
            return Read(line, problem=f"more than the word {found['word']}") if is_meant else None
    if move is Move.ACCEPT and not on_table:
        return Read(line, problem="there is no offer of the other's to accept")
    return Read(found["before"], move=move)


def _read_choices(text: str) -> list[tuple[int, str]] | None:
    """The pairs of number and letter that a text consists of; None where it has anything else, or none."""
    pairs, place = list[tuple[int, str]](), 0
    while found := _CHOICE.match(text, place):
        pairs.append((int(found[1]), found[2].lower()))
        place = found.end()
    return pairs if pairs and _MARKS.fullmatch(text, place) else None


def _make_agreement(choices: list[tuple[int, str]], bargain: Bargain) -> Agreement | None:
    """One option for every issue; None where an issue lacks one, has two, or there is no such option."""
    chosen = dict(choices)
    wanted = range(1, len(bargain.issues) + 1)
    if len(set(choices)) != len(chosen) or set(chosen) != set(wanted):
        return None
    agreement = tuple(chosen[number] for number in wanted)
    fits = all(letter in issue.letters for letter, issue in zip(agreement, bargain.issues, strict=True))
    return agreement if fits else None
