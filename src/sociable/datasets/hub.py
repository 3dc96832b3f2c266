"""A data set as parquet, as the Hugging Face hub serves it (extra ``hub``)."""

from __future__ import annotations

import os
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

from sociable.core.errors import InputError
from sociable.datasets.build import DATASET

PARQUET = "dataset.parquet"


def load_parquet_library() -> Any:
    """Raises InputError where the extra is missing."""
    try:
        return import_module("datasets")
    except ImportError as error:
        raise InputError(f"Parquet needs an extra: pip install 'sociable[hub]' ({error}).") from None


def write_parquet(folder: Path) -> Path:
    """``dataset.parquet`` beside ``dataset.jsonl``. Raises InputError where the extra is missing, or the data do not fit."""
    datasets = load_parquet_library()
    datasets.disable_progress_bars()
    if not (folder / DATASET).is_file() or not (folder / DATASET).stat().st_size:
        raise InputError(f"{folder / DATASET}: nothing in it yet. Finish the build first.")
    part = folder / f".{PARQUET}.part"
    try:
        with tempfile.TemporaryDirectory() as cache:
            loaded = datasets.Dataset.from_json(str(folder / DATASET), cache_dir=cache, keep_in_memory=True)
            loaded.to_parquet(str(part))
        os.replace(part, folder / PARQUET)
    except (OSError, ValueError, TypeError, datasets.exceptions.DatasetGenerationError) as error:
        raise InputError(f"{folder / DATASET} cannot be written as parquet: {error}") from None
    finally:
        part.unlink(missing_ok=True)
    return folder / PARQUET
