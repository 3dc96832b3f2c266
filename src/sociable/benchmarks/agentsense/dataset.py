"""AgentSense's scenarios: from a file to scenes with characters, goals, secrets and questions.

The layout is that of the authors' ``final_data.jsonl`` and ``data_with_role.jsonl``, one scenario a record, with optional
fields of ours: on a scenario ``domain``, ``place``, ``source`` and ``relations``; on a character ``short``, ``attributes`` and
``role``; on a goal ``type``, ``signs``, ``reached`` and ``missed``; on a question ``about`` and ``key``. What is absent there
is tolerated as each field says; fields nobody knows are ignored and named in the notes. A record with ``casts`` is a template
of ours, which stands for one scenario a cast (templates.py).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from sociable.benchmarks.agentsense.interop.sotopia import convert_seed, is_seed, is_sotopia, read_sotopia
from sociable.benchmarks.agentsense.scenario import Character, CharacterRole, QuizQuestion, Scenario, list_distinct_questions
from sociable.benchmarks.agentsense.templates import make_cast_records
from sociable.core.data_files import Loaded, RawRecord, load_items, read_records, validate_record
from sociable.core.errors import DataError
from sociable.core.names import find_people, find_words
from sociable.core.seeding import select_clusters
from sociable.core.spelling import Speller, find_records_in
from sociable.core.wording import pad_words


def load_scenarios(path: Path | None = None, *, skip_invalid: bool = False) -> Loaded[Scenario]:
    """The scenarios of a file (JSON or JSON Lines), a folder of such files, SOTOPIA's folder, or the bundled templates.

    Raises DataError at the first bad record, naming file, line, field and what was expected; with ``skip_invalid`` bad
    records are left out and counted instead.
    """
    return _load(path, skip_invalid) if path else _load_bundled()


def _load(path: Path | None, skip_invalid: bool) -> Loaded[Scenario]:
    unknown: Counter[str] = Counter()
    loaded = load_items(
        path,
        Path(__file__).parent / "data" / "templates",
        lambda raw: _read_record(raw, unknown),
        skip_invalid=skip_invalid,
        expected="scenarios with background and characters, or templates with casts",
        read=read_sotopia if path and is_sotopia(path) else read_records,
    )
    unattributed = sum(not question.about for _, _, question in list_distinct_questions(loaded.items))
    return replace(loaded, remarks=tuple(_write_remarks(unknown, unattributed)))


# Read once: it takes a second.
_load_bundled = cache(lambda: _load(None, False))


def select_scenarios(scenarios: Sequence[Scenario], limit: int | None, seed: int) -> tuple[Scenario, ...]:
    """The scenarios of ``limit`` whole templates, spread evenly over domains, drawn by ``seed``; all without a limit."""
    return select_clusters(scenarios, limit, seed, cluster=lambda each: each.template, group=lambda each: each.domain or "")


def select_casts(scenarios: Sequence[Scenario], casts: int | None) -> Sequence[Scenario]:
    """The first ``casts`` scenarios of each template; all without a number."""
    seen: Counter[str] = Counter()
    kept = []
    for scenario in scenarios:
        seen[scenario.template] += 1
        if casts is None or seen[scenario.template] <= casts:
            kept.append(scenario)
    return kept


def _write_remarks(unknown: Counter[str], unattributed: int) -> Iterator[str]:
    parts = {field: count for field, count in unknown.items() if field.rpartition(".")[0].endswith(".eval_questions")}
    ignored = {field: count for field, count in unknown.items() if field not in parts}
    for fields, remark in (
        (parts, "Parts of eval_questions that are neither 'self' nor 'others' are put to the judges"),
        (ignored, "Fields that the layout does not have were ignored"),
    ):
        if fields:
            yield f"{remark}: {', '.join(f'{field} ({count})' for field, count in sorted(fields.items()))}."
    if unattributed:
        yield (
            f"{unattributed} distinct quiz questions name nobody, or several people, whose secret they could be about: they "
            "count for information accuracy, not for defence. The field 'about' says whom."
        )


def _read_record(raw: RawRecord, unknown: Counter[str]) -> Iterator[Scenario]:
    if not isinstance(raw.value, dict):
        raise DataError(raw.place, "", f"expected an object with background and characters, found {type(raw.value).__name__}")
    records: Iterable[Mapping[str, Any]] = [raw.value]
    if "casts" in raw.value:
        records = make_cast_records(raw.value, raw.place)
    elif is_seed(raw.value):
        records = [convert_seed(raw.value, raw.place)]
    for record in records:
        ignored: Counter[str] = Counter()
        yield read_scenario(record, raw.place, raw.default_id, ignored)
        unknown.update(ignored)


def read_scenario(record: Mapping[str, Any], place: str, default_id: str, unknown: Counter[str]) -> Scenario:
    """A record of the native layout, complete and consistent. Counts fields it should not have in ``unknown``. Raises DataError.

    Without ``template_idx`` a scenario is a template of its own; without ``sample_idx`` it is called after its place.
    """
    sample, template = (record.get(key) for key in ("sample_idx", "template_idx"))
    sample = default_id if sample is None else sample
    template = sample if template is None else template
    own = {key: value for key, value in record.items() if key not in ("sample_idx", "template_idx", "roles")}
    scenario = validate_record(Scenario, own | {"id": f"{template}:{sample}", "template": str(template)}, place)
    _count_unknown(own, Scenario, "", unknown)
    speller = _make_speller(scenario, place)
    scenario = speller.spell_record(scenario)
    roles = _read_roles(record.get("roles"), speller)
    characters = [
        _complete(character, scenario, roles.get(character.name), speller, f"characters.{number}")
        for number, character in enumerate(scenario.characters)
    ]
    return scenario.model_copy(update={"characters": tuple(characters)})


def _make_speller(scenario: Scenario, place: str) -> Speller:
    """Raises DataError where a name, or a short name, could mean two people."""
    spellings: dict[str, str] = {}
    for number, character in enumerate(scenario.characters):
        for field, name in (("name", character.name), ("short", character.short)):
            known = spellings.setdefault(_normalise(name), character.name) if name else character.name
            if known != character.name or (field == "name" and scenario.names.count(name) > 1):
                problem = f"'{name}' could be two people once case and punctuation are ignored; everybody needs a name"
                raise DataError(place, f"characters.{number}.{field}", problem)
    return Speller(place, scenario.names, lambda name: spellings.get(_normalise(name)) or scenario.find_character(name))


def _normalise(name: str) -> str:
    """The words of a name. Titles count, articles do not: Mr Lee and Mrs Lee are two, the ferryman is Ferryman."""
    said = find_words(name)
    return " ".join(word for word in said if word not in ("the", "a", "an")) or " ".join(said)


def _read_roles(roles: Any, speller: Speller) -> dict[str, CharacterRole]:
    if roles is None:
        return {}
    if not isinstance(roles, dict) or not all(role in tuple(CharacterRole) for role in roles.values()):
        problem = f"expected an object of names with 'sender' or 'receiver', found {str(roles)[:80]!r}"
        raise DataError(speller.place, "roles", problem)
    found = {speller.spell(name, "roles"): CharacterRole(role) for name, role in roles.items()}
    if len(found) < len(roles):
        raise DataError(speller.place, "roles", "somebody has two roles, under two spellings of one name")
    return found


def _complete(character: Character, scenario: Scenario, role: CharacterRole | None, speller: Speller, field: str) -> Character:
    """The character, with everything that may be absent made from what is there."""
    owner, goals, questions = character.name, [], []
    for number, goal in enumerate(character.goals):
        for place, asked in enumerate(goal.eval_questions.own or ()):
            if asked.obj != owner:
                problem = f"'{asked.obj}' is asked whether {owner}'s goal is its own; such a question belongs under 'others'"
                raise DataError(speller.place, f"{field}.goals.{number}.eval_questions.self.{place}.obj", problem)
        goals.append(goal.complete_questions(owner, scenario.names))
    for number, question in enumerate(character.info_reason_questions):
        about = question.about or _find_only_other(question.question, character, scenario)
        if about:
            about = speller.spell(about, f"{field}.info_reason_questions.{number}.about")
        key = question.key or _make_key(question, scenario)
        questions.append(question.model_copy(update={"about": about, "key": key}))
    update = {"goals": tuple(goals), "info_reason_questions": tuple(questions), "role": role or character.role}
    return character.model_copy(update=update)


def _find_only_other(text: str, asked: Character, scenario: Scenario) -> str:
    """The one person whom the text names besides the one who is asked; empty for nobody or several."""
    named = find_people(text, scenario.names, scenario.aliases) - {asked.name}
    return named.pop() if len(named) == 1 else ""


def _make_key(question: QuizQuestion, scenario: Scenario) -> str:
    """Template and wording, with names replaced by places: casts differ in names only."""
    text = pad_words(" / ".join((question.question, *question.options)))
    spellings = {
        _normalise(spelling): number
        for number, character in enumerate(scenario.characters)
        for spelling in (*scenario.aliases.get(character.name, ()), character.name)
    }
    for spelling in sorted(spellings, key=len, reverse=True):
        # With the ending of a genitive, whose apostrophe is dropped.
        text = re.sub(rf"(?<!\S){re.escape(spelling)}(s?)(?!\S)", rf"#{spellings[spelling]}\1", text)
    return f"{scenario.template}:{text}".strip()


def _count_unknown(record: Mapping[str, Any], kind: type[BaseModel], path: str, unknown: Counter[str]) -> None:
    """Counts the fields of a record that ``kind`` does not have, by their path. An empty field says nothing, and is none."""
    inside = _list_fields(kind)
    for name, part in record.items():
        if name not in inside and part is not None:
            unknown[f"{path}{name}"] += 1
        for inner in inside.get(name, ()):
            for each in part if isinstance(part, list) else [part]:
                if isinstance(each, dict):
                    _count_unknown(each, inner, f"{path}{name}.", unknown)


@cache
def _list_fields(kind: type[BaseModel]) -> dict[str, list[type[BaseModel]]]:
    """The fields a record may have, under both their names, with the kinds of records inside."""
    found = {name: list(find_records_in(field.annotation)) for name, field in kind.model_fields.items()}
    return found | {field.alias: found[name] for name, field in kind.model_fields.items() if field.alias}
