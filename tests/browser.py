"""A real Chromium, spoken to over a pipe with its own DevTools protocol; it ends with the block."""

import contextlib
import itertools
import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from typing import Any, BinaryIO

START = 'exec 3<&"$1" 4>&"$2"; shift 2; exec "$@"'  # Chromium reads commands from 3 and answers on 4


class Navigated(Exception):
    """The page went to another while a script of ours waited in it."""


class Page:
    """One tab."""

    def __init__(self, commands: BinaryIO, answers: BinaryIO) -> None:
        self._commands = commands
        self._answers = answers
        self._ids = itertools.count(1)
        self._pending = b""
        self._session: str | None = None
        self.complaints: list[str] = []  # errors of scripts, and what the content policy refused

    def open(self, url: str, *, width: int = 1200, height: int = 900) -> None:
        """Show a page in a window of this size, and return once it has loaded."""
        if self._session is None:
            target = self.call("Target.createTarget", url="about:blank")["targetId"]
            self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Log", "Accessibility"):
                self.call(f"{domain}.enable")
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        self.call("Page.navigate", url=url)
        self.run("new Promise(done => document.readyState == 'complete' ? done() : addEventListener('load', done))")

    def run(self, script: str) -> Any:
        """Return what a script in the page evaluates to, a promise's value once it is there."""
        said = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, timeout=20_000)
        if "exceptionDetails" in said:
            raise AssertionError(said["exceptionDetails"])
        return said["result"].get("value")

    def wait(self, condition: str, *, limit_s: float = 20.0) -> None:
        """Return once a condition on the page holds, looked at whenever the page changes."""
        script = f"""new Promise(done => {{
              const seen = () => {{ if ({condition}) {{ watch.disconnect(); done(true); }} }};
              const watch = new MutationObserver(seen);
              watch.observe(document, {{subtree: true, childList: true, attributes: true, characterData: true}});
              setTimeout(() => done(false), {limit_s * 1000});
              seen();
            }})"""
        try:
            done = self.run(script)
        except Navigated:
            done = self.run(script)
        assert done, f"{condition} did not become true: {self.run('document.body.innerText')}"

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the answer to one command of the protocol."""
        number = next(self._ids)
        session = {"sessionId": self._session} if self._session else {}
        self._commands.write(json.dumps({"id": number, "method": method, "params": params, **session}).encode() + b"\0")
        self._commands.flush()
        while (said := self._next()).get("id") != number:
            if said.get("method") == "Runtime.exceptionThrown":
                self.complaints.append(said["params"]["exceptionDetails"]["text"])
            elif said.get("method") == "Log.entryAdded" and said["params"]["entry"]["level"] == "error":
                self.complaints.append(said["params"]["entry"]["text"])
        if "error" in said:
            raise Navigated if "navigated" in said["error"]["message"] else AssertionError(f"{method}: {said['error']}")
        result: dict[str, Any] = said["result"]
        return result

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._pending:
            piece = os.read(self._answers.fileno(), 1_000_000)
            if not piece:
                raise AssertionError("the browser went away")
            self._pending += piece
        message, _, self._pending = self._pending.partition(b"\0")
        said: dict[str, Any] = json.loads(message)
        return said


@contextlib.contextmanager
def browsing() -> Iterator[Page]:
    """Yield a tab of a new Chromium with a profile of its own."""
    program = shutil.which("chromium")
    if program is None:
        raise AssertionError("needs chromium: apt-get install chromium")
    (theirs_in, ours_out), (ours_in, theirs_out) = os.pipe(), os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        running = subprocess.Popen(
            ["bash", "-c", START, "bash", str(theirs_in), str(theirs_out), program, "--headless=new", "--no-sandbox",
             "--disable-gpu", "--no-first-run", f"--user-data-dir={profile}", "--remote-debugging-pipe"],
            pass_fds=(theirs_in, theirs_out), start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(theirs_in)
        os.close(theirs_out)
        with os.fdopen(ours_out, "wb") as commands, os.fdopen(ours_in, "rb") as answers:
            try:
                yield Page(commands, answers)
            finally:
                os.killpg(running.pid, signal.SIGKILL)
                running.wait()
