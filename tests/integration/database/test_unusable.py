"""A database that this version cannot use is named in a sentence, wherever Colloquy is started."""

import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.exc import DBAPIError, InternalError

from backend.api.__main__ import main as start_api
from backend.operations.integrity.__main__ import main as check_integrity
from db.migrate import LOCK
from db.migrate import main as migrate
from db.migrate import migrate as migrate_database
from db.schema import MIGRATIONS, REVISIONS
from db.session import AWAY, Database, ReadOnlyDatabase
from tests.stack import Servers
from worker.__main__ import main as start_worker

STARTS = {"API": start_api, "worker": start_worker, "integrity": check_integrity}
WAITS_LONG = text(  # by the server's own clock: longer than the limits
    "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    " AND query_start < clock_timestamp() - interval '1.5 s'"
)
NOBODY_THERE = "postgresql://u:canary@127.0.0.1:1/d"
CANARY = "canary-4711"


@pytest.fixture
def said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[[Callable[[], int], str], str]:
    """Return a function that starts a part with a database and returns the error it ends with."""

    def end(start: Callable[[], int], url: str) -> str:
        monkeypatch.setenv("DATABASE_URL", url)
        monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1/0")
        monkeypatch.setenv("DATA_DIR", str(tmp_path))
        monkeypatch.setattr("sys.argv", ["program"])
        assert start() in (1, 2)
        sentence = capsys.readouterr().err
        assert sentence.count("\n") == 1
        return sentence

    return end


def run_as_superuser(servers: Servers, *statements: str, database: str | None = None) -> None:
    url = make_url(servers.postgres.superuser_url)
    engine = create_engine(url.set(database=database or url.database), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()


def at_revision(servers: Servers, revision: str) -> str:
    url = servers.new_database()
    statement = f"UPDATE alembic_version SET version_num = '{revision}'"
    run_as_superuser(servers, statement, database=make_url(url).database)
    return url


def empty_database(servers: Servers, options: str = "") -> str:
    owner, name = make_url(servers.postgres.url), f"empty_{uuid4().hex[:10]}"
    run_as_superuser(servers, f'CREATE DATABASE {name} OWNER "{owner.username}" {options}')
    return owner.set(database=name).render_as_string(hide_password=False)


def test_the_newest_schema_is_that_of_the_newest_migration() -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))

    assert ScriptDirectory.from_config(config).get_current_head() == REVISIONS[-1]


@pytest.mark.parametrize("part", STARTS)
def test_a_database_that_is_not_migrated_needs_make_migrate(servers: Servers, said, part) -> None:
    sentence = said(STARTS[part], empty_database(servers))

    assert "has no schema yet" in sentence
    assert "Run `make migrate`" in sentence


@pytest.mark.parametrize("start", [start_api, migrate])
def test_a_newer_schema_needs_the_newer_version(servers: Servers, said, start) -> None:
    assert "was migrated by a newer version" in said(start, at_revision(servers, "9999"))


@pytest.mark.parametrize("start", [start_api, check_integrity, migrate])
def test_a_database_that_does_not_answer_is_one_sentence(said, start) -> None:
    sentence = said(start, NOBODY_THERE)

    assert "The database at DATABASE_URL does not answer: " in sentence
    assert "canary" not in sentence


def test_an_encoding_that_cannot_hold_every_text_is_refused(servers: Servers, said) -> None:
    options = "ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0"

    sentence = said(migrate, empty_database(servers, options))

    assert "has the encoding LATIN1" in sentence


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ("default_transaction_read_only = on", "cannot execute CREATE TABLE in a read-only"),
        ("search_path = ''", "no schema"),
    ],
)
def test_a_database_that_refuses_tables_says_so(servers: Servers, said, setting, reason) -> None:
    url = empty_database(servers)
    run_as_superuser(servers, f"ALTER DATABASE {make_url(url).database} SET {setting}")

    assert f"refuses to be migrated: {reason}" in said(migrate, url)


def test_a_database_that_accepts_no_writes_is_away_for_those_who_write(servers: Servers) -> None:
    url = servers.new_database()
    statement = f"ALTER DATABASE {make_url(url).database} SET default_transaction_read_only = on"
    run_as_superuser(servers, statement)
    with closing(Database(url)) as database:
        with pytest.raises(ReadOnlyDatabase) as raised, database.transaction() as session:
            session.execute(text("DELETE FROM turns"))
        with pytest.raises(ReadOnlyDatabase):
            database.ping()
        with database.read() as session:
            assert session.scalar(text("SELECT count(*) FROM turns")) == 0

    assert isinstance(raised.value, AWAY)
    assert "cannot execute DELETE in a read-only transaction" in str(raised.value)


def test_a_write_where_we_only_read_is_an_error_of_ours(servers: Servers) -> None:
    with (
        closing(Database(servers.new_database())) as database,
        pytest.raises(InternalError, match="read-only transaction"),
        database.read() as session,
    ):
        session.execute(text("DELETE FROM turns"))


def test_a_schema_of_another_program_is_not_called_a_newer_version(servers: Servers, said) -> None:
    sentence = said(migrate, at_revision(servers, "a1b2c3d4e5f6"))

    assert "belongs to another program" in sentence
    assert "newer" not in sentence


@pytest.mark.parametrize(
    "statement",
    ["CREATE TABLE turns (id int)", "CREATE VIEW agent_states AS SELECT 1"],
)
def test_a_table_of_another_program_is_named(servers: Servers, said, statement) -> None:
    url = empty_database(servers)
    run_as_superuser(servers, statement, database=make_url(url).database)

    assert "refuses to be migrated: relation" in said(migrate, url)


@pytest.mark.parametrize("start", [start_api, start_worker, check_integrity])
def test_a_role_without_rights_is_told_so(servers: Servers, said, start) -> None:
    url = make_url(servers.new_database())
    role = f"stranger_{uuid4().hex[:10]}"
    run_as_superuser(servers, f"CREATE ROLE {role} LOGIN PASSWORD 'canary'")
    stranger = url.set(username=role, password="canary")

    sentence = said(start, stranger.render_as_string(hide_password=False))

    assert "permission denied for table alembic_version" in sentence


def test_a_failing_migration_says_no_value(servers: Servers) -> None:
    url = empty_database(servers)
    refuse = (
        "CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS"
        f" $$ BEGIN RAISE EXCEPTION 'refused' USING DETAIL = '{CANARY}'; END $$"
    )
    at_each = "CREATE EVENT TRIGGER refuses ON ddl_command_start EXECUTE FUNCTION refuse()"
    run_as_superuser(servers, refuse, at_each, database=make_url(url).database)

    with pytest.raises(DBAPIError) as caught:
        migrate_database(url)

    assert CANARY not in "".join(traceback.format_exception(caught.value))


def test_limits_of_the_role_do_not_end_a_migration(servers: Servers) -> None:
    url = empty_database(servers)
    name = make_url(url).database
    limits = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")
    run_as_superuser(servers, *(f"ALTER DATABASE {name} SET {limit} = '1s'" for limit in limits))
    super_url = make_url(servers.postgres.superuser_url).set(database=name)
    engine = create_engine(super_url, isolation_level="AUTOCOMMIT")
    with ThreadPoolExecutor(1) as pool, engine.connect() as other:
        other.execute(text("SELECT pg_advisory_lock(:key)"), {"key": LOCK})
        migration = pool.submit(migrate_database, url)
        while not migration.done() and not other.scalar(WAITS_LONG):
            pass
        other.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": LOCK})
        migration.result()
    engine.dispose()

    with closing(Database(url)) as database:
        database.check_schema()
