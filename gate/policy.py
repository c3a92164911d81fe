"""What a repository wants checked: gate.toml, or an operator's file for many repositories."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from gate.errors import PolicyError
from gate.patterns import later
from gate.values import MOST_BYTES, check_keys, kind_of, nearest, read_json, read_toml, string, strings, table

try:  # as `random` of the standard library does: all of OpenSSL behind hashlib costs more than reading the policy
    from _sha2 import sha256  # type: ignore[import-not-found, unused-ignore]
except ImportError:
    try:
        from _sha256 import sha256  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        from hashlib import sha256

FILE = "gate.toml"
KINDS = ("lint", "typecheck", "build", "test", "check")
DEFAULT_LIMIT_S = 1800.0
MOST_LIMIT_S = 5 * 86_400.0  # the longest that a job may run on GitHub, on a runner of one's own
DEFAULT_SHELL = "bash -eo pipefail -c"  # so that a pipeline cannot hide a failure
STEP_KEYS = ("run", "kind", "needs", "limit", "evidence", "cwd", "env", "shell", "paths")
TOP_KEYS = ("steps", "protect", "waivers", "notes", "gates")
_DURATION = later(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h)?")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, None: 1.0}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}")


class Step(NamedTuple):
    """One command that has to pass; `kind` is empty where it is to be recognised from the command."""

    name: str
    run: str
    kind: str = ""
    needs: tuple[str, ...] = ()
    limit_s: float = DEFAULT_LIMIT_S
    evidence: int | Literal["exit"] | None = None  # fewest tests or files that count; None: one, where it is known
    cwd: str = "."
    env: Mapping[str, str] = MappingProxyType({})
    shell: str = DEFAULT_SHELL
    paths: tuple[str, ...] = ()  # globs; with --since the step runs only if one of them changed


class Waiver(NamedTuple):
    """The only way out, for a reason and until a date: a step that may be hollow, or what a rule of the audit finds.

    Either `step` or `rule` is set; with `path`, a glob, only what is found in such files is excused.
    """

    step: str
    reason: str
    expires: date
    rule: str = ""
    path: str = ""


class Policy(NamedTuple):
    """The steps, what is protected, and where all this was read."""

    steps: tuple[Step, ...] = ()
    protected: tuple[str, ...] = ()
    allow: str = ""  # "label:NAME" or "review": for the bot and the Action to honour, never for the tool alone
    waivers: tuple[Waiver, ...] = ()
    notes: Mapping[str, Any] = MappingProxyType({})
    source: str = ""
    hash: str = ""

    @property
    def file(self) -> str:
        """Return where it stands in a worktree: `source` without the commit that it was read from."""
        return FILE if self.source.startswith(f"{FILE}@") else self.source


def parse_repository(data: bytes, source: str) -> Policy:
    """Return the policy in the bytes of a gate.toml. Raises PolicyError: `file: key: expected X, got Y`."""
    found = read_toml(data, source)
    check_keys(found, TOP_KEYS, source, "")
    steps = _steps(found, source)
    _check_needs(steps, source)
    protect = table(found.get("protect", {}), source, "protect")
    check_keys(protect, ("paths", "allow"), source, "protect.")
    return Policy(
        steps=steps,
        protected=strings(protect.get("paths", []), source, "protect.paths"),
        allow=_allow(protect.get("allow", ""), source),
        waivers=_waivers(found.get("waivers", []), {s.name for s in steps}, source),
        notes=_notes(found.get("notes", {}), source),
        source=source,
        hash=digest(data),
    )


def read_own(root: Path) -> bytes | None:
    """Return the bytes of a repository's gate.toml, None where there is none. Raises PolicyError."""
    path = root / FILE
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        if path.is_symlink():
            raise PolicyError(f"{FILE}: expected a file, got a link that leads nowhere") from error
        return None
    except OSError as error:
        raise PolicyError(f"{FILE}: expected a file that can be read: {error.strerror}") from error


def notes_policy(folder: Path) -> Mapping[str, Any]:
    """Return `[notes]` of the gate.toml that a folder lies under, nothing where there is none. Raises PolicyError."""
    for parent in (folder, *folder.parents):
        try:
            return parse_repository((parent / FILE).read_bytes(), FILE).notes
        except OSError:
            if (parent / ".git").exists():
                break
    return {}


def parse_operator(data: bytes, source: str) -> Mapping[str, tuple[Step, ...]]:
    """Return the steps of each repository in an operator's file, TOML or JSON; keys are in lower case."""
    found = read_json(data, source) if source.lower().endswith(".json") else read_toml(data, source)
    check_keys(found, ("gates", "default"), source, "")
    gates = table(found.get("gates", {}), source, "gates")
    if "default" in found:
        if "default" in gates:
            raise PolicyError(f"{source}: default: expected it once, got it at the top and in gates")
        gates = {**gates, "default": found["default"]}
    parsed: dict[str, tuple[Step, ...]] = {}
    for name, commands in gates.items():
        key = name.lower()
        if key in parsed:
            raise PolicyError(f"{source}: gates.{name}: expected each repository once, got it twice (case is ignored)")
        parsed[key] = _commands(commands, source, f"gates.{name}")
    return parsed


def choose(
    repository: str | None, own: Policy | None, operator: Mapping[str, tuple[Step, ...]] | None, *, source: str = "",
    hash: str = "",
) -> Policy:  # fmt: skip
    """Return the policy that counts: operator's full name, bare name, the repository's own, operator's default."""
    if operator is not None:
        full = (repository or "").lower()
        for key in (full, full.rpartition("/")[2]):
            if key and key != "default" and key in operator:
                protected = own.protected if own else ()
                return Policy(steps=operator[key], protected=protected, source=f"{source}: gates.{key}", hash=hash)
    if own is not None:
        return own
    if operator is not None and "default" in operator:
        return Policy(steps=operator["default"], source=f"{source}: default", hash=hash)
    return Policy()


def load_operator(path: Path) -> tuple[Mapping[str, tuple[Step, ...]], str]:
    """Return an operator's file and its hash. Raises PolicyError."""
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise PolicyError(f"{path}: expected a policy file, got: {error.strerror}") from error
    return parse_operator(data, str(path)), digest(data)


def digest(data: bytes) -> str:
    """Return the hash by which a policy is known."""
    return f"sha256:{sha256(data).hexdigest()}"


def duration(value: object, source: str, key: str) -> float:
    """Return the seconds of a duration such as '10m'; a bare number is seconds."""
    match = _DURATION.fullmatch(value.strip()) if isinstance(value, str) else None
    seconds = float(match[1]) * _UNITS[match[2]] if match else 0.0
    if isinstance(value, int | float) and not isinstance(value, bool):
        seconds = float(min(value, 2 * MOST_LIMIT_S))
    if not 0 < seconds < float("inf"):
        raise PolicyError(f"{source}: {key}: expected a duration such as '10m', got {value!r}")
    if seconds > MOST_LIMIT_S:
        raise PolicyError(f"{source}: {key}: expected at most 120h, got {value!r}")
    return seconds


def _steps(found: Mapping[str, Any], source: str) -> tuple[Step, ...]:
    if "gates" in found:
        if "steps" in found:
            raise PolicyError(f"{source}: gates: expected either `gates` or `steps`, got both")
        return _commands(found["gates"], source, "gates")
    return tuple(_step(name, step, source) for name, step in table(found.get("steps", {}), source, "steps").items())


def _allow(found: object, source: str) -> str:
    allow = string(found, source, "protect.allow", empty=True)
    if allow not in ("", "review") and not re.fullmatch(r"label:\S(.*\S)?", allow):
        raise PolicyError(f"{source}: protect.allow: expected 'label:NAME' or 'review', got {allow!r}")
    return allow


def _step(name: str, found: object, source: str) -> Step:
    where = f"steps.{name}"
    if not _NAME.fullmatch(name):
        raise PolicyError(f"{source}: {where}: expected a name of letters, digits, '-', '_', '.' or ':', got {name!r}")
    if isinstance(found, str):
        return Step(name, string(found, source, where))
    if not isinstance(found, dict):
        raise PolicyError(f"{source}: {where}: expected a command or a table, got {kind_of(found)}")
    given: Mapping[str, Any] = found
    check_keys(given, STEP_KEYS, source, f"{where}.")
    if "run" not in given:
        raise PolicyError(f"{source}: {where}.run: expected a command, got nothing")
    kind = given.get("kind", "")
    if kind not in ("", *KINDS):
        raise PolicyError(
            f"{source}: {where}.kind: expected one of {', '.join(KINDS)}, got {kind!r}{nearest(kind, KINDS)}"
        )
    env = table(given.get("env", {}), source, f"{where}.env")
    cwd = string(given.get("cwd", "."), source, f"{where}.cwd")
    if Path(cwd).is_absolute() or ".." in Path(cwd).parts:
        raise PolicyError(f"{source}: {where}.cwd: expected a folder inside the repository, got {cwd!r}")
    return Step(
        name=name, run=_command(given["run"], source, f"{where}.run"), kind=kind,
        needs=strings(given.get("needs", []), source, f"{where}.needs"),
        limit_s=duration(given.get("limit", DEFAULT_LIMIT_S), source, f"{where}.limit"),
        evidence=_evidence(given.get("evidence"), source, f"{where}.evidence"), cwd=cwd,
        env={key: _variable(key, value, source, f"{where}.env") for key, value in env.items()},
        shell=string(given.get("shell", DEFAULT_SHELL), source, f"{where}.shell"),
        paths=strings(given.get("paths", []), source, f"{where}.paths"),
    )  # fmt: skip


def _variable(name: str, value: object, source: str, where: str) -> str:
    if not name or "=" in name or "\0" in name:
        raise PolicyError(f"{source}: {where}: expected names of variables, got {name!r}")
    return string(value, source, f"{where}.{name}", empty=True)


def _notes(found: object, source: str) -> Mapping[str, Any]:
    """Return what `gate notes` asks of a vault: keys that every note needs, and how many links may lead nowhere."""
    asked = table(found, source, "notes")
    check_keys(asked, ("require", "allow_missing"), source, "notes.")
    if not asked:
        return {}
    missing = asked.get("allow_missing", 0)
    if not isinstance(missing, int) or isinstance(missing, bool) or missing < 0:
        raise PolicyError(f"{source}: notes.allow_missing: expected a number of links, got {missing!r}")
    return {"require": strings(asked.get("require", []), source, "notes.require"), "allow_missing": missing}


def _commands(found: object, source: str, key: str) -> tuple[Step, ...]:
    """Return a plain list of commands as steps named after them, which run in their order."""
    commands = strings(found, source, key)
    steps: list[Step] = []
    for command in commands:
        name = _name_of(command, {s.name for s in steps})
        steps.append(Step(name, command, needs=(steps[-1].name,) if steps else ()))
    return tuple(steps)


def _name_of(command: str, taken: Iterable[str]) -> str:
    words: list[str] = [w for w in re.findall(r"[A-Za-z0-9_.:-]+", command) if _NAME.fullmatch(w)]
    plain = [w for w in words if w not in ("npm", "npx", "pnpm", "yarn", "run", "python", "python3", "uv", "make")]
    base = [*plain, *words, "step"][0][:48]
    used = set(taken)
    return next(n for n in (base, *(f"{base}-{i}" for i in range(2, 1000))) if n not in used)


def _evidence(found: object, source: str, key: str) -> int | Literal["exit"] | None:
    if found is None:
        return None
    if found == "exit":
        return "exit"
    if isinstance(found, int) and not isinstance(found, bool) and found >= 1:
        return found
    raise PolicyError(
        f'{source}: {key}: expected a count of at least 1, or "exit", got {found!r}{nearest(found, ("exit",))}'
    )


def _waivers(found: object, names: set[str], source: str) -> tuple[Waiver, ...]:
    if not isinstance(found, list):
        raise PolicyError(f"{source}: waivers: expected a list of tables, got {kind_of(found)}")
    waivers = []
    for number, item in enumerate(found):
        where = f"waivers[{number}]"
        given = table(item, source, where)
        check_keys(given, ("step", "rule", "path", "reason", "expires"), source, f"{where}.")
        step, rule, path = _excused(given, source, where)
        if step and step not in names:
            raise PolicyError(
                f"{source}: {where}.step: expected the name of a step, got {step!r}{nearest(step, names)}"
            )
        expires = given.get("expires")
        if not isinstance(expires, date):
            hint = ", without quotes" if isinstance(expires, str) else ""
            raise PolicyError(f"{source}: {where}.expires: expected a date such as 2026-12-31{hint}, got {expires!r}")
        reason = string(given.get("reason", ""), source, f"{where}.reason")
        waivers.append(Waiver(step, reason, date(expires.year, expires.month, expires.day), rule, path))
    return tuple(waivers)


def _excused(given: Mapping[str, Any], source: str, where: str) -> tuple[str, str, str]:
    """Return the step, or the rule of the audit and a glob, that a waiver excuses."""
    if ("step" in given) == ("rule" in given):
        got = "both" if "step" in given else "neither"
        raise PolicyError(f"{source}: {where}: expected either `step` or `rule`, got {got}")
    if "step" in given:
        if "path" in given:
            raise PolicyError(f"{source}: {where}.path: expected it beside `rule` only")
        return string(given["step"], source, f"{where}.step"), "", ""
    path = string(given["path"], source, f"{where}.path") if "path" in given else ""
    return "", string(given["rule"], source, f"{where}.rule"), path


def _command(found: object, source: str, key: str) -> str:
    """Return a command; one of nothing but comments would pass without having run anything."""
    text = string(found, source, key)
    if all(not line.strip() or line.lstrip().startswith("#") for line in text.splitlines()):
        raise PolicyError(f"{source}: {key}: expected a command, got nothing but a comment")
    return text


def _check_needs(steps: Sequence[Step], source: str) -> None:
    needs = {step.name: step.needs for step in steps}
    for step in steps:
        for need in step.needs:
            if need not in needs:
                raise PolicyError(
                    f"{source}: steps.{step.name}.needs: expected names of steps, got {need!r}{nearest(need, needs)}"
                )
    done: set[str] = set()
    for name in needs:
        _visit(name, needs, [], done, source)


def _visit(name: str, needs: Mapping[str, Sequence[str]], path: list[str], done: set[str], source: str) -> None:
    if name in path:
        circle = " -> ".join([*path[path.index(name) :], name])
        raise PolicyError(f"{source}: steps.{name}.needs: expected no circle, got {circle}")
    if name in done:
        return
    for need in needs[name]:
        _visit(need, needs, [*path, name], done, source)
    done.add(name)
