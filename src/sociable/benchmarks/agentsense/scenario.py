"""A scenario: a scene with a cast, everybody's goals, secrets and questions. Immutable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from sociable.benchmarks.agentsense.records import name_goal_criterion
from sociable.core.data_files import Text
from sociable.core.names import Name, find_person, find_words, normalise_name
from sociable.core.spelling import OF_CAST, CastNames
from sociable.core.wording import Wording, has_wording


class Need(StrEnum):
    """The three levels of ERG theory (Table 7)."""

    EXISTENCE = "existence"
    RELATEDNESS = "relatedness"
    GROWTH = "growth"


class GoalType(StrEnum):
    """The eight kinds of social goal (Table 7)."""

    INFORMATION_ACQUISITION = "information acquisition"
    INFORMATION_PROVISION = "information provision"
    RELATIONSHIP_BUILDING = "relationship building"
    RELATIONSHIP_MAINTENANCE = "relationship maintenance"
    IDENTITY_RECOGNITION = "identity recognition"
    COOPERATION = "cooperation"
    COMPETITION = "competition"
    CONFLICT_RESOLUTION = "conflict resolution"

    @property
    def need(self) -> Need:
        if self in (GoalType.INFORMATION_ACQUISITION, GoalType.INFORMATION_PROVISION):
            return Need.EXISTENCE
        growth = (GoalType.COOPERATION, GoalType.COMPETITION, GoalType.CONFLICT_RESOLUTION)
        return Need.GROWTH if self in growth else Need.RELATEDNESS


class Domain(StrEnum):
    """The circle in which a scene plays (Table 6)."""

    PERSONAL = "personal"
    SMALL_SOCIETY = "small society"
    LARGE_SOCIETY = "large society"


class CharacterRole(StrEnum):
    """A character's role by its main social goal (section 4.2, Prompt 19): who shares, or who takes in and responds."""

    SENDER = "sender"
    RECEIVER = "receiver"


class _Field(BaseModel):
    """A part of a scenario. Fields that the layout does not know are left out, and named in the notes."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)


_spelled_anyhow = BeforeValidator(lambda value: value.replace("_", " ").lower() if isinstance(value, str) else value)
_no_text = BeforeValidator(lambda value: value or "")


class GoalQuestion(_Field):
    """A yes-or-no question to the judges, hence to nobody in particular."""

    obj: str = ""
    question: Text


class AskedQuestion(GoalQuestion):
    """A yes-or-no question, and who is asked."""

    obj: Annotated[str, OF_CAST] = ""


class GoalQuestions(_Field):
    """``eval_questions``, by who answers them. An absent part is made from the goal; an empty one is asked of nobody."""

    own: tuple[AskedQuestion, ...] | None = Field(default=None, alias="self")
    others: tuple[AskedQuestion, ...] | None = None
    judge: tuple[GoalQuestion, ...] | None = None

    @model_validator(mode="before")
    @classmethod
    def _give_rest_to_judges(cls, value: Any) -> Any:
        # Two keys are certain from the authors' loader: whatever else there is, judges are asked.
        if not isinstance(value, dict):
            return value
        parts = {"self": value.get("self", value.get("own")), "others": value.get("others")}
        rest = [each for key, each in value.items() if key not in ("self", "own", "others") and each is not None]
        if rest:
            lists = all(isinstance(each, list | tuple) for each in rest)
            parts["judge"] = [question for each in rest for question in each] if lists else rest[0]
        return parts


class Line(_Field):
    """Somebody's words in an example of how a goal is reached, or missed."""

    by: Annotated[str, OF_CAST]
    says: Text


class Sign(_Field):
    """Something that shows that a goal is reached: one turn by one of ``by`` with one of the alternatives of ``says``."""

    by: Annotated[tuple[str, ...], BeforeValidator(lambda value: (value,) if isinstance(value, str) else value), OF_CAST]
    says: Wording
    unless: Wording | None = None
    """Words that, in the same turn, take it back."""

    def is_shown_in(self, said: Iterable[tuple[str, str]]) -> bool:
        """Whether the wording stands in one of the turns ``said``, pairs of speaker and words."""
        return any(
            speaker in self.by and has_wording(text, self.says) and not (self.unless and has_wording(text, self.unless))
            for speaker, text in said
        )


OWN = "Have you reached this goal of yours: {goal}"
OTHERS = "Has {name} reached this goal: {goal}"


class Goal(_Field):
    goal: Text
    eval_questions: GoalQuestions = GoalQuestions()
    type: Annotated[GoalType | None, _spelled_anyhow] = None
    signs: tuple[Sign, ...] = ()
    """The signs that must all show for the goal to count as reached by rule; without any, no rule can tell."""
    reached: tuple[Line, ...] = ()
    """An exchange in which the goal is reached; the oracle says it."""
    missed: tuple[Line, ...] = ()
    """One in which it is tried and not reached; the oracle says it when it errs."""

    def complete_questions(self, owner: str, names: Iterable[str]) -> Goal:
        """The goal with the questions that were absent made from its text; ``names`` are the whole cast."""
        own, others = OWN.format(goal=self.goal), OTHERS.format(name=owner, goal=self.goal)
        made = {
            "own": (AskedQuestion(obj=owner, question=own),),
            "others": tuple(AskedQuestion(obj=name, question=others) for name in names if name != owner),
            "judge": (GoalQuestion(question=others),),
        }
        absent = {part: questions for part, questions in made.items() if getattr(self.eval_questions, part) is None}
        return self.model_copy(update={"eval_questions": self.eval_questions.model_copy(update=absent)})


class QuizQuestion(_Field):
    """A multiple-choice question, asked of the character it stands under (see README)."""

    question: Text
    options: tuple[Text, ...] = Field(min_length=2, max_length=10)
    answer_label: int = Field(ge=0)
    """Index of the right option, from 0."""
    about: str = ""
    """The one whose private information it asks for. Absent: the only one whom the question names, besides who is asked."""
    betrayed_by: str = ""
    """The behaviour from which others can infer the answer though nobody says it. Shown to nobody."""
    key: str = ""
    """The same for all scenarios of a template and all who are asked it. Absent: made from template and wording."""

    @field_validator("options")
    @classmethod
    def _check_options_differ(cls, options: tuple[str, ...]) -> tuple[str, ...]:
        if len({" ".join(find_words(option)) or option for option in options}) < len(options):
            raise ValueError("two options are the same")
        return options

    @model_validator(mode="after")
    def _has_its_answer(self) -> Self:
        if self.answer_label >= len(self.options):
            raise ValueError(f"answer_label {self.answer_label} is no index into {len(self.options)} options; it counts from 0")
        return self

    @property
    def answer(self) -> str:
        return self.options[self.answer_label]


class Character(_Field):
    name: Name
    short: Name | Literal[""] = ""
    """The name that the others say; absent: the whole name."""
    profile: Annotated[str, _no_text] = ""
    private_info: Annotated[str, _no_text] = ""
    goals: tuple[Goal, ...] = ()
    """A character without goals has no goal score."""
    info_reason_questions: tuple[QuizQuestion, ...] = ()
    """A character without questions has no information score."""
    attributes: dict[str, Any] = Field(default_factory=dict)
    """gender, age, occupation, big_five, moral_values, values, decision_style: for describing the data."""
    role: Annotated[CharacterRole | None, _spelled_anyhow] = None


class Relation(StrEnum):
    """Kinds of relationship of section A.2.5."""

    FAMILY = "family"
    FRIEND = "friend"
    ROMANTIC = "romantic"
    ACQUAINTANCE = "acquaintance"
    STRANGER = "stranger"


class Relationship(_Field):
    of: CastNames = Field(min_length=2)
    """Names; in a template, slots."""
    kind: Relation


class GoalReference(_Field):
    of: Annotated[str, OF_CAST]
    goal: int = Field(ge=1)
    """The goal's number among its owner's, from 1."""

    @property
    def key(self) -> tuple[str, int]:
        """Owner, and place from 0."""
        return self.of, self.goal - 1


class Scenario(_Field):
    """One scene with one cast. Names are spelled as in ``characters`` throughout."""

    id: str
    """Template and sample."""
    template: str
    background: Text
    description: Annotated[str, _no_text] = ""
    domain: Annotated[Domain | None, _spelled_anyhow] = None
    place: str = ""
    source: str = ""
    """The title of the script that the scene was made from, for script prediction."""
    characters: tuple[Character, ...] = Field(min_length=2)
    relations: tuple[Relationship, ...] = ()
    """Relationships of some, for describing the data."""
    opening: Line | None = None
    """The first words; absent: the paper's greeting, by somebody drawn."""
    exclusive: tuple[tuple[GoalReference, ...], ...] = ()
    """Groups of goals of which not all can be reached in one scene."""

    @model_validator(mode="after")
    def _check_exclusive(self) -> Self:
        goals = {character.name: len(character.goals) for character in self.characters}
        for group in self.exclusive:
            if len({each.key for each in group}) < 2:
                raise ValueError("exclusive: a group has two goals at the least")
            for each in group:
                if each.of in goals and each.goal > goals[each.of]:
                    raise ValueError(f"exclusive: {each.of} has {goals[each.of]} goals, and no goal {each.goal}")
        return self

    def find_best(self) -> frozenset[tuple[str, int]]:
        """The goals that can be reached together, as owner and place from 0: a choice with which most is reached."""
        worth = {(each.name, item): 1 / len(each.goals) for each in self.characters for item in range(len(each.goals))}
        return self._leave_out(frozenset(worth), worth)

    def _leave_out(self, goals: frozenset[tuple[str, int]], worth: Mapping[tuple[str, int], float]) -> frozenset[tuple[str, int]]:
        """The most valuable choice of ``goals`` that holds no group whole; of equals the first."""
        whole = next((group for group in self.exclusive if goals.issuperset(each.key for each in group)), None)
        if whole is None:
            return goals
        choices = [self._leave_out(goals - {each.key}, worth) for each in whole if each.key in goals]
        return max(choices, key=lambda kept: sum(worth[key] for key in kept))

    def find_ceiling(self, names: Iterable[str]) -> float:
        """The greatest share of their goals that these characters can reach together: the mean over them. In [0, 1]."""
        own = [each for each in self.characters if each.name in set(names) and each.goals]
        worth = {(each.name, item): 1 / len(each.goals) for each in own for item in range(len(each.goals))}
        # What the others want does not bind: they can go without.
        best = self._leave_out(frozenset(worth), worth)
        return sum(worth[key] for key in best) / len(own) if own else 1.0

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(character.name for character in self.characters)

    @cached_property
    def by_name(self) -> Mapping[str, Character]:
        return {character.name: character for character in self.characters}

    @cached_property
    def aliases(self) -> Mapping[str, tuple[str, ...]]:
        """Each one's other name, if there is one: the short name, or the first word of the name if it fits nobody else."""
        counts = Counter(word for name in self.names for word in set(find_words(name)))
        found: dict[str, tuple[str, ...]] = {}
        for character in self.characters:
            first = normalise_name(character.name).split()[:1]
            if character.short:
                found[character.name] = (character.short,)
            elif first and counts[first[0]] == 1:
                found[character.name] = (first[0],)
        return found

    def find_character(self, name: str) -> str | None:
        """The character of that name, short name or first name."""
        return find_person(name, self.names, self.aliases)


def list_distinct_questions(scenarios: Iterable[Scenario]) -> list[tuple[Scenario, Character, QuizQuestion]]:
    """Each quiz question once, whoever is asked it and whoever plays: as it first stands in the data."""
    found: dict[str, tuple[Scenario, Character, QuizQuestion]] = {}
    for scenario in scenarios:
        for character in scenario.characters:
            for question in character.info_reason_questions:
                found.setdefault(question.key, (scenario, character, question))
    return list(found.values())


@dataclass(frozen=True, slots=True)
class GoalProbe:
    """The question whether a goal is reached after so many turns, put to a participant or to the judges."""

    owner: Character
    goal: Goal
    item: int
    """The goal's place among its owner's, from 0."""
    part: str
    """The part of the goal's ``eval_questions`` that the question stands in; ``wording`` is its place there, from 0."""
    wording: int
    asked: str
    """The character who is asked; not looked at where judges are."""
    question: str
    after: int
    """Turns taken, the greeting not counted."""

    @property
    def criterion(self) -> str:
        return name_goal_criterion(self.owner.name, self.item, self.wording, self.after)


def list_goal_probes(scenario: Scenario, after: int, *parts: str) -> list[GoalProbe]:
    """The questions about all goals after ``after`` turns, goal by goal; ``parts`` are fields of GoalQuestions."""
    return [
        GoalProbe(owner, goal, item, part, wording, asked.obj, asked.question, after)
        for owner in scenario.characters
        for item, goal in enumerate(owner.goals)
        for part in parts
        for wording, asked in enumerate(getattr(goal.eval_questions, part) or ())
    ]
