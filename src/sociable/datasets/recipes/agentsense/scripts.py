"""Scripts to AgentSense's scenarios (section 3.2, Figure 3, Appendix A): scenes, goals, secrets, templates, casts.

Which of the paper's prompts each of ours follows stands in prompts/README.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from pydantic import Field

from sociable.benchmarks.agentsense.briefing import load_agentsense_prompts
from sociable.benchmarks.agentsense.dataset import load_scenarios
from sociable.datasets.recipe import Recipe, RecipeOptions
from sociable.datasets.recipes.agentsense.casting import (
    CASTS,
    MOST_LIKE,
    find_casts,
    make_slots,
    predict_script,
    replace_entities,
    write_scenarios,
)
from sociable.datasets.recipes.agentsense.draft import Draft, Passage
from sociable.datasets.recipes.agentsense.scenes import filter_goals, find_goals, find_secrets, rewrite, set_scene
from sociable.datasets.review.records import AGENTSENSE_TAGS
from sociable.datasets.stages import AnyStage, AskingStage, EachStage, MadeRecord


class ScriptsOptions(RecipeOptions):
    seed: int = Field(0, description="The seed of all draws.")
    keep_recognised: bool = Field(False, description="Scenes too whose script the model that writes can name; they are counted.")


def _read_passages(sources: Sequence[Path], _options: ScriptsOptions) -> Sequence[Passage]:
    # Nothing else reads plays, so nothing else loads what reads them.
    from sociable.datasets.recipes.agentsense.passages import read_passages

    return read_passages(*sources)


def _plan_stages(_passages: Sequence[Passage], options: ScriptsOptions) -> Sequence[AnyStage]:
    unrecognised = (
        "all scenes, with a count of those whose script the model that writes can name"
        if options.keep_recognised
        else "scenes of which the model that writes cannot say from which script they are"
    )
    secrets = "what one knows and the others can only infer, with questions and wrong answers"
    like = f"a scenario for each cast; scenes with a Gestalt ratio over {MOST_LIKE} to their script fall out"
    return (
        AskingStage("backgrounds", "a background and a description with which a passage can be played", Draft, set_scene),
        AskingStage("goals", "what each character wants of the others", Draft, find_goals),
        AskingStage("rewritten", "the scene as a situation of its own", Draft, rewrite),
        AskingStage("filtered", "goals that can be reached in the scene, and seen to be", Draft, filter_goals),
        AskingStage("secrets", secrets, Draft, find_secrets),
        AskingStage("entities", "without the names by which the story could be known", Draft, replace_entities),
        AskingStage("slots", "a template: parts in place of people", Draft, make_slots),
        # Before casts are paid for.
        AskingStage("unrecognised", unrecognised, Draft, partial(predict_script, options.keep_recognised)),
        AskingStage("casts", f"{CASTS} casts that fit the parts", Draft, find_casts),
        EachStage("scenarios", like, MadeRecord, partial(write_scenarios, options.seed)),
    )


RECIPE: Recipe[Passage, ScriptsOptions, MadeRecord] = Recipe(
    name="agentsense",
    purpose="Scenarios for AgentSense out of plays and screenplays.",
    material="scripts",
    version="1.0.0",
    benchmark="agentsense",
    load=load_scenarios,
    sources="a play (.txt, .fountain, .fdx), a folder of Standard Ebooks' .xhtml, or a folder of plays",
    read_as="scripts",
    options=ScriptsOptions,
    read=_read_passages,
    prompts="sociable.datasets.recipes.agentsense",
    stages=_plan_stages,
    credit=lambda scenario: str(scenario.record["source"]),
    more_digests=lambda: {"prediction": load_agentsense_prompts().digest},
    tags=AGENTSENSE_TAGS,
)
