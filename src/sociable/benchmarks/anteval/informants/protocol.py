"""One card at one level to one episode.

1. Seats: the model under test plays the players; the informants are written, or a partner plays them.
2. The session: the players speak in turn; an informant who is spoken to answers at once. A turn aside is heard by the one it is
   addressed to, and so is the answer. A round in which all players pass ends it.
3. What players know: each is asked after the turns that ``marks`` names, and after the session.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from itertools import cycle

from sociable.benchmarks.anteval.iep.records import Recall, When
from sociable.benchmarks.anteval.informants.informants import InformantSeat, ModelInformant, WrittenInformant
from sociable.benchmarks.anteval.informants.players import ModelPlayer, Player
from sociable.benchmarks.anteval.informants.records import InformantsEpisode, InformantsOptions, InformantsTurn
from sociable.benchmarks.anteval.informants.reference import make_reference_player
from sociable.benchmarks.anteval.informants.scenario import Scenario
from sociable.core.prompts import Prompts
from sociable.core.records import Usage, make_episode_id
from sociable.engine.seats import Role, Seats


async def run_scenario(
    scenario: Scenario, repeat: int, seats: Seats, prompts: Prompts, options: InformantsOptions, *, seed: int
) -> InformantsEpisode:
    """The episode. Raises RunFailure and RunStopped."""
    # 1. Seats.
    item = make_episode_id(scenario.id, repeat)
    subject, partner = seats.subject, seats.partner
    players: dict[str, Player] = {}
    for sheet in scenario.players:
        if subject.model is None:
            players[sheet.name] = make_reference_player(subject.agent, sheet.name, scenario, options, seed, repeat)
        else:
            players[sheet.name] = ModelPlayer(sheet, scenario, subject, item, options, prompts)
    informants: dict[str, InformantSeat] = {}
    for each in scenario.informants:
        if partner is None or partner.model is None:
            informants[each.name] = WrittenInformant(each, scenario)
        else:
            informants[each.name] = ModelInformant(each, scenario, partner, item, options.words * 3 // 2, prompts)

    # 2. The session.
    session = _Session(scenario, players, informants, options)
    await session.play()

    # 3. What players know.
    recalls = [] if session.failure else [*session.recalls, *await session.ask_players(When.AFTER)]
    used = {
        Role.SUBJECT: sum((each.usage for each in players.values()), Usage()),
        Role.PARTNER: sum((each.usage for each in informants.values()), Usage()),
    }
    return InformantsEpisode(
        id=item,
        scenario=scenario.id,
        cluster=scenario.card.id,
        repeat=repeat,
        turns=tuple(session.turns),
        recalls=tuple(recalls),
        partner_failure=session.failure,
        usage={role.value: usage for role, usage in used.items() if usage.calls},
    )


_NOT_HEARD = {"content": "", "thinking": "", "told": (), "waits": (), "note": ""}


class _Session:
    def __init__(
        self,
        scenario: Scenario,
        players: Mapping[str, Player],
        informants: Mapping[str, InformantSeat],
        options: InformantsOptions,
    ) -> None:
        self._scenario = scenario
        self._players = players
        self._informants = informants
        self._options = options
        self.turns: list[InformantsTurn] = []
        self.recalls: list[Recall] = []
        self.failure = ""

    async def play(self) -> None:
        passed = 0
        for player in cycle(self._players.values()):
            left = self._options.turns - len(self.turns)
            if left <= 0 or passed == len(self._players):
                return
            turn = await player.speak(self._list_seen(player.name), left)
            passed = 0 if turn.content else passed + 1
            await self._add(turn)
            if turn.content and turn.to in self._informants and len(self.turns) < self._options.turns:
                answer = await self._informants[turn.to].answer(self._list_seen(turn.to))
                if not answer.content:
                    self.failure = f"{turn.to}, turn {len(self.turns) + 1}: {answer.note}"
                    return
                await self._add(answer.model_copy(update={"to": player.name, "addressees": (player.name,) if turn.aside else ()}))

    async def _add(self, turn: InformantsTurn) -> None:
        heard_by = tuple(name for name in self._scenario.names if name != turn.speaker and (not turn.aside or name == turn.to))
        self.turns.append(turn.model_copy(update={"index": len(self.turns) + 1, "heard_by": heard_by}))
        if len(self.turns) in self._options.marks and len(self.turns) < self._options.turns:
            self.recalls += await self.ask_players(When.DURING)

    def _list_seen(self, name: str) -> list[InformantsTurn]:
        """All turns as somebody sees them: of what is said aside to another, only that it is."""
        return [turn if name in (turn.speaker, *turn.heard_by) else turn.model_copy(update=_NOT_HEARD) for turn in self.turns]

    async def ask_players(self, when: When) -> Sequence[Recall]:
        players = self._players.values()
        return await asyncio.gather(*(each.claim(self._list_seen(each.name), when, len(self.turns)) for each in players))
