"""Real plays as they are, and printed again in other layouts, against what is known of who says what."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from sociable.datasets.plays import read_play

DATA = Path(__file__).resolve().parents[4] / "shared" / "data" / "plays_public_domain"
needs_plays = pytest.mark.skipif(not DATA.is_dir(), reason="needs plays in ../shared/data/plays_public_domain")

TARGET = 0.98
FITTED = ("earnest", "pygmalion", "arms", "doll", "romeo")
HELD_BACK = ("ideal", "tempest", "robots")
LAYOUTS = ("colons", "framed_and_shortened", "names_alone", "fountain", "final_draft", "typed_screenplay")
HELD_BACK_LAYOUTS = ("hanging", "centred", "paged_screenplay", "bare_fountain")
# Every layout on one play or more; the whole table takes longer than a test may.
PAIRS = [
    *((play, LAYOUTS[at % len(LAYOUTS)]) for at, play in enumerate(HELD_BACK + FITTED)),
    *((play, HELD_BACK_LAYOUTS[at % len(HELD_BACK_LAYOUTS)]) for at, play in enumerate(FITTED + HELD_BACK)),
]


def folder_of(real: SimpleNamespace, play: str) -> Path:
    folder: Path = real.data / {**real.plays, **real.held_back_plays}[play]
    return folder


@needs_plays
@pytest.mark.parametrize("play", FITTED + HELD_BACK)
def test_speeches_of_real_plays_have_their_speakers(real: SimpleNamespace, play: str) -> None:
    folder = folder_of(real, play)
    truth = real.truth_of(folder)
    for place in (folder, folder / "play.txt"):
        assert real.share_right(read_play(place), truth, real.people[play]) >= TARGET


@needs_plays
@pytest.mark.parametrize(("play", "layout"), PAIRS)
def test_speeches_keep_their_speakers_in_other_layouts(real: SimpleNamespace, tmp_path: Path, play: str, layout: str) -> None:
    folder = folder_of(real, play)
    truth = real.truth_of(folder)
    suffix, render = {**real.layouts, **real.held_back_layouts}[layout]
    printed = tmp_path / f"printed{suffix}"
    printed.write_text(render("A Play", truth, real.cast_of(folder)), encoding="utf-8")
    assert real.share_right(read_play(printed), truth, real.people[play]) >= TARGET
