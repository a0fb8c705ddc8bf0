"""Which processes of Colloquy are connected to a database, and for which schema they were made.

Each API and worker process says so in the name of its connections, which PostgreSQL lists.
"""

import os
import re
import socket
from typing import NamedTuple

from sqlalchemy import Connection, text

from db import schema
from db.roles import DatabaseRole

MOST_HOST_CHARS = 24  # PostgreSQL keeps 63 bytes of the whole name
NAME = re.compile(r"colloquy (?P<part>api|worker) (?P<schema>\d{4}) (?P<host>\S*)\.(?P<pid>\d+)")
_NAMES = text(
    "SELECT DISTINCT application_name FROM pg_stat_activity WHERE datname = current_database()"
    " AND application_name LIKE 'colloquy %' ORDER BY application_name"
)


class LiveProcess(NamedTuple):
    """An API or worker process that is connected to the database."""

    part: str
    schema: str
    host: str
    pid: str

    def __str__(self) -> str:
        """Return how a person finds it."""
        part = "API" if self.part == DatabaseRole.API else self.part
        return f"{part} {self.host}.{self.pid} (schema {self.schema})"


def connection_name(role: DatabaseRole | None) -> str:
    """Return the name of this process's connections; `role`: as whom it works."""
    if role is None:
        return "colloquy"
    host = socket.gethostname().encode("ascii", "replace").decode()[:MOST_HOST_CHARS]
    return f"colloquy {role} {schema.REVISIONS[-1]} {host}.{os.getpid()}"


def find_older(connection: Connection) -> list[LiveProcess]:
    """Return the processes that were made for an older schema than this one."""
    found = map(NAME.fullmatch, connection.scalars(_NAMES))
    live = [LiveProcess(**match.groupdict()) for match in found if match]
    return [process for process in live if process.schema < schema.REVISIONS[-1]]
