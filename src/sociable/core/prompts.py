"""Prompts are text files, one each, with ``${name}`` placeholders.

Loading checks that the placeholders are exactly those the code fills, so that a user's own folder of prompts fails at
the door and not in the middle of a paid run. What comes from models, data files or people is put in with ``quote``,
which it can neither leave nor be mistaken for instructions of.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from string import Template

from sociable.core.errors import InputError

QUOTE_MARK = "| "
"""Begins every line of quoted material. The prompts say what it means."""

_LINE_BREAKS = re.compile("\r\n|[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")
# Control characters, and what Unicode calls default ignorable (without the variants of emoji): a reader does not see them,
# a model does, and the tag block at the end spells whole sentences.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
)
# Chat templates are applied by servers to the text we send, so the control words of common templates would end our
# message and begin another if a model wrote them into its reply.
_TEMPLATE_WORDS = re.compile(
    r"<(?=[|\uff5c])|(?<=[|\uff5c])>|<(?=/?s>)|<(?=</?SYS>>)"
    r"|<(?=/?(?:start_of_turn|end_of_turn|end_of_utterance|sop|(?:bos|eos|pad|unk)(?:_token)?)>)"
    r"|\[(?=/?(?:INST|SYS|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|gMASK)\])",
    re.IGNORECASE,
)


# Most texts hold nothing of the kind, and a conversation is gone through again for every turn.
_TO_DEFUSE = re.compile("[\r\v\f\x1c\x1d\x1e\x85\u2028\u2029<>\\[" + _INVISIBLE.pattern[1:])


def quote(text: str) -> str:
    """``text`` with every line marked as quoted, so that nothing in it can end the quotation."""
    return "\n".join(QUOTE_MARK + line for line in defuse(text).split("\n"))


def put_on_one_line(text: str) -> str:
    """``text`` on one line, so that within a transcript it cannot pass as somebody else's turn."""
    return " ".join(defuse(text).split("\n"))


def defuse(text: str) -> str:
    """``text`` with one kind of line break, no control or invisible characters, and no control words of chat templates."""
    if not _TO_DEFUSE.search(text):
        return text
    text = _INVISIBLE.sub(" ", _LINE_BREAKS.sub("\n", text))
    return _TEMPLATE_WORDS.sub(lambda match: f"{match.group()} " if match.group() in "<[" else f" {match.group()}", text)


@dataclass(frozen=True)
class Prompt:
    """The text of one prompt, with placeholders."""

    text: str

    def render(self, **values: str) -> str:
        """Fills every placeholder in one pass: values are never searched for placeholders."""
        return Template(self.text).substitute(values)


@dataclass(frozen=True)
class Prompts:
    """A checked set of prompts with its digest."""

    prompts: Mapping[str, Prompt]
    digest: str

    def __getitem__(self, name: str) -> Prompt:
        return self.prompts[name]


def load_package_prompts(package: str, placeholders: Mapping[str, frozenset[str]], override: Path | None = None) -> Prompts:
    """The prompts in the folder ``prompts`` of a package, or the user's own in their place. As ``load_prompts``."""
    folder = Path(str(resources.files(package).joinpath("prompts")))
    return load_prompts(folder, placeholders, override) if override else _load_bundled(folder, frozenset(placeholders.items()))


# Read once.
_load_bundled = cache(lambda folder, placeholders: load_prompts(folder, dict(placeholders)))


def load_prompts(folder: Path, placeholders: Mapping[str, frozenset[str]], override: Path | None = None) -> Prompts:
    """Loads ``<name>.txt`` for every name in ``placeholders``, from ``override`` where it is given.

    Raises InputError when a file is missing or its placeholders are not exactly those expected.
    """
    prompts = {}
    for name, expected in placeholders.items():
        path = (override or folder) / f"{name}.txt"
        try:
            text = path.read_text(encoding="utf-8-sig").strip()
        except FileNotFoundError:
            raise InputError(
                f"{path}: no such prompt. The folder must hold {', '.join(sorted(f'{key}.txt' for key in placeholders))}; "
                f"copy the ones in {folder} and change what you want."
            ) from None
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path}: cannot be read as UTF-8 text: {error}") from None
        _check(text, expected, path)
        prompts[name] = Prompt(text)
    digest = hashlib.sha256("\x00".join(f"{key}\x01{prompts[key].text}" for key in sorted(prompts)).encode())
    return Prompts(prompts, digest.hexdigest())


def digest_judge_prompts(sets: Iterable[Prompts]) -> str:
    """The digest of the prompts whose name says that judges read them; empty where there are none."""
    texts = (
        f"{name}\x01{each.prompts[name].text}" for each in sets for name in sorted(each.prompts) if name.startswith("judge_")
    )
    joined = "\x00".join(texts)
    return hashlib.sha256(joined.encode()).hexdigest() if joined else ""


def _check(text: str, expected: frozenset[str], path: Path) -> None:
    template = Template(text)
    if not template.is_valid():
        raise InputError(f"{path}: a '$' that begins no placeholder; write '$$' for a dollar sign.")
    found = frozenset(template.get_identifiers())
    if missing := expected - found:
        raise InputError(f"{path}: placeholder {_list(missing)} is missing; the prompt must contain it.")
    if unknown := found - expected:
        raise InputError(f"{path}: unknown placeholder {_list(unknown)}; this prompt can use {_list(expected)}.")


def _list(names: frozenset[str]) -> str:
    return ", ".join(f"${{{name}}}" for name in sorted(names)) or "none"
