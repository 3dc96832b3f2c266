"""A model that answers from a script, for tests: it records its requests and raises when the script runs out."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sociable.core.records import Usage
from sociable.models.protocol import Reply, Request


class ScriptedModel:
    """``script`` is the replies in order, or a function of the request."""

    def __init__(self, script: Iterable[str | Reply] | Callable[[Request], str | Reply], name: str = "scripted") -> None:
        self.name = name
        self._script = script if callable(script) else iter(script)
        self.requests: list[Request] = []

    async def generate(self, request: Request) -> Reply:
        """Raises AssertionError when more is asked than the script foresees."""
        self.requests.append(request)
        if callable(self._script):
            answer = self._script(request)
        else:
            try:
                answer = next(self._script)
            except StopIteration:
                raise AssertionError(f"call {len(self.requests)} to '{self.name}': the script has no more replies") from None
        if isinstance(answer, Reply):
            return answer
        tokens = sum(len(message["content"].split()) for message in request.messages)
        return Reply(answer, Usage(calls=1, input_tokens=tokens, output_tokens=len(answer.split())))

    async def close(self) -> None:
        pass
