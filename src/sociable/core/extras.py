"""Imports from outside, made when they are needed: libraries of extras, objects of other packages."""

from __future__ import annotations

from importlib import import_module, metadata
from typing import Any, TypeVar

from sociable.core.errors import InputError

T = TypeVar("T")


def import_extra(module: str, extra: str, purpose: str) -> Any:
    """The module of that name. Raises InputError that names the ``extra`` and its ``purpose`` where it is not installed."""
    try:
        return import_module(module)
    except ImportError as error:
        raise InputError(f"{purpose} needs an extra: pip install 'sociable[{extra}]' ({error}).") from None


def load_plugin(point: metadata.EntryPoint, kind: type[T]) -> T:
    """The object of another package's entry point. Raises InputError where it cannot be loaded, or is of another ``kind``."""
    package = point.dist.name if point.dist else point.value
    named = f"'{point.name}' of the package {package} (entry point {point.group}, {point.value})"
    try:
        found = point.load()
    except Exception as error:  # Whatever another package does wrong is told as its own.
        raise InputError(f"{named} cannot be loaded: {type(error).__name__}: {error}") from None
    if not isinstance(found, kind):
        raise InputError(f"{named} is no {kind.__name__}; ask its authors.")
    return found
