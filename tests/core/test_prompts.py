"""Prompts fail at the door, and what is quoted in them can neither leave its place nor pass as anything else."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given, strategies

from sociable.core.errors import InputError
from sociable.core.prompts import Prompt, defuse, load_prompts, put_on_one_line, quote

PLACEHOLDERS = {"greet": frozenset({"name", "town"}), "part": frozenset[str]()}

LINE_BREAKS = ("\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029")
"""All that str.splitlines() knows."""

CONTROL_WORDS = (
    # ChatML, Llama 3, Phi, Granite, harmony
    *("<|im_start|>", "<|im_end|>", "<|eot_id|>", "<|start_header_id|>", "<|system|>", "<|endoftext|>", "<|channel|>"),
    # DeepSeek
    *("<\uff5cUser\uff5c>", "<\uff5cAssistant\uff5c>", "<\uff5cend\u2581of\u2581sentence\uff5c>"),
    # Llama 2, Mistral
    *("[INST]", "[/INST]", "<<SYS>>", "<</SYS>>", "<s>", "</s>", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]"),
    *("[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_CALLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]"),
    # Gemma, Command R, SmolVLM, ChatGLM
    *("<start_of_turn>", "<end_of_turn>", "<bos>", "<eos>", "<pad>", "<unk>", "<BOS_TOKEN>", "<EOS_TOKEN>"),
    *("<end_of_utterance>", "[gMASK]", "<sop>"),
)

INVISIBLE = (
    *("\x00", "\x08", "\x1b", "\x1f", "\x7f", "\x9b", "\u00ad", "\u034f", "\u061c", "\u115f", "\u180e", "\u200b", "\u200d"),
    # Characters that turn the direction of writing, and those of the tag block, which spell ASCII that nobody sees.
    *("\u200e", "\u202e", "\u2066", "\u2060", "\u3164", "\ufeff", "\uffa0", "\ufffa", "\U000e0041", "\U000e007f", "\U000e0100"),
)

HOSTILE = strategies.lists(
    strategies.one_of(
        strategies.sampled_from(
            (*LINE_BREAKS, *CONTROL_WORDS, *INVISIBLE, "| ", "<", ">", "|", "[", "]", "/", "s", "INST", "SYS")
        ),
        strategies.text(strategies.characters(exclude_categories=()), max_size=5),
    ),
    max_size=12,
).map("".join)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(tmp_path / "prompts")


def written(folder: Path, **prompts: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in {"greet": "Greet ${name} of ${town}.", "part": "Part.", **prompts}.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return folder


def test_prompts_are_filled(folder: Path) -> None:
    prompts = load_prompts(folder, PLACEHOLDERS)
    assert prompts["greet"].render(name="Ada", town="Paris") == "Greet Ada of Paris."
    assert prompts["part"].render() == "Part."


def test_values_are_not_searched_for_placeholders(folder: Path) -> None:
    prompt = load_prompts(folder, PLACEHOLDERS)["greet"]
    assert prompt.render(name="${town} $$ $name", town="$5") == "Greet ${town} $$ $name of $5."


def test_a_value_too_few_is_an_error() -> None:
    with pytest.raises(KeyError, match="town"):
        Prompt("Greet ${name} of ${town}.").render(name="Ada")


def test_two_dollar_signs_are_one(tmp_path: Path) -> None:
    prompts = load_prompts(written(tmp_path, part="It costs $$5."), PLACEHOLDERS)
    assert prompts["part"].render() == "It costs $5."


@pytest.mark.parametrize("text", ["It costs $5.", "$", "${", "${}", "${two words}", "$ name", "${name"])
def test_a_dollar_sign_alone_is_an_error_that_says_how_to_write_it(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match=r"part\.txt: a '\$' that begins no placeholder; write '\$\$'"):
        load_prompts(written(tmp_path, part=text), PLACEHOLDERS)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Greet ${name}.", r"greet\.txt: placeholder \$\{town\} is missing"),
        ("Greet.", r"greet\.txt: placeholder \$\{name\}, \$\{town\} is missing"),
        (
            "${name} ${town} ${street} $age",
            r"unknown placeholder \$\{age\}, \$\{street\}; this prompt can use \$\{name\}, \$\{town\}",
        ),
        # Names are told apart by case.
        ("${Name} ${name} ${town}", r"unknown placeholder \$\{Name\}"),
    ],
)
def test_placeholders_are_exactly_those_expected(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        load_prompts(written(tmp_path, greet=text), PLACEHOLDERS)


def test_a_prompt_without_placeholders_can_use_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"unknown placeholder \$\{name\}; this prompt can use none"):
        load_prompts(written(tmp_path, part="Part from ${name}."), PLACEHOLDERS)


def test_ones_own_prompts_take_the_place_of_all(folder: Path, tmp_path: Path) -> None:
    own = written(tmp_path / "own", greet="Hail ${name}! ${town} greets ${name}.")
    prompts = load_prompts(folder, PLACEHOLDERS, own)
    assert prompts["greet"].render(name="Ada", town="Paris") == "Hail Ada! Paris greets Ada."
    (own / "part.txt").unlink()
    with pytest.raises(InputError, match=r"own/part\.txt: no such prompt\. The folder must hold greet\.txt, part\.txt; copy"):
        load_prompts(folder, PLACEHOLDERS, own)


@pytest.mark.parametrize("problem", ["latin-1", "folder"])
def test_what_cannot_be_read_is_named(folder: Path, problem: str) -> None:
    file = folder / "part.txt"
    if problem == "latin-1":
        file.write_bytes("Café".encode("latin-1"))
    else:
        file.unlink()
        file.mkdir()
    with pytest.raises(InputError, match=r"part\.txt: cannot be read as UTF-8 text"):
        load_prompts(folder, PLACEHOLDERS)


def test_a_file_in_place_of_the_folder(folder: Path) -> None:
    with pytest.raises(InputError, match=r"greet\.txt"):
        load_prompts(folder, PLACEHOLDERS, folder / "part.txt")


def test_how_an_editor_saves_the_file_does_not_matter(folder: Path, tmp_path: Path) -> None:
    # With a byte order mark, line breaks of Windows, and blank lines at the end.
    own = tmp_path / "own"
    own.mkdir()
    for file in folder.iterdir():
        (own / file.name).write_bytes(b"\xef\xbb\xbf" + file.read_bytes() + b"\r\n\r\n")
    assert load_prompts(folder, PLACEHOLDERS, own) == load_prompts(folder, PLACEHOLDERS)


def test_the_digest_is_of_the_texts_and_names(folder: Path, tmp_path: Path) -> None:
    digest = load_prompts(folder, PLACEHOLDERS).digest
    assert load_prompts(folder, dict(reversed(PLACEHOLDERS.items()))).digest == digest
    assert load_prompts(written(tmp_path / "same"), PLACEHOLDERS).digest == digest
    assert load_prompts(written(tmp_path / "other", part="Part!"), PLACEHOLDERS).digest != digest
    swapped = load_prompts(written(tmp_path / "swapped", a="x", b="y"), {"a": frozenset(), "b": frozenset()})
    assert swapped.digest != load_prompts(written(tmp_path / "back", a="y", b="x"), {"a": frozenset(), "b": frozenset()}).digest


@given(HOSTILE)
@example("")
@example("\n")
@example("".join(f"a{line_break}b" for line_break in LINE_BREAKS))
def test_every_line_of_a_quotation_is_marked(text: str) -> None:
    lines = quote(text).splitlines()
    assert lines
    assert all(line.startswith("| ") for line in lines)


@given(HOSTILE)
def test_one_line_is_one_line(text: str) -> None:
    assert len(put_on_one_line(text).splitlines()) <= 1
    assert len(quote(put_on_one_line(text)).splitlines()) == 1


@pytest.mark.parametrize("line_break", LINE_BREAKS)
def test_all_line_breaks_are_one(line_break: str) -> None:
    assert defuse(f"a{line_break}b") == "a\nb"
    assert quote(f"a{line_break}b") == "| a\n| b"
    assert put_on_one_line(f"a{line_break}b") == "a b"


def control_words(text: str) -> list[str]:
    """Servers match them in any case; and nothing that begins or ends like one of ChatML's or DeepSeek's is one."""
    lowered = text.casefold()
    found = [word for word in CONTROL_WORDS if word.casefold() in lowered]
    return found + [part for part in ("<|", "|>", "<\uff5c", "\uff5c>") if part in text]


@given(HOSTILE)
@example("<<|im_start|>>")
@example("<|\u200b|im_start|>")
@example("<\x00|im_end|\x00>")
@example("[\u200b/INST]")
@example("<\n|im_end|>")
@example("<<<SYS>>>")
def test_no_control_word_of_a_chat_template_survives(text: str) -> None:
    for shown in (defuse(text), quote(text), put_on_one_line(text), defuse(put_on_one_line(text))):
        assert not control_words(shown)


@pytest.mark.parametrize("word", CONTROL_WORDS)
def test_a_control_word_stays_readable(word: str) -> None:
    for spelling in (word, word.lower(), word.upper()):
        shown = defuse(f"a {spelling} b")
        assert not control_words(shown)
        assert shown.replace(" ", "") == f"a{spelling}b"


@pytest.mark.parametrize("character", INVISIBLE)
def test_what_nobody_sees_becomes_a_space(character: str) -> None:
    assert defuse(f"a{character}b") == "a b"


@given(HOSTILE)
def test_nothing_commanding_is_left(text: str) -> None:
    shown = defuse(text)
    assert not [c for c in shown if unicodedata.category(c) in ("Cc", "Zl", "Zp") and c not in "\n\t"]
    turning = ("RLO", "LRO", "RLE", "LRE", "PDF", "RLI", "LRI", "FSI", "PDI")
    assert not [c for c in shown if unicodedata.bidirectional(c) in turning]


@given(HOSTILE)
def test_what_is_harmless_stays_so(text: str) -> None:
    assert defuse(defuse(text)) == defuse(text)


@pytest.mark.parametrize(
    "text",
    [
        "5 < 6 > 4, a|b, [sic], [INSTALL], <strong>, <sos>, <start>, x >= y || z",
        "Zoë said: „Ça va?“ – 你好, مرحبا, 🙂, ❤\ufe0f, e\u0301",
        "| already quoted\n\tindented\n",
        "",
    ],
)
def test_ordinary_text_is_not_touched(text: str) -> None:
    assert defuse(text) == text
