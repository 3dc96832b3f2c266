"""Intention expression bound to its scenes, characters, real sessions, prompts and options."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from sociable.benchmarks.anteval.characters import load_party
from sociable.benchmarks.anteval.ieg.audit import audit_real_sessions
from sociable.benchmarks.anteval.ieg.experiment import run_experiment
from sociable.benchmarks.anteval.ieg.masters import find_master_kind
from sociable.benchmarks.anteval.ieg.metrics import METRICS, PlayedSession, estimate_experiment
from sociable.benchmarks.anteval.ieg.protocol import load_ieg_prompts, run_session
from sociable.benchmarks.anteval.ieg.real import load_real_sessions, split_sessions
from sociable.benchmarks.anteval.ieg.records import MASTERS_FOLDER, STAND_IN, IegEpisode, IegOptions
from sociable.benchmarks.anteval.ieg.results import Predictor, find_results
from sociable.benchmarks.anteval.ieg.scenario import IegScenario, draw_scenarios, load_scenes, make_logs
from sociable.benchmarks.anteval.players import cast_table
from sociable.core.errors import InputError
from sociable.core.records import Estimate, Score
from sociable.core.spreading import Spread, work_here
from sociable.core.view import Document
from sociable.engine.seats import Role, Seats
from sociable.engine.study import Audited, Begin, Concluded, Study, StudyOptions

_SENTENCE = "I go up to the door and put my ear to it, to hear whether anybody is behind it. "


class IegStudy(Study[IegScenario, IegEpisode], Concluded[IegEpisode], Audited):
    episode_type = IegEpisode
    metrics = METRICS
    tested_options = frozenset({"masters", "resamples", "curve"})
    unasked = {**Study.unasked, Role.JUDGE: "{benchmark} has nothing to judge, since virtual DMs learn from the sessions"}
    low_metric = ""
    main_metrics = (Predictor.GENERATED.name_f_metric("tuple"),)
    input_options = ("sheets", "real")

    def __init__(self, options: StudyOptions[IegOptions]) -> None:
        super().__init__(options)
        own = self.options = options.own
        if options.dataset is not None:
            raise InputError("anteval-ieg has no --dataset: real sessions are named with --real PATH.")
        self.kind = find_master_kind(own.master, own.master_model, own.embeddings)
        self.prompts = load_ieg_prompts(options.prompts)
        sheets = load_party(own.sheets, own.players)
        real = load_real_sessions(own)
        self.sessions = split_sessions(real, own, options.seed)
        self.source = real.source
        self.data = f"real sessions: {len(real.logs)} of {self.source}"
        count, marginals = self.sessions.sessions_to_play, self.sessions.marginals
        drawn = draw_scenarios(sheets.items, count, marginals, own, options.seed)
        self.scenarios = {each.id: each for each in drawn[: options.limit]}
        self.digests = {
            "scenes": hashlib.sha256("\n".join(each.model_dump_json() for each in load_scenes()).encode()).hexdigest(),
            "characters": sheets.digest,
            "real sessions": real.digest,
            "prompts": self.prompts.digest,
        }
        if own.masters_folder and not own.masters_folder.is_dir():
            raise InputError(f"masters = {own.masters}: no run of anteval-ieg with virtual DMs in it.")
        paths = options.make_absolute_paths("sheets", "masters", *([] if own.real == STAND_IN else ["real"]))
        # A model here is a folder, or a name that others know.
        models = options.make_absolute_paths("embeddings", *(["master_model"] if own.master == "lora" else []))
        self.resolved = options.resolve(**paths, **{name: path for name, path in models.items() if Path(path).is_dir()})
        self.notes = list(self.sessions.list_notes())

    def check_seats(self, benchmark: str, roles: Iterable[Role], *, judges: int, references: bool) -> None:
        super().check_seats(benchmark, roles, judges=judges, references=references)
        self.kind.check()

    def find_cast(self, scenario: str) -> Mapping[str, Role]:
        return cast_table(self.scenarios[scenario], self.filled)

    async def run_episode(self, scenario: str, repeat: int, seats: Seats) -> IegEpisode:
        # Reference players leave every second line to the stand-ins.
        half = 0 if self.source == STAND_IN else None
        drawn = self.scenarios[scenario]
        return await run_session(
            drawn, repeat, seats, self.prompts, seed=self.seed, half=half, table_talk=self.options.table_talk
        )

    def score(self, episode: IegEpisode, judgments: Sequence[object], panel: Sequence[str], measured: object) -> list[Score]:
        drawn = self.scenarios[episode.scenario]
        return METRICS.score(episode, PlayedSession(drawn.npc.name, drawn.intentions, episode), failure=episode.npc_failure)

    def conclude(self, episodes: Iterable[IegEpisode], folder: Path, begin: Begin, spread: Spread = work_here) -> list[Estimate]:
        """The estimates of the experiment. Trains the virtual DMs, unless that was done on the very same sessions."""
        generated, keep = make_logs(self.scenarios, episodes), folder / MASTERS_FOLDER
        logs = [[log.model_dump(mode="json") for log in logs] for logs in generated]
        made_of = [[logs, self.digests, self.options.model_dump()], self.kind.recipe]
        run = partial(run_experiment, generated, self.sessions, self.kind, self.seed, keep)
        results = find_results(folder, made_of, lambda: run(lambda steps: begin("virtual DMs", steps).count, spread))
        return estimate_experiment(results)

    def rehearse(self, scenario: str, role: Role, participant: str, call: int, asked: str) -> str:
        """Everybody acts and speaks in each turn."""
        return f"*{_SENTENCE.strip()}* {_SENTENCE * 2}"

    def audit(self) -> Document:
        return audit_real_sessions(self.sessions.real, self.options.window, self.kind.make_untrained(), self.notes)
