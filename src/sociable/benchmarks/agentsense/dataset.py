"""AgentSense's scenarios: from a file to scenes with characters, goals, secrets and questions.

The layout is that of the authors' ``final_data.jsonl`` and ``data_with_role.jsonl``, one scenario a record, with optional
fields of ours: on a scenario ``domain``, ``place``, ``source`` and ``relations``; on a character ``short``, ``attributes`` and
``role``; on a goal ``type``, ``signs``, ``reached`` and ``missed``; on a question ``about`` and ``key``. What is absent there
is tolerated as each field says; fields nobody knows are ignored and named in the notes. A record with ``casts`` is a template
of ours, which stands for one scenario a cast (templates.py).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from sociable.benchmarks.agentsense.interop.sotopia import is_seed, is_sotopia, read_sotopia, seed_record
from sociable.benchmarks.agentsense.scenario import (
    AskedQuestion,
    Character,
    CharacterRole,
    Goal,
    GoalQuestions,
    Line,
    QuizQuestion,
    Scenario,
    Sign,
    distinct_questions,
)
from sociable.benchmarks.agentsense.templates import cast_records
from sociable.core.data_files import Loaded, RawRecord, complaint, load_items, read_records
from sociable.core.errors import DataError
from sociable.core.names import named_in, who_is_named, words
from sociable.core.seeding import drawn_evenly, named_generator
from sociable.core.wording import padded_words


def load_scenarios(path: Path | None = None, *, skip_invalid: bool = False) -> Loaded[Scenario]:
    """Reads a file (JSON or JSON Lines), a folder of such files, SOTOPIA's folder, or the bundled templates.

    Raises DataError at the first bad record, naming file, line, field and what was expected; with ``skip_invalid`` bad
    records are left out and counted instead.
    """
    return _loaded(path, skip_invalid) if path else _bundled()


@cache
def _bundled() -> Loaded[Scenario]:
    """Read once: it takes a second."""
    return _loaded(None, False)


def _loaded(path: Path | None, skip_invalid: bool) -> Loaded[Scenario]:
    unknown: Counter[str] = Counter()
    loaded = load_items(
        path,
        Path(str(resources.files("sociable.benchmarks.agentsense").joinpath("data", "templates"))),
        lambda raw: _scenarios(raw, unknown),
        skip_invalid=skip_invalid,
        expected="scenarios with background and characters, or templates with casts",
        read=lambda source, skipped: (read_sotopia if is_sotopia(source) else read_records)(source, skipped),
    )
    unattributed = sum(not question.about for _, _, question in distinct_questions(loaded.items))
    return replace(loaded, remarks=tuple(_remarks(unknown, unattributed)))


def select_scenarios(scenarios: Sequence[Scenario], limit: int | None, seed: int) -> tuple[Scenario, ...]:
    """The scenarios of ``limit`` whole templates, spread evenly over domains, drawn by ``seed``; all without a limit."""
    templates: dict[str, Scenario] = {}
    for scenario in scenarios:
        templates.setdefault(scenario.template, scenario)
    if limit is None or limit >= len(templates):
        return tuple(scenarios)
    by_domain: dict[str, list[str]] = defaultdict(list)
    for template, scenario in sorted(templates.items()):
        by_domain[scenario.domain or ""].append(template)
    chosen = drawn_evenly(by_domain, limit, named_generator(seed, "limit"))
    return tuple(scenario for scenario in scenarios if scenario.template in chosen)


def _remarks(unknown: Counter[str], unattributed: int) -> Iterator[str]:
    parts = {field: count for field, count in unknown.items() if ".eval_questions." in field}
    if parts:
        listed = ", ".join(f"{field} ({count})" for field, count in sorted(parts.items()))
        yield f"Parts of eval_questions that are neither 'self' nor 'others' are put to the judges: {listed}."
    if others := {field: count for field, count in unknown.items() if field not in parts}:
        listed = ", ".join(f"{field} ({count})" for field, count in sorted(others.items()))
        yield f"Fields that the layout does not have were ignored: {listed}."
    if unattributed:
        yield (
            f"{unattributed} distinct quiz questions name nobody, or several people, whose secret they could be about: they "
            "count for information accuracy, not for defence. The field 'about' says whom."
        )


def _scenarios(raw: RawRecord, unknown: Counter[str]) -> Iterator[Scenario]:
    if not isinstance(raw.value, dict):
        raise DataError(raw.place, "", f"expected an object with background and characters, found {type(raw.value).__name__}")
    records: Iterable[Mapping[str, Any]] = [raw.value]
    if "casts" in raw.value:
        records = cast_records(raw.value, raw.place)
    elif is_seed(raw.value):
        records = [seed_record(raw.value, raw.place)]
    for record in records:
        ignored: Counter[str] = Counter()
        yield read_scenario(record, raw.place, raw.default_id, ignored)
        unknown.update(ignored)


def read_scenario(record: Mapping[str, Any], place: str, default_id: str, unknown: Counter[str]) -> Scenario:
    """A record of the native layout, complete and consistent. Counts fields nobody knows in ``unknown``. Raises DataError.

    Without ``template_idx`` a scenario is a template of its own; without ``sample_idx`` it is called after its place.
    """
    sample, template = (record.get(key) for key in ("sample_idx", "template_idx"))
    sample = default_id if sample is None else sample
    template = sample if template is None else template
    own = {key: value for key, value in record.items() if key not in ("sample_idx", "template_idx", "roles")}
    try:
        scenario = Scenario.model_validate(own | {"id": f"{template}:{sample}", "template": str(template)})
    except ValidationError as error:
        raise complaint(error, place) from None
    _count_unknown(own, Scenario, "", unknown)
    _check_characters(scenario, place)
    spell = _speller(scenario, place)
    roles = _roles(record.get("roles"), spell, place)
    characters = [
        _completed(character, scenario, roles.get(character.name), spell, f"characters.{number}", place)
        for number, character in enumerate(scenario.characters)
    ]
    relations = [
        each.model_copy(update={"of": tuple(spell(name, f"relations.{number}.of") for name in each.of)})
        for number, each in enumerate(scenario.relations)
    ]
    return scenario.model_copy(update={"characters": tuple(characters), "relations": tuple(relations)})


def _check_characters(scenario: Scenario, place: str) -> None:
    spellings: dict[str, str] = {}
    for number, character in enumerate(scenario.characters):
        for field, name in (("name", character.name), ("short", character.short)):
            known = spellings.setdefault(_spelling(name), character.name) if name else character.name
            if known != character.name or (field == "name" and scenario.names.count(name) > 1):
                problem = f"'{name}' could be two people once case and punctuation are ignored; everybody needs a name"
                raise DataError(place, f"characters.{number}.{field}", problem)


def _spelling(name: str) -> str:
    """Titles count, articles do not: Mr Lee and Mrs Lee are two, the ferryman is Ferryman."""
    said = words(name)
    return " ".join(word for word in said if word not in ("the", "a", "an")) or " ".join(said)


Speller = Callable[[str, str], str]
"""From a name and the field it stands in to the name as it is in ``characters``."""


def _speller(scenario: Scenario, place: str) -> Speller:
    spellings = {_spelling(each.short): each.name for each in scenario.characters if each.short}
    spellings |= {_spelling(each.name): each.name for each in scenario.characters}

    def spell(name: str, field: str) -> str:
        found = spellings.get(_spelling(name)) or who_is_named(name, scenario.names, scenario.aliases)
        if found is None:
            known = ", ".join(f"'{each}'" for each in scenario.names)
            raise DataError(place, field, f"'{name}' is nobody here; expected one of {known}")
        return found

    return spell


def _roles(roles: Any, spell: Speller, place: str) -> dict[str, CharacterRole]:
    if roles is None:
        return {}
    if not isinstance(roles, dict) or not all(role in tuple(CharacterRole) for role in roles.values()):
        raise DataError(place, "roles", f"expected an object of names with 'sender' or 'receiver', found {str(roles)[:80]!r}")
    found = {spell(name, "roles"): CharacterRole(role) for name, role in roles.items()}
    if len(found) < len(roles):
        raise DataError(place, "roles", "somebody has two roles, under two spellings of one name")
    return found


def _completed(
    character: Character, scenario: Scenario, role: CharacterRole | None, spell: Speller, field: str, place: str
) -> Character:
    """With every name spelled as it is, and what may be absent made from what is there."""
    goals = [
        _completed_goal(goal, character, scenario, spell, f"{field}.goals.{number}", place)
        for number, goal in enumerate(character.goals)
    ]
    questions = []
    for number, question in enumerate(character.info_reason_questions):
        about = question.about or _only_other_named(question.question, character, scenario)
        if about:
            about = spell(about, f"{field}.info_reason_questions.{number}.about")
        key = question.key or _key(question, scenario)
        questions.append(question.model_copy(update={"about": about, "key": key}))
    update = {"goals": tuple(goals), "info_reason_questions": tuple(questions), "role": role or character.role}
    return character.model_copy(update=update)


def _completed_goal(goal: Goal, character: Character, scenario: Scenario, spell: Speller, field: str, place: str) -> Goal:
    asked = goal.eval_questions
    others = [name for name in scenario.names if name != character.name]
    own = asked.own if asked.own is not None else [_made(OWN, character, goal, character.name)]
    by_others = asked.others if asked.others is not None else [_made(OTHERS, character, goal, name) for name in others]
    judge = asked.judge if asked.judge is not None else [_made(OTHERS, character, goal, "")]
    spelled = [
        [
            each.model_copy(update={"obj": spell(each.obj, f"{field}.eval_questions.{part}.{number}.obj")})
            for number, each in enumerate(questions)
        ]
        for part, questions in (("self", own), ("others", by_others))
    ]
    for number, each in enumerate(spelled[0]):
        if each.obj != character.name:
            problem = f"'{each.obj}' is asked whether {character.name}'s goal is its own; such a question belongs under 'others'"
            raise DataError(place, f"{field}.eval_questions.self.{number}.obj", problem)
    questions = GoalQuestions.model_construct(own=tuple(spelled[0]), others=tuple(spelled[1]), judge=tuple(judge))
    return goal.model_copy(
        update={
            "eval_questions": questions,
            "signs": tuple(
                sign.model_copy(update={"by": tuple(spell(name, f"{field}.signs.{number}.by") for name in sign.by)})
                for number, sign in enumerate(goal.signs)
            ),
            "reached": _spelled_lines(goal.reached, spell, f"{field}.reached"),
            "missed": _spelled_lines(goal.missed, spell, f"{field}.missed"),
        }
    )


OWN = "Have you reached this goal of yours: {goal}"
OTHERS = "Has {name} reached this goal: {goal}"


def _made(wording: str, character: Character, goal: Goal, asked: str) -> AskedQuestion:
    return AskedQuestion(obj=asked, question=wording.format(name=character.name, goal=goal.goal))


def _spelled_lines(lines: Sequence[Line], spell: Speller, field: str) -> tuple[Line, ...]:
    return tuple(line.model_copy(update={"by": spell(line.by, f"{field}.{number}.by")}) for number, line in enumerate(lines))


def _only_other_named(text: str, asked: Character, scenario: Scenario) -> str:
    named = named_in(text, scenario.names, scenario.aliases) - {asked.name}
    return named.pop() if len(named) == 1 else ""


def _key(question: QuizQuestion, scenario: Scenario) -> str:
    """Template and wording, with names replaced by places: casts differ in names only."""
    text = padded_words(" / ".join((question.question, *question.options)))
    spellings = {
        _spelling(spelling): number
        for number, character in enumerate(scenario.characters)
        for spelling in (*scenario.aliases.get(character.name, ()), character.name)
    }
    for spelling in sorted(spellings, key=len, reverse=True):
        # With the ending of a genitive, whose apostrophe is dropped.
        text = re.sub(rf"(?<!\S){re.escape(spelling)}(s?)(?!\S)", rf"#{spellings[spelling]}\1", text)
    return f"{scenario.template}:{text}".strip()


def _count_unknown(value: Any, kind: type[BaseModel], path: str, unknown: Counter[str]) -> None:
    """Names the fields of ``value`` that ``kind`` does not have, with their path."""
    for name, part in value.items():
        field = kind.model_fields.get(name)
        if field is None:
            unknown[f"{path}{name}"] += 1
            continue
        if kind is Goal and name == "eval_questions" and isinstance(part, dict):
            unknown.update(
                f"{path}{name}.{key}"
                for key, asked in part.items()
                if asked is not None and key not in ("self", "own", "others", "judge")
            )
            continue
        inner = _RECORDS_IN.get((kind, name))
        if inner:
            for each in part if isinstance(part, list) else [part]:
                if isinstance(each, dict):
                    _count_unknown(each, inner, f"{path}{name}.", unknown)


_RECORDS_IN: Mapping[tuple[type[BaseModel], str], type[BaseModel]] = {
    (Scenario, "characters"): Character,
    (Character, "goals"): Goal,
    (Character, "info_reason_questions"): QuizQuestion,
    (Goal, "signs"): Sign,
    (Goal, "reached"): Line,
    (Goal, "missed"): Line,
}
"""Where the records that can hold an unknown field are."""
