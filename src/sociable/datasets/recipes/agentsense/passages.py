"""Plays to passages: the stretches in which people talk (section 3.5), cut by entrances where a play marks no scenes."""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from pathlib import Path

from sociable.core.errors import InputError
from sociable.datasets.plays import Direction, Entry, Play, PlayScene, Speech, read_play, to_roman
from sociable.datasets.recipes.agentsense.draft import Passage
from sociable.datasets.sources import is_about, make_slug, read_items

REMEMBERED = 3_000
"""Characters of what was said before a passage that are told with it, the last ones."""
LONGEST, LONGEST_TEXT = 40, 12_000
"""Speeches and characters of a passage; a longer scene is cut, for the model reads all of it several times."""
_KINDS = (".txt", ".fountain", ".spmd", ".fdx", ".xml")
_EXPECTED = "Expected plays as .txt, .fountain, .fdx or TEI (.xml), folders of Standard Ebooks' .xhtml, or a folder of those."
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


def read_passages(source: Path) -> list[Passage]:
    """The passages of one play or of all plays in a folder. Raises DataError and InputError, which name file and line."""
    return read_items(source, _read_plays, "scene with enough speeches and speakers", _EXPECTED)


def _read_plays(source: Path) -> Iterator[tuple[Passage, str]]:
    named: dict[str, Path] = {}
    for path in _find_plays(source):
        name = _name_play(path, source)
        if named.setdefault(name, path) != path:
            raise InputError(f"{path} and {named[name]} would both be called '{name}'. Rename one of them.")
        yield from ((passage, str(path)) for passage in _cut_passages(path, name))


def _find_plays(source: Path) -> Iterator[Path]:
    if source.is_file() or any(source.glob("*.xhtml")):
        yield source
        return
    files = {path for path in source.rglob("*") if path.suffix in _KINDS and _is_play(path)}
    yield from sorted(files | {path.parent for path in source.rglob("*.xhtml")})


def _is_play(path: Path) -> bool:
    """Whether a file in a folder is a play: no README, and as .xml only TEI, for books hold other XML beside their text."""
    if path.suffix != ".xml":
        return not is_about(path)
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return b"<TEI" in file.read(2_000)


def _name_play(path: Path, source: Path) -> str:
    """The name of a play: its file's, or the folder's where that says more; a digest stands for what a slug leaves out."""
    named = path if path.is_dir() or path.stem != "play" else path.parent
    within = named.relative_to(source) if named != source and named.is_relative_to(source) else Path(named.name)
    plain = " ".join((within.with_suffix("") if named.is_file() else within).parts)
    short = make_slug(plain)
    is_whole = len(re.findall(r"[^\W_]", plain)) == len(short.replace("-", ""))
    digest = hashlib.sha256(plain.encode("utf-8", "replace")).hexdigest()[:6]
    return short if is_whole else "-".join(filter(None, (short, digest)))


def _cut_passages(path: Path, name: str) -> Iterator[Passage]:
    play = read_play(path)
    told = ""
    for number, scene in enumerate(find_scenarios(play), start=1):
        stretches = _cut_stretches([speech for speech in scene.speeches if speech.format_with_directions()])
        for part, stretch in enumerate(stretches, start=1):
            names = tuple(dict.fromkeys(name for speech in stretch for name in speech.speakers))
            said = tuple((speech.speaker, speech.format_with_directions()) for speech in stretch)
            if is_scenario(stretch):
                yield Passage(
                    # A dot, which no name of a play holds: parts of one scene are not scenes of another play.
                    id=f"{name}-{number}" + (f".{part}" if len(stretches) > 1 else ""),
                    script=name,
                    title=play.title,
                    scene=", ".join(filter(None, (scene.act, scene.scene, scene.heading))),
                    before=told[-REMEMBERED:],
                    names=names,
                    said=said,
                )
            told = f"{told}\n" + "\n".join(f"{speaker}: {words}" for speaker, words in said)


def _cut_stretches(speeches: Sequence[Speech]) -> list[list[Speech]]:
    """Stretches of at most ``LONGEST`` speeches and ``LONGEST_TEXT`` characters, unless one speech is longer."""
    found: list[list[Speech]] = [[]]
    length = 0
    for speech in speeches:
        added = len(speech.format_with_directions())
        if found[-1] and (len(found[-1]) == LONGEST or length + added > LONGEST_TEXT):
            found.append([])
            length = 0
        found[-1].append(speech)
        length += added
    return found


def find_scenarios(play: Play) -> list[PlayScene]:
    """The scenes, cut by entrances where the play marks none, that have enough speeches of enough people, in order."""
    return [s for s in cut_by_entrances(play).scenes if len(s.speeches) >= FEWEST_SPEECHES and is_scenario(s.speeches)]


def is_scenario(speeches: Sequence[Speech]) -> bool:
    """Enough speeches, unless they are long, of enough people who speak more than now and then (section 3.5)."""
    counts = Counter(name for speech in speeches for name in speech.speakers)
    is_short = len(speeches) < FEWEST_SPEECHES
    if is_short and sum(len(speech.format_with_directions()) for speech in speeches) <= LONG_TEXT:
        return False
    return sum(count >= (1 if is_short else SPEECHES_TO_BE_ACTIVE) for count in counts.values()) >= FEWEST_SPEAKERS


def cut_by_entrances(play: Play) -> Play:
    """The play with every act that marks no scenes cut where somebody comes or goes.

    A cut is passed over while the scene before it has fewer than ``FEWEST_SPEECHES``, and where less than that would be left of
    the act, so that scenes do not splinter. The new scenes are labelled "French scene I" and so on. Scenes that the play marks
    stay as they are.
    """
    acts = Counter(scene.act for scene in play.scenes)
    names = _find_names_in_directions(play)
    scenes: list[PlayScene] = []
    for scene in play.scenes:
        is_marked = scene.scene or acts[scene.act] > 1
        scenes += [scene] if is_marked else list(_cut_scene(scene, names))
    return play.model_copy(update={"scenes": tuple(scenes)})


def _find_names_in_directions(play: Play) -> dict[str, str]:
    """The full name for each word that a direction may call somebody, in small letters; what could be two people is left out."""
    found: dict[str, set[str]] = defaultdict(set)
    by_word: dict[str, set[str]] = defaultdict(set)
    everybody = {name for speech in play.list_speeches() for name in speech.speakers} | {member.name for member in play.cast}
    for name in everybody:
        found[name.casefold()].add(name)
    for speech in play.list_speeches():
        if len(speech.speakers) == 1:
            found[speech.label.strip("_*:;,.—- ").casefold()].add(speech.speaker)
    for name in everybody:
        for word in re.findall(r"[^\W\d_]{3,}", name):
            if not _TITLE.fullmatch(word.casefold()) and word[0].isupper() and word.casefold() not in found:
                by_word[word.casefold()].add(name)
    return {called: next(iter(whom)) for called, whom in (found | by_word).items() if len(whom) == 1}


def _cut_scene(scene: PlayScene, names: dict[str, str]) -> Iterator[PlayScene]:
    spoken = list(accumulate((isinstance(entry, Speech) for entry in scene.entries), initial=0))
    cuts = [0]
    for place in _find_changes(scene.entries, names):
        if min(spoken[place] - spoken[cuts[-1]], spoken[-1] - spoken[place]) >= FEWEST_SPEECHES:
            cuts.append(place)
    if len(cuts) == 1:
        yield scene
        return
    for number, (begin, end) in enumerate(zip(cuts, [*cuts[1:], len(scene.entries)], strict=True), 1):
        yield scene.model_copy(update={"scene": f"French scene {to_roman(number)}", "entries": scene.entries[begin:end]})


def _find_changes(entries: Sequence[Entry], names: dict[str, str]) -> Iterator[int]:
    """The places between entries at which other people are on stage than before.

    These are before a direction that somebody enters, after one that somebody leaves, and after a speech with either.
    """
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
        for clause in chain.from_iterable(map(_CLAUSES.split, directions)):
            coming, going = _find_moves(clause, names, last if isinstance(entry, Speech) else (), last, on_stage)
            on_stage = (on_stage | coming) - going
            came, went = came | coming, went | going
        if came - went - before:
            yield index if isinstance(entry, Direction) else index + 1
        if went & before:
            yield index + 1


def _find_moves(
    clause: str, names: dict[str, str], subject: tuple[str, ...], last: tuple[str, ...], on_stage: set[str]
) -> tuple[set[str], set[str]]:
    """(the people who come, those who go) by one clause; a clause without a name is about whoever speaks, or spoke last."""
    coming, going = _ENTERS.search(clause), _LEAVES.search(clause)
    if coming is None and going is None:
        return set(), set()
    named = _find_named(clause, names)
    if going is not None and _BUT.search(clause):
        return set(), on_stage - named
    if going is not None and _EVERYBODY.search(clause):
        return set(), named or set(on_stage)
    if coming is not None and going is not None:
        # "Nora goes out as the Maid comes in": each verb takes the names before it and after the verb before.
        first, second = sorted((coming, going), key=lambda found: found.start())
        before, after = _find_named(clause[: second.start()], names), _find_named(clause[second.start() :], names)
        return (before, after) if first is coming else (after, before)
    if coming is not None:
        return named or set(subject), set()
    return set(), named or set(subject or last)


def _find_named(text: str, names: dict[str, str]) -> set[str]:
    """Everybody a text names, longer names before the shorter ones they hold."""
    small = text.casefold()
    found = set()
    for name in sorted(names, key=len, reverse=True):
        pattern = rf"(?<!\w){re.escape(name)}(?![\w]|['’]s\b)"
        if name in small and re.search(pattern, small):
            found.add(names[name])
            small = re.sub(pattern, " ", small)
    return found
