"""Scripts to AgentSense's scenarios (section 3.2, Figure 3, Appendix A): scenes, goals, secrets, templates, casts.

Which of the paper's prompts each of ours follows stands in prompts/README.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sociable.benchmarks.agentsense.briefing import agentsense_prompts
from sociable.core.prompts import Prompts, load_package_prompts
from sociable.datasets.build import Recipe, digest_of
from sociable.datasets.recipes.agentsense.casting import FindCasts, MakeSlots, PredictScripts, ReplaceEntities, WriteScenarios
from sociable.datasets.recipes.agentsense.draft import Passage
from sociable.datasets.recipes.agentsense.scenes import FilterGoals, FindGoals, FindSecrets, Rewrite, SetScenes

PLACEHOLDERS = {
    "background": frozenset({"before", "passage"}),
    "goals": frozenset({"scene", "passage", "name"}),
    "rewrite": frozenset({"scene", "goals"}),
    "filter": frozenset({"scene", "names", "name", "goal"}),
    "secret": frozenset({"scene", "goals", "passage"}),
    "options": frozenset({"scene", "goals", "question", "answer"}),
    "rephrase": frozenset({"scene", "goals", "question", "answer", "options"}),
    "entities": frozenset({"scene", "names"}),
    "slots": frozenset({"scene", "names"}),
    "casts": frozenset({"scene", "parts", "count", "first", "taken"}),
}


def construction_prompts(override: Path | None = None) -> Prompts:
    """The bundled prompts, or the user's own in their place."""
    return load_package_prompts("sociable.datasets.recipes.agentsense", PLACEHOLDERS, override)


def scripts_recipe(
    passages: Sequence[Passage], *, seed: int = 0, keep_recognised: bool = False, prompts: Path | None = None
) -> Recipe:
    """``keep_recognised``: scenes too whose script the model that writes can name; they are counted."""
    used = construction_prompts(prompts)
    asking = (FindGoals, Rewrite, FilterGoals, FindSecrets, ReplaceEntities, MakeSlots)
    return Recipe(
        name="scripts",
        version="1.0.0",
        benchmark="agentsense",
        use="sociable run agentsense --dataset {data}",
        audit="sociable audit agentsense --dataset {data}",
        stages=(
            SetScenes(used),
            *(stage(used) for stage in asking),
            # Before casts are paid for.
            PredictScripts(keep_recognised),
            FindCasts(used),
            WriteScenarios(seed),
        ),
        settings={"seed": seed, "keep_recognised": keep_recognised},
        digests={"scripts": digest_of(passages), "prompts": used.digest, "prediction": agentsense_prompts().digest},
        record=lambda scenario: scenario.record,
        source=lambda scenario: scenario.record["source"],
    )
