"""A talk with members that are models, and with reference agents."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sociable.api import reports, results, runs
from sociable.benchmarks.anteval.hidden.briefing import brief_member, load_hidden_prompts
from sociable.benchmarks.anteval.hidden.dataset import Level
from sociable.benchmarks.anteval.hidden.members import ReferenceMember
from sociable.benchmarks.anteval.hidden.metrics import METRICS, Played
from sociable.benchmarks.anteval.hidden.protocol import run_scenario
from sociable.benchmarks.anteval.hidden.reading import Spoken, find_said, read_turn
from sociable.benchmarks.anteval.hidden.records import HiddenEpisode
from sociable.benchmarks.anteval.hidden.scenario import Scenario
from sociable.benchmarks.anteval.hidden.told import Told, find_told
from sociable.benchmarks.anteval.hidden.views import _show_played
from sociable.core.records import Outcome, Usage
from sociable.core.view import Transcript
from sociable.engine.seats import Role, Seat, Seats
from sociable.models.protocol import Reply, Request, Sampling
from sociable.render.html import render_html

from .conftest import BOAT

MakeScenario = Callable[..., Scenario]
OPTIONS = ["the Swan", "the Otter", "the barge"]


class Answering:
    name = "answering"

    def __init__(self, answer: Callable[[str, str], str]) -> None:
        """``answer``: (who is asked, the last message) → the reply."""
        self.seen: list[tuple[str, str, str]] = []
        """(who is asked, the first message, the last)."""
        self._answer = answer

    async def generate(self, request: Request) -> Reply:
        first, last = (str(request.messages[place]["content"]) for place in (0, -1))
        name = first.removeprefix("You are ").split(" ")[0] if first.startswith("You are ") else ""
        self.seen.append((name, first, last))
        request.scope.usage += Usage(calls=1)
        return Reply(self._answer(name, last), Usage(calls=1))

    @property
    def requests(self) -> list[tuple[str, str]]:
        """(who is asked, the last message)."""
        return [(name, last) for name, _, last in self.seen]

    async def close(self) -> None:
        pass


def play(scenario: Scenario, answer: Callable[[str, str], str], partner: Seat | None = None) -> tuple[HiddenEpisode, Answering]:
    model = Answering(answer)
    seats = Seats(Seat(Role.SUBJECT, model.name, model, Sampling()), partner)
    return asyncio.run(run_scenario(scenario, 0, seats, load_hidden_prompts(), seed=0)), model


def refer(agent: str, scenario: Scenario, partner: str = "") -> HiddenEpisode:
    seats = Seats(
        Seat(Role.SUBJECT, f"reference/{agent}", None, Sampling()),
        Seat(Role.PARTNER, f"reference/{partner}", None, Sampling()) if partner else None,
    )
    return asyncio.run(run_scenario(scenario, 0, seats, load_hidden_prompts(), seed=0))


def make_played(scenario: Scenario, episode: HiddenEpisode) -> Played:
    return Played(scenario, episode, find_told(episode, [], []), {})


def score(scenario: Scenario, episode: HiddenEpisode) -> dict[str, float | None]:
    return {each.metric: each.value for each in METRICS.score(episode, make_played(scenario, episode))}


def choose_barge(name: str, last: str) -> str:
    if '"say"' in last:
        return json.dumps({"say": f"{name} is for the barge.", "lean": "C"})
    return '{"answer": "C"}'


def test_everybody_speaks_in_each_round_and_chooses_before_and_after(make_scenario: MakeScenario) -> None:
    scenario = make_scenario()
    episode, model = play(scenario, choose_barge)
    names = ["Ada", "Bo", "Cy", "Dee"]
    assert [turn.speaker for turn in episode.turns] == names * scenario.budget.rounds
    assert [turn.round for turn in episode.turns] == [number for number in (1, 2, 3) for _ in names]
    assert episode.before == episode.after == dict.fromkeys(names, "barge")
    assert episode.informed == "barge"
    assert episode.usage["subject"].calls == len(model.requests) == 4 + 12 + 4 + 1


def test_a_round_in_which_all_pass_ends_the_talk(make_scenario: MakeScenario) -> None:
    episode, _ = play(make_scenario(), lambda name, last: '{"say": "", "lean": "A"}' if '"say"' in last else "A")
    assert len(episode.turns) == 4
    assert score(make_scenario(), episode)["right"] == 0


def test_only_those_in_a_circle_hear_each_other_at_the_hard_level(make_scenario: MakeScenario) -> None:
    episode, model = play(make_scenario(Level.HARD), choose_barge)
    assert {turn.speaker: turn.heard_by for turn in episode.turns} == {
        "Ada": ("Bo",),
        "Bo": ("Ada", "Cy"),
        "Cy": ("Bo", "Dee"),
        "Dee": ("Cy",),
    }
    heard = "".join(last for name, last in model.requests if name == "Dee")
    assert "Cy: Cy is for the barge." in heard
    assert "Bo is for the barge." not in heard


def test_a_sheet_holds_what_its_member_knows_and_nothing_else(make_scenario: MakeScenario) -> None:
    prompts = load_hidden_prompts()
    easy = str(brief_member(make_scenario(), "Cy", prompts)["content"])
    hard = {name: str(brief_member(make_scenario(Level.HARD), name, prompts)["content"]) for name in ("Ada", "Bo", "Cy")}
    assert "cloudburst" in easy
    assert "think nothing of" not in easy
    assert "hospital ward" in hard["Cy"].partition("think nothing of")[2]
    assert "mast measures" not in hard["Cy"] + hard["Ada"]
    assert "You want another outcome" in hard["Ada"]
    assert "Your cousin owns the Swan." in hard["Ada"]
    assert "cousin owns" not in hard["Bo"] + hard["Cy"]
    assert "You hear and are heard by Ada and Cy; you neither hear nor are heard by Dee." in hard["Bo"]
    assert "You hear and are heard by Bo; you neither hear nor are heard by Cy and Dee." in hard["Ada"]
    assert "Everybody hears everybody." in easy


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ('{"say": "one two three four five", "lean": "B"}', Spoken("one two three", 1, 2)),
        ('```json\n{"say": "one\\ntwo", "lean": "the barge"}\n```', Spoken("one two", 2)),
        ('{"say": "", "lean": "A"}', Spoken("", 0)),
        ('{"lean": "A"}', Spoken("", 0, problem="no 'say' in the reply")),
        ('{"say": ["one"], "lean": "A"}', Spoken("", 0, problem="no 'say' in the reply")),
        ('{"say": ' + "[" * 1500, Spoken("", problem="no 'say' in the reply")),
        ("{" * 3000, Spoken("", problem="no 'say' in the reply")),
        ("{Say: one two, LEAN: A}", Spoken("one two", 0)),
        ("one {two}", Spoken("one {two}")),
        ("one-" * 9000, Spoken("one-" * 9, None, 1)),
        ("Just words here, four", Spoken("Just words here,", None, 1)),
        ('{"say": "TO bo: one two three four", "lean": "A"}', Spoken("one two three", 0, 1, "Bo Ek")),
        ('{"say": "TO CY AS: one", "lean": "A"}', Spoken("one", 0, 0, "Cy As")),
        ('{"say": "TO CY: one", "lean": "A"}', Spoken("TO CY: one", 0)),
        ('{"say": "TO Bo and Cy As: one", "lean": "A"}', Spoken("TO Bo and", 0, 3)),
    ],
)
def test_a_turn_is_read_and_cut(reply: str, said: Spoken) -> None:
    assert read_turn(reply, OPTIONS, 3, ["Bo Ek", "Cy As", "Cy Berg"]) == said


def test_where_there_are_no_asides_their_opening_is_said_aloud() -> None:
    assert read_turn("TO Bo: one two", OPTIONS, 9).text == "TO Bo: one two"


def test_which_clues_a_turn_tells_is_read_by_their_own_words(make_scenario: MakeScenario) -> None:
    scenario = make_scenario(Level.HARD)
    assert find_said("Dee: the Otter's permit allows forty-five passengers only.", scenario) == ("permit",)
    assert find_said("The mast of the Swan measures over four metres, four twenty.", scenario) == ("mast",)
    assert find_said("I am for the Swan, it is the prettiest.", scenario) == ()


def test_a_go_between_is_told_that_not_all_hear_one_another(make_scenario: MakeScenario) -> None:
    scenario = make_scenario(Level.HARD, circles=[["Ada", "Bo", "Cy"], ["Cy", "Dee"]])
    assert "all the others, and not all of them hear one another" in str(
        brief_member(scenario, "Cy", load_hidden_prompts())["content"]
    )


# A first vote and asides.


def test_the_first_choices_are_read_aloud_to_all_and_stand_in_the_briefing(make_scenario: MakeScenario) -> None:
    scenario = replace(make_scenario(Level.HARD), vote=True)

    def answer(name: str, last: str) -> str:
        if "Nobody has spoken yet" in last:
            return {"Ada": "A", "Bo": "B", "Cy": "I do not know."}.get(name, "C")
        return choose_barge(name, last)

    _, model = play(scenario, answer)
    firsts = [(name, first) for name, first, last in model.seen if '"say"' in last]
    assert {name for name, _ in firsts} == {"Ada", "Bo", "Cy", "Dee"}
    for _, first in firsts:
        assert "| Ada: the Swan\n| Bo: the Otter\n| Cy: (nothing)\n| Dee: the barge" in first
    asked = {name: (first, last) for name, first, last in model.seen if "Nobody has spoken yet" in last}
    assert "choose what you want them to hear" in asked["Ada"][1]
    assert all("read aloud to all" in first and "read aloud to all" in last for first, last in asked.values())
    assert not any("read aloud" in first + last for _, first, last in play(make_scenario(Level.HARD), answer)[1].seen)


def test_who_wants_another_outcome_is_asked_for_its_wish_and_the_others_for_their_belief(make_scenario: MakeScenario) -> None:
    _, model = play(make_scenario(Level.HARD), choose_barge)
    asked = {name: last for name, last in model.requests if name and '"say"' not in last}
    assert "what you want the group to do" in asked["Ada"]
    assert all("By all that you know now" in asked[name] and "want the group" not in asked[name] for name in ("Bo", "Cy", "Dee"))


def test_an_aside_reaches_the_one_whom_it_is_for_and_the_others_notice_it(make_scenario: MakeScenario) -> None:
    """Bo, whom Ada and Cy hear, tells Cy alone; Dee, who does not hear Ada, is out of her reach."""

    def answer(name: str, last: str) -> str:
        if '"say"' not in last:
            return "C"
        to = {"Bo": "TO Cy: ", "Ada": "TO Dee: "}.get(name, "")
        return json.dumps({"say": f"{to}canary of {name}" if "Round 1" in last else "", "lean": "C"})

    scenario = replace(make_scenario(Level.HARD), asides=True)
    episode, model = play(scenario, answer)
    ada, bo = episode.turns[:2]
    assert (bo.addressees, bo.heard_by, bo.content) == (("Cy",), ("Cy",), "canary of Bo")
    assert (ada.addressees, ada.heard_by) == (("Dee",), ())
    assert {name for name, last in model.requests if "canary of Bo" in last} == {"Bo", "Cy"}
    assert {name for name, last in model.requests if "canary of Ada" in last} == {"Ada"}
    heard = "".join(last for name, last in model.requests if name == "Ada")
    assert "Bo (to Cy alone): (something that you do not hear)" in heard
    assert "Bo (to you alone): canary of Bo" in "".join(last for name, last in model.requests if name == "Cy")
    assert "TO NAME:" in model.seen[0][1]
    assert "TO NAME:" not in play(make_scenario(), answer)[1].seen[0][1]


def test_the_oracle_keeps_who_wants_another_outcome_out_of_its_hearing(make_scenario: MakeScenario) -> None:
    plain = make_scenario(Level.HARD)
    scenario = replace(plain, asides=True)
    episode = refer("oracle", scenario)
    assert {turn.addressees for turn in episode.turns if turn.speaker == "Bo" and turn.content} == {("Cy",)}
    assert not any("Ada" in turn.heard_by for turn in episode.turns if turn.content)
    assert score(scenario, episode)["right"] == score(plain, refer("oracle", plain))["right"] == 1


# Reference agents.


def test_the_oracle_finds_what_the_pooler_misses_for_want_of_asking(make_scenario: MakeScenario) -> None:
    scenario = make_scenario(Level.MIDDLE)
    found = {agent: score(scenario, refer(agent, scenario))["right"] for agent in ("oracle", "asker", "pooler", "sharer")}
    assert found == {"oracle": 1, "asker": 1, "pooler": 0.25, "sharer": 0}, "Cy himself has what nobody asks for"
    easy = make_scenario()
    assert score(easy, refer("pooler", easy))["right"] == 1


def test_who_wants_another_outcome_is_left_out_of_the_figures(make_scenario: MakeScenario) -> None:
    scenario = make_scenario(Level.HARD)
    episode = refer("oracle", scenario)
    assert episode.after == {"Ada": "swan", "Bo": "barge", "Cy": "barge", "Dee": "barge"}
    found = score(scenario, episode)
    assert (found["right"], found["told"], found["pooled"]) == (1, 1, 1)


def test_the_conformist_goes_with_the_others_though_it_has_all(make_scenario: MakeScenario) -> None:
    scenario = make_scenario()
    found = score(scenario, refer("conformist", scenario))
    assert found["right"] == 0
    assert found["pooled"] == 1
    assert found["gap"] == 1


def test_a_partner_plays_who_wants_another_outcome(make_scenario: MakeScenario) -> None:
    silent = Answering(lambda name, last: "" if '"say"' in last else "A")
    partner = Seat(Role.PARTNER, silent.name, silent, Sampling())
    episode, model = play(make_scenario(Level.HARD), choose_barge, partner)
    assert {name for name, _ in silent.requests} == {"Ada"}
    assert "Ada" not in {name for name, _ in model.requests}
    assert episode.usage["partner"].calls == len(silent.requests)


@pytest.mark.parametrize("agent", ["liar", "silent"])
def test_a_silent_partner_says_nothing_and_a_lying_one_talks_for_its_option(make_scenario: MakeScenario, agent: str) -> None:
    episode = refer("pooler", make_scenario(Level.HARD), agent)
    assert any(turn.content for turn in episode.turns if turn.speaker == "Ada") is (agent == "liar")
    assert episode.after["Ada"] == "swan"


def test_a_turn_that_cannot_be_read_has_its_reason_and_is_the_partners_failure(make_scenario: MakeScenario) -> None:
    odd = Answering(lambda name, last: '{"speech": "Take the Swan!"}' if '"say"' in last else "A")
    scenario, partner = make_scenario(Level.HARD), Seat(Role.PARTNER, odd.name, odd, Sampling())
    assert play(scenario, choose_barge, partner)[0].partner_failure == "Ada, round 1: no 'say' in the reply"
    episode, _ = play(scenario, lambda name, last: '{"lean": "C"}' if name == "Bo" else choose_barge(name, last))
    assert not episode.partner_failure
    lines = next(each.lines for each in _show_played(make_played(scenario, episode)) if isinstance(each, Transcript))
    assert next(line.text for line in lines if line.speaker == "Bo").endswith("[no 'say' in the reply]")


# What is measured.


def test_giving_way_and_settling_are_counted(make_scenario: MakeScenario) -> None:
    """Bo is for the barge in the first round, and for the Swan from the second on, as all others are."""

    def answer(name: str, last: str) -> str:
        if '"say"' not in last:
            return '{"answer": "A"}'
        return json.dumps({"say": "Well.", "lean": "C" if name == "Bo" and "Round 1" in last else "A"})

    scenario = make_scenario()
    found = score(scenario, play(scenario, answer)[0])
    assert (found["gave_way"], found["settled"], found["right"], found["informed"]) == (1, 2, 0, 0)


@pytest.mark.parametrize(
    ("first", "last", "followed"),
    [
        ("AAC", "AAA", 1),  # two for the Swan at first, and the third goes with them
        ("AAC", "AAC", 0),
        ("AAC", "CCC", 0),  # the others come to the third
        ("CCA", "CCC", None),  # most were right
        ("ABC", "AAA", None),  # no option had most
        ("AAA", "AAA", None),  # nobody was against them
        ("AA?", "AAA", 1),
    ],
)
def test_going_with_a_wrong_first_majority_is_counted(
    make_scenario: MakeScenario, first: str, last: str, followed: float | None
) -> None:
    scenario, ids = make_scenario(Level.HARD), {"A": "swan", "B": "otter", "C": "barge", "?": ""}
    before, after = (dict(zip(("Bo", "Cy", "Dee"), map(ids.__getitem__, each), strict=True)) for each in (first, last))
    episode = HiddenEpisode(id="e", scenario="s", cluster="boat", before=before, after=after)
    assert score(scenario, episode)["followed"] == followed


def test_who_wants_another_outcome_makes_no_first_majority(make_scenario: MakeScenario) -> None:
    scenario = make_scenario(Level.HARD)
    before = {"Ada": "swan", "Bo": "swan", "Cy": "barge", "Dee": "otter"}
    episode = HiddenEpisode(id="e", scenario="s", cluster="boat", before=before, after=dict.fromkeys(before, "swan"))
    assert score(scenario, episode)["followed"] is None


def test_the_conformist_goes_by_the_vote_until_others_have_spoken(make_scenario: MakeScenario) -> None:
    member = ReferenceMember("conformist", "Bo", replace(make_scenario(), vote=True), 0, 0)
    alone = asyncio.run(member.choose([], is_after=False))
    member.hear_vote({"Ada": "otter", "Bo": "swan", "Cy": "otter", "Dee": "swan"})
    assert (alone, asyncio.run(member.speak(1, [])).lean) == ("swan", "otter")


def test_the_bias_towards_what_all_know_is_measured(make_scenario: MakeScenario) -> None:
    said = {"Ada": "The Swan gleams with its brass lanterns!", "Bo": "Its mast measures four metres twenty."}

    def answer(name: str, last: str) -> str:
        return json.dumps({"say": said.get(name, ""), "lean": "A"}) if '"say"' in last else "A"

    scenario = make_scenario()
    found = score(scenario, play(scenario, answer)[0])
    assert found["shared"] == pytest.approx(0.5)
    assert found["own"] == pytest.approx(1 / 8)
    assert found["told"] == pytest.approx(1 / 5)


def test_a_judge_says_what_no_clue_supports(tmp_path: Path) -> None:
    (tmp_path / "boat.json").write_text(json.dumps(BOAT))
    (tmp_path / "judge.py").write_text(
        "def reply(messages):\n"
        "    asked = messages[-1]['content']\n"
        "    if '\"told\"' in asked:\n"
        '        return \'{"reason": "so", "told": [%s]}\' % asked.partition(". The Otter costs")[0].split()[-1]\n'
        "    said = asked.rpartition('says:')[2].partition('Do')[0]\n"
        "    wrong = 'Otter' in said and ('said before' not in asked or 'Otter' in asked.partition('so far:')[2].partition('Now')[0])\n"
        '    return \'{"reason": "so", "answer": "%s"}\' % ("yes" if wrong else "no")\n'
    )
    (tmp_path / "model.py").write_text(
        "import json\n"
        "def reply(messages):\n"
        "    who, last = messages[0]['content'].split()[2], messages[-1]['content']\n"
        "    if '\"say\"' not in last:\n"
        "        return 'A'\n"
        "    said = 'The Otter leaks.' if who in ('Bo', 'Cy') and 'Round 1' in last else ''\n"
        "    return json.dumps({'say': said, 'lean': 'A'})\n"
    )
    result = runs.run(
        "anteval-hidden",
        f"python:{tmp_path}/model.py:reply",
        judges=[f"python:{tmp_path}/judge.py:reply"],
        dataset=tmp_path / "boat.json",
        options={"levels": ["easy"]},
        out=tmp_path / "run",
    )
    values = {each.metric: each.value for each in result.scores}
    assert values["shared"] == 1, "the judge hears in it what all know: the Otter costs half"
    assert values["unsupported"] == 1, "both say it"
    assert values["repeats"] == 1, "and the second one repeats it"
    shown = result.study.show(next(iter(result.episodes())), "told|3", None)
    assert "The Otter costs half." in shown.situation
    assert "the barge draws" not in result.study.show(next(iter(result.episodes())), "told|2", None).situation, "Cy's alone"
    shown = result.study.show(next(iter(result.episodes())), "repeats|3", None)
    assert "Bo: The Otter leaks." in shown.situation
    page = render_html(reports.make_report_document([tmp_path / "run"]))
    for part in (
        "is what the judges say",
        "What the answer rests on",
        "How each decided",
        "Knew",
        "With all clues in view",
        "By level",
        "right/easy",
    ):
        assert part in page


def test_without_a_judge_claims_are_not_measured(make_scenario: MakeScenario) -> None:
    episode, _ = play(make_scenario(), choose_barge)
    scores = {each.metric: each for each in METRICS.score(episode, Played(make_scenario(), episode, Told(), {}))}
    assert scores["unsupported"].outcome is Outcome.NOT_REACHED


def test_a_person_may_play_who_wants_another_outcome(tmp_path: Path, open_terminal: Callable[..., Any]) -> None:
    (tmp_path / "boat.json").write_text(json.dumps(BOAT))
    terminal = open_terminal(
        "run", "anteval-hidden", "--model", "reference/oracle", "--partner", "human", "--dataset", "boat.json",
        "--option", "levels=hard", "--option", "rounds=1", "--out", "run",
    )  # fmt: skip
    terminal.wait_for("You want another outcome than the others")
    terminal.wait_for("Which boat?")
    terminal.type("1")
    terminal.wait_for("What do you say?")
    terminal.type("Take the Swan!")
    terminal.wait_for("Which would you choose now?")
    terminal.type("1")
    terminal.wait_for("Which boat?")
    terminal.type("the Swan")
    assert terminal.end() == 0
    (episode,) = results.load_result(tmp_path / "run").episodes()
    assert [turn.content for turn in episode.turns if turn.speaker == "Ada"] == ["Take the Swan!"]
    assert episode.after["Ada"] == "swan"
