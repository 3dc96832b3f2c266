"""A model server of fixed latency: answers every chat completion with the same words, so many milliseconds after it came.

With ``--stream`` a request that asks for a stream gets it, word by word, the last one after that time.
It is a process of its own, so that its processor time is not the client's. ``GET`` answers how many completions were
asked for, and their bytes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from aiohttp import web
from workload import REPLY, VERDICT


class FixedLatency:
    """Replies to turns with words, and to requests that ask for a JSON schema with a verdict."""

    def __init__(self, latency_seconds: float, streams: bool) -> None:
        self._latency_seconds = latency_seconds
        self._streams = streams
        self._calls = 0
        self._bytes = 0

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.method == "GET":
            return web.json_response({"calls": self._calls, "bytes": self._bytes})
        body = await request.read()
        self._calls += 1
        self._bytes += len(body)
        is_verdict = b'"response_format"' in body
        if self._streams and b'"stream":true' in body:
            return await self._stream(request, _STREAMS[is_verdict])
        if self._latency_seconds:
            await asyncio.sleep(self._latency_seconds)
        return web.Response(body=_ANSWERS[is_verdict], content_type="application/json")

    async def _stream(self, request: web.BaseRequest, events: list[bytes]) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        until = asyncio.get_running_loop().time() + self._latency_seconds
        await response.prepare(request)
        for place, event in enumerate(events):
            left = until - asyncio.get_running_loop().time()
            await asyncio.sleep(max(0.0, left / (len(events) - place)))
            await response.write(event)
        await response.write_eof()
        return response


def _completion(text: str) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 650, "completion_tokens": 30, "total_tokens": 680}
    whole = {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], "usage": usage}
    return json.dumps(whole).encode()


def _events(text: str) -> list[bytes]:
    choices = [{"index": 0, "delta": {"content": f"{word} "}, "finish_reason": None} for word in text.split(" ")]
    choices[-1]["delta"] = {"content": text.split(" ")[-1]}
    end = {
        "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 650, "completion_tokens": 30},
    }
    whole = [*({"id": "1", "object": "chat.completion.chunk", "model": "m", "choices": [choice]} for choice in choices), end]
    return [f"data: {json.dumps(each)}\n\n".encode() for each in whole]


_ANSWERS = {False: _completion(REPLY), True: _completion(VERDICT)}
_STREAMS = {False: _events(REPLY), True: _events(VERDICT)}


@contextmanager
def serving(latency_seconds: float, *, streams: bool = False) -> Iterator[str]:
    """Runs the server in a process of its own; gives its address as a ``base_url``."""
    command = [sys.executable, str(Path(__file__)), "--latency-seconds", str(latency_seconds), *(["--stream"] if streams else [])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        finally:
            process.terminate()


async def _serve(latency_seconds: float, streams: bool) -> None:
    runner = web.ServerRunner(web.Server(FixedLatency(latency_seconds, streams).answer, access_log=None))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency-seconds", type=float, default=0.0)
    parser.add_argument("--stream", action="store_true")
    asked = parser.parse_args()
    asyncio.run(_serve(asked.latency_seconds, asked.stream))
