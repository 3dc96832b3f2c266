import base64
import hashlib
import re
import stat
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import get_args

import pytest

from sociable.core.errors import StorageFailure
from sociable.core.plots import CurvePlot, IntervalPlot, Mark, RadarPlot, ScatterPlot, format_number
from sociable.core.view import Block, Document, Paragraph, Plot, Section, Table
from sociable.render import html
from sociable.render.html import _name_kind, render_html, write_html


class Elements(HTMLParser):
    """The tags of a page with their attributes, in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


def document_with(text: str) -> Document:
    return Document("t", "", Table("", [], []), [Section("s", [Paragraph(text)])])


def test_the_same_document_gives_the_same_page(honest: Document) -> None:
    assert render_html(honest) == render_html(honest)


def test_the_policy_allows_our_style_sheet_and_nothing_else(honest: Document) -> None:
    page = render_html(honest)
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    assert style
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    policy = next(meta["content"] for meta in Elements(page).of("meta") if meta.get("http-equiv"))
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def test_nothing_in_the_page_loads_or_runs(hostile_page: str) -> None:
    elements = Elements(hostile_page).found
    assert not {tag for tag, _ in elements} & {"script", "img", "iframe", "link", "object", "form", "base"}
    attributes = [(name, value or "") for _, given in elements for name, value in given.items()]
    assert not [name for name, _ in attributes if name.startswith("on") or name in ("style", "src")]
    assert all(value.startswith("#") for name, value in attributes if name == "href")
    identifiers = [value for name, value in attributes if name == "id"]
    assert len(identifiers) == len(set(identifiers))
    pointed_at = [value for name, value in attributes if name in ("aria-labelledby", "aria-describedby")]
    assert set(pointed_at) <= set(identifiers)


def test_templates_in_strings_are_not_evaluated(hostile_page: str) -> None:
    assert "{{ 7 * 7 }}{% raw %}" in hostile_page
    assert ">49" not in hostile_page


def test_no_control_character_or_surrogate_gets_into_the_file(hostile_page: str) -> None:
    hostile_page.encode("utf-8")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", hostile_page)
    assert "‹ESC›[31mred" in hostile_page


def test_a_huge_text_is_cut_with_a_note() -> None:
    page = render_html(document_with("<" * 2_000_000))
    assert len(page) < 500_000
    assert "1,950,000 more characters left out" in page


def test_headings_are_scoped_explained_and_numbers_marked(scores: Table) -> None:
    page = render_html(Document("t", "", scores, []))
    elements = Elements(page)
    assert [heading.get("scope") for heading in elements.of("th")] == ["col"] * 5 + ["row"] * 2
    explained = next(heading for heading in elements.of("th") if heading.get("title"))
    assert explained["title"] == "Share of episodes with the goal reached."
    assert f'id="{explained["aria-describedby"]}"' in page
    assert '<span class="value">0.700</span> <span class="interval" data-room="[0.61, 0.83]"></span>' in page
    assert len(elements.of("tr")) == 3
    assert [row.get("class") for row in elements.of("tr")] == [None, "emphasis", None]


def test_cases_are_folded_and_carry_their_tags(honest: Document) -> None:
    page = render_html(honest)
    assert page.count('<details class="case">') == 2
    assert re.search(r"<summary>\s*<h3[^>]*>The deposit</h3>.*?tag good.*?</summary>", page, re.DOTALL)
    for words in ("Judged turn: good", "Judged turn: bad", "Judged turn: doubtful", "Judged turn<"):
        assert words in page


def test_each_plot_is_drawn_for_wide_and_for_narrow_pages(plots: Sequence[Plot], scores: Table) -> None:
    page = render_html(Document("t", "", scores, [Section("s", list(plots))]))
    figures = [svg for svg in Elements(page).of("svg") if svg.get("role") == "img"]
    assert [svg.get("aria-label") for svg in figures] == [plot.caption for plot in plots for _ in ("wide", "narrow")]
    assert len({svg["width"] for svg in figures}) == 2


@pytest.mark.parametrize("value", [0.25, 0.5])
def test_a_figure_shows_the_numbers_of_its_own_plot(value: float, scores: Table) -> None:
    # Figures are kept, and only this number tells the two apart.
    plot = IntervalPlot(caption="The same", axis="share", marks=[Mark("a", 0.1), Mark("b", value)])
    page = render_html(Document("x", "y", scores, (Section("s", (plot,)),)))
    assert f"<title>b: {format_number(value)}</title>" in page


def test_each_plot_has_its_numbers_in_a_table(plots: Sequence[Plot], scores: Table) -> None:
    page = render_html(Document("t", "", scores, [Section("s", list(plots))]))
    folded = re.findall(r'<details class="numbers">\s*<summary>The numbers</summary>(.*?)</details>', page, re.DOTALL)
    assert len(folded) == len(plots)
    for numbers, cell in zip(folded, ["[0.20, 0.45]", "[0.09, 0.11]", "Theme 8", "Social memory"], strict=True):
        assert "<table" in numbers and cell in numbers


@pytest.mark.parametrize("plot", [CurvePlot("", "", "", []), ScatterPlot("", []), RadarPlot("", [], [])])
def test_a_plot_of_nothing_says_so(plot: Plot, scores: Table) -> None:
    page = render_html(Document("t", "", scores, [Section("s", [plot])]))
    assert "There is nothing to draw." in page
    assert "<svg" not in page


def test_each_kind_of_block_has_a_rule_and_another_one_is_an_error(scores: Table) -> None:
    template = Path(html.__file__).with_name("templates") / "blocks.html.jinja"
    for kind in get_args(Block):
        block = object.__new__(CurvePlot if kind is Plot else kind)
        assert _name_kind(block) == kind.__name__
        assert f'kind == "{_name_kind(block)}"' in template.read_text(encoding="utf-8")
    with pytest.raises(TypeError, match=r"Cannot draw a Section: blocks\.html\.jinja has no rule for it"):
        render_html(Document("t", "", scores, [Section("s", [Section("inner", [])])]))  # type: ignore[list-item]


def test_writing_replaces_the_file_or_leaves_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.html"
    write_html(document_with("first"), path)
    assert path.read_text(encoding="utf-8") == render_html(document_with("first"))
    before = path.read_bytes()

    def fails(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fails)
    with pytest.raises(StorageFailure, match="disk full"):
        write_html(document_with("second"), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("place", ["missing/report.html", "folder", "file/report.html"])
def test_a_report_that_cannot_be_written_is_no_bug(tmp_path: Path, place: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(StorageFailure, match=f"^Cannot write {tmp_path / place}: .*choose another place") as caught:
        write_html(document_with("x"), tmp_path / place)
    assert "sociable resume" not in str(caught.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


def test_others_may_read_a_report_as_they_may_any_new_file(tmp_path: Path) -> None:
    report, usual = tmp_path / "report.html", tmp_path / "usual"
    write_html(document_with("x"), report)
    usual.touch()
    assert stat.S_IMODE(report.stat().st_mode) == stat.S_IMODE(usual.stat().st_mode)
