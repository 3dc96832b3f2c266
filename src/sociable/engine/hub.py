"""Data sets on the Hugging Face hub: ``hf://OWNER/NAME@REVISION/PATH``, kept in the user's cache by the hub's own library.

The revision (a branch, a tag, a commit) is replaced by its commit when a run begins, so that the manifest names what was read.
Without a path it is the file ``dataset.jsonl``, as ``sociable dataset`` lays it out.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from sociable.core.errors import InputError
from sociable.core.extras import import_extra

SCHEME = "hf://"
DATASET = "dataset.jsonl"
RECORDS = (".json", ".jsonl")
"""The endings of files of records."""
MOST_LISTED = 10
"""Files that are named where the one that was asked for is not there."""

_NAMED = re.compile(r"hf://(?P<name>[\w.-]+/[\w.-]+?)(@(?P<revision>[^/@\s]+))?(/(?P<path>[^@\s]+))?")
_COMMIT = re.compile(r"[0-9a-f]{40}")

T = TypeVar("T")


class HubPath(NamedTuple):
    """A file or folder of a data set on the hub."""

    name: str
    revision: str
    path: str

    def __str__(self) -> str:
        return f"{SCHEME}{self.name}@{self.revision}" + (f"/{self.path}" if self.path else "")


def is_on_hub(dataset: str | Path | None) -> bool:
    return str(dataset).startswith(SCHEME)


def find_data(dataset: str | Path | None) -> Path | None:
    """The data set as a path on this machine; what is on the hub is fetched, unless it is in the cache already.

    Raises InputError where that cannot be done.
    """
    if not dataset:
        return None
    return _fetch(_parse(pin(str(dataset)))) if is_on_hub(dataset) else Path(dataset)


def pin(path: str) -> str:
    """An absolute path; of a data set on the hub the name with the commit that its revision means today. Raises InputError."""
    if not is_on_hub(path):
        return str(Path(path).resolve())
    named = _parse(path)
    if _COMMIT.fullmatch(named.revision):
        return str(named)
    found = _ask(named, lambda hub: hub.dataset_info(named.name, revision=named.revision))
    return str(named._replace(revision=found.sha))


def _parse(text: str) -> HubPath:
    found = _NAMED.fullmatch(text)
    if found is None:
        raise InputError(
            f"'{text}' names no data set on the hub: write hf://OWNER/NAME@REVISION or hf://OWNER/NAME@REVISION/PATH."
        )
    return HubPath(found["name"], found["revision"] or "main", (found["path"] or "").strip("/"))


def _fetch(named: HubPath) -> Path:
    """The file of this commit, or a folder with the files of records that lie under the path."""
    wanted = named.path or DATASET

    def download(hub: Any, file: str, **where: bool) -> Path:
        found = hub.hf_hub_download(named.name, file, repo_type="dataset", revision=named.revision, **where)
        return Path(found)

    def fetch(hub: Any) -> Path:
        # A folder in the cache may hold some of its files only.
        if wanted.endswith(RECORDS):
            with contextlib.suppress(FileNotFoundError):
                return download(hub, wanted, local_files_only=True)
        listed = hub.dataset_info(named.name, revision=named.revision).siblings
        files = [str(each.rfilename) for each in listed]
        records = [file for file in files if file.endswith(RECORDS)]
        if wanted in records:
            return download(hub, wanted)
        inside = [file for file in records if file.startswith(f"{wanted}/")]
        if not inside:
            told = f" It has: {', '.join(records[:MOST_LISTED])}." if records else ""
            missing = f"no records at {named.path}" if named.path else f"no {DATASET}, so it is not of our layout"
            raise InputError(f"{named}: it has {missing}. Name a file or folder of .json or .jsonl behind the revision.{told}")
        first = [download(hub, file) for file in inside][0]  # noqa: RUF015 - all of them are wanted
        return first.parents[inside[0].count("/") - wanted.count("/") - 1]

    return _ask(named, fetch)


def _ask(named: HubPath, ask: Callable[[Any], T]) -> T:
    """What the hub says. Raises InputError for what is not there, must not be read, or cannot be reached."""
    hub, errors, utils = (
        import_extra(f"huggingface_hub{part}", "hub", f"A data set on the hub ({SCHEME}…)") for part in ("", ".errors", ".utils")
    )
    utils.disable_progress_bars()
    asked = hub.HfApi()
    try:
        return ask(asked)
    except errors.GatedRepoError:
        problem = "its owner lets in those who asked: do so in a browser, then log in with `hf auth login`"
    except errors.RepositoryNotFoundError:
        problem = f"{asked.endpoint} has no such data set, or it is private: check the name, or log in with `hf auth login`"
    except errors.RevisionNotFoundError:
        problem = f"it has no revision '{named.revision}': name a branch, a tag or a commit that it has"
    except errors.HFValidationError:
        problem = "the hub knows no such names: write hf://OWNER/NAME@REVISION"
    except (ValueError, TypeError, KeyError) as error:
        problem = f"its path, or what {asked.endpoint} answered, is nothing that the hub's library takes ({_shorten(error)})"
    except (OSError, errors.HfHubHTTPError.__bases__[0]) as error:  # that of the library's transport, of all its errors
        remedy = "try again with a network, or name a file on this machine"
        problem = f"{asked.endpoint} cannot be reached ({_shorten(error)}): {remedy}"
    raise InputError(f"{named}: {problem}.") from None


def _shorten(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0][:120]
