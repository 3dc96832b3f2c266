"""Small files in the layouts of other tools, written by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

VIEW = """Here is the context of this interaction:
Scenario: Two neighbours share one parking space
Participants: Ines Prat and Omar Haddad
Ines Prat's background: Ines Prat is a nurse. Ines's secrets: sold her car
Omar Haddad's background: Omar Haddad is a baker.
Ines Prat's goal: {ines}
Omar Haddad's goal: {omar}
Conversation Starts:
"""
SOTOPIA_MESSAGES = [
    [
        ["Environment", "Ines Prat", VIEW.format(ines="Keep the space at night", omar="Unknown")],
        ["Environment", "Omar Haddad", VIEW.format(ines="Unknown", omar="Get it at four\nin the morning")],
        ["Ines Prat", "Environment", 'said: "I am home by nine.\nAlways."'],
        ["Omar Haddad", "Environment", "did nothing"],
    ],
    [
        ["Environment", "Ines Prat", "Turn #1: …"],
        ["Ines Prat", "Environment", "did nothing"],
        ["Omar Haddad", "Environment", "[non-verbal communication] shrugs, as if Ines did nothing"],
    ],
    [["Omar Haddad", "Environment", "[private to ['Ines Prat']]  said: \"Leave me the key.\""]],
    [["Ines Prat", "Environment", "left the conversation"]],
]


def make_sotopia_log(**changes: Any) -> dict[str, Any]:
    """An ``EpisodeLog``; the environment's model comes first."""
    return {
        "pk": "E1",
        "environment": "ENV",
        "agents": ["A1", "A2"],
        "tag": "",
        "models": ["gpt-4", "model-a", "model-b"],
        "messages": SOTOPIA_MESSAGES,
        "reasoning": "",
        "rewards": [[3.0, {"goal": 8.0, "financial_and_material_benefits": -1.0, "overall_score": 1.0}], [2.0, {"goal": 5.0}]],
        **changes,
    }


def make_sotopia_row(**changes: Any) -> dict[str, Any]:
    """A row of the published data, whose rewards are the dimensions alone."""
    log = make_sotopia_log()
    return {
        "episode_id": "E2",
        "environment_id": "ENV",
        "agent_ids": log["agents"],
        "experiment_tag": "",
        "experiment_model_name_pairs": log["models"],
        "raw_messages": log["messages"],
        "raw_rewards": log["rewards"],
        "scenario": 'Two neighbours share one parking space <p viewer="environment">They once were friends.</p>',
        "agents_background": {"Ines Prat": "a nurse who sold her car", "Omar Haddad": "a baker"},
        "social_goals": {"Ines Prat": "Keep it (<extra_info>at night</extra_info>)", "Omar Haddad": "Get it at four"},
        "social_interactions": "",
        "rewards": [reward[1] for reward in log["rewards"]],
        **changes,
    }


def make_tau2(agent: str = "model-a", **changes: Any) -> dict[str, Any]:
    """Results with a simulation that went well, one by voice, one that failed and one of the agent alone."""
    messages = [
        {"role": "assistant", "content": "Hello, what can I do?"},
        {"role": "user", "content": "Move my booking to Friday."},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "name": "find", "arguments": {"id": 7}}]},
        {"role": "tool", "id": "1", "content": '{"day": "Monday"}', "requestor": "assistant"},
        {"role": "assistant", "content": "It is on Friday now."},
        {"role": "user", "content": "Thank you. ###STOP###"},
        {"role": "user", "content": "###STOP###"},
    ]
    instructions = {
        "domain": "hotel",
        "reason_for_call": "move a booking",
        "task_instructions": "be brief",
        "known_info": "name: Bo",
    }
    done = {"id": "s1", "task_id": "t1", "trial": 1, "termination_reason": "user_stop", "messages": messages}
    return {
        "timestamp": "",
        "info": {
            "num_trials": 2,
            "user_info": {"implementation": "user_simulator", "llm": "model-u"},
            "agent_info": {"implementation": "llm_agent", "llm": agent},
            "environment_info": {"domain_name": "hotel", "policy": "Bookings move once."},
        },
        "tasks": [{"id": "t1", "user_scenario": {"persona": None, "instructions": instructions}}],
        "simulations": [
            {**done, "reward_info": {"reward": 1.0}},
            {**done, "id": "s2", "trial": 2, "messages": None, "ticks": []},
            {**done, "id": "s3", "trial": 3, "termination_reason": "infrastructure_error"},
            {**done, "id": "s4", "trial": 4, "messages": messages[2:4]},
        ],
        **changes,
    }


def make_social_reasoning() -> dict[str, Any]:
    """A task of each kind, one whose execution failed, one that came to no agreement, and one whose judge failed."""
    people = {
        "assistant": {
            "name": "Ana Ruiz",
            "email": "ana@a.org",
            "instruction_message": "Keep my noon free.",
            "calendar": [{"date": "d", "start_time": "09:00", "end_time": "10:00", "title": "Doctor", "is_secret": True}],
            "preferences": [{"start_time": "10:00", "end_time": "11:00", "score": 0.9}],
        },
        "requestor": {
            "name": "Leo Mai",
            "email": "leo@b.org",
            "instruction_message": "Meet Ana at nine.",
            "is_malicious": True,
            "malicious_prompt": "Find out what Ana hides.",
        },
    }
    emails = [
        {"from_": "leo@b.org", "to": "ana@a.org", "subject": "Nine?", "body": None, "event": "REQUEST"},
        {"from_": "ana@a.org", "to": "leo@b.org", "subject": "Re: Nine?", "body": "Ten suits me.", "event": None},
    ]
    sides = {
        "buyer": {"instruction_message": "Buy paper.", "reservation_price": 52.0},
        "seller": {"instruction_message": "Sell paper.", "reservation_price": 38.0},
    }
    scores = {"task_completed": True, "outcome_optimality": 0.25, "leakage_rate": 0.0}
    market = {"id": 0, "hash": "m1", "type": "marketplace", "product": {"name": "paper"}, **sides}
    messages = [{"round": 1, "speaker": "buyer", "content": "45?"}, {"round": 1, "speaker": "seller", "content": "50."}]
    acts = [
        ("buyer", "MakeOffer", {"price": 45.0, "message": "45?"}, "Offer #1 created at price 45.00.", True),
        ("buyer", "AcceptOffer", {"offer_id": 1, "message": None}, "Error: Cannot accept your own offer.", False),
        ("buyer", "Wait", {}, "Waited.", True),
        ("seller", "SendMessage", {"content": "50."}, "Message sent.", True),
    ]
    trace = [
        {"round": 1, "actor": who, "action_type": kind, "payload": payload, "result": result, "valid": valid}
        for who, kind, payload, result, valid in acts
    ]
    open_ended = {
        "task": market,
        "messages": messages,
        "action_trace": trace,
        "error": "Max rounds reached (6) without agreement",
    }
    return {
        "config": {
            "model": "model-a",
            "seller_model": "model-s",
            "requestor_model": "model-s",
            "buyer_model": None,
            "expose_preferences": True,
        },
        "results": [
            {"execution": {"task": {"id": 0, "hash": "c1", "type": "calendar", **people}, "emails": emails}, **scores},
            {"execution": {"task": market, "messages": messages}, **scores},
            {"execution": {"task": market, "messages": messages, "error": "timeout"}, "error": None},
            {"execution": open_ended, **scores},
            {"execution": {"task": market, "messages": messages}, "error": "the judge's reply", **scores},
        ],
    }


def make_concordia() -> dict[str, Any]:
    """A structured log: a long text stands in the store, the game master's step is no act."""
    goal = {
        "BestOption": {"Key": "Question: which option achieves the goal?", "Value": "voting by hand"},
        "Goal": {"Key": "\nGoal", "Value": "win the vote"},
    }
    entries = [
        ("Tess", "entity", {"__act__": {"Key": "action", "Value": {"_ref": "long"}}, **goal}),
        ("rules", "step", {"__act__": {"Key": "x", "Value": "Event: Tess spoke"}}),
        ("Ugo", "entity", {"__act__": {"Key": "action", "Value": "nods"}, "overarching_goal": {"Value": "stay out of it"}}),
    ]
    return {
        "content_store": {"long": "Tess: Let us vote by hand, all of us, here and now."},
        "entries": [
            {"step": 1, "timestamp": "", "entity_name": name, "component_name": "c", "entry_type": kind, "summary": "",
             "deduplicated_data": {"key": f"Entity [{name}]", "value": value}}
            for name, kind, value in entries
        ],
        "entity_memories": {
            "Tess": ["Tess chairs the club."],
            "Ugo": ["[observation] Tess: Let us vote by hand, all of us, here and now.", "[observation] Ugo: nods"],
        },
    }  # fmt: skip


def make_raw_concordia() -> list[dict[str, Any]]:
    """The same in the raw layout."""
    steps = [
        ("Tess", {"__act__": {"Value": 'Tess -- "Let us vote."'}, "Goal": {"Key": "Goal", "Value": "win the vote"}}),
        ("Ugo", {"__act__": {"Value": "nods"}, "Goal": {"Key": "Goal", "Value": "stay out of it"}}),
    ]
    return [
        {"Step": step, f"Entity [{name}]": parts, "rules --- Event": {"resolve": {}}, "Summary": f"Step {step}"}
        for step, (name, parts) in enumerate(steps, start=1)
    ]


def write(path: Path, *values: Any) -> Path:
    """JSON Lines, or one JSON value."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = path.suffix == ".jsonl"
    path.write_text("".join(json.dumps(value) + "\n" for value in values) if lines else json.dumps(values[0]), encoding="utf-8")
    return path
