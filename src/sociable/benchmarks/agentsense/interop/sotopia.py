"""SOTOPIA's scenarios and agents, and its multi-party seeds, in the native layout.

Source: Zhou et al. 2024, "SOTOPIA: Interactive Evaluation for Social Intelligence in Language Agents"; the files are those of its
repository. An environment is a template, each pair of agents it is combined with a cast: ten casts an environment. A
goal's extra information and the agent's own secret are private; hints on strategy are left out, for they say how to
succeed. There is no quiz: nobody wrote wrong answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sociable.core.data_files import RawRecord, read_records
from sociable.core.errors import DataError, InputError

ENVIRONMENTS, AGENTS, COMBINATIONS = "environment_profiles.jsonl", "agent_profiles.jsonl", "env_agent_combos.jsonl"

_RELATIONS = {
    0: "They are strangers to each other.",
    1: "They know each other by name only.",
    2: "They are acquaintances.",
    3: "They are friends.",
    4: "They are a couple.",
    5: "They are family.",
}

_HINT = re.compile(r"(?:<(?:clarification|strategy)_hint>|\bHint:).*?(?:</(?:clarification|strategy)_hint>|\Z)", re.DOTALL)
_EXTRA = re.compile(r"\s*\(?\s*(?:<extra_info>|Extra information:)(?P<extra>.*)\Z", re.DOTALL)
_MARKS = re.compile(r"</?extra_info>|Extra information:")


def _split_goal(written: str) -> tuple[str, str]:
    """A goal as SOTOPIA writes it, and its extra information; a tag that is never closed counts to the end."""
    text = _HINT.sub("", written)
    extra = _EXTRA.search(text)
    if extra is None:
        return text.strip(), ""
    told = _MARKS.sub(" ", extra["extra"]).strip()
    return text[: extra.start()].strip(), " ".join(told.removesuffix(")").split())


def is_sotopia(path: Path) -> bool:
    """Whether ``path`` is a folder of SOTOPIA's files, or its file of environments."""
    return (path / ENVIRONMENTS).is_file() or path.name == ENVIRONMENTS


def read_sotopia(path: Path, skipped: list[str] | None) -> Iterator[RawRecord]:
    """One record in the native layout for each combination of environment and agents. Raises DataError and InputError."""
    folder = path if path.is_dir() else path.parent
    for name in (AGENTS, COMBINATIONS):
        if not (folder / name).is_file():
            raise InputError(f"{folder / name}: no such file. Beside {ENVIRONMENTS} SOTOPIA has {AGENTS} and {COMBINATIONS}.")
    environments, agents = (
        {raw.value["pk"]: raw.value for raw in read_records(folder / name, skipped)} for name in (ENVIRONMENTS, AGENTS)
    )
    for raw in read_records(folder / COMBINATIONS, skipped):
        try:
            yield RawRecord(raw.place, raw.default_id, _combine(raw, environments, agents))
        except (KeyError, TypeError, ValueError) as error:
            problem = DataError(raw.place, "", f"not as SOTOPIA's files are: {type(error).__name__} {error}")
            if skipped is None:
                raise problem from None
            skipped.append(str(problem))


def _combine(
    raw: RawRecord, environments: Mapping[str, Mapping[str, Any]], agents: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    combination = raw.value
    if combination["env_id"] not in environments:
        raise DataError(raw.place, "env_id", f"'{combination['env_id']}' is in no line of {ENVIRONMENTS}")
    environment = environments[combination["env_id"]]
    cast = [agents[name] for name in combination["agent_ids"]]
    if len(cast) != len(environment["agent_goals"]):
        raise DataError(raw.place, "agent_ids", f"{len(cast)} agents for {len(environment['agent_goals'])} goals")
    return {
        "sample_idx": combination["pk"],
        "template_idx": environment["pk"],
        "background": environment["scenario"],
        "description": _RELATIONS.get(environment["relationship"], ""),
        "characters": [_make_character(agent, goal) for agent, goal in zip(cast, environment["agent_goals"], strict=True)],
    }


def _make_character(agent: Mapping[str, Any], written: str) -> dict[str, Any]:
    goal, extra = _split_goal(written)
    name = f"{agent['first_name']} {agent['last_name']}".strip()
    about = f"{name} is {agent['age']} years old and works as {agent['occupation']}."
    return {
        "name": name,
        "short": agent["first_name"],
        "profile": f"{about} {agent['public_info']} {agent['personality_and_values']}",
        "private_info": " ".join(filter(None, (extra, agent.get("secret", "")))),
        "goals": [{"goal": goal}],
        "attributes": {
            "gender": agent["gender"],
            "age": agent["age"],
            "occupation": agent["occupation"],
            "big_five": _read_traits(agent["big_five"]),
            "moral_values": _read_values(agent["moral_values"]),
            "values": _read_values(agent["schwartz_personal_values"]),
            "decision_style": agent["decision_making_style"],
        },
    }


def _read_traits(text: str) -> dict[str, str]:
    """``"Openness to Experience - High; …"``."""
    pairs = [part.partition(" - ") for part in text.split(";")]
    return {name.strip().split()[0].lower(): level.strip().lower() for name, _, level in pairs if level}


def _read_values(values: list[str]) -> list[str]:
    """``["['Care/Harm']"]``."""
    return [name for value in values for name in re.findall(r"'([^']+)'", value) or [value]]


def is_seed(record: Mapping[str, Any]) -> bool:
    """Whether a record is one of the multi-party seeds."""
    return "scenario_goal" in record and "agents" in record


def convert_seed(record: Mapping[str, Any], place: str) -> dict[str, Any]:
    """A multi-party seed in the native layout, an agent's private knowledge being its secret. Raises DataError."""
    try:
        return {
            "sample_idx": record["scenario_id"],
            "template_idx": f"{record['sector']}-{record['scenario_id']}",
            "background": f"A meeting ({record['sector']}). Its aim: {record['scenario_goal']}",
            "characters": [_make_participant(agent) for agent in record["agents"]],
        }
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(place, "", f"not as SOTOPIA's multi-party seeds are: {type(error).__name__} {error}") from None


def _make_participant(agent: Mapping[str, Any]) -> dict[str, Any]:
    known: dict[str, list[str]] = {"public": [], "private": []}
    for name, each in agent["pre_interaction_knowledge"].items():
        known[each["sensitivity"]].append(f"{name}: {each['value']}.")
    return {
        "name": agent["role"],
        "profile": " ".join(["You may tell:", *known["public"]]) if known["public"] else "",
        "private_info": " ".join(known["private"]),
        "goals": [{"goal": agent["goals"]["primary_objective"]}],
    }
