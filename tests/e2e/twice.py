"""What is clicked again, while the first click is worked on."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Locator, expect
from sqlalchemy import create_engine, text

from tests.e2e.desk import Desk
from tests.stack import Stack

WRITING = "EXCLUSIVE"
ALL = "ACCESS EXCLUSIVE"
ON_ITS_WAY_MS = 300


@contextmanager
def held(stack: Stack, table: str, mode: str = WRITING) -> Iterator[None]:
    """Let everybody wait who writes to a table, or does anything with it."""
    engine = create_engine(stack.database_url)
    with engine.begin() as connection:
        connection.execute(text(f"LOCK TABLE {table} IN {mode} MODE"))
        yield
    engine.dispose()


def is_waited(stack: Stack) -> bool:
    """Whether somebody waits for what is held."""
    (row,) = stack.query(
        "SELECT count(*) FROM pg_stat_activity"
        " WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
    return bool(row.count)


def click_twice(stack: Stack, button: Locator, table: str, mode: str = WRITING) -> None:
    """Click, and click again while the first click waits for a table."""
    expect(button).to_be_enabled()
    with held(stack, table, mode):
        button.click()
        stack.wait_for(lambda: is_waited(stack), "the click does not arrive")
        button.click(force=True)  # also where it says that it cannot be clicked now
        button.page.wait_for_timeout(ON_ITS_WAY_MS)


def button(desk: Desk, name: str) -> Locator:
    """A button of exactly this name, anywhere on the page."""
    return desk.page.get_by_role("button", name=name, exact=True)


def count(stack: Stack, of: str) -> int:
    """How many rows there are of this."""
    (row,) = stack.query(f"SELECT count(*) FROM {of}")
    return int(row.count)
