"""Run a private PostgreSQL in DATA_DIR: start it, recover it after a crash, stop it."""

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import psycopg2
from psycopg2 import sql

from launch.errors import AlreadyRunning, LaunchError
from launch.folders import make_folder
from launch.ports import any_free_port
from launch.private_files import FolderLock, password_in, read_private, write_private
from launch.processes.children import start_child
from launch.processes.orphans import wait_for_orphan
from launch.servers.cluster import SUPERUSER, Cluster, create_cluster, locate_cluster

HOST = "127.0.0.1"
ROLE = "colloquy"
DATABASE = "colloquy"
SETTINGS = {
    "shared_buffers": "128MB",
    "max_connections": "200",
    "unix_socket_directories": "",
    "listen_addresses": HOST,
    "password_encryption": "scram-sha-256",
    "timezone": "UTC",
    "log_timezone": "UTC",
    # Errors quote text that people wrote; the client processes log them without it.
    "log_min_messages": "log",
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    "log_line_prefix": "%m [%p] ",
    "logging_collector": "off",
    # Short transactions gain nothing from JIT, and plans of wide queries lose 100 ms.
    "jit": "off",
}
LOG_LIMIT_BYTES = 10_000_000
STOP_SECONDS = 30.0
# The backends of a killed server hold its shared memory for a moment.
PASSING = ("shared memory block", "is still in use", "lock file")
PORT_TAKEN = "Address already in use"


class EmbeddedPostgres:
    """A PostgreSQL server in `home` (DATA_DIR); clients use a role without special privileges.

    `start()` may be called again after a crash: the server keeps its port, so URLs stay valid.
    """

    def __init__(self, home: Path) -> None:
        self.home = home.resolve()
        self.process: subprocess.Popen[bytes] | None = None
        self.port: int | None = None
        self._cluster: Cluster | None = None
        self._folder = self.home / "postgres"
        self._lock = FolderLock(self._folder / "lock")

    @property
    def url(self) -> str:
        """The application's URL: its role owns the database and is no superuser."""
        return self._url_for(ROLE, self._folder / "role.password", DATABASE)

    @property
    def superuser_url(self) -> str:
        """The administrator's URL."""
        return self._url_for(SUPERUSER, self._folder / "superuser.password", DATABASE)

    @property
    def cluster_folder(self) -> Path:
        """The data folder; outside `home` only if PostgreSQL's user cannot enter `home`."""
        return self._located().folder

    @property
    def log_file(self) -> Path:
        """The server's log."""
        return self._folder / "postgres.log"

    def start(self, timeout: float = 60.0) -> None:
        """Start the server, recover from a crash if needed, and return when it answers."""
        make_folder(self._folder)
        if not self._lock.acquire():
            raise AlreadyRunning(f"Another Colloquy already runs the database of {self.home}.")
        try:
            create_cluster(self._located(), self._folder / "superuser.password")
            cluster = self._located().folder
            wait_for_orphan(cluster / "postmaster.pid", mark=str(cluster))
            self._start_server(time.monotonic() + timeout)
            self._create_role_and_database()
            write_private(self._folder / "port", str(self.port))
            write_private(_url_file(self.home), self.url)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Roll back open transactions and stop the server; does nothing if it is down."""
        _url_file(self.home).unlink(missing_ok=True)
        process = self.process
        # SIGINT disconnects clients and stops cleanly; after SIGQUIT the log has to be replayed.
        for stop_signal in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
            if process is None or process.poll() is not None:
                break
            process.send_signal(stop_signal)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(STOP_SECONDS)
        self._lock.release()

    def _located(self) -> Cluster:
        if self._cluster is None:
            self._cluster = locate_cluster(self.home)
        return self._cluster

    def _url_for(self, user: str, password_file: Path, database: str) -> str:
        password = read_private(password_file)
        return f"postgresql+psycopg2://{user}:{password}@{HOST}:{self.port}/{database}"

    def _start_server(self, deadline: float) -> None:
        """Retry until it stays up: old backends may hold memory, another may take the port."""
        last_port = read_private(self._folder / "port") or "0"
        self.port = self.port or any_free_port(int(last_port) if last_port.isdigit() else None)
        while True:
            said = self._run_until_ready(deadline)
            if said is None:
                return
            if PORT_TAKEN in said:
                self.port = any_free_port()
            elif not any(phrase in said for phrase in PASSING) or time.monotonic() > deadline:
                raise LaunchError(f"The embedded PostgreSQL did not start. Its output:\n{said}")
            time.sleep(0.1)

    def _run_until_ready(self, deadline: float) -> str | None:
        """Run the server; return None once it answers, or its output if it ended."""
        if self.log_file.exists() and self.log_file.stat().st_size > LOG_LIMIT_BYTES:
            self.log_file.replace(self.log_file.with_suffix(".log.1"))
        with open(self.log_file, "ab", opener=_open_private) as log:
            start = log.tell()
            self.process = self._launch(log)
        # Pause first: another server that holds the port would be asked, and might never answer.
        time.sleep(0.05)
        while self.process.poll() is None:
            if self._answers():
                return None
            if time.monotonic() > deadline:
                raise LaunchError(
                    f"The embedded PostgreSQL does not answer yet; see {self.log_file}."
                )
            time.sleep(0.02)
        return self.log_file.read_bytes()[start:].decode(errors="replace").strip()

    def _launch(self, log: Any) -> subprocess.Popen[bytes]:
        cluster = self._located()
        options = [f"--{name}={value}" for name, value in SETTINGS.items()]
        return start_child(
            [cluster.program("postgres"), "-D", cluster.folder, "-p", str(self.port), *options],
            env=cluster.environment,
            output=log,
            death_signal=signal.SIGINT,
            account=cluster.account,
            cwd=Path("/"),
        )

    def _answers(self) -> bool:
        try:
            self._connect("postgres").close()
        except psycopg2.OperationalError as error:
            if "password authentication failed" in str(error):
                raise LaunchError(
                    f"The password in {self._folder / 'superuser.password'} is not the password of "
                    f"the database in {self.cluster_folder}. Restore the right file."
                ) from None
            return False
        return True

    def _connect(self, database: str) -> Any:
        connection = psycopg2.connect(
            host=HOST,
            port=self.port,
            user=SUPERUSER,
            password=read_private(self._folder / "superuser.password") or "",
            dbname=database,
            connect_timeout=5,
        )
        connection.autocommit = True
        return connection

    def _create_role_and_database(self) -> None:
        """Create the role and its database unless they exist; an earlier start may have failed."""
        password = password_in(self._folder / "role.password")
        role, database = sql.Identifier(ROLE), sql.Identifier(DATABASE)
        with contextlib.closing(self._connect("postgres")) as connection:
            cursor = connection.cursor()
            cursor.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (ROLE,))
            verb = "ALTER" if cursor.fetchone() else "CREATE"
            plain_login = "LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS PASSWORD {}"
            statement = sql.SQL(f"{verb} ROLE {{}} {plain_login}")
            cursor.execute(statement.format(role, sql.Literal(password)))
            cursor.execute("SELECT 1 FROM pg_database WHERE datname = %s", (DATABASE,))
            if not cursor.fetchone():
                cursor.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(database, role))


def running_url(data_dir: Path) -> str | None:
    """Return the URL of the embedded server running in `data_dir`; None if none answers."""
    url = read_private(_url_file(data_dir))
    if url is None:
        return None
    try:
        psycopg2.connect(url.replace("+psycopg2", ""), connect_timeout=5).close()
    except psycopg2.OperationalError:
        return None
    return url


def _url_file(home: Path) -> Path:
    return home / "postgres" / "url"


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
