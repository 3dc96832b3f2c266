"""What players and informants are told, and how they are asked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sociable.benchmarks.anteval.characters import Sheet, describe_sheet
from sociable.benchmarks.anteval.informants.dataset import Fact, Informant, Statement, Way
from sociable.benchmarks.anteval.informants.records import InformantsTurn
from sociable.benchmarks.anteval.informants.scenario import Scenario
from sociable.core.prompts import Prompts, defuse, load_package_prompts, put_on_one_line, quote
from sociable.models.protocol import ChatMessage

PLACEHOLDERS = {
    "player": frozenset({"name", "sheet", "setting", "others", "informants", "subject", "turns", "words"}),
    "turn": frozenset({"heard", "left", "name", "words"}),
    "informant": frozenset({"name", "pronouns", "who", "manner", "setting", "others", "known", "words"}),
    "answer": frozenset({"heard", "name", "words"}),
    "recall": frozenset({"heard", "moment", "subject", "count"}),
    "judge_system": frozenset[str](),
    "judge_claims": frozenset({"subject", "points", "claims"}),
}

_DURING, _AFTER = "The session goes on later.", "The session is over."
_WAYS = {
    Way.ASKING: "You tell this to anybody who asks about it:",
    Way.PRICE: "{wants} To whoever asks before that you say something like: “{says}”",
    Way.FEAR: "{wants} To whoever asks before that you say something like: “{says}”",
    Way.APART: "{wants} To whoever asks in front of others you say something like: “{says}”",
    Way.LIE: "Of this you do not tell the truth until somebody says to you what shows that it is not so:",
}


def load_informants_prompts(override: Path | None = None) -> Prompts:
    """The bundled prompts, or the user's own in their place."""
    return load_package_prompts("sociable.benchmarks.anteval.informants", PLACEHOLDERS, override)


def render_heard(turns: Sequence[InformantsTurn], reader: str) -> str:
    """What ``reader`` has heard, quoted, one turn a line."""
    return quote("\n".join(_render_turn(each, reader) for each in turns) or "(nothing yet)")


def _render_turn(turn: InformantsTurn, reader: str) -> str:
    speaker, to = ("you" if name == reader else name for name in (turn.speaker, turn.to))
    address = f", {'aside ' if turn.aside else ''}to {to}" if to else ""
    if reader not in (turn.speaker, *turn.heard_by):
        return f"({speaker} speaks aside to {to}.)"
    return f"{speaker[0].upper()}{speaker[1:]}{address}: {put_on_one_line(turn.content) or '(passes)'}"


def brief_player(scenario: Scenario, player: Sheet, turns: int, words: int, prompts: Prompts) -> ChatMessage:
    """The message that tells a player who it is, whom it meets and what is to be learned."""
    text = prompts["player"].render(
        name=player.name,
        sheet=quote(describe_sheet(player)),
        setting=quote(scenario.card.setting),
        others=", ".join(f"{each.name} ({each.kind})" for each in scenario.players if each is not player) or "nobody",
        informants=quote("\n".join(f"{each.name} ({each.pronouns}): {each.who}" for each in scenario.informants)),
        subject=quote(scenario.title),
        turns=str(turns),
        words=str(words),
    )
    return {"role": "system", "content": text}


def ask_for_turn(name: str, heard: Sequence[InformantsTurn], left: int, words: int, prompts: Prompts) -> ChatMessage:
    text = prompts["turn"].render(heard=render_heard(heard, name), left=str(left), name=name, words=str(words))
    return {"role": "user", "content": text}


def ask_to_recall(scenario: Scenario, name: str, heard: Sequence[InformantsTurn], is_over: bool, prompts: Prompts) -> ChatMessage:
    text = prompts["recall"].render(
        heard=render_heard(heard, name),
        moment=_AFTER if is_over else _DURING,
        subject=quote(scenario.title),
        count=str(len(scenario.facts)),
    )
    return {"role": "user", "content": text}


def brief_informant(scenario: Scenario, informant: Informant, words: int, prompts: Prompts) -> ChatMessage:
    """The message that tells an informant who it is, whom it meets, what it knows and what gets it to say so."""
    others = [f"{each.name} ({each.pronouns}): {each.who}" for each in scenario.informants if each is not informant]
    others += [f"{each.name}: {each.kind}, a stranger" for each in scenario.players]
    text = prompts["informant"].render(
        name=informant.name,
        pronouns=informant.pronouns,
        who=quote(informant.who),
        manner=quote(informant.manner),
        setting=quote(scenario.card.setting),
        others=quote("\n".join(others)),
        known=_describe_known(scenario, informant),
        words=str(words),
    )
    return {"role": "system", "content": text}


def _describe_known(scenario: Scenario, informant: Informant) -> str:
    """All that an informant may say, by what gets it."""
    held = scenario.list_held(informant.name)
    blocks = []
    for way, introduction in _WAYS.items():
        own = [each for each in held if scenario.find_way(each) is way]
        if own:
            gate = informant.find_gate(way)
            said = (
                introduction.format(wants=put_on_one_line(defuse(gate.wants)), says=put_on_one_line(defuse(gate.says)))
                if gate
                else introduction
            )
            blocks.append(f"{said}\n{quote(chr(10).join(_describe(scenario, each) for each in own))}")
    return "\n\n".join(blocks)


def _describe(scenario: Scenario, statement: Statement) -> str:
    if not isinstance(statement, Fact) or scenario.find_way(statement) is not Way.LIE:
        return f"- {statement.point}"
    shown = next(each for each in scenario.facts if each.id == statement.shown_by)
    return (
        f"- You say instead: {statement.instead} The truth, which you own up to once somebody tells you that "
        f"“{shown.point}”: {statement.point}"
    )


def ask_informant(name: str, heard: Sequence[InformantsTurn], words: int, prompts: Prompts) -> ChatMessage:
    return {"role": "user", "content": prompts["answer"].render(heard=render_heard(heard, name), name=name, words=str(words))}
