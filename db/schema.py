"""Whether this version can use a database: its server, its encoding and its schema."""

import re
from pathlib import Path

from psycopg2.errors import InsufficientPrivilege
from sqlalchemy import Connection, text
from sqlalchemy.exc import ProgrammingError

MIGRATIONS = Path(__file__).parent / "migrations"
REVISIONS = tuple(sorted(path.name[:4] for path in (MIGRATIONS / "versions").glob("0*.py")))
OUR_REVISION = re.compile(r"\d{4}", re.ASCII)  # other programs' are Alembic's own: 12 digits
OLDEST_SERVER = (15,)
BACKEND = text("SELECT pg_backend_pid()")


class UnusableDatabase(Exception):
    """The database cannot be used; the message says why and what to do."""


def check_server(connection: Connection) -> None:
    """Raise UnusableDatabase unless tables can be made here, and hold any text."""
    version = connection.dialect.server_version_info or OLDEST_SERVER
    if version < OLDEST_SERVER:
        raise UnusableDatabase(
            f"The database at DATABASE_URL is PostgreSQL {version[0]}. Use version"
            f" {OLDEST_SERVER[0]} or newer."
        )
    encoding = connection.scalar(text("SHOW server_encoding"))
    if encoding != "UTF8":
        raise UnusableDatabase(
            f"The database at DATABASE_URL has the encoding {encoding}, which cannot hold every"
            " text. Create it with ENCODING 'UTF8' TEMPLATE template0."
        )


def check_pooling(one: Connection, other: Connection) -> None:
    """Raise UnusableDatabase if a pooler gives each transaction another connection.

    What one of ours sets or locks would be another's then. While the second is in a transaction, it
    has what the first has just used, or somebody else does.
    """
    before = _find_backend(one)
    with other.begin():
        other.execute(BACKEND)
        after = _find_backend(one)
    if before != after:
        raise UnusableDatabase(
            "DATABASE_URL leads to a connection pooler that gives each transaction another"
            " connection. Set pool_mode = session there, or connect to PostgreSQL directly;"
            " where it accepts few connections, lower DATABASE_CONNECTIONS."
        )


def check_not_newer(connection: Connection) -> None:
    """Raise UnusableDatabase if a newer version, or another program, has migrated the database."""
    found = _revision(connection)
    if found and not OUR_REVISION.fullmatch(found):
        raise UnusableDatabase(
            "The database at DATABASE_URL belongs to another program, which keeps its own schema's"
            f" version there ({found}). Create a database for Colloquy."
        )
    if found and found not in REVISIONS:
        raise UnusableDatabase(newer_text(found))


def newer_text(found: str) -> str:
    """Say that a newer version has migrated the database, and what to do."""
    return (
        f"The database at DATABASE_URL was migrated by a newer version of Colloquy (schema {found},"
        f" this version knows {REVISIONS[-1]}). Start that version."
    )


def check_schema(connection: Connection) -> None:
    """Raise UnusableDatabase unless the database has the newest schema."""
    check_not_newer(connection)
    found = _revision(connection)
    if found != REVISIONS[-1]:
        raise UnusableDatabase(
            f"The database at DATABASE_URL has {f'schema {found}' if found else 'no schema yet'},"
            f" this version needs {REVISIONS[-1]}. Run `make migrate`."
        )


def find_newer(connection: Connection) -> str | None:
    """Return the database's schema if a newer version has migrated it, None otherwise."""
    found = _revision(connection)
    return found if found and found > REVISIONS[-1] else None


def _revision(connection: Connection) -> str | None:
    if connection.scalar(text("SELECT to_regclass('alembic_version')")) is None:
        return None
    try:
        found: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
    except ProgrammingError as error:
        if not isinstance(error.orig, InsufficientPrivilege):
            raise
        raise UnusableDatabase(
            f"The role in DATABASE_URL may not use Colloquy's tables: {str(error.orig).strip()}."
            " Use the role that has migrated the database."
        ) from None
    return found


def _find_backend(connection: Connection) -> int:
    with connection.begin():
        found: int = connection.scalar(BACKEND)
    return found
