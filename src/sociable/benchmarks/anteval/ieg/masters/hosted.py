"""A virtual dungeon master tuned by a hosted fine-tuning service, through the openai client (section 5.1).

Address and key are OPENAI_BASE_URL and OPENAI_API_KEY, from the environment or ``.env``. What was uploaded, which job was
begun and every answer are written down at once: a run that was stopped goes on with the same job, and pays for no answer twice.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from sociable.benchmarks.anteval.ieg.masters.interface import Master, MasterKind, Predictions, read_made_of, write_made_of
from sociable.benchmarks.anteval.ieg.masters.wording import INSTRUCTION, answer, asked, read_answer
from sociable.benchmarks.anteval.ieg.windows import Window
from sociable.core.errors import InputError, RunStopped
from sociable.core.run_folder import write_atomically

LONGEST_ANSWER = 128
"""Tokens."""
_RUNNING = ("validating_files", "queued", "running", "paused")


class HostedMaster(Master):
    """``model`` as the service calls it; answers are kept in the folder, once there is one."""

    def __init__(self, client: Any, model: str, made_of: dict[str, Any], folder: Path | None) -> None:
        self._client = client
        self._model = model
        self.made_of = made_of
        self._folder = folder

    def predict(self, windows: Sequence[Window]) -> Predictions:
        kept = self._kept()
        return [read_answer(self._answer(window, kept), window) for window in windows]

    def _answer(self, window: Window, kept: dict[str, str]) -> str:
        messages = _messages(window)
        key = hashlib.blake2b(json.dumps([self._model, messages]).encode(), digest_size=16).hexdigest()
        if key not in kept:
            with _of_the_service("to answer"):
                reply = self._client.chat.completions.create(
                    model=self._model,
                    messages=messages,
                    temperature=0.0,
                    max_tokens=LONGEST_ANSWER,
                )
            kept[key] = (reply.choices[0].message.content or "") if reply.choices else ""
            if self._folder is not None:
                self._folder.mkdir(parents=True, exist_ok=True)
                with (self._folder / "answers.jsonl").open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps([key, kept[key]]) + "\n")
        return kept[key]

    def _kept(self) -> dict[str, str]:
        path = self._folder / "answers.jsonl" if self._folder else None
        if path is None or not path.is_file():
            return {}
        *whole, torn = path.read_text(encoding="utf-8").split("\n")
        if torn:
            # A line that was being written when the process died is no answer, and the next must not be added to it.
            write_atomically(path, "".join(f"{line}\n" for line in whole))
        return dict(json.loads(line) for line in whole)

    def save(self, folder: Path) -> None:
        write_made_of(folder, self.made_of | {"model": self._model})


@contextlib.contextmanager
def _of_the_service(what: str) -> Iterator[None]:
    """Its errors, as those of a run. Raises RunStopped."""
    from openai import OpenAIError

    try:
        yield
    except OpenAIError as error:
        raise RunStopped(
            f"The hosted service refused {what}: {error} Look at OPENAI_BASE_URL, OPENAI_API_KEY and master_model. Sessions, "
            "jobs and answers are kept: resume goes on with them."
        ) from None


def _messages(window: Window) -> list[dict[str, str]]:
    return [{"role": "system", "content": INSTRUCTION}, {"role": "user", "content": asked(window)}]


class HostedKind(MasterKind):
    name = "hosted"
    quick = False
    fewest = 10
    """Below it services refuse a job."""

    def __init__(self, base: str, *, seconds_between: float = 30.0) -> None:
        self.base = base
        self._seconds_between = seconds_between

    def check(self) -> None:
        self._client  # noqa: B018

    @cached_property
    def _client(self) -> Any:
        """Raises InputError."""
        try:
            from openai import OpenAI, OpenAIError
        except ImportError:
            raise InputError("master = hosted needs the openai client: pip install 'sociable[hosted]'.") from None
        try:
            return OpenAI()
        except OpenAIError as error:
            raise InputError(f"master = hosted: {error} Set OPENAI_API_KEY in the environment or in a file .env here.") from None

    def untrained(self, folder: Path | None = None) -> HostedMaster:
        return HostedMaster(self._client, self.base, {"kind": self.name, "base": self.base, "windows": 0}, folder)

    def train(self, windows: Sequence[Window], seed: int, purpose: str, folder: Path | None = None) -> HostedMaster:
        """Uploads, begins a job, waits for it. Raises RunStopped where the service refuses or fails."""
        lines = "\n".join(
            json.dumps({"messages": [*_messages(each), {"role": "assistant", "content": answer(each)}]}) for each in windows
        )
        of = hashlib.sha256(f"{self.base}\n{seed}\n{lines}".encode()).hexdigest()
        with _of_the_service("to tune a model"):
            job = self._finished(self._begun(lines, of, seed, folder), folder)
        made_of = {
            "kind": self.name,
            "base": self.base,
            "purpose": purpose,
            "seed": seed,
            "windows": len(windows),
            "job": job.id,
        }
        return HostedMaster(self._client, job.fine_tuned_model, made_of, folder)

    def _begun(self, lines: str, of: str, seed: int, folder: Path | None) -> str:
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

    def _finished(self, identifier: str, folder: Path | None) -> Any:
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
        made_of = read_made_of(folder)
        return HostedMaster(self._client, str(made_of["model"]), made_of, folder)
