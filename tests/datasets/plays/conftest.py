"""Real plays beside their ground truth, and layouts of our own that they are printed in again."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from xml.sax.saxutils import escape

import pytest

from sociable.datasets.plays import Play

DATA = Path(__file__).resolve().parents[4] / "shared" / "data" / "plays_public_domain"
PLAYS = {
    "earnest": "oscar-wilde_the-importance-of-being-earnest",
    "pygmalion": "george-bernard-shaw_pygmalion",
    "arms": "george-bernard-shaw_arms-and-the-man",
    "doll": "henrik-ibsen_a-dolls-house_r-farquharson-sharp",
    "romeo": "william-shakespeare_romeo-and-juliet",
}
HELD_BACK_PLAYS = {
    "ideal": "oscar-wilde_an-ideal-husband",
    "tempest": "william-shakespeare_the-tempest",
    "robots": "karel-capek_r-u-r_paul-selver_nigel-playfair",
}
"""Not looked at until the parser was done; what the first measurement showed was mended afterwards."""
PEOPLE: Mapping[str, Mapping[str, str]] = {
    "earnest": {
        "Algernon": "Algernon Moncrieff",
        "Gwendolen": "Hon. Gwendolen Fairfax",
        "Cecily": "Cecily Cardew",
        "Chasuble": "Rev. Canon Chasuble",
    },
    "pygmalion": {},
    "arms": {
        "Catherine": "Catherine Petkoff",
        "Raina": "Raina Petkoff",
        "Petkoff": "Major Paul Petkoff",
        "Sergius": "Major Sergius Saranoff",
        "Bluntschli": "Captain Bluntschli",
        "The Officer": "A young Russian officer",
    },
    "doll": {
        "Helmer": "Torvald Helmer",
        "Krogstad": "Nils Krogstad",
        "Rank": "Doctor Rank",
        "Nurse": "Anne",
        "Porter": "A Porter",
        "Children": "Helmer’s three young children",
        "The Children": "Helmer’s three young children",
    },
    "romeo": {"Prince": "Escalus", "Apothecary": "An apothecary"},
    "ideal": {
        "Lord Caversham": "The Earl of Caversham",
        "Lord Goring": "Viscount Goring",
        "Mabel Chiltern": "Miss Mabel Chiltern",
    },
    "tempest": {"Master": "Master of a ship"},
    "robots": {
        "Domin": "Harry Domin",
        "Helena": "Helena Glory",
        "Helena.": "Helena",
        "Dr. Gall.": "Dr. Gall",
        "Alquist": "Mr. Alquist",
        "Fabry": "Mr. Fabry",
        "Hallemeier": "Dr. Hallemeier",
        "Busman": "Consul Busman",
        "Servant": "A Servant",
        "1st Robot": "First Robot",
        "2nd Robot": "Second Robot",
    },
}
"""By hand: whom of the cast a speech heading means where the names differ. The heading itself is right as well."""


@dataclass(frozen=True)
class Truth:
    """An entry of the ground truth. ``parts`` are what is said and, marked, the directions in it; nobody's are a direction."""

    act: str
    scene: str
    speaker: str
    parts: tuple[tuple[bool, str], ...]

    @property
    def said(self) -> str:
        return " ".join(text for is_direction, text in self.parts if not is_direction)


def letters(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))


def parts_of(text: str) -> Iterator[tuple[bool, str]]:
    """The ground truth marks directions by parentheses, capital first."""
    begin = depth = 0
    for at, sign in enumerate(text):
        if sign == "(" and depth == 0 and (text[at + 1 : at + 2].isupper() or text[at + 1 : at + 2] in "“‘"):
            if text[begin:at].strip():
                yield False, text[begin:at].strip()
            begin, depth = at + 1, 1
        elif depth:
            depth += (sign == "(") - (sign == ")")
            if depth == 0:
                yield True, text[begin:at]
                begin = at + 1
    if text[begin:].strip():
        yield depth > 0, text[begin:].strip()


@cache
def truth_of(folder: Path) -> list[Truth]:
    found = []
    for line in (folder / "lines.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        if entry["act"] == "Dramatis Personae":
            continue
        parts = tuple(parts_of(entry["text"])) if entry["speaker"] else ((True, entry["stage_direction"]),)
        found.append(Truth(entry["act"], entry["scene"], entry["speaker"] or "", parts))
    return found


def cast_of(folder: Path) -> list[str]:
    lines = (folder / "play.txt").read_text(encoding="utf-8").splitlines()
    if "DRAMATIS PERSONAE" not in lines:
        return []
    after = lines[lines.index("DRAMATIS PERSONAE") + 2 :]
    return [line.strip() for line in after[: next(i for i, line in enumerate(after) if not line.startswith("  "))]]


def share_right(play: Play, truth: Sequence[Truth], people: Mapping[str, str]) -> float:
    """The share of true speeches that the play has, in order, word for word and by the right speaker."""
    ours = list(play.list_speeches())
    theirs = [entry for entry in truth if entry.speaker]
    matcher = SequenceMatcher(None, [letters(s.text) for s in ours], [letters(t.said) for t in theirs], autojunk=False)
    right = 0
    for block in matcher.get_matching_blocks():
        for at in range(block.size):
            right += _same_speaker(ours[block.a + at].speakers, theirs[block.b + at].speaker, people)
    return right / len(theirs)


def _same_speaker(speakers: Sequence[str], label: str, people: Mapping[str, str]) -> bool:
    wanted = re.split(r" and |, ", label) if len(speakers) > 1 else [label]
    allowed = [{one.casefold(), people.get(one, one).casefold()} for one in wanted]
    return len(speakers) == len(wanted) and all(name.casefold() in names for name, names in zip(speakers, allowed, strict=True))


def headings(truth: Sequence[Truth]) -> Iterator[tuple[str, str, list[Truth]]]:
    """Act and scene where they change, with what stands under them."""
    before: tuple[str, str] = ("", "")
    for index, entry in enumerate(truth):
        if (entry.act, entry.scene) != before:
            end = next(
                (i for i in range(index, len(truth)) if (truth[i].act, truth[i].scene) != (entry.act, entry.scene)), len(truth)
            )
            act = entry.act if entry.act != before[0] else ""
            before = (entry.act, entry.scene)
            yield act, entry.scene, list(truth[index:end])


def front(title: str, cast: Sequence[str], heading: str = "DRAMATIS PERSONAE") -> str:
    return f"{title}\n\n\n{heading}\n\n" + "".join(f"{one}\n" for one in cast) + "\n\n" if cast else f"{title}\n\n\n"


def inline(entry: Truth, form: str) -> str:
    """A speech's text with its directions in a form such as "[{}]"."""
    return " ".join(form.format(text) if is_direction else text for is_direction, text in entry.parts)


def wrapped(text: str, columns: int = 70, **options: str) -> str:
    return textwrap.fill(text, columns, break_on_hyphens=False, break_long_words=False, **options)


def shortened(labels: Sequence[str], cast: Sequence[str]) -> dict[str, str]:
    """Abbreviations of the headings that are the beginning of a cast name or a word of just one; others stay."""
    names = [re.split(r",| to ", one)[0] for one in cast]
    found = {}
    for label in labels:
        owners = [name for name in names if set(label.split()) <= set(name.split())]
        if len(owners) != 1 or " and " in label:
            continue
        for size in range(3, len(label.split()[-1])):
            short = " ".join([*label.split()[:-1], label.split()[-1][:size]])
            rivals = [name for name in [*names, *labels] if name not in owners and name != label]
            if not any(word.startswith(short.split()[-1]) for name in rivals for word in name.split()):
                found[label] = f"{short}."
                break
    return found


GUTENBERG = """The Project Gutenberg eBook of {title}, by Nobody

This eBook is for the use of anyone anywhere.

Title: {title}

Author: Nobody

*** START OF THE PROJECT GUTENBERG EBOOK {upper} ***




Produced by somebody at a desk



{body}


*** END OF THE PROJECT GUTENBERG EBOOK {upper} ***

Section 1.  General Terms of Use

A. By reading any part of this work you agree to the terms.
B. There are a few things that you can do with most works.
"""


def colons(title: str, truth: Sequence[Truth], cast: Sequence[str]) -> str:
    """Nora: (Laughing.) Yes."""
    out = [front(title, cast, "Characters")]
    for act, scene, entries in headings(truth):
        out += [f"{act}\n\n" if act else "", f"{scene}\n\n" if scene else ""]
        for entry in entries:
            text = f"{entry.speaker}: {inline(entry, '({})')}" if entry.speaker else f"({entry.parts[0][1]})"
            out.append(wrapped(text) + "\n\n")
    return "".join(out)


def framed_and_shortened(title: str, truth: Sequence[Truth], cast: Sequence[str]) -> str:
    """A Gutenberg text: Nor. [_Laughing._] Yes, wrapped at 70 columns."""
    short = shortened(sorted({entry.speaker for entry in truth if entry.speaker}), cast)
    out = [front(title.upper(), cast, "PERSONS REPRESENTED.")]
    for act, scene, entries in headings(truth):
        out += [f"{act.upper()}.\n\n\n" if act else "", f"{scene.upper()}.\n\n" if scene else ""]
        for entry in entries:
            label = short.get(entry.speaker, f"{entry.speaker}.")
            text = f"{label} {inline(entry, '[_{}_]')}" if entry.speaker else f"[_{entry.parts[0][1]}_]"
            out.append(wrapped(text) + "\n\n")
    return GUTENBERG.format(title=title, upper=title.upper(), body="".join(out))


def names_alone(title: str, truth: Sequence[Truth], cast: Sequence[str]) -> str:
    """NORA, and under it the speech."""
    out = [front(title, cast)]
    for act, scene, entries in headings(truth):
        out += [f"{act.upper()}\n\n" if act else "", f"{scene.upper()}\n\n" if scene else ""]
        for entry in entries:
            body = wrapped(inline(entry, "[{}]"), 60)
            out.append(f"{entry.speaker.upper()}\n{body}\n\n" if entry.speaker else f"{body}\n\n")
    return "".join(out)


def fountain(title: str, truth: Sequence[Truth], cast: Sequence[str]) -> str:
    out = [f"Title: {title}\nAuthor: Nobody\n\n"]
    for act, scene, entries in headings(truth):
        out += [f"# {act}\n\n" if act else "", f"## {scene}\n\n" if scene else ""]
        for entry in entries:
            if not entry.speaker:
                out.append(f"!{entry.parts[0][1]}\n\n")
                continue
            lines = "".join(f"({text})\n" if is_direction else f"{text}\n" for is_direction, text in entry.parts)
            out.append(f"@{entry.speaker}\n{lines}\n")
    return "".join(out)


def final_draft(title: str, truth: Sequence[Truth], cast: Sequence[str]) -> str:
    def paragraph(kind: str, text: str) -> str:
        return f'    <Paragraph Type="{kind}">\n      <Text>{escape(text)}</Text>\n    </Paragraph>\n'

    out = ['<?xml version="1.0" encoding="UTF-8"?>\n<FinalDraft DocumentType="Script" Version="1">\n  <Content>\n']
    for act, scene, entries in headings(truth):
        out += [paragraph("New Act", act) if act else "", paragraph("Scene Heading", scene) if scene else ""]
        for entry in entries:
            if not entry.speaker:
                out.append(paragraph("Action", entry.parts[0][1]))
                continue
            out.append(paragraph("Character", entry.speaker.upper()))
            out += [
                paragraph("Parenthetical" if aside else "Dialogue", f"({text})" if aside else text) for aside, text in entry.parts
            ]
    page = f"  <TitlePage>\n    <Content>\n{paragraph('General', title)}    </Content>\n  </TitlePage>\n"
    return "".join(out) + f"  </Content>\n{page}</FinalDraft>\n"


def typed_screenplay(title: str, truth: Sequence[Truth], cast: Sequence[str]) -> str:
    """As typed: action at 15 columns, speeches at 25, directions at 31, names at 37, pages numbered."""
    out = [" " * 30 + title.upper(), ""]
    page = 1
    for act, scene, entries in headings(truth):
        out += [" " * 34 + act.upper(), ""] if act else []
        out += [" " * 15 + f"INT. {scene.upper()} - DAY", ""] if scene else []
        for entry in entries:
            if not entry.speaker:
                out += [wrapped(entry.parts[0][1], 72, initial_indent=" " * 15, subsequent_indent=" " * 15), ""]
                continue
            out.append(" " * 37 + entry.speaker.upper())
            for is_direction, text in entry.parts:
                left = " " * (31 if is_direction else 25)
                out.append(wrapped(f"({text})" if is_direction else text, 60, initial_indent=left, subsequent_indent=left))
            out.append("")
            if len(out) > 50 * page:
                page += 1
                out += ["", " " * 70 + f"{page}.", ""]
    return "\n".join(out)


def hanging(title: str, truth: Sequence[Truth], cast: Sequence[str]) -> str:
    """NORA (laughing). Yes, with no blank lines, each speech hanging from its name."""
    out = [front(title, cast, "THE PERSONS OF THE PLAY")]
    for act, scene, entries in headings(truth):
        out += [f"\n\n{act.upper()}\n\n" if act else "", f"\n{scene.upper()}.\n\n" if scene else ""]
        for entry in entries:
            if not entry.speaker:
                out.append(wrapped(f"({entry.parts[0][1]})", 68, subsequent_indent="    ") + "\n")
                continue
            label, parts = entry.speaker.upper(), entry.parts
            if parts[0][0] and len(parts) > 1 and len(parts[0][1]) < 60 and parts[0][1].endswith("."):
                label, parts = f"{label} ({parts[0][1][0].lower()}{parts[0][1][1:-1]})", parts[1:]
            text = " ".join(f"({text})" if is_direction else text for is_direction, text in parts)
            out.append(wrapped(f"{label}. {text}", 68, subsequent_indent="    ") + "\n")
    return "".join(out)


def centred(title: str, truth: Sequence[Truth], cast: Sequence[str]) -> str:
    """Nor. in the middle of its line; directions are sentences in italics."""
    ordinals = {
        "Act I": "FIRST ACT",
        "Act II": "SECOND ACT",
        "Act III": "THIRD ACT",
        "Act IV": "FOURTH ACT",
        "Act V": "FIFTH ACT",
    }
    short = shortened(sorted({entry.speaker for entry in truth if entry.speaker}), cast)
    out = [front(title, cast, "CAST OF CHARACTERS")]
    for act, scene, entries in headings(truth):
        out += [f"{ordinals.get(act, act.upper()).center(70).rstrip()}\n\n" if act else ""]
        out += [f"{scene.center(70).rstrip()}\n\n" if scene else ""]
        for entry in entries:
            if not entry.speaker:
                out.append(wrapped(f"_{entry.parts[0][1]}_") + "\n\n")
                continue
            label = short.get(entry.speaker, f"{entry.speaker}.")
            out.append(f"{label.center(70).rstrip()}\n{wrapped(inline(entry, '_{}_'))}\n\n")
    return "".join(out)


def paged_screenplay(title: str, truth: Sequence[Truth], cast: Sequence[str]) -> str:
    """Typed in narrower columns and cut into pages, in the middle of speeches too."""
    out = [title, ""]
    lines = 0
    for act, scene, entries in headings(truth):
        out += [f"{act.upper()}", ""] if act else []
        out += [f"EXT. SOMEWHERE - {scene.upper()}", ""] if scene else []
        for entry in entries:
            if not entry.speaker:
                out += [wrapped(entry.parts[0][1], 60), ""]
                continue
            name = " " * 22 + entry.speaker.upper()
            out.append(name + (" (O.S.)" if len(out) % 7 == 0 else ""))
            for is_direction, text in entry.parts:
                left = " " * (16 if is_direction else 10)
                for line in wrapped(f"({text})" if is_direction else text, 45, initial_indent=left, subsequent_indent=left).split(
                    "\n"
                ):
                    out.append(line)
                    lines += 1
                    if lines % 40 == 0 and not is_direction and not line.endswith((".", "!", "?")):
                        out += [
                            " " * 22 + "(MORE)",
                            "",
                            "(CONTINUED)",
                            " " * 58 + f"{lines // 40}.",
                            "CONTINUED:",
                            "",
                            f"{name} (CONT'D)",
                        ]
            out.append("")
    return "\n".join(out)


def bare_fountain(title: str, truth: Sequence[Truth], cast: Sequence[str]) -> str:
    """Fountain that forces nothing, with stress, a note and extensions."""
    out = ["Title:\n    _**" + title + "**_\nCredit: after\n\nFADE IN:\n\n"]
    for act, scene, entries in headings(truth):
        out += [f"# {act}\n\n= What happens in it.\n\n" if act else "", f"INT. {scene.upper()} - NIGHT\n\n" if scene else ""]
        for entry in entries:
            if not entry.speaker:
                out.append(f"{entry.parts[0][1]}\n\n")
                continue
            lines = "".join(f"({text})\n" if is_direction else f"*{text.strip('*')}*\n" for is_direction, text in entry.parts)
            out.append(f"{entry.speaker.upper()}{' (V.O.)' if len(out) % 5 == 0 else ''}\n{lines}\n")
        out.append("[[A note]]\n\n/* Left out\n\nNOBODY\nNothing. */\n\n")
    return "".join(out)


Layout = Callable[[str, Sequence[Truth], Sequence[str]], str]
LAYOUTS: Mapping[str, tuple[str, Layout]] = {
    "colons": (".txt", colons),
    "framed_and_shortened": (".txt", framed_and_shortened),
    "names_alone": (".txt", names_alone),
    "fountain": (".fountain", fountain),
    "final_draft": (".fdx", final_draft),
    "typed_screenplay": (".txt", typed_screenplay),
}

HELD_BACK_LAYOUTS: Mapping[str, tuple[str, Layout]] = {
    "hanging": (".txt", hanging),
    "centred": (".txt", centred),
    "paged_screenplay": (".txt", paged_screenplay),
    "bare_fountain": (".fountain", bare_fountain),
}
"""Written when the parser was done; what the first measurement showed was mended afterwards."""


@pytest.fixture(scope="session")
def real() -> SimpleNamespace:
    """What the tests on real plays need, where there are any."""
    return SimpleNamespace(
        data=DATA,
        plays=PLAYS,
        people=PEOPLE,
        held_back_plays=HELD_BACK_PLAYS,
        layouts=LAYOUTS,
        held_back_layouts=HELD_BACK_LAYOUTS,
        truth_of=truth_of,
        cast_of=cast_of,
        share_right=share_right,
    )
