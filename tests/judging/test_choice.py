"""Which option a reply chooses: what people write who were asked for a letter, and what must not be guessed."""

from __future__ import annotations

import pytest

from sociable.judging.answers import parse_choice


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"answer": "B"}', 1),
        ('Let me think.\n{"answer": "b"}', 1),
        ('```json\n{"answer": "C: the ferry"}\n```', 2),
        ("D", 3),
        ("**A**", 0),
        ("(c)", 2),
        ("B.", 1),
        ("B: because she said so.", 1),
        ("C) He sold it.", 2),
        ("I think he sold it. Answer: C", 2),
        ("The final answer is **D**.", 3),
        ("A. At first. But the correct answer is B", 1),  # what it says is the answer
        ("A. Smith said so. Answer: B. Debts", 1),
        ("The correct answer is B) Debts", 1),
        ("Answer: A. No, wait. Answer: B", None),
        ("A: wrong. B: right.", None),  # which is which would have to be understood
        ("A) is wrong, B) is right", None),
        ("The answer is a mystery to me; I would guess D.", None),
        ("My answer: a gambling debt.", None),
        ("I can rule out option A. It must be somebody else.", None),
        ("The answer isn't B.", None),
        ("Answer: not B", None),
        ("Not B.", None),
        ("Ann lives on Avenue C with me.", None),
        ('{"answer": "A gambling debt"}', None),
        ("_B_", 1),
        ("**_C_**", 2),
        ('{"answer": "Option B"}', 1),
        ('{"answer": "A", "answer": "B"}', None),
        ('{"answer": "A or B"}', None),
        ('{"answer": 1}', None),
        ('{"choice": "A"}', None),
        ("E", None),  # there are four
        ("A man sold it.", None),  # an article is no choice
        ("I cannot know.", None),
        ("", None),
        ("A) and B)", None),
        ("It can be A or B", None),
        ("{'answer': 'B'}", 1),
        ('{"answer": B}', 1),
        ('{"answer": ["B"]}', 1),
        ('{"answer": ["A", "B"]}', None),
        ("{'reason': 'it's A', 'answer': 'B'}", 1),
        ("{'answer': 'A', 'answer': 'B'}", None),
        ("I think it is option C because she asked twice.", 2),
        ("I think it is B because of the boat.", 1),
        ("I'd choose option D.", 3),
        ("I think it is A man.", None),
        ("The answer to the question is: A", 0),
        ("The answer to this question is B.", 1),
    ],
)
def test_parse_choice(text: str, place: int | None) -> None:
    assert parse_choice(text, 4).value == place


def test_the_words_of_one_option_choose_it() -> None:
    options = ["A gambling debt", "The ferry", "A ferry ticket", "Nothing"]
    for text in ("The ferry.", "the ferry", '{"answer": "The ferry"}', "{'answer': 'the ferry'}"):
        assert parse_choice(text, 4, options).value == 1
    assert parse_choice('{"answer": "A gambling debt"}', 4, options).value == 0
    for text in ("Not the ferry", "the ferry and nothing", "a ferry", '{"answer": "The ferry or nothing"}'):
        assert parse_choice(text, 4, options).value is None
