"""Sets of texts that people have judged, in the layouts in which they were published: a judge can be asked about the same.

Pairs: PandaLM (Wang et al. 2024; ``testset-v1.json``, three people a pair), LLMBar (Zeng et al. 2024; ``dataset.json``, one label
on which people agreed), FairEval (Wang et al. 2023; a folder with ``question.jsonl``, ``answer`` and ``review``). Ratings:
SOTOPIA (Zhou et al. 2024; a folder with ``episodes.jsonl`` and ``annotations.jsonl``).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from sociable.core.data_files import RawRecord, Text, read_records, validate_record
from sociable.core.errors import DataError, InputError
from sociable.core.records import Verdict
from sociable.judging.rubric import SOTOPIA, RatedParticipant


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """Two responses to one instruction, and each person's verdict on the first."""

    id: str
    instruction: str
    first: str
    second: str
    labels: tuple[Verdict, ...]

    @property
    def majority(self) -> Verdict | None:
        """The verdict of more than half of the people; None where there is none."""
        ((verdict, count),) = Counter(self.labels).most_common(1)
        return verdict if 2 * count > len(self.labels) else None


@dataclass(frozen=True, slots=True)
class LabelledRating:
    """One participant of an episode, and each person's ratings by dimension of the rubric."""

    id: str
    episode: str
    rated: RatedParticipant
    ratings: tuple[Mapping[str, float], ...]


@dataclass(frozen=True, slots=True)
class LabelledSet:
    """What people have judged: pairs, or participants of episodes."""

    name: str
    layout: str
    pairs: Sequence[LabelledPair] = ()
    ratings: Sequence[LabelledRating] = ()


LAYOUTS = (
    "a .json file of PandaLM (instruction, input, response1, response2, annotator1, …), a .json file of LLMBar (input, output_1, "
    "output_2, label), FairEval's folder (question.jsonl, answer/, review/), or a folder of SOTOPIA's (episodes.jsonl, "
    "annotations.jsonl)"
)


def read_labelled_set(path: Path) -> LabelledSet:
    """The set in a file or folder; its layout is told by what is in it. Raises InputError and DataError."""
    if path.is_dir():
        if (path / "annotations.jsonl").is_file():
            return LabelledSet(path.name, "SOTOPIA", ratings=list(_read_sotopia(path)))
        if (path / "question.jsonl").is_file():
            return LabelledSet(path.name, "FairEval", pairs=list(_read_faireval(path)))
        raise InputError(f"{path}: no set of texts that people have judged. Expected {LAYOUTS}.")
    raws = list(read_records(path, None))
    fields = raws[0].value if raws and isinstance(raws[0].value, dict) else {}
    if "annotator1" in fields:
        pairs = [_read_pandalm(raw) for raw in raws]
        seen: set[str] = set()
        for raw, pair in zip(raws, pairs, strict=True):
            if pair.id in seen:
                raise DataError(raw.place, "idx", f"'{pair.id}' stands in this file already")
            seen.add(pair.id)
        return LabelledSet(path.stem, "PandaLM", pairs=pairs)
    if {"output_1", "output_2", "label"} <= fields.keys():
        return LabelledSet(path.parent.name, "LLMBar", pairs=[_read_llmbar(raw) for raw in raws])
    raise InputError(f"{path}: no set of texts that people have judged. Expected {LAYOUTS}.")


class _Foreign(BaseModel):
    """A record of others' making, of whose fields some are read."""

    model_config = ConfigDict(frozen=True, extra="ignore")


# Some responses, "True" for one, were read as values and not as text when the set was made.
Words = Annotated[str, BeforeValidator(lambda value: str(value) if isinstance(value, bool | int | float) else value)]


class _PandaLM(_Foreign):
    idx: int | str
    instruction: str
    input: Words = ""
    response1: Words
    response2: Words


_PREFERENCES = {0: Verdict.TIE, 1: Verdict.WIN, 2: Verdict.LOSS}


def _read_pandalm(raw: RawRecord) -> LabelledPair:
    record = validate_record(_PandaLM, raw.value, raw.place)
    labels = []
    for name, given in raw.value.items():
        if name.startswith("annotator"):
            if not isinstance(given, int) or given not in _PREFERENCES:
                raise DataError(raw.place, name, f"expected 0 (neither), 1 or 2, found {str(given)[:40]!r}")
            labels.append(_PREFERENCES[given])
    if not labels:
        raise DataError(raw.place, "annotator1", "is missing; expected 0 (neither), 1 or 2")
    instruction = "\n\n".join(filter(None, (record.instruction, record.input)))
    return LabelledPair(str(record.idx), instruction, record.response1, record.response2, tuple(labels))


class _LLMBar(_Foreign):
    input: Text
    output_1: str
    output_2: str
    label: int = Field(ge=1, le=2)


def _read_llmbar(raw: RawRecord) -> LabelledPair:
    record = validate_record(_LLMBar, raw.value, raw.place)
    return LabelledPair(raw.default_id, record.input, record.output_1, record.output_2, (_PREFERENCES[record.label],))


_FAIREVAL_ANSWERS = ("answer_gpt35.jsonl", "answer_vicuna-13b.jsonl")
_FAIREVAL_LABELS = {"CHATGPT": Verdict.WIN, "VICUNA13B": Verdict.LOSS, "TIE": Verdict.TIE}
_FAIREVAL_REVIEW = "review_gpt35_vicuna-13b_human.txt"


class _Texts(_Foreign):
    question_id: int | str
    text: str


def _read_faireval(folder: Path) -> Iterator[LabelledPair]:
    files = [folder / "question.jsonl", *(folder / "answer" / name for name in _FAIREVAL_ANSWERS)]
    raws = [list(read_records(file, None)) for file in files]
    review = folder / "review" / _FAIREVAL_REVIEW
    try:
        labels = review.read_text(encoding="utf-8").split()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{review}: cannot be read: {error}. FairEval's verdicts of people are in it.") from None
    if {len(each) for each in raws} != {len(labels)}:
        counts = ", ".join(f"{len(each)} in {file.name}" for each, file in zip(raws, files, strict=True))
        raise InputError(f"{folder}: {counts}, and {len(labels)} verdicts in {review.name}; expected as many of each.")
    for number, (row, label) in enumerate(zip(zip(*raws, strict=True), labels, strict=True), start=1):
        question, first, second = (validate_record(_Texts, raw.value, raw.place) for raw in row)
        if not question.question_id == first.question_id == second.question_id:
            raise DataError(
                row[1].place, "question_id", f"expected {question.question_id}, as in line {number} of question.jsonl"
            )
        if label not in _FAIREVAL_LABELS:
            raise DataError(f"{review}, line {number}", "", f"expected {', '.join(_FAIREVAL_LABELS)}, found '{label[:40]}'")
        yield LabelledPair(str(question.question_id), question.text, first.text, second.text, (_FAIREVAL_LABELS[label],))


class _Episode(_Foreign):
    episode_id: Text
    scenario: Text
    agents_background: dict[str, str]
    social_goals: dict[str, str]
    social_interactions: Text


class _Annotation(_Foreign):
    episode: Text
    annotator_id: Text
    rewards: list[Any]


_DIMENSIONS = {each.name: each.name for each in SOTOPIA.dimensions} | {"financial_and_material_benefits": "financial"}


def _read_sotopia(folder: Path) -> Iterator[LabelledRating]:
    """One item a participant: people's ratings in the order of the episode's agents."""
    given: dict[str, list[tuple[str, _Annotation]]] = defaultdict(list)
    for raw in read_records(folder / "annotations.jsonl", None):
        annotation = validate_record(_Annotation, raw.value, raw.place)
        given[annotation.episode].append((raw.place, annotation))
    known = set()
    for raw in read_records(folder / "episodes.jsonl", None):
        episode = validate_record(_Episode, raw.value, raw.place)
        known.add(episode.episode_id)
        names = list(episode.social_goals)
        said = tuple(_split_turns(episode.social_interactions, names))
        for place, name in enumerate(names):
            ratings = tuple(_read_rewards(where, each, place) for where, each in given[episode.episode_id])
            if ratings:
                background = episode.agents_background.get(name, "")
                rated = RatedParticipant(name, episode.scenario, episode.social_goals[name], background, said)
                yield LabelledRating(f"{episode.episode_id}: {name}", episode.episode_id, rated, ratings)
    if unknown := [own[0][0] for episode, own in given.items() if episode not in known and own]:
        raise DataError(unknown[0], "episode", "is in no line of episodes.jsonl")


def _read_rewards(where: str, annotation: _Annotation, place: int) -> Mapping[str, float]:
    """One person's ratings of the participant at ``place``: ``[overall, {dimension: rating}]``, as SOTOPIA stores rewards."""
    try:
        _, ratings = annotation.rewards[place]
        found = {_DIMENSIONS[name]: float(value) for name, value in ratings.items() if name in _DIMENSIONS}
        if not all(map(isfinite, found.values())):
            raise ValueError("a rating is no number")
        return found
    except (IndexError, TypeError, ValueError, AttributeError):
        expected = "expected for every agent [overall, {dimension: rating}]"
        raise DataError(where, "rewards", expected) from None


def _split_turns(text: str, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(speaker, words) of an interaction that is written down turn by turn, each beginning with a name."""
    speaker, words = "", [""]
    for line in text.splitlines():
        named = next((name for name in names if line.startswith(name)), None)
        if named is not None:
            if " ".join(words).strip():
                yield speaker or "(the scene)", " ".join(words).strip()
            speaker, words = named, [line.removeprefix(named).lstrip(": ")]
        else:
            words.append(line)
    if " ".join(words).strip():
        yield speaker or "(the scene)", " ".join(words).strip()
