"""A virtual dungeon master tuned by a hosted fine-tuning service (section 5.1).

Address and key are OPENAI_BASE_URL and OPENAI_API_KEY, from the environment or ``.env``. Files and jobs go through the
service's own client, answers through a model and a journal as everybody's. What was uploaded, which job was begun and every
answer are written down at once: a run that was stopped goes on with the same job, and pays for no answer twice.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import tempfile
import time
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from sociable.benchmarks.anteval.ieg.masters.interface import Master, MasterKind, Predictions, read_made_of
from sociable.benchmarks.anteval.ieg.masters.wording import INSTRUCTION, parse_checks, render_checks, render_window
from sociable.benchmarks.anteval.ieg.windows import Window
from sociable.core.errors import InputError, RunFailure, RunStopped
from sociable.core.run_folder import write_atomically
from sociable.engine.event_loop import run_to_end
from sociable.engine.registry import build_model
from sociable.engine.settings import RoleSettings
from sociable.models.journal import Journal, JournalledModel
from sociable.models.limits import Budget
from sociable.models.protocol import ChatMessage, Request, Sampling, Scope

SAMPLING = Sampling(temperature=0.0, max_tokens=128)
AT_ONCE = 20
"""Questions under way."""
_RUNNING = ("validating_files", "queued", "running", "paused")


class HostedMaster(Master):
    """A master that the service calls ``made_of["model"]``. The journal of its answers is in ``folder``, once there is one."""

    def __init__(self, made_of: dict[str, Any], folder: Path | None) -> None:
        super().__init__(made_of)
        self._folder = folder
        self._model = str(made_of["model"])

    def predict(self, windows: Sequence[Window]) -> Predictions:
        """Raises RunStopped where the service does not answer."""
        questions = [render_window(window) for window in windows]
        answers = run_to_end(self._ask(questions))
        return [parse_checks(answers[question], window) for question, window in zip(questions, windows, strict=True)]

    async def _ask(self, questions: Iterable[str]) -> dict[str, str]:
        """Asks the questions, equal ones once. Returns the answers by question."""
        answers: dict[str, str] = {}
        budget, scope, pending = Budget({}), Scope("windows", "master"), iter(dict.fromkeys(questions))

        async def work() -> None:
            for question in pending:
                try:
                    reply = await model.generate(Request(_write(question), scope, SAMPLING))
                except RunFailure as failure:
                    budget.stop(_stop("to answer", failure))
                except RunStopped as stop:
                    budget.stop(stop)
                else:
                    answers[question] = reply.text
                if budget.stopped:
                    return

        with contextlib.ExitStack() as stack:
            folder = self._folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
            folder.mkdir(parents=True, exist_ok=True)
            built = build_model(f"openai/{self._model}", RoleSettings(), max_connections=AT_ONCE)
            model = JournalledModel(built, stack.enter_context(Journal(folder / "calls.sqlite")), budget)
            asking = asyncio.gather(*(work() for _ in range(AT_ONCE)))
            try:
                await asyncio.shield(asking)
            except asyncio.CancelledError:
                # Answers under way are paid for: they are waited for, and kept.
                budget.interrupt()
                await asking
                raise
            finally:
                await model.close()
        budget.check()
        return answers


def _stop(what: str, error: Exception) -> RunStopped:
    return RunStopped(
        f"The hosted service refused {what}: {error} Look at OPENAI_BASE_URL, OPENAI_API_KEY and master_model. Sessions, "
        "jobs and answers are kept: resume goes on with them."
    )


def _write(question: str) -> list[ChatMessage]:
    return [{"role": "system", "content": INSTRUCTION}, {"role": "user", "content": question}]


class HostedKind(MasterKind):
    name = "hosted"
    quick = False
    at_home = True
    fewest = 10
    """Below it services refuse a job."""

    def __init__(self, base: str, *, seconds_between: float = 30.0) -> None:
        self.base = base
        self._seconds_between = seconds_between

    def check(self) -> None:
        self._client  # noqa: B018

    @cached_property
    def _client(self) -> Any:
        """The service's client. Raises InputError."""
        try:
            from openai import OpenAI, OpenAIError
        except ImportError:
            raise InputError("master = hosted needs the openai client: pip install 'sociable[hosted]'.") from None
        try:
            return OpenAI()
        except OpenAIError as error:
            raise InputError(f"master = hosted: {error} Set OPENAI_API_KEY in the environment or in a file .env here.") from None

    def make_untrained(self, folder: Path | None = None) -> HostedMaster:
        return HostedMaster(self.describe(windows=0, model=self.base), folder)

    def train(self, windows: Sequence[Window], seed: int, purpose: str, folder: Path | None = None) -> HostedMaster:
        """Uploads, begins a job, waits for it. Raises RunStopped where the service refuses or fails."""
        from openai import OpenAIError

        examples = [[*_write(render_window(each)), {"role": "assistant", "content": render_checks(each)}] for each in windows]
        lines = "\n".join(json.dumps({"messages": messages}) for messages in examples)
        of = hashlib.sha256(f"{self.base}\n{seed}\n{lines}".encode()).hexdigest()
        try:
            job = self._wait_for(self._begin_job(lines, of, seed, folder), folder)
        except OpenAIError as error:
            raise _stop("to tune a model", error) from None
        facts = {"purpose": purpose, "seed": seed, "windows": len(windows), "job": job.id, "model": job.fine_tuned_model}
        return HostedMaster(self.describe(**facts), folder)

    def _begin_job(self, lines: str, of: str, seed: int, folder: Path | None) -> str:
        """The id of the job on these examples: one that was begun before, or a new one."""
        path = folder / "job.json" if folder else None
        if path is not None and path.is_file():
            known = json.loads(path.read_text(encoding="utf-8"))
            if known["of"] == of and self._client.fine_tuning.jobs.retrieve(known["job"]).status not in ("failed", "cancelled"):
                return str(known["job"])
        uploaded = self._client.files.create(file=("windows.jsonl", lines.encode()), purpose="fine-tune")
        job = self._client.fine_tuning.jobs.create(model=self.base, training_file=uploaded.id, seed=seed)
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, json.dumps({"of": of, "job": job.id, "file": uploaded.id}) + "\n")
        return str(job.id)

    def _wait_for(self, identifier: str, folder: Path | None) -> Any:
        """The job, once it has succeeded. Interrupted, it is cancelled where nothing knows of it any more."""
        try:
            while (job := self._client.fine_tuning.jobs.retrieve(identifier)).status in _RUNNING:
                time.sleep(self._seconds_between)
        except BaseException:
            if folder is None:
                self._client.fine_tuning.jobs.cancel(identifier)
            raise
        if job.status != "succeeded" or not job.fine_tuned_model:
            why = job.error.message if job.error else "no reason was given"
            raise RunStopped(f"The tuning job {identifier} {job.status}: {why}. Nothing is lost: resume begins another job.")
        return job

    def load(self, folder: Path) -> HostedMaster:
        return HostedMaster(read_made_of(folder), folder)
