"""The site builds without a warning, so that no link in it leads nowhere."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
INCLUDED = {
    (page.parent / target).resolve()
    for page in DOCS.rglob("*.md")
    if "_build" not in page.parts
    for target in re.findall(r"^```\{include\} (\S+)", page.read_text(encoding="utf-8"), re.MULTILINE)
}


@pytest.mark.extra
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    for module in ("sphinx", "myst_parser", "furo"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed: pip install '.[docs]'")
    site = tmp_path / "site"
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-n", "-d", str(tmp_path / "trees"), str(DOCS), str(site)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    page = (site / "benchmarks" / "hsii.html").read_text(encoding="utf-8")
    # A README's links lead to pages of the site, and to copies of files that have none.
    assert 'href="hsii-data.html"' in page
    assert 'href="hsii-cot.html"' in page
    assert "sociable.run" in (site / "reference" / "public.html").read_text(encoding="utf-8")


def test_every_readme_of_the_source_has_a_page() -> None:
    readmes = {path.resolve() for path in (ROOT / "src").rglob("README.md")}
    assert not readmes - INCLUDED


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"])
def test_links_of_the_first_pages_lead_somewhere(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        assert "://" in target or (ROOT / unquote(target)).exists(), target


def test_decisions_that_the_tests_cite_stand_on_their_page() -> None:
    page = (DOCS / "project" / "paper_decisions.md").read_text(encoding="utf-8")
    cited = {
        found
        for folder in ("src", "tests")
        for path in (ROOT / folder).rglob("*.py")
        for found in re.findall(r"paper_decisions\.md, (\w+ \d+)", path.read_text(encoding="utf-8"))
    }
    assert cited
    for decision in cited:
        assert f"### {decision}: " in page
