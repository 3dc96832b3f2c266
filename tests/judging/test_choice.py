"""Which option a reply chooses: what people write who were asked for a letter, and what must not be guessed."""

from __future__ import annotations

import pytest

from sociable.judging.choice import parse_choice


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
        ("A. At first. But the correct answer is B", None),  # begins with one and ends with another
        ('{"answer": "A", "answer": "B"}', None),
        ('{"answer": "A or B"}', None),
        ('{"answer": 1}', None),
        ('{"choice": "A"}', None),
        ("E", None),  # there are four
        ("A man sold it.", None),  # an article is no choice
        ("I cannot know.", None),
        ("", None),
        ("A and B", None),
    ],
)
def test_parse_choice(text: str, place: int | None) -> None:
    assert parse_choice(text, 4) == place
