"""Scenes out of a play that can become scenarios: as it marks them, or else from one entrance or exit to the next."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from sociable.datasets.plays import Direction, Entry, Play, PlayScene, Speech

FEWEST_SPEECHES, LONG_TEXT = 10, 6_000
"""AgentSense, Section 3.5: shorter scenes are dropped. Fewer speeches do where they have so many characters."""
FEWEST_SPEAKERS, SPEECHES_TO_BE_ACTIVE = 2, 2
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
_TITLE = re.compile(
    "mrs|miss|doctor|sir|lady|lord|rev|reverend|hon|capt|captain|maj|major|col|colonel|gen|general|sgt|sergeant|prof|professor|"
    "father|brother|sister|king|queen|prince|princess|duke|duchess|count|countess|earl|friar|madame|mme|mlle|monsieur|herr|frau|"
    "don|dona|old|young|canon|aunt|uncle|justice|judge"
)
"""Names nobody alone."""
_ROMAN = ((100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))


def find_scenarios(play: Play) -> list[PlayScene]:
    """The scenes, cut by entrances where the play marks none, that have enough speeches of enough people, in order."""
    return [s for s in cut_by_entrances(play).scenes if len(s.speeches) >= FEWEST_SPEECHES and is_scenario(s.speeches)]


def is_scenario(speeches: Sequence[Speech]) -> bool:
    """Enough speeches, unless they are long, of enough people who speak more than now and then (section 3.5)."""
    counts = Counter(name for speech in speeches for name in speech.speakers)
    is_short = len(speeches) < FEWEST_SPEECHES
    if is_short and sum(len(speech.with_directions()) for speech in speeches) <= LONG_TEXT:
        return False
    return sum(count >= (1 if is_short else SPEECHES_TO_BE_ACTIVE) for count in counts.values()) >= FEWEST_SPEAKERS


def cut_by_entrances(play: Play) -> Play:
    """The play with every act that marks no scenes cut where somebody comes or goes.

    A cut is passed over while the scene before it has fewer than ``FEWEST_SPEECHES``, and where less than that would be left of
    the act, so that scenes do not splinter. The new scenes are labelled "French scene I" and so on. Scenes that the play marks
    stay as they are.
    """
    acts = Counter(scene.act for scene in play.scenes)
    names = _names_in_directions(play)
    scenes: list[PlayScene] = []
    for scene in play.scenes:
        is_marked = scene.scene or acts[scene.act] > 1
        scenes += [scene] if is_marked else list(_cut(scene, names))
    return play.model_copy(update={"scenes": tuple(scenes)})


def _names_in_directions(play: Play) -> dict[str, str]:
    """For what a direction may call somebody, in small letters, the name in full; what could be two people is left out."""
    found: dict[str, set[str]] = {}
    for speech in play.speeches():
        if len(speech.speakers) == 1:
            for name in {speech.label.strip("_*:;,.—- "), speech.speaker}:
                found.setdefault(name.casefold(), set()).add(speech.speaker)
    everybody = {name for speech in play.speeches() for name in speech.speakers} | {member.name for member in play.cast}
    for name in everybody:
        found.setdefault(name.casefold(), set()).add(name)
    by_word: dict[str, set[str]] = {}
    for name in everybody:
        for word in re.findall(r"[^\W\d_]{3,}", name):
            if not _TITLE.fullmatch(word.casefold()) and word[0].isupper() and word.casefold() not in found:
                by_word.setdefault(word.casefold(), set()).add(name)
    return {called: next(iter(whom)) for called, whom in (found | by_word).items() if len(whom) == 1}


def _cut(scene: PlayScene, names: dict[str, str]) -> Iterator[PlayScene]:
    spoken = [0]
    for entry in scene.entries:
        spoken.append(spoken[-1] + isinstance(entry, Speech))
    cuts = [0]
    for place in _changes(scene.entries, names):
        if min(spoken[place] - spoken[cuts[-1]], spoken[-1] - spoken[place]) >= FEWEST_SPEECHES:
            cuts.append(place)
    if len(cuts) == 1:
        yield scene
        return
    for number, (begin, end) in enumerate(zip(cuts, [*cuts[1:], len(scene.entries)], strict=True), 1):
        yield scene.model_copy(update={"scene": f"French scene {_roman(number)}", "entries": scene.entries[begin:end]})


def _changes(entries: Sequence[Entry], names: dict[str, str]) -> Iterator[int]:
    """The places between entries at which others are on stage than before: before a direction that somebody enters, after one
    that somebody leaves, and after a speech with either."""
    on_stage: set[str] = set()
    last: tuple[str, ...] = ()
    for index, entry in enumerate(entries):
        if isinstance(entry, Speech):
            last = entry.speakers
            directions = [direction.text for direction in entry.directions]
            if not any(map(_HIDDEN.match, directions)):
                on_stage |= set(entry.speakers)
        else:
            directions = [entry.text]
        before, came, went = set(on_stage), set[str](), set[str]()
        for clause in (clause for text in directions for clause in _CLAUSES.split(text)):
            coming, going = _moves(clause, names, last if isinstance(entry, Speech) else (), last, on_stage)
            on_stage = (on_stage | coming) - going
            came, went = came | coming, went | going
        if came - went - before:
            yield index if isinstance(entry, Direction) else index + 1
        if went & before:
            yield index + 1


def _moves(
    clause: str, names: dict[str, str], subject: tuple[str, ...], last: tuple[str, ...], on_stage: set[str]
) -> tuple[set[str], set[str]]:
    """Who comes and who goes by one clause; without a name in it whoever speaks, or spoke last."""
    coming, going = _ENTERS.search(clause), _LEAVES.search(clause)
    if coming is None and going is None:
        return set(), set()
    named = _named(clause, names)
    if going is not None and _BUT.search(clause):
        return set(), on_stage - named
    if going is not None and _EVERYBODY.search(clause):
        return set(), named or set(on_stage)
    if coming is not None and going is not None:
        # "Nora goes out as the Maid comes in": each verb takes the names before it and after the verb before.
        first, second = sorted((coming, going), key=lambda found: found.start())
        before, after = _named(clause[: second.start()], names), _named(clause[second.start() :], names)
        return (before, after) if first is coming else (after, before)
    if coming is not None:
        return named or set(subject), set()
    return set(), named or set(subject or last)


def _named(text: str, names: dict[str, str]) -> set[str]:
    """Everybody a text names, longer names before the shorter ones they hold."""
    small = text.casefold()
    found = set()
    for name in sorted(names, key=len, reverse=True):
        pattern = rf"(?<!\w){re.escape(name)}(?![\w]|['’]s\b)"
        if name in small and re.search(pattern, small):
            found.add(names[name])
            small = re.sub(pattern, " ", small)
    return found


def _roman(value: int) -> str:
    signs = ""
    for worth, sign in _ROMAN:
        count, value = divmod(value, worth)
        signs += sign * count
    return signs
