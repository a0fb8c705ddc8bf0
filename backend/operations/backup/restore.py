"""Restores a backup into an empty installation."""

import shutil
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

from sqlalchemy import Connection, create_engine, text

from backend.artifacts.contents import Contents, digest
from backend.errors.base import AppError
from backend.files.store import FileStore
from backend.operations.backup.manifest import Content, Manifest
from backend.operations.backup.programs import run_program
from db.migrate import UNLIMITED, migrate
from db.models.people.user import LOCAL
from db.schema import REVISIONS
from db.session import normalise_url

Say = Callable[[str], object]
# What our migrations make, in the schema that is used.
MADE = text(
    "SELECT format('DROP TABLE IF EXISTS %I CASCADE', relname) FROM pg_class"
    " WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')"
    " UNION ALL SELECT format('DROP ROUTINE IF EXISTS %s CASCADE', oid::regprocedure) FROM pg_proc"
    " WHERE pronamespace = current_schema()::regnamespace"
)
TABLE = text("SELECT to_regclass(:name) IS NOT NULL")
_BLOCK = 1 << 20


class NotEmpty(AppError):
    """A backup is restored into an empty installation only."""


class NotRestorable(AppError):
    """The backup is damaged, or of a newer version."""


def restore_backup(
    url: str, data_dir: Path, files: FileStore, contents: Contents, folder: Path, say: Say
) -> Manifest:
    """Restore a backup, once all of it is known to be whole. Nothing of Colloquy may run meanwhile.

    Raise NotABackup, NotRestorable, NotEmpty, ProgramFailed, or what the stores raise.
    """
    manifest = Manifest.read(folder)
    if manifest.schema_revision > REVISIONS[-1]:
        raise NotRestorable(
            f"The backup is of version {manifest.version}, which is newer than this one."
        )
    say("Checking the backup…")
    for one in (manifest.database, *manifest.contents):
        _check(folder, one)
    _empty(url)
    say("Restoring the database…")
    place = str(folder / manifest.database.path)
    run_program("pg_restore", url, ["--no-owner", "--no-privileges", "--exit-on-error", place])
    migrate(url)
    _forget_store(url)
    say(f"Restoring {len(manifest.contents):,} contents…")
    for one in manifest.files:
        _put_file(files, folder, one)
    for one in manifest.artifacts:
        contents.store.put(one.path.removeprefix("artifacts/"), folder / one.path)
    for one in manifest.others:
        place_ = data_dir / one.path
        place_.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.copy2(folder / one.path, place_)
    return manifest


def _check(folder: Path, content: Content) -> None:
    try:
        found = digest(folder / content.path)
    except OSError as error:
        raise NotRestorable(
            f"{content.path} of the backup cannot be read: {error.strerror}."
        ) from None
    if found != content.sha256:
        raise NotRestorable(
            f"{content.path} of the backup is not what was written. Nothing was changed."
        )


def _empty(url: str) -> None:
    """Remove the tables of an installation in which nobody has worked. Raise NotEmpty."""
    engine = create_engine(normalise_url(url))
    try:
        with engine.begin() as connection:
            connection.execute(UNLIMITED)
            if _is_used(connection):
                raise NotEmpty(
                    "The database at DATABASE_URL has sessions or people already. Restore into an"
                    " empty database, or a new DATA_DIR. Nothing was changed."
                )
            for (statement,) in connection.execute(MADE).all():
                connection.execute(text(statement))
    finally:
        engine.dispose()


def _forget_store(url: str) -> None:
    """The contents are in another store now, which the next start marks."""
    engine = create_engine(normalise_url(url))
    try:
        with engine.begin() as connection:
            connection.execute(text("UPDATE installation SET store_id = NULL"))
    finally:
        engine.dispose()


def _is_used(connection: Connection) -> bool:
    for table, which in (("conversations", "true"), ("users", f"id <> '{LOCAL}'")):
        if connection.scalar(TABLE, {"name": table}):
            query = f"SELECT EXISTS (SELECT FROM {table} WHERE {which})"  # noqa: S608  (constants)
            if connection.scalar(text(query)):
                return True
    return False


def _put_file(files: FileStore, folder: Path, content: Content) -> None:
    incoming = files.begin()
    try:
        with (folder / content.path).open("rb") as file:
            while piece := file.read(_BLOCK):
                incoming.write(piece)
        file_id = UUID(hex=Path(content.path).name)
        incoming.seal(file_id)
        incoming.keep(file_id)
    finally:
        incoming.drop()
