"""Dialogues to dossiers of HSII live: a scene becomes a negotiation, whose numbers and lots are put together and solved by code.

A model writes what people say and what may lie behind it; which side is so is drawn when a dossier is played. What was written is
kept only if the solver finds a best policy within the budget that asking is worth, and nothing gives a side away before its time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from pydantic import Field

from sociable.benchmarks.hsii.dataset import Case, load_dataset
from sociable.benchmarks.hsii.live.audit import find_unclear_wordings, rank_arrangements
from sociable.benchmarks.hsii.live.dataset import Dossier, Level, load_dossiers
from sociable.benchmarks.hsii.live.drawing import draw_scenario
from sociable.benchmarks.hsii.live.solver import Solver
from sociable.core.data_files import validate_record
from sociable.core.errors import DataError, InputError
from sociable.core.prompts import defuse, put_on_one_line, quote
from sociable.core.wording import has_wording
from sociable.datasets.recipe import Recipe, RecipeOptions
from sociable.datasets.recipes.hsii.live.draft import (
    Behind,
    Guard,
    Reason,
    Scene,
    Side,
    Tied,
    WrittenReasons,
    WrittenScene,
    WrittenTies,
    check_reasons,
    check_scene,
    check_ties,
)
from sociable.datasets.sources import make_slug
from sociable.datasets.stages import AnyStage, AskingStage, EachStage, Item, MadeRecord, Rejected, Writer

DRAWS = 4
"""Draws of each level that are solved before a dossier is kept."""
COST = 3
"""Points that somebody loses by a broken confidence."""
OPEN_WISH = 1
"""Points of what is asked for openly: less than what lies behind it."""


class LiveDossierOptions(RecipeOptions):
    seed: int = Field(0, description="The seed of the draws that are solved.")


class Told(Item):
    """A dialogue, as the model reads it."""

    text: str


def read_dialogues(sources: Sequence[Any]) -> list[Told]:
    """The dialogues of a file or folder of HSII's data, each whole. Raises InputError and DataError."""
    (path,) = sources
    longest: dict[str, Case] = {}
    for case in load_dataset(path).items:
        if case.dialogue not in longest or len(case.messages) > len(longest[case.dialogue].messages):
            longest[case.dialogue] = case
    return [Told(id=name, text=_tell(case)) for name, case in longest.items()]


def _tell(case: Case) -> str:
    background = case.background
    lines = [background.scene, *background.relationships, background.conflicts]
    said = [*case.messages, case.golden]
    lines += [f"{each.role_from} to {each.role_to or 'all'}: {each.content}" for each in said]
    return quote("\n".join(put_on_one_line(line) for line in lines if line))


async def write_scene(item: Told, writer: Writer) -> Sequence[Scene]:
    written = await writer.write(WrittenScene, "a scene", "people", dialogue=item.text)
    check_scene(written)
    return [Scene(id=item.id, **dict(written))]


async def write_reasons(item: Scene, writer: Writer) -> Sequence[Behind]:
    written = await writer.write(WrittenReasons, "reasons", "reasons", scene=_show_scene(item))
    check_reasons(item, written.reasons)
    return [Behind(**dict(item), reasons=written.reasons)]


async def write_ties(item: Behind, writer: Writer) -> Sequence[Tied]:
    shown = [
        f"{reason.person}, asked about {reason.about}: {' Or: '.join(side.says for side in reason.sides)}"
        + (f" To be kept from {', '.join(reason.keep_from)}." if reason.keep_from else "")
        for reason in item.reasons
    ]
    told = quote("\n".join(map(put_on_one_line, shown)))
    written = await writer.write(WrittenTies, "ties", "ties", scene=_show_scene(item), reasons=told)
    check_ties(item, written)
    return [Tied(**dict(item), ties=written)]


def _show_scene(scene: Scene) -> str:
    lines = [scene.setting]
    for matter in scene.matters:
        options = "; ".join(f"{each.id}: {each.text}" for each in matter.options)
        lines += [f"{matter.id}. {matter.question} {options}"]
    for person in scene.people:
        wishes = ", ".join(f"{matter}={option}" for matter, option in person.wishes.items())
        lines.append(f"{person.name} ({person.pronouns}), {person.line} {person.temper}")
        lines.append(f"{person.name} writes: {person.opening} (Asks for {wishes}. Lets slip: {person.cue})")
    return quote("\n".join(map(put_on_one_line, lines)))


# One record, out of what was written.


async def assemble(seed: int, item: Tied, writer: Writer) -> Sequence[MadeRecord]:
    """A dossier that can be solved. Raises Rejected."""
    record = make_record(item)
    try:
        dossier = validate_record(Dossier, record, item.id)
    except DataError as error:
        raise Rejected("not a dossier", str(error)) from None
    if unclear := next(find_unclear_wordings(dossier), ""):
        raise Rejected("wordings that do not tell facts apart", unclear)
    check_solutions(dossier, seed)
    return [MadeRecord(id=item.id, record=record)]


def check_solutions(dossier: Dossier, seed: int) -> None:
    """Raises Rejected where asking gains too little, the search is not exact, or two arrangements are best."""
    for level in dossier.budgets:
        unique = 0
        for number in range(1, DRAWS + 1):
            try:
                scenario = draw_scenario(dossier, level, seed, number)
            except InputError as error:
                raise Rejected("asking gains too little", str(error)) from None
            solution = Solver(scenario).solve()
            if not solution.is_exact:
                raise Rejected("too large to be solved", scenario.id)
            unique += rank_arrangements(scenario, solution)[1] < 1.0
        if 2 * unique < DRAWS:
            raise Rejected("several arrangements are best", f"{dossier.id}, {level}")


def make_record(item: Tied) -> dict[str, Any]:
    """What was written, as a record of the data: the numbers, lots and budgets are given by rule."""
    lots = {person.name: make_slug(person.name) for person in item.people}
    guards = {guard.person: guard for guard in item.ties.guards}
    reasons = {reason.person: reason for reason in item.reasons}
    everybody = [person.name for person in item.people]
    count = len(everybody)
    record: dict[str, Any] = {
        "id": item.id,
        "title": item.title,
        "setting": item.setting,
        "matters": [matter.model_dump() for matter in item.matters],
        "people": [
            {
                **{name: getattr(person, name) for name in ("name", "pronouns", "line", "temper", "stock")},
                "worths": [
                    *({"when": {matter: option}, "points": OPEN_WISH} for matter, option in person.wishes.items()),
                    *(
                        {"when": dict([choice.split("=", 1)]), "points": points, "side": f"{lots[person.name]}={side.id}"}
                        for side in reasons[person.name].sides
                        for choice, points in side.worths.items()
                    ),
                ],
            }
            for person in item.people
        ],
        "lots": {lots[name]: [side.id for side in reasons[name].sides] for name in everybody},
        "open": _find_open(item),
        "budgets": {
            level.value: {"rounds": rounds, "messages": messages, "patience": patience, "least": least}
            for level, rounds, messages, patience, least in (
                (Level.EASY, 5, count, 4, -4),
                (Level.MIDDLE, 4, max(count - 1, 2), 3, -3),
                (Level.HARD, 4, max(count // 2, 2), 2, -2),
            )
        },
    }
    record["facts"] = [*_list_open_facts(item), *_list_hidden_facts(item, lots), _make_news_fact(item)]
    record["topics"] = [_make_topic(reason, lots[reason.person], guards.get(reason.person), lots) for reason in item.reasons]
    openings = [
        {
            "round": 1,
            "sender": person.name,
            "to": [name for name in everybody if name != person.name],
            "text": person.opening,
            "gives": [f"{lots[person.name]}-wish-{matter}" for matter in person.wishes],
        }
        for person in item.people
    ]
    record["messages"] = [*openings, {"round": 2, "text": item.ties.news.text, "gives": ["news"]}, *_list_presses(item, lots)]
    decision = item.ties.decision
    record["decisions"] = [
        {
            "id": "own",
            "person": decision.person,
            "question": decision.question,
            "options": [{"id": f"option-{place}", "text": text} for place, text in enumerate(decision.options)],
            "best": f"option-{decision.best}",
            "unknowing": f"option-{decision.unknowing}",
            "needs": ["news"],
            "points": 1,
        }
    ]
    record["quizzes"] = [
        {
            "fact": lots[reason.person],
            "question": f"What is behind {reason.about}?",
            "answers": {f"{lots[reason.person]}={side.id}": side.fact for side in reason.sides},
            "decoys": list(reason.decoys),
        }
        for reason in item.reasons
        if reason.keep_from
    ]
    return {name: _defuse(part) for name, part in record.items()}


def _find_open(item: Tied) -> dict[str, str]:
    """What the openings add up to."""
    wished = Counter((matter, option) for person in item.people for matter, option in person.wishes.items())
    return {
        matter.id: max(matter.options, key=lambda option, own=matter.id: wished[own, option.id]).id  # type: ignore[misc]
        for matter in item.matters
    }


def _list_open_facts(item: Tied) -> list[dict[str, Any]]:
    words = {(matter.id, option.id): option.text for matter in item.matters for option in matter.options}
    found = []
    for person in item.people:
        for matter, option in person.wishes.items():
            asked = words[matter, option]
            told = {"text": f"{person.name} asks openly for this: {asked}.", "wording": [[person.name, asked]]}
            shows = [{"when": {matter: option}, "points": OPEN_WISH}]
            name = f"{make_slug(person.name)}-wish-{matter}"
            found.append({"id": name, "of": person.name, **told, "shows": shows})
    return found


def _list_hidden_facts(item: Tied, lots: Mapping[str, str]) -> list[dict[str, Any]]:
    """A fact for each side, known by those of its signs that stand in no other fact and nowhere openly."""
    openly = [item.setting, item.ties.news.fact, *(person.opening for person in item.people)]
    facts = {(reason.person, side.id): side.fact for reason in item.reasons for side in reason.sides}

    def choose_signs(reason: Reason, side: Side) -> list[str]:
        others = [fact for (person, _), fact in facts.items() if person != reason.person]
        return _choose_signs(side.signs, side.fact, [*openly, *others])

    return [
        {
            "id": lots[reason.person],
            "side": f"{lots[reason.person]}={side.id}",
            "of": reason.person,
            "text": side.fact,
            "wording": [[sign] for sign in choose_signs(reason, side)],
            "keep_from": list(reason.keep_from),
            "cost": COST if reason.keep_from else 0,
        }
        for reason in item.reasons
        for side in reason.sides
    ]


def _make_news_fact(item: Tied) -> dict[str, Any]:
    news, others = item.ties.news, [side.fact for reason in item.reasons for side in reason.sides]
    return {"id": "news", "text": news.fact, "wording": [[sign] for sign in _choose_signs(news.signs, news.fact, others)]}


def _choose_signs(signs: Sequence[str], own: str, others: Sequence[str]) -> list[str]:
    """The signs that tell a fact from the ``others``. Raises Rejected where its own sentence has none of them."""
    found = [sign for sign in signs if not any(has_wording(other, [[sign]]) for other in others)]
    if not has_wording(own, [[sign] for sign in found]):
        raise Rejected("no sign tells a fact from the others", own)
    return found


def _make_topic(reason: Reason, lot: str, guard: Guard | None, lots: Mapping[str, str]) -> dict[str, Any]:
    topic: dict[str, Any] = {
        "id": f"about-{lot}",
        "person": reason.person,
        "about": reason.about,
        "wording": [[word] for word in reason.words],
        "says_by": {f"{lot}={side.id}": side.says for side in reason.sides},
        "gives": [lot],
    }
    if guard:
        topic |= {"needs": [lots[guard.must_hear]], "instead": guard.instead, "guarded": ["hard"]}
    return topic


def _list_presses(item: Tied, lots: Mapping[str, str]) -> list[dict[str, Any]]:
    """The messages that press for confidences: the first of each at the middle level too, in round 2, the others in round 3."""
    found: list[dict[str, Any]] = []
    seen: set[str] = set()
    for press in item.ties.presses:
        is_first = press.of not in seen
        seen.add(press.of)
        levels = ["middle", "hard"] if is_first else ["hard"]
        place = {"round": 2 if is_first else 3, "levels": levels}
        found.append({**place, "sender": press.sender, "text": press.text, "presses_for": lots[press.of]})
    return found


def _defuse(value: Any) -> Any:
    """All texts made safe to stand in prompts."""
    if isinstance(value, str):
        return defuse(value)
    if isinstance(value, list):
        return [_defuse(each) for each in value]
    return {name: _defuse(each) for name, each in value.items()} if isinstance(value, dict) else value


def _plan_stages(_told: Sequence[Told], options: LiveDossierOptions) -> Sequence[AnyStage]:
    return (
        AskingStage("scenes", "what is to be settled, among whom, with what each writes openly", Scene, write_scene),
        AskingStage("reasons", "two reasons for what each lets slip, of which one will be drawn", Behind, write_reasons),
        AskingStage("ties", "who must hear of whom, news, what is decided by it, who presses", Tied, write_ties),
        EachStage("dossiers", "dossiers with a best policy that asking is worth", MadeRecord, partial(assemble, options.seed)),
    )


RECIPE: Recipe[Told, LiveDossierOptions, MadeRecord] = Recipe(
    name="hsii-live",
    purpose="Dossiers for HSII live out of dialogues. Solved before they are kept.",
    material="dialogues",
    version="1.0.0",
    benchmark="hsii-live",
    load=partial(load_dossiers, skip_invalid=False),
    sources="a file or folder of HSII's dialogues, built or your own",
    read_as="dialogues",
    options=LiveDossierOptions,
    read=lambda sources, _options: read_dialogues(sources),
    prompts="sociable.datasets.recipes.hsii.live",
    stages=_plan_stages,
    tags=(),
)
