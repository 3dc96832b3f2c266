"""``results.json`` of SocialReasoningBench: its calendar tasks, held by email, and its marketplace tasks.

The assistant of the calendar and the buyer of the marketplace are tested, as there; their instructions are their goals. A
counterpart that attacks is told its ``malicious_prompt``, in older results before its instructions, in newer ones in their place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from sociable.benchmarks.imported.records import Conversation, Person, Refused, Reported, keep_scores, make_turns, shorten
from sociable.core.data_files import read_records, validate_record
from sociable.core.errors import InputError

REPORTED = {
    "task_completed": Reported("whether the task was completed", 0.0, 1.0, 1.0),
    "outcome_optimality": Reported("the share of the best outcome", 0.0, 1.0, 1.0),
    "due_diligence": Reported("how well the assistant stood in for its user", 0.0, 1.0, 1.0),
    "duty_of_care": Reported("outcome and diligence together", 0.0, 1.0, 1.0),
    "leakage_rate": Reported("the share of secrets that were told", 0.0, 1.0, 0.0),
}
_TESTED = {"calendar": ("assistant", "requestor"), "marketplace": ("buyer", "seller")}
"""By the type of a task who is tested, and the counterpart."""
_SITUATIONS = {
    "calendar": "Two assistants settle a meeting by email, each for its own user and with its own calendar.",
    "marketplace": "Two agents bargain over {product}, each for its own side and with a limit that the other does not know.",
}


_ROUNDS_OVER = "Max rounds reached"
"""What an execution's error says, in older results, when it came to its end without a settlement: no failure of the run."""
_DEEDS = frozenset({"MakeOffer", "AcceptOffer", "EndConversation"})
"""Actions of which the counterpart learns more than words, such as a price."""


class _Foreign(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _Execution(_Foreign):
    task: dict[str, Any]
    error: str | None = None
    messages: list[dict[str, Any]] = []
    action_trace: list[dict[str, Any]] = []
    emails: list[dict[str, Any]] = []
    seller_context: list[dict[str, Any]] = []
    requestor_context: list[dict[str, Any]] = []


class _Result(_Foreign):
    execution: _Execution | None = None
    error: str | None = None
    task_completed: bool | None = None
    outcome_optimality: float | None = None
    due_diligence: float | None = None
    duty_of_care: float | None = None
    leakage_rate: float | None = None


class _Results(_Foreign):
    config: dict[str, Any] = {}
    results: list[_Result] = Field(min_length=1)


def read_results(path: Path) -> Iterator[Conversation | Refused]:
    """The results of one file, or of all in a folder. Raises InputError and DataError."""
    files = sorted(path.rglob("results.json")) if path.is_dir() else [path]
    if not files:
        raise InputError(f"{path}: there is no results.json in this folder.")
    for file in files:
        for raw in read_records(file, None):
            whole = validate_record(_Results, raw.value, raw.place)
            for place, result in enumerate(whole.results):
                yield _make_conversation(result, whole.config, f"{file}, results.{place}")


def _make_conversation(result: _Result, config: Mapping[str, Any], place: str) -> Conversation | Refused:
    execution = result.execution
    if execution is None or (execution.error and not execution.error.startswith(_ROUNDS_OVER)):
        return Refused(place, "its execution failed")
    task, kind = execution.task, str(execution.task.get("type"))
    if kind not in _TESTED:
        return Refused(place, f"a task of a kind that is not read: {kind}")
    sides = {role: task[role] if isinstance(task.get(role), Mapping) else {} for role in _TESTED[kind]}
    # People of the calendar have names; buyer and seller are called so.
    names = {role: str(side.get("name") or role) for role, side in sides.items()}
    said = list(_list_emails(execution.emails, sides, names) if kind == "calendar" else _list_acts(execution))
    if not said:
        return Refused(place, "nobody said anything")
    tested, counterpart = _TESTED[kind]
    orders = _find_orders(sides[counterpart], execution)
    # Where its judge failed, the scores are zeros that nobody gave.
    scores = {} if result.error else keep_scores(result.model_dump(), REPORTED)
    people = [
        Person(
            name=names[role],
            model=str(config.get(f"{role}_model") or config.get("model") or ""),
            goal=orders if orders and role == counterpart else str(side.get("instruction_message") or ""),
            knows=_describe_limits(side, bool(config.get("expose_preferences"))),
            is_tested=role == tested,
            reported=scores if role == tested else {},
        )
        for role, side in sides.items()
    ]
    product = task["product"].get("name", "goods") if isinstance(task.get("product"), Mapping) else "goods"
    identity = f"{kind}:{task.get('hash') or task.get('id')}"
    return Conversation(
        id=identity,
        cluster=identity,
        situation=_SITUATIONS[kind].format(product=product),
        people=tuple(people),
        turns=make_turns(said),
    )


def _list_acts(execution: _Execution) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """What each side let the other know: words, offers with their prices, acceptances, the end."""
    acts = [each for each in execution.action_trace if each.get("valid")]
    for act in acts or [{**each, "actor": each.get("speaker"), "payload": each} for each in execution.messages]:
        payload = act["payload"] if isinstance(act.get("payload"), Mapping) else {}
        words = str(payload.get("content") or payload.get("message") or "").strip()
        deed = f"[{act.get('result')}]" if act.get("action_type") in _DEEDS else ""
        if words or deed:
            yield str(act.get("actor")), (), f"{deed} {words}".strip()


def _list_emails(
    emails: list[dict[str, Any]], sides: Mapping[str, Mapping[str, Any]], names: Mapping[str, str]
) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Emails, with what they ask the calendar for."""
    known = {str(side.get("email")): names[role] for role, side in sides.items()}
    for email in emails:
        parts = [str(email.get(field) or "").strip() for field in ("subject", "body", "event")]
        sender = str(email.get("from_") or email.get("from"))
        yield known.get(sender, sender), (), shorten("\n".join(filter(None, parts)))


def _find_orders(side: Mapping[str, Any], execution: _Execution) -> str:
    """What a counterpart that attacks was told, with its instructions if they stand in its context; empty: it does not attack."""
    orders = str(side.get("malicious_prompt") or "").strip() if side.get("is_malicious") else ""
    instructions = str(side.get("instruction_message") or "").strip()
    context = [str(each.get("content")) for each in (*execution.seller_context, *execution.requestor_context)]
    is_told = orders and any(instructions in content for content in context)
    return f"{orders}\n\n{instructions}" if is_told else orders


def _describe_limits(side: Mapping[str, Any], with_preferences: bool) -> str:
    """What a side knows beside its instructions: the limit of its price, or its appointments and secrets, and times that suit."""
    lines = []
    if side.get("reservation_price") is not None:
        lines.append(f"It must not tell its limit: {side['reservation_price']}.")
    for each in side.get("calendar") or []:
        if isinstance(each, Mapping):
            when = f"{each.get('date', '')} {each.get('start_time', '')}–{each.get('end_time', '')}"
            secret = " (secret)" if each.get("is_secret") else ""
            lines.append(f"{when}: {each.get('title', '')}{secret}. {each.get('description', '')}".strip())
    lines += [
        f"{each.get('start_time', '')}–{each.get('end_time', '')} suits it {each.get('score')} of 1."
        for each in (side.get("preferences") or [] if with_preferences else [])
        if isinstance(each, Mapping)
    ]
    return "\n".join(lines)
