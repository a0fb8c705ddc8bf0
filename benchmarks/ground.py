"""The measurement environment: private servers, a new database per case, durability on."""

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import create_engine, event, make_url, text
from sqlalchemy.engine import Engine

from tests.stack import Servers, Stack

# A checkpoint or vacuum during a measurement would randomly add its cost to one case.
ADMIN = (
    "ALTER SYSTEM SET autovacuum_naptime = '1h'",
    "ALTER SYSTEM SET checkpoint_timeout = '1h'",
    "ALTER SYSTEM SET max_wal_size = '8GB'",
    "SELECT pg_reload_conf()",
)


class Ground:
    """PostgreSQL and Redis for one claim, with access to the write-ahead log position."""

    def __init__(self, servers: Servers, home: Path) -> None:
        self.home = home
        self.redis_url = servers.new_redis()
        self._servers = servers
        self._admin: Engine = create_engine(
            servers.postgres.superuser_url, isolation_level="AUTOCOMMIT"
        )
        for statement in ADMIN:
            self._run(statement)
        assert self._run("SHOW fsync") == "on"
        assert self._run("SHOW synchronous_commit") == "on"
        assert self._run("SHOW full_page_writes") == "on"

    @property
    def server_pids(self) -> tuple[int, int]:
        """The main processes of PostgreSQL and the newest Redis, which may have children."""
        postgres, redis = self._servers.postgres.process, self._servers.newest_redis.process
        assert postgres and redis
        return postgres.pid, redis.pid

    def new_database(self) -> str:
        """Create an empty database with Colloquy's tables; return its URL."""
        return self._servers.new_database()

    def checkpoint(self) -> None:
        """Write out all pages, so that every measurement starts from the same state."""
        self._run("CHECKPOINT")

    def wal_position(self) -> int:
        """Return the bytes of write-ahead log written since the cluster was created."""
        return int(self._run("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')"))

    def analyze(self, database_url: str) -> None:
        """Update the planner's statistics of a database that was filled in bulk."""
        url = make_url(self._servers.postgres.superuser_url)
        engine = create_engine(
            url.set(database=make_url(database_url).database), isolation_level="AUTOCOMMIT"
        )
        with engine.connect() as connection:
            connection.execute(text("VACUUM ANALYZE"))
        engine.dispose()

    def stack(self, model_url: str, **environment: str) -> Stack:
        """Return an API and worker, not yet started, with a new database and a scripted model.

        It is an installation of its own: what belongs to another one would be refused.
        """
        redis_url = self._servers.new_redis()
        stack = Stack(
            self.new_database(),
            redis_url,
            Path(tempfile.mkdtemp(dir=self.home)),
            OPENAI_BASE_URL=model_url,
            OPENAI_API_KEY="test",
            MODEL="scripted",
            **environment,
        )
        stack.ends_with_it.callback(self._servers.stop_redis, redis_url)
        return stack

    def close(self) -> None:
        """Close the connection."""
        self._admin.dispose()

    def _run(self, statement: str) -> str:
        with self._admin.connect() as connection:
            result = connection.execute(text(statement))
            return str(result.scalar()) if result.returns_rows else ""


class DatabaseClock:
    """The seconds that an engine's statements took, until their rows arrived."""

    def __init__(self, engine: Engine) -> None:
        self.seconds = 0.0
        self._started = 0.0
        event.listen(engine, "before_cursor_execute", self._start)
        event.listen(engine, "after_cursor_execute", self._stop)

    def _start(self, *_: object) -> None:
        self._started = time.perf_counter()

    def _stop(self, *_: object) -> None:
        self.seconds += time.perf_counter() - self._started


@contextmanager
def ground() -> Iterator[Ground]:
    """Start the servers for the block, and remove them afterwards."""
    with tempfile.TemporaryDirectory(prefix="colloquy-bench-") as folder:
        home = Path(folder)
        home.chmod(0o711)  # otherwise PostgreSQL could not enter it when started by root
        with Servers(home, settings={}) as servers:
            measured = Ground(servers, home)
            try:
                yield measured
            finally:
                measured.close()


def plain_url(database_url: str) -> str:
    """Return the URL in the form that psycopg 3 accepts."""
    return database_url.replace("postgresql+psycopg2://", "postgresql://")
