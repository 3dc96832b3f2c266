"""A virtual dungeon master that is a causal language model, tuned with LoRA (extra ``train``: torch, transformers, peft).

The base is any local or hub model. Only the adapter is trained and kept; without it the base gives f_0.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from sociable.benchmarks.anteval.ieg.masters.interface import Master, MasterKind, Predictions, read_made_of
from sociable.benchmarks.anteval.ieg.masters.wording import INSTRUCTION, parse_checks, render_checks, render_window
from sociable.benchmarks.anteval.ieg.windows import Window
from sociable.core.errors import InputError
from sociable.core.seeding import make_generator

EPOCHS = 3
BATCH = 4
LEARNING_RATE = 2e-4
RANK = 8
LONGEST = 1024
"""Tokens of a window that are read, the last ones, or as many as the base takes."""
LONGEST_ANSWER = 48
_ANSWER = "\nAnswer:\n"


class LoraMaster(Master):
    def __init__(self, model: Any, tokenizer: Any, made_of: dict[str, Any]) -> None:
        super().__init__(made_of)
        self._model = model
        self._tokenizer = tokenizer

    def predict(self, windows: Sequence[Window]) -> Predictions:
        import torch

        self._model.eval()
        found: Predictions = []
        with torch.no_grad():
            for window in windows:
                ids = torch.tensor([_tokenize_question(window, self._tokenizer, self._model)], device=self._model.device)
                out = self._model.generate(
                    input_ids=ids,
                    attention_mask=torch.ones_like(ids),
                    do_sample=False,
                    max_new_tokens=LONGEST_ANSWER,
                    pad_token_id=_find_padding(self._tokenizer),
                )
                text = self._tokenizer.decode(out[0, ids.shape[1] :], skip_special_tokens=True)
                found.append(parse_checks(text, window))
        return found

    def save_parts(self, folder: Path) -> dict[str, Any]:
        tuned = hasattr(self._model, "peft_config")
        if tuned:
            self._model.save_pretrained(folder)
        return {"adapter": tuned}


class LoraKind(MasterKind):
    name = "lora"
    quick = False
    on_gpu = True

    def __init__(self, base: str) -> None:
        self.base = base

    def check(self) -> None:
        try:
            import peft  # noqa: F401
            import torch  # noqa: F401
            import transformers  # noqa: F401
        except ImportError as error:
            raise InputError(f"master = lora needs {error.name}: pip install 'sociable[train]'.") from None
        try:
            self._tokenizer  # noqa: B018
        except (OSError, ValueError) as error:
            raise InputError(
                f"master_model = {self.base}: no model could be read there ({str(error).splitlines()[0]})."
            ) from None

    @cached_property
    def _tokenizer(self) -> Any:
        import transformers

        return transformers.AutoTokenizer.from_pretrained(self.base)

    @property
    def recipe(self) -> str:
        return f"{super().recipe}\n{(EPOCHS, BATCH, LEARNING_RATE, RANK, LONGEST, LONGEST_ANSWER)}\n{INSTRUCTION}{_ANSWER}"

    def _load_base(self) -> Any:
        import torch
        import transformers

        device = "cuda" if torch.cuda.is_available() else "cpu"
        return transformers.AutoModelForCausalLM.from_pretrained(self.base).to(device)

    def make_untrained(self, folder: Path | None = None) -> LoraMaster:
        return LoraMaster(self._load_base(), self._tokenizer, self.describe(windows=0))

    def train(self, windows: Sequence[Window], seed: int, purpose: str, folder: Path | None = None) -> LoraMaster:
        import peft
        import torch

        torch.manual_seed(seed)
        config = peft.LoraConfig(r=RANK, lora_alpha=2 * RANK, target_modules="all-linear", task_type="CAUSAL_LM")
        model: Any = peft.get_peft_model(self._load_base(), config)
        examples = [self._tokenize(window, model) for window in windows]
        optimizer = torch.optim.AdamW((each for each in model.parameters() if each.requires_grad), lr=LEARNING_RATE)
        model.train()
        for batch in _draw_batches(examples, make_generator(seed, "batches", purpose)):
            longest = max(len(ids) for ids, _ in batch)
            padding = _find_padding(self._tokenizer)
            ids = torch.tensor([ids + [padding] * (longest - len(ids)) for ids, _ in batch], device=model.device)
            seen = torch.tensor([[1] * len(ids) + [0] * (longest - len(ids)) for ids, _ in batch], device=model.device)
            # Only the answer is learned.
            labels = torch.tensor(
                [[-100] * at + ids[at:] + [-100] * (longest - len(ids)) for ids, at in batch], device=model.device
            )
            loss = model(input_ids=ids, attention_mask=seen, labels=labels).loss
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        return LoraMaster(model, self._tokenizer, self.describe(purpose=purpose, seed=seed, windows=len(windows)))

    def _tokenize(self, window: Window, model: Any) -> tuple[list[int], int]:
        """(the tokens of question and answer, where the answer begins)."""
        question = _tokenize_question(window, self._tokenizer, model)
        end = self._tokenizer.eos_token_id
        told = self._tokenizer(render_checks(window), add_special_tokens=False)["input_ids"][:LONGEST_ANSWER]
        return [*question, *told, *([end] if end is not None else [])], len(question)

    def load(self, folder: Path) -> LoraMaster:
        import peft

        made_of = read_made_of(folder)
        model = self._load_base()
        if made_of.pop("adapter", False):
            model = peft.PeftModel.from_pretrained(model, str(folder))
        return LoraMaster(model, self._tokenizer, made_of)


def _draw_batches(examples: Sequence[tuple[list[int], int]], generator: random.Random) -> list[list[tuple[list[int], int]]]:
    found = []
    for _ in range(EPOCHS):
        order = generator.sample(range(len(examples)), len(examples))
        found += [[examples[place] for place in order[first : first + BATCH]] for first in range(0, len(order), BATCH)]
    return found


def _tokenize_question(window: Window, tokenizer: Any, model: Any) -> list[int]:
    """Instruction and window; of a long window the last turns."""
    most = min(LONGEST, int(getattr(model.config, "max_position_embeddings", None) or LONGEST)) - LONGEST_ANSWER - 1
    head = tokenizer(f"{INSTRUCTION}\n")["input_ids"]
    body = tokenizer(f"{render_window(window)}{_ANSWER}", add_special_tokens=False)["input_ids"]
    if len(head) > most // 2:
        head = head[: most // 2]
    return [*head, *body[-(most - len(head)) :]]


def _find_padding(tokenizer: Any) -> int:
    return next((int(each) for each in (tokenizer.pad_token_id, tokenizer.eos_token_id) if each is not None), 0)
