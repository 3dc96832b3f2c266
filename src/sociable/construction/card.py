"""The data card of a build: Croissant's JSON-LD for machines, and a README with the front matter the Hugging Face hub reads."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sociable.construction.build import DATASET, Counted, Recipe
from sociable.core.errors import RunFolderError
from sociable.core.run_folder import write_atomically

CROISSANT = "croissant.json"
README = "README.md"
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"), (10_000_000, "1M<n<10M"))
"""The hub's words for numbers of records."""

_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "equivalentProperty": "cr:equivalentProperty",
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_TYPES = {str: "sc:Text", bool: "sc:Boolean", int: "sc:Integer", float: "sc:Float"}


def write_cards(path: Path, recipe: Recipe, found: Sequence[Counted], manifest: Mapping[str, Any], licence: str) -> None:
    """Writes both into the build folder. Raises RunFolderError where there is no data set."""
    file = path / DATASET
    try:
        lines = file.read_bytes().splitlines()
    except OSError as error:
        raise RunFolderError(f"{file} cannot be read: {error}. Finish the build first.") from None
    first = json.loads(lines[0]) if lines else {}
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    name = f"{recipe.benchmark}-{recipe.name}"
    croissant = _croissant(name, _description(recipe, len(lines), manifest), manifest, digest, first, licence)
    write_atomically(path / CROISSANT, json.dumps(croissant, indent=1, ensure_ascii=False) + "\n")
    write_atomically(path / README, _readme(name, recipe, found, manifest, len(lines), licence))


def _description(recipe: Recipe, records: int, manifest: Mapping[str, Any]) -> str:
    writer = manifest.get("writer")
    by = f"written by {writer['model']}" if writer and any(stage.asks for stage in recipe.stages) else "no model wrote anything"
    return f"{records} records for {recipe.benchmark}, built out of {recipe.name} by sociable; {by}."


def _croissant(
    name: str, description: str, manifest: Mapping[str, Any], digest: str, first: Mapping[str, Any], licence: str
) -> dict[str, Any]:
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"records/{key}",
            "name": f"records/{key}",
            "dataType": _TYPES[type(value)],
            "source": {"fileObject": {"@id": DATASET}, "extract": {"column": key}},
        }
        for key, value in first.items()
        # What has parts of its own is described by the benchmark's layout.
        if type(value) in _TYPES
    ]
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": name,
        "description": description,
        "license": licence,
        "url": DATASET,
        "version": manifest["version"],
        "datePublished": manifest["created"][:10],
        "creator": {"@type": "sc:Organization", "name": "made with sociable"},
        "citeAs": f"{name}, made with sociable {manifest['packages']['sociable']}, {manifest['created'][:10]}",
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": DATASET,
                "name": DATASET,
                "contentUrl": DATASET,
                "encodingFormat": "application/jsonlines",
                "sha256": digest,
            }
        ],
        "recordSet": [{"@type": "cr:RecordSet", "@id": "records", "name": "records", "field": fields}] if fields else [],
    }


def _readme(name: str, recipe: Recipe, found: Sequence[Counted], manifest: Mapping[str, Any], records: int, licence: str) -> str:
    size = next((word for limit, word in SIZES if records < limit), "n>10M")
    front = {
        "license": "other",
        "license_name": licence,
        "language": ["en"],
        "size_categories": [size],
        "configs": [{"config_name": "default", "data_files": [{"split": "test", "path": DATASET}]}],
    }
    writer = manifest.get("writer")
    rows = [f"| {each.stage} | {each.meaning} | {each.came} | {sum(each.rejected.values())} | {each.made} |" for each in found]
    rejected = [f"| {each.stage} | {reason} | {count} |" for each in found for reason, count in each.rejected.items()]
    left_out = [f"| {each.stage} | {reason} | {count} |" for each in found for reason, count in each.left_out.items()]
    by = f"{writer['model']}, temperature {writer['sampling']['temperature']}" if writer else "nobody: no model was asked"
    facts = {
        "records": str(records),
        "recipe": f"{recipe.name} {recipe.version} of sociable {manifest['packages']['sociable']}",
        "for": f"`sociable run {recipe.benchmark} --dataset {DATASET}`",
        "written by": by,
        "begun": manifest["created"],
        "digests": ", ".join(f"{key} {value[:12]}" for key, value in manifest["digests"].items()),
        "licence": licence,
    }
    parts = [
        "---",
        # JSON is YAML.
        *(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in front.items()),
        "---",
        f"# Data card: {name}",
        "",
        "| | |",
        "|---|---|",
        *(f"| {key} | {_cell(value)} |" for key, value in facts.items()),
        "",
        "## What came in and what is left",
        "",
        "| stage | keeps or makes | came in | rejected | handed on |",
        "|---|---|---|---|---|",
        *rows,
        "",
        *_reasons("Why items were rejected", "items", rejected),
        *_reasons("What was left out of items", "parts", left_out),
        "## Before it is used",
        "",
        "What a model wrote has been checked by rules only, until people have read it: `sociable review` of this folder. Models",
        "related to the one that wrote it may find it easier. Whether it can be solved by a shortcut is said by",
        f"`sociable audit {recipe.benchmark} --dataset {DATASET}`.",
    ]
    return "\n".join(parts) + "\n"


def _reasons(title: str, of: str, rows: Sequence[str]) -> list[str]:
    return [f"## {title}", "", f"| stage | reason | {of} |", "|---|---|---|", *rows, ""] if rows else []


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
