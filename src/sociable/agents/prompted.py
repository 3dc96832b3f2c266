"""A participant that is a model with a briefing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from sociable.core.form import Form
from sociable.core.prompts import defuse
from sociable.core.records import Turn
from sociable.dialogue.conversation import Utterance
from sociable.models.protocol import ChatMessage, Model, Request, Sampling, Scope


class PromptedParticipant:
    """Sees its briefing, then the turns as a chat: its own as the assistant's, everybody else's as the user's.

    What was said holds no control words of chat templates any more, so that no turn can end its message.
    """

    def __init__(
        self,
        name: str,
        model: Model,
        briefing: Sequence[ChatMessage],
        *,
        scope: Scope,
        sampling: Sampling,
        form: Callable[[Sequence[Turn]], Form] | None = None,
        heard: Callable[[Turn], str] = lambda turn: turn.content,
        told: Callable[[Sequence[Turn]], str] = lambda seen: "",
    ) -> None:
        """``form`` makes the form that a person in the model's place is shown, ``heard`` the text of another's turn.

        ``told`` gives what it alone is told for its turn after those it has seen; the empty string is nothing.
        """
        self.name = name
        self._model = model
        self._briefing = list(briefing)
        self.scope = scope
        self._sampling = sampling
        self._form = form
        self._heard = heard
        self._told = told

    async def take_turn(self, seen: Sequence[Turn]) -> Utterance:
        form = partial(self._form, seen) if self._form else None
        messages = self.make_messages(seen)
        if told := self._told(seen):
            messages.append({"role": "user", "content": told})
        reply = await self._model.generate(Request(messages, self.scope, self._sampling, form=form))
        return Utterance(reply.text.strip(), reply.thinking, reply.defect)

    def make_messages(self, seen: Sequence[Turn]) -> list[ChatMessage]:
        """Returns its prompt in a new list: the briefing and the turns, without those in which nobody said anything."""
        return self._briefing + [self._as_message(turn) for turn in seen if turn.content.strip()]

    def _as_message(self, turn: Turn) -> ChatMessage:
        if turn.speaker == self.name:
            return {"role": "assistant", "content": defuse(turn.content)}
        return {"role": "user", "content": defuse(self._heard(turn))}
