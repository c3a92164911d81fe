"""git's own server program behind HTTP, with a token, as a forge serves repositories."""

import base64
import contextlib
import os
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

TOKEN = "t0ken"
_WANTED = "Basic " + base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode()


@contextlib.contextmanager
def serving(root: Path, wanted: str = _WANTED) -> Iterator[tuple[str, list[str]]]:
    """Yield the address below which the repositories of a folder are served, and the requests as they come in.

    `wanted` is how their Authorization begins.
    """
    asked: list[str] = []
    program = Path(subprocess.run(["git", "--exec-path"], capture_output=True, text=True, check=True).stdout.strip())

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, _, query = self.path.partition("?")
            asked.append(f"{self.command} {path.rpartition('/')[2]}")
            if not (self.headers["Authorization"] or "").startswith(wanted):
                self.send_error(401)
                return
            body = self._body()
            env = {
                "GIT_PROJECT_ROOT": str(root), "GIT_HTTP_EXPORT_ALL": "1", "PATH": os.environ["PATH"],
                "GIT_CONFIG_GLOBAL": "/dev/null", "REMOTE_USER": "x", "REMOTE_ADDR": "127.0.0.1", "PATH_INFO": path,
                "QUERY_STRING": query, "REQUEST_METHOD": self.command, "CONTENT_LENGTH": str(len(body)),
                "CONTENT_TYPE": self.headers["Content-Type"] or "", "GIT_PROTOCOL": self.headers["Git-Protocol"] or "",
                "HTTP_CONTENT_ENCODING": self.headers["Content-Encoding"] or "",
            }  # fmt: skip
            done = subprocess.run([program / "git-http-backend"], input=body, env=env, capture_output=True, check=False)
            head, _, content = done.stdout.partition(b"\r\n\r\n")
            fields = dict(line.split(": ", 1) for line in head.decode().splitlines())
            self.send_response(int(fields.pop("Status", "200").split()[0]))
            for name, value in fields.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET

        def _body(self) -> bytes:
            if self.headers["Transfer-Encoding"] != "chunked":
                return self.rfile.read(int(self.headers["Content-Length"] or 0))
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)

        def log_message(self, *_: object) -> None:
            """Stay silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
