"""Intention expression bound to its scenes, characters, real sessions, prompts and options."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from sociable.benchmarks.anteval.characters import load_sheets
from sociable.benchmarks.anteval.ieg.briefing import ieg_prompts
from sociable.benchmarks.anteval.ieg.experiment import run_experiment
from sociable.benchmarks.anteval.ieg.intentions import Marginals, marginals_of
from sociable.benchmarks.anteval.ieg.logs import Log
from sociable.benchmarks.anteval.ieg.masters.kinds import master_kind
from sociable.benchmarks.anteval.ieg.metrics import CONDUCT, estimate_conduct, estimate_experiment, score_session
from sociable.benchmarks.anteval.ieg.protocol import run_session
from sociable.benchmarks.anteval.ieg.real import RealSessions, read_real_sessions
from sociable.benchmarks.anteval.ieg.records import PAPER_SESSIONS, STAND_IN, IegEpisode, IegOptions
from sociable.benchmarks.anteval.ieg.results import Results
from sociable.benchmarks.anteval.ieg.scenario import IegScenario, drawn_scenarios, log_of, scenes
from sociable.benchmarks.anteval.ieg.stand_in import EVEN, stand_in_sessions
from sociable.benchmarks.anteval.ieg.windows import windows_of
from sociable.core.errors import InputError
from sociable.core.records import EpisodeStatus, Estimate, Score
from sociable.core.run_folder import write_atomically
from sociable.core.seeding import make_generator
from sociable.engine.benchmark import Begin, Study, StudyOptions, checked_options
from sociable.engine.seats import Role, Seats

MASTERS = "masters"
"""The folder of a run that holds its virtual DMs and what came of them."""
FEW_SESSIONS = 40
"""Real sessions below which a virtual DM learns little (measured on CRD3)."""
FEW_HELD_OUT = 5

_SENTENCE = "I go up to the door and put my ear to it, to hear whether anybody is behind it. "


class IegStudy(Study):
    episode_type = IegEpisode
    metrics = CONDUCT
    tested_options = frozenset({"masters", "resamples", "curve"})
    low_metric = ""

    def __init__(self, options: StudyOptions) -> None:
        own = checked_options(IegOptions, options.values, "anteval-ieg")
        if options.stages is not None:
            raise InputError("anteval-ieg has no stages; leave --stages out.")
        if options.dataset is not None:
            raise InputError("anteval-ieg has no --dataset: real sessions are named with --option real=PATH.")
        self.options = own
        self.seed = options.seed
        self.kind = master_kind(own.master, own.master_model, own.embeddings)
        self.prompts = ieg_prompts(options.prompts)
        sheets = load_sheets(Path(own.sheets) if own.sheets else None)
        if len(sheets.items) <= own.players:
            few = f"{len(sheets.items)} characters are too few for {own.players} players and one to spare"
            raise InputError(f"{sheets.source}: {few}.")
        if own.real is None:
            raise InputError(
                "anteval-ieg needs sessions of real players: --option real=FOLDER of CRD3's cleaned transcripts, a file of "
                f"FIREBALL's events, or your own logs as JSON Lines. To try it out without: --option real={STAND_IN}."
            )
        if own.real == STAND_IN:
            self.real = RealSessions(stand_in_sessions(own.turns, own.players, own.quiet), STAND_IN, {}, STAND_IN)
        else:
            self.real = read_real_sessions(Path(own.real))
        self.source = self.real.source
        self.data = f"real sessions: {len(self.real.logs)} of {self.source}"
        called = [log for log in self.real.logs if any(window.checks for window in windows_of([log], own.window))]
        if len(called) < 2:
            raise InputError(
                f"{own.real}: a call for a check that follows something said is in {len(called)} of its {len(self.real.logs)} "
                "sessions. At least two are needed: what a virtual DM is tested on must be held out from what it learns."
            )
        self.training, self.held_out = split(called, own.held_out, options.seed)
        drawn = drawn_scenarios(sheets.items, self._sessions, own.players, self.marginals, own.quiet, options.seed)
        self.scenarios: Mapping[str, IegScenario] = {each.id: each for each in drawn[: options.limit]}
        scene_digest = hashlib.sha256("\n".join(each.model_dump_json() for each in scenes()).encode()).hexdigest()
        self.digests = {
            "scenes": scene_digest,
            "characters": sheets.digest,
            "real sessions": self.real.digest,
            "prompts": self.prompts.digest,
        }
        if own.masters and not (Path(own.masters) / MASTERS).is_dir():
            raise InputError(f"masters = {own.masters}: no run of anteval-ieg with virtual DMs in it.")
        named = {"real": own.real, "sheets": own.sheets, "masters": own.masters}
        paths = {name: str(Path(path).resolve()) for name, path in named.items() if path and path != STAND_IN}
        # A model here is a folder, or a name that others know.
        models = {"embeddings": own.embeddings, "master_model": own.master_model if own.master == "lora" else None}
        paths |= {name: str(Path(model).resolve()) for name, model in models.items() if model and Path(model).is_dir()}
        self.resolved = {"options": {**options.values, **paths}}
        self.notes = list(self._notes())

    @property
    def _sessions(self) -> int:
        """As many as asked for; or as there are windows to learn from in the real sessions, at most the authors' number."""
        windows = sum(bool(window.checks) for window in windows_of(self.training, self.options.window))
        return self.options.sessions or min(PAPER_SESSIONS, round(windows * (1 + self.options.quiet)))

    @cached_property
    def marginals(self) -> Marginals:
        """What intentions are drawn from: of the real training windows only."""
        if self.real.source == STAND_IN:
            return EVEN
        return marginals_of(windows_of(self.training, self.options.window))

    def _notes(self) -> Iterator[str]:
        real, width = self.real, self.options.window
        if real.source == STAND_IN:
            yield (
                "The real sessions are stand-ins: reference players, out of lines that the agents under test do not use. "
                "G says nothing here about real people."
            )
            return
        calls = [len(windows_of(logs, width)) for logs in (self.training, self.held_out)]
        dropped = [(reason.removeprefix("dropped: "), count) for reason, count in real.counts.items() if "dropped" in reason]
        lost = f" Calls dropped: {', '.join(f'{count} ({reason})' for reason, count in dropped)}." if dropped else ""
        none = len(real.logs) - len(self.training) - len(self.held_out)
        without = f" {none} without a call are left out." if none else ""
        yield (
            f"Real sessions: {len(real.logs)} of {real.source}, {len(self.training)} for training ({calls[0]} calls for checks), "
            f"{len(self.held_out)} held out ({calls[1]}).{without}{lost}{self._unheard()}"
        )
        if real.source == "CRD3":
            yield (
                "The paper's real sessions are not public; these are transcripts of a show (CRD3), with labels found by rule: "
                "G is not comparable with the paper's."
            )
        few = [f"{len(self.training)} to learn from" if len(self.training) < FEW_SESSIONS else ""]
        few += [f"{len(self.held_out)} held out" if len(self.held_out) < FEW_HELD_OUT else ""]
        if any(few):
            yield (
                f"Few real sessions: {' and '.join(filter(None, few))}. Below some {FEW_SESSIONS} episodes the DM tuned on them "
                f"may be no better than the untuned one; with fewer than {FEW_HELD_OUT} held out intervals are too narrow."
            )

    def _unheard(self) -> str:
        """How often nobody could know who is meant."""
        windows = windows_of([*self.training, *self.held_out], self.options.window)
        count = sum(any(who not in window.players for who, _ in window.checks) for window in windows)
        return f" {count} are for somebody who says nothing in the {self.options.window} turns before." if count else ""

    def check_seats(self, roles: Iterable[Role], *, judges: int, references: bool) -> None:
        if Role.REFERENCE in set(roles) or references:
            raise InputError("anteval-ieg compares with no reference: leave --reference and --reference-file out.")
        if judges:
            raise InputError("anteval-ieg has nothing to judge: virtual DMs learn from the sessions. Leave --judge out.")
        self.kind.check()

    async def run_episode(self, scenario: str, repeat: int, seats: Seats) -> IegEpisode:
        # Reference players leave every second line to the stand-ins.
        half = 0 if self.real.source == STAND_IN else None
        drawn = self.scenarios[scenario]
        return await run_session(drawn, repeat, seats, self.prompts, self.options, seed=self.seed, half=half)

    def cluster_of(self, scenario: str) -> str:
        return scenario

    def score(self, episode: IegEpisode, judgments: Sequence[object], panel: Sequence[str]) -> list[Score]:
        drawn = self.scenarios[episode.scenario]
        return score_session(drawn.scene.npc.name, drawn.intentions, episode)

    def estimate(self, scores: Sequence[Score]) -> list[Estimate]:
        return estimate_conduct(scores)

    def conclude(self, episodes: Iterable[IegEpisode], folder: Path, begin: Begin) -> list[Estimate]:
        """Trains the virtual DMs, unless that was done on the very same sessions."""
        by_scenario: dict[str, list[Log]] = {}
        for episode in episodes:
            if episode.status is EpisodeStatus.COMPLETED and not episode.npc_failure:
                by_scenario.setdefault(episode.scenario, []).append(log_of(self.scenarios[episode.scenario], episode))
        generated, own = list(by_scenario.values()), self.options
        made_of = [[[log.model_dump(mode="json") for log in logs] for logs in generated], self.digests, own.model_dump()]
        of = hashlib.sha256(json.dumps([made_of, self.kind.recipe]).encode()).hexdigest()
        kept = read_results(folder)
        if kept is not None and kept[0] == of:
            return estimate_experiment(kept[1])
        results = run_experiment(
            generated,
            self.training,
            self.held_out,
            self.kind,
            width=own.window,
            quiet=own.quiet,
            resamples=own.resamples,
            curve=own.curve,
            seed=self.seed,
            keep=folder / MASTERS,
            take=Path(own.masters) / MASTERS if own.masters else None,
            begun=lambda steps: begin("virtual DMs", steps).count,
        )
        (folder / MASTERS).mkdir(exist_ok=True)
        found = {"of": of, "results": results.model_dump(mode="json") if results else None}
        write_atomically(folder / MASTERS / "results.json", json.dumps(found, indent=1) + "\n")
        return estimate_experiment(results)

    def rehearse(self, scenario: str, role: Role, participant: str, call: int, asked: str) -> str:
        """Everybody acts and speaks in each turn."""
        return f"*{_SENTENCE.strip()}* {_SENTENCE * 2}"


def split(logs: Sequence[Log], held_out: float, seed: int) -> tuple[list[Log], list[Log]]:
    """(for training, held out), by session, at least one of each."""
    count = min(max(round(held_out * len(logs)), 1), len(logs) - 1)
    tested = set(make_generator(seed, "held out").sample([log.id for log in logs], count))
    return [log for log in logs if log.id not in tested], [log for log in logs if log.id in tested]


def read_results(folder: Path) -> tuple[str, Results | None] | None:
    """(what they were found on, the results) of a run; None where there are none that can be read."""
    path = folder / MASTERS / "results.json"
    if not path.is_file():
        return None
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        return str(raw["of"]), Results.model_validate(raw["results"]) if raw["results"] else None
    except (OSError, ValueError, KeyError, TypeError):
        # Whatever it was, it can be found again.
        return None
