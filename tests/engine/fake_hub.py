"""A data set hub on the loopback that serves folders: as much of the hub's protocol as its library asks for."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class FakeHub:
    """Serves ``datasets``: by name the folders by commit, the last of them being ``main``."""

    def __init__(self, datasets: Mapping[str, Mapping[str, Path]]) -> None:
        self.asked: list[str] = []
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer(with_body=True)

            def do_HEAD(self) -> None:
                self._answer(with_body=False)

            def log_message(self, *_: object) -> None:
                pass

            def _answer(self, *, with_body: bool) -> None:
                hub.asked.append(self.path)
                status, headers, body = hub.answer(datasets, self.path.partition("?")[0].strip("/").split("/"))
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                if with_body:
                    self.wfile.write(body)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    @staticmethod
    def answer(datasets: Mapping[str, Mapping[str, Path]], parts: list[str]) -> tuple[int, dict[str, str], bytes]:
        """(status, headers, body) for ``api/datasets/O/N/revision/R``, ``…/tree/R`` or ``datasets/O/N/resolve/R/FILE``."""
        is_api = parts[0] == "api"
        _, owner, name, what, revision, *rest = parts[is_api:]
        commits = datasets.get(f"{owner}/{name}")
        if commits is None:
            return 404, {"X-Error-Code": "RepoNotFound"}, b"{}"
        commit = list(commits)[-1] if revision == "main" else revision
        if commit not in commits:
            return 404, {"X-Error-Code": "RevisionNotFound"}, b"{}"
        folder = commits[commit]
        files = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*")) if path.is_file()]
        if is_api:
            tree = [{"type": "file", "path": file, "oid": "0" * 40, "size": (folder / file).stat().st_size} for file in files]
            info = {"id": f"{owner}/{name}", "sha": commit, "siblings": [{"rfilename": file} for file in files]}
            return 200, {"Content-Type": "application/json"}, json.dumps(tree if what == "tree" else info).encode()
        file = "/".join(rest)
        if file not in files:
            return 404, {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": commit}, b""
        body = (folder / file).read_bytes()
        return 200, {"ETag": f'"{hashlib.sha1(body).hexdigest()}"', "X-Repo-Commit": commit}, body

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
