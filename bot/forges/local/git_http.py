"""Git over HTTP for the local forge: dulwich serves it, tokens guard it."""

import asyncio
import base64
import gzip
import io
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

from dulwich.repo import Repo
from dulwich.server import BackendRepo, DictBackend
from dulwich.web import make_wsgi_chain
from starlette.requests import Request
from starlette.responses import Response

MOST_BYTES = 200 * 1024 * 1024


class GitHttp:
    """Serves the repositories below a folder."""

    def __init__(
        self, root: Path, may: Callable[[str, str, bool], bool], is_protected: Callable[[str, str], bool],
        pushed: Callable[[str, str], Awaitable[None]],
    ) -> None:  # fmt: skip
        self._root = root
        self._may = may
        self._is_protected = is_protected
        self._pushed = pushed
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
            refs = pushed_refs(_plain(request, bytes(body)))
            if any(self._is_protected(name, ref.removeprefix("refs/heads/")) for ref in refs):
                return Response(refusal(refs), 200, {"content-type": "application/x-git-receive-pack-result"})
        status, headers, content = await asyncio.to_thread(self._call, request, bytes(body))
        if pushes and request.method == "POST":
            await self._pushed(name, _token(request))
        return Response(content, status, headers)

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


def pushed_refs(body: bytes) -> list[str]:
    """Return the refs that a push wants to change: the commands before its pack, in pkt-lines."""
    refs, at = [], 0
    while (size := int(body[at : at + 4] or b"0", 16)) >= 4:
        command = body[at + 4 : at + size].split(b"\0")[0].split(b" ")
        if len(command) == 3:
            refs.append(command[2].strip().decode(errors="replace"))
        at += size
    return refs


def refusal(refs: list[str]) -> bytes:
    """Return the report that declines all of a push, in the side band that git asked for."""

    def line(content: bytes) -> bytes:
        return b"%04x%s" % (len(content) + 4, content)

    report = line(b"unpack ok\n") + b"".join(
        line(b"ng %s protected branch hook declined\n" % ref.encode()) for ref in refs
    )
    return line(b"\1" + report + b"0000") + b"0000"


def _plain(request: Request, body: bytes) -> bytes:
    return gzip.decompress(body) if request.headers.get("content-encoding") == "gzip" else body


def _token(request: Request) -> str:
    kind, _, value = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "basic":
        return ""
    try:
        return base64.b64decode(value).decode().partition(":")[2]
    except ValueError:
        return ""
