"""The desk: places, questions and answers of several people, from several processes, killed at any moment."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sociable.agents.people.at_desk import PeopleAtDesk
from sociable.agents.people.desk import DESK_FILE, Desk, Link, OpenQuestion, Place
from sociable.core.errors import InputError, RunFolderError
from sociable.core.form import Form, Question
from sociable.core.view import Paragraph

FORM = Form("It is your turn", [Paragraph("She looks at you.")], [Question("What do you say?"), Question("Which?", ("a", "b"))])
WORDS = ["I know.", "b"]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with Desk(tmp_path) as desk:
        yield desk


def ask(desk: Desk, name: str, item: str = "scene#0", participant: str = "Maria", role: str = "subject") -> None:
    desk.put(name, Place(item, role, participant), FORM)


def find(desk: Desk, link: Link) -> OpenQuestion:
    found = desk.find_open_question(link)
    assert found is not None
    return found


def test_a_link_is_found_by_its_secret_alone_and_only_a_hash_is_kept(desk: Desk, tmp_path: Path) -> None:
    new = desk.make_link("Ada", participant="Maria")
    assert desk.find_link(new.secret) == new.link == desk.list_links()[0]
    assert desk.find_link(new.secret[:-1]) is None
    assert len(new.secret) == 43
    assert not any(new.secret.encode() in file.read_bytes() for file in tmp_path.iterdir())
    desk.close_link(new.link)
    assert desk.find_link(new.secret) is None


def test_a_question_waits_is_shown_and_answered(desk: Desk, tmp_path: Path) -> None:
    link = desk.make_link("Ada").link
    assert desk.find_open_question(link) is None
    ask(desk, "q1")
    question = find(desk, link)
    assert (question.id, question.place, question.form.title) == ("q1", Place("scene#0", "subject", "Maria"), FORM.title)
    desk.keep_draft(link, "q1", ["I kn"])
    # Another process, later: the same question, when it was first shown, and what was written.
    with Desk(tmp_path) as another:
        again = find(another, link)
    assert (again.shown, again.draft) == (question.shown, ("I kn",))
    given = desk.answer(link, "q1", [" I know.\r\n", "b"])
    assert (given.answers, given.person) == (("I know.", "b"), "Ada")
    assert given.seconds == pytest.approx(given.answered - question.shown)
    assert desk.find_answer("q1") == given == desk.list_answers(link)[0]
    assert desk.find_open_question(link) is None
    ask(desk, "q2")
    (earlier,) = desk.list_earlier(find(desk, link))
    assert earlier.answers == given.answers


@pytest.mark.parametrize(
    ("answers", "problem"),
    [
        (["I know."], "2 answers were expected, 1 came"),
        (["", "a"], "What do you say. Write something"),
        (["one\ntwo", "a"], "on one line"),
        (["I know.", "c"], "Which. Choose one of: a, b"),
    ],
)
def test_what_is_no_answer_is_refused_and_the_question_stays(desk: Desk, answers: list[str], problem: str) -> None:
    link = desk.make_link("Ada").link
    ask(desk, "q1")
    find(desk, link)
    with pytest.raises(InputError, match=problem):
        desk.answer(link, "q1", answers)
    assert find(desk, link).id == "q1"


def test_the_first_answer_holds(desk: Desk) -> None:
    link, other = desk.make_link("Ada").link, desk.make_link("Ben").link
    ask(desk, "q1")
    find(desk, link)
    first = desk.answer(link, "q1", WORDS)
    assert desk.answer(link, "q1", WORDS) == first  # sent twice
    with pytest.raises(InputError, match="answered already"):
        desk.answer(link, "q1", ["I forgot.", "a"])
    with pytest.raises(InputError, match="not put to you"):
        desk.answer(other, "q1", WORDS)


def test_who_has_a_place_keeps_it_and_takes_no_other_until_the_case_is_over(desk: Desk) -> None:
    ada, ben = desk.make_link("Ada").link, desk.make_link("Ben").link
    for item in ("one", "two"):
        desk.begin_case(item)
        ask(desk, f"{item}-maria", item)
    ask(desk, "one-tom", "one", "Tom")
    assert find(desk, ada).id == "one-maria"
    # Ben joins the scene that somebody plays already, though the other was asked before.
    assert find(desk, ben).id == "one-tom"
    desk.answer(ada, "one-maria", WORDS)
    assert desk.find_open_question(ada) is None and desk.is_in_case(ada)
    assert (desk.count_done(ada), [each.person for each in desk.list_waiting()]) == (0, ["", "Ben"])
    ask(desk, "one-maria-2", "one")
    assert find(desk, ada).id == "one-maria-2"
    desk.answer(ada, "one-maria-2", WORDS)
    desk.end_case("one")
    assert desk.count_done(ada) == 1
    assert find(desk, ada).id == "two-maria"


def test_who_plays_everybody_takes_further_places_in_the_same_case(desk: Desk) -> None:
    alone = desk.make_link("Ada", several=True).link
    for item in ("one", "two"):
        desk.begin_case(item)
        for name in ("Maria", "Tom"):
            ask(desk, f"{item}-{name}", item, name)
    answered = []
    for _ in range(2):
        answered.append(find(desk, alone).id)
        desk.answer(alone, answered[-1], WORDS)
    assert answered == ["one-Maria", "one-Tom"] and desk.find_open_question(alone) is None


def test_as_many_cases_are_played_as_there_are_people_for(desk: Desk) -> None:
    assert desk.count_playable(2) == 0
    for number in range(5):
        desk.make_link(f"person {number}")
    desk.make_link("who plays everybody", several=True)
    desk.make_link("who judges", role="judge")
    desk.close_link(desk.list_links()[0])
    assert [desk.count_playable(seats) for seats in (1, 2, 3)] == [5, 3, 2]


def test_a_link_may_be_for_one_role_one_participant_or_one_case(desk: Desk) -> None:
    links = [desk.make_link("Ada", **where).link for where in ({"role": "judge"}, {"participant": "Tom"}, {"item": "two"})]
    ask(desk, "q1")
    assert [desk.find_open_question(link) for link in links] == [None, None, None]
    ask(desk, "judged", role="judge")
    ask(desk, "tom", participant="Tom")
    ask(desk, "two", "two")
    assert [find(desk, link).id for link in links] == ["judged", "tom", "two"]


def test_nobody_judges_an_episode_of_their_own(desk: Desk) -> None:
    ada, ben = desk.make_link("Ada").link, desk.make_link("Ben").link
    ask(desk, "q1")
    desk.answer(ada, find(desk, ada).id, WORDS)
    ask(desk, "judged", participant="human|goal", role="judge")
    assert desk.find_open_question(ada) is None
    # A seat that was given up since was played in all the same.
    desk.release_place(Place("scene#0", "subject", "Maria"))
    assert desk.find_open_question(ada) is None
    assert find(desk, ben).id == "judged"


def test_a_judge_who_takes_over_is_not_told_what_another_said(desk: Desk) -> None:
    ada, ben = desk.make_link("Ada").link, desk.make_link("Ben").link
    ask(desk, "judged", participant="human", role="judge")
    desk.answer(ada, find(desk, ada).id, WORDS)
    ask(desk, "swapped", participant="human", role="judge")
    question = find(desk, ada)
    assert len(desk.list_earlier(question)) == 1
    desk.release_place(question.place)
    assert desk.list_earlier(find(desk, ben)) == []


def test_a_place_whose_person_went_away_is_free_again(desk: Desk) -> None:
    ada, ben = desk.make_link("Ada").link, desk.make_link("Ben").link
    ask(desk, "q1")
    question = find(desk, ada)
    assert desk.find_open_question(ben) is None
    desk.release_place(question.place)
    assert find(desk, ben).id == "q1"
    with pytest.raises(InputError, match="Open your link again"):
        desk.answer(ada, "q1", WORDS)


def test_a_new_secret_for_a_lost_one_costs_neither_place_nor_answers(desk: Desk) -> None:
    lost, ben = desk.make_link("Ada"), desk.make_link("Ben").link
    ask(desk, "q1")
    desk.answer(lost.link, find(desk, lost.link).id, WORDS)
    ask(desk, "q2")
    desk.keep_draft(lost.link, find(desk, lost.link).id, ["I kn"])
    new = desk.renew_link(lost.link)
    assert desk.find_open_question(ben) is None
    again = desk.find_link(new.secret)
    assert again is not None and find(desk, again).draft == ("I kn",)
    assert len(desk.list_answers(again)) == 1
    assert desk.find_link(lost.secret) is None


def test_a_case_in_which_a_run_was_killed_keeps_nobody_from_another(desk: Desk) -> None:
    ada, ben = desk.make_link("Ada").link, desk.make_link("Ben").link
    for item in ("one", "two"):
        desk.begin_case(item)
        ask(desk, item, item)
    assert (find(desk, ada).id, find(desk, ben).id) == ("one", "two")
    # Begun again with Ben alone, the run plays one case at a time, the first one first.
    desk.close_link(ada)
    PeopleAtDesk(desk)
    desk.begin_case("one")
    ask(desk, "one", "one")
    assert find(desk, ben).id == "one"


def test_an_answer_to_a_question_that_was_taken_away_is_kept(desk: Desk) -> None:
    link = desk.make_link("Ada").link
    ask(desk, "q1")
    find(desk, link)
    desk.clear()
    assert desk.find_open_question(link) is None and not desk.read_run().is_alive
    desk.answer(link, "q1", WORDS)
    ask(desk, "q1")
    assert [each.question for each in desk.list_new_answers()] == ["q1"]


def test_one_place_is_given_once_however_many_ask_at_once(desk: Desk, tmp_path: Path) -> None:
    links = [desk.make_link(f"person {number}").link for number in range(8)]
    for number in range(5):
        ask(desk, f"q{number}", f"case {number}")
    desks = [Desk(tmp_path) for _ in links]
    with ThreadPoolExecutor(len(links)) as pool:
        found = list(pool.map(lambda pair: pair[0].find_open_question(pair[1]), zip(desks, links, strict=True)))
    assert sorted(each.id for each in found if each) == [f"q{number}" for number in range(5)]


def test_of_two_windows_that_race_one_is_told(desk: Desk, tmp_path: Path) -> None:
    link = desk.make_link("Ada").link
    ask(desk, "q1")
    find(desk, link)

    def send(number: int) -> str:
        with Desk(tmp_path) as window:
            try:
                return window.answer(link, "q1", [f"words {number}", "a"]).answers[0]
            except InputError as error:
                assert "that answer holds" in str(error)
                return ""

    with ThreadPoolExecutor(8) as pool:
        sent = list(pool.map(send, range(8)))
    kept = desk.find_answer("q1")
    assert kept is not None and [words for words in sent if words] == [kept.answers[0]]


def test_changes_are_noticed(desk: Desk, tmp_path: Path) -> None:
    before = desk.count_changes()
    with Desk(tmp_path) as another:
        another.beat("episodes", 2, 5)
    assert desk.count_changes() != before
    state = desk.read_run()
    assert (state.is_alive, state.phase, state.done, state.total) == (True, "episodes", 2, 5)


def test_a_file_that_is_no_desk_is_an_error(tmp_path: Path) -> None:
    (tmp_path / DESK_FILE).write_text("no database, and longer than the header of one would be\n" * 50)
    with pytest.raises(RunFolderError, match=r"desk\.sqlite cannot be read"):
        Desk(tmp_path)


ANSWERER = """
import sys
from pathlib import Path
from sociable.agents.people.desk import Desk
desk = Desk(Path(sys.argv[1]))
link = desk.find_link(sys.argv[2])
for number in range(10_000):
    question = desk.find_open_question(link)
    if question is not None:
        given = desk.answer(link, question.id, [f"answer {number}", "a"])
        print(given.question, given.answers[0], flush=True)
"""


def test_every_answer_that_was_acknowledged_survives_a_kill(desk: Desk, tmp_path: Path) -> None:
    new = desk.make_link("Ada")
    with Desk(tmp_path, is_run=True) as run:
        for number in range(1000):
            ask(run, f"q{number}")
    process = subprocess.Popen([sys.executable, "-c", ANSWERER, str(tmp_path), new.secret], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    told = [process.stdout.readline().split(" ", 1) for _ in range(40)]
    os.kill(process.pid, signal.SIGKILL)
    told += [line.split(" ", 1) for line in process.stdout.read().splitlines(keepends=True) if line.endswith("\n")]
    process.stdout.close()
    process.wait()
    kept = {each.question: each.answers[0] for each in desk.list_answers(new.link)}
    assert {name: words.strip() for name, words in told}.items() <= kept.items()
    with sqlite3.connect(desk.path) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
