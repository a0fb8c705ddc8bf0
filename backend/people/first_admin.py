"""The first administrator: `python -m backend.people.first_admin` prints the link that makes one.

Only while nobody can administer. Each call makes a new link, and the one before ends.
"""

import sys

from backend.auth.administrators import can_administer
from backend.auth.local import make_link
from backend.bootstrap import require_schema
from backend.configuration import read_settings
from backend.errors.base import ConfigurationError
from backend.people.providers.store import ways_in
from backend.privacy import hide_process
from backend.schemas.people.account import LinkPurpose
from backend.settings import Settings
from db.session import Database

PATH = "/sign-in/link/"  # of the pages


def main() -> int:
    """Print the link if one is needed."""
    hide_process()
    try:
        settings = read_settings()
        database = Database(settings.database_url, pool_size=1)
        require_schema(database, wait=False)
    except ConfigurationError as error:
        sys.stderr.write(f"{error.detail}\n")
        return 2
    try:
        sys.stdout.write(_what_to_do(database, settings))
    finally:
        database.close()
    return 0


def _what_to_do(database: Database, settings: Settings) -> str:
    """Return what the operator has to do for a first administrator; empty: there is one."""
    if not settings.ways:
        return "Nobody signs in here. Set AUTH to a list of local, oidc and proxy first.\n"
    with database.transaction() as session:
        if can_administer(session, ways_in(session, settings)):
            return ""
        link = make_link(session, LinkPurpose.FIRST_ADMIN, None)
    address = f"{settings.pages_url}{PATH}{link}"
    return (
        f"Nobody can administer yet. Open this link once to become the administrator:\n{address}\n"
    )


if __name__ == "__main__":
    sys.exit(main())
