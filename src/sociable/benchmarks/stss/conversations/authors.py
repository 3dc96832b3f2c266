"""The authors' evaluator: their prompts, out of the user's copy of their repository, and their conditions.

One call answers all conditions of a text. Their templates ask for marks of 0 to 10 beside the answers; the paper prints none,
and they are not read.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from sociable.benchmarks.stss.conversations.conditions import AUTHORS_CONDITIONS, Condition
from sociable.benchmarks.stss.conversations.judge import ConditionQuestion, Evaluator, Text, write_text
from sociable.benchmarks.stss.conversations.protocol import Setting
from sociable.benchmarks.stss.conversations.records import ConversationEpisode, Scene
from sociable.benchmarks.stss.task import TaskType
from sociable.core.errors import InputError
from sociable.core.prompts import Prompt, Prompts, defuse, put_on_one_line
from sociable.core.records import Judgment, Usage, Verdict
from sociable.engine.seats import Seat
from sociable.judging.answers import parse_numbered_answers
from sociable.judging.forms import make_numbered_form
from sociable.judging.protocol import Answer, Leaning, Question, SharedAnswers, Unread, make_judgment
from sociable.town.clock import MINUTES_PER_DAY, Clock

_TYPES = {
    TaskType.PUBLIC: "party",
    TaskType.APPOINTMENT: "appointment",
    TaskType.COMPANIONS: "find_partner",
    TaskType.ONLINE: "online_meeting",
    TaskType.HELP: "ask_for_help",
}
_FIRST = "eval_conversation_party_v1.txt"
_COMMENT = "<commentblockmarker>###</commentblockmarker>"
_INPUT = re.compile(r"!<INPUT (\d+)>!")
_QUESTION = re.compile(r"^\d+\. (.*\?)", re.MULTILINE)
_DAY = re.compile(r"\b[A-Z][a-z]+day \d{4}-\d\d-\d\d\b")
_OPEN = "N/A"
"""What the authors' data have where a time or place is to be settled."""

AS_AUTHORS = (
    "Judged with the authors' prompts and conditions (option judge_prompts): of help, the first two things and their places; "
    "a conversation of one line meets none."
)
"""A note on runs that are."""


def find_templates(copy: Path) -> Path:
    """The folder of a copy of the authors' repository that holds their prompts. Raises InputError where there is none."""
    found = sorted(copy.rglob(_FIRST)) if copy.is_dir() else []
    if not found:
        raise InputError(
            f"judge_prompts: no {_FIRST} in {copy}; expected a copy of the authors' repository, "
            "wcx21/Social-Tasks-in-Sandbox-Simulation, or its folder tgp_prompt_templates."
        )
    return found[0].parent


def load_templates(folder: Path) -> Prompts:
    """The authors' ten templates, by text and type of task, without their opening comments.

    Raises InputError where one is missing, or asks other questions than there are conditions.
    """
    loaded = {}
    for text in Text:
        for kind, name in _TYPES.items():
            path = folder / f"eval_{text}_{name}_v1.txt"
            try:
                template = path.read_text(encoding="utf-8-sig").rpartition(_COMMENT)[2].strip()
            except (OSError, UnicodeDecodeError) as error:
                raise InputError(f"{path}: cannot be read: {error}") from None
            inputs = {int(number) for number in _INPUT.findall(template)}
            most = 6 if kind is TaskType.HELP else 5
            if 2 not in inputs or max(inputs) > most:
                raise InputError(f"{path}: expected !<INPUT 2>!, where the {text} is put, and none above !<INPUT {most}>!.")
            asked, expected = len(_QUESTION.findall(template)), len(AUTHORS_CONDITIONS[kind])
            if asked != expected:
                raise InputError(f"{path}: {asked} numbered questions that end in a question mark; expected {expected}.")
            loaded[_name(text, kind)] = Prompt(template)
    digest = hashlib.sha256("\x00".join(f"{name}\x01{prompt.text}" for name, prompt in loaded.items()).encode())
    return Prompts(loaded, digest.hexdigest())


def _name(text: Text, kind: TaskType) -> str:
    return f"{text} {kind}"


class AuthorsEvaluator(Evaluator):
    """Judges as the authors ask them: all conditions of a text in one call, of a conversation of more than one line."""

    conditions = AUTHORS_CONDITIONS
    notes = (AS_AUTHORS,)
    rehearsed = "\n".join(f"{number}. Yes" for number in range(1, 8))

    def __init__(self, setting: Setting, folder: Path) -> None:
        super().__init__(setting, load_templates(folder))
        self._answers: SharedAnswers[list[bool | None]] = SharedAnswers()

    def conveys_nothing(self, scene: Scene, episode: ConversationEpisode) -> bool:
        return super().conveys_nothing(scene, episode) or sum(bool(turn.content.strip()) for turn in episode.turns) <= 1

    async def judge(self, scene: Scene, episode: ConversationEpisode, asked: ConditionQuestion, seat: Seat) -> Judgment:
        conditions = self.conditions[scene.type]
        place = conditions.index(asked.condition)
        liked: list[bool | None] = [True] * len(conditions)
        question = Question(
            lambda: [{"role": "user", "content": self._fill(scene, write_text(episode, asked.text), asked.text)}],
            lambda text: parse_numbered_answers(text, len(conditions)),
            apply_rule=lambda: Answer(self._apply_rules(scene, episode, asked.text, conditions)),
            form=make_numbered_form(len(conditions)),
            leaning=Leaning((liked,), lambda answers, _: [not answer for answer in answers]),
        )
        found = await self._answers.ask(question, seat, seat.make_scope(episode.id, f"{seat.name}|{asked.text}"))
        # One call for all conditions: it is booked with the first of them.
        usage = Usage() if place else found.usage
        answer = None if isinstance(found.answer, Unread) else found.answer.value[place]
        if answer is None:
            problem = found.answer.why if isinstance(found.answer, Unread) else f"no answer to question {place + 1} in the reply"
            return make_judgment(seat, episode, asked.criterion, Verdict.UNSCORED, f"{seat.name}: {problem}", usage)
        return make_judgment(seat, episode, asked.criterion, Verdict.WIN if answer else Verdict.LOSS, "", usage)

    def word_question(self, scene: Scene, asked: ConditionQuestion) -> str:
        questions = _QUESTION.findall(self._fill(scene, "", asked.text))
        return str(questions[self.conditions[scene.type].index(asked.condition)])

    def _apply_rules(
        self, scene: Scene, episode: ConversationEpisode, text: Text, conditions: Sequence[Condition]
    ) -> list[bool | None]:
        return [self.apply_rule(scene, episode, ConditionQuestion(text, condition)) for condition in conditions]

    def _fill(self, scene: Scene, said: str, text: Text) -> str:
        """The authors' template with a scene's values; in one pass, so that no value is searched for inputs."""
        task, clock = scene.task, self.setting.clock
        template = _set_days(self._prompts[_name(text, scene.type)].text, scene.minute, clock)
        start = f"{clock.to_datetime(task.start):%Y-%m-%d %H:%M}" if task.has_fixed_time else _OPEN
        about = [task.activity, start, task.place or _OPEN]
        if task.type is TaskType.HELP:
            # They ask about two things; a lone one is asked about twice.
            about = [value for step in (task.subtasks * 2)[:2] for value in (step.doing, step.place)]
        # Their templates mark the text with tags, which must not be closed by what was said.
        values = [scene.performer.name, scene.target.name, defuse(said).replace("</", "< /"), *map(put_on_one_line, about)]
        return _INPUT.sub(lambda found: values[int(found[1])], template)


def _set_days(template: str, minute: int, clock: Clock) -> str:
    """The days that a template names, today and tomorrow, as they are in the scene's town."""
    days = iter((minute, minute + MINUTES_PER_DAY))
    return _DAY.sub(lambda found: f"{clock.to_datetime(at):%A %Y-%m-%d}" if (at := next(days, None)) else found[0], template)
