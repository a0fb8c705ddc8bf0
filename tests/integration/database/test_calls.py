"""Calls that are a transaction of their own, and statements that the server plans once."""

from collections.abc import Iterator

import pytest
from sqlalchemy import text

from db.session import Database, Prepared
from tests.stack import Servers

ADD = Prepared("add_row", "int", "INSERT INTO numbers VALUES ($1)", "EXECUTE add_row (%(n)s)")
COUNT = text("SELECT count(*) FROM numbers")


@pytest.fixture
def database(servers: Servers) -> Iterator[Database]:
    one = Database(servers.new_database(), pool_size=1, max_overflow=0)
    with one.transaction() as session:
        session.execute(text("CREATE TABLE numbers (n int PRIMARY KEY)"))
    yield one
    one.close()


def count(database: Database) -> int:
    with database.read() as session:
        return session.execute(COUNT).scalar_one()


def test_a_call_at_once_is_kept_whatever_follows(database: Database) -> None:
    with pytest.raises(ZeroDivisionError), database.at_once() as session:
        ADD.rows(session, {"n": 1})
        raise ZeroDivisionError

    assert count(database) == 1


def test_a_transaction_after_a_call_at_once_is_rolled_back_as_ever(database: Database) -> None:
    with database.at_once() as session:
        ADD.rows(session, {"n": 1})

    with pytest.raises(ZeroDivisionError), database.transaction() as session:
        ADD.rows(session, {"n": 2})
        raise ZeroDivisionError

    assert count(database) == 1


def test_a_refused_call_leaves_the_connection_usable(database: Database) -> None:
    for _ in range(2):
        with pytest.raises(Exception, match="UniqueViolation"), database.at_once() as session:
            ADD.rows(session, {"n": 1})
            ADD.rows(session, {"n": 1})
        with database.transaction() as session:
            session.execute(text("DELETE FROM numbers"))

    assert count(database) == 0
