"""`colloquy integrity`: checks conversations, plans, artifacts and files.

Changes nothing unless told to repair. Exits with 1 if something is wrong that was not repaired.
"""

import argparse
import sys
from threading import Event
from uuid import UUID

from backend.artifacts.contents import Contents, open_contents
from backend.bootstrap import require_schema
from backend.configuration import read_settings
from backend.conversations.search.index import is_complete, recreate_entries
from backend.errors.artifacts import ArtifactStoreUnavailable
from backend.errors.base import ConfigurationError
from backend.errors.files import FileStoreUnavailable
from backend.files.store import FileStore, open_files
from backend.operations.integrity.artifacts import CheckCounts, check_artifacts, repair_artifact
from backend.operations.integrity.files import check_files, repair_file
from backend.operations.integrity.plans import check_plans, repair_plan
from backend.operations.integrity.scan import check, conversation_ids, repair_conversation
from db.session import Database

CONNECTIONS = 2


def main() -> int:
    """Run the checks, print one line per finding, and print the totals."""
    wanted = _arguments()
    try:
        settings = read_settings()
    except ConfigurationError as error:
        return _refuse(error.detail)
    if not settings.database_url:
        return _refuse("DATABASE_URL is not set. Set it, or use `make integrity`, which finds it.")
    database = Database(settings.database_url, pool_size=CONNECTIONS)
    try:
        require_schema(database, wait=False)
        contents, files = open_contents(settings), open_files(settings)
    except ConfigurationError as error:
        return _refuse(error.detail)
    _check_search(database, repair=wanted.repair)
    checked = left = 0
    for conversation_id in wanted.session or conversation_ids(database):
        checked += 1
        findings = check(database, conversation_id)
        is_repaired = (
            bool(findings)
            and wanted.repair
            and repair_conversation(database, conversation_id, findings)
        )
        left += bool(findings) and not is_repaired
        for finding in findings:
            _report(str(conversation_id), finding.problem, finding.repair, is_repaired)
    left += _check_plans(database, wanted)
    left += _check_artifacts(database, contents, wanted)
    if not wanted.session:
        left += _check_files(database, files, repair=wanted.repair)
    sessions = "session" if checked == 1 else "sessions"
    sys.stdout.write(f"{checked} {sessions} checked, {left} with something wrong\n")
    return 1 if left else 0


def _check_search(database: Database, *, repair: bool) -> None:
    """Report an incomplete search index; that is no fault, because workers complete it."""
    with database.read() as session:
        if is_complete(session):
            return
    if repair:
        recreate_entries(database, Event())
    problem = "it is incomplete since a crash of the database"
    _report("search index", problem, "recreate it, as a worker does by itself", repair)


def _check_plans(database: Database, wanted: argparse.Namespace) -> int:
    """Report what is wrong with plans; return how many findings remain."""
    left = 0
    for finding in check_plans(database, wanted.session or ()):
        is_repaired = wanted.repair and repair_plan(database, finding)
        left += not is_repaired
        _report(f"{finding.what} {finding.id}", finding.problem, finding.repair, is_repaired)
    return left


def _check_artifacts(database: Database, contents: Contents, wanted: argparse.Namespace) -> int:
    """Report what is wrong with artifacts, and how much was checked; return what remains."""
    left, looked = 0, CheckCounts()
    try:
        for finding in check_artifacts(
            database, contents, looked, wanted.session or (), all_contents=wanted.all_contents
        ):
            is_repaired = wanted.repair and repair_artifact(database, contents, finding)
            left += not is_repaired
            _report(finding.subject, finding.problem, finding.repair, is_repaired)
    except ArtifactStoreUnavailable as error:
        sys.stdout.write(f"store of artifacts: it was not checked to its end. {error.detail}\n")
        left += 1
    if looked.versions:
        sys.stdout.write(f"{looked.summary}\n")
    return left


def _report(subject: str, problem: str, repair: str, is_repaired: bool) -> None:
    sys.stdout.write(f"{subject}: {problem}; {'done' if is_repaired else 'proposed'}: {repair}\n")


def _check_files(database: Database, store: FileStore, *, repair: bool) -> int:
    """Report files without content, and content without a file; return how many remain."""
    left = 0
    try:
        for finding in check_files(database, store):
            is_repaired = repair and repair_file(database, store, finding)
            left += not is_repaired
            _report(f"file {finding.file_id}", finding.problem, finding.repair, is_repaired)
    except FileStoreUnavailable as error:
        sys.stdout.write(f"store of files: it was not checked to its end. {error.detail}\n")
        left += 1
    return left


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="colloquy integrity", description=__doc__)
    parser.add_argument("--repair", action="store_true", help="carry out the proposed repairs")
    parser.add_argument(
        "--session", type=UUID, action="append", help="check this session only; may be repeated"
    )
    parser.add_argument(
        "--all-contents",
        action="store_true",
        help="read all contents of artifacts in the store, instead of a random sample",
    )
    return parser.parse_args()


def _refuse(reason: str) -> int:
    sys.stderr.write(f"{reason}\n")
    return 2


if __name__ == "__main__":
    sys.exit(main())
