"""Serve an ASGI application in a thread of its own: on loopback, or on a Unix socket."""

import asyncio
import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import uvicorn

from bot.errors import ConfigError, UserError


class Served:
    """A running server: `url` says where; leaving the context stops it."""

    def __init__(self, app: Any, listener: socket.socket, *, url: str, port: int = 0) -> None:
        self.url = url
        self.port = port
        self._socket = listener
        config = uvicorn.Config(
            app, log_config=None, interface="asgi3", ws="none", lifespan="auto", timeout_graceful_shutdown=1
        )
        self._server = _Woken(config)
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"serve {url}", daemon=True)
        self._thread.start()
        self._started.wait()

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self.loop = asyncio.get_running_loop()
        self._started.set()
        await self._server.serve(sockets=[self._socket])

    def close(self, *, now: bool = False) -> None:
        """Stop serving; open connections are cut after a second, or at once."""
        self._server.force_exit = now
        with contextlib.suppress(RuntimeError):  # the loop ended by itself
            self.loop.call_soon_threadsafe(self._server.leave)
        self._thread.join(timeout=10)
        self._socket.close()

    def __enter__(self) -> "Served":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def serve_in_thread(app: Any, *, host: str = "127.0.0.1", port: int = 0) -> Served:
    """Start serving; the socket listens before this returns, so no caller can come too early."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio turns Nagle's delay off: 40 ms less in each turn
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise UserError(f"cannot listen on {host}:{port}: {error.strerror}") from error
    listener.listen(128)
    port = listener.getsockname()[1]
    return Served(app, listener, url=f"http://{f'[{host}]' if ':' in host else host}:{port}", port=port)


def serve_on_socket(app: Any, path: Path) -> Served:
    """Start serving on a Unix socket that only this user may open."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(path))
    path.chmod(0o600)
    listener.listen(128)
    return Served(app, listener, url=f"unix:{path}")


class _Woken(uvicorn.Server):
    """Ends when it is told, not at the next tenth of a second; where it is to end at once, it waits for nobody."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._leaving = asyncio.Event()

    def leave(self) -> None:
        """End; to be called in the loop that serves."""
        self.should_exit = True
        self._leaving.set()

    async def main_loop(self) -> None:
        """Set the date of answers once a second, until the end."""
        while not await self.on_tick(0):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(1.0):
                    await self._leaving.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let answers finish, or cut them."""
        if not self.force_exit:
            await super().shutdown(sockets)
            return
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            if connection.transport is not None:
                connection.transport.abort()
        await asyncio.sleep(0)


class Server(uvicorn.Server):
    """A server that leaves the signals to us."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


def bind(host: str, port: int) -> socket.socket:
    """Return a listening socket. Raises ConfigError where the address is not to be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise ConfigError(
            f"BOT_HOST, BOT_PORT: expected an address to listen on, got {host}:{port}: {error.strerror}. "
            "Mend: stop what listens there, or set BOT_PORT"
        ) from error
    listening.listen(1024)
    return listening
