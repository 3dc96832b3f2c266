"""Several runs of one command: pairs of models, and scenes with and without a person."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from pydantic import Field

from sociable.core.errors import InputError
from sociable.core.form import PERSON
from sociable.core.records import Record
from sociable.engine.settings import RunSettings, name_pair, strip_endpoint

WITH_PERSON, WITHOUT_PERSON = "with-person", "without-person"

SettingsFor = Callable[..., RunSettings]
"""Takes what is particular to one run of the series (``model``, ``partner``); returns the run's settings.

``elsewhere`` are the models of all runs.
"""


class SeriesOptions(Record):
    """The options that make several runs of one command."""

    sender: tuple[str, ...] = Field(
        default=(), description="the model that plays all senders; repeat, with --receiver, for all pairs"
    )
    receiver: tuple[str, ...] = Field(default=(), description="the model that plays all receivers; repeatable")
    human: str | None = Field(
        default=None, description="a person plays this character of each scene, or a random one; a second run is without a person"
    )

    def plan(self, make_settings: SettingsFor) -> tuple[dict[str, RunSettings], str]:
        """(the runs by folder name, the name of the whole). Raises InputError."""
        if self.sender or self.receiver:
            if self.human:
                raise InputError("--sender and --receiver say who plays whom: leave --model, --partner and --human out.")
            return _plan_pairs(self, make_settings), "pairs"
        settings = make_settings()
        if settings.partner:
            raise InputError("With --human the person is the partner: leave --partner out.")
        # The same character in both, so that the same scenes are left out for want of it.
        own = settings.options | {"character": self.human or "random"}
        runs = {
            WITH_PERSON: settings.model_copy(update={"partner": PERSON, "options": own | {"plays": "others"}}),
            WITHOUT_PERSON: settings.model_copy(update={"options": own | {"plays": "all"}}),
        }
        return runs, f"{settings.model}-human"


def _plan_pairs(options: SeriesOptions, make_settings: SettingsFor) -> dict[str, RunSettings]:
    """One run for every sender with every receiver: the first plays all senders of a scene, the second all receivers."""
    for role, models in (("sender", options.sender), ("receiver", options.receiver)):
        if not models:
            raise InputError(f"Pairs need both --sender and --receiver; there is no {role}.")
        if len({strip_endpoint(model) for model in models}) < len(models):
            raise InputError(f"A {role} is named twice.")
    runs: dict[str, RunSettings] = {}
    for sender, receiver in product(options.sender, options.receiver):
        asked = make_settings(model=sender, partner=receiver, elsewhere=[*options.sender, *options.receiver])
        runs[name_pair(sender, receiver, runs)] = asked.model_copy(update={"options": asked.options | {"plays": "senders"}})
    return runs
