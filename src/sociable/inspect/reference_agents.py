"""Reference agents as models of Inspect's: ``--model reference/oracle``, ``--model-role judge=reference/rule``."""

from __future__ import annotations

from typing import NoReturn

from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, modelapi
from inspect_ai.tool import ToolChoice, ToolInfo


class ReferenceAgent(ModelAPI):
    """Stands for an agent without a model: our tasks play it by rule, and nothing is ever asked of it."""

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002 - Inspect's name for it
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> NoReturn:
        raise RuntimeError(f"reference/{self.model_name} is an agent without a model: only tasks of sociable can play it.")


@modelapi(name="reference")
def reference() -> type[ModelAPI]:
    """The provider of ``reference/AGENT``."""
    return ReferenceAgent
