"""Who may ask the studio for what, and the headers that every answer carries.

The guard stands around the whole application, so that no page and no error can be without it. It answers for four things:
the Host header names this server (a foreign site cannot reach it under a name of its own); a request that changes
something comes from one of our own pages; the owner's pages are shown to the owner; and browsers are told to load and run
nothing but what the studio serves.
"""

from __future__ import annotations

import hmac
import ipaddress
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sociable.studio.rendering import render_problem

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)

HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": POLICY,
    # With "no-referrer" browsers would send "Origin: null" with our own forms. No other site learns anything with this either.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""The headers of every answer; an answer that brings one of them itself keeps its own."""

OPEN_TO_ALL = ("/static/", "/desk/")
"""The beginnings of paths that need no owner's token: our style sheet and script, and people's links, which are checked there."""

_SAFE_METHODS = ("GET", "HEAD")

TOKEN_BYTES = 32
TOKEN_PARAMETER = "token"  # noqa: S105 - its name, not its value


@dataclass(frozen=True)
class Access:
    """What gives access to one server: the owner's token, and the names under which the server is asked."""

    token: str = field(repr=False)
    port: int
    names: Sequence[str] = ()
    """Names of hosts, lower case, beside ``localhost`` and every address in figures. A name could be anybody's; an address
    in figures can only be this server's own."""
    _once: set[str] = field(default_factory=set, repr=False)

    @property
    def cookie(self) -> str:
        """The cookie's name: browsers keep the cookies of all ports of a host together."""
        return f"sociable-studio-{self.port}"

    def is_own_host(self, host: str) -> bool:
        """Whether a Host header names this server."""
        try:
            parts = urlsplit(f"//{host}")
            name = (parts.hostname or "").lower()
            _ = parts.port
        except ValueError:
            return False
        return name == "localhost" or name in self.names or _is_address(name)

    def make_token_for_once(self) -> str:
        """A token that lets in once: for a browser's command, which everybody on the machine can read."""
        made = secrets.token_urlsafe(TOKEN_BYTES)
        self._once.add(made)
        return made

    def use_up(self, given: str) -> bool:
        """Whether this token lets in once more, which it does not any more from now on."""
        found = next((each for each in self._once if hmac.compare_digest(given.encode("utf-8", "replace"), each.encode())), None)
        self._once.discard(found or "")
        return found is not None

    def is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode())


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


_USER_AND_PASSWORD = re.compile(r"(?<=://)[^/\s]+@")


def hide_credentials(text: str) -> str:
    """The text without the user names and passwords that addresses in it may hold."""
    return _USER_AND_PASSWORD.sub("…@", text)


class Guard:
    """The application with its guard."""

    def __init__(self, application: ASGIApp, access: Access) -> None:
        self._application = application
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        if scope["type"] != "http":
            return  # Nothing here speaks WebSockets: the server then refuses the connection.
        answer = self._refuse(Request(scope)) or self._application
        await answer(scope, receive, send_with_headers)

    def _refuse(self, request: Request) -> Response | None:
        """The answer to a request that does not get through; None for one that does."""
        access, path = self._access, request.url.path if self._has_own_host(request) else ""
        if not path:
            return _make_refusal(HTTPStatus.MISDIRECTED_REQUEST, "This address is not the studio's. Use the one it printed.")
        if request.method not in _SAFE_METHODS and not self._has_own_origin(request):
            return _make_refusal(
                HTTPStatus.FORBIDDEN,
                "This form was not sent from a page of this studio, so nothing was done. Send it from a page of the studio.",
            )
        if path.startswith(OPEN_TO_ALL):
            return None
        if given := request.query_params.get(TOKEN_PARAMETER, ""):
            if request.method in _SAFE_METHODS and (access.is_token(given) or access.use_up(given)):
                return self._let_in(request)
        elif access.is_token(request.cookies.get(access.cookie, "")):
            return None
        return _make_refusal(
            HTTPStatus.UNAUTHORIZED,
            "This page is its owner's. Open the address that `sociable studio` printed when it was started: it ends in the token "
            "that lets you in. Whoever was sent a link of their own uses that link.",
        )

    def _has_own_host(self, request: Request) -> bool:
        hosts = request.headers.getlist("host")
        return len(hosts) == 1 and self._access.is_own_host(hosts[0])

    def _has_own_origin(self, request: Request) -> bool:
        """Whether the page that sent the form is of the host that it was sent to; browsers always say with a form."""
        return urlsplit(request.headers.get("origin", "")).netloc == request.headers["host"]

    def _let_in(self, request: Request) -> Response:
        """Keeps the token in a cookie, and shows the page under an address without it."""
        address = request.url.path + _join(each for each in request.query_params.multi_items() if each[0] != TOKEN_PARAMETER)
        answer = RedirectResponse("/" + address.lstrip("/"), HTTPStatus.SEE_OTHER)
        is_secure = request.headers.get("x-forwarded-proto") == "https"
        answer.set_cookie(self._access.cookie, self._access.token, httponly=True, samesite="strict", secure=is_secure)
        return answer


def _join(items: Iterable[tuple[str, str]]) -> str:
    from urllib.parse import urlencode

    query = urlencode(list(items))
    return f"?{query}" if query else ""


def _make_refusal(status: HTTPStatus, text: str) -> Response:
    return Response(render_problem(status, text), status, media_type="text/html")
