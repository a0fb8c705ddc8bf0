"""Connections and transactions: the only place that commits."""

import select
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

import orjson
import psycopg2
from psycopg2.errors import FeatureNotSupported, ReadOnlySqlTransaction
from sqlalchemy import Connection, Engine, ExceptionContext, create_engine, event, make_url, text
from sqlalchemy.exc import DisconnectionError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm import Session, SessionTransaction, sessionmaker
from sqlalchemy.pool import QueuePool

from db.live import connection_name
from db.plain_errors import keep_values_out
from db.roles import EVERYTHING, DatabaseRole, enter_role, principals_text
from db.schema import check_pooling, check_schema, find_newer
from db.server_order import ServerOrder
from db.watch import Watch

DRIVER = "postgresql+psycopg2"
CONNECT_SECONDS = 3
STATEMENT_SECONDS = 60
IDLE_SECONDS = 10  # a process frozen in a transaction must not hold its locks forever
CUT_OFF_SECONDS = 10  # the system would retransmit for a quarter of an hour
# Of each connection, unless DATABASE_URL says otherwise.
PARAMETERS = {
    "connect_timeout": CONNECT_SECONDS,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    # Keepalives are not sent while a query is on its way to an unreachable server.
    "tcp_user_timeout": CUT_OFF_SECONDS * 1000,
}
# Set once it is open: poolers accept no options at the start, and those of DATABASE_URL remain.
PREPARE = (
    f"SELECT set_config('statement_timeout', '{STATEMENT_SECONDS}s', false),"
    f" set_config('idle_in_transaction_session_timeout', '{IDLE_SECONDS}s', false),"
    " set_config('timezone', 'UTC', false)"
)
SEE_ALL = f"set_config('app.principals', '{principals_text([EVERYTHING])}', false)"
ACT_FOR = "SELECT set_config('app.principals', %(principals)s, true)"
PAUSE_SECONDS = 0.2
LIMITED = "limited"  # in a session's info: its transactions act for somebody
AWAY = (OperationalError, InterfaceError, PoolTimeout)  # raised while it does not answer
# Reading the migrations' table fails if there is none.
HAS_ROLE = text("SELECT current_user <> session_user")
IS_READ_ONLY = text(
    "SELECT pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean"
    " FROM alembic_version"
)

# What the server, the database and the role allow, the fewest of them.
ROOM = text(
    "SELECT least(current_setting('max_connections')::int"
    " - current_setting('superuser_reserved_connections')::int,"
    " nullif(datconnlimit, -1), nullif(rolconnlimit, -1))"
    " FROM pg_database, pg_roles WHERE datname = current_database() AND rolname = session_user"
)

T = TypeVar("T")
Acting = Callable[[], Sequence[str]]  # for which principals the caller's transaction acts


def normalise_url(url: str) -> str:
    """Return the URL with our driver, replacing postgres:// and postgresql://."""
    for prefix in ("postgres://", "postgresql://"):
        if url.startswith(prefix):
            url = f"{DRIVER}://{url[len(prefix) :]}"
    return url


def dump_json(value: Any) -> str:
    """Write a value as JSON text for a JSONB column."""
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()


class ReadOnlyDatabase(OperationalError):
    """PostgreSQL accepts no writes: it is a standby after a failover, or was set to read-only."""

    code = ""  # no link to SQLAlchemy's page on these errors, which does not cover this one


def _tell_read_only(context: ExceptionContext) -> ReadOnlyDatabase | None:
    """Return the error that callers wait out, also for a standby: another server may answer next.

    A write in a transaction that is read-only for us stays the error that it is.
    """
    found, connection = context.original_exception, context.connection
    # Where a connection begins with READ WRITE, since the last one to use it only read.
    is_standby = isinstance(found, FeatureNotSupported) and "during recovery" in str(found)
    if not (isinstance(found, ReadOnlySqlTransaction) or is_standby) or connection is None:
        return None
    if connection.get_execution_options().get("postgresql_readonly"):
        return None
    context.is_disconnect = True
    return ReadOnlyDatabase(context.statement, None, found, hide_parameters=True)


def act_for(session: Session, principals: Sequence[str]) -> None:
    """Have the rest of a transaction act for these principals, where others would not see all."""
    if session.info.get(LIMITED):
        _tell(session.connection(), principals)


def _tell(connection: Connection, principals: Sequence[str]) -> None:
    connection.exec_driver_sql(ACT_FOR, {"principals": principals_text(principals)})


def _look_for_end(connection: Any, *_: Any) -> None:
    """Refuse a pooled connection that the server has closed, so that the pool opens another.

    A closed connection is readable; unlike a ping, checking this needs no round trip.
    """
    arrived = select.poll()
    arrived.register(connection.fileno(), select.POLLIN)
    if arrived.poll(0):
        raise DisconnectionError("the server has closed this connection")


class Database:
    """A pool of connections to one PostgreSQL; threads share it, processes do not.

    `role`: as whom the process works, the owner of the tables if it is not told. `acting`: for whom
    each transaction acts; it then sees only what these principals reach, otherwise everything.
    """

    def __init__(
        self,
        url: str,
        *,
        pool_size: int = 10,
        max_overflow: int = 20,
        pool_timeout: float = CONNECT_SECONDS,
        role: DatabaseRole | None = None,
        acting: Acting | None = None,
    ) -> None:
        self._url, self._role, self._acting = url, role, acting
        self.kept = pool_size  # connections, once opened
        parsed = make_url(normalise_url(url))
        self._parameters: dict[str, Any] = {
            name: value
            for name, value in {**PARAMETERS, "application_name": connection_name(role)}.items()
            if name not in parsed.query
        }
        self.engine: Engine = create_engine(
            parsed,
            pool_size=pool_size,
            max_overflow=max_overflow,
            pool_timeout=pool_timeout,
            json_serializer=dump_json,
            json_deserializer=orjson.loads,
            connect_args=self._parameters,
            use_native_hstore=False,  # it would be looked for on each connection
            hide_parameters=True,
        )
        keep_values_out(self.engine)
        self._order = ServerOrder()
        self._watch = Watch(self._connect_to_each, self._order.reached)
        # In this order: a server that accepts no writes answers.
        event.listen(self.engine, "handle_error", self._look_for_loss)
        event.listen(self.engine, "handle_error", _tell_read_only, retval=True)
        event.listen(self.engine, "checkout", _look_for_end)
        event.listen(self.engine, "checkout", lambda *_: self._watch.used())
        event.listen(self.engine, "do_connect", self._connect)
        event.listen(self.engine, "close", lambda connection, _: self._watch.closed(connection))
        self._sessions = sessionmaker(
            self.engine,
            expire_on_commit=False,
            autoflush=False,
            info={LIMITED: acting is not None},
        )
        if acting is not None:
            event.listen(self._sessions, "after_begin", self._act)

    def aside(self, connections: int) -> "Database":
        """Return a separate pool to the same database, for work that must not wait for others."""
        return Database(
            self._url,
            pool_size=connections,
            max_overflow=0,
            role=self._role,
            acting=self._acting,
        )

    @contextmanager
    def transaction(self) -> Iterator[Session]:
        """Open a transaction, committed at the end of the block and rolled back if it raises."""
        self._watch.check()
        with self._sessions() as session, session.begin():
            yield session

    def retry_transaction(self, write: Callable[[Session], T], seconds: float) -> T:
        """Run a write in a transaction and return its result; retry while the database is away.

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

    @contextmanager
    def read_snapshot(self) -> Iterator[Session]:
        """Open a read-only transaction in which all statements see the same moment."""
        self._watch.check()
        with self._sessions() as session:
            options = {"postgresql_readonly": True, "isolation_level": "REPEATABLE READ"}
            session.connection(execution_options=options)
            yield session

    def ping(self) -> None:
        """Raise if the database does not answer, is not migrated, or accepts no writes."""
        with self.read() as session:
            if session.scalar(IS_READ_ONLY):
                raise ReadOnlyDatabase(None, None, ReadOnlySqlTransaction("it accepts no writes"))

    def check_schema(self) -> None:
        """Raise UnusableDatabase unless its schema and its connections are ours, or one of AWAY."""
        with self.read() as session:
            check_schema(session.connection())
        with self.engine.connect() as one, self.engine.connect() as other:
            check_pooling(one, other)

    def find_newer_schema(self) -> str | None:
        """Return the number of its schema if this version does not know that yet."""
        with self.read() as session:
            return find_newer(session.connection())

    def has_own_role(self) -> bool:
        """Return whether the process works as its own role, to which row-level security applies."""
        with self.read() as session:
            return bool(session.scalar(HAS_ROLE))

    def count_room(self) -> int:
        """Return how many connections of our role the database accepts, from all processes."""
        with self.read() as session:
            return int(session.scalar(ROOM) or 0)

    @property
    def in_use(self) -> int:
        """How many connections are in use now."""
        pool = self.engine.pool
        return pool.checkedout() if isinstance(pool, QueuePool) else 0

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()
        self._watch.close()

    def _connect(self, dialect: Any, record: Any, args: Any, options: Any) -> Any:
        """Open a connection for the pool; if that fails, have the watch check the database."""
        self._watch.check()
        try:
            connection = psycopg2.connect(*args, **self._order.in_order(options))
        except psycopg2.OperationalError as error:
            self._watch.suspect(error)
            raise
        self._order.reached(connection)
        self._watch.opened(connection)
        try:
            self._prepare(connection)
        except psycopg2.Error:
            self._watch.closed(connection)
            connection.close()
            raise
        return connection

    def _look_for_loss(self, context: ExceptionContext) -> None:
        """Tell the watch of a lost connection."""
        if context.is_disconnect:
            self._watch.suspect(context.original_exception)

    def _prepare(self, connection: Any) -> None:
        """Set our parameters on a new connection, and take on the process's role."""
        settings = [PREPARE]
        if self._acting is None:
            settings.append(SEE_ALL)
        if self._role is not None:
            settings.append(enter_role(self._role, connection.server_version))
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute(", ".join(settings))
        connection.autocommit = False

    def _act(self, _: Session, transaction: SessionTransaction, connection: Connection) -> None:
        """Tell a transaction that begins for whom it acts."""
        if self._acting is not None and not transaction.nested:
            _tell(connection, self._acting())

    def _connect_to_each(self) -> Iterator[Callable[[], Any]]:
        """Give for each server what begins a connection to it, without waiting for it."""
        args, options = self.engine.dialect.create_connect_args(self.engine.url)
        for single in self._order.each({**options, **self._parameters}):
            yield partial(psycopg2.connect, *args, **single, async_=1)
