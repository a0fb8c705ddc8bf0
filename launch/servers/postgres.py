"""Run a private PostgreSQL in DATA_DIR: start it, recover it after a crash, stop it."""

import contextlib
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import psycopg2
from psycopg2 import sql

from launch.errors import LaunchError
from launch.private_files import password_in, read_private
from launch.processes.children import start_child
from launch.processes.orphans import wait_for_orphan
from launch.servers.cluster import SUPERUSER, Cluster, create_cluster, locate_cluster
from launch.servers.embedded import HOST, EmbeddedServer, recorded_url
from launch.servers.leftovers import note_data_dir

ROLE = "colloquy"
PART_ROLES = (f"{ROLE}_api", f"{ROLE}_worker")  # as which the parts work: `db.roles`
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

# Begins what it answers while it replays its log after a crash, which can take minutes.
NOT_NOW = "the database system is"


class EmbeddedPostgres(EmbeddedServer):
    """A PostgreSQL server; clients use a role without special privileges."""

    name = "postgres"
    title = "PostgreSQL"
    kind = "database"
    start_seconds = 60.0
    port_taken = ("Address already in use",)
    # The backends of a killed server hold its shared memory for a moment.
    passing = ("shared memory block", "is still in use", "lock file")
    # Otherwise another server that holds the port would be asked, and might never answer.
    first_pause = 0.05
    # SIGINT disconnects clients and stops cleanly; after SIGQUIT the log has to be replayed.
    stop_signals = (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL)
    stop_seconds = 30.0

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self._cluster: Cluster | None = None
        self._refusal = ""

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
    def _folders(self) -> Sequence[Path]:
        return (self._folder, self.cluster_folder.parent)

    def _prepare(self) -> None:
        create_cluster(self._located(), self._folder / "superuser.password")
        cluster = self._located().folder
        note_data_dir(cluster, self.home)
        wait_for_orphan(cluster / "postmaster.pid", mark=str(cluster))

    def _complete(self) -> None:
        self._create_roles_and_database()

    def _located(self) -> Cluster:
        if self._cluster is None:
            self._cluster = locate_cluster(self.home)
        return self._cluster

    def _url_for(self, user: str, password_file: Path, database: str) -> str:
        password = read_private(password_file)
        return f"postgresql+psycopg2://{user}:{password}@{HOST}:{self.port}/{database}"

    def _launch(self, log: BinaryIO) -> subprocess.Popen[bytes]:
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
        self._refusal = ""
        try:
            self._connect("postgres").close()
        except psycopg2.OperationalError as error:
            self._refusal = str(error)
            if "password authentication failed" in self._refusal:
                raise LaunchError(
                    f"The password in {self._folder / 'superuser.password'} is not the password of "
                    f"the database in {self.cluster_folder}. Restore the right file."
                ) from None
            return False
        return True

    @property
    def _is_recovering(self) -> bool:
        return NOT_NOW in self._refusal

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

    def _create_roles_and_database(self) -> None:
        """Create the roles and the database unless they exist; an earlier start may have failed."""
        password = password_in(self._folder / "role.password")
        role, database = sql.Identifier(ROLE), sql.Identifier(DATABASE)
        with contextlib.closing(self._connect("postgres")) as connection:
            cursor = connection.cursor()
            cursor.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (ROLE,))
            verb = "ALTER" if cursor.fetchone() else "CREATE"
            plain_login = "LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS PASSWORD {}"
            statement = sql.SQL(f"{verb} ROLE {{}} {plain_login}")
            cursor.execute(statement.format(role, sql.Literal(password)))
            for name in PART_ROLES:
                part = sql.Identifier(name)
                cursor.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (name,))
                if not cursor.fetchone():
                    cursor.execute(sql.SQL("CREATE ROLE {} NOLOGIN").format(part))
                cursor.execute(sql.SQL("GRANT {} TO {}").format(part, role))
            cursor.execute("SELECT 1 FROM pg_database WHERE datname = %s", (DATABASE,))
            if not cursor.fetchone():
                cursor.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(database, role))


def running_url(data_dir: Path) -> str | None:
    """Return the URL of the embedded server running in `data_dir`; None if none answers."""
    url = recorded_url(data_dir, EmbeddedPostgres.name)
    if url is None:
        return None
    try:
        psycopg2.connect(url.replace("+psycopg2", ""), connect_timeout=5).close()
    except psycopg2.OperationalError:
        return None
    return url
