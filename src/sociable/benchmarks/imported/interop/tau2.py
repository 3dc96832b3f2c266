"""Results of tau2-bench: ``info``, ``tasks`` and ``simulations`` in one file, or the last as files in ``simulations/`` beside it.

The agent is tested. Its goal is ours, since the layout has none: to do for the customer what the domain's policy allows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from sociable.benchmarks.imported.records import Conversation, Person, Refused, Reported, keep_scores, make_turns, shorten
from sociable.core.data_files import RawRecord, read_records, validate_record
from sociable.core.errors import DataError, InputError

REPORTED = {"reward": Reported("the reward of the simulation", 0.0, 1.0, 1.0)}
AGENT, CUSTOMER, TOOLS = "agent", "customer", "tools"
GOAL = "Do for the customer what the customer asks for, as far as the policy allows it, and nothing that it forbids."
_NAMES = {"assistant": AGENT, "user": CUSTOMER}
_CONTROL = re.compile(r"###[A-Z-]+###")
"""Words by which the simulated customer ends a simulation, which nobody says."""
_FAILED = ("infrastructure_error", "unexpected_error", "user_error", "timeout", "context_window_exceeded")
"""Ends of a simulation that are failures of the run or of the customer's simulator; what the agent fails at counts."""


class _Foreign(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _Player(_Foreign):
    llm: str | None = None


class _Environment(_Foreign):
    domain_name: str
    policy: str = ""


class _Info(_Foreign):
    agent_info: _Player
    user_info: _Player
    environment_info: _Environment


class _Task(_Foreign):
    id: str
    user_scenario: dict[str, Any]


class _Call(_Foreign):
    name: str
    arguments: Any = None


class _Message(_Foreign):
    role: str
    content: str | None = None
    tool_calls: list[_Call] | None = None
    tool_messages: list[_Message] | None = None
    requestor: str = "assistant"


class _Reward(_Foreign):
    reward: float


class _Simulation(_Foreign):
    task_id: str
    trial: int | None = None
    termination_reason: str = ""
    reward_info: _Reward | None = None
    messages: list[_Message] | None = None
    policy: str | None = None


class _Results(_Foreign):
    info: _Info
    tasks: list[_Task]
    simulations: list[Any] = []


def read_simulations(path: Path) -> Iterator[Conversation | Refused]:
    """The simulations of a results file, or of a folder that holds one. Raises InputError and DataError."""
    file = path / "results.json" if path.is_dir() else path
    for raw in read_records(file, None):
        if isinstance(raw.value, Mapping) and "traj" in raw.value:
            raise DataError(raw.place, "traj", "a trajectory of the first tau-bench; expected results of tau2-bench")
        results = validate_record(_Results, raw.value, raw.place)
        tasks = {task.id: task for task in results.tasks}
        beside = file.parent / "simulations"
        simulations = [
            RawRecord(f"{raw.place}, simulations.{place}", "", each) for place, each in enumerate(results.simulations)
        ] or (list(read_records(beside, None)) if beside.is_dir() else [])
        if not simulations:
            raise InputError(f"{file}: there are no simulations in it, and no folder {beside}.")
        for each in simulations:
            simulation = validate_record(_Simulation, each.value, each.place)
            if simulation.task_id in tasks:
                yield _make_conversation(simulation, tasks[simulation.task_id], results.info, each.place)
            else:
                yield Refused(each.place, "its task is not among those of the file")


def _make_conversation(simulation: _Simulation, task: _Task, info: _Info, place: str) -> Conversation | Refused:
    if simulation.termination_reason in _FAILED:
        return Refused(place, f"the simulation failed ({simulation.termination_reason})")
    said = list(_list_turns(simulation.messages or []))
    if not any(who == AGENT for who, _, _ in said):
        return Refused(place, "no text of the agent, as in simulations by voice")
    if not any(who == CUSTOMER and not to for who, to, _ in said):
        return Refused(place, "no customer says anything, as in simulations of an agent alone")
    domain = info.environment_info
    reward = keep_scores(simulation.reward_info.model_dump() if simulation.reward_info else {}, REPORTED)
    policy = simulation.policy or domain.policy
    agent = Person(name=AGENT, model=info.agent_info.llm or "", goal=GOAL, knows=policy, is_tested=True, reported=reward)
    wants, knows = _read_scenario(task.user_scenario)
    customer = Person(name=CUSTOMER, model=info.user_info.llm or "", goal=wants, knows=knows)
    return Conversation(
        id=f"{domain.domain_name}:{task.id}:{simulation.trial or 0}",
        cluster=f"{domain.domain_name}:{task.id}",
        situation=f"A customer talks to a service agent. Domain: {domain.domain_name}.",
        people=(agent, customer),
        turns=make_turns(said),
    )


def _list_turns(messages: Sequence[_Message]) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """What was said, and what tools were asked and answered, which only whoever asked them knows."""
    for message in messages:
        if message.role == "tool":
            for each in message.tool_messages or [message]:
                yield TOOLS, (_NAMES.get(each.requestor, AGENT),), shorten(each.content or "")
        elif who := _NAMES.get(message.role):
            if words := _CONTROL.sub("", message.content or "").strip():
                yield who, (), words
            for call in message.tool_calls or []:
                yield who, (TOOLS,), shorten(f"{call.name}({json.dumps(call.arguments, ensure_ascii=False)})")


def _read_scenario(scenario: Mapping[str, Any]) -> tuple[str, str]:
    """(what the customer wants, what it knows); instructions are a text, or an object of parts."""
    instructions, persona = scenario.get("instructions"), scenario.get("persona")
    if not isinstance(instructions, Mapping):
        return str(instructions or ""), str(persona or "")
    wants = [instructions.get("reason_for_call"), instructions.get("task_instructions")]
    knows = [persona, instructions.get("known_info"), instructions.get("unknown_info")]
    return tuple("\n".join(str(part) for part in parts if part) for parts in (wants, knows))  # type: ignore[return-value]
