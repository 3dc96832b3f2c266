"""Libraries that extras bring, imported when they are needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sociable.core.errors import InputError


def import_extra(module: str, extra: str, purpose: str) -> Any:
    """The module of that name. Raises InputError that names the ``extra`` and its ``purpose`` where it is not installed."""
    try:
        return import_module(module)
    except ImportError as error:
        raise InputError(f"{purpose} needs an extra: pip install 'sociable[{extra}]' ({error}).") from None
