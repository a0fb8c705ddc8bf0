"""`colloquy backup FOLDER` and `colloquy restore FOLDER`."""

import argparse
import os
import sys
from pathlib import Path

from sqlalchemy.exc import DBAPIError

from backend.artifacts.contents import open_contents
from backend.bootstrap import require_schema
from backend.configuration import named_path, read_settings
from backend.errors.base import AppError
from backend.files.store import open_files
from backend.operations.backup.backup import KEYS, write_backup
from backend.operations.backup.manifest import Manifest
from backend.operations.backup.restore import restore_backup
from db.session import Database


def main() -> int:
    """Write or restore a backup, and say what it holds and what is missing in it.

    Return 1 if something is missing, 2 if nothing was done.
    """
    wanted = _arguments()
    folder = named_path(wanted.folder).absolute()
    os.umask(0o077)
    try:
        manifest = _run(wanted.what, folder)
    except AppError as error:
        return _refuse(error.detail)
    except DBAPIError as error:
        return _refuse(f"The database refuses: {str(error.orig).strip().splitlines()[0]}")
    except OSError as error:
        return _refuse(f"{error.filename or folder}: {error.strerror}")
    done = "Written to" if wanted.what == "backup" else "Restored from"
    _say(
        f"{done} {folder}: the database, {len(manifest.files):,} uploaded files,"
        f" {len(manifest.artifacts):,} contents of artifacts, {len(manifest.others):,} other files."
    )
    for one in manifest.missing:
        _say(f"missing: {one}")
    if wanted.what == "backup" and any(one.path in KEYS for one in manifest.others):
        _say(f"It holds the keys {' and '.join(KEYS)}: keep them apart from the rest.")
    return 1 if manifest.missing else 0


def _run(what: str, folder: Path) -> Manifest:
    settings = read_settings()
    files, contents = open_files(settings), open_contents(settings)
    places = (settings.database_url, settings.data_dir, files, contents, folder, _say)
    if what == "restore":
        return restore_backup(*places)
    database = Database(settings.database_url, pool_size=1)
    try:
        require_schema(database, wait=False)
    finally:
        database.close()
    return write_backup(*places)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="colloquy", description=__doc__)
    parser.add_argument("what", choices=("backup", "restore"))
    parser.add_argument("folder", help="a new one for a backup, that of a backup to restore")
    return parser.parse_args()


def _say(sentence: str) -> None:
    sys.stdout.write(f"{sentence}\n")
    sys.stdout.flush()


def _refuse(sentence: str) -> int:
    sys.stderr.write(f"{sentence}\n")
    return 2


if __name__ == "__main__":
    sys.exit(main())
