"""What each part finds in its environment: where the others listen, and no secret it needs not."""

import os
from collections.abc import Mapping
from pathlib import Path

from backend.addresses import http_url
from backend.settings import Settings
from launch.errors import LaunchError
from launch.record import read_record
from launch.servers import postgres, redis

ROOT = Path(__file__).resolve().parent.parent
# Where the pages find the API is all that they need of what was found. Secrets of domains may have
# any name, so that it is said what is handed on, not what is kept back.
FOR_PAGES = frozenset({"API_URL"})
_HARMLESS_NAMES = """
    HOME LANG LANGUAGE LD_LIBRARY_PATH LOGNAME PATH SHELL SSL_CERT_DIR SSL_CERT_FILE TERM TMPDIR TZ
    USER VIRTUAL_ENV
"""
HARMLESS = frozenset(_HARMLESS_NAMES.split())
HARMLESS_BEGINNINGS = ("LC_", "PYTHON", "STREAMLIT_")


def server_urls(settings: Settings) -> dict[str, str]:
    """DATABASE_URL and REDIS_URL for one part alone: as set, or of the embedded servers running."""
    return {"DATABASE_URL": database_url(settings), "REDIS_URL": redis_url(settings)}


def database_url(settings: Settings) -> str:
    """The database as set, or the embedded one if it runs; else LaunchError says what to do."""
    url = settings.database_url or postgres.running_url(settings.data_dir)
    return url or _not_running("PostgreSQL", "DATABASE_URL", settings)


def redis_url(settings: Settings) -> str:
    """Redis as set, or the embedded one if it runs; else LaunchError says what to do."""
    url = settings.redis_url or redis.running_url(settings.data_dir)
    return url or _not_running("Redis", "REDIS_URL", settings)


def api_url(settings: Settings) -> str:
    """Where the pages find the API: as set, as `make run` recorded it, or on its usual port."""
    record = read_record(settings.data_dir)
    if settings.api_url:
        return settings.api_url
    if record and record.api_url:
        return record.api_url
    return http_url(settings.host, settings.api_port or 8000)


def child_environment(found: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of this process with what was found, for a part of Colloquy."""
    return {**os.environ, **found, "PYTHONUNBUFFERED": "1"}


def pages_environment(found: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of the pages: where the API is, and nothing that could be a secret."""
    return plain_environment({name: found[name] for name in FOR_PAGES & found.keys()})


def plain_environment(found: Mapping[str, str]) -> dict[str, str]:
    """The environment of a part that needs no secret: what every program needs, and `found`."""
    every = child_environment(found).items()
    kept = {*found, *HARMLESS}
    return {k: v for k, v in every if k in kept or k.startswith(HARMLESS_BEGINNINGS)}


def _not_running(server: str, setting: str, settings: Settings) -> str:
    raise LaunchError(
        f"No {server}: {setting} is not set, and no embedded one runs in "
        f"{settings.data_dir.resolve()}. Start `make run` first, or set {setting}."
    )
