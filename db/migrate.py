"""Migrate the database to the newest schema: `python -m db.migrate`."""

import os
import sys
from collections.abc import Callable, Sequence

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from psycopg2.errors import (
    DuplicateTable,
    InsufficientPrivilege,
    InvalidSchemaName,
    ReadOnlySqlTransaction,
)
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.exc import DBAPIError, OperationalError

from db.failpoints import failpoint
from db.live import LiveProcess, find_older
from db.plain_errors import keep_values_out
from db.roles import set_up_roles
from db.schema import MIGRATIONS, UnusableDatabase, check_not_newer, check_server
from db.session import normalise_url

# The operator's to change, unlike a statement that is wrong.
REFUSALS = (DuplicateTable, InsufficientPrivilege, InvalidSchemaName, ReadOnlySqlTransaction)
LOCK = 0x636F6C6C  # one migration at a time, whichever process starts it
# A migration takes as long as it takes, whatever limits the role or the database has.
UNLIMITED = text(
    "SELECT set_config(name, '0', true) FROM pg_settings WHERE name IN ('statement_timeout',"
    " 'lock_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')"
)
WITHOUT_ROLES = (
    "The database is migrated. PostgreSQL itself does not keep the rows of people apart yet: that"
    " needs two roles, which this role may not make. Let an administrator of PostgreSQL run these"
    " statements, and run `make migrate` again:\n{statements};\n"
)
BESIDE_OLDER = (
    "Processes of an older version are connected: {processes}. They finish the turns that they"
    " have; the workers among them take no more. Start the new version beside them, then stop"
    " them.\n"
)
NOT_BESIDE_OLDER = (
    "Migration {revision} cannot run beside an older version, of which processes are connected:"
    " {processes}. Stop them (`colloquy drain` on each host lets workers finish their turns), then"
    " run `make migrate` again. Nothing was changed; turns wait meanwhile, and none is lost."
)
NAMED = 20


def migrate(url: str, say: Callable[[str], object] = lambda _: None) -> list[str]:
    """Run the missing migrations; several processes may call this concurrently.

    `say` is called with what to do about live processes of an older version. Return the statements
    by which an administrator of PostgreSQL makes the roles of API and workers, if this may not.
    Raise sqlalchemy.exc.OperationalError when the database does not answer, and UnusableDatabase.
    """
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    engine = create_engine(normalise_url(url), hide_parameters=True)
    keep_values_out(engine)
    try:
        with engine.begin() as connection:
            connection.execute(UNLIMITED)
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
            check_server(connection)
            check_not_newer(connection)
            older = _check_beside_older(connection, config)
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
            missing = set_up_roles(connection)
            failpoint("migration.halfway")
    finally:
        engine.dispose()
    if older:
        say(BESIDE_OLDER.format(processes=_named(older)))
    return missing


def _check_beside_older(connection: Connection, config: Config) -> Sequence[LiveProcess]:
    """Return the live processes of older versions if a migration is missing.

    Raise UnusableDatabase if one that is missing must not run while they live: its module says
    `ROLLING = False`.
    """
    current = MigrationContext.configure(connection).get_current_revision()
    scripts = ScriptDirectory.from_config(config)
    missing = list(scripts.iterate_revisions("head", current or "base"))
    older = find_older(connection) if missing else []
    for script in reversed(missing):
        if older and not getattr(script.module, "ROLLING", True):
            raise UnusableDatabase(
                NOT_BESIDE_OLDER.format(revision=script.revision, processes=_named(older))
            )
    return older


def _named(processes: Sequence[LiveProcess]) -> str:
    more = f" and {len(processes) - NAMED} more" if len(processes) > NAMED else ""
    return ", ".join(map(str, processes[:NAMED])) + more


def main() -> int:
    """Migrate the database of DATABASE_URL."""
    url = os.environ.get("DATABASE_URL", "")
    if not url:
        sys.stderr.write("DATABASE_URL is not set. Set it to the database to migrate.\n")
        return 2
    try:
        missing = migrate(url, sys.stdout.write)
    except OperationalError as error:
        return _refuse(f"The database at DATABASE_URL does not answer: {_reason(error)}")
    except UnusableDatabase as error:
        return _refuse(str(error))
    except DBAPIError as error:
        if not isinstance(error.orig, REFUSALS):
            raise
        return _refuse(f"The database at DATABASE_URL refuses to be migrated: {_reason(error)}")
    if missing:
        sys.stdout.write(WITHOUT_ROLES.format(statements=";\n".join(missing)))
    return 0


def _reason(error: DBAPIError) -> str:
    return str(error.orig).strip().splitlines()[0]


def _refuse(sentence: str) -> int:
    sys.stderr.write(f"{sentence}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
