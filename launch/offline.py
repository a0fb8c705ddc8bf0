"""The embedded database for one command, where Colloquy itself does not run."""

import os
import subprocess
from collections.abc import Mapping

from backend.settings import Settings
from launch import parts
from launch.console import Console
from launch.processes.children import PRIVATE_UMASK
from launch.servers import postgres
from launch.servers.postgres import EmbeddedPostgres
from launch.supervision.services import PartSpec


def is_offline(settings: Settings) -> bool:
    """Return whether the database is an embedded one that does not run now."""
    return not (settings.database_url or postgres.running_url(settings.data_dir))


def run_offline(
    settings: Settings, module: str, arguments: list[str], found: Mapping[str, str]
) -> int:
    """Run a module with the embedded database, at the newest schema; return its exit status.

    The database is started for it, and stopped at the end. Raise AlreadyRunning, LaunchError.
    """
    home = settings.data_dir.resolve()
    server = EmbeddedPostgres(home)
    server.start()
    try:
        found = {**found, "DATABASE_URL": server.url, "DATA_DIR": str(home)}
        Console().say("Colloquy does not run, so its database is started for this.")
        for part in (parts.migrate(found), parts.command(module, arguments, found)):
            if status := _run(part):
                return status
        return 0
    finally:
        server.stop()


def _run(part: PartSpec) -> int:
    os.umask(PRIVATE_UMASK)
    return subprocess.call(part.command, env=dict(part.env), cwd=part.cwd)  # noqa: S603 - ours
