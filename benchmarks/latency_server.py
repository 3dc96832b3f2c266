"""A model server of fixed latency: answers every chat completion with the same words, so many milliseconds after it came.

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

    def __init__(self, latency_seconds: float) -> None:
        self._latency_seconds = latency_seconds
        self._calls = 0
        self._bytes = 0

    async def answer(self, request: web.BaseRequest) -> web.Response:
        if request.method == "GET":
            return web.json_response({"calls": self._calls, "bytes": self._bytes})
        body = await request.read()
        self._calls += 1
        self._bytes += len(body)
        if self._latency_seconds:
            await asyncio.sleep(self._latency_seconds)
        return web.Response(body=_ANSWERS[b'"response_format"' in body], content_type="application/json")


def _completion(text: str) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 650, "completion_tokens": 30, "total_tokens": 680}
    whole = {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], "usage": usage}
    return json.dumps(whole).encode()


_ANSWERS = {False: _completion(REPLY), True: _completion(VERDICT)}


@contextmanager
def serving(latency_seconds: float) -> Iterator[str]:
    """Runs the server in a process of its own; gives its address as a ``base_url``."""
    command = [sys.executable, str(Path(__file__)), "--latency-seconds", str(latency_seconds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        finally:
            process.terminate()


async def _serve(latency_seconds: float) -> None:
    runner = web.ServerRunner(web.Server(FixedLatency(latency_seconds).answer, access_log=None))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency-seconds", type=float, default=0.0)
    asyncio.run(_serve(parser.parse_args().latency_seconds))
