"""Each layout is read as it is meant: who said what to whom, who wants what, who is tested; the rest is refused with its reason."""

from __future__ import annotations

import json
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from sociable.benchmarks.imported.formats import FORMATS, Chosen, choose
from sociable.benchmarks.imported.formats import read_conversations as read
from sociable.benchmarks.imported.records import Conversation, Person, Refused
from sociable.core.errors import DataError, InputError

from .layouts import (
    make_concordia,
    make_raw_concordia,
    make_social_reasoning,
    make_sotopia_log,
    make_sotopia_row,
    make_tau2,
    write,
)


def list_said(conversation: Conversation | Refused) -> list[tuple[str, tuple[str, ...], str]]:
    assert isinstance(conversation, Conversation), conversation
    return [(turn.speaker, turn.addressees, turn.content) for turn in conversation.turns]


def find_person(conversation: Conversation | Refused, name: str) -> Person:
    assert isinstance(conversation, Conversation), conversation
    return next(person for person in conversation.people if person.name == name)


@pytest.mark.parametrize("made", [make_sotopia_log(), make_sotopia_row()])
def test_sotopia(made: dict[str, Any], tmp_path: Path) -> None:
    (found,) = read("sotopia", write(tmp_path / "episodes.jsonl", made))
    assert list_said(found) == [
        ("Ines Prat", (), "I am home by nine.\nAlways."),
        ("Omar Haddad", (), "[non-verbal communication] shrugs, as if Ines did nothing"),
        ("Omar Haddad", ("Ines Prat",), "Leave me the key."),
        ("Ines Prat", (), "left the conversation"),
    ]
    ines, omar = find_person(found, "Ines Prat"), find_person(found, "Omar Haddad")
    assert (ines.model, omar.model) == ("model-a", "model-b")
    assert (ines.goal, omar.goal) == ("Keep the space at night", "Get it at four\nin the morning")
    assert "sold her car" in ines.knows and "sold her car" not in omar.knows
    assert ines.reported == {"goal": 8.0, "financial": -1.0, "overall_score": 1.0}
    assert isinstance(found, Conversation) and found.situation == "Two neighbours share one parking space"


def test_what_no_agent_saw_of_a_goal_is_left_out(tmp_path: Path) -> None:
    unseen = make_sotopia_row(raw_messages=[make_sotopia_row()["raw_messages"][0][2:]])
    (found,) = read("sotopia", write(tmp_path / "episodes.jsonl", unseen))
    assert find_person(found, "Ines Prat").goal == "Keep it (at night)"
    assert isinstance(found, Conversation) and found.situation == "Two neighbours share one parking space"


def test_scores_of_sotopia_can_reach_both_ends_of_their_ranges() -> None:
    # Of seven dimensions three end at 10, two at 5 and two at 0; two begin at -5, two at -10.
    overall = FORMATS["sotopia"].reported["overall_score"]
    assert (overall.low, overall.high) == (pytest.approx(-30 / 7), pytest.approx(40 / 7))


def test_sotopia_refuses_games_and_silence(tmp_path: Path) -> None:
    silent = make_sotopia_log(messages=[make_sotopia_log()["messages"][0][:2]])
    game = {"pk": "G", "model_mapping": {}, "turns": []}
    found = read("sotopia", write(tmp_path / "episodes.jsonl", silent, game))
    assert [each.reason for each in found if isinstance(each, Refused)] == [
        "nobody said anything",
        "a log of SOTOPIA's games, whose players have roles and no goals of their own",
    ]
    with pytest.raises(InputError, match=r"Nothing can be judged. Of 2 recordings: nobody said anything."):
        choose([*found, *found[:1]][::2], None, ())
    (tmp_path / "episodes.csv").touch()
    with pytest.raises(InputError, match="Take the episodes as JSON Lines or JSON"):
        read("sotopia", tmp_path / "episodes.csv")


def test_tau2(tmp_path: Path) -> None:
    found, *refused = read("tau2", write(tmp_path / "results.json", make_tau2()))
    assert list_said(found) == [
        ("agent", (), "Hello, what can I do?"),
        ("customer", (), "Move my booking to Friday."),
        ("agent", ("tools",), 'find({"id": 7})'),
        ("tools", ("agent",), '{"day": "Monday"}'),
        ("agent", (), "It is on Friday now."),
        ("customer", (), "Thank you."),
    ]
    agent, customer = find_person(found, "agent"), find_person(found, "customer")
    assert agent.is_tested and agent.knows == "Bookings move once." and agent.reported == {"reward": 1.0}
    assert (customer.model, customer.goal, customer.knows) == ("model-u", "move a booking\nbe brief", "name: Bo")
    assert isinstance(found, Conversation) and (found.id, found.cluster) == ("hotel:t1:1", "hotel:t1")
    assert [each.reason for each in refused if isinstance(each, Refused)] == [
        "no text of the agent, as in simulations by voice",
        "the simulation failed (infrastructure_error)",
        "no customer says anything, as in simulations of an agent alone",
    ]


def test_tau2_keeps_what_the_agent_did_wrong(tmp_path: Path) -> None:
    (done, *_) = make_tau2()["simulations"]
    broken_off = {**done, "termination_reason": "agent_error", "policy": "Never.", "reward_info": {"reward": 0.0}}
    results = make_tau2(simulations=[broken_off, {**done, "termination_reason": "user_error"}, {**done, "task_id": "t2"}])
    found, *refused = read("tau2", write(tmp_path / "results.json", results))
    agent = find_person(found, "agent")
    assert agent.reported == {"reward": 0.0} and agent.knows == "Never."
    assert [each.reason for each in refused if isinstance(each, Refused)] == [
        "the simulation failed (user_error)",
        "its task is not among those of the file",
    ]


def test_results_of_the_first_tau_bench_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="a trajectory of the first tau-bench; expected results of tau2-bench"):
        read("tau2", write(tmp_path / "old.json", [{"task_id": 0, "reward": 1.0, "info": {}, "traj": [], "trial": 0}]))


def test_tau2_with_simulations_in_files_of_their_own(tmp_path: Path) -> None:
    whole = make_tau2()
    for number, simulation in enumerate(whole["simulations"]):
        write(tmp_path / "simulations" / f"{number}.json", simulation)
    write(tmp_path / "results.json", {**whole, "simulations": []})
    assert len(read("tau2", tmp_path)) == 4


def test_social_reasoning_bench(tmp_path: Path) -> None:
    write(tmp_path / "one" / "results.json", make_social_reasoning())
    calendar, market, failed, open_ended, unjudged = read("social-reasoning-bench", tmp_path)
    assert list_said(calendar) == [("Leo Mai", (), "Nine?\nREQUEST"), ("Ana Ruiz", (), "Re: Nine?\nTen suits me.")]
    assert list_said(market) == [("buyer", (), "45?"), ("seller", (), "50.")]
    ana, buyer, seller = find_person(calendar, "Ana Ruiz"), find_person(market, "buyer"), find_person(market, "seller")
    assert ana.is_tested and ana.goal == "Keep my noon free." and "Doctor (secret)" in ana.knows
    assert buyer.is_tested and not seller.is_tested and (buyer.model, seller.model) == ("model-a", "model-s")
    assert buyer.reported == {"task_completed": 1.0, "outcome_optimality": 0.25, "leakage_rate": 0.0}
    assert "52.0" in buyer.knows and "52.0" not in seller.knows
    assert isinstance(failed, Refused) and failed.reason == "its execution failed"
    assert "10:00–11:00 suits it 0.9 of 1." in ana.knows and find_person(calendar, "Leo Mai").goal == "Find out what Ana hides."
    # Prices stand in no message, and what was not valid the other side never saw.
    assert list_said(open_ended) == [("buyer", (), "[Offer #1 created at price 45.00.] 45?"), ("seller", (), "50.")]
    assert find_person(unjudged, "buyer").reported == {}


def test_an_attacker_of_older_results_has_its_instructions_too(tmp_path: Path) -> None:
    results = make_social_reasoning()
    context = [{"role": "system", "content": "Find out what Ana hides."}, {"role": "user", "content": "Meet Ana at nine."}]
    results["results"][0]["execution"]["requestor_context"] = context
    calendar, *_ = read("social-reasoning-bench", write(tmp_path / "results.json", results))
    assert find_person(calendar, "Leo Mai").goal == "Find out what Ana hides.\n\nMeet Ana at nine."
    assert find_person(calendar, "Ana Ruiz").goal == "Keep my noon free."


def test_concordia(tmp_path: Path) -> None:
    (found,) = read("concordia", write(tmp_path / "vote.json", make_concordia()))
    assert list_said(found) == [("Tess", (), "Let us vote by hand, all of us, here and now."), ("Ugo", (), "nods")]
    assert [find_person(found, name).goal for name in ("Tess", "Ugo")] == ["win the vote", "stay out of it"]
    # What is remembered of the conversation is no knowledge that somebody came with.
    assert [find_person(found, name).knows for name in ("Tess", "Ugo")] == ["Tess chairs the club.", ""]
    (raw,) = read("concordia", write(tmp_path / "raw.json", make_raw_concordia()))
    assert list_said(raw) == [("Tess", (), '"Let us vote."'), ("Ugo", (), "nods")]
    assert find_person(raw, "Tess").goal == "win the vote"


def test_hostile_lengths_take_no_time(tmp_path: Path) -> None:
    long = "\n" * 100_000 + " " * 100_000 + "x's" * 30_000
    messages = make_sotopia_log()["messages"]
    messages = [[["Environment", "Ines Prat", long], *messages[0]], *messages[1:]]
    began = process_time()
    read("sotopia", write(tmp_path / "episodes.jsonl", make_sotopia_log(messages=messages)))
    steps = [{"Step": 1, "Entity [Tess]": {"__act__": {"Value": long}, long: {"Key": " " * 100_000, "Value": "x"}}}]
    read("concordia", write(tmp_path / "raw.json", steps))
    # Under a second; what looks through it again and again takes minutes.
    assert process_time() - began < 20


@pytest.mark.parametrize("layout", FORMATS)
@pytest.mark.parametrize("content", ["[]", "{}", '{"a": 1}', "not json", '[{"messages": 3}]', '{"entries": [3], "results": []}'])
def test_other_files_are_told_apart_in_a_sentence(layout: str, content: str, tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text(content)
    with pytest.raises((DataError, InputError)) as error:
        choose(read(layout, tmp_path / "other.json"), "model-a", ())
    assert "\n" not in str(error.value)


def test_what_is_no_number_is_no_score_and_a_nameless_person_is_told(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text(json.dumps(make_tau2()).replace('"reward": 1.0', '"reward": NaN'))
    found, *_ = read("tau2", tmp_path / "results.json")
    assert find_person(found, "agent").reported == {}
    nameless = json.dumps(make_sotopia_row(social_goals={})).replace("Omar Haddad", "")
    (tmp_path / "episodes.jsonl").write_text(nameless)
    with pytest.raises(DataError, match=r"episodes.jsonl: field 'name'"):
        read("sotopia", tmp_path / "episodes.jsonl")


def test_a_log_nested_without_end_is_told_in_a_sentence(tmp_path: Path) -> None:
    depth = 450  # JSON of which Python still reads, in objects within lists
    deep = '{"a": [' * depth + "1" + "]}" * depth
    entry = f'{{"entity_name": "Tess", "deduplicated_data": {{"value": {{"__act__": {deep}}}}}}}'
    (tmp_path / "deep.json").write_text(f'{{"content_store": {{}}, "entries": [{entry}]}}')
    with pytest.raises(DataError, match=r"nested too deeply|not JSON"):
        read("concordia", tmp_path / "deep.json")


def choose_of(found: list[Conversation | Refused], model: str | None = None, *participants: str) -> Chosen:
    return choose(found, model, participants)


def test_whoever_is_tested_is_named_by_its_model(tmp_path: Path) -> None:
    found = read("sotopia", write(tmp_path / "episodes.jsonl", make_sotopia_log()))
    chosen = choose_of(found, "model-b")
    assert [person.name for person in chosen.conversations[0].tested] == ["Omar Haddad"]
    assert (chosen.model, chosen.partner) == ("model-b", "model-a")
    with pytest.raises(InputError, match=r"Several models spoke. Name one with --model: model-a \(1\), model-b \(1\)."):
        choose_of(found)
    with pytest.raises(InputError, match=r"Nothing can be judged. Of 1 recordings: model-c does not take part."):
        choose_of(found, "model-c")
    assert choose_of(found, None, "Ines Prat").model == "model-a"
    with pytest.raises(InputError, match="none of Zoe takes part"):
        choose_of(found, "model-a", "Zoe")


def test_of_one_model_on_both_sides_both_are_tested(tmp_path: Path) -> None:
    played = make_sotopia_log(models=["gpt-4", "model-a", "model-a"])
    chosen = choose_of(read("sotopia", write(tmp_path / "episodes.jsonl", played, played)))
    assert [len(each.tested) for each in chosen.conversations] == [2, 2]
    # The same task twice is told apart by number.
    assert [each.id for each in chosen.conversations] == ["ENV:A1+A2:1", "ENV:A1+A2:2"]


def test_a_log_without_models_needs_a_name_and_one_without_goals_is_refused(tmp_path: Path) -> None:
    found = read("concordia", write(tmp_path / "vote.json", make_concordia()))
    with pytest.raises(InputError, match=r"The file does not say which model spoke. Name it with --model NAME."):
        choose_of(found)
    assert [person.name for person in choose_of(found, "m", "Ugo").conversations[0].tested] == ["Ugo"]
    steps = [{"Step": 1, "Entity [Tess]": {"__act__": {"Value": "waits"}}}]
    with pytest.raises(InputError, match="tells no goal of whoever is tested"):
        choose_of(read("concordia", write(tmp_path / "raw.json", steps)), "m")
