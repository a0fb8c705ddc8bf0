"""What belongs to an installation besides its database: DATA_DIR, the store, Redis.

Each is marked with the installation's id, and what has another's mark is refused: a host that keeps
files where the others do not look, or that takes another installation's wake-ups, is found at its
start and not by the people whose files it misses.
"""

import logging
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID, uuid4

from redis import Redis
from redis.exceptions import RedisError
from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from backend.errors.artifacts import ArtifactContentGone, ArtifactStoreUnavailable
from backend.errors.base import ConfigurationError
from backend.settings import Settings
from backend.storage.stores import MARK, Store, open_store
from db.models.installation import InstallationRow
from db.session import Database

REDIS_KEY = "colloquy:installation"
log = logging.getLogger(__name__)


@lru_cache(4)
def find_installation(database: Database) -> UUID:
    """Return the id of the installation that a database belongs to, made at its first start."""
    query = select(InstallationRow.id)
    with database.transaction() as session:
        if session.scalar(query) is None:
            session.execute(insert(InstallationRow).on_conflict_do_nothing())
        return session.scalars(query).one()


def check_belongings(settings: Settings, database: Database, redis: Redis) -> None:
    """Mark what is new. Raise ConfigurationError for what belongs to another installation.

    A store or a Redis that does not answer is no reason to refuse: what asks it says so.
    """
    own = find_installation(database)
    _check_folder(settings.data_dir, own)
    try:
        _check_store(settings, database)
    except ArtifactStoreUnavailable as error:
        log.warning("Whether the store is this installation's is not known: %s", error.detail)
    with suppress(RedisError):
        if not owns_redis(redis, own):
            raise ConfigurationError(
                "The Redis at REDIS_URL is used by another installation of Colloquy. Give each its"
                " own server, or its own database of one: the number at the end of the URL."
            )


def owns_redis(redis: Redis, own: UUID) -> bool:
    """Mark a Redis that has no mark, as after a restart; return whether the mark is ours."""
    if redis.set(REDIS_KEY, str(own), nx=True):
        return True
    mark = redis.get(REDIS_KEY)
    return mark is None or mark == str(own).encode()


def _check_folder(folder: Path, own: UUID) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    place = folder / MARK
    try:
        with place.open("x") as file:
            file.write(f"{own}\n")
    except FileExistsError:
        if (found := place.read_text().strip()) not in ("", str(own)):
            raise ConfigurationError(
                f"DATA_DIR ({folder}) belongs to another installation than the database at"
                f" DATABASE_URL: it is marked {found}, the database {own}. Use the two that belong"
                f" together, or an empty DATA_DIR with the other's encryption.key."
            ) from None
    except OSError as error:
        raise ConfigurationError(
            f"DATA_DIR ({folder}) cannot be written to: {error.strerror}."
        ) from None


def _check_store(settings: Settings, database: Database) -> None:
    store = open_store(settings)
    with database.transaction() as session:
        row = session.scalars(select(InstallationRow).with_for_update()).one()
        mark = _read_mark(store)
        if mark is not None and mark[0] != row.id:
            raise ConfigurationError(
                f"{_named(settings)} has the contents of another installation. Use a bucket, or a"
                " prefix of one, for each."
            )
        if row.store_id is None:
            row.store_id = mark[1] if mark else uuid4()
            if mark is None:
                _write_mark(store, row.id, row.store_id)
        elif mark is None or mark[1] != row.store_id:
            raise ConfigurationError(
                f"{_named(settings)} is not where this installation keeps its files. Hosts with"
                " folders of their own need a bucket (ARTIFACT_STORE), the same on all. If the"
                " store has moved, copy all that the old one has, also the file"
                f" `{MARK}`, and the folders files and imports of DATA_DIR as parts of a bucket."
            )


def _named(settings: Settings) -> str:
    if settings.artifact_store:
        return f"The bucket at ARTIFACT_STORE ({settings.artifact_store})"
    return f"The folder {settings.data_dir / 'artifacts'} of this host"


def _read_mark(store: Store) -> tuple[UUID, UUID] | None:
    with TemporaryDirectory() as folder:
        try:
            installation, number = store.fetch(MARK, Path(folder) / MARK).read_text().split()
        except ArtifactContentGone:
            return None
    return UUID(installation), UUID(number)


def _write_mark(store: Store, installation: UUID, number: UUID) -> None:
    with TemporaryDirectory() as folder:
        place = Path(folder) / MARK
        place.write_text(f"{installation} {number}\n")
        store.put(MARK, place)
