"""Versions of Inspect AI that cannot be used are told in a sentence."""

from __future__ import annotations

import importlib
from importlib import metadata

import pytest

from sociable.core.errors import InputError

pytestmark = pytest.mark.extra
pytest.importorskip("inspect_ai")

from sociable.models import inspect_internals  # noqa: E402 - where Inspect is there


def test_an_old_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "version", lambda _: "0.3.99")
    expected = r"Inspect AI 0\.3\.99 is installed: sociable needs 0\.3\.285 or newer\..*pip install 'inspect-ai==0\.3\.285'"
    with pytest.raises(InputError, match=expected):
        importlib.reload(inspect_internals)


def test_a_name_that_has_moved_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    import inspect_ai.log._recorders

    monkeypatch.delattr(inspect_ai.log._recorders, "create_recorder_for_location")
    with pytest.raises(InputError, match=r"newer than sociable knows .*create_recorder_for_location.*pip install"):
        importlib.reload(inspect_internals)
