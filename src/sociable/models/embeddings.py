"""Sentences as vectors of what they mean, by a local model of sentence-transformers: an extra, because it pulls torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sociable.core.errors import InputError

Encoder = Callable[[Sequence[str]], NDArray[np.float64]]
"""Texts → [texts, dimensions]."""


@cache
def load_encoder(model: str) -> Encoder:
    """Loaded once in a process. Raises InputError where the extra is not installed, or the model cannot be loaded."""
    try:
        library: Any = import_module("sentence_transformers")
    except ImportError as error:
        raise InputError(f"Sentence embeddings need an extra: pip install 'sociable[embeddings]' ({error}).") from None
    try:
        loaded = library.SentenceTransformer(model)
    except Exception as error:  # its own, the hub's, the network's and torch's have no base in common
        raise InputError(f"The embedding model '{model}' cannot be loaded: {error}. Name one that is installed.") from error
    return lambda texts: np.asarray(loaded.encode(list(texts), show_progress_bar=False), dtype=np.float64)
