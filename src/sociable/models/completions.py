"""Answers of a chat completions server: a reply, a complaint, a wish to be left alone for a while."""

from __future__ import annotations

import contextlib
import email.utils
import json
import math
import re
import time
from typing import Any, NoReturn

from sociable.core.errors import ContextLengthExceeded, EndpointUnusable, RunFailure
from sociable.core.records import Usage, storable
from sociable.models.protocol import FinishReason, Reply, split_thinking

_CONTEXT = re.compile(
    r"context.{0,10}(length|window|size)|maximum context|too many tokens|(prompt|input) is too long|exceed.{0,40}context",
    re.IGNORECASE,
)
_FILTERED = re.compile(r"content.?(filter|policy|management)|responsible.?ai|safety system|input was flagged", re.IGNORECASE)


class TransientError(Exception):
    """Worth another attempt: a dropped connection, a timeout, 408, 409, 425, 429, 5xx, an answer that is no completion."""

    def __init__(self, problem: str, retry_after: float | None = None, *, rate_limited: bool = False) -> None:
        super().__init__(problem)
        self.retry_after = retry_after
        self.rate_limited = rate_limited


def parse_completion(content: bytes) -> Reply:
    """The reply in the body of a successful completion. Raises TransientError when the body is not one."""
    try:
        # Not strict: a raw control character inside a string is no reason to lose a reply that was paid for.
        data = json.loads(content.decode("utf-8", "replace"), strict=False)
        choice = data["choices"][0]
        message = choice["message"]
        said = message.get("content") or ""
        if isinstance(said, list):
            said = "".join(part.get("text") or "" for part in said)
        text, thinking = split_thinking(storable(said))
        thinking = thinking or storable(message.get("reasoning_content") or message.get("reasoning") or "")
        refusal = storable(message.get("refusal") or "")
        counted = data.get("usage") if isinstance(data.get("usage"), dict) else {}
        tokens = [_read_count(counted.get(name)) for name in ("prompt_tokens", "completion_tokens")]
        ended = choice.get("finish_reason")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
        raise TransientError(f"not a chat completion: {content[:200].decode('utf-8', 'replace')!r}") from None
    if ended == "error":
        # So OpenRouter passes on what befell a provider after it had begun to answer.
        raise TransientError(f"the answer ended in an error: {read_complaint(json.dumps(choice).encode())}")
    usage = Usage(calls=1, input_tokens=tokens[0], output_tokens=tokens[1])
    finish = _FINISHES.get(str(ended), FinishReason.REFUSAL if refusal else FinishReason.STOP)
    return Reply(text or refusal, usage, finish, thinking)


_FINISHES = {"length": FinishReason.LENGTH, "content_filter": FinishReason.CONTENT_FILTER}


def _read_count(tokens: object) -> int:
    """The number of tokens, as the server counted them; 0 for anything else, which must not lose a reply that was paid for."""
    if isinstance(tokens, bool) or not isinstance(tokens, int | float) or not 0 <= tokens < 2**53:
        return 0
    return int(tokens)


def raise_for_status(name: str, url: str, status: int, complaint: str) -> None:
    """Raises the error that an unsuccessful status means; returns only where the provider's content filter stopped the reply."""
    if status in (400, 413, 422) and _CONTEXT.search(complaint):
        raise ContextLengthExceeded(f"{name}: {complaint}")
    if status in (400, 403) and _FILTERED.search(complaint):
        return
    if status == 402:
        raise_no_credit(name, complaint)
    if status in (401, 403):
        raise EndpointUnusable(
            f"{name} at {url} refuses the key (HTTP {status}: {complaint}). "
            "Set OPENAI_API_KEY in the environment or in .env, or name another variable as `key_variable` in the configuration. "
            "An address in a model's name gets a key only in this latter way."
        )
    if status == 404:
        raise EndpointUnusable(
            f"{name} at {url}: HTTP 404: {complaint}. Check the model's name and the address (most end in /v1)."
        )
    if 300 <= status < 400:
        raise EndpointUnusable(f"{url} redirects (HTTP {status}). Give --base-url the final address.")
    raise RunFailure(f"{name} at {url}: HTTP {status}: {complaint}")


def raise_no_credit(name: str, complaint: str) -> NoReturn:
    raise EndpointUnusable(f"{name}: the account has no credit left: {complaint}. Top it up, then resume.")


def read_retry_after(headers: Any) -> float | None:
    """The seconds that Retry-After (seconds or a date) or retry-after-ms asks for; None when it asks nothing readable."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        with contextlib.suppress(ValueError):
            seconds = float(headers.get(name, "")) * unit
            if math.isfinite(seconds):
                return max(0.0, seconds)
    with contextlib.suppress(TypeError, ValueError):
        return max(0.0, email.utils.parsedate_to_datetime(headers.get("retry-after")).timestamp() - time.time())
    return None


def read_complaint(content: bytes) -> str:
    """The server's words on what is wrong, in a line."""
    text = content[:4000].decode("utf-8", "replace")
    with contextlib.suppress(ValueError, RecursionError):
        error = json.loads(content)
        error = error.get("error", error) if isinstance(error, dict) else error
        if isinstance(error, dict):
            text = " ".join(str(error[key]) for key in ("code", "message") if error.get(key)) or text
        else:
            text = str(error)
    return " ".join(text.split())[:500] or "no explanation"
