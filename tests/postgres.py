"""A real PostgreSQL server of our own: started, stopped and started again as a test wants."""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from pathlib import Path
from types import TracebackType

import psycopg


def programs() -> Path | None:
    """Return the folder of the newest server's programs, or None where none is installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin")) if Path("/usr/lib/postgresql").is_dir() else []
    return found[-1] if found else None


class PostgresServer:
    """A server on a free port of loopback, its data in a folder that goes with it."""

    def __init__(self) -> None:
        program = programs()
        if program is None:
            raise RuntimeError("needs PostgreSQL: apt-get install postgresql")
        self._program = program
        self._folder = Path(tempfile.mkdtemp(prefix="sluice-pg-"))
        self._as_user: list[str] = []
        if os.getuid() == 0:  # the server refuses to run as root
            shutil.chown(self._folder, "postgres", "postgres")
            self._as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        self.url = f"postgresql://sluice@127.0.0.1:{self.port}"
        make = [*self._as_user, str(program / "initdb"), "-D", str(self._folder / "d"), "-A", "trust", "-U", "sluice"]
        subprocess.run([*make, "--no-sync"], check=True, capture_output=True)
        self.start()

    def start(self) -> None:
        """Start the server and wait until it takes connections."""
        options = [
            f"port={self.port}", "listen_addresses=127.0.0.1", "fsync=off", "max_connections=200",
        ]  # fmt: skip
        self._server = subprocess.Popen(
            [*self._as_user, str(self._program / "postgres"), "-D", str(self._folder / "d"), "-k", str(self._folder),
             *(part for option in options for part in ("-c", option))],
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self._server.stderr is not None
        next(line for line in self._server.stderr if "ready to accept connections" in line)
        self._drain = threading.Thread(target=self._server.stderr.read, daemon=True)
        self._drain.start()

    def stop(self) -> None:
        """Stop the server at once, whoever is still connected."""
        self._server.send_signal(signal.SIGQUIT)
        self._server.wait()
        self._drain.join()
        assert self._server.stderr is not None
        self._server.stderr.close()

    def create_database(self) -> str:
        """Return the address of a new, empty database."""
        name = f"t{secrets.token_hex(6)}"
        with psycopg.connect(f"{self.url}/postgres", autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"'.encode())
        return f"{self.url}/{name}"

    def close(self) -> None:
        """Stop the server and remove its data."""
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> "PostgresServer":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
