"""What Colloquy adds to `colloquy`, the console script of the kit.

Each command runs a module of `backend` in a process of its own, as `python -m launch` does, with
the running database and Redis; the module parses the arguments.
"""

import os
from collections.abc import Callable, Mapping

from backend.configuration import CALLED_FROM, read_settings
from backend.errors.base import AppError
from backend.privacy import hide_process
from backend.settings import Settings
from launch import parts
from launch.alone import become
from launch.console import Console
from launch.environment import ROOT, api_url, database_url, redis_url, server_urls
from launch.offline import is_offline, run_offline

EXCHANGE = "backend.operations.exchange"
BACKUP = "backend.operations.backup"
Found = Callable[[Settings], Mapping[str, str]]


def integrity(arguments: list[str]) -> int:
    """Check conversations, plans, artifacts and files; `--repair` repairs what can be repaired."""
    return run("backend.operations.integrity", arguments, find_database)


def drain(arguments: list[str]) -> int:
    """Let workers finish their turns and end: those named, or all of this host."""
    return run("backend.operations.drain", arguments, find_redis)


def doctor(arguments: list[str]) -> int:
    """Say of each part of this host whether it fits the others, and what to do if not."""
    return run("backend.operations.doctor", arguments, server_urls)


def backup(arguments: list[str]) -> int:
    """Write the database, files, artifacts and keys to a new folder, while Colloquy runs or not."""
    return run(BACKUP, ["backup", *arguments], find_database, starts_database=True)


def restore(arguments: list[str]) -> int:
    """Restore such a folder into an empty installation."""
    return run(BACKUP, ["restore", *arguments], find_database, starts_database=True)


def find_redis(settings: Settings) -> Mapping[str, str]:
    """Return the address of Redis: as set, or of the running embedded server."""
    return {"REDIS_URL": redis_url(settings)}


def bring_in(arguments: list[str]) -> int:
    """Import conversations of ChatGPT, Claude, Open WebUI and others, through the running API."""
    return run(EXCHANGE, ["import", *arguments], find_api)


def take_out(arguments: list[str]) -> int:
    """Export sessions as JSON Lines, through the running API."""
    return run(EXCHANGE, ["export", *arguments], find_api)


def find_api(settings: Settings) -> Mapping[str, str]:
    """Return the address of the API: as set, or of the running installation."""
    return {"API_URL": api_url(settings)}


def migrate_legacy(arguments: list[str]) -> int:
    """Take over the conversations of an older, AgentX-like system from its SQLite file."""
    return run("backend.legacy", arguments, find_database, starts_database=True)


def find_database(settings: Settings) -> Mapping[str, str]:
    """Return the address of the database: as set, or of the running embedded server."""
    return {"DATABASE_URL": database_url(settings)}


def run(module: str, arguments: list[str], find: Found, *, starts_database: bool = False) -> int:
    """Become the module, with what `find` returns in its environment; help needs no server.

    `starts_database`: an embedded database that does not run is started for it. The module reads
    paths by `backend.configuration.named_path`, because it runs in `ROOT`. Return the exit status
    if something is missing, which is said in a sentence.
    """
    hide_process()
    called_from = os.getcwd()
    os.chdir(ROOT)  # where `.env` is, and the folder of data
    try:
        found: Mapping[str, str] = {}
        if not {"-h", "--help"} & {*arguments}:
            settings = read_settings()
            if starts_database and is_offline(settings):
                return run_offline(settings, module, arguments, {CALLED_FROM: called_from})
            found = find(settings)
        become(parts.command(module, arguments, {**found, CALLED_FROM: called_from}))
    except AppError as error:
        Console().fail(error.detail)
        return 1
