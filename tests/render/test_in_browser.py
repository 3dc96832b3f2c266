"""What only a browser can tell: nothing runs or is loaded, all is legible, nothing sticks out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sociable.api import reports, runs
from sociable.core.view import Document
from sociable.engine.registry import find_benchmark
from sociable.render.html import write_html

if TYPE_CHECKING:
    from playwright.sync_api import Page

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]

STICKING_OUT = """() => {
  const width = document.documentElement.clientWidth;
  const found = [...document.body.querySelectorAll('*')].filter(element => {
    if (element.closest('.scroll') && !element.matches('.scroll')) return false;
    if (element.closest('.skip, .for-the-ear')) return false;
    const box = element.getBoundingClientRect();
    return box.width > 0 && (box.right > width + 1 || box.left < -1);
  }).map(element => element.outerHTML.slice(0, 120));
  if (document.documentElement.scrollWidth > width) found.push('the page');
  return found;
}"""

TEXTS_IN_EACH_OTHERS_WAY = """() => [...document.querySelectorAll('svg')].flatMap(svg => {
  const frame = svg.getBoundingClientRect();
  if (!frame.width) return [];
  const texts = [...svg.querySelectorAll('text')].filter(text => text.textContent.trim());
  const boxes = texts.map(text => [text.textContent, text.getBoundingClientRect()]);
  const cut = boxes.filter(([, box]) => box.left < frame.left - 0.5 || box.right > frame.right + 0.5
    || box.top < frame.top - 0.5 || box.bottom > frame.bottom + 0.5).map(([text]) => 'cut: ' + text);
  const overlapping = boxes.flatMap(([text, one], index) => boxes.slice(index + 1)
    .filter(([, other]) => one.left < other.right - 0.5 && other.left < one.right - 0.5
      && one.top < other.bottom - 0.5 && other.top < one.bottom - 0.5)
    .map(([second]) => text + ' / ' + second));
  return [...cut, ...overlapping];
})"""

SHAPES_STICKING_OUT = """() => [...document.querySelectorAll('svg')].flatMap(svg => {
  const frame = svg.getBoundingClientRect();
  if (!frame.width) return [];
  return [...svg.querySelectorAll('path')].filter(path => {
    const box = path.getBoundingClientRect();
    return box.left < frame.left - 0.5 || box.right > frame.right + 0.5
      || box.top < frame.top - 0.5 || box.bottom > frame.bottom + 0.5;
  }).map(path => path.outerHTML);
})"""

SIGNS_UNDER_TEXT = """() => [...document.querySelectorAll('svg')].flatMap(svg => {
  if (!svg.getBoundingClientRect().width) return [];
  const texts = [...svg.querySelectorAll('text')].map(text => [text.textContent, text.getBoundingClientRect()]);
  return [...svg.querySelectorAll('path:has(title):not([fill=none])')].flatMap(path => {
    const sign = path.getBoundingClientRect();
    const [x, y] = [(sign.left + sign.right) / 2, (sign.top + sign.bottom) / 2];
    return texts.filter(([, box]) => box.left < x && x < box.right && box.top < y && y < box.bottom)
      .map(([text]) => text + ' covers ' + path.textContent);
  });
})"""

SMALLEST_TEXT = """() => Math.min(...[...document.querySelectorAll('svg')]
  .map(svg => [svg.getBoundingClientRect().width / svg.viewBox.baseVal.width, svg.querySelector('text')])
  .filter(([scale, text]) => scale && text).map(([scale, text]) => scale * parseFloat(getComputedStyle(text).fontSize)))"""

CONTRASTS = """() => {
  const parse = colour => colour.match(/[\\d.]+/g).map(Number);
  const luminance = colour => {
    const [r, g, b] = colour.slice(0, 3).map(part => part / 255)
      .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const background = element => {
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [0, 0, 0];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.getClientRects().length) continue;
    const style = getComputedStyle(element);
    const ink = parse(element.closest('svg') ? style.fill : style.color);
    const [light, dark] = [luminance(ink), luminance(background(element))].sort((a, b) => b - a);
    const name = element.className + ': ' + walker.currentNode.data.slice(0, 40);
    found.push([(light + 0.05) / (dark + 0.05), name]);
  }
  return found;
}"""


DOCUMENTS = ["honest", "drawn", "hostile", "demo"]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory, honest: Document, drawn: Document, hostile_page: str) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    files = {name: folder / f"{name}.html" for name in DOCUMENTS}
    write_html(honest, files["honest"])
    write_html(drawn, files["drawn"])
    files["hostile"].write_text(hostile_page, encoding="utf-8")
    folders = [folder / agent for agent in ("oracle", "silent")]
    for out in folders:
        runs.run("hsii", f"reference/{out.name}", out=out, limit=10, **find_benchmark("hsii").demo)
    reports.report(folders, files["demo"])
    return files


@dataclass
class Opened:
    """A page that is open for all tests, and what it asked for and said since."""

    page: Page
    requested: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def show(self, width: int = 1280, dark: bool = False, unfolded: bool = True) -> Page:
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.emulate_media(color_scheme="dark" if dark else "light", media="screen")
        self.page.evaluate("open => document.querySelectorAll('details').forEach(each => each.open = open)", unfolded)
        return self.page


@pytest.fixture(scope="module")
def pages(files: dict[str, Path]) -> Iterator[dict[str, Opened]]:
    interface = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not CHROMIUM.exists():
        pytest.skip(f"there is no {CHROMIUM}")
    with interface.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        opened = {name: Opened(browser.new_page()) for name in DOCUMENTS}
        for name, each in opened.items():
            each.page.on("request", lambda request, each=each: each.requested.append(request.url))
            each.page.on("console", lambda message, each=each: each.said.append(message.text))
            each.page.on("dialog", lambda dialog, each=each: each.said.append(dialog.message))
            each.page.goto(files[name].as_uri())
        yield opened
        browser.close()


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_nothing_is_requested_and_nothing_runs(pages: dict[str, Opened], files: dict[str, Path], kind: str) -> None:
    opened = pages[kind]
    assert opened.requested == [files[kind].as_uri()]
    assert opened.said == []  # the browser reports whatever the content security policy had to stop
    assert opened.page.evaluate("[window.broken, document.scripts.length, document.images.length]") == [None, 0, 0]
    assert opened.page.evaluate("getComputedStyle(document.querySelector('.scroll')).overflowX") == "auto"


@pytest.mark.parametrize("kind", DOCUMENTS)
@pytest.mark.parametrize("width", [320, 375, 672, 673, 768, 1280])
def test_nothing_sticks_out_and_nothing_overlaps(pages: dict[str, Opened], kind: str, width: int) -> None:
    page = pages[kind].show(width)
    assert page.evaluate(STICKING_OUT) == []
    assert page.evaluate(TEXTS_IN_EACH_OTHERS_WAY) == []
    assert page.evaluate(SHAPES_STICKING_OUT) == []
    assert page.evaluate(SMALLEST_TEXT) >= 12
    assert page.locator("svg:visible").count() == {"honest": 1, "drawn": 20, "hostile": 4, "demo": 4}[kind]


@pytest.mark.parametrize("kind", ["honest", "drawn", "demo"])
@pytest.mark.parametrize("dark", [False, True])
def test_all_text_has_contrast(pages: dict[str, Opened], kind: str, dark: bool) -> None:
    contrasts = pages[kind].show(dark=dark).evaluate(CONTRASTS)
    assert len(contrasts) > 200
    assert [entry for entry in contrasts if entry[0] < 4.5] == []


@pytest.mark.parametrize("width", [320, 1280])
def test_no_text_of_a_figure_covers_what_it_shows(pages: dict[str, Opened], width: int) -> None:
    page = pages["drawn"].show(width)
    assert page.locator("svg:visible path:has(title)").count() > 300
    assert page.evaluate(SIGNS_UNDER_TEXT) == []


def test_curves_and_dots_have_the_voices_of_the_page(pages: dict[str, Opened]) -> None:
    def find_colours(dark: bool) -> set[str]:
        found = (
            pages["drawn"]
            .show(dark=dark)
            .evaluate("""() => [...document.querySelectorAll('svg path:has(title)')]
          .flatMap(path => [getComputedStyle(path).fill, getComputedStyle(path).stroke])""")
        )
        return set(found)

    light, dark = find_colours(False), find_colours(True)
    # Two of six: of the first and of the last.
    assert {"rgb(31, 78, 140)", "rgb(107, 83, 16)"} <= light
    assert {"rgb(141, 184, 240)", "rgb(217, 192, 120)"} <= dark
    assert light & dark == {"none"}


def test_the_dark_page_is_dark(pages: dict[str, Opened]) -> None:
    def find_colours(dark: bool) -> list[str]:
        page = pages["honest"].show(dark=dark)
        script = "[...['html', 'p', '.emphasis > td'].map(s => getComputedStyle(document.querySelector(s)))]"
        found = page.evaluate(script + ".flatMap(style => [style.backgroundColor, style.color])")
        return [*found, page.evaluate("getComputedStyle(document.querySelector('svg text')).fill")]

    light, dark = find_colours(False), find_colours(True)
    assert light[0] == "rgb(253, 253, 252)"
    assert dark[0] == "rgb(22, 23, 25)"
    assert all(one != other for one, other in zip(light, dark, strict=True) if one != "rgba(0, 0, 0, 0)")


def test_values_before_intervals_end_at_the_same_place(pages: dict[str, Opened]) -> None:
    script = "rows => rows.map(row => row.querySelectorAll('.value')[0].getBoundingClientRect().right)"
    ours, theirs = pages["honest"].show().locator("#summary tbody tr").evaluate_all(script)
    assert ours == pytest.approx(theirs, abs=0.5)


def test_on_paper_no_table_is_cut(pages: dict[str, Opened]) -> None:
    page = pages["honest"].show(680)
    page.emulate_media(media="print")
    assert page.evaluate("document.querySelector('#summary table').getBoundingClientRect().right") <= 680
    assert page.locator(".for-wide-pages svg").is_visible()


def test_the_skip_link_comes_first_and_leads_to_the_results(pages: dict[str, Opened]) -> None:
    page = pages["honest"].show(unfolded=False)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.locator(".skip").bounding_box()["width"] > 50  # type: ignore[index]
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"


def test_the_numbers_of_a_figure_are_folded_below_it(pages: dict[str, Opened]) -> None:
    page = pages["honest"].show(unfolded=False)
    numbers = page.locator(".numbers table")
    assert not numbers.is_visible()
    page.locator(".numbers > summary").click()
    assert numbers.is_visible()
    assert "0.300 [0.20, 0.45]" in numbers.inner_text()
