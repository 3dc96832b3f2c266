"""The replay in a real browser: residents are where the log says, nothing is shown before its minute, nothing foreign runs."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import resources
from itertools import combinations, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from pydantic import ValidationError

from sociable.benchmarks.stss.dataset import load_residents
from sociable.benchmarks.stss.records import Attendance, Measured, Stage, StssEpisode, Told
from sociable.benchmarks.stss.replay import Replay, render_replay
from sociable.benchmarks.stss.task import Signs, Task, TaskType
from sociable.core.run_folder import write_atomically
from sociable.town.clock import MINUTES_PER_DAY, Clock, format_time_of_day, parse_minute
from sociable.town.events import (
    Agreed,
    AnyEvent,
    Began,
    Line,
    Noted,
    Planned,
    Remembered,
    Slept,
    Talked,
    Walked,
    read_timelines,
    render_steps,
)
from sociable.town.map import Address, Tile, TownMap, group_by_place
from sociable.town.persona import Persona
from sociable.town.town_file import load_map

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--no-first-run"]
DATA = resources.files("sociable.benchmarks.stss").joinpath("data")
DAYS = ("Mon", "Tue")
MINUTES = 2 * MINUTES_PER_DAY
PACE = 6


# ------------------------------------------------------------------------------------------------------------
# A plausible log, made without minds: everybody lives its usual days, people who stand together talk


def bundled(name: str) -> Any:
    return json.loads(DATA.joinpath(name).read_text(encoding="utf-8"))


def usual_day(raw: dict[str, Any], day: int) -> list[tuple[int, int, str, str]]:
    """(first minute, first minute after it, doing, place) of what a resident does beside sleep."""
    blocks = [
        (parse_minute(each["from"], day), parse_minute(each["to"], day), each["doing"], each["place"])
        for each in raw["work"]
        if DAYS[day - 1] in each["days"]
    ]
    for each in raw["usual"]:
        if DAYS[day - 1] in each["days"]:
            start = parse_minute(each["at"], day)
            blocks.append((start, start + each["minutes"], each["doing"], each["place"]))
    return sorted(blocks)


def made_task(names: Sequence[str], goal: str, place: str = "The Guildhall: hall", **others: Any) -> Task:
    """The first of ``names`` performs it, on Tuesday from 18:00 to 19:30."""
    fields: dict[str, Any] = {
        "id": "soup-swap", "template": "soup-swap", "type": TaskType.PUBLIC, "activity": "soup swap", "goal": goal,
        "first_person": "", "description": "", "performer": names[0], "cast": tuple(names[1:]), "place": place,
        "start": parse_minute("18:00", 2), "end": parse_minute("19:30", 2), "expected": 1, "signs": Signs(keywords=(("soup",),)),
    }  # fmt: skip
    return Task(**fields | others)


def made_episode(task: Task, starts: Mapping[str, Tile], events: Sequence[AnyEvent]) -> StssEpisode:
    return StssEpisode(
        id="soup-swap#0",
        scenario="soup-swap",
        cluster="soup-swap",
        task=task,
        starts={name: (tile.x, tile.y) for name, tile in starts.items()},
        minutes=MINUTES,
        events=tuple(sorted(events, key=lambda event: (event.minute, event.resident))),
        played_by=dict.fromkeys(starts, "scripted/usual-days"),
    )


def made_replay(people: int, most_talks: int, seed: int = 7) -> Replay:
    draw = random.Random(seed)
    town = load_map(Path(str(DATA.joinpath("town.json"))))
    raws = bundled("residents.json")[:people]
    names = [raw["name"] for raw in raws]
    short = {raw["name"]: raw["short"] for raw in raws}
    task = made_task(
        names,
        f"{names[0]} is putting on a soup swap at The Guildhall: hall on Tuesday from 18:00 to 19:30, where everyone tastes "
        "one another's soups. Success is the number of other people who are there tasting soup for ten minutes or more.",
    )
    goers = set(names[1 : 1 + (people - 1) // 2])

    def tile_in(place: str, name: str) -> Tile:
        free = sorted(town.find_free_tiles(Address.parse(place)))
        beds = [tile for tile in free if "bed" in (getattr(town.find_address(tile), "thing", ""))]
        return draw.choice(beds if "room" in place and name and beds else free)

    events: list[AnyEvent] = []
    starts: dict[str, Tile] = {}
    for raw in raws:
        name, home = raw["name"], raw["home"]["place"]
        here = starts[name] = tile_in(home, name)
        bed = here
        blocks = [block for day in (1, 2) for block in usual_day(raw, day)]
        if name in goers or name == names[0]:
            blocks = [block for block in blocks if block[1] <= task.start or block[0] >= task.end - 30]
            late = draw.randrange(0, 20)
            blocks.append((task.start - 10 + late, task.end - draw.randrange(0, 25), "tasting soup at the soup swap", task.place))
        asleep_at = parse_minute("23:30")
        for day in (0, 1):
            start = day * MINUTES_PER_DAY
            blocks.append((start, start + parse_minute(raw["wakes"]), "sleeping", home))
            blocks.append((start + asleep_at, start + MINUTES_PER_DAY, "sleeping", home))
        busy_until = 0
        for start, end, doing, place in sorted(blocks):
            begin = max(start, busy_until)
            if begin >= end or begin >= MINUTES:
                continue
            sleeps = doing == "sleeping"
            events.append(
                Began(minute=begin, resident=name, doing=doing, planned_place=place, address=place, until=end, asleep=sleeps)
            )
            goal = bed if sleeps else tile_in(place, "")
            way = town.find_way(here, goal) or ""
            if way:
                events.append(Walked(minute=begin, resident=name, start=here, way=render_steps(way), tiles_per_minute=PACE))
                here = goal
            arrival = begin + max(0, -(-len(way) // PACE) - 1)
            if sleeps:
                events.append(Slept(minute=arrival, resident=name, until=end))
            elif draw.random() < 0.5:
                events.append(
                    Remembered(
                        minute=arrival, resident=name, memory="seen", text=f"The {place.split(': ')[-1]} is quiet.", importance=2
                    )
                )
            busy_until = max(end, arrival + 1)
        for day in (1, 2):
            plan = [
                f"{format_time_of_day(start)}-{format_time_of_day(end)} {doing} @ {place}"
                for start, end, doing, place in sorted(blocks)
                if start // MINUTES_PER_DAY == day - 1 and doing != "sleeping"
            ]
            wakes = parse_minute(raw["wakes"], day)
            events.append(Planned(minute=wakes, resident=name, plan="\n".join(plan)))
            events.append(
                Remembered(minute=wakes, resident=name, memory="plan", text=f"A day with {len(plan)} things in it.", importance=4)
            )
        events += [Remembered(minute=0, resident=name, memory="fact", text=fact, importance=5) for fact in raw["facts"]]

    talks, told = made_talks(events, starts, names, short, most_talks, draw, task)
    met = {name for talk in talks for name in (talk.resident, talk.partner)}
    knowing = {each.listener for each in told}
    goes = (goers & knowing) | {names[0]}
    for talk in talks:
        for one, two in ((talk.resident, talk.partner), (talk.partner, talk.resident)):
            text = f"I talked with {short[two]}: {talk.lines[0].says}"
            events.append(
                Remembered(minute=talk.until, resident=one, memory="conversation", text=text, importance=draw.randrange(2, 9))
            )
    events += talks
    events += [
        Agreed(minute=each.minute, resident=each.listener, partner=each.teller, doing="coming to the soup swap",
               place=task.place, start=task.start, end=task.end)
        for each in told
        if each.listener in goes
    ]  # fmt: skip
    events.append(Noted(minute=600, resident=names[-1], about="place", text="'the cinema' names no place in this town"))
    attendance = [
        Attendance(
            resident=each.resident,
            start=each.minute + 6,
            end=each.until,
            counts=each.resident in goes,
            why="tasting soup" if each.resident in goes else "nobody had told it",
        )
        for each in events
        if isinstance(each, Began) and each.doing.startswith("tasting")
    ]

    def stage(name: str) -> Stage:
        if name in goes:
            return Stage.DONE
        if name in knowing:
            return Stage.NOT_AGREED
        return Stage.NOT_TOLD if name in met else Stage.NOT_MET

    measured = Measured(
        id="x",
        score=round(len(goes - {names[0]}) / max(1, len(goers)), 3),
        reason=f"{len(goes) - 1} of the {len(goers)} expected were there for ten minutes or more",
        attendance=tuple(attendance),
        told=tuple(told),
        stages={name: stage(name) for name in names[1:]},
    )
    remarks = ["Model under test: scripted/usual-days. Everybody else: scripted/usual-days."]
    known, _ = load_residents(None, town)
    return Replay("Soup swap, repeat 1", made_episode(task, starts, events), measured, town, known, Clock(), remarks)


SMALL_TALK = (
    "You look as if you had been up since five.",
    "I have. The oven does not light itself.",
    "Did you hear what they want for the harbour lights?",
    "Too much, as always. Shall we sit down for a moment?",
    "Only for a moment, I have to be back before the bell.",
    "Then tell me quickly how your mother is.",
)


def made_talks(
    events: Sequence[AnyEvent], starts: dict[str, Tile], names: Sequence[str], short: dict[str, str], most: int,
    draw: random.Random, task: Task,
) -> tuple[list[Talked], list[Told]]:  # fmt: skip
    """Talks of those who stand near one another for a while, and who heard of the event in them."""
    lives = read_timelines(events, starts, MINUTES)
    taken: dict[str, set[int]] = {name: set() for name in names}
    talks: list[Talked] = []
    told: list[Told] = []
    knows = {names[0]}
    pairs = list(combinations(names, 2))
    for minute in draw.sample(range(360, MINUTES - 60), MINUTES - 420):
        draw.shuffle(pairs)
        for one, two in pairs:
            length = draw.randrange(3, 9)
            a, b = lives[one], lives[two]
            near = abs(a.tiles[minute].x - b.tiles[minute].x) + abs(a.tiles[minute].y - b.tiles[minute].y) <= 12
            span = range(minute - 1, minute + length + 1)
            if not near or taken[one] & {*span} or taken[two] & {*span}:
                continue
            if any(life.asleep[each] or life.tiles[each] != life.tiles[minute] for life in (a, b) for each in span):
                continue
            for name in (one, two):
                taken[name] |= {*span}
            lines = [
                Line(speaker=(one, two)[turn % 2], says=SMALL_TALK[(turn + minute) % 6])
                for turn in range(2 * draw.randrange(2, 4))
            ]
            talks.append(Talked(minute=minute, resident=one, partner=two, until=minute + length, lines=tuple(lines)))
            break
        if len(talks) == most:
            break
    talks.sort(key=lambda talk: talk.minute)
    for place, talk in enumerate(talks):
        teller, listener = (talk.resident, talk.partner) if talk.resident in knows else (talk.partner, talk.resident)
        if (teller in knows) == (listener in knows) or talk.minute >= task.start or draw.random() > 0.75:
            continue
        knows.add(listener)
        what = "The soup swap is in the Guildhall, Tuesday at six. Bring a jar."
        said = [Line(speaker=teller, says=what), Line(speaker=listener, says=f"I will think of it, {short[teller]}.")]
        talks[place] = talk.model_copy(update={"lines": (*talk.lines[:2], *said, *talk.lines[2:])})
        told.append(Told(minute=talk.minute + 1, teller=teller, listener=listener, parts=("activity", "place", "time")))
    return talks, told


# ------------------------------------------------------------------------------------------------------------
# In the browser

STICKING_OUT = """() => {
  const width = document.documentElement.clientWidth;
  const found = [...document.body.querySelectorAll('*')].filter(element => {
    const box = element.getBoundingClientRect();
    return box.width > 0 && (box.right > width + 1 || box.left < -1);
  }).map(element => element.outerHTML.slice(0, 120));
  if (document.documentElement.scrollWidth > width) found.push('the page');
  return found;
}"""

FAINT_TEXTS = """() => {
  const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const luminance = ([r, g, b]) => {
    const [red, green, blue] = [r, g, b].map(part => part / 255).map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const over = (colours) => { // painted one upon the other
    context.clearRect(0, 0, 1, 1);
    for (const colour of colours) { context.fillStyle = colour; context.fillRect(0, 0, 1, 1); }
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  const grounds = element => {
    const found = [];
    for (let at = element; at; at = at.parentElement) found.unshift(getComputedStyle(at).backgroundColor);
    return found;
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [], done = new Set();
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.getClientRects().length) continue;
    const ground = grounds(element), pair = ground + getComputedStyle(element).color;
    if (done.has(pair)) continue;
    done.add(pair);
    const [light, dark] = [luminance(over([...ground, getComputedStyle(element).color])), luminance(over(ground))].sort((a, b) => b - a);
    const contrast = (light + 0.05) / (dark + 0.05);
    if (contrast < 4.5) found.push(contrast.toFixed(2) + ' ' + element.className + ': ' + walker.currentNode.data.slice(0, 40));
  }
  return found;
}"""

HOSTILE = (
    "</script><script>window.broken = 1</script>",
    "<!--<script>",
    '"><img src=x onerror="window.broken = 2">',
    "</title><svg onload='window.broken = 3'>",
    "{{ 7 * 7 }}{% raw %}{# #}",
    "__proto__",
    "user\u202egnp.exe \x1b[31m \u2028 \ud800 \ufffe \U000e0041",
    "W" * 400,
    "a" + "\u0301" * 300,
    "E99999999999",
    "مرحبا &lt;b&gt; &amp;",
    "",
    " ",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[BrowserContext]:
    """One window for all: each test has a page of its own in it."""
    interface = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not CHROMIUM.exists():
        pytest.skip(f"there is no {CHROMIUM}")
    with interface.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield browser.new_context()
        browser.close()


@pytest.fixture(scope="module")
def usual() -> Replay:
    return made_replay(6, 30)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory, usual: Replay) -> Path:
    path = tmp_path_factory.mktemp("replay") / "replay.html"
    write_page(usual, path)
    return path


def write_page(replay: Replay, path: Path) -> None:
    write_atomically(path, render_replay(replay))


def opened(browser: BrowserContext, file: Path, link: str = "", width: int = 1280, **wishes: Any) -> Page:
    page = browser.new_page()
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(**wishes)
    page.goto(file.as_uri() + link)
    return page


@pytest.fixture(scope="module")
def usual_page(browser: BrowserContext, file: Path) -> Iterator[tuple[Page, list[str]]]:
    """Loaded once, with what went wrong in it."""
    page = opened(browser, file)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page, errors
    page.close()


@pytest.fixture
def page(usual_page: tuple[Page, list[str]]) -> Iterator[Page]:
    page, errors = usual_page
    page.evaluate("() => { history.replaceState(null, '', '#minute=0'); dispatchEvent(new HashChangeEvent('hashchange')) }")
    yield page
    assert errors == []


def slide(page: Page, minute: int) -> None:
    """As a hand does it."""
    page.locator("#slider").evaluate(
        "(slider, minute) => { slider.value = minute; slider.dispatchEvent(new Event('input')) }", minute
    )


def shown(page: Page, panel: str) -> str:
    return page.locator(f"#panel-{panel}").inner_text()


def test_residents_are_where_the_log_says_and_as_it_says(page: Page, usual: Replay) -> None:
    starts = {name: Tile(*tile) for name, tile in usual.episode.starts.items()}
    lives = read_timelines(usual.episode.events, starts, MINUTES)
    minutes = [*range(0, MINUTES, 61), *range(540, 600)]
    sliding = """minutes => minutes.map(minute => {
      const slider = document.getElementById('slider');
      slider.value = minute;
      slider.dispatchEvent(new Event('input'));
      return replay.positions();
    })"""
    for minute, positions in zip(minutes, page.evaluate(sliding, minutes), strict=True):
        for seen in positions:
            life = lives[seen["name"]]
            assert (seen["x"], seen["y"]) == life.tiles[minute]
            assert seen["asleep"] == life.asleep[minute]
            assert seen["talking"] == any(talk.minute <= minute < talk.until for talk in life.talks)
            assert seen["place"] == str(usual.town.find_address(life.tiles[minute]) or "")


def tiny_town(walls_belong_to_the_house: bool = True) -> TownMap:
    """A street with a river along its east side and a house of one room, whose door is to the south.

    ######..~
    #....#..~
    #..o.#..~
    ##.###..~
    ........~   (nine times)
    """
    rows = ["######..~", "#....#..~", "#..o.#..~", "##.###..~", *["........~"] * 9]
    blocked = np.array([[sign in "#o~" for sign in row] for row in rows])
    room = [
        (Address("House", "room", "stove" if rows[y][x] == "o" else ""), Tile(x, y))
        for y in range(4)
        for x in range(6)
        if walls_belong_to_the_house or rows[y][x] != "#"
    ]
    return TownMap("Tiny", blocked, group_by_place(room), {"House": "home"})


def persona(name: str, **texts: str) -> Persona:
    """Not checked: what a data file has of a name is checked when it is read."""
    fields: dict[str, Any] = {"short": name, "innate": "", "learned": "", "currently": "", "lifestyle": "", "pronouns": ""}
    return Persona.model_construct(name=name, age=40, **{**fields, **texts})


def tiny_replay(log: Sequence[AnyEvent]) -> Replay:
    starts = {"Ann": Tile(1, 1), "Ben": Tile(7, 5)}
    episode = made_episode(made_task(("Ann", "Ben"), "", "House: room"), starts, log)
    people = {name: persona(name) for name in starts}
    return Replay("Tiny", episode, Measured(id="x", score=0.0, reason=""), tiny_town(), people, Clock())


WALK = Walked(minute=100, resident="Ann", start=(1, 1), way="E1S4E5", tiles_per_minute=6)


def at(page: Page, minute: float, name: str = "Ann") -> Any:
    return next(each for each in page.evaluate("minute => replay.at(minute)", minute) if each["name"] == name)


def test_a_walk_by_hand(browser: BrowserContext, tmp_path: Path) -> None:
    # Ten steps, six a minute: one to the right, four down and one to the right in minute 100, the last four in minute 101.
    write_page(tiny_replay([WALK]), tmp_path / "tiny.html")
    page = opened(browser, tmp_path / "tiny.html")
    seen = {
        minute: (at(page, minute)["x"], at(page, minute)["y"])
        for minute in (0, 99, 99.5, 99.75, 100, 100.5, 101, 102, 2879, 2880)
    }
    assert seen == {
        0: (1, 1), 99: (1, 1), 99.5: (2, 3), 99.75: (2, 4.5), 100: (3, 5), 100.5: (6, 5),
        101: (7, 5), 102: (7, 5), 2879: (7, 5), 2880: (7, 5),
    }  # fmt: skip
    page.close()


def test_a_sleep_that_is_logged_is_taken_as_it_is(browser: BrowserContext, tmp_path: Path) -> None:
    bed = Began(minute=100, resident="Ann", doing="sleeping", until=130, asleep=True)
    write_page(tiny_replay([bed, WALK, Slept(minute=105, resident="Ann", until=120)]), tmp_path / "tiny.html")
    page = opened(browser, tmp_path / "tiny.html")
    assert [at(page, minute)["asleep"] for minute in (101, 104, 105, 119, 120)] == [False, False, True, True, False]
    page.close()


def test_a_click_on_a_dot_tells_what_that_resident_knows_by_then_and_no_more(page: Page, usual: Replay) -> None:
    name = list(usual.episode.starts)[2]
    told = next(
        event
        for event in usual.episode.events
        if isinstance(event, Remembered) and event.resident == name and event.memory == "conversation"
    )
    slide(page, told.minute)
    page.mouse.click(*page.evaluate("name => replay.dot(name)", name))
    assert name in page.locator("#person-name").inner_text()
    text = shown(page, "residents")
    by_now = [
        event
        for event in usual.episode.events
        if isinstance(event, Remembered) and event.resident == name and event.minute <= told.minute
    ]
    assert f"Memories so far {len(by_now)}" in text
    assert told.text in text
    slide(page, told.minute - 1)
    assert told.text not in shown(page, "residents")
    assert page.locator("[data-key=memories] li").count() == sum(event.minute < told.minute for event in by_now)


def test_the_plan_of_the_day_has_its_current_block_marked(page: Page, usual: Replay) -> None:
    name = next(iter(usual.episode.starts))
    plan = next(event for event in usual.episode.events if isinstance(event, Planned) and event.resident == name)
    page.evaluate("name => replay.choose(name)", name)
    slide(page, plan.minute - 1)
    assert page.locator(".plan").count() == 0
    times, doing = plan.plan.splitlines()[3].split(" ", maxsplit=1)
    slide(page, parse_minute(times.split("-")[0]) + 1)
    assert page.locator(".plan li").count() == len(plan.plan.splitlines())
    assert page.locator(".plan .now").inner_text().split() == [times.replace("-", "–"), *doing.split()]
    assert page.locator(".plan .over").count() == 3


def test_lines_are_said_in_the_minutes_of_their_conversation(page: Page, usual: Replay) -> None:
    talk = next(event for event in usual.episode.events if isinstance(event, Talked) and len(event.lines) >= 4)
    page.locator("#tab-talks").click()
    for minute, said in ((talk.minute, 1), (talk.until - 1, len(talk.lines) - 1)):
        slide(page, minute)
        assert page.locator("#talks .talk.now .lines li").count() >= said
        assert talk.lines[0].says in page.locator("#talks .talk.now").first.inner_text()
    slide(page, talk.minute)
    assert talk.lines[-1].says not in page.locator("#talks .talk.now").first.inner_text()
    slide(page, talk.until)
    card = page.locator("#talks details.talk").first
    assert card.locator("li").count() == 0
    card.locator("summary").click()
    card.locator("li").first.wait_for()
    assert card.locator("li").count() == len(talk.lines)


def test_who_has_been_told_by_whom_by_now(page: Page, usual: Replay) -> None:
    page.locator("#tab-event").click()
    first, second = usual.measured.told[:2]
    slide(page, first.minute - 1)
    assert f"told by now 0 of {len(usual.episode.starts) - 1}" in shown(page, "event")
    slide(page, second.minute)
    assert f"told by now 2 of {len(usual.episode.starts) - 1}" in shown(page, "event")
    below = page.locator(".tree > li", has_text=first.teller).locator("ul li", has_text=first.listener)
    assert ", ".join(first.parts) in below.first.inner_text()
    assert usual.episode.task
    slide(page, usual.episode.task.start + 40)
    assert "on now, until 19:30" in shown(page, "event")
    there = page.locator("[data-key=there]").inner_text()
    assert next(iter(usual.episode.starts)) in there
    assert all(stage.value in shown(page, "event") for stage in usual.measured.stages.values())


def test_a_place_other_than_the_planned_one_is_marked(browser: BrowserContext, tmp_path: Path) -> None:
    log: list[AnyEvent] = [
        Began(minute=10, resident="Ann", doing="cooking", planned_place="the house", address="House: room", until=30),
        Began(minute=20, resident="Ben", doing="watching a film", planned_place="the cinema", until=60),
        Began(minute=30, resident="Ann", doing="waiting", planned_place="the house", address="House: room", until=90),
        Walked(minute=40, resident="Ann", start=(1, 1), way="E1S4E5", tiles_per_minute=6),
    ]
    write_page(tiny_replay(log), tmp_path / "tiny.html")
    page = opened(browser, tmp_path / "tiny.html", "#minute=20")
    rows = page.locator("#people li")
    assert "In House: room, as planned" in rows.nth(0).inner_text()
    assert "≠ In the street; planned “the cinema”, which nobody knows" in rows.nth(1).inner_text()
    slide(page, 40)
    assert "On the way to House: room" in rows.nth(0).inner_text()
    slide(page, 41)
    assert "≠ In the street; planned House: room" in rows.nth(0).inner_text()
    page.close()


def test_keys_move_time(page: Page, usual: Replay) -> None:
    slide(page, 500)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("replay.minute()") == 560
    page.locator("#slider").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("replay.minute()") == 561
    following = [event.minute for event in usual.episode.events if isinstance(event, Talked) and event.minute > 561]
    page.keyboard.press("n")
    page.keyboard.press("n")
    assert page.evaluate("replay.minute()") == following[1]
    page.keyboard.press("p")
    assert page.evaluate("replay.minute()") == following[0]
    page.keyboard.press("4")
    page.keyboard.press(" ")
    page.wait_for_function("minute => replay.minute() > minute + 2", arg=following[0])
    page.keyboard.press(" ")
    stopped = page.evaluate("replay.minute()")
    page.wait_for_timeout(60)
    assert page.evaluate("replay.minute()") == stopped


def test_a_link_leads_to_a_minute_and_a_resident_and_is_kept_up_to_date(browser: BrowserContext, tmp_path: Path) -> None:
    write_page(tiny_replay([]), tmp_path / "tiny.html")
    page = opened(browser, tmp_path / "tiny.html", "#minute=1145&resident=Ben")
    assert page.evaluate("replay.minute()") == 1145
    assert page.locator("#time").inner_text() == "19:05"
    assert page.locator("#day").inner_text() == "Monday 13 February 2023"
    assert page.locator("#person-name").inner_text() == "Ben"
    slide(page, 1200)
    page.wait_for_function("() => location.hash === '#minute=1200&resident=Ben'")
    page.evaluate("() => { location.hash = '#minute=nonsense&resident=nobody&panel=__proto__' }")
    page.wait_for_function("() => document.querySelectorAll('#people li:not([hidden])').length === 2 && replay.minute() === 0")
    page.close()


def test_whoever_wants_no_motion_gets_stills(browser: BrowserContext, tmp_path: Path) -> None:
    write_page(tiny_replay([WALK]), tmp_path / "tiny.html")
    page = opened(browser, tmp_path / "tiny.html")
    drawn_at = "minute => { replay.at(minute); replay.dot('Ann'); return document.getElementById('canvas').toDataURL() }"
    for wish, still in (("reduce", True), ("no-preference", False)):
        page.emulate_media(reduced_motion=wish)  # type: ignore[arg-type]
        assert (page.evaluate(drawn_at, 100) == page.evaluate(drawn_at, 100.5)) == still
    page.close()


def test_it_opens_when_the_performer_wakes_and_tells_what_its_marks_mean(
    browser: BrowserContext, tmp_path: Path, usual: Replay
) -> None:
    performer = next(iter(usual.episode.starts))
    file = tmp_path / "replay.html"
    remark = "An event was injected: everybody learned: The bridge is closed."
    write_page(replace(usual, remarks=[remark]), file)
    page = opened(browser, file, "")
    now = page.evaluate("replay.minute()")
    asleep = "([minute, name]) => replay.at(minute).find(each => each.name === name).asleep"
    assert now > 0
    assert page.evaluate(asleep, [now - 1, performer])
    assert not page.evaluate(asleep, [now, performer])
    assert remark in page.inner_text("header")
    assert "somebody is told" in page.inner_text(".legend")
    page.evaluate("name => replay.choose(name)", performer)
    for name, key in (("next", "N"), ("previous", "P")):
        label = f"{name.capitalize()} conversation of {performer}"
        button = page.locator(f"#{name}")
        assert (button.get_attribute("aria-label"), button.get_attribute("title")) == (label, f"{label} ({key})")
    page.close()


@pytest.mark.parametrize(("width", "scheme"), [(380, "dark"), (900, "light")])
def test_nothing_sticks_out_and_all_is_legible(
    browser: BrowserContext, file: Path, usual: Replay, width: int, scheme: str
) -> None:
    assert usual.episode.task
    page = opened(browser, file, f"#minute={usual.episode.task.start + 30}", width, color_scheme=scheme)
    for panel in ("residents", "talks", "event", "one resident"):
        if panel == "one resident":
            page.evaluate("name => replay.choose(name)", list(usual.episode.starts)[1])
        else:
            page.locator(f"#tab-{panel}").click()
        assert page.evaluate(STICKING_OUT) == []
        assert page.evaluate(FAINT_TEXTS) == []
    page.close()


def hostile_replay() -> Replay:
    """Every string of models and data is hostile; the town's names too."""
    everything = " ".join(HOSTILE)
    town = tiny_town()
    places = {replace(address, sector=HOSTILE[2]): tiles for address, tiles in town.places.items()}
    town = TownMap(everything, town.blocked, places, {HOSTILE[2]: everything})
    names = HOSTILE[:6]
    log: list[AnyEvent] = []
    for index, name in enumerate(names):
        other = names[index - 1]
        log += [
            Planned(minute=5, resident=name, plan=f"08:30-99:00 {everything}\n00:00-01:00 {HOSTILE[2]} @ {HOSTILE[0]}\n{HOSTILE[2]}"),
            Began(minute=6, resident=name, doing=everything, planned_place=HOSTILE[2], address=everything, until=99999),
            Walked(minute=8, resident=name, start=(6, 5), way=HOSTILE[9] if index else "?!", tiles_per_minute=-3),
            Talked(minute=2900 if index == 5 else 10 + 3 * index, resident=name, partner=other, until=0,
                   lines=tuple(Line(speaker=name if turn % 2 else text, says=text, note=text) for turn, text in enumerate(HOSTILE))),
            Agreed(minute=12, resident=name, partner=other, doing=everything, place=everything, start=-5, end=10**9),
            Noted(minute=13, resident=name, about=HOSTILE[0], text=everything),
            Slept(minute=20, resident=name, until=10),
            *(Remembered(minute=14, resident=name, memory="told", text=text, importance=1e300) for text in HOSTILE),
        ]  # fmt: skip
    told = [Told(minute=9 + place, teller=names[place], listener=names[1], parts=(everything,)) for place in range(3)]
    task = made_task(names, everything, f"{HOSTILE[2]}: room", start=15, end=40)
    measured = Measured(
        id="x",
        score=0.5,
        reason=everything,
        attendance=(
            Attendance(resident=names[0], start=30, end=20, counts=True, why=everything),
            Attendance(resident=names[1], start=5, end=90000, counts=False, why=HOSTILE[2]),
        ),
        told=tuple(told),
        stages=dict.fromkeys(names, Stage.DONE),
    )
    episode = made_episode(task, dict.fromkeys(names, Tile(6, 5)), log).model_copy(update={"events": tuple(log)})
    texts = dict(zip(("short", "innate", "learned", "currently", "lifestyle"), (everything, *HOSTILE), strict=False))
    people = {name: persona(name, **texts) for name in names}
    return Replay(everything, episode, measured, town, people, Clock(), HOSTILE)


def test_what_is_hostile_stays_text(browser: BrowserContext, tmp_path: Path) -> None:
    file = tmp_path / "hostile.html"
    write_page(hostile_replay(), file)
    page = browser.new_page()
    page.set_viewport_size({"width": 380, "height": 700})
    requested: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.goto(file.as_uri() + "#minute=26")
    page.keyboard.press("+")
    page.keyboard.press("+")
    texts = []
    for panel in ("residents", "talks", "event"):
        page.locator(f"#tab-{panel}").click()
        texts.append(shown(page, panel))
        assert page.evaluate(STICKING_OUT) == []
    page.evaluate("name => replay.choose(name)", HOSTILE[2])
    page.locator("#follow").click()
    page.evaluate("document.querySelectorAll('details').forEach(details => details.open = true)")
    page.mouse.move(200, 300)
    texts.append(shown(page, "residents"))
    assert page.evaluate(STICKING_OUT) == []
    for text in HOSTILE[:5]:
        assert all(" ".join(text.split()) in " ".join(each.split()) for each in texts)
    assert all("‹U+202E›gnp.exe ‹U+001B›" in each for each in texts)
    page.evaluate("replay.at(2880)")
    assert page.evaluate("[window.broken, document.images.length, document.scripts.length]") == [None, 0, 2]
    assert page.evaluate("document.querySelectorAll('svg').length") == 6  # our own icons
    assert said == []  # the browser reports whatever the content security policy had to stop
    assert requested == [file.as_uri() + "#minute=26"] or requested == [file.as_uri()]
    page.close()


def test_the_policy_lets_nothing_else_run(browser: BrowserContext, tmp_path: Path) -> None:
    slipped = tmp_path / "slipped.html"
    more = "<script>window.broken = 1</script><img src=x onerror='window.broken = 2'><b style='color: red'>x</b>"
    slipped.write_text(render_replay(tiny_replay([])).replace("<noscript>", more + "<noscript>"), encoding="utf-8")
    page = opened(browser, slipped)
    assert page.evaluate("window.broken") is None
    assert page.evaluate("replay.minutes") == 2 * MINUTES_PER_DAY
    page.close()


def test_without_events_there_is_a_page(browser: BrowserContext, tmp_path: Path) -> None:
    write_page(tiny_replay([]), tmp_path / "tiny.html")
    page = opened(browser, tmp_path / "tiny.html")
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    for panel in ("talks", "event", "residents"):
        page.locator(f"#tab-{panel}").click()
    page.keyboard.press("n")
    page.keyboard.press("Home")
    assert at(page, 1440)["place"] == "House: room"
    assert errors == []
    page.close()


# ------------------------------------------------------------------------------------------------------------
# Without one


def data_of(page: str) -> Any:
    return json.loads(page.split('id="data">', 1)[1].split("</script>", 1)[0])


def test_the_same_replay_gives_the_same_page(usual: Replay) -> None:
    assert render_replay(usual) == render_replay(usual)
    assert "</" not in render_replay(hostile_replay()).split('id="data">', 1)[1].split("</script>\n<script>", 1)[0]


def test_what_the_town_looks_like() -> None:
    # 0 street, 1 water, 2 wall, 3 floor, 4 door, 5 ground that nobody can walk on; the stove stands on a floor.
    house = ["22222200", "23333200", "23333200", "22422200", *["00000000"] * 9]
    river = frozenset(Tile(8, y) for y in range(13))
    for walls_belong_to_the_house, water in product((True, False), (river, frozenset())):
        town = replace(tiny_town(walls_belong_to_the_house), water=water)
        data = data_of(render_replay(replace(tiny_replay([]), town=town)))["town"]
        assert data["terrain"] == "".join(row + ("1" if water else "5") for row in house)
        assert data["things"] == [["stove", [[3, 2, 0]]]]
        assert data["sectors"][0]["walled"]


def test_an_episode_that_is_not_scored_says_why(usual: Replay) -> None:
    failed = replace(usual, measured=usual.measured.model_copy(update={"failure": "the background said nothing"}))
    data = data_of(render_replay(failed))
    assert (data["score"], data["reason"]) == (None, "not scored: the background said nothing")


def test_a_log_that_names_a_stranger_is_refused() -> None:
    for event in (
        Noted(minute=1, resident="Cid", about="", text=""),
        Talked(minute=1, resident="Ann", partner="Cid", until=2, lines=()),
        Agreed(minute=1, resident="Ann", partner="Cid", doing=""),
    ):
        with pytest.raises(ValidationError, match="'Cid' is nobody of this episode"):
            tiny_replay([event])
