"""`colloquy migrate-legacy FILE.sqlite`: takes over the conversations of an AgentX-like system.

The file is never changed. Run again, it continues where it ended and doubles nothing. Exits with 1
if the file cannot be taken, and with 2 if the call or the settings are wrong.
"""

import argparse
import sys
from contextlib import ExitStack
from datetime import UTC, datetime

from backend import audit
from backend.bootstrap import require_schema
from backend.configuration import named_path, read_settings
from backend.domains.allowed import Allowed
from backend.domains.catalog import ensure_bundled_domains
from backend.errors.base import AppError, ConfigurationError
from backend.legacy.configuration import Configuration
from backend.legacy.file import open_copy
from backend.legacy.migrate import Migration
from backend.legacy.owner import find_owner
from backend.legacy.plan import make_plans
from backend.legacy.report import Report, write_report
from backend.legacy.rows import read_rows
from backend.legacy.store import Store
from backend.privacy import hide_process
from backend.settings import Settings
from db.session import AWAY, Database

EVERY = 500  # rows between two lines about the progress


def main(arguments: list[str] | None = None) -> int:
    """Take over the conversations of the file, or say why not."""
    hide_process()
    wanted = _parser().parse_args(arguments)
    try:
        settings = read_settings()
    except ConfigurationError as error:
        return _refuse(error.detail, 2)
    if not settings.database_url:
        return _refuse("DATABASE_URL is not set. Set it, or start the command by `colloquy`.", 2)
    database = Database(settings.database_url, pool_size=2)
    try:
        require_schema(database, wait=False)
        report = _migrate(database, settings, wanted)
        page = write_report(report, wanted.report)
    except ConfigurationError as error:
        return _refuse(error.detail, 2)
    except AppError as error:
        return _refuse(error.detail, 1)
    except AWAY:
        return _refuse("The database is away. What was taken stays; start again to continue.", 1)
    except OSError as error:
        return _refuse(f"The report cannot be written: {error}.", 1)
    finally:
        database.close()
    sys.stdout.write(f"{report.summary()}\nThe report: {wanted.report} and {page}\n")
    return 0


def _migrate(database: Database, settings: Settings, wanted: argparse.Namespace) -> Report:
    with database.transaction() as session:
        if not wanted.dry_run:
            ensure_bundled_domains(session)
        scope = find_owner(session, settings, wanted.owner)
    now = datetime.now(UTC)
    with ExitStack() as files:
        file = files.enter_context(open_copy(wanted.file))
        beside = [files.enter_context(open_copy(wanted.agentx))] if wanted.agentx else []
        rows = list(read_rows(file.connection, now, file.notes))
        store = Store(file.connection, *(one.connection for one in beside))
        report = Report(wanted.file.name, scope.name or scope.user_id, wanted.dry_run)
        report.notes += [note for one in (file, *beside) for note in one.notes] + store.notes
        configuration = Configuration(store, Allowed.of(settings), wanted.domain)
        migration = Migration(
            database, scope, configuration, settings, now, is_dry_run=wanted.dry_run
        )
        plans = make_plans(rows, store)
        for number, entry in enumerate(migration.run(plans), 1):
            report.entries.append(entry)
            if number % EVERY == 0:
                sys.stderr.write(f"{number:,} of {len(plans):,}\n")
        with database.read() as session:
            report.notes += configuration.domain_notes(session, {row.domain_id for row in rows})
        taken = {plan.history for plan in plans}
        report.left = [one for one in store.with_messages if one not in taken]
    if not wanted.dry_run:
        with database.transaction() as session:
            details = {"owner": scope.user_id, "outcomes": report.outcomes}
            audit.record(session, audit.SOFTWARE, "migrated", "legacy", report.file, details)
    return report


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="colloquy migrate-legacy", description=__doc__.split("\n\n")[0].partition(": ")[2]
    )
    parser.add_argument("file", type=named_path, metavar="FILE.sqlite")
    parser.add_argument(
        "--agentx",
        type=named_path,
        metavar="FILE.sqlite",
        help="AgentX's own file, if images and messages are not in the same one",
    )
    parser.add_argument("--dry-run", action="store_true", help="report only; change nothing")
    parser.add_argument(
        "--owner", metavar="NAME", help="whose they will be: a name, id or email; the first admin's"
    )
    parser.add_argument(
        "--domain", metavar="NAME", help="for conversations whose own domain is unknown"
    )
    parser.add_argument(
        "--report",
        type=named_path,
        default="legacy-report.json",
        metavar="PATH",
        help="where the report is written, as JSON and as a page beside it (%(default)s)",
    )
    return parser


def _refuse(reason: str, status: int) -> int:
    sys.stderr.write(f"{reason}\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
