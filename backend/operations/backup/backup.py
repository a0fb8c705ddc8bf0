"""Writes a backup: the database at one moment, and all contents that it names then."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID

from sqlalchemy import Connection, create_engine, text

from backend.artifacts.contents import Contents, digest
from backend.connections.keyring import FILE as KEY_FILE
from backend.errors.artifacts import ArtifactContentGone
from backend.errors.base import AppError
from backend.files.store import FileStore
from backend.operations.backup.manifest import DATABASE, Content, Manifest
from backend.operations.backup.programs import run_program
from backend.version import VERSION
from db.migrate import UNLIMITED
from db.session import normalise_url

OTHERS = ("sources", "source_names.json")
KEYS = (KEY_FILE, "pages.key")
FILES = text("SELECT id, sha256 FROM files ORDER BY id")
ARTIFACTS = text(
    "SELECT DISTINCT key, hash FROM artifact_versions WHERE key IS NOT NULL ORDER BY key"
)
Say = Callable[[str], object]


class FolderInUse(AppError):
    """A backup needs a folder that is new or empty."""


def write_backup(
    url: str, data_dir: Path, files: FileStore, contents: Contents, folder: Path, say: Say
) -> Manifest:
    """Write a backup to a new folder. Conversations may go on meanwhile.

    Raise FolderInUse, ProgramFailed, FileStoreUnavailable, ArtifactStoreUnavailable, OSError.
    """
    if folder.exists() and any(folder.iterdir()):
        raise FolderInUse(f"{folder} is not empty. Name a new folder.")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _one_moment(url) as (connection, snapshot):
        installation = connection.scalar(text("SELECT id FROM installation"))
        revision = connection.scalar(text("SELECT version_num FROM alembic_version"))
        say("Writing the database…")
        options = ["--format=custom", "--no-owner", "--no-privileges", f"--snapshot={snapshot}"]
        run_program("pg_dump", url, [*options, f"--file={folder / DATABASE}"])
        named = connection.execute(FILES).all()
        stored = connection.execute(ARTIFACTS).all()
    missing: list[str] = []
    say(f"Writing {len(named):,} uploaded files and {len(stored):,} contents of artifacts…")
    keeper = _Keeper(folder, missing)
    held = [keeper.keep(f"files/{i.hex}", partial(_fetch, files, i), sha) for i, sha in named]
    kept = [
        keeper.keep(f"artifacts/{key}", partial(contents.store.fetch, key), sha)
        for key, sha in stored
    ]
    manifest = Manifest(
        version=VERSION,
        schema_revision=str(revision),
        installation=str(installation),
        made_at=datetime.now(UTC).isoformat(timespec="seconds"),
        database=describe(folder, DATABASE),
        files=[one for one in held if one],
        artifacts=[one for one in kept if one],
        others=_keep_others(data_dir, folder),
        missing=missing,
    )
    manifest.write(folder)
    return manifest


def describe(folder: Path, path: str) -> Content:
    """Return what a manifest says of a file."""
    place = folder / path
    return Content(path=path, size=place.stat().st_size, sha256=digest(place))


@contextmanager
def _one_moment(url: str) -> Iterator[tuple[Connection, str]]:
    """Provide a connection that sees one moment of the database, and the name of that moment."""
    engine = create_engine(normalise_url(url), isolation_level="REPEATABLE READ")
    try:
        with engine.begin() as connection:
            connection.execute(UNLIMITED)
            snapshot = connection.scalar(text("SELECT pg_export_snapshot()"))
            yield connection, str(snapshot)
    finally:
        engine.dispose()


def _fetch(files: FileStore, file_id: UUID, _: Path) -> Path:
    return files.fetch(file_id)


@dataclass(frozen=True)
class _Keeper:
    """Copies contents to a backup, and compares them with what their rows say."""

    folder: Path
    missing: list[str]

    def keep(self, path: str, fetch: Callable[[Path], Path], sha256: str) -> Content | None:
        """Copy a content that `fetch` gives, maybe at the path told; None if it is gone."""
        place = self.folder / path
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with TemporaryDirectory(dir=self.folder) as work:
            try:
                shutil.copyfile(fetch(Path(work) / "content"), place)
            except (FileNotFoundError, ArtifactContentGone):
                self.missing.append(f"{path}: it is gone")
                return None
        found = describe(self.folder, path)
        if found.sha256 != sha256:
            self.missing.append(f"{path}: it is not what its row says")
        return found


def _keep_others(data_dir: Path, folder: Path) -> list[Content]:
    """Copy what else of DATA_DIR must survive: sources, and the keys."""
    kept = []
    for name in (*OTHERS, *KEYS):
        place = data_dir / name
        if place.is_dir():
            found = [one for one in place.rglob("*") if one.is_file() and not one.is_symlink()]
        else:
            found = [place] if place.is_file() else []
        for one in found:
            path = str(one.relative_to(data_dir))
            (folder / path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            shutil.copy2(one, folder / path)
            kept.append(describe(folder, path))
    return kept
