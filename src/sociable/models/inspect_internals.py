"""What is used of Inspect AI without a public name there, in one place: a change of Inspect's is told in one sentence.

Raises InputError when it is imported beside an Inspect that is too old, or in which one of these is somewhere else.
"""

from __future__ import annotations

import re
from importlib import metadata

from sociable.core.errors import InputError

OLDEST, TESTED = "0.3.285", "0.3.285"
"""The oldest version that has all that is used, and the newest that the tests ran with."""


def _make_error(problem: str) -> InputError:
    return InputError(
        f"Inspect AI {metadata.version('inspect_ai')} is installed: {problem}. Take the one that sociable was tested with: "
        f"pip install 'inspect-ai=={TESTED}'"
    )


def _read_version(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)[:3]))


if _read_version(metadata.version("inspect_ai")) < _read_version(OLDEST):
    raise _make_error(f"sociable needs {OLDEST} or newer")
try:
    # Told as a sentence, without a traceback.
    from inspect_ai._util.error import PrerequisiteError

    # The registry under a name without a package, see ``sociable.inspect.scorer``.
    from inspect_ai._util.registry import RegistryInfo, registry_add

    # Writes a log sample by sample; ``write_eval_log`` takes all at once.
    from inspect_ai.log._recorders import create_recorder_for_location

    # The sampling that was given on the command line.
    from inspect_ai.model._generate_config import active_generate_config
except ImportError as error:
    raise _make_error(f"it is newer than sociable knows ({error})") from None

__all__ = ["PrerequisiteError", "RegistryInfo", "active_generate_config", "create_recorder_for_location", "registry_add"]
