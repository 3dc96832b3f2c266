"""Kinds of judging: pairs, yes or no, choices, rubrics; and panels.

A new kind of judge is one file: a function that reads a reply, the JSON schema of the wanted reply, and the verdict that an
answer is. A judge who gives one to five points, for instance, with names from ``judging.protocol`` and ``models.replies``::

    POINTS_SCHEMA = make_schema(reason={"type": "string"}, points={"type": "integer", "minimum": 1, "maximum": 5})

    def parse_points(text: str) -> Reading[int]:
        fields = find_closing_object(text)
        points = find_field(fields, "points")
        if type(points) is not int or not 1 <= points <= 5:
            return Unread("no points from 1 to 5 in the reply", text[:MAX_REASON])
        return Answer(points, find_reason(fields))

    async def judge_points(write, judge, episode, criterion) -> Judgment:
        question = Question(write, parse_points, POINTS_SCHEMA)
        return await judge_question(question, lambda points: (LOSS, LOSS, TIE, WIN, WIN)[points - 1], judge, episode, criterion)

``write`` makes the messages; ``judge`` is a seat. A refused, empty or cut-off reply becomes an UNSCORED judgment with its
reason, and its usage is kept. An answer that is more than a verdict stands in a record of its own, as in ``rubric.py``.
"""
