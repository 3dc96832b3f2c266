"""Who gets in, who does not, and what every answer says to browsers."""

from __future__ import annotations

import contextlib
import http.client
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from typer.testing import CliRunner

from sociable.cli.main import app
from sociable.core.errors import InputError
from sociable.studio import application
from sociable.studio.rendering import show_page
from sociable.studio.security import HEADERS, Access
from sociable.studio.server import StudioServer, is_loopback

from .conftest import Answer, Asked, write_run


def fail(request: Request) -> Response:
    raise ZeroDivisionError("the inside of the studio")


def complain(request: Request) -> Response:
    raise InputError("settings.toml, line 3: expected <b>a number</b>. Write one.")


def take(request: Request) -> Response:
    return show_page(request, "problem.html.jinja", heading="Taken", text="Done.")


def list_missing_headers(answer: Answer) -> dict[str, str]:
    """Headers that every answer should carry, and this one does not."""
    return {name: value for name, value in HEADERS.items() if answer.headers.get(name.lower()) != value}


@pytest.fixture(scope="module")
def faulty(start_studio: Callable[[Path], Asked], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    """A studio with pages that go wrong, and one that takes a form."""
    routes = (Route("/fail", fail), Route("/complain", complain), Route("/take", take, methods=["POST"]))
    before = application.PAGES
    application.PAGES = (*before, SimpleNamespace(ROUTES=routes))  # type: ignore[assignment]
    yield start_studio(tmp_path_factory.mktemp("faulty"))
    application.PAGES = before


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/", 200),
        ("/nowhere", 404),
        ("/run?run=nobody", 404),
        ("/fail", 500),
        ("/complain", 400),
        ("/take", 405),
        ("/static/studio.css", 200),
    ],
)
def test_every_answer_tells_browsers_to_load_and_run_nothing_foreign(faulty: Asked, path: str, status: int) -> None:
    answer = faulty.get(path)
    assert answer.status == status
    assert list(list_missing_headers(answer)) == (["Cache-Control"] if path.startswith("/static") else [])
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert "server" not in answer.headers


def test_a_fault_shows_no_internals(faulty: Asked) -> None:
    text = faulty.get("/fail").text
    assert "fault of the studio" in text
    assert not any(word in text for word in ("ZeroDivisionError", "inside", "Traceback", ".py"))


def test_an_error_of_ours_tells_its_remedy_escaped(faulty: Asked) -> None:
    assert "settings.toml, line 3: expected &lt;b&gt;a number&lt;/b&gt;. Write one." in faulty.get("/complain").text


def test_whoever_has_no_token_is_told_how_to_get_in(faulty: Asked) -> None:
    for path in ("/", "/nowhere", "/fail"):
        answer = faulty.get(path, owner=False)
        assert (answer.status, "sociable studio" in answer.text) == (401, True)
        assert faulty.server.access.token not in answer.text
        assert list_missing_headers(answer) == {}
    access = faulty.server.access
    assert faulty.get("/", owner=False, headers={"Cookie": f"{access.cookie}={access.token}x"}).status == 401
    assert faulty.get("/?token=wrong").status == 401
    assert faulty.get("/static/studio.css", owner=False).status == 200


def test_what_a_browsers_command_holds_lets_in_once(faulty: Asked) -> None:
    path = faulty.server.make_url_for_once().removeprefix(faulty.server.url)
    assert faulty.server.access.token not in path
    first = faulty.get(path, owner=False)
    assert (first.status, faulty.server.access.token in first.headers["set-cookie"]) == (303, True)
    assert faulty.get(path, owner=False).status == 401


def test_the_token_becomes_a_cookie_and_leaves_the_address(faulty: Asked) -> None:
    access = faulty.server.access
    answer = faulty.get(f"/run?run=a%26b&token={access.token}", owner=False)
    assert (answer.status, answer.headers["location"]) == (303, "/run?run=a%26b")
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"{access.cookie}={access.token};")
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie


def test_the_token_sends_nobody_to_another_site(faulty: Asked) -> None:
    answer = faulty.get(f"//evil.example/?token={faulty.server.access.token}", owner=False)
    assert answer.headers.get("location", "/") in ("/", "/evil.example/")


@pytest.mark.parametrize(
    "origin",
    [None, "null", "http://evil.example", "http://127.0.0.1:1", "http://localhost", "https://127.0.0.1.evil.example", "x"],
)
def test_a_form_from_another_site_is_refused(faulty: Asked, origin: str | None) -> None:
    headers = {} if origin is None else {"Origin": origin}
    answer = faulty.post("/take", {"a": "b"}, headers=headers)
    assert (answer.status, "nothing was done" in answer.text) == (403, True)


def test_a_form_of_our_own_is_taken(faulty: Asked) -> None:
    assert faulty.post("/take", {"a": "b"}).status == 200
    assert faulty.post("/take", {"a": "b"}, owner=False).status == 401


def test_a_form_that_is_too_large_is_refused(faulty: Asked) -> None:
    access, connection = faulty.server.access, http.client.HTTPConnection("127.0.0.1", faulty.server.port, timeout=10)
    headers = {
        "Cookie": f"{access.cookie}={access.token}",
        "Origin": faulty.server.url,
        "Content-Length": str(application.LARGEST_FORM_BYTES + 1),
    }
    with contextlib.closing(connection):
        connection.request("POST", "/take", headers=headers)
        assert connection.getresponse().status == 413


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "evil.example:8008", "", "localhost.evil.example", "[", "a:b:c"]
)
def test_a_foreign_host_is_refused(faulty: Asked, host: str) -> None:
    answer = faulty.get("/", headers={"Host": host})
    assert answer.status == 421
    assert list_missing_headers(answer) == {}


def test_whatever_names_this_machine_is_its_host() -> None:
    access = Access("secret", 8008, ("studio.example",))
    own = ("localhost", "127.0.0.1:8008", "[::1]:8008", "192.168.0.3", "studio.example:443", "STUDIO.example")
    assert all(map(access.is_own_host, own))
    assert "secret" not in repr(access)


def test_pages_have_no_script_and_no_style_of_their_own(studio: Asked) -> None:
    text = studio.get("/").text
    assert "<style" not in text and " style=" not in text and " onclick" not in text
    assert text.count("<script") == 1 and '<script src="/static/studio.js" defer></script>' in text


@pytest.mark.parametrize(
    "run", ["", "..", "../..", "/etc", "nobody", "%00", "hsii-oracle/../..", "hsii-oracle%00", "a" * 300, "a/" * 3000]
)
def test_no_folder_but_a_run_of_the_studio_is_opened(studio: Asked, run: str) -> None:
    assert [studio.get(f"{page}?run={run}").status for page in ("/run", "/watch/run")] == [404, 404]


def test_no_link_leads_out_of_the_folder(faulty: Asked, tmp_path: Path) -> None:
    outside = write_run(tmp_path / "outside", [])
    for name, target in (("out", outside), ("itself", "itself")):
        (faulty.server.studio.folder / name).symlink_to(target)
        assert [faulty.get(f"{page}?run={name}").status for page in ("/run", "/watch/run", "/report")] == [404] * 3
    assert "outside" not in faulty.get("/").text + faulty.get("/watch").text


def test_other_machines_are_let_in_only_when_asked_for(tmp_path: Path) -> None:
    found = CliRunner().invoke(app, ["studio", str(tmp_path), "--host", "0.0.0.0", "--no-browser"])
    assert isinstance(found.exception, InputError) and "--public" in str(found.exception)
    assert [is_loopback(each) for each in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "example.org")] == [True] * 3 + [False] * 2


def test_a_missing_folder_and_a_port_in_use_are_told(tmp_path: Path, studio: Asked) -> None:
    with pytest.raises(InputError, match="no such folder"):
        StudioServer(tmp_path / "nothing")
    with pytest.raises(InputError, match="Choose another with --port"):
        StudioServer(tmp_path, port=studio.server.port)


def test_a_missing_extra_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    found = CliRunner().invoke(app, ["studio", str(tmp_path), "--no-browser"])
    assert isinstance(found.exception, InputError) and "pip install 'sociable[studio]'" in str(found.exception)


def test_the_command_serves_until_ctrl_c(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-c",
        "from sociable.cli.main import main; main()",
        "studio",
        str(tmp_path),
        "--no-browser",
        "--port",
        "0",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().removeprefix("Studio: ").strip()
            assert url.startswith("http://127.0.0.1:") and "?token=" in url
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor())
            with opener.open(url, timeout=10) as answer:
                assert "There is no run in" in answer.read().decode()
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=20)
            assert (process.returncode, said) == (0, "")
        finally:
            process.kill()
