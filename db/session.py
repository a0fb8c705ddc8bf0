"""Connections and transactions: the only place that commits."""

import select
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import orjson
import psycopg2
from sqlalchemy import Engine, create_engine, event, make_url, text
from sqlalchemy.exc import DisconnectionError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm import Session, sessionmaker

from db.plain_errors import keep_values_out
from db.watch import Watch

DRIVER = "postgresql+psycopg2"
CONNECT_SECONDS = 3
STATEMENT_SECONDS = 60
IDLE_SECONDS = 10  # a process frozen in a transaction must not hold its locks forever
CUT_OFF_SECONDS = 10  # the system would retransmit for a quarter of an hour
PAUSE_SECONDS = 0.2
AWAY = (OperationalError, InterfaceError, PoolTimeout)  # raised while it does not answer

T = TypeVar("T")


def normalise_url(url: str) -> str:
    """Return the URL with our driver, replacing postgres:// and postgresql://."""
    for prefix in ("postgres://", "postgresql://"):
        if url.startswith(prefix):
            url = f"{DRIVER}://{url[len(prefix) :]}"
    return url


def dump_json(value: Any) -> str:
    """Write a value as JSON text for a JSONB column."""
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()


def _look_for_end(connection: Any, *_: Any) -> None:
    """Refuse a pooled connection that the server has closed, so that the pool opens another.

    A closed connection is readable; unlike a ping, checking this needs no round trip.
    """
    arrived = select.poll()
    arrived.register(connection.fileno(), select.POLLIN)
    if arrived.poll(0):
        raise DisconnectionError("the server has closed this connection")


class Database:
    """A pool of connections to one PostgreSQL; threads share it, processes do not."""

    def __init__(
        self,
        url: str,
        *,
        pool_size: int = 10,
        max_overflow: int = 20,
        pool_timeout: float = CONNECT_SECONDS,
    ) -> None:
        self._url = url
        self._options: dict[str, Any] = {
            "connect_timeout": CONNECT_SECONDS,
            "application_name": "colloquy",
            "options": f"-c statement_timeout={STATEMENT_SECONDS * 1000} -c timezone=UTC"
            f" -c idle_in_transaction_session_timeout={IDLE_SECONDS * 1000}",
            "keepalives_idle": 10,
            "keepalives_interval": 5,
            "keepalives_count": 3,
            # Keepalives are not sent while a query is on its way to an unreachable server.
            "tcp_user_timeout": CUT_OFF_SECONDS * 1000,
        }
        self.engine: Engine = create_engine(
            make_url(normalise_url(url)),
            pool_size=pool_size,
            max_overflow=max_overflow,
            pool_timeout=pool_timeout,
            json_serializer=dump_json,
            json_deserializer=orjson.loads,
            connect_args=self._options,
            hide_parameters=True,
        )
        keep_values_out(self.engine)
        self._watch = Watch(self._connect_without_waiting)
        event.listen(self.engine, "checkout", _look_for_end)
        event.listen(self.engine, "do_connect", self._connect)
        event.listen(self.engine, "connect", lambda connection, _: self._watch.opened(connection))
        event.listen(self.engine, "close", lambda connection, _: self._watch.closed(connection))
        self._sessions = sessionmaker(self.engine, expire_on_commit=False, autoflush=False)

    def aside(self, connections: int) -> "Database":
        """Return a separate pool to the same database, for work that must not wait for others."""
        return Database(self._url, pool_size=connections, max_overflow=0)

    @contextmanager
    def transaction(self) -> Iterator[Session]:
        """Open a transaction, committed at the end of the block and rolled back if it raises."""
        self._watch.check()
        with self._sessions() as session, session.begin():
            yield session

    def retry_transaction(self, write: Callable[[Session], T], seconds: float) -> T:
        """Run a write in a transaction, retrying while the database is briefly unavailable.

        A commit may have succeeded although its answer was lost, so the write must refuse to be
        done twice. Raise one of AWAY when the database has not answered for `seconds`.
        """
        deadline = time.monotonic() + seconds
        while True:
            try:
                with self.transaction() as session:
                    return write(session)
            except AWAY:
                if time.monotonic() > deadline:
                    raise
            time.sleep(PAUSE_SECONDS)

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Open a read-only transaction."""
        self._watch.check()
        with self._sessions() as session:
            session.connection(execution_options={"postgresql_readonly": True})
            yield session

    def ping(self) -> None:
        """Raise if the database does not answer or is not migrated."""
        with self.read() as session:
            session.execute(text("SELECT version_num FROM alembic_version"))

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()
        self._watch.close()

    def _connect(self, dialect: Any, record: Any, args: Any, options: Any) -> Any:
        """Open a connection for the pool; if that fails, have the watch check the database."""
        self._watch.check()
        try:
            return psycopg2.connect(*args, **options)
        except psycopg2.OperationalError:
            self._watch.suspect()
            raise

    def _connect_without_waiting(self) -> Any:
        args, options = self.engine.dialect.create_connect_args(self.engine.url)
        return psycopg2.connect(*args, **{**options, **self._options}, async_=1)
