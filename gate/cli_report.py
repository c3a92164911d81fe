"""`gate report` on the command line: a JSON report of any command in another format."""

import json
from argparse import Namespace
from collections.abc import Callable, Mapping
from typing import Any

from gate import output, report
from gate.errors import GateError


def command(arguments: Namespace) -> int:
    """Write the report in the format that is asked for. Raises GateError for what is no report of ours."""
    try:
        data = arguments.file.read_bytes()
        found = json.loads(data)
        schema = found.get("schema") if isinstance(found, dict) else None
        write = _WRITERS.get(str(schema))
        if write is None:
            raise ValueError(f"expected a JSON object with a schema of {' or '.join(_WRITERS)}, got {schema!r}")
        write(found, arguments)
    except (OSError, ValueError, RecursionError) as error:
        raise GateError(f"expected a gate report at {arguments.file}: {error}") from error
    return 0


def _run(found: Mapping[str, Any], arguments: Namespace) -> None:
    read = report.read_report(json.dumps(found))
    if arguments.format == "outputs":
        print(f"verdict={read.verdict}\ntests={sum(s.evidence.tests or 0 for s in read.steps)}")
    else:
        output.write(read, form=arguments.format, output=arguments.output, repo=arguments.repo)


def _audit(found: Mapping[str, Any], arguments: Namespace) -> None:
    from gate.audit import read_audit
    from gate.cli_audit import write

    _other(read_audit(found), write, arguments)


def _proof(found: Mapping[str, Any], arguments: Namespace) -> None:
    from gate.cli_prove import write
    from gate.proof import read_proof

    _other(read_proof(found), write, arguments)


def _other(read: Any, write: Callable[[Any, str, Any], None], arguments: Namespace) -> None:
    """Write a report of a command that executes no test by itself."""
    if arguments.format == "outputs":
        print(f"verdict={read.verdict}\ntests=0")
    else:
        write(read, arguments.format, arguments.output)


# schema: what writes a report of it
_WRITERS: Mapping[str, Callable[[Mapping[str, Any], Namespace], None]] = {
    report.SCHEMA: _run,
    "gate.audit/1": _audit,
    "gate.proof/1": _proof,
}
