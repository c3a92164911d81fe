"""Databases of every age come up at today's tables."""

import subprocess
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from bot.tickets import migrations
from bot.tickets.schema import METADATA
from bot.tickets.store import Store, open_store, sqlite_url

VERSIONS = sorted(p.stem.split("_")[0] for p in (Path(migrations.__file__).parent / "versions").glob("[0-9]*.py"))


def test_a_new_database_has_the_tables_that_the_code_expects(store: Store) -> None:
    with store.read() as c:
        assert compare_metadata(MigrationContext.configure(c), METADATA) == []
        assert migrations.version(c) == migrations.HEAD == VERSIONS[-1]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_database_of_each_version_comes_up(tmp_path: Path, version: str) -> None:
    url = sqlite_url(tmp_path / "old.db")
    engine = sa.create_engine(url)
    with engine.begin() as c:
        command.upgrade(migrations.configuration(c), version)
    engine.dispose()
    store = open_store(url)
    with store.read() as c:
        assert compare_metadata(MigrationContext.configure(c), METADATA) == []
    store.close()


def test_a_start_on_an_up_to_date_or_a_new_database_does_not_load_alembic(tmp_path: Path) -> None:
    url = sqlite_url(tmp_path / "s.db")
    script = (
        "import sys\nfrom bot.tickets.store import open_store\n"
        f"for _ in range(2):\n    open_store({url!r}).close()\nprint('alembic' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2]
    )
    assert done.stdout == "False\n"
