"""Migrate the database to the newest schema: `python -m db.migrate`."""

import os
import sys

from alembic import command
from alembic.config import Config
from psycopg2.errors import (
    DuplicateTable,
    InsufficientPrivilege,
    InvalidSchemaName,
    ReadOnlySqlTransaction,
)
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError, OperationalError

from db.failpoints import failpoint
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


def migrate(url: str) -> list[str]:
    """Run the missing migrations; several processes may call this concurrently.

    Return the statements by which an administrator of PostgreSQL makes the roles of API and
    workers, if this may not.
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
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
            missing = set_up_roles(connection)
            failpoint("migration.halfway")
    finally:
        engine.dispose()
    return missing


def main() -> int:
    """Migrate the database of DATABASE_URL."""
    url = os.environ.get("DATABASE_URL", "")
    if not url:
        sys.stderr.write("DATABASE_URL is not set. Set it to the database to migrate.\n")
        return 2
    try:
        missing = migrate(url)
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
