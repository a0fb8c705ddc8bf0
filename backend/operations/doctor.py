"""`colloquy doctor`: whether this host's parts fit together, one line each, with what to do."""

import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial

from redis import Redis
from redis.exceptions import RedisError
from sqlalchemy import func, select, text
from sqlalchemy.exc import SQLAlchemyError

from backend.configuration import find_misspelt, read_settings
from backend.connections.store import find_saved, open_saved
from backend.data.origins import Origins, digest_of
from backend.errors.base import AppError, ConfigurationError
from backend.operations.workers import list_workers
from backend.redis.connecting import connect_redis
from backend.settings import Settings
from backend.storage.belonging import check_belongings
from backend.text import counted
from db.live import find_older
from db.models.file import FileRow
from db.roles import DatabaseRole
from db.schema import REVISIONS, UnusableDatabase
from db.session import Database

LEAST_FREE = 1_000_000_000  # bytes of the disk of DATA_DIR
CLOCK_SECONDS = 2.0  # by which clocks may differ: leases and limits count on them
Check = Callable[[], str]


class Unwell(AppError):
    """What was checked is not as it should be."""


def main() -> int:
    """Check one part after the other; return 1 if any is unwell, 2 without settings."""
    try:
        settings = read_settings()
    except ConfigurationError as error:
        sys.stderr.write(f"{error.detail}\n")
        return 2
    database = Database(settings.database_url, pool_size=2)
    redis = connect_redis(settings.redis_url, threads=1)
    unwell = 0
    for part, check in checks(settings, database, redis).items():
        found = _run(check)
        unwell += not found[0]
        sys.stdout.write(f"{'ok  ' if found[0] else 'FAIL'} {part}: {found[1]}\n")
        sys.stdout.flush()
    database.close()
    return 1 if unwell else 0


def checks(settings: Settings, database: Database, redis: Redis) -> Mapping[str, Check]:
    """Return the checks by the part that each looks at, those first on which others depend."""
    return {
        "settings": _settings,
        "database": partial(_database, database),
        "roles": partial(_roles, settings),
        "clock": partial(_clock, database),
        "Redis": partial(_redis, redis),
        "installation": partial(_installation, settings, database, redis),
        "key": partial(_key, settings, database),
        "disk": partial(_disk, settings),
        "workers": partial(_workers, redis),
        "sources": partial(_sources, settings, redis),
        "versions": partial(_versions, database),
    }


def _run(check: Check) -> tuple[bool, str]:
    """Return whether a part is well, and what is said of it."""
    try:
        return True, check()
    except AppError as error:
        return False, error.detail
    except UnusableDatabase as error:
        return False, str(error)
    except (SQLAlchemyError, RedisError, OSError) as error:
        reason = str(getattr(error, "orig", error)).strip().splitlines()
        return False, f"it does not answer: {reason[0] if reason else type(error).__name__}"


def _settings() -> str:
    if wrong := find_misspelt():
        raise Unwell(" ".join(wrong))
    return "each is known and usable"


def _database(database: Database) -> str:
    database.ping()
    database.check_schema()
    with database.read() as session:
        version = session.scalar(text("SHOW server_version"))
        sessions, files = _counts(session.scalar)
    room = database.count_room()
    said = f"PostgreSQL {version}, schema {REVISIONS[-1]}, {sessions} and {files}"
    return f"{said}; it accepts {room} connections"


def _counts(ask: Callable[..., object]) -> Iterator[str]:
    sessions = ask(text("SELECT count(*) FROM conversations"))
    yield counted(int(str(sessions)), "session")
    yield counted(int(str(ask(select(func.count()).select_from(FileRow)))), "uploaded file")


def _roles(settings: Settings) -> str:
    for role in DatabaseRole:
        database = Database(settings.database_url, pool_size=1, role=role)
        try:
            has_role = database.has_own_role()
        finally:
            database.close()
        if not has_role:
            raise Unwell(
                "PostgreSQL itself does not keep the rows of people apart: a role is missing."
                " `make migrate` prints what an administrator of PostgreSQL has to run."
            )
    return "PostgreSQL itself keeps the rows of people apart"


def _clock(database: Database) -> str:
    with database.read() as session:
        there: datetime = session.scalars(select(func.clock_timestamp())).one()
    apart = abs((datetime.now(UTC) - there).total_seconds())
    if apart > CLOCK_SECONDS:
        raise Unwell(f"it differs from the database's by {apart:,.0f} s. Set both by NTP.")
    return "as the database's"


def _redis(redis: Redis) -> str:
    found = redis.info("server")
    return f"version {found['redis_version']}"


def _installation(settings: Settings, database: Database, redis: Redis) -> str:
    check_belongings(settings, database, redis)
    store = settings.artifact_store or settings.data_dir.absolute()
    return f"database, DATA_DIR, store and Redis belong together; contents are in {store}"


def _key(settings: Settings, database: Database) -> str:
    with database.read() as session:
        row = find_saved(session)
        if row is None or not row.sealed_key:
            return "nothing is encrypted with it on the page Models"
        open_saved(row, settings)
    return "it opens the API key saved on the page Models"


def _disk(settings: Settings) -> str:
    usage = shutil.disk_usage(settings.data_dir)
    if usage.free < LEAST_FREE:
        raise Unwell(
            f"{usage.free / 1e6:,.0f} MB are free where DATA_DIR is ({settings.data_dir}). Free"
            " some: uploads, reading files and an embedded database stop when it is full."
        )
    return f"{usage.free / 1e9:,.0f} GB are free where DATA_DIR is"


def _workers(redis: Redis) -> str:
    workers = list_workers(redis)
    if not workers:
        raise Unwell("none is alive, so turns wait. Start one with `make worker`.")
    if stalled := [one.name for one in workers if one.is_stalled]:
        raise Unwell(f"stalled: {', '.join(stalled)}. Such a worker ends by itself; see its log.")
    return f"{counted(len(workers), 'worker')} alive"


def _sources(settings: Settings, redis: Redis) -> str:
    found = Origins(settings.data_dir, settings.source_urls).find_all()
    own = digest_of(found)
    workers = [worker for worker in list_workers(redis) if worker.sources]
    if others := [worker.name for worker in workers if worker.sources != own]:
        raise Unwell(
            f"this host's are not those of {', '.join(others)}. Mount the same folder at"
            " DATA_DIR/sources of each host, give each the same SOURCE_URLS, and copy"
            " DATA_DIR/source_names.json from one to the others: by it names stand for files."
        )
    return f"{counted(len(found), 'source')}, as {counted(len(workers), 'worker')} say"


def _versions(database: Database) -> str:
    with database.read() as session:
        older = find_older(session.connection())
    if older:
        raise Unwell(
            f"of an older version: {', '.join(map(str, older[:20]))}. Replace them: `colloquy"
            " drain` lets workers finish."
        )
    return "no process of an older one is connected"


if __name__ == "__main__":
    sys.exit(main())
