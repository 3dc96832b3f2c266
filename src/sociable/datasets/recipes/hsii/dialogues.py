"""Dialogues that are there already to HSII's cases (Appendix B.4, native dialogues): no model writes anything.

One of the speakers takes the assistant's part: whoever speaks to the most others. Every turn of theirs is a case, whose golden
response is what was really said; whom it was for is known from the data, or inferred, and then the case says how.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from pydantic import Field

from sociable.benchmarks.hsii.dataset import ASSISTANT, cut_cases, load_dataset
from sociable.core.prompts import put_on_one_line
from sociable.datasets.recipe import Recipe, RecipeOptions
from sociable.datasets.recipes.hsii.checks import PARTIES, check_golden
from sociable.datasets.review.records import HSII_TAGS
from sociable.datasets.stages import AnyStage, EachStage, Item, MadeRecord, Rejected, Writer
from sociable.datasets.transcripts import CERTAIN, SaidTurn, Transcript, find_addressees, part_speakers, read_transcripts

LONGEST = 24
"""Turns of a stretch that is cut from a longer conversation."""


class DialoguesOptions(RecipeOptions):
    assistant: str | None = Field(
        None, description="The person whose part the assistant takes; by default the one who speaks to the most others."
    )
    inferred: bool = Field(False, description="Guess the addressees of turns where they are not known.")


class Stretch(Item):
    transcript: str
    topic: str
    scene: str
    assistant: str
    """The person whose part the assistant takes."""
    turns: tuple[SaidTurn, ...]


async def address_turns(item: Transcript, writer: Writer) -> Sequence[Transcript]:
    """The transcript with whom each turn is for: known, or inferred and marked so (Appendix B.4)."""
    parted = part_speakers(item)
    if len(parted.speakers) < 3:
        raise Rejected("fewer than three speakers", ", ".join(parted.speakers))
    return [find_addressees(parted)]


async def cut_stretches(assistant: str | None, item: Transcript, writer: Writer) -> Sequence[Stretch]:
    """Stretches so short that they can be read before answering, with five others at the most (Figure 6)."""
    part = assistant or _find_busiest(item)
    if part not in item.speakers:
        raise Rejected("nobody of the assistant's name", part)
    found: list[list[SaidTurn]] = [[]]
    for turn in item.turns:
        if len(found[-1]) == LONGEST or len(_find_others([*found[-1], turn], part)) > PARTIES[1]:
            found.append([])
        found[-1].append(turn)
    kept = [stretch for stretch in found if _is_fit(stretch, part)]
    if not kept:
        raise Rejected("nobody turns from one to another in it", f"{part}'s part")
    # What was really said stays as it was said, so people call the assistant by this name.
    scene = f"{put_on_one_line(item.scene or item.title or 'A conversation.')} The {ASSISTANT} takes the part of {part}."
    common = {"transcript": item.id, "topic": item.title or "conversation", "scene": scene, "assistant": part}
    return [Stretch(id=f"{item.id}-{number}", turns=tuple(turns), **common) for number, turns in enumerate(kept, start=1)]


async def cut_out_cases(inferred: bool, item: Stretch, writer: Writer) -> Sequence[MadeRecord]:
    """A case for every turn of the assistant's part: what it really said is the golden response."""
    messages = [_make_message(turn, item.assistant, inferred=inferred) for turn in item.turns]
    background = {"scene": item.scene, "characters": _find_others(item.turns, item.assistant)}
    made = []
    for place, turn in enumerate(item.turns):
        if turn.speaker != item.assistant or not turn.to or messages[place] is None or not any(messages[:place]):
            continue
        if not inferred and turn.how not in CERTAIN:
            writer.left_out["turn: whom it is for can only be guessed (--inferred)"] += 1
            continue
        record = {
            "id": f"{item.id}-{place + 1}",
            "dialogue": item.transcript,
            "topic": item.topic,
            "background": background,
            "messages": [message for message in messages[:place] if message is not None],
            "golden": messages[place],
            "why": f"Whom it is for: {turn.how}.",
        }
        # Where one is not in the data's layout, none of the stretch is taken.
        list(cut_cases(record, item.id, item.id))
        made.append(MadeRecord(id=str(record["id"]), record=record))
    if not made:
        raise Rejected("no turn of the assistant's part of which it is known whom it is for")
    return made


async def check_case(item: MadeRecord, writer: Writer) -> Sequence[MadeRecord]:
    """Checks the golden response of real talk; who was told what in private nobody knows."""
    (case,) = cut_cases(item.record, item.id, item.id)
    check_golden(case)
    return [item]


def _find_busiest(transcript: Transcript) -> str:
    """The person who speaks to the most others; of several, the one who speaks most often, then first."""
    spoken = Counter(turn.speaker for turn in transcript.turns)
    to = {speaker: {turn.to for turn in transcript.turns if turn.speaker == speaker and turn.to} for speaker in spoken}
    return max(transcript.speakers, key=lambda speaker: (len(to[speaker]), spoken[speaker]))


def _find_others(turns: Sequence[SaidTurn], assistant: str) -> list[str]:
    """Everybody who speaks, or is spoken to, beside the assistant."""
    named = (name for turn in turns for name in (turn.speaker, turn.to) if name and name != assistant)
    return list(dict.fromkeys(named))


def _is_fit(turns: Sequence[SaidTurn], assistant: str) -> bool:
    to = {turn.to for turn in turns if turn.speaker == assistant and turn.to}
    return len(to) >= 2 and PARTIES[0] <= len(_find_others(turns, assistant)) <= PARTIES[1]


def _make_message(turn: SaidTurn, assistant: str, *, inferred: bool) -> dict[str, Any] | None:
    """A turn as a message, without an addressee where that could only be guessed; None for one without words."""
    if not turn.text:
        return None
    known = turn.to if inferred or turn.how in CERTAIN else None
    names = [ASSISTANT if name == assistant else name for name in (turn.speaker, known or "")]
    return {"role_from": names[0], "role_to": names[1], "content": turn.text}


def _find_facts(cases: Sequence[MadeRecord]) -> Mapping[str, str]:
    """Lines for the data card: how it is known whom golden responses are for, and whether a shortcut solves the cases."""
    ways = Counter(str(case.record["why"]).removeprefix("Whom it is for: ").rstrip(".") for case in cases)
    last = sum(case.record["golden"]["role_to"] == _find_last_other(case.record["messages"]) for case in cases)
    return {
        "whom golden responses are for": ", ".join(f"{way} {count}" for way, count in ways.most_common()),
        "solved by answering the last speaker": f"{last} of {len(cases)}",
    }


def _find_last_other(messages: Sequence[Mapping[str, str]]) -> str:
    return next((each["role_from"] for each in reversed(messages) if each["role_from"] != ASSISTANT), "")


def _plan_stages(_transcripts: Sequence[Transcript], options: DialoguesOptions) -> Sequence[AnyStage]:
    low, high = PARTIES
    stretches = f"stretches of up to {LONGEST} turns in which the assistant's part meets {low} to {high} others"
    addressed = "conversations of three speakers or more, with whom each turn is for"
    checked = "cases whose golden response nobody has given away"
    return (
        EachStage("addressees", addressed, Transcript, address_turns),
        EachStage("stretches", stretches, Stretch, partial(cut_stretches, options.assistant)),
        EachStage("cases", "a case for every turn of the assistant's part", MadeRecord, partial(cut_out_cases, options.inferred)),
        EachStage("checked", checked, MadeRecord, check_case),
    )


RECIPE: Recipe[Transcript, DialoguesOptions, MadeRecord] = Recipe(
    name="hsii-dialogues",
    purpose="Cases for HSII out of real conversations. No model is needed.",
    material="dialogues",
    version="1.0.0",
    benchmark="hsii",
    load=load_dataset,
    sources="a file of conversations (.jsonl, .json, .txt), or a folder of them",
    read_as="dialogues",
    options=DialoguesOptions,
    read=lambda sources, _options: read_transcripts(*sources),
    stages=_plan_stages,
    facts=_find_facts,
    tags=HSII_TAGS,
)
