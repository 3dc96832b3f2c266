"""The data card of a build: Croissant's JSON-LD for machines, and a README with the front matter the Hugging Face hub reads."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sociable.core.errors import RunFolderError
from sociable.core.run_folder import write_atomically
from sociable.datasets.build import DATASET, SOURCES

CROISSANT = "croissant.json"
README = "README.md"
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"), (10_000_000, "1M<n<10M"))
"""The hub's words for numbers of records."""
LICENCES = frozenset(
    {"cc0-1.0", "cc-by-2.5", "cc-by-3.0", "cc-by-4.0", "cc-by-sa-3.0", "cc-by-sa-4.0", "cc-by-nc-4.0", "cc-by-nc-sa-4.0"}
    | {"mit", "apache-2.0", "odc-by", "odbl"}
)
"""Those the hub has a word for."""

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


def write_cards(path: Path, manifest: Mapping[str, Any], data: str = DATASET, reviewed: Mapping[str, str] | None = None) -> None:
    """Writes both into the build folder, of the file ``data`` in it; ``reviewed``: what people made of it, by what it is called.

    Raises RunFolderError where there is no such file.
    """
    file = path / data
    try:
        content = file.read_bytes()
    except OSError as error:
        raise RunFolderError(f"{file} cannot be read: {error}. Finish the build first.") from None
    lines = content.splitlines()
    first = json.loads(lines[0]) if lines else {}
    name = f"{manifest['benchmark']}-{manifest['recipe']}"
    croissant = _croissant(name, manifest, data, hashlib.sha256(content).hexdigest(), len(lines), first)
    write_atomically(path / CROISSANT, json.dumps(croissant, indent=1, ensure_ascii=False) + "\n")
    write_atomically(path / README, _readme(name, manifest, data, len(lines), (path / SOURCES).exists(), reviewed))


def _writer(manifest: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Who wrote, with which settings; None where nobody was asked."""
    writer: Mapping[str, Any] | None = manifest.get("writer")
    return writer if writer and any(stage["asks"] for stage in manifest["stages"]) else None


def _croissant(
    name: str, manifest: Mapping[str, Any], data: str, digest: str, records: int, first: Mapping[str, Any]
) -> dict[str, Any]:
    fields = [field for key, value in first.items() for field in _fields(data, key, value)]
    writer = _writer(manifest)
    by = f"written by {writer['model']}" if writer else "no model wrote anything"
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": name,
        "description": f"{records} records for {manifest['benchmark']}, built out of {manifest['recipe']} by sociable; {by}.",
        "license": manifest["licence"],
        "url": data,
        "version": manifest["version"],
        "datePublished": manifest["created"][:10],
        "creator": {"@type": "sc:Organization", "name": "made with sociable"},
        "citeAs": f"{name}, made with sociable {manifest['packages']['sociable']}, {manifest['created'][:10]}",
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": data,
                "name": data,
                "contentUrl": data,
                "encodingFormat": "application/jsonlines",
                "sha256": digest,
            }
        ],
        "recordSet": [{"@type": "cr:RecordSet", "@id": "records", "name": "records", "field": fields}] if fields else [],
    }


def _fields(data: str, key: str, value: Any) -> Iterator[dict[str, Any]]:
    """A field of the records, with the parts of an object or of a list's objects; what lies deeper the layout says."""
    if type(value) in _TYPES:
        yield _field(data, key, key, value)
    elif isinstance(value, dict):
        if parts := [_part(data, key, name, part, "$.") for name, part in value.items() if _is_plain(part)]:
            yield {**_named(key), "subField": parts}
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        kept = {name: part for name, part in value[0].items() if type(part) in _TYPES}
        if parts := [_part(data, key, name, part, "$[*].") for name, part in kept.items()]:
            yield {**_named(key), "repeated": True, "subField": parts}


def _is_plain(value: Any) -> bool:
    return type(value) in _TYPES or (isinstance(value, list) and bool(value) and type(value[0]) in _TYPES)


def _named(name: str) -> dict[str, Any]:
    return {"@type": "cr:Field", "@id": f"records/{name}", "name": f"records/{name}"}


def _field(data: str, name: str, column: str, value: Any) -> dict[str, Any]:
    source = {"fileObject": {"@id": data}, "extract": {"column": column}}
    return {**_named(name), "dataType": _TYPES[type(value)], "source": source}


def _part(data: str, key: str, name: str, value: Any, path: str) -> dict[str, Any]:
    several = isinstance(value, list)
    field = _field(data, f"{key}/{name}", key, value[0] if several else value)
    field["source"]["transform"] = {"jsonPath": f"{path}{name}"}
    return field | ({"repeated": True} if several else {})


def _readme(
    name: str, manifest: Mapping[str, Any], data: str, records: int, has_sources: bool, reviewed: Mapping[str, str] | None
) -> str:
    licence = str(manifest["licence"])
    word = "-".join(licence.lower().split())
    front = {
        **({"license": word} if word in LICENCES else {"license": "other", "license_name": licence}),
        "size_categories": [next((word for limit, word in SIZES if records < limit), "n>10M")],
        "configs": [{"config_name": "default", "data_files": [{"split": "test", "path": data}]}],
    }
    writer = _writer(manifest)
    facts = {
        "records": str(records),
        "recipe": f"{manifest['recipe']} {manifest['version']} of sociable {manifest['packages']['sociable']}",
        "for": f"`{manifest['use'].format(data=data)}`",
        "written by": f"{writer['model']}, temperature {writer['sampling']['temperature']}" if writer else "no model was asked",
        "begun": manifest["created"],
        "digests": ", ".join(f"{key} {value[:12]}" for key, value in manifest["digests"].items()),
        "licence": licence,
        **manifest.get("facts", {}),
        **(reviewed or {}),
    }
    stages = manifest["stages"]
    rows = [
        [each["name"], each["meaning"], str(each["came"]), str(sum(each["rejected"].values())), str(each["made"])]
        for each in stages
    ]
    parts = [
        "---",
        # JSON is YAML.
        *(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in front.items()),
        "---",
        f"# Data card: {name}",
        "",
        *_table(["", ""], list(map(list, facts.items()))),
        *_section("What came in and what is left", ["stage", "keeps or makes", "came in", "rejected", "handed on"], rows),
        *_section("Why items were rejected", ["stage", "reason", "items"], _by_reason(stages, "rejected")),
        *_section("What was left out of items", ["stage", "reason", "parts"], _by_reason(stages, "left_out")),
        *(["## Sources", "", f"`{SOURCES}` says of each record where it is from.", ""] if has_sources else []),
        "## Before it is used",
        "",
        *([] if reviewed else ["Nobody has read it yet, it has been checked by rules only: `sociable review` of this folder."]),
        *(["Models related to the one that wrote it may find it easier."] if writer else []),
        *([f"Whether a shortcut solves it is said by `{manifest['audit'].format(data=data)}`."] if manifest["audit"] else []),
    ]
    return "\n".join(parts) + "\n"


def _by_reason(stages: Sequence[Mapping[str, Any]], counted: str) -> list[list[str]]:
    return [[each["name"], reason, str(count)] for each in stages for reason, count in each[counted].items()]


def _section(title: str, heading: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"## {title}", "", *_table(heading, rows)] if rows else []


def _table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = (f"| {' | '.join(map(_cell, row))} |" for row in rows)
    return [f"| {' | '.join(heading)} |", "|" + "---|" * len(heading), *lines, ""]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
