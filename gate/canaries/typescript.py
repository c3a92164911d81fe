"""TypeScript: as JavaScript, and a type that is wrong in a function that nobody calls."""

from gate.canaries import javascript
from gate.canaries.canary import Level, at_end

NAME = "TypeScript"
FILES = ".ts .tsx .mts .cts"
PROGRAMS = "tsx ts-node"

BREAKS = javascript.BREAKS | {
    Level.TYPE: at_end(
        "export function fMARK(): void {\n  interface MARK {\n    a: 1\n  }\n"
        "  const value: MARK = 1\n  console.log(value)\n}"
    )
}
