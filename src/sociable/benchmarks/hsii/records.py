"""HSII's records: its options, its episodes, and the reference conversations that episodes are judged against."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from sociable.benchmarks.hsii.dataset import Split
from sociable.core.records import Episode, Numbers, Record, Turn, Usage


class Stage(StrEnum):
    """The four stages of section 5.2.1."""

    FORMAT = "format"
    TARGET = "target"
    FIRST_UTTERANCE = "first utterance"
    LONG_RUN = "long run"


STAGES = tuple(Stage)


def _check_stages(numbers: tuple[int, ...] | None) -> tuple[int, ...] | None:
    if numbers is None:
        return None
    if not numbers or any(number not in (1, 2, 3, 4) for number in numbers):
        raise ValueError("takes numbers from 1 to 4, as in --stages 1,2")
    if 1 not in numbers or (max(numbers) > 1 and 2 not in numbers):
        raise ValueError("stages 3 and 4 stand on stages 1 and 2: choose 1, 1,2, 1,2,3, 1,2,4 or 1,2,3,4")
    return tuple(sorted(set(numbers)))


Stages = Annotated[Numbers | None, AfterValidator(_check_stages)]

LEAK, CONFLICT = "leak", "conflict"
"""The criteria of behaviour that judges are asked about: each private fact (``leak|1``, …), and the clash or the bad news."""

JUDGED = (Stage.FIRST_UTTERANCE, Stage.LONG_RUN)
"""The stages that are scored by judges' opinions."""


class GoldenWords(StrEnum):
    """Which of a case's good responses the first utterance is compared with."""

    FIRST = "first"
    """The data's golden response, as in the paper."""
    SHORTEST = "shortest"
    DRAWN = "drawn"
    """One of them, by lot for each case."""


class HSIIOptions(Record):
    """The switches; the defaults reproduce Table 1's form of the score."""

    split: Split = Field(default=Split.STANDARD, description="the part of the bundled data that is played")
    stages: Stages = Field(default=None, description="stages to run, as in 1,2; by default those that the filled roles allow")
    alpha: float = Field(default=1.0, description="weight of the right target in ι (Equation 1)")
    beta: float = Field(default=1.0, description="weight of what is said in ι (Equation 1)")
    gamma: float = Field(default=1.0, description="weight of the long run beside the first utterance in ι (Equation 1)")
    long_run_turns: int = Field(
        default=7, ge=1, description="turns of the assistant in the long run (epsilon), the first utterance included"
    )
    format: Literal["lenient", "strict"] = Field(default="lenient", description="the way in which replies are read (App. B.5)")
    ties: Literal["wins", "half"] = Field(default="wins", description="the worth of a tie in r3 and r4: nothing, or half")
    golden: GoldenWords = Field(
        default=GoldenWords.FIRST, description="the response that first utterances are compared with, of those that are as good"
    )
    forced_target: bool = Field(default=False, description="name the golden addressee to the model and ask for words only")
    judge_behaviour: bool = Field(
        default=True,
        description="have judges, where there are any, say whether secrets were told and conflicts evaded; else rules",
    )
    cumulative: bool = Field(default=False, description="a win in the long run counts only after a win in the first utterance")

    @model_validator(mode="after")
    def _check_cumulative(self) -> Self:
        if self.cumulative and self.stages and 4 in self.stages and 3 not in self.stages:
            raise ValueError("cumulative needs stage 3: a win in the long run counts only after one in the first utterance")
        return self


class HSIIEpisode(Episode):
    """One case played by one model. ``turns`` begins with the first utterance; the rest is the long run."""

    reply: str = ""
    """The first reply as it came (the beginning of it, if it was enormous)."""
    thinking: str = ""
    format_failure: str = ""
    """The reason why no addressee and words were found in the reply; empty where they were."""
    strict_format: bool = False
    """Whether the reply was one line of JSON and nothing else."""
    role_to: str = ""
    """The addressee as the model wrote it."""
    target_given: bool = False
    """Whether the model was told whom to address (--forced-target) and had only to find the words."""
    target: str | None = None
    """The character that ``role_to`` means; None when it names nobody or more than one."""
    target_correct: bool = False
    long_run_failure: str = ""
    """The partner's failure, after which the long run is Unscored; empty where there was none."""


class ReferenceConversation(Record):
    """The golden side of the long run: it begins with the golden utterance. Made once, used for every model compared."""

    id: str
    """The id of the case."""
    case_digest: str
    prompts_digest: str
    long_run_turns: int
    reference: str
    partner: str
    turns: tuple[Turn, ...] = ()
    failure: str = ""
    """The failure that ended it, after which the long run of this case is Unscored; empty where there was none."""
    usage: dict[str, Usage] = {}
