"""Reading the model's reply: lenient in form, never guessing in substance."""

from __future__ import annotations

import json
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sociable.benchmarks.hsii.parsing import MAX_CHARACTERS, AddressedReply, FormatFailure, parse_reply, parse_words

ONE_LINE = '{"role_from": "Intelligent Assistant", "role_to": "Ann Lee", "content": "I\'ll come."}'
REPLY = AddressedReply("Ann Lee", "I'll come.")


def reply(content: str, role_to: str = "Ann Lee") -> str:
    return json.dumps({"role_from": "Intelligent Assistant", "role_to": role_to, "content": content})


LENIENT = {
    "as asked": ONE_LINE,
    "spaces around": f"\n  {ONE_LINE} \n",
    "code fence": f"```json\n{ONE_LINE}\n```",
    "words around": f"Let me think: {{Ann}} first.\n{ONE_LINE}\nI hope that helps!",
    "several lines": json.dumps(json.loads(ONE_LINE), indent=2),
    "role-to": ONE_LINE.replace("role_", "role-"),
    "role to": ONE_LINE.replace("role_", "Role "),
    "no role_from": '{"role_to": "Ann Lee", "content": "I\'ll come."}',
    "empty role_from": ONE_LINE.replace("Intelligent Assistant", ""),
    "another case of role_from": ONE_LINE.replace("Intelligent Assistant", "the intelligent assistant"),
    "other fields": ONE_LINE.replace("{", '{"index": 7, "why": {"a": [1, null]}, '),
    "list of one": f"[{ONE_LINE}]",
    "addressee in a list": ONE_LINE.replace('"Ann Lee"', '["Ann Lee"]'),
    "said twice alike": f"{ONE_LINE}\n\nFinal answer: {ONE_LINE}",
    "wrapped": f'{{"answer": {ONE_LINE}}}',
    "double braces": f"{{{ONE_LINE}}}",
    "trailing comma": ONE_LINE.replace('."}', '.",}'),
    "single quotes": r"{'role_from': 'Intelligent Assistant', 'role_to': 'Ann Lee', 'content': 'I\'ll come.'}",
    "mixed quotes": "{'role_from': 'Intelligent Assistant', 'role_to': 'Ann Lee', 'content': \"I'll come.\",}",
    "single quotes and a list": "{'role_to': ['Ann Lee'], 'content': \"I'll come.\", 'index': 3, 'done': None}",
    "smart quotes": "{“role_from”: “Intelligent Assistant”, “role_to”: “Ann Lee”, “content”: “I'll come.”}",
    "smart single quotes": "{‘role_to’: ‘Ann Lee’, ‘content’: “I'll come.”}",
    "labelled lines": "role_from: Intelligent Assistant\nrole_to: Ann Lee\ncontent: I'll come.",
    "labelled in bold": "Here you are.\n\n**Role to:** Ann Lee\n\n\n**Content:** I'll come.\n",
    "labelled with quotes": "- role-to: 'Ann Lee',\n- content: \"I'll come.\"",
    "an apostrophe in single quotes": "{'role_from': 'Intelligent Assistant', 'role_to': 'Ann Lee', 'content': 'I'll come.'}",
    "the same, content first": "{'content': 'I'll come.', 'role_to': 'Ann Lee'}",
    "a smart apostrophe in smart quotes": "{‘role_to’: ‘Ann Lee’, ‘content’: ‘I'll come.’}",
    "no last brace": ONE_LINE[:-1],
    "no last brace in single quotes": "{'role_to': 'Ann Lee', 'content': 'I'll come.'",
    "keys without quotes": '{role_to: "Ann Lee", content: "I\'ll come."}',
    "a comma left out": '{"role_to": "Ann Lee" "content": "I\'ll come."}',
    "after the example": f'{{"role_from": "Intelligent Assistant", "role_to": "NAME", "content": "WORDS"}}\n{ONE_LINE}',
    "after an example half filled in": f'{{"role_to": "Ann Lee", "content": "WORDS"}}\n{ONE_LINE}',
}


@pytest.mark.parametrize("text", LENIENT.values(), ids=LENIENT)
def test_any_form_passes_that_leaves_no_doubt(text: str) -> None:
    assert parse_reply(text) == REPLY


ONE_LINE_TOO = ("as asked", "spaces around", "empty role_from", "another case of role_from", "addressee in a list")


@pytest.mark.parametrize("text", [text for name, text in LENIENT.items() if name not in ONE_LINE_TOO])
def test_strict_counts_only_one_line_of_json(text: str) -> None:
    assert isinstance(parse_reply(text, strict=True), FormatFailure)


def test_strict_takes_what_was_asked_for() -> None:
    assert parse_reply(ONE_LINE, strict=True) == REPLY
    assert parse_reply(f" {ONE_LINE}\n", strict=True) == REPLY
    assert parse_reply(ONE_LINE.replace(", ", ",\r"), strict=True) == FormatFailure("more than one line")


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ('{"role_to": "Ann Lee", "content": "one\ntwo"}', "one\ntwo"),
        ("{'role_to': 'Ann Lee', 'content': 'one\ntwo'}", "one\ntwo"),
        (r"{'role_to': 'Ann Lee', 'content': 'one\ntwo \"x\" caf\u00e9 \ud83d\ude00'}", 'one\ntwo "x" café 😀'),
        ("{'role_to': 'Ann Lee', 'content': 'a {b} \"c\" [d]: e, f'}", 'a {b} "c" [d]: e, f'),
        ("role_to: Ann Lee\ncontent: one\n\ntwo: three", "one\n\ntwo: three"),
        ('role_to: Ann Lee\ncontent: "No" is what he said.', '"No" is what he said.'),
        (reply('He said: {"role_to": "Ben", "content": "hi"}'), 'He said: {"role_to": "Ben", "content": "hi"}'),
        ('{"role_to": "Ann Lee", "content": "He said "no" and left."}', 'He said "no" and left.'),
        ('{"role_to": "Ann Lee", "content": "Call "Ben", "Cy" and "Di"."}', 'Call "Ben", "Cy" and "Di".'),
        ("{'role_to': 'Ann Lee', 'content': 'It's Ben's turn, isn't it?'}", "It's Ben's turn, isn't it?"),
        ("{'role_to': 'Ann Lee', 'content': 'Ask Ben about the girls' bus'}", "Ask Ben about the girls' bus"),
    ],
)
def test_the_words_come_out_as_they_were_meant(text: str, content: str) -> None:
    assert parse_reply(text) == AddressedReply("Ann Lee", content)


REFUSED = {
    "empty": ("", "empty"),
    "white space": (" \n\t", "empty"),
    "words": ("I will speak to Ann Lee.", "no addressee"),
    "no content": ('{"role_to": "Ann Lee"}', "no addressee"),
    "blank content": (reply(" "), "no addressee"),
    "blank addressee": (reply("x", " "), "no addressee"),
    "no addressee": ('{"content": "x"}', "no addressee"),
    "content is no text": ('{"role_to": "Ann Lee", "content": 5}', "no addressee"),
    "addressee is nothing": ('{"role_to": null, "content": "x"}', "no addressee"),
    "cut off": (ONE_LINE[:-4], "no addressee"),
    "cut off before the end of the words": (ONE_LINE[:-2], "no addressee"),
    "cut off with a quotation in it": ('{"role_to": "Ann Lee", "content": "He said "no" and', "no addressee"),
    "cut off in lines": ('{\n"role_to": "Ann Lee",\n"content": "I will', "no addressee"),
    "an addressee twice in what must be repaired": (
        "{'role_to': 'Ann', 'role_to': 'Ben', 'content': 'I'll come.'}",
        "no addressee",
    ),
    "two replies in what must be repaired": (
        "{'role_to': 'Ann', 'content': 'I'll'} {'role_to': 'Ben', 'content': 'I'm'}",
        "no addressee",
    ),
    "a quotation that could be a field": ('{"role_to": "Ann", "content": "one "two", "reason": "three"}', "no addressee"),
    "the example": (ONE_LINE.replace("Ann Lee", "NAME").replace("I'll come.", "WORDS"), "example"),
    "the example in a fence": ('```json\n{"role_to": "<NAME>", "content": "[WORDS]"}\n```', "example"),
    "the example's words": (ONE_LINE.replace("I'll come.", "WORDS"), "example"),
    "the example's name": (ONE_LINE.replace("Ann Lee", "NAME"), "example"),
    "the example in lines": ("role_to: NAME\ncontent: WORDS", "example"),
    "two addressees": (f"{ONE_LINE}\n{reply('hi', 'Ben')}", "more than one"),
    "two contents": (f"{ONE_LINE} {reply('hi')}", "more than one"),
    "a list of two": (f"[{ONE_LINE}, {reply('hi')}]", "more than one"),
    "an addressee twice": ('{"role_to": "Ann Lee", "role_to": "Ben", "content": "x"}', "more than one"),
    "an addressee in two spellings": ('{"role_to": "Ann Lee", "role-to": "Ben", "content": "x"}', "more than one"),
    "a content twice": ("{'role_to': 'Ann Lee', 'content': 'x', 'content': 'y'}", "more than one"),
    "two labelled": ("role_to: Ann Lee\ncontent: hi\n\nrole_to: Ben\ncontent: yo", "more than one"),
    "as somebody else": (ONE_LINE.replace("Intelligent Assistant", "Ben"), "somebody else"),
    "labelled over two lines": ("role_to: Ann Lee\nor Ben\ncontent: hi", "no addressee"),
    "labelled as somebody else": ("role_from: Ben\nrole_to: Ann Lee\ncontent: hi", "somebody else"),
    "as itself and as somebody else": (ONE_LINE + ONE_LINE.replace("Intelligent Assistant", "Ben"), "more than one"),
    "code": ("{[1]: 2} {{}} {1: {}} {__import__('os')}", "no addressee"),
}


@pytest.mark.parametrize(("text", "reason"), REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("strict", [False, True])
def test_what_would_be_a_guess_is_a_failure(text: str, reason: str, strict: bool) -> None:
    found = parse_reply(text, strict=strict)
    assert isinstance(found, FormatFailure)
    assert strict or reason in found.reason


@pytest.mark.parametrize(
    "name", ["Assistant", "AI", "AI assistant", "the Agent", "intelligent_assistant", "INTELLIGENT AI AGENT"]
)
def test_the_assistant_may_call_itself_what_it_is(name: str) -> None:
    named = ONE_LINE.replace("Intelligent Assistant", name)
    assert parse_reply(named) == REPLY
    assert parse_reply(f"role_from: {name}\nrole_to: Ann Lee\ncontent: I'll come.") == REPLY


@pytest.mark.parametrize("name", ["Ben", "Ann's assistant", "Agent Smith", "AI and Ben", "user", "?", "the"])
def test_a_name_with_any_other_word_in_it_is_somebody_elses(name: str) -> None:
    assert parse_reply(ONE_LINE.replace("Intelligent Assistant", name)) == FormatFailure("speaks as somebody else")


def test_strict_wants_the_name_it_gave() -> None:
    assert parse_reply(ONE_LINE.replace("Intelligent Assistant", "AI"), strict=True) == FormatFailure("speaks as somebody else")


HEARD = ("I have no boat.", "I'll see to it.")
BEN = json.dumps({"index": 3, "role_from": "Ben", "role_to": "Intelligent Assistant", "content": HEARD[0]})
OWN = reply(HEARD[1])


def test_a_copied_message_of_the_conversation_is_not_the_reply() -> None:
    assert parse_reply(f"{BEN}\n{ONE_LINE}", heard=HEARD) == REPLY
    assert parse_reply(f"[{BEN}, {OWN}, {ONE_LINE}]", heard=HEARD) == REPLY
    # Without another one it is what was said: somebody else's words, or the own ones again.
    assert parse_reply(BEN, heard=HEARD) == FormatFailure("speaks as somebody else")
    assert parse_reply(OWN, heard=HEARD) == AddressedReply("Ann Lee", "I'll see to it.")
    # A message that nobody has said is a second reply.
    assert isinstance(parse_reply(f"{BEN}\n{ONE_LINE}", heard=HEARD[1:]), FormatFailure)


def test_two_addressees_in_a_list_are_kept_as_two() -> None:
    # Whom that names is for the target stage to say: nobody.
    assert parse_reply('{"role_to": ["Ann", "Ben"], "content": "x"}') == AddressedReply("Ann and Ben", "x")


DEGENERATE = {
    "braces": "{" * 100_000,
    "pairs of braces": "{}" * 100_000,
    "nested objects": '{"a":' * 100_000,
    "nested lists": '{"a":' + "[" * 100_000,
    "nested python": "{'a':" * 50_000 + "}" * 50_000,
    "signs": "{" + "-" * 90_000 + "1}",
    "sums": "{1" + "+1" * 45_000 + "}",
    "open string": '{"role_to": "' + "a" * 90_000,
    "open single string": "{'role_to': '" + "\\'" * 45_000,
    "open smart string": "{“role_to”: “" + "a" * 90_000,
    "open list": "{'role_to': [" + "'a'," * 20_000,
    "pairs": "{" + "'a': 'b'," * 10_000,
    "line breaks": "role_to: Ann" + "\n" * 90_000,
    "line breaks and dots": "role_to: Ann" + "\n.!" * 30_000 + "\ncontent",
    "labels": "role_to: Ann\n" * 8_000,
    "label without end": "content" + "*" * 90_000,
    "control characters": "".join(map(chr, range(32))) * 3_000,
    "null bytes": "{'role_to': '\x00', 'content': '\x00'}",
    "big number": '{"role_to": ' + "1" * 50_000 + ', "content": "x"}',
    "big python number": "{'role_to': " + "1" * 50_000 + ", 'content': 'x'}",
    "lone surrogate": '{"role_to": "\ud800", "content": "\udfff"}',
    "escaped surrogate": r'{"role_to": "Ann", "content": "\ud800"}',
    "bad escape": r"{'role_to': 'Ann', 'content': '\d \x \N{x} \u12'}",
    "f-strings": "{f'{" * 20_000,
    "2 MB of words": "word " * 400_000,
    "2 MB of braces": "{'a'" * 500_000,
    "2 MB in one string": reply("a" * 2_000_000),
    "2 MB of white space": " " * 2_000_000 + ONE_LINE,
    "quotation marks": '{"role_to": "Ann", "content": ' + '"' * 90_000 + "}",
    "braces to be repaired": "{'role_to': 'Ann', 'content': 'I'm " + '{"' * 40_000 + "'}",
    "quotations": '{"role_to": "Ann", "content": "' + 'he "said" it ' * 7_000 + '"}',
    "apostrophes": "{'role_to': 'Ann', 'content': 'I'm" + " it's" * 15_000 + "'}",
}


@pytest.mark.parametrize("text", DEGENERATE.values(), ids=DEGENERATE)
@pytest.mark.parametrize("strict", [False, True])
def test_no_text_breaks_or_hangs_it(text: str, strict: bool) -> None:
    # Quadratic or worse in any of these would not end within the test run's patience.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = parse_reply(text, strict=strict)
    if isinstance(found, AddressedReply):
        (found.role_to + found.content).encode()  # can be written to a file
        assert len(found.content) <= MAX_CHARACTERS


PIECES = st.sampled_from(
    ["{", "}", "[", "]", ":", ",", "'", '"', "“", "”", "\\", "\n", "role_to", "content", "'role_to'", "Ann", ONE_LINE, "1", "é"]
)


@given(st.one_of(st.text(), st.lists(PIECES).map("".join)))
def test_any_text_is_read_or_refused(text: str) -> None:
    found = parse_reply(text)
    assert isinstance(found, AddressedReply | FormatFailure)
    assert isinstance(found, FormatFailure) or (found.role_to.strip() and found.content.strip())


@given(st.one_of(st.text(), st.lists(PIECES).map("".join), st.just(reply("x" * MAX_CHARACTERS))))
def test_what_passes_strictly_passes_leniently(text: str) -> None:
    strict = parse_reply(text, strict=True)
    assert isinstance(strict, FormatFailure) or parse_reply(text) == strict


SAYABLE = st.text(min_size=1).filter(lambda text: text.strip())


@given(SAYABLE, SAYABLE, st.booleans())
def test_whatever_is_said_in_json_is_understood(role_to: str, content: str, ascii_only: bool) -> None:
    text = json.dumps({"role_from": "Intelligent Assistant", "role_to": role_to, "content": content}, ensure_ascii=ascii_only)
    assert parse_reply(text) == parse_reply(text, strict=True) == AddressedReply(role_to.strip(), content.strip())


@given(st.text("ab '\"\\\n{}[],:é", min_size=1).filter(lambda text: text.strip()))
def test_whatever_is_said_in_a_python_dict_is_understood(content: str) -> None:
    assert parse_reply(repr({"role_to": "Ann", "content": content})) == AddressedReply("Ann", content.strip())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("  Yes. ", "Yes."),
        (ONE_LINE, "I'll come."),
        (f"```json\n{ONE_LINE}\n```", "I'll come."),
        ("{so} be it", "{so} be it"),
        ("Role to: play\ncontent: with it", "Role to: play\ncontent: with it"),
        ("", ""),
    ],
)
def test_later_turns_are_words_wrapped_or_not(text: str, words: str) -> None:
    assert parse_words(text) == words
