"""Close a command into a box: own processes, own HOME and /tmp, the slot writable and little else visible."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from bot.sandbox import bridge, proxy

Mode = Literal["bubblewrap", "off"]
BWRAP = "bwrap"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True, slots=True)
class Box:
    """Where a command may write and read, and whether it may reach the network."""

    mode: Mode
    workdir: Path  # writable, and where commands start
    home: Path  # writable; HOME of the commands, their /tmp lies beside it
    writable: tuple[Path, ...] = ()
    readable: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()
    network: Literal["none", "registries", "open"] = "none"
    memory_bytes: int | None = None
    processes: int | None = None
    file_bytes: int | None = None
    proxy: Path | None = None  # socket of the proxy that leads out; without it nothing is reached, see out.py
    env: Mapping[str, str] = field(default_factory=dict)  # wins: where commands find installed dependencies


SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix")
# of /etc only what programs need to find users, names, certificates and each other; never keys or password hashes
ETC = (
    "alternatives", "ca-certificates", "ca-certificates.conf", "debian_version", "fonts", "hosts",
    "java-17-openjdk", "java-21-openjdk", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "locale.alias", "localtime",
    "magic", "maven", "mime.types", "nsswitch.conf", "os-release", "php", "pki", "profile", "protocols",
    "resolv.conf", "services", "shells", "ssl/certs", "ssl/openssl.cnf", "terminfo", "timezone",
)  # fmt: skip
INSIDE_UID = "1000"  # nobody is root inside, whoever runs the service
# Java, ssh, initdb and others ask here, not HOME; the host's own would tell them of a user who is not there
USERS = (
    "root:x:0:0::/:/usr/sbin/nologin\nsluice:x:1000:1000::{home}:/bin/sh\nnobody:x:65534:65534::/:/usr/sbin/nologin\n"
)
GROUPS = "root:x:0:\nsluice:x:1000:\nnogroup:x:65534:\n"


def wrap(box: Box, argv: Sequence[str], *, env: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """Return the argv and the environment that run `argv` inside the box; an empty `argv` gives the prefix alone."""
    minimal = {"PATH": PATH, "HOME": str(box.home), "LANG": "C.UTF-8", "TMPDIR": "/tmp", **env, **box.env}  # noqa: S108 inside
    if "PATH" in env and "PATH" in box.env:
        minimal["PATH"] = box.env["PATH"].removesuffix(PATH) + env["PATH"]
    limits = _limits(box)
    if box.mode == "off":
        return [*limits, *argv], {**minimal, "TMPDIR": str(box.home)}
    if box.network != "none" and box.proxy is not None:
        argv = bridge.through(argv, ports={proxy.PORT: box.proxy})
        minimal = {**proxy.environment(), **minimal}
        box = replace(box, readable=(*box.readable, box.proxy.parent, *bridge.needs()))
    inside = [
        BWRAP, "--unshare-all", "--die-with-parent", "--new-session", "--uid", INSIDE_UID, "--gid", INSIDE_UID,
        *_system(), "--proc", "/proc", "--dev", "/dev",
        *(part for path in box.hidden if path.exists() for part in ("--tmpfs", str(path))),
        *_slot(box), "--remount-ro", "/", "--chdir", str(box.workdir), "--",
    ]  # fmt: skip
    return [*inside, *limits, *argv], minimal


def _system() -> list[str]:
    parts: list[str] = []
    for name in SYSTEM:
        path = Path(name)
        if path.is_symlink():
            parts += ["--symlink", str(path.readlink()), name]
        elif path.exists():
            parts += ["--ro-bind", name, name]
    for name in ETC:
        parts += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    return parts


def _slot(box: Box) -> list[str]:
    """Bind what may be read, then what may be written, then close the slot's git file again."""
    tmp = tmp_of(box.home)
    tmp.mkdir(parents=True, exist_ok=True)
    parts = ["--bind", str(tmp), "/tmp"]  # noqa: S108 a folder of the box's own
    for name, text in {"passwd": USERS.format(home=box.home), "group": GROUPS}.items():
        parts += ["--ro-bind", str(_written(box.home.with_name(name), text)), f"/etc/{name}"]
    for path in box.readable:
        parts += ["--ro-bind-try", str(path), str(path)]
    for path in (box.home, box.workdir, *box.writable):
        parts += ["--bind", str(path), str(path)]
    git = box.workdir / ".git"
    return [*parts, "--ro-bind", str(git), str(git)] if git.exists() else parts


def _written(path: Path, text: str) -> Path:
    """Return a file that holds a text; it lies where no box can write."""
    if not path.is_file() or path.read_text() != text:
        new = path.with_name(f"{path.name}-{secrets.token_hex(6)}")
        new.write_text(text)
        new.replace(path)  # whole at once: another box of the slot may start now
    return path


def tmp_of(home: Path) -> Path:
    """Return the folder that is /tmp inside.

    It lies beside HOME, not in it: what commands can rename they can replace by a link, and the next box followed it.
    """
    return home.with_name("tmp")


def _limits(box: Box) -> list[str]:
    """Limit what one process may take; data, not address space, which runtimes reserve by the terabyte."""
    asked = [
        f"--data={box.memory_bytes}" if box.memory_bytes else "",
        f"--nproc={box.processes}" if box.processes else "",
        f"--fsize={box.file_bytes}" if box.file_bytes else "",
    ]
    flags = [flag for flag in asked if flag]
    return ["prlimit", *flags, "--"] if flags else []
