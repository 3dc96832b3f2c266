"""From files to cases: every layout that is read, every fault that is named, and which dialogues a limit takes."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from sociable.benchmarks.hsii.dataset import ASSISTANT, Case, cut_cases, load_dataset, select_dialogues
from sociable.core.errors import DataError, InputError

Raw = dict[str, Any]


def write(path: Path, content: Any, encoding: str = "utf-8") -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content, ensure_ascii=False), encoding=encoding)
    return path


def ids(cases: Sequence[Case]) -> list[str]:
    return [case.id for case in cases]


# From dialogues to cases


def test_every_turn_of_the_assistant_gives_a_case(cases: list[Case]) -> None:
    assert ids(cases) == ["mill:3", "mill:5"]
    assert [case.golden.role_to for case in cases] == ["Cara Diaz", "Ben Cole"]
    assert [len(case.messages) for case in cases] == [2, 4]
    assert {case.dialogue for case in cases} == {"mill"}


def test_who_waits_for_the_assistant_is_in_the_order_of_their_last_words(raw_case: Raw) -> None:
    ann, ben, cara = "Ann Lee", "Ben Cole", "Cara Diaz"
    turns = [(ben, ASSISTANT, "1"), (ann, ASSISTANT, "2"), (cara, ASSISTANT, "3"), (ben, ASSISTANT, "4"), (cara, ann, "5")]
    turns += [(ASSISTANT, ann, "6"), (ann, ben, "7")]
    raw_case["messages"] = [{"role_from": one, "role_to": other, "content": said} for one, other, said in turns]
    raw_case["golden"]["index"] = None
    (case,) = cut_cases(raw_case, "test", "x")
    assert list(case.waiting.items()) == [(cara, "3"), (ben, "4")]


def test_notes_belong_to_their_case_only(cases: list[Case]) -> None:
    assert [bool(case.weaker) for case in cases] == [True, False]
    assert [len(case.continuation) for case in cases] == [4, 0]
    assert [len(case.must_convey) for case in cases] == [2, 0]


def test_a_case_knows_only_the_facts_told_before_it(cases: list[Case]) -> None:
    assert [[fact.fact for fact in case.private_facts] for case in cases] == [
        ["Ben has hurt his hand."],
        ["Ben has hurt his hand.", "Ann is bankrupt."],
    ]


def test_a_fact_is_hidden_from_all_but_its_owner_and_the_permitted(cases: list[Case]) -> None:
    hidden = {name: [fact.owner for fact in cases[1].list_hidden_facts(name)] for name in cases[1].characters}
    assert hidden == {"Ann Lee": ["Ben Cole"], "Ben Cole": ["Ann Lee"], "Cara Diaz": ["Ann Lee"]}


def test_the_assistants_opening_is_no_case(raw: Raw) -> None:
    raw["messages"].insert(0, {"role_from": ASSISTANT, "role_to": "Ann Lee", "content": "Good evening."})
    raw["cases"], raw["private_facts"] = [], []
    for number, message in enumerate(raw["messages"], start=1):
        message["index"] = number
    assert ids(list(cut_cases(raw, "test", "x"))) == ["mill:4", "mill:6"]


def test_a_single_case_is_the_same_as_one_cut_from_its_dialogue(raw_case: Raw, case: Case) -> None:
    (single,) = cut_cases(raw_case | {"id": "mill:3", "dialogue": "mill"}, "test", "x")
    assert single == case
    assert single.digest == case.digest


def test_a_single_case_is_its_own_cluster_unless_it_says_otherwise(raw_case: Raw) -> None:
    (single,) = cut_cases(raw_case, "test", "x")
    assert (single.id, single.dialogue) == ("mill", "mill")


def test_names_are_spelled_as_in_characters(raw: Raw) -> None:
    raw["messages"][0] |= {"role_from": "  ben  COLE ", "role_to": "the intelligent assistant"}
    raw["private_facts"][0] |= {"owner": "Mr. Ben Cole", "permitted": ["cara diaz"]}
    raw["cases"][0]["weaker"]["role_to"] = "Cara-Diaz"
    raw["cases"][0]["continuation"][0]["role_from"] = "CARA DIAZ"
    case = next(cut_cases(raw, "test", "x"))
    assert (case.messages[0].role_from, case.messages[0].role_to) == ("Ben Cole", ASSISTANT)
    assert (case.private_facts[0].owner, case.private_facts[0].permitted) == ("Ben Cole", ("Cara Diaz",))
    assert case.weaker is not None
    assert case.weaker.role_to == case.continuation[0].role_from == "Cara Diaz"


def test_the_digest_changes_with_what_a_conversation_depends_on(raw: Raw, case: Case) -> None:
    raw["cases"][0]["why"] = "Another reason."
    assert next(cut_cases(raw, "test", "x")).digest == case.digest
    raw["messages"][1]["content"] = "The water is at the sill."
    assert next(cut_cases(raw, "test", "x")).digest != case.digest


# Layouts


LAYOUTS: dict[str, tuple[str, Callable[[Raw], str]]] = {
    "object": ("d.json", json.dumps),
    "indented object": ("d.json", lambda raw: json.dumps(raw, indent=2)),
    "list": ("d.json", lambda raw: json.dumps([raw])),
    "lines": ("d.jsonl", lambda raw: "\n" + json.dumps(raw) + "\r\n\n"),
    "byte order mark": ("d.json", lambda raw: "\ufeff" + json.dumps(raw)),
    "byte order mark in lines": ("d.jsonl", lambda raw: "\ufeff" + json.dumps(raw)),
    "role-from": ("d.json", lambda raw: json.dumps(raw).replace("role_", "role-")),
    "index as a string": ("d.json", lambda raw: re.sub(r'"index": (\d+)', r'"index": "\1"', json.dumps(raw))),
    "no index": ("d.json", lambda raw: json.dumps(raw | {"messages": [m | {"index": None} for m in raw["messages"]]})),
    "not escaped": ("d.json", lambda raw: json.dumps(raw | {"topic": "flood"}, ensure_ascii=False)),
}


@pytest.mark.parametrize(("name", "layout"), LAYOUTS.values(), ids=LAYOUTS)
def test_every_layout_gives_the_same_cases(
    name: str, layout: Callable[[Raw], str], raw: Raw, cases: list[Case], tmp_path: Path
) -> None:
    dataset = load_dataset(write(tmp_path / name, layout(raw)))
    assert list(dataset.items) == cases
    assert dataset.skipped == ()


def test_relationships_may_be_one_text(raw: Raw) -> None:
    raw["background"]["relationships"] = "Ann Lee owns the mill."
    assert next(cut_cases(raw, "test", "x")).background.relationships == ("Ann Lee owns the mill.",)


def test_dialogues_and_single_cases_mix(raw: Raw, raw_case: Raw, tmp_path: Path) -> None:
    path = write(tmp_path / "d.json", [raw, raw_case | {"id": "single"}])
    assert ids(load_dataset(path).items) == ["mill:3", "mill:5", "single"]


def test_a_folder_is_read_in_order_of_its_file_names(raw: Raw, raw_case: Raw, tmp_path: Path) -> None:
    write(tmp_path / "b.json", raw)
    write(tmp_path / "a.jsonl", raw_case | {"id": "single"})
    write(tmp_path / "c.txt", "not data")
    assert ids(load_dataset(tmp_path).items) == ["single", "mill:3", "mill:5"]


def test_records_without_id_are_named_by_file_and_place(raw: Raw, tmp_path: Path) -> None:
    del raw["id"]
    on_one_line = write(tmp_path / "d.json", [raw, raw])
    assert ids(load_dataset(on_one_line).items) == ["d-1:3", "d-1:5", "d-2:3", "d-2:5"]
    lines = write(tmp_path / "e.jsonl", f"\n{json.dumps(raw)}\n{json.dumps(raw)}")
    assert ids(load_dataset(lines).items) == ["e-2:3", "e-2:5", "e-3:3", "e-3:5"]


def test_the_dataset_digest_is_of_content_not_of_layout(raw: Raw, tmp_path: Path) -> None:
    one = load_dataset(write(tmp_path / "a.json", json.dumps([raw], indent=3)))
    other = load_dataset(write(tmp_path / "b.jsonl", raw))
    assert one.digest == other.digest
    raw["topic"] = "fire"
    assert load_dataset(write(tmp_path / "c.json", raw)).digest != one.digest


# Bad records


def changed(*path: str | int, to: Any) -> Callable[[Raw], Any]:
    """A change of one place in a record."""

    def change(raw: Raw) -> Raw:
        place: Any = raw
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = to
        return raw

    return change


def without(*path: str | int) -> Callable[[Raw], Any]:
    def change(raw: Raw) -> Raw:
        place: Any = raw
        for step in path[:-1]:
            place = place[step]
        del place[path[-1]]
        return raw

    return change


BAD: dict[str, tuple[Callable[[Raw], Any], str, Sequence[str]]] = {
    "no object": (lambda raw: ["x"], "", ["expected an object", "list"]),
    "no topic": (without("topic"), "topic", ["required"]),
    "blank topic": (changed("topic", to=" "), "topic", ["at least 1 character"]),
    "no background": (without("background"), "background", ["required"]),
    "no messages": (without("messages"), "messages", ["required"]),
    "unknown field": (changed("tropic", to="x"), "tropic", ["not permitted", "'x'"]),
    "unknown stage": (changed("stage", to="both"), "stage", ["'single'", "'multi'", "both"]),
    "one character": (changed("background", "characters", to=["Ann Lee"]), "background.characters", ["at least 2"]),
    "same name twice": (
        changed("background", "characters", to=["Ann Lee", "Ben Cole", "Cara Diaz", "Ms. ann-lee"]),
        "background.characters",
        ["same name"],
    ),
    "assistant listed": (
        changed("background", "characters", to=["Ann Lee", "Ben Cole", "Cara Diaz", "Intelligent Assistant"]),
        "background.characters",
        ["Intelligent Assistant", "leave it out"],
    ),
    "name without a word": (
        changed("background", "characters", to=["Ann Lee", "Ben Cole", "Cara Diaz", "?!"]),
        "background.characters.3",
        ["?!", "letter"],
    ),
    "name over two lines": (
        changed("background", "characters", to=["Ann Lee", "Ben Cole", "Cara Diaz", "Dan\nResponse 2:"]),
        "background.characters.3",
        ["one line"],
    ),
    "stranger speaks": (changed("messages", 1, "role_from", to="Dan"), "messages.1.role_from", ["'Dan'", "'Ann Lee'"]),
    "stranger spoken to": (changed("messages", 2, "role_to", to="Ann"), "messages.2.role_to", ["'Ann'", "'Ann Lee'"]),
    "no content": (changed("messages", 1, "content", to=""), "messages.1.content", ["at least 1 character"]),
    "content is no text": (changed("messages", 1, "content", to=5), "messages.1.content", ["string", "5"]),
    "half a character": (changed("messages", 1, "content", to="\ud800"), "messages.1.content", ["unicode"]),
    "wrong index": (changed("messages", 1, "index", to=5), "messages.1.index", ["expected 2", "found 5"]),
    "index is no number": (changed("messages", 1, "index", to="two"), "messages.1.index", ["integer", "two"]),
    "no turn of the assistant": (
        lambda raw: raw | {"messages": raw["messages"][:2], "cases": [], "private_facts": []},
        "messages",
        ["no turn of 'Intelligent Assistant'"],
    ),
    "note on no turn": (changed("cases", 0, "index", to=2), "cases", ["index 2", "not a turn of 'Intelligent Assistant'"]),
    "two notes on a turn": (lambda raw: raw | {"cases": raw["cases"] * 2}, "cases", ["index 3", "two"]),
    "note without index": (without("cases", 0, "index"), "cases.0.index", ["required"]),
    "weaker to somebody else": (
        changed("cases", 0, "weaker", "role_to", to="Ann Lee"),
        "",
        ["case mill:3", "weaker", "golden addressee 'Cara Diaz'"],
    ),
    "weaker to a stranger": (changed("cases", 0, "weaker", "role_to", to="Dan"), "cases.0.weaker.role_to", ["'Dan'"]),
    "continuation in wrong order": (
        lambda raw: changed("cases", 0, "continuation", to=raw["cases"][0]["continuation"][1:])(raw),
        "",
        ["case mill:3", "continuation, turn 1", "from 'Cara Diaz' to 'Intelligent Assistant'"],
    ),
    "stranger in the continuation": (
        changed("cases", 0, "continuation", 2, "role_from", to="Dan"),
        "cases.0.continuation.2.role_from",
        ["'Dan'", "'Cara Diaz'"],
    ),
    "stranger owns a fact": (changed("private_facts", 1, "owner", to="Dan"), "private_facts.1.owner", ["'Dan'"]),
    "stranger permitted": (changed("private_facts", 0, "permitted", to=["Dan"]), "private_facts.0.permitted", ["'Dan'"]),
    "told after the end": (changed("private_facts", 0, "told_at", to=6), "private_facts.0.told_at", ["6", "5"]),
    "told before the beginning": (changed("private_facts", 0, "told_at", to=-1), "private_facts.0.told_at", ["0", "-1"]),
    "fact without wording": (changed("private_facts", 0, "wording", to=[]), "private_facts.0.wording", ["at least 1"]),
    "wording that fits anything": (changed("private_facts", 0, "wording", to=[[]]), "private_facts.0.wording.0", ["at least 1"]),
    "wording without a word": (
        changed("private_facts", 0, "wording", to=[["?"]]),
        "private_facts.0.wording.0.0",
        ["letter", "?"],
    ),
    "point that fits anything": (
        changed("cases", 0, "must_convey", 0, "wording", to=[["loft"], []]),
        "cases.0.must_convey.0.wording.1",
        ["at least 1"],
    ),
    "alias of nobody": (changed("aliases", to={"Dan": ["Danny"]}), "aliases", ["'Dan'", "background.characters"]),
    "alias of two": (changed("aliases", "Ben Cole", to=["the miller"]), "aliases.Ann Lee", ["'the miller'", "only"]),
    "alias is another's name": (changed("aliases", "Ben Cole", to=["Cara Diaz"]), "aliases.Ben Cole", ["'Cara Diaz'", "only"]),
    "alias is another's alias": (changed("aliases", "Ben Cole", to=["nurse"]), "aliases.Ben Cole", ["'nurse'", "only"]),
    "alias without a word": (changed("aliases", "Ben Cole", to=["…"]), "aliases.Ben Cole", ["'…'", "only"]),
}


@pytest.mark.parametrize(("change", "field", "words"), BAD.values(), ids=BAD)
def test_a_bad_record_is_named_with_its_place_and_what_was_expected(
    change: Callable[[Raw], Any], field: str, words: Sequence[str], raw: Raw, raw_case: Raw, tmp_path: Path
) -> None:
    good = json.dumps(raw_case | {"id": "good"})
    path = tmp_path / "d.jsonl"
    path.write_text(f"{good}\n\n{json.dumps(change(raw))}\n", encoding="utf-8")
    with pytest.raises(DataError) as caught:
        load_dataset(path)
    assert caught.value.place.startswith(f"{path}, line 3")
    assert caught.value.field == field
    for word in (str(path), "line 3", field, *words):
        assert word in str(caught.value)
    # And with --skip-invalid it is left out whole, and counted.
    dataset = load_dataset(path, skip_invalid=True)
    assert ids(dataset.items) == ["good"]
    assert dataset.skipped == (str(caught.value),)


BAD_CASES: dict[str, tuple[Callable[[Raw], Any], str, Sequence[str]]] = {
    "golden by somebody else": (
        changed("golden", "role_from", to="Ann Lee"),
        "",
        ["golden", "'Intelligent Assistant'", "'Ann Lee'"],
    ),
    "golden to itself": (changed("golden", "role_to", to=ASSISTANT), "", ["golden", "cannot address itself"]),
    "golden to a stranger": (changed("golden", "role_to", to="Dan"), "golden.role_to", ["'Dan'", "'Ann Lee'"]),
    "golden without words": (changed("golden", "content", to=" "), "golden.content", ["at least 1 character"]),
    "golden at another place": (changed("golden", "index", to=9), "golden.index", ["expected 3", "found 9"]),
    "golden is a text": (changed("golden", to="Take your bag."), "golden", ["dictionary", "Take your bag."]),
    "notes of a dialogue": (changed("cases", to=[]), "cases", ["not permitted"]),
    "stranger in the continuation": (
        changed("continuation", 1, "role_to", to="Dan"),
        "continuation.1.role_to",
        ["'Dan'", "'Cara Diaz'"],
    ),
}


@pytest.mark.parametrize(("change", "field", "words"), BAD_CASES.values(), ids=BAD_CASES)
def test_a_bad_single_case_is_named_too(
    change: Callable[[Raw], Any], field: str, words: Sequence[str], raw_case: Raw, tmp_path: Path
) -> None:
    path = write(tmp_path / "d.json", json.dumps([change(raw_case)], indent=1))
    with pytest.raises(DataError) as caught:
        load_dataset(path)
    assert caught.value.field == field
    for word in (f"{path}, line 2", field, *words):
        assert word in str(caught.value)


BAD_FILES: dict[str, tuple[str, bytes, Sequence[str]]] = {
    "cut off in an object": ("d.json", b'{\n "id": "x"', ["line 2", "not JSON"]),
    "cut off in a list": ("d.json", b'[{"id": "x"},\n', ["line 2", "not JSON"]),
    "cut off after an object of a list": ("d.json", b'[\n{"id": "x"}\n', ["line 3", "not JSON"]),
    "no comma": ("d.json", b'[{"id": "x"}\n {"id": "y"}]', ["line 2", "not JSON"]),
    "more after a list": ("d.json", b'[{"id": "x"}]\n]', ["line 2", "not JSON"]),
    "two objects": ("d.json", b'{"id": "x"}\n{"id": "y"}', ["line 2", ".jsonl"]),
    "lines": ("d.jsonl", b'{"id": \n', ["line 1", "not JSON", "one object a line"]),
    "nested too deep": ("d.json", b"[" * 100_000, ["line 1", "not JSON"]),
    "a number too long": ("d.json", b'{"id": ' + b"1" * 5_000 + b"}", ["line 1", "not JSON"]),
    "not UTF-8": ("d.json", '{"id": "é"}'.encode("latin-1"), ["not UTF-8", "byte 8"]),
    "empty": ("d.json", b"", ["not JSON"]),
    "no records": ("d.json", b"[]", ["nothing in it", "Intelligent Assistant"]),
    "no lines": ("d.jsonl", b"\n\n", ["nothing in it", "Intelligent Assistant"]),
}


@pytest.mark.parametrize(("name", "content", "words"), BAD_FILES.values(), ids=BAD_FILES)
def test_a_bad_file_is_named_with_its_line(name: str, content: bytes, words: Sequence[str], tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        load_dataset(path)
    for word in (str(path), *words):
        assert word in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no such file. Expected a .json"):
        load_dataset(tmp_path / "nothing.json")
    with pytest.raises(InputError, match=r"no \.json or \.jsonl file"):
        load_dataset(tmp_path)


def test_an_id_is_used_once(raw: Raw, tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text(f"{json.dumps(raw)}\n{json.dumps(raw)}\n")
    with pytest.raises(DataError, match=r"line 2.*'id'.*'mill:3' is used already by .*line 1"):
        load_dataset(path)


def test_skipping_leaves_out_whole_records_and_counts_them(raw: Raw, raw_case: Raw, tmp_path: Path) -> None:
    # The second dialogue's first case is good, its second is not: neither counts.
    half_bad = json.loads(json.dumps(raw).replace("mill", "half"))
    half_bad["cases"].append({"index": 5, "weaker": {"role_to": "Ann Lee", "content": "x", "fault": "y"}})
    # The fourth clashes with the first in its second case only.
    clash = raw_case | {"id": "mill:5"}
    path = tmp_path / "d.jsonl"
    path.write_text(
        "\n".join([json.dumps(raw), json.dumps(half_bad), "{", json.dumps(clash), json.dumps(raw_case | {"id": "b"})])
    )
    dataset = load_dataset(path, skip_invalid=True)
    assert ids(dataset.items) == ["mill:3", "mill:5", "b"]
    assert [re.search(r"line (\d)", complaint)[1] for complaint in dataset.skipped] == ["2", "3", "4"]  # type: ignore[index]


def test_nothing_left_is_an_error_even_when_skipping(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing in it"):
        load_dataset(write(tmp_path / "d.json", [{"id": "x"}]), skip_invalid=True)


# Which dialogues a limit takes


@pytest.fixture
def many(raw: Raw) -> Callable[[Sequence[str]], list[Case]]:
    """The cases of one dialogue, of two cases, for every topic in the list."""

    def make(topics: Sequence[str]) -> list[Case]:
        return [
            case
            for number, topic in enumerate(topics)
            for case in cut_cases(raw | {"id": f"{topic}{number}", "topic": topic}, "test", "x")
        ]

    return make


def test_a_limit_takes_whole_dialogues_spread_over_topics(many: Callable[[Sequence[str]], list[Case]]) -> None:
    cases = many("aaaaabbc")
    for seed in range(20):
        for limit, most in ((1, 1), (3, 1), (5, 2), (6, 3)):
            chosen = select_dialogues(cases, limit, seed)
            assert set(Counter(case.dialogue for case in chosen).values()) == {2}
            topics = Counter(case.topic for case in chosen)
            assert sum(topics.values()) == 2 * limit
            assert max(topics.values()) == 2 * most
            assert ids(chosen) == [case.id for case in cases if case in chosen]


def test_a_limit_beyond_the_data_takes_all(many: Callable[[Sequence[str]], list[Case]]) -> None:
    cases = many("ab")
    assert select_dialogues(cases, None, 0) == select_dialogues(cases, 2, 0) == select_dialogues(cases, 9, 0)
    assert select_dialogues(cases, 2, 0) == tuple(cases)


def test_what_a_limit_takes_depends_on_the_seed_only(many: Callable[[Sequence[str]], list[Case]]) -> None:
    cases = many("aaaabbbb")
    draws = [frozenset(ids(select_dialogues(cases, 3, seed))) for seed in range(20)]
    assert draws == [frozenset(ids(select_dialogues(cases[::-1], 3, seed))) for seed in range(20)]
    assert len(set(draws)) > 5
