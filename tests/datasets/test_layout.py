"""Data sets as the hub has them: read back they are the same, and their cards are read by others' libraries."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from sociable.api import datasets
from sociable.core.errors import InputError
from sociable.datasets.layout import write_layout
from sociable.engine.registry import find_benchmark


@pytest.mark.parametrize("benchmark", ["hsii", "anteval-hidden"])
def test_bundled_data_are_read_back_as_they_were(benchmark: str, tmp_path: Path) -> None:
    files = datasets.lay_out(benchmark, tmp_path / "out")
    assert [file.name for file in files] == ["dataset.jsonl", "croissant.json", "README.md", "LICENSE"]
    found = find_benchmark(benchmark)
    digest = found.open().digests["dataset"]
    assert found.open(dataset=files[0]).digests["dataset"] == digest
    readme = files[2].read_text(encoding="utf-8")
    _, front, text = readme.split("---\n", 2)
    # JSON is YAML: what the hub reads is a mapping.
    fields = {line.partition(": ")[0]: json.loads(line.partition(": ")[2]) for line in front.splitlines()}
    assert fields["license"] == "cc-by-4.0"
    assert fields["configs"][0]["data_files"] == [{"split": "test", "path": "dataset.jsonl"}]
    assert text.startswith("# ") and "](../" not in text
    assert digest in text


def test_records_without_ids_get_those_that_their_file_gives_them(tmp_path: Path) -> None:
    bundled = find_benchmark("agentsense-duels").open().origin
    assert bundled is not None
    records = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(bundled.glob("*.json"))[:3]]
    mine = tmp_path / "mine.jsonl"
    mine.write_text("".join(json.dumps({key: each[key] for key in each if key != "id"}) + "\n" for each in records))
    datasets.lay_out("agentsense-duels", tmp_path / "out", mine, licence="MIT")
    ids = [json.loads(line)["id"] for line in (tmp_path / "out" / "dataset.jsonl").read_text().splitlines()]
    assert ids == ["mine-1", "mine-2", "mine-3"]
    assert json.loads((tmp_path / "out" / "croissant.json").read_text())["license"] == "MIT"
    assert not (tmp_path / "out" / "LICENSE").exists()


def test_a_benchmark_without_a_file_of_records_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="imported has no data of its own"):
        datasets.lay_out("imported", tmp_path / "out")
    found = find_benchmark("hsii-memory")
    study = found.open()
    study.origin = None
    with pytest.raises(InputError, match="The data of hsii-memory are no file of records that --dataset could read back"):
        write_layout(found, study, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_without_the_extra_a_name_on_the_hub_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(InputError, match=r"A data set on the hub \(hf://…\) needs an extra: pip install 'sociable\[hub\]'"):
        datasets.lay_out("hsii", tmp_path / "out", "hf://someone/something")


@pytest.mark.extra
def test_the_card_is_read_by_its_own_library_and_parquet_holds_all_records(tmp_path: Path) -> None:
    croissant = pytest.importorskip("mlcroissant", reason="needs the extra sociable[hub]")
    parquet = pytest.importorskip("pyarrow.parquet")
    *_, table = datasets.lay_out("stss", tmp_path, parquet=True)
    dataset = croissant.Dataset(str(tmp_path / "croissant.json"))
    assert not dataset.metadata.ctx.issues.errors
    records = [json.loads(line) for line in (tmp_path / "dataset.jsonl").read_text(encoding="utf-8").splitlines()]
    found = list(dataset.records("records"))
    assert len(found) == len(records) == parquet.read_table(table).num_rows
    # A field that only some records have is described as well.
    texts = {key for record in records for key, value in record.items() if isinstance(value, str)}
    assert not texts <= records[0].keys()
    for record, read in zip(records, found, strict=True):
        assert {key: read[f"records/{key}"].decode() for key in texts & record.keys()} == {
            key: record[key] for key in texts & record.keys()
        }
