"""A fine-tuning service over a real socket, in the interface of OpenAI's: files, jobs, chat completions.

A tuned model answers with the most frequent answer of its training file; an untuned one says "nobody".
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class TuningServer:
    """``outcome`` is what becomes of jobs; each is first queued and running for one question each.

    Questions to a model are answered ``delay`` seconds later; from the one numbered ``refuses_from`` on they are refused, and the first
    ``busy`` of them are put off.
    """

    def __init__(self, outcome: str = "succeeded") -> None:
        self.outcome = outcome
        self.files: dict[str, list[dict[str, Any]]] = {}
        self.jobs: dict[str, dict[str, Any]] = {}
        self.asked = 0
        self.busy = 0
        self.delay = 0.0
        self.refuses_from: int | None = None
        self.cancelled: list[str] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._json(server.job(self.path.rpartition("/")[2]))

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.path.endswith("/files"):
                    self._json(server.upload(body.decode()))
                elif self.path.endswith("/cancel"):
                    server.cancelled.append(self.path.split("/")[-2])
                    self._json(server.jobs[server.cancelled[-1]])
                elif self.path.endswith("/jobs"):
                    self._json(server.begin(json.loads(body)))
                elif server.busy:
                    server.busy -= 1
                    self._json({"error": {"message": "overloaded"}}, 503)
                elif server.refuses_from is not None and server.asked >= server.refuses_from:
                    self._json({"error": {"message": "this account is closed for today"}}, 400)
                else:
                    self._json(server.answer(json.loads(body)))

            def _json(self, value: Any, status: int = 200) -> None:
                raw = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

            def log_message(self, *arguments: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def upload(self, form: str) -> dict[str, Any]:
        lines = [json.loads(line) for line in form.splitlines() if line.startswith('{"messages"')]
        name = f"file-{len(self.files)}"
        self.files[name] = lines
        return {
            "id": name,
            "object": "file",
            "bytes": len(form),
            "created_at": 0,
            "filename": "w",
            "purpose": "fine-tune",
            "status": "processed",
        }

    def begin(self, asked: dict[str, Any]) -> dict[str, Any]:
        name = f"job-{len(self.jobs)}"
        self.jobs[name] = {
            "id": name, "object": "fine_tuning.job", "created_at": 0, "status": "queued", "model": asked["model"],
            "training_file": asked["training_file"], "fine_tuned_model": None, "error": None, "hyperparameters": {},
            "organization_id": "", "result_files": [], "seed": asked.get("seed", 0), "trained_tokens": None, "validation_file": None,
            "finished_at": None,
        }  # fmt: skip
        return self.jobs[name]

    def job(self, name: str) -> dict[str, Any]:
        job = self.jobs[name]
        shown = dict(job)
        if job["status"] == "queued":
            job["status"] = "running"
        elif job["status"] == "running" and self.outcome != "running":
            job["status"] = self.outcome
            if self.outcome == "succeeded":
                job["fine_tuned_model"] = f"tuned:{job['training_file']}"
            else:
                job["error"] = {"message": "the file was bad", "code": "bad", "param": None}
        return shown

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        self.asked += 1
        time.sleep(self.delay)
        model, text = asked["model"], "nobody"
        if model.startswith("tuned:"):
            lines = self.files[model.partition(":")[2]]
            skill = Counter(re.sub(r".*: ", "", line["messages"][-1]["content"]) for line in lines).most_common(1)[0][0]
            player = re.search(r"Players:\n\| ([^\n]+)", asked["messages"][-1]["content"])
            text = f"{player[1]}: {skill}" if player else "nobody"
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
        return {"id": "c", "object": "chat.completion", "created": 0, "model": model, "choices": [choice]}

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
