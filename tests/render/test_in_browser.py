"""What only a browser can tell: nothing runs or is loaded, all is legible, nothing sticks out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from sociable.core.view import Document
from sociable.engine.registry import find_benchmark
from sociable.render import write_html

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

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
  return [...svg.querySelectorAll('g > path:not([fill=none])')].flatMap(path => {
    const sign = path.getBoundingClientRect();
    const [x, y] = [(sign.left + sign.right) / 2, (sign.top + sign.bottom) / 2];
    return texts.filter(([, box]) => box.left < x && x < box.right && box.top < y && y < box.bottom)
      .map(([text]) => text + ' covers ' + path.parentElement.className.baseVal);
  });
})"""

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


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    interface = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not CHROMIUM.exists():
        pytest.skip(f"there is no {CHROMIUM}")
    with interface.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory, honest: Document, drawn: Document, hostile: Document) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    documents = {"honest": honest, "drawn": drawn, "hostile": hostile}
    files = {name: folder / f"{name}.html" for name in documents}
    for name, document in documents.items():
        write_html(document, files[name])
    benchmark = find_benchmark("hsii")
    runs = [folder / agent for agent in benchmark.demo_agents]
    for agent, run in zip(benchmark.demo_agents, runs, strict=True):
        runs.run("hsii", f"reference/{agent}", out=run, limit=10, **benchmark.demo)
    files["demo"] = runs.report(runs, folder / "demo.html")
    return files


def opened(browser: Browser, path: Path, width: int = 1280, dark: bool = False) -> Page:
    """The page with everything unfolded."""
    scheme: Literal["dark", "light"] = "dark" if dark else "light"
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.goto(path.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(details => details.open = true)")
    return page


@pytest.mark.parametrize("kind", ["honest", "drawn", "hostile", "demo"])
def test_nothing_is_requested_and_nothing_runs(browser: Browser, files: dict[str, Path], kind: str) -> None:
    page = browser.new_page()
    requested: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.goto(files[kind].as_uri(), wait_until="networkidle")
    assert requested == [files[kind].as_uri()]
    assert said == []  # the browser reports whatever the content security policy had to stop
    assert page.evaluate("[window.broken, document.scripts.length, document.images.length]") == [None, 0, 0]
    assert page.evaluate("getComputedStyle(document.querySelector('.scroll')).overflowX") == "auto"
    page.close()


@pytest.mark.parametrize("kind", ["honest", "drawn", "hostile", "demo"])
@pytest.mark.parametrize("width", [320, 375, 700, 1000, 1280])
def test_nothing_sticks_out(browser: Browser, files: dict[str, Path], kind: str, width: int) -> None:
    page = opened(browser, files[kind], width)
    assert page.evaluate(STICKING_OUT) == []
    assert page.evaluate(TEXTS_IN_EACH_OTHERS_WAY) == []
    assert page.evaluate(SHAPES_STICKING_OUT) == []
    assert page.locator("svg:visible").count() == {"honest": 1, "drawn": 16, "hostile": 4, "demo": 4}[kind]
    page.close()


@pytest.mark.parametrize("kind", ["honest", "drawn", "demo"])
@pytest.mark.parametrize("dark", [False, True])
def test_all_text_has_contrast(browser: Browser, files: dict[str, Path], kind: str, dark: bool) -> None:
    page = opened(browser, files[kind], dark=dark)
    contrasts = page.evaluate(CONTRASTS)
    assert len(contrasts) > 200
    assert [entry for entry in contrasts if entry[0] < 4.5] == []
    page.close()


@pytest.mark.parametrize("width", [375, 1280])
def test_no_text_of_a_figure_covers_what_it_shows(browser: Browser, files: dict[str, Path], width: int) -> None:
    page = opened(browser, files["drawn"], width)
    assert page.locator("svg:visible g").count() > 300
    assert page.evaluate(SIGNS_UNDER_TEXT) == []
    page.close()


def test_curves_and_dots_have_the_voices_of_the_page(browser: Browser, files: dict[str, Path]) -> None:
    def colours(dark: bool) -> list[str]:
        page = opened(browser, files["drawn"], dark=dark)
        found = page.evaluate("""() => [...document.querySelectorAll('svg')].filter(svg => svg.getBoundingClientRect().width)
          .flatMap(svg => [...svg.querySelectorAll('g path')])
          .flatMap(path => [getComputedStyle(path).fill, getComputedStyle(path).stroke])""")
        page.close()
        return list(found)

    light, dark = set(colours(False)), set(colours(True))
    # Two of six: of the first and of the last.
    assert {"rgb(31, 78, 140)", "rgb(107, 83, 16)"} <= light
    assert {"rgb(141, 184, 240)", "rgb(217, 192, 120)"} <= dark
    assert light & dark == {"none"}


def test_the_dark_page_is_dark(browser: Browser, files: dict[str, Path]) -> None:
    def colours(dark: bool) -> list[str]:
        page = opened(browser, files["honest"], dark=dark)
        script = "[...['html', 'p', '.emphasis > td'].map(s => getComputedStyle(document.querySelector(s)))]"
        found = page.evaluate(script + ".flatMap(style => [style.backgroundColor, style.color])")
        found.append(page.evaluate("getComputedStyle(document.querySelector('svg text')).fill"))
        page.close()
        return list(found)

    light, dark = colours(False), colours(True)
    assert light[0] == "rgb(253, 253, 252)"
    assert dark[0] == "rgb(22, 23, 25)"
    assert all(one != other for one, other in zip(light, dark, strict=True) if one != "rgba(0, 0, 0, 0)")


def test_values_before_intervals_end_at_the_same_place(browser: Browser, files: dict[str, Path]) -> None:
    page = opened(browser, files["honest"])
    script = "rows => rows.map(row => row.querySelectorAll('.value')[0].getBoundingClientRect().right)"
    ours, theirs = page.locator("#summary tbody tr").evaluate_all(script)
    assert ours == pytest.approx(theirs, abs=0.5)
    page.close()


def test_on_paper_no_table_is_cut(browser: Browser, files: dict[str, Path]) -> None:
    page = browser.new_page(viewport={"width": 680, "height": 900})
    page.emulate_media(media="print")
    page.goto(files["honest"].as_uri())
    right = page.evaluate("document.querySelector('#summary table').getBoundingClientRect().right")
    assert right <= 680
    assert page.locator(".for-wide-pages svg").is_visible()
    page.close()


def test_the_skip_link_comes_first_and_leads_to_the_results(browser: Browser, files: dict[str, Path]) -> None:
    page = browser.new_page()
    page.goto(files["honest"].as_uri())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.locator(".skip").bounding_box()["width"] > 50  # type: ignore[index]
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    page.close()
