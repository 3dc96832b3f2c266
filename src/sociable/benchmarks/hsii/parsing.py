"""HSII's first stage: addressee and words are read from the model's reply.

Lenient by design (App. B.3: "coverage of equivalent expressions"; B.5): words around it, code fences, single or
typographic quotes, ``role-to`` for ``role_to``, ``AI`` for the assistant, line breaks and labelled lines pass, as long
as addressee and content can be had without guessing. What JSON cannot read for a quotation mark inside or a brace left
out is repaired. The prompt's own example is no reply, nor is a message of the conversation that was copied before the
reply. Nothing in a reply is evaluated. README.md has a table of what is read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

import json_repair

from sociable.benchmarks.hsii.dataset import ASSISTANT
from sociable.core.names import find_words, normalise_name
from sociable.core.records import make_storable

MAX_CHARACTERS = 100_000
"""Characters of a reply that are read: a longer one was not asked for."""
MAX_REPAIRED = 20_000
"""Characters of a reply that is repaired: a repairer's time is more than linear."""
_MAX_OBJECTS = 50
_FIELDS = ("role_from", "role_to", "content")
_OWN_NAMES = frozenset({"intelligent", "assistant", "ai", "agent"})
"""The words of which the assistant's name may consist."""

# Possessive quantifiers (*+) never try again what they have taken, so that no reply takes more than linear time.
_STRING = r"""(?:'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+"|“(?:[^“”\\]|\\.)*+”|‘(?:[^‘’\\]|\\.)*+’)"""
_PAIR = re.compile(
    rf"\s*+(?P<key>{_STRING})\s*+:\s*+(?P<value>{_STRING}|\[(?:\s*+{_STRING}\s*+,?)*+\s*+\]|[\w.+-]++)\s*+(?P<end>,?+\s*+\}}|,)",
    re.DOTALL,
)
_LABEL = re.compile(r"^[^\w\n]*+(role[_ -]?from|role[_ -]?to|content)[^\w\n:=]*+[:=]", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class AddressedReply:
    """A reply as it was understood: the addressee, as the model wrote it, and the words."""

    role_to: str
    content: str


@dataclass(frozen=True, slots=True)
class FormatFailure:
    reason: str

    def explain(self, defect: str) -> str:
        """The reason, after the defect of the reply that is not said by it."""
        return f"{defect}: {self.reason}" if defect not in ("", "empty") else self.reason


_SEVERAL = FormatFailure("more than one reply; which one is meant would be a guess")


@dataclass(frozen=True, slots=True)
class _Message:
    """Addressee and words that stand in a reply, whoever says them."""

    role_to: str
    content: str
    is_own: bool = True
    """Whether the assistant says it, as far as the reply tells."""

    @property
    def is_example(self) -> bool:
        """Whether it has a placeholder of the form that the prompt shows."""
        return find_words(self.role_to) == ["name"] or find_words(self.content) == ["words"]

    def accept(self) -> AddressedReply | FormatFailure:
        if self.is_example:
            return FormatFailure("repeats the prompt's example")
        return AddressedReply(self.role_to, self.content) if self.is_own else FormatFailure("speaks as somebody else")


def parse_reply(
    text: str, *, strict: bool = False, last: bool = False, heard: Collection[str] = ()
) -> AddressedReply | FormatFailure:
    """The reply's addressee and words. ``strict`` counts only JSON on one line, with nothing around it.

    ``last`` takes the last of several, for replies that think before they answer. ``heard`` are the words of the
    conversation so far: a message with just those is a copy where another stands beside it.
    """
    text = text.strip()[:MAX_CHARACTERS]
    if not text:
        return FormatFailure("empty reply")
    if strict:
        return _parse_strictly(text)
    found = list(_find_in_objects(text)) or list(_find_in_broken_object(text)) or list(_find_in_labelled_lines(text))
    messages = [each for each in found if isinstance(each, _Message)]
    if len(messages) < len(found):
        return _SEVERAL
    messages = [each for each in messages if not each.is_example] or messages
    messages = [each for each in messages if each.content not in heard] or messages
    if not last and len(set(messages)) > 1:
        return _SEVERAL
    return messages[-1].accept() if messages else FormatFailure("no addressee and content to be found in it")


def _parse_strictly(text: str) -> AddressedReply | FormatFailure:
    if "\n" in text or "\r" in text:
        return FormatFailure("more than one line")
    try:
        pairs = json.loads(text, object_pairs_hook=tuple)
    except (ValueError, RecursionError):
        return FormatFailure("not JSON")
    if not isinstance(pairs, tuple) or sorted(key for key, _ in pairs) != sorted(_FIELDS):
        return FormatFailure("not an object of role_from, role_to and content")
    message = _read_fields(pairs, strict=True)
    return message.accept() if isinstance(message, _Message) else FormatFailure("no addressee and content")


def _find_in_objects(text: str) -> Iterator[_Message | FormatFailure]:
    """The replies in the JSON or Python objects of the text. An object that is none may hold one: ``{"answer": {…}}``."""
    place, tried = text.find("{"), 0
    while place != -1 and tried < _MAX_OBJECTS:
        tried += 1
        pairs, end = _read_json(text, place) or _read_quoted(text, place) or ((), place + 1)
        if (reply := _read_fields(pairs)) is not None:
            yield reply
        place = text.find("{", place + 1 if reply is None else end)


_Pairs = tuple[tuple[str, object], ...]
_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=tuple)


def _read_json(text: str, place: int) -> tuple[_Pairs, int] | None:
    """The fields of the JSON object that begins at ``place``, and where it ends; None if there is no such object."""
    try:
        return _DECODER.raw_decode(text, place)
    except (ValueError, RecursionError):
        return None


def _read_quoted(text: str, place: int) -> tuple[_Pairs, int] | None:
    """Does what ``_read_json`` does for a flat object with any kind of quotes, as Python or a word processor would write it."""
    pairs: list[tuple[str, object]] = []
    place += 1
    while pair := _PAIR.match(text, place):
        try:
            pairs.append((_unquote(pair["key"]), _read_value(pair["value"])))
        except ValueError:
            return None
        place = pair.end()
        if pair["end"].endswith("}"):
            return tuple(pairs), place
    return None


def _read_value(token: str) -> object:
    if token.startswith("["):
        return [_unquote(each) for each in re.findall(_STRING, token, re.DOTALL)]
    return _unquote(token) if token[0] in "'\"“‘" else None


def _unquote(token: str) -> str:
    """The string between the quotes of ``token``, with JSON's escapes. Raises ValueError for others."""
    inside = re.sub(r"\\.|\"", lambda found: {"\\'": "'", '"': '\\"'}.get(found[0], found[0]), token[1:-1], flags=re.DOTALL)
    return str(json.loads(f'"{inside}"', strict=False))


_KEY = re.compile(r"""["'“‘]?\b(role[_ -]?to|content)\b["'”’]?\s*+:\s*+""", re.IGNORECASE)
_OTHER_FIELDS = re.compile(r"""\s*,?\s*(?:["'“‘]?\b(?:role[_ -]?(?:to|from)|index)\b.*|[}\]`\s]*)""", re.IGNORECASE | re.DOTALL)
_CLOSING = {"'": "'", '"': '"', "“": "”", "‘": "’"}


def _find_in_broken_object(text: str) -> Iterator[_Message | FormatFailure]:
    """The reply of one object with a quotation mark too many, or a brace or comma too few.

    A repairer also closes what was cut off and leaves out what it cannot place: so the words must stand in the text whole,
    from their first quotation mark to one before the end or the next field.
    """
    keys = list(_KEY.finditer(text))
    if sorted(key[1][:4].lower() for key in keys) != ["cont", "role"] or "{" not in text or len(text) > MAX_REPAIRED:
        return
    try:
        repaired = json_repair.loads(text[text.index("{") :].translate(_STRAIGHT), skip_json_loads=True)
    except (ValueError, RecursionError):
        return
    message = _read_fields(repaired.items()) if isinstance(repaired, dict) else None
    if not isinstance(message, _Message):
        return
    said = text[next(key.end() for key in keys if key[1].lower() == "content") :]
    for escaped, plain in (('\\"', '"'), ("\\'", "'"), ("\\n", "\n")):
        said = said.replace(escaped, plain)
    closing = _CLOSING.get(said[:1], "")
    content = message.content.removesuffix(closing) if closing else message.content
    said = said.removeprefix(said[:1] if closing else "").lstrip()
    rest = said[len(content) :].lstrip()
    is_whole = said.translate(_STRAIGHT).startswith(content) and rest.startswith(closing or ("}", ","))
    if is_whole and _OTHER_FIELDS.fullmatch(rest.removeprefix(closing)):
        yield _Message(message.role_to, said[: len(content)].rstrip(), message.is_own)


_STRAIGHT = str.maketrans("‘’“”", "''\"\"")


def _find_in_labelled_lines(text: str) -> Iterator[_Message | FormatFailure]:
    """The reply of lines such as ``role_to: Ann`` and ``content: …``; the content goes on to the end."""
    labels = list(_LABEL.finditer(text))
    # With a brace in it, it is an object that could not be read.
    if "{" in text or not labels or labels[-1][1].lower() != "content":
        return
    ends = [label.start() for label in labels[1:]] + [len(text)]
    pairs = [(label[1], _unwrap(text[label.end() : end])) for label, end in zip(labels, ends, strict=True)]
    if not any("\n" in value for _, value in pairs[:-1]) and (reply := _read_fields(pairs)) is not None:
        yield reply


def _unwrap(value: str) -> str:
    """``value`` without the quotes or the emphasis it is wrapped in."""
    value = value.strip().strip("*`").strip()
    inside = value.removesuffix(",")
    return inside[1:-1] if len(inside) > 1 and inside[0] in "'\"" and inside[0] == inside[-1] else value


def _read_fields(pairs: Iterable[tuple[str, object]], *, strict: bool = False) -> _Message | FormatFailure | None:
    """The message these fields make, a failure if they make two, or None if they make none."""
    fields: dict[str, object] = {}
    for key, value in pairs:
        name = re.sub(r"[\s_-]+", "_", key.strip().lower())
        if name in fields and name in _FIELDS:
            return _SEVERAL
        fields[name] = value
    role_to, content = fields.get("role_to"), fields.get("content")
    if isinstance(role_to, list) and role_to and all(isinstance(name, str) for name in role_to):
        role_to = " and ".join(role_to)
    if not isinstance(role_to, str) or not isinstance(content, str) or not role_to.strip() or not content.strip():
        return None
    role_from = fields.get("role_from")
    is_own = not isinstance(role_from, str) or not role_from.strip() or _is_assistant(role_from, strict)
    # Escapes in the reply can stand for halves of characters, which no file can hold.
    return _Message(make_storable(role_to).strip(), make_storable(content).strip(), is_own)


def _is_assistant(name: str, strict: bool) -> bool:
    own = normalise_name(name)
    return own == normalise_name(ASSISTANT) or (not strict and bool(own) and _OWN_NAMES.issuperset(own.split()))


def parse_words(text: str) -> str:
    """The words of a later turn: the text, or the content if the model still wraps it as it had to in its first turn."""
    reply = parse_reply(text) if text.lstrip().startswith(("{", "```")) else None
    return reply.content if isinstance(reply, AddressedReply) else text.strip()
