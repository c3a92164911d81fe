"""Git over HTTP for the local forge: dulwich serves it, tokens guard it."""

import asyncio
import base64
import gzip
import io
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from dulwich.repo import Repo
from dulwich.server import BackendRepo, DictBackend
from dulwich.web import make_wsgi_chain
from starlette.requests import Request
from starlette.responses import Response

from bot.forges.local.pushes import Pushes, read_updates, render_refusal

MOST_BYTES = 200 * 1024 * 1024


class GitHttp:
    """Serves the repositories below a folder."""

    def __init__(self, root: Path, may: Callable[[str, str, bool], bool], pushes: Pushes) -> None:
        self._root = root
        self._may = may
        self._pushes = pushes
        self._repos: dict[str, BackendRepo] = {}
        self._open: list[Repo] = []
        self._wsgi = make_wsgi_chain(DictBackend(self._repos))

    def add(self, full_name: str) -> None:
        """Serve one more repository."""
        repo = Repo(str(self._root / f"{full_name}.git"))
        self._repos[f"/{full_name}.git"] = repo
        self._open.append(repo)

    def close(self) -> None:
        """Close the repositories."""
        for repo in self._open:
            repo.close()

    async def answer(self, request: Request) -> Response:
        """Answer one request of a git client."""
        name = f"{request.path_params['owner']}/{request.path_params['name']}"
        pushes = "git-receive-pack" in request.url.path or request.query_params.get("service") == "git-receive-pack"
        if f"/{name}.git" not in self._repos:
            return Response("no such repository", 404)
        if not self._may(_token(request), name, pushes):
            return Response("token needed", 401, {"www-authenticate": 'Basic realm="git"'})
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > MOST_BYTES:
                return Response("too large", 413)
        if pushes and request.method == "POST":
            return await self._take(request, name, bytes(body))
        status, headers, content = await asyncio.to_thread(self._call, request, bytes(body))
        return Response(content, status, headers)

    async def _take(self, request: Request, name: str, body: bytes) -> Response:
        """Answer a push."""
        updates = read_updates(gzip.decompress(body) if request.headers.get("content-encoding") == "gzip" else body)
        reason = self._pushes.forbids(name, updates)
        status, headers, content = 200, {"content-type": "application/x-git-receive-pack-result"}, b""
        if reason is None:
            status, headers, content = await asyncio.to_thread(self._call, request, body)
            reason = await self._pushes.done(name, _token(request), updates)
        return Response(render_refusal(updates, reason) if reason else content, status, headers)

    def _call(self, request: Request, body: bytes) -> tuple[int, dict[str, str], bytes]:
        started: list[Any] = []
        written = io.BytesIO()

        def start_response(status: str, headers: list[tuple[str, str]], _info: object = None) -> Callable[[bytes], int]:
            started[:] = [int(status.split(" ", 1)[0]), dict(headers)]
            return written.write

        environ = {
            "REQUEST_METHOD": request.method, "PATH_INFO": request.url.path, "QUERY_STRING": request.url.query,
            "CONTENT_TYPE": request.headers.get("content-type", ""), "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": request.headers.get("content-encoding", ""), "wsgi.input": io.BytesIO(body),
            "SERVER_PROTOCOL": "HTTP/1.1", "wsgi.errors": io.StringIO(), "wsgi.url_scheme": "http",
        }  # fmt: skip
        parts: Iterable[bytes] = self._wsgi(environ, start_response)
        for part in parts:
            written.write(part)
        return started[0], started[1], written.getvalue()


def _token(request: Request) -> str:
    kind, _, value = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "basic":
        return ""
    try:
        return base64.b64decode(value).decode().partition(":")[2]
    except ValueError:
        return ""
