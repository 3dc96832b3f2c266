"""Does an assistant thank whoever helped? A benchmark of one's own: a dataset, a protocol, a metric."""

from sociable import Benchmark, Metric, Metrics, Study, Value
from sociable.core.records import Episode, Record, Turn
from sociable.engine.seats import Seats


class Favour(Record):
    """A favour that somebody did."""

    helper: str
    did: str


FAVOURS = {
    "ladder": Favour(helper="Mrs Okafor", did="lent a ladder for the whole weekend"),
    "soup": Favour(helper="Jonas", did="left a pot of soup at the door"),
    "letter": Favour(helper="the postwoman", did="carried back a letter that had the wrong address"),
}


def measure_thanks(episode: Episode) -> Value:
    return Value(float("thank" in episode.turns[0].content.lower()))


class ThanksStudy(Study[Favour, Episode]):
    episode_type = Episode
    scenarios = FAVOURS
    digests = {"dataset": "favours 1"}
    metrics = Metrics(Metric("thanks", "thanks", "replies that say thank you", value=measure_thanks))

    async def run_episode(self, scenario: str, repeat: int, seats: Seats) -> Episode:
        favour = self.scenarios[scenario]
        asked = f"{favour.helper} {favour.did}. Write one line to {favour.helper} in my name."
        scope = seats.subject.make_scope(f"{scenario}#{repeat}")
        reply = await seats.subject.ask([{"role": "user", "content": asked}], scope)
        said = Turn(index=0, speaker="assistant", addressees=(favour.helper,), content=reply.text, note=reply.defect)
        return self.make_episode(scenario, repeat, turns=(said,), usage={"subject": scope.usage})


BENCHMARK = Benchmark(name="thanks", version="0.1.0", title="Does it thank whoever helped?", study=ThanksStudy)
