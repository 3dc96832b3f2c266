"""What a judge is asked in an audit."""

from __future__ import annotations

from collections import Counter

from sociable.core.names import find_words
from sociable.core.records import Verdict
from sociable.judging.auditing.alterations import ALTERATIONS, BY_HAND, FILLERS, OTHER_SIDE, count_assurances, pad, polish
from sociable.judging.auditing.injections import load_injections
from sociable.judging.auditing.known_answers import KnownAnswer, Said
from sociable.judging.auditing.plan import Ask, Part, plan_audit
from sociable.judging.reference import AGAIN, TASTES


def say(*words: str) -> tuple[Said, ...]:
    return tuple(Said(speaker="Ana" if number % 2 == 0 else "Ben", content=each) for number, each in enumerate(words))


def make_known(number: int, *, pair: bool, written: bool = False) -> KnownAnswer:
    variants = {name: say(f"Variant {number} of it.") for name in (*BY_HAND, "German")} if written else {}
    if written and pair:
        variants[f"German{OTHER_SIDE}"] = say("Die andere Seite.")
    return KnownAnswer(
        id=f"k{number}",
        kind="goal",
        scenario=f"s{number}",
        cluster=f"c{number // 2}",
        speaker="Ana",
        subject=say(f"I shall bring {number} loaves. You need not come.", "Thank you.", "Until then."),
        golden=say("I shall bring nothing.") if pair else (),
        truth=Verdict.WIN if number % 2 else Verdict.LOSS,
        damage="" if number % 2 else ("left out", "taken back")[number // 2 % 2],
        size=None if number % 2 else 0.5,
        variants=variants,
    )


def plan(*, pair: bool, count: int = 100, limit: int = 100, seed: int = 0, languages: tuple[str, ...] = ()) -> list[Ask]:
    known = [make_known(number, pair=pair, written=number < 12) for number in range(count)]
    return plan_audit(known, is_pair=pair, form="pair" if pair else "question", languages=languages, limit=limit, seed=seed)


def test_every_part_is_asked_once_and_stands_beside_its_control() -> None:
    for pair in (True, False):
        asks = plan(pair=pair, languages=("German",))
        by_name = {ask.name: ask for ask in asks}
        assert len(by_name) == len(asks)
        assert {ask.part for ask in asks} == {*Part} - {Part.FAMILY}
        for ask in asks:
            assert not ask.control or by_name[ask.control].base == ask.base
        ways = Counter(ask.way for ask in asks if ask.part is Part.ALTERED)
        assert {each.name for each in ALTERATIONS} <= ways.keys()
        assert {each.name for each in load_injections()} < {ask.way for ask in asks if ask.part is Part.INJECTED}


def test_of_a_pair_the_altered_text_stands_beside_the_plain_one() -> None:
    for ask in plan(pair=True):
        if ask.part is Part.ALTERED:
            assert ask.known.truth is Verdict.TIE
            assert not ask.control
            assert ask.known.subject != ask.known.golden


def test_a_smaller_audit_asks_less_of_everything_and_the_same_seed_draws_the_same() -> None:
    whole, small = plan(pair=False, count=200, limit=200), plan(pair=False, count=200, limit=40)
    assert len(small) < len(whole) / 2
    known = [ask.known for ask in small if ask.part is Part.KNOWN]
    assert len(known) == 40
    assert Counter(each.damage for each in known).keys() == {"", "left out", "taken back"}
    assert small == plan(pair=False, count=200, limit=40)
    assert [ask.base for ask in small] != [ask.base for ask in plan(pair=False, count=200, limit=40, seed=1)]


def test_orders_are_put_into_texts_that_are_not_to_win_and_no_order_into_their_controls() -> None:
    asks = {ask.name: ask for ask in plan(pair=False)}
    told = [ask for ask in asks.values() if ask.part is Part.INJECTED and ask.control]
    assert len(told) >= len(load_injections())
    for ask in told:
        assert ask.known.truth is Verdict.LOSS
        control = asks[ask.control].known
        assert len(find_words(control.text)) == len(find_words(ask.known.text))
        assert not any(part in control.text for part in load_injections()[0].question)


def test_asked_again_is_the_same_in_every_word() -> None:
    asks = {ask.name: ask for ask in plan(pair=False)}
    again = [ask for ask in asks.values() if ask.part in (Part.AGAIN, Part.REORDERED)]
    assert again
    for ask in again:
        assert ask.known == asks[ask.control].known
        assert ask.name.partition(AGAIN)[0] == ask.control


def test_padding_doubles_the_words_and_markdown_changes_none() -> None:
    known = make_known(3, pair=False)
    plain, padded, polished = (len(find_words(text)) for text in (known.text, *map(_text_of, (pad(known), polish(known)))))
    assert 2 * plain <= padded <= 4 * plain + 2 * max(len(find_words(filler)) for filler in FILLERS)
    assert polished == plain
    assert "**I shall bring**" in _text_of(polish(known))
    assert [each for each in pad(known) if each.speaker == "Ben"] == [each for each in known.subject if each.speaker == "Ben"]


def _text_of(said: tuple[Said, ...]) -> str:
    return "\n\n".join(each.content for each in said if each.speaker == "Ana")


def test_fillers_are_of_no_other_taste() -> None:
    text = " ".join(FILLERS)
    assert not count_assurances(text)
    assert all(count(text) == 0 for name, count in TASTES.items() if name != "longer")
    assert not {"i", "me", "my"} & set(find_words(text))


def test_there_are_thirty_ways_to_speak_to_a_judge_one_of_them_over_several_turns() -> None:
    injections = load_injections()
    assert len({each.name for each in injections}) == 30
    assert any(len(each.pair) > 1 for each in injections)
    known = make_known(2, pair=False)
    for injection in injections:
        for form in ("pair", "question", "rating"):
            told = injection.add(known, form)
            assert all(part in _text_of(told) for part in getattr(injection, form))
            assert [each for each in told if each.speaker == "Ben"] == [each for each in known.subject if each.speaker == "Ben"]


def test_a_pair_with_one_side_in_another_language_is_not_asked_about() -> None:
    whole = make_known(1, pair=True, written=True)
    half = whole.model_copy(update={"id": "half", "variants": {"German": whole.variants["German"]}})
    asks = plan_audit([whole, half], is_pair=True, form="pair", languages=("German",), limit=2, seed=0)
    (told,) = (ask for ask in asks if ask.part is Part.LANGUAGE)
    assert (told.base, told.known.golden) == ("k1", whole.variants[f"German{OTHER_SIDE}"])
