"""How fast the studio answers fifty people at once: python benchmarks/studio_people.py [--people N] [--rate N] [--seconds N].

Half of them judge pairs of a run, the others sit in the model's place of a run that is at work beside the server. Each opens
their page as a browser does and sends what they answer; every answer is on disk before the page goes on. The load
is a fixed number of requests a second: whoever is served late does not slow down the others.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import psutil  # type: ignore[import-untyped]
from studio_index import OPENER, SERVER

import sociable
from sociable.agents.people.desk import Desk
from sociable.api.surveys import begin_survey
from sociable.engine.registry import find_benchmark
from sociable.studio.surveys import make_path

SEATED = "seated"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--rate", type=float, default=50.0)
    parser.add_argument("--seconds", type=float, default=20.0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        judging = asked.people // 2
        sociable.run("hsii", "reference/oracle@0.4", out=folder / "judged", limit=40, **find_benchmark("hsii").demo)
        paths = [f"{make_path(each.secret)}?at=1" for each in begin_survey(folder / "judged", judging, sample=60).people]
        command = [sys.executable, "-m", "sociable", "run", "hsii", "--model", "human", "--people-at", "desk", "--stages", "1,2"]
        with (
            subprocess.Popen(
                [*command, "--out", str(folder / SEATED)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            ) as run,
            subprocess.Popen([sys.executable, "-c", SERVER, name], stdout=subprocess.PIPE, text=True) as server,
        ):
            try:
                paths += make_seats(folder / SEATED, asked.people - judging)
                measure(server, paths, asked.rate, asked.seconds)
            finally:
                run.terminate()
                server.terminate()


def make_seats(folder: Path, count: int) -> list[str]:
    """A link for each person who sits in the model's place, once the run waits for them."""
    while not (folder / "desk.sqlite").exists():
        time.sleep(0.1)
    with Desk(folder) as desk:
        links = [desk.make_link(f"person-{number}", several=True) for number in range(count)]
        while not desk.list_waiting():
            time.sleep(0.1)
    return [f"/desk/{link.secret}" for link in links]


class Person:
    """Somebody with a link: looks at the page, answers whatever it asks, looks again."""

    def __init__(self, url: str, path: str) -> None:
        self.url, self.path = url, path
        self.form: dict[str, str] = {}
        self.lock = threading.Lock()
        """One person does one thing after the other."""

    def act(self) -> tuple[str, float]:
        """What was done, and how long it took until the next page was there."""
        with self.lock:
            body = urllib.parse.urlencode(self.form).encode() if self.form else None
            request = urllib.request.Request(self.url + self.path, body, {"Origin": self.url} if body else {})
            begun = time.perf_counter()
            with OPENER.open(request, timeout=60) as answer:
                page = answer.read().decode()
                self.path = urllib.parse.urlsplit(answer.url).path + "?" + urllib.parse.urlsplit(answer.url).query
            took = time.perf_counter() - begun
            was = "answers" if body else "pages"
            self.form = fill_in(page)
            return was, took


def fill_in(page: str) -> dict[str, str]:
    """Some answer to each question of a page; empty where nothing is asked."""
    if found := re.search(r'name="question" value="([^"]+)"', page):
        asked = re.findall(r'<(input type="radio"|input type="text"|textarea)[^>]* name="(answer-\d+)"', page)
        return {"question": found[1]} | {name: "0" if "radio" in kind else "No, thank you." for kind, name in asked}
    if found := re.search(r'name="position" value="(\d+)"', page):
        return {"position": found[1], "answer": "1"}
    return {"action": "agree"} if 'value="agree"' in page else {}


def measure(server: subprocess.Popen[str], paths: Sequence[str], rate: float, seconds: float) -> None:
    """Requests at a fixed rate, dealt to the people in turn; prints how long they took."""
    assert server.stdout is not None
    url = server.stdout.readline().split()[0]
    people = [Person(url, path) for path in paths]
    process = psutil.Process(server.pid)
    for person in people:
        person.act()
    took: dict[str, list[float]] = defaultdict(list)
    before, begun, threads = process.cpu_times(), time.perf_counter(), []

    def act(person: Person) -> None:
        was, time_taken = person.act()
        took[was].append(time_taken)

    requests = number = 0
    while (late := time.perf_counter() - begun) < seconds:
        if late * rate < requests:
            time.sleep(0.001)
            continue
        person = people[number % len(people)]
        requests += 2 if person.form else 1
        number += 1
        threads.append(threading.Thread(target=act, args=[person]))
        threads[-1].start()
    for thread in threads:
        thread.join()
    elapsed, after = time.perf_counter() - begun, process.cpu_times()
    used = after.user + after.system - before.user - before.system
    print(f"{len(people)} people, {requests / elapsed:.0f} requests a second, {len(took['answers'])} answers in {elapsed:.0f} s")
    for name, times in took.items():
        figures = {"median": statistics.median(times), "p95": statistics.quantiles(times, n=20)[-1], "slowest": max(times)}
        print(f"{name:<8} " + ", ".join(f"{what} {value * 1000:4.0f} ms" for what, value in figures.items()))
    print(f"processor of the server {used / requests * 1000:.1f} ms a request, memory {process.memory_info().rss / 2**20:.0f} MB")


if __name__ == "__main__":
    main()
