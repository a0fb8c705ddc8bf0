"""The environment of each part: the addresses of the others, and no secret it does not need."""

import os
from collections.abc import Mapping
from pathlib import Path

from backend.addresses import http_url
from backend.setting_files import SUFFIX
from backend.settings import Settings
from launch.errors import LaunchError
from launch.record import read_record
from launch.servers import postgres, redis

ROOT = Path(__file__).resolve().parent.parent
# The pages need only the API's URL and, where a proxy signs people in, the key by which the API
# knows them. Secrets of domains may have any name, so this is a list of what is passed on, not of
# what is withheld.
FOR_PAGES = frozenset({"API_URL", "PAGES_KEY"})
_HARMLESS_NAMES = """
    HOME LANG LANGUAGE LD_LIBRARY_PATH LOGNAME PATH SHELL SSL_CERT_DIR SSL_CERT_FILE TERM TMPDIR TZ
    USER VIRTUAL_ENV
"""
HARMLESS = frozenset(_HARMLESS_NAMES.split())
HARMLESS_BEGINNINGS = ("LC_", "PYTHON", "STREAMLIT_")


def server_urls(settings: Settings) -> dict[str, str]:
    """Return DATABASE_URL and REDIS_URL: as set, or of the running embedded servers."""
    return {"DATABASE_URL": database_url(settings), "REDIS_URL": redis_url(settings)}


def database_url(settings: Settings) -> str:
    """Return the database's URL as set, or of the running embedded server. Raise LaunchError."""
    url = settings.database_url or postgres.running_url(settings.data_dir)
    return url or _not_running("PostgreSQL", "DATABASE_URL", settings)


def redis_url(settings: Settings) -> str:
    """Return Redis's URL as set, or of the running embedded server. Raise LaunchError."""
    url = settings.redis_url or redis.running_url(settings.data_dir)
    return url or _not_running("Redis", "REDIS_URL", settings)


def api_url(settings: Settings) -> str:
    """Return the API's URL: as set, as `make run` recorded it, or on its usual port."""
    record = read_record(settings.data_dir)
    if settings.api_url:
        return settings.api_url
    if record and record.api_url:
        return record.api_url
    return http_url(settings.host, settings.api_port or 8000)


def child_environment(found: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of this process plus `found`, for a part of Colloquy."""
    own = {k: v for k, v in os.environ.items() if k.removesuffix(SUFFIX) not in found}
    return {**own, **found, "PYTHONUNBUFFERED": "1"}


def pages_environment(found: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of the pages: what they need of the API, and nothing of others."""
    return plain_environment({name: found[name] for name in FOR_PAGES & found.keys()})


def plain_environment(found: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a part without secrets: what every program needs, plus `found`."""
    every = child_environment(found).items()
    kept = {*found, *HARMLESS}
    return {k: v for k, v in every if k in kept or k.startswith(HARMLESS_BEGINNINGS)}


def _not_running(server: str, setting: str, settings: Settings) -> str:
    raise LaunchError(
        f"No {server}: {setting} is not set, and no embedded one runs in "
        f"{settings.data_dir.resolve()}. Start `make run` first, or set {setting}."
    )
