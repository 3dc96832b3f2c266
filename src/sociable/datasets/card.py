"""The description of a build: its funnel, and its data card for people and for the Hugging Face hub.

The hub reads Croissant's JSON-LD, the front matter of a README, and the data as parquet (extra ``hub``).
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from sociable.core.errors import InputError, RunFolderError
from sociable.core.extras import import_extra
from sociable.core.run_folder import write_atomically
from sociable.core.view import MISSING, Callout, Column, Document, Row, Section, Table, Tone
from sociable.datasets.build import DATASET, SOURCES, StageCounts
from sociable.datasets.recipe import Plan

CROISSANT = "croissant.json"
README = "README.md"
PARQUET = "dataset.parquet"
REASONS_SHOWN = 5
"""Reasons of each stage that the terminal shows."""
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"), (10_000_000, "1M<n<10M"))
"""The hub's words for numbers of records."""
LICENCES = frozenset(
    {"cc0-1.0", "cc-by-2.5", "cc-by-3.0", "cc-by-4.0", "cc-by-sa-3.0", "cc-by-sa-4.0", "cc-by-nc-4.0", "cc-by-nc-sa-4.0"}
    | {"mit", "apache-2.0", "odc-by", "odbl"}
)
"""Licences that the hub has a word for."""

_TEMPLATES = Path(__file__).parent / "templates"
_TYPES = {str: "sc:Text", bool: "sc:Boolean", int: "sc:Integer", float: "sc:Float"}


def make_build_document(plan: Plan, found: Sequence[StageCounts], path: Path) -> Document:
    """The document of how far a build in the folder ``path`` has come, and what it cannot go on without."""
    done = len(found) == len(plan.stages)
    funnel = make_funnel_table(found)
    problem = "" if not done or found[-1].made else "Nothing came through, so the data set is empty. Below stands why."
    if not done:
        stage, items = plan.stages[len(found)], found[-1].made if found else len(plan.items)
        problem = (
            f"Up to {items:,} items wait for a model at the stage '{stage.name}'. Name one with --model, and the same --out."
        )
        waiting = Row([stage.name, stage.meaning, f"{items:,}", MISSING, "waiting"])
        funnel = replace(funnel, rows=[*funnel.rows, waiting])
        if (path / DATASET).exists():
            problem += f" Until then {DATASET} is of before."
    notes = [Callout(problem, Tone.WARNING)] if problem else []
    return Document(
        title=f"{plan.recipe.benchmark}, built from {plan.recipe.material}",
        subtitle=f"{path / DATASET}" if done else f"{path}, not finished",
        summary=funnel,
        sections=[Section("Funnel", [*notes, *make_reason_tables(found, REASONS_SHOWN)])],
    )


def make_funnel_table(found: Sequence[StageCounts]) -> Table:
    """The table of how many items came into each stage, and how many are left."""
    rows = [
        Row([each.name, each.meaning, f"{each.came:,}", f"{sum(each.rejected.values()):,}", f"{each.made:,}"]) for each in found
    ]
    numbers = [Column(title, True) for title in ("Came in", "Rejected", "Handed on")]
    note = "Of one item several may be made. Every rejected item stands in its stage's file with its reason."
    return Table("What came in and what is left", [Column("Stage"), Column("Keeps or makes"), *numbers], rows, note)


def make_reason_tables(found: Sequence[StageCounts], most: int | None = None) -> Iterator[Table]:
    """Tables of why items, and parts of items, did not go on: the ``most`` frequent reasons of each stage, all by default."""
    for title, field, counted in (
        ("Why items were rejected", "rejected", "Items"),
        ("What was left out of items that stayed, or were rejected for want of it", "left_out", "Parts"),
    ):
        reasons = [(each.name, *reason) for each in found for reason in list(getattr(each, field).items())[:most]]
        if reasons:
            rows = [Row([stage, reason, f"{count:,}"]) for stage, reason, count in reasons]
            yield Table(title, [Column("Stage"), Column("Reason"), Column(counted, True)], rows)


def write_cards(path: Path, manifest: Mapping[str, Any], data: str = DATASET, reviewed: str = "") -> None:
    """Writes both into the build folder, about the file ``data`` in it. ``reviewed`` says what people have made of it.

    Raises RunFolderError where there is no such file.
    """
    file = path / data
    try:
        content = file.read_bytes()
    except OSError as error:
        raise RunFolderError(f"{file} cannot be read: {error}. Finish the build first.") from None
    name = f"{manifest['benchmark']}-{manifest['recipe']}"
    write_croissant(path / data, content, _describe_build(name, manifest, content))
    write_atomically(path / README, _make_readme(name, manifest, path, data, len(content.splitlines()), reviewed))


def _find_writer(manifest: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The model that wrote, with its settings; None where nobody was asked."""
    writer: Mapping[str, Any] | None = manifest.get("writer")
    return writer if writer and any(stage["asks"] for stage in manifest["stages"]) else None


def _describe_build(name: str, manifest: Mapping[str, Any], content: bytes) -> dict[str, Any]:
    writer = _find_writer(manifest)
    by = f"written by {writer['model']}" if writer else "no model wrote anything"
    records = len(content.splitlines())
    return {
        "name": name,
        "description": f"{records} records for {manifest['benchmark']}, built out of {manifest['recipe']} by sociable; {by}.",
        "license": manifest["licence"],
        "version": manifest["version"],
        "datePublished": manifest["created"][:10],
        "citeAs": f"{name}, made with sociable {manifest['packages']['sociable']}, {manifest['created'][:10]}",
    }


def write_croissant(path: Path, content: bytes, described: Mapping[str, Any]) -> None:
    """Writes ``croissant.json`` beside the JSON Lines ``path``, which hold ``content``.

    ``described``: what schema.org says of a data set, such as name, description, licence.
    """
    data = path.name
    fields = [field for key, value in _pick_values(content).items() for field in _make_fields(data, key, value)]
    file = {
        "@type": "cr:FileObject",
        "@id": data,
        "name": data,
        "contentUrl": data,
        "encodingFormat": "application/jsonlines",
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    croissant = {
        "@context": json.loads((_TEMPLATES / "croissant_context.json").read_text(encoding="utf-8")),
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "url": data,
        "creator": {"@type": "sc:Organization", "name": "made with sociable"},
        **described,
        "distribution": [file],
        "recordSet": [{"@type": "cr:RecordSet", "@id": "records", "name": "records", "field": fields}] if fields else [],
    }
    write_atomically(path.with_name(CROISSANT), json.dumps(croissant, indent=1, ensure_ascii=False) + "\n")


def _pick_values(content: bytes) -> dict[str, Any]:
    """A value of each key of the records that has values of one type only; a record may lack it."""
    picked: dict[str, Any] = {}
    for line in content.splitlines():
        for key, value in json.loads(line).items():
            if value is not None:
                picked.setdefault(key, value)
                if type(picked[key]) is not type(value):
                    picked[key] = ()
    return picked


def _make_fields(data: str, key: str, value: Any) -> Iterator[dict[str, Any]]:
    """A field of the records, with the parts of an object or of a list's objects; what lies deeper the layout says."""
    if type(value) in _TYPES:
        yield _make_field(data, key, key, value)
    elif isinstance(value, dict):
        if parts := list(_make_parts(data, key, value, "$.")):
            yield {**_name_field(key), "subField": parts}
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        plain = {name: part for name, part in value[0].items() if not isinstance(part, list)}
        if parts := list(_make_parts(data, key, plain, "$[*].")):
            yield {**_name_field(key), "repeated": True, "subField": parts}


def _make_parts(data: str, key: str, parts: Mapping[str, Any], path: str) -> Iterator[dict[str, Any]]:
    for name, part in parts.items():
        several = isinstance(part, list) and bool(part)
        one = part[0] if several else part
        # A key that is no name of a field, a person's for instance, is part of the data.
        if type(one) in _TYPES and name.isidentifier():
            field = _make_field(data, f"{key}/{name}", key, one)
            field["source"]["transform"] = {"jsonPath": f"{path}{name}"}
            yield field | ({"repeated": True} if several else {})


def _make_field(data: str, name: str, column: str, value: Any) -> dict[str, Any]:
    source = {"fileObject": {"@id": data}, "extract": {"column": column}}
    return {**_name_field(name), "dataType": _TYPES[type(value)], "source": source}


def _name_field(name: str) -> dict[str, Any]:
    return {"@type": "cr:Field", "@id": f"records/{name}", "name": f"records/{name}"}


def _make_readme(name: str, manifest: Mapping[str, Any], path: Path, data: str, records: int, reviewed: str) -> str:
    # Only a card that is written needs it.
    from jinja2 import Environment, StrictUndefined

    licence = str(manifest["licence"])
    front = make_front_matter(licence, records, data)
    writer = _find_writer(manifest)
    facts = {
        "records": str(records),
        "recipe": f"{manifest['recipe']} {manifest['version']} of sociable {manifest['packages']['sociable']}",
        "for": f"`{manifest['use'].format(data=data)}`",
        "written by": f"{writer['model']}, temperature {writer['sampling']['temperature']}" if writer else "no model was asked",
        "begun": manifest["created"],
        "digests": ", ".join(f"{key} {value[:12]}" for key, value in manifest["digests"].items()),
        "licence": licence,
        **manifest.get("facts", {}),
        **({"reviewed": reviewed} if reviewed else {}),
    }
    stages = [StageCounts.model_validate(each) for each in manifest["stages"]]
    environment = Environment(trim_blocks=True, undefined=StrictUndefined, keep_trailing_newline=True)  # noqa: S701 - Markdown
    # JSON is YAML.
    environment.filters |= {"json": partial(json.dumps, ensure_ascii=False), "cell": _make_cell}
    return environment.from_string((_TEMPLATES / "data_card.md").read_text(encoding="utf-8")).render(
        front=front,
        name=name,
        facts=facts,
        tables=[make_funnel_table(stages), *make_reason_tables(stages)],
        sources=SOURCES if (path / SOURCES).exists() else "",
        reviewed=reviewed,
        writer=writer,
        audit=manifest["audit"].format(data=data),
    )


def make_front_matter(licence: str, records: int, data: str) -> dict[str, Any]:
    """The hub's front matter of a README about the file ``data``."""
    word = "-".join(licence.lower().split())
    return {
        **({"license": word} if word in LICENCES else {"license": "other", "license_name": licence}),
        "size_categories": [next((word for limit, word in SIZES if records < limit), "n>10M")],
        "configs": [{"config_name": "default", "data_files": [{"split": "test", "path": data}]}],
    }


def _make_cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def import_parquet_library() -> Any:
    """The library that writes parquet. Raises InputError where the extra is missing."""
    return import_extra("datasets", "hub", "Parquet")


def write_parquet(folder: Path) -> Path:
    """``dataset.parquet`` beside ``dataset.jsonl``. Raises InputError where the extra is missing, or the data do not fit."""
    datasets = import_parquet_library()
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
