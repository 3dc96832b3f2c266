from __future__ import annotations

import pytest

from sociable.core.records import Usage
from sociable.models.protocol import FinishReason, Reply, Request, Scope
from sociable.models.scripted import ScriptedModel


def asking(text: str = "one two three") -> Request:
    return Request([{"role": "user", "content": text}], Scope("episode", "subject"))


async def test_it_answers_in_order_and_records_what_it_was_asked() -> None:
    model = ScriptedModel(["a b", Reply("c", Usage(calls=1), FinishReason.LENGTH)], name="actor")
    first, second = asking(), asking("four")
    # Words stand for tokens.
    assert await model.generate(first) == Reply("a b", Usage(calls=1, input_tokens=3, output_tokens=2))
    assert (await model.generate(second)).finish is FinishReason.LENGTH
    assert model.requests == [first, second]
    assert model.name == "actor"


async def test_it_can_answer_what_it_is_asked() -> None:
    model = ScriptedModel(lambda request: request.messages[0]["content"].upper())
    assert (await model.generate(asking())).text == "ONE TWO THREE"


async def test_asked_more_than_its_script_foresees_it_raises() -> None:
    model = ScriptedModel(["only"])
    await model.generate(asking())
    with pytest.raises(AssertionError, match="call 2 to 'scripted': the script has no more replies"):
        await model.generate(asking())
    assert len(model.requests) == 2
