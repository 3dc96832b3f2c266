"""A model of a town's residents for ``python:town_model.py:reply``: a pure function of what it is asked."""

from __future__ import annotations

import hashlib
import importlib.util
import random
import sys
from pathlib import Path
from typing import Any

_spec = importlib.util.spec_from_file_location("hashed_model", Path(__file__).parents[2] / "agents" / "hashed_model.py")
assert _spec is not None
assert _spec.loader is not None
_hashed = importlib.util.module_from_spec(_spec)
sys.modules["hashed_model"] = _hashed
_spec.loader.exec_module(_hashed)

_FORMS = {
    '"hours"': "plan_day",
    '"steps"': "decompose",
    '"talk_to"': "react",
    '"says"': "speak",
    '"summary"': "conclude",
    '"ratings"': "rate",
    '"thoughts"': "reflect",
}
"""By a field of the reply that is asked for, the purpose of the question."""


async def reply(messages: list[dict[str, Any]]) -> str:
    asked = messages[-1]["content"]
    purpose = next((purpose for form, purpose in _FORMS.items() if form in asked), "interview")
    digest = hashlib.blake2b(digest_size=8)
    for message in messages:
        digest.update(message["content"].encode())
    if purpose == "react" and digest.digest()[0] % 4:
        # Most people go about their business: it keeps the tests short.
        return '{"why": "Nothing to say.", "talk_to": ""}'
    text: str = _hashed.reply_to(purpose, messages[0]["content"], asked, random.Random(digest.digest()))
    return text
