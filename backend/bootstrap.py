"""The composition root: builds the parts of a process from its settings."""

import logging
import time
from collections.abc import Sequence

from backend.artifacts.contents import open_contents
from backend.artifacts.service import Artifacts
from backend.auth.acting import acting
from backend.domains.catalog import ensure_bundled_domains
from backend.errors.base import ConfigurationError
from backend.events.stream import EventStream
from backend.files.store import open_files
from backend.logs.outages import DATABASE, while_away
from backend.redis.connecting import check_redis, connect_redis
from backend.sandbox.sandbox import Sandbox
from backend.settings import Settings
from backend.storage.belonging import check_belongings
from backend.tools.validation import NEEDED_MODULES
from backend.turns.process.announcer import Announcer
from backend.turns.process.limits import Limits
from backend.turns.process.queue import TurnQueue
from backend.turns.process.services import Services
from db.roles import DatabaseRole
from db.schema import UnusableDatabase
from db.session import AWAY, Database

REDIS_ASKING_SECONDS = 1  # for status checks, whose callers have deadlines too
WAIT_SECONDS = 0.5
FEWEST_PROCESSES = 2  # an API and a worker
ARTIFACT_MODULES = "backend.artifacts.preloaded"  # preloaded in sandbox children for artifacts

log = logging.getLogger(__name__)


def bootstrap(
    settings: Settings,
    *,
    threads: int,
    database_patience: float = 3.0,
    preload: Sequence[str] = (),
    role: DatabaseRole | None = None,
) -> Services:
    """Build what API and worker share; `threads` is how many use it concurrently.

    `database_patience`: the seconds that a thread waits for a free connection; `preload`: modules
    that this process's sandbox needs besides those that validate arguments; `role`: as whom it
    works in the database. Transactions of the API act for the callers of its requests.
    Raise ConfigurationError when a server's URL is missing, or Redis refuses it.
    """
    for name in ("database_url", "redis_url"):
        if not getattr(settings, name):
            raise ConfigurationError(
                f"{name.upper()} is not set and no embedded server runs. Use `make run`, or set it."
            )
    redis = connect_redis(settings.redis_url, threads)
    status_redis = connect_redis(settings.redis_url, threads, REDIS_ASKING_SECONDS)
    check_redis(status_redis)
    queue, events = TurnQueue(redis), EventStream(redis)
    database = Database(
        settings.database_url,
        pool_size=settings.database_connections,
        max_overflow=0,  # overflow connections would be opened and closed with each use
        pool_timeout=database_patience,
        role=role,
        acting=acting if role is DatabaseRole.API and settings.has_accounts else None,
    )
    sandbox = Sandbox((*NEEDED_MODULES, ARTIFACT_MODULES, *preload))
    return Services(
        settings=settings,
        database=database,
        redis=redis,
        status_redis=status_redis,
        queue=queue,
        events=events,
        announcer=Announcer(redis, queue, events),
        limits=Limits(settings),
        sandbox=sandbox,
        files=open_files(settings),
        artifacts=Artifacts(database, open_contents(settings), sandbox),
    )


def require_schema(database: Database, *, wait: bool) -> None:
    """Raise ConfigurationError unless the database has the schema of this version.

    `wait`: a database that does not answer is no error, because the process can wait for it.
    """
    try:
        _check_schema(database)
    except AWAY as error:
        if not wait:
            raise _does_not_answer(error) from None


def require_installation(services: Services, *, wait: bool) -> None:
    """Require this version's schema, and that all parts belong to the database's installation.

    `wait`: a database that does not answer is no error. Raise ConfigurationError.
    """
    try:
        _check_installation(services)
    except AWAY as error:
        if not wait:
            raise _does_not_answer(error) from None


def prepare_database(services: Services, *, wait: bool) -> None:
    """Require this version's schema and add the bundled domains, before the API serves anything.

    Say whether PostgreSQL itself keeps the rows of people apart.
    `wait`: begin again until the database answers, and log once that it does not.
    Raise ConfigurationError.
    """
    is_told, database = False, services.database
    while True:
        try:
            _check_installation(services)
            with database.transaction() as session:
                ensure_bundled_domains(session)
            _say_whether_rows_are_kept_apart(database)
            return
        except AWAY as error:
            if not wait:
                raise _does_not_answer(error) from None
            if not is_told:
                reason = _reason_in(error)
                log.warning("The API waits: %s", reason, extra=while_away(DATABASE))
            is_told = True
        time.sleep(WAIT_SECONDS)


def _check_installation(services: Services) -> None:
    _check_schema(services.database)
    check_belongings(services.settings, services.database, services.status_redis)


def _check_schema(database: Database) -> None:
    try:
        database.check_schema()
    except UnusableDatabase as error:
        raise ConfigurationError(str(error)) from None
    room, kept = database.count_room(), database.kept
    if room < FEWEST_PROCESSES * kept:
        log.warning(
            "DATABASE_CONNECTIONS=%s is too many: the database accepts %s connections in all, and"
            " each API and worker process keeps that many. Lower it, or raise max_connections",
            kept,
            room,
        )


def _say_whether_rows_are_kept_apart(database: Database) -> None:
    if database.has_own_role():
        log.info("PostgreSQL itself keeps the rows of people apart (row-level security)")
    else:
        log.warning(
            "PostgreSQL itself does not keep the rows of people apart: the API has no role of its"
            " own. Only Colloquy's own queries do. `make migrate` prints what to run"
        )


def _does_not_answer(error: Exception) -> ConfigurationError:
    return ConfigurationError(f"The database at DATABASE_URL does not answer: {_reason_in(error)}")


def _reason_in(error: Exception) -> str:
    return str(getattr(error, "orig", error)).strip().splitlines()[0]
