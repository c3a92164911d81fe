"""Package managers, the preferred one of each language first."""

from collections.abc import Sequence

from bot.slots.ecosystem import Ecosystem
from bot.slots.ecosystems import (
    bun,
    bundler,
    cargo,
    composer,
    dotnet,
    go,
    gradle,
    maven,
    npm,
    pip,
    pipenv,
    pnpm,
    poetry,
    uv,
    yarn,
)

ECOSYSTEMS: Sequence[Ecosystem] = (
    bun, pnpm, yarn, npm, uv, poetry, pipenv, pip,
    cargo, go, bundler, composer, gradle, maven, dotnet,
)  # fmt: skip
