"""Scripts to AgentSense's scenarios (section 3.2, Figure 3, Appendix A): scenes, goals, secrets, templates, casts.

Which of the paper's prompts each of ours follows stands in prompts/README.md.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from pydantic import Field

from sociable.benchmarks.agentsense.briefing import load_agentsense_prompts
from sociable.benchmarks.agentsense.dataset import load_scenarios
from sociable.datasets.recipe import Recipe, RecipeOptions
from sociable.datasets.recipes.agentsense.casting import (
    CASTS,
    MOST_LIKE,
    Scenario,
    find_casts,
    make_slots,
    predict_script,
    replace_entities,
    write_scenarios,
)
from sociable.datasets.recipes.agentsense.draft import Draft, Passage
from sociable.datasets.recipes.agentsense.passages import read_passages
from sociable.datasets.recipes.agentsense.scenes import filter_goals, find_goals, find_secrets, rewrite, set_scene
from sociable.datasets.review.records import AGENTSENSE_TAGS
from sociable.datasets.stages import AskingStage, EachStage, Stage, Writer


class ScriptsOptions(RecipeOptions):
    seed: int = Field(0, description="The seed of all draws.")
    keep_recognised: bool = Field(False, description="Scenes too whose script the model that writes can name; they are counted.")


def _stages(_passages: Sequence[Passage], options: ScriptsOptions) -> Sequence[Stage[Any, Any]]:
    def make_stage(name: str, meaning: str, work: Callable[[Draft, Writer], Awaitable[Sequence[Draft]]]) -> Stage[Any, Any]:
        return AskingStage(name, meaning, Draft, work)

    unrecognised = (
        "all scenes, with a count of those whose script the model that writes can name"
        if options.keep_recognised
        else "scenes of which the model that writes cannot say from which script they are"
    )
    like = f"a scenario for each cast; scenes with a Gestalt ratio over {MOST_LIKE} to their script fall out"
    return (
        AskingStage("backgrounds", "a background and a description with which a passage can be played", Draft, set_scene),
        make_stage("goals", "what each character wants of the others", find_goals),
        make_stage("rewritten", "the scene as a situation of its own", rewrite),
        make_stage("filtered", "goals that can be reached in the scene, and seen to be", filter_goals),
        make_stage("secrets", "what one knows and the others can only infer, with questions and wrong answers", find_secrets),
        make_stage("entities", "without the names by which the story could be known", replace_entities),
        make_stage("slots", "a template: parts in place of people", make_slots),
        # Before casts are paid for.
        make_stage("unrecognised", unrecognised, partial(predict_script, options.keep_recognised)),
        make_stage("casts", f"{CASTS} casts that fit the parts", find_casts),
        EachStage("scenarios", like, Scenario, partial(write_scenarios, options.seed)),
    )


RECIPE: Recipe[Passage, ScriptsOptions, Scenario] = Recipe(
    name="agentsense",
    purpose="Scenarios for AgentSense out of plays and screenplays.",
    material="scripts",
    version="1.0.0",
    benchmark="agentsense",
    load=load_scenarios,
    sources="a play (.txt, .fountain, .fdx), a folder of Standard Ebooks' .xhtml, or a folder of plays",
    read_as="scripts",
    options=ScriptsOptions,
    read=lambda sources, _options: read_passages(*sources),
    prompts="sociable.datasets.recipes.agentsense",
    stages=_stages,
    record=lambda scenario: scenario.record,
    credit=lambda scenario: str(scenario.record["source"]),
    more_digests=lambda: {"prediction": load_agentsense_prompts().digest},
    tags=AGENTSENSE_TAGS,
)
