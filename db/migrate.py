"""Migrate the database to the newest schema: `python -m db.migrate`."""

import os
import sys
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError

from db.failpoints import failpoint
from db.plain_errors import keep_values_out
from db.session import normalise_url

MIGRATIONS = Path(__file__).parent / "migrations"
LOCK = 0x636F6C6C  # one migration at a time, whichever process starts it


def migrate(url: str, revision: str = "head") -> None:
    """Run the missing migrations; several processes may call this concurrently.

    Raise sqlalchemy.exc.OperationalError when the database does not answer.
    """
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    engine = create_engine(normalise_url(url), hide_parameters=True)
    keep_values_out(engine)
    try:
        with engine.begin() as connection:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
            config.attributes["connection"] = connection
            command.upgrade(config, revision)
            failpoint("migration.halfway")
    finally:
        engine.dispose()


def main() -> int:
    """Migrate the database of DATABASE_URL."""
    url = os.environ.get("DATABASE_URL", "")
    if not url:
        sys.stderr.write("DATABASE_URL is not set. Set it to the database to migrate.\n")
        return 2
    try:
        migrate(url)
    except OperationalError as error:
        reason = str(error.orig).strip().splitlines()[0]
        sys.stderr.write(f"The database at DATABASE_URL does not answer: {reason}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
