"""`python -m backend.operations.integrity`: checks that the views of all conversations agree.

Only looks, unless told to repair. Ends with 1 when something is wrong that was not repaired.
"""

import argparse
import sys
from uuid import UUID

from backend.configuration import read_settings
from backend.errors.base import ConfigurationError
from backend.files.store import FileStore
from backend.operations.integrity.files import check_files, mend_file
from backend.operations.integrity.scan import check, conversation_ids, mend
from db.session import Database

CONNECTIONS = 2


def main() -> int:
    """Check, print each finding on a line of its own, and count."""
    wanted = _arguments()
    try:
        settings = read_settings()
    except ConfigurationError as error:
        return _refuse(error.detail)
    if not settings.database_url:
        return _refuse("DATABASE_URL is not set. Use `make integrity`, which finds it, or set it.")
    database = Database(settings.database_url, pool_size=CONNECTIONS)
    checked = left = 0
    for conversation_id in wanted.session or conversation_ids(database):
        checked += 1
        findings = check(database, conversation_id)
        is_mended = bool(findings) and wanted.repair and mend(database, conversation_id, findings)
        left += bool(findings) and not is_mended
        for finding in findings:
            done = "done" if is_mended else "proposed"
            sys.stdout.write(f"{conversation_id}: {finding.said}; {done}: {finding.repair}\n")
    if not wanted.session:
        left += _check_files(database, FileStore(settings.data_dir), repair=wanted.repair)
    sessions = "session" if checked == 1 else "sessions"
    sys.stdout.write(f"{checked} {sessions} checked, {left} with something wrong\n")
    return 1 if left else 0


def _check_files(database: Database, store: FileStore, *, repair: bool) -> int:
    """Say which files lack their content or their row; return how many are left so."""
    left = 0
    for finding in check_files(database, store):
        is_mended = repair and mend_file(database, store, finding)
        left += not is_mended
        done = "done" if is_mended else "proposed"
        sys.stdout.write(f"file {finding.file_id}: {finding.said}; {done}: {finding.repair}\n")
    return left


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m backend.operations.integrity", description=__doc__
    )
    parser.add_argument("--repair", action="store_true", help="do what is proposed")
    parser.add_argument(
        "--session", type=UUID, action="append", help="only this one; may be given several times"
    )
    return parser.parse_args()


def _refuse(reason: str) -> int:
    sys.stderr.write(f"{reason}\n")
    return 2


if __name__ == "__main__":
    sys.exit(main())
