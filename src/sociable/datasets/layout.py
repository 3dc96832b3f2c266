"""A benchmark's data as a Hugging Face data set: records, README and Croissant, in one folder.

It is read back before it is handed out: the records must make the same scenarios, by their digest.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from sociable.core.data_files import RawRecord, read_records
from sociable.core.errors import DataError, InputError, StorageFailure
from sociable.core.run_folder import make_folder, write_atomically
from sociable.datasets.build import DATASET, LICENCE
from sociable.datasets.card import CROISSANT, README, make_front_matter, write_croissant, write_parquet
from sociable.engine.benchmark import Benchmark
from sociable.engine.study import AnyStudy, Study

BUNDLED_LICENCE = "CC-BY-4.0"
_PACKAGE = Path(__file__).parents[1]
_LOCAL_LINK = re.compile(r"\[([^\]]+)\]\((?!https?://)[^)]*\)")


def write_layout(
    benchmark: Benchmark, study: AnyStudy, out: Path, licence: str | None = None, *, parquet: bool = False
) -> list[Path]:
    """Writes the data set of an opened study into the folder ``out``. Returns its files.

    Raises InputError where the data are no file of records, and StorageFailure.
    """
    if study.origin is None:
        raise InputError(f"The data of {benchmark.name} are no file of records that --dataset could read back.")
    # The data of another package's benchmark have a card and a licence of their own.
    is_bundled = study.source in (Study.source, "bundled") and study.origin.is_relative_to(_PACKAGE)
    content = _write_records(benchmark, study, study.origin)
    licence = licence or (BUNDLED_LICENCE if is_bundled else LICENCE)
    made = datetime.now(UTC).date().isoformat()
    name = f"sociable-{benchmark.name}"
    records = len(content.splitlines())
    version = metadata.version("sociable")
    make_folder(out)
    write_atomically(out / DATASET, content)
    described = {
        "name": name,
        "description": f"{records} records for the benchmark {benchmark.name} {benchmark.version}: {benchmark.title}.",
        "license": licence,
        "version": benchmark.version,
        "datePublished": made,
        "citeAs": f"{name} {benchmark.version}, laid out with sociable {version}, {made}",
    }
    write_croissant(out / DATASET, content.encode(), described)
    front = "".join(
        f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in _make_front(benchmark, licence, records).items()
    )
    write_atomically(out / README, f"---\n{front}---\n{_write_readme(benchmark, study, is_bundled)}")
    files = [DATASET, CROISSANT, README]
    if is_bundled and (text := _find_beside(study.origin, "LICENSE")):
        try:
            shutil.copyfile(text, out / "LICENSE")
        except OSError as error:
            raise StorageFailure.at(out / "LICENSE", error) from error
        files.append("LICENSE")
    if parquet:
        files.append(write_parquet(out).name)
    return [out / file for file in files]


def _write_records(benchmark: Benchmark, study: AnyStudy, origin: Path) -> str:
    """The records as JSON Lines, ids that follow from file names written out if that is needed to read the same.

    Raises InputError where they cannot be read back.
    """
    wanted = study.digests["dataset"]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / DATASET
        for with_ids in (False, True):
            file.write_text("".join(_dump_records(origin, with_ids)), encoding="utf-8", newline="\n")
            try:
                if benchmark.open(dataset=file).digests["dataset"] == wanted:
                    return file.read_text(encoding="utf-8")
            except DataError:
                continue
    raise InputError(
        f"{origin}: its records do not say the same in one file. Lay out the data that `sociable construct` makes of it."
    )


def _dump_records(origin: Path, with_ids: bool) -> Iterator[str]:
    for raw in read_records(origin, []):
        yield json.dumps(_add_id(raw) if with_ids else raw.value, ensure_ascii=False) + "\n"


def _add_id(raw: RawRecord) -> Any:
    return {"id": raw.default_id, **raw.value} if isinstance(raw.value, dict) else raw.value


def _make_front(benchmark: Benchmark, licence: str, records: int) -> dict[str, Any]:
    tags = ["evaluation", "social-intelligence", "agents", benchmark.name]
    return {"pretty_name": f"sociable {benchmark.name}", "tags": tags, **make_front_matter(licence, records, DATASET)}


def _write_readme(benchmark: Benchmark, study: AnyStudy, is_bundled: bool) -> str:
    """The data's own card, if it has one, and how the data set is used. Links within the package lead nowhere here."""
    card = _find_beside(study.origin, "README.md") if is_bundled and study.origin else None
    about = (
        _LOCAL_LINK.sub(r"\1", card.read_text(encoding="utf-8")) if card else f"# Data for {benchmark.name}: {benchmark.title}\n"
    )
    return f"""{about.rstrip()}

## Use

Records of the Python package sociable, benchmark {benchmark.name} {benchmark.version}, dataset digest
`{study.digests["dataset"]}`. From the hub, with the commit for a revision that stays the same:

```
sociable run {benchmark.name} --model MODEL --dataset hf://OWNER/NAME@REVISION
```

As evaluation data it must not be trained on.
"""


def _find_beside(origin: Path, name: str) -> Path | None:
    """The file of this name in the folder of bundled data, or in one around it, up to the benchmark's ``data``."""
    for folder in (origin, *origin.parents):
        if (folder / name).is_file():
            return folder / name
        if folder.name == "data":
            break
    return None
