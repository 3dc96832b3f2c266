"""Who is on stage: scenes by entrances and exits where a play marks none, and the stretches that make a scenario.

All pure functions on a Play.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sociable.core.records import Record
from sociable.datasets.plays.headings import roman
from sociable.datasets.plays.persons import full_form
from sociable.datasets.plays.records import Direction, Entry, Play, PlayScene, Speech
from sociable.datasets.plays.wordlists import TITLES

FEWEST_SPEECHES = 10
"""AgentSense, Section 3.5: shorter scenes are dropped."""
FEWEST_SPEAKERS = 2
SPEECHES_TO_BE_ACTIVE = 2
"""AgentSense wants several turns of at least two people; one line of a servant makes no partner."""

_ENTERS = re.compile(
    r"\b(?:(?:re-?)?enters?|(?:re-?)?entering|(?:comes?|coming|rush(?:es|ing)?|runs?|running|walks?|strolls?|hurr(?:ies|y|ying)|bursts?|"
    r"looks?)\s(?:\w+ly\s)?(?:back\s)?in(?!\s(?:front|the\s(?:mirror|glass|fire)))|comes?\sback|returns|returning|appears?|arrives?|"
    r"(?:is|are)\s(?:shown|ushered|brought|led)\sin|shows?\sin|ushers?\sin)\b",
    re.I,
)
_LEAVES = re.compile(
    r"\b(?:exit|exits|exeunt|(?:goes|go|going|runs?|rush(?:es|ing)?|hurr(?:ies|y)|walks?|sweeps?|strides?|dashes|slips?|passes|strolls?|bows\shimself)"
    r"\s(?:\w+ly\s)?(?:out(?!\sof\s(?:breath|patience|temper))|off|away)|(?:goes|go|going)\sinto|leaves?\sthe\s(?:room|stage|house)|leaves|departs?|withdraws?|retires?|"
    r"disappears?|vanish(?:es)?)\b",
    re.I,
)
_EVERYBODY = re.compile(
    r"\b(?:exeunt(?:\s(?:all|omnes|severally|both))?|(?:they|all|both)\s(?:\w+\s)?(?:go|leave|exit|run|withdraw|retire))\b", re.I
)
_BUT = re.compile(r"\b(?:all\s)?(?:but|except)\b|\bmane[tn]t?\b", re.I)
_HIDDEN = re.compile(r"^(?:within|outside|off(?:stage)?|from\s(?:within|outside)|calls?\sout\sfrom)\b", re.I)
_CLAUSES = re.compile(r"[.;:]\s+|,\s+(?=(?:then|while|and\s\w+\s(?:enters?|goes|comes))\b)|\s(?=(?:as|while|then)\s)", re.I)


class PlayScenario(Record):
    """A stretch of a play that can become a scenario. ``speakers`` are the active ones, who speaks most first."""

    act: str
    scene: str
    heading: str
    entries: tuple[Entry, ...]
    present: tuple[str, ...]
    speakers: tuple[str, ...]


@dataclass(frozen=True)
class _Move:
    """Somebody enters before, or leaves after, the entry at ``index``."""

    index: int
    enters: frozenset[str]
    leaves: frozenset[str]


def french_scenes(play: Play, minimum_speeches: int = FEWEST_SPEECHES) -> Play:
    """The play with every act that marks no scenes cut where somebody comes or goes.

    A cut is passed over while the scene before it has fewer than ``minimum_speeches``, and where less than that would be left
    of the act, so that scenes do not splinter. The new scenes are labelled "French scene I" and so on, and tell who is
    ``present``. Scenes that the play marks stay as they are.
    """
    acts = Counter(scene.act for scene in play.scenes)
    called = _called(play)
    scenes: list[PlayScene] = []
    for scene in play.scenes:
        is_marked = scene.scene or acts[scene.act] > 1
        scenes += [scene] if is_marked else list(_cut(scene, called, minimum_speeches))
    return play.model_copy(update={"scenes": tuple(scenes)})


def scenarios_of(
    play: Play,
    minimum_speeches: int = FEWEST_SPEECHES,
    minimum_speakers: int = FEWEST_SPEAKERS,
    speeches_to_be_active: int = SPEECHES_TO_BE_ACTIVE,
) -> tuple[PlayScenario, ...]:
    """The scenes, cut by entrances where the play marks none, that have enough speeches and enough active speakers, in order."""
    found = []
    for scene in french_scenes(play, minimum_speeches).scenes:
        counts = Counter(name for speech in scene.speeches for name in speech.speakers)
        active = tuple(name for name, count in counts.most_common() if count >= speeches_to_be_active)
        if len(scene.speeches) >= minimum_speeches and len(active) >= minimum_speakers:
            found.append(
                PlayScenario(
                    act=scene.act,
                    scene=scene.scene,
                    heading=scene.heading,
                    entries=scene.entries,
                    present=scene.present,
                    speakers=active,
                )
            )
    return tuple(found)


def _called(play: Play) -> dict[str, str]:
    """By what a direction may call somebody, in small letters, the name in full; what could be two people is left out."""
    found: dict[str, set[str]] = {}
    for speech in play.speeches():
        if len(speech.speakers) == 1:
            for name in {full_form(speech.label), speech.speaker}:
                found.setdefault(name.casefold(), set()).add(speech.speaker)
    everybody = {name for speech in play.speeches() for name in speech.speakers} | {member.name for member in play.cast}
    for name in everybody:
        found.setdefault(name.casefold(), set()).add(name)
    by_word: dict[str, set[str]] = {}
    for name in everybody:
        for word in re.findall(r"[^\W\d_]{3,}", name):
            if word.casefold() not in TITLES and word[0].isupper() and word.casefold() not in found:
                by_word.setdefault(word.casefold(), set()).add(name)
    return {called: next(iter(names)) for called, names in (found | by_word).items() if len(names) == 1}


def _cut(scene: PlayScene, called: dict[str, str], minimum: int) -> Iterator[PlayScene]:
    moves = list(_moves(scene.entries, called))
    cuts = [0]
    spoken = _spoken_before(scene.entries)
    on_stage: set[str] = set()
    seen = 0
    for move in moves:
        for entry in scene.entries[seen : move.index]:
            on_stage |= _heard(entry)
        seen = move.index
        changes = bool(move.enters - on_stage) or bool(move.leaves & on_stage)
        on_stage = (on_stage | move.enters) - move.leaves
        if changes and spoken[move.index] - spoken[cuts[-1]] >= minimum and spoken[-1] - spoken[move.index] >= minimum:
            cuts.append(move.index)
    pieces = [scene.entries[begin:end] for begin, end in zip(cuts, [*cuts[1:], len(scene.entries)], strict=True)]
    carried: frozenset[str] = frozenset()
    for number, (begin, piece) in enumerate(zip(cuts, pieces, strict=True), 1):
        inside = [move for move in moves if begin <= move.index < begin + len(piece)]
        # Who leaves in the direction that opens the scene is not in it.
        opening = begin + isinstance(piece[0], Direction)
        present = _present(piece, inside, carried.difference(*(move.leaves for move in inside if move.index <= opening)))
        gone: set[str] = set()
        for move in inside:
            gone = (gone | move.leaves) - move.enters
        carried = present - frozenset(gone)
        ordered = dict.fromkeys(
            [name for entry in piece if isinstance(entry, Speech) for name in entry.speakers] + sorted(present)
        )
        label = f"French scene {roman(number)}" if len(pieces) > 1 else ""
        yield scene.model_copy(update={"scene": label, "entries": piece, "present": tuple(ordered)})


def _present(piece: Sequence[Entry], moves: Sequence[_Move], before: frozenset[str]) -> frozenset[str]:
    """Everybody who was there, came, or spoke to be seen."""
    heard = frozenset(name for entry in piece for name in _heard(entry))
    return before | heard | frozenset(name for move in moves for name in move.enters)


def _heard(entry: Entry) -> frozenset[str]:
    """Who speaks, unless from off stage."""
    if isinstance(entry, Direction) or any(_HIDDEN.match(direction.text) for direction in entry.directions):
        return frozenset()
    return frozenset(entry.speakers)


def _spoken_before(entries: Sequence[Entry]) -> list[int]:
    counts = [0]
    for entry in entries:
        counts.append(counts[-1] + isinstance(entry, Speech))
    return counts


def _moves(entries: Sequence[Entry], called: dict[str, str]) -> Iterator[_Move]:
    """An entrance counts before its direction, an exit after it; what happens in a speech, after the speech."""
    last: tuple[str, ...] = ()
    on_stage: set[str] = set()
    for index, entry in enumerate(entries):
        texts = [entry.text] if isinstance(entry, Direction) else [direction.text for direction in entry.directions]
        if isinstance(entry, Speech):
            last = entry.speakers
            on_stage |= _heard(entry)
        enters: set[str] = set()
        leaves: set[str] = set()
        for text in texts:
            for clause in _CLAUSES.split(text):
                coming, going = _clause(clause, called, last if isinstance(entry, Speech) else (), last, on_stage)
                enters |= coming
                leaves |= going
                on_stage = (on_stage | coming) - going
        if enters - leaves:
            at = index if isinstance(entry, Direction) else index + 1
            yield _Move(at, frozenset(enters - leaves), frozenset())
        if leaves:
            yield _Move(index + 1, frozenset(), frozenset(leaves))


def _clause(
    clause: str, called: dict[str, str], subject: tuple[str, ...], last: tuple[str, ...], on_stage: set[str]
) -> tuple[set[str], set[str]]:
    """Who comes and who goes by one clause; without a name in it whoever speaks, or spoke last."""
    coming, going = _ENTERS.search(clause), _LEAVES.search(clause)
    if coming is None and going is None:
        return set(), set()
    named = _named(clause, called)
    if going is not None and (_EVERYBODY.search(clause) or _BUT.search(clause)):
        if _BUT.search(clause):
            return set(), set(on_stage) - named
        return set(), named or set(on_stage)
    if coming is not None and going is not None:
        # "Nora goes out as the Maid comes in": each verb takes the names before it and after the verb before.
        first, second = sorted((coming, going), key=lambda found: found.start())
        before, after = _named(clause[: second.start()], called), _named(clause[second.start() :], called)
        return (before, after) if first is coming else (after, before)
    if coming is not None:
        return named or set(subject), set()
    return set(), named or set(subject or last)


def _named(text: str, called: dict[str, str]) -> set[str]:
    """Everybody a text names, longer names before the shorter ones they hold."""
    small = text.casefold()
    found = set()
    for name in sorted(called, key=len, reverse=True):
        pattern = rf"(?<!\w){re.escape(name)}(?![\w]|['’]s\b)"
        if name in small and re.search(pattern, small):
            found.add(called[name])
            small = re.sub(pattern, " ", small)
    return found
