"""A PostgreSQL that replays its log for long is not stopped: it would begin again, without end."""

import contextlib
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import psycopg2
import pytest

from launch.servers import embedded
from launch.servers.postgres import EmbeddedPostgres

RESTORE = "while [ -e {hold} ]; do sleep 0.05; done; false"


@pytest.fixture
def server() -> Iterator[EmbeddedPostgres]:
    with tempfile.TemporaryDirectory(prefix="colloquy-test-") as folder:
        Path(folder).chmod(0o711)
        server = EmbeddedPostgres(Path(folder))
        server.start()
        yield server
        server.stop()


@pytest.mark.chaos
def test_a_recovery_may_take_longer_than_any_other_start(server, monkeypatch):
    execute(server, "CREATE TABLE kept AS SELECT 1 AS row")
    server.stop()
    hold = server.cluster_folder / "hold"
    (server.cluster_folder / "recovery.signal").touch()
    hold.touch()
    with open(server.cluster_folder / "postgresql.auto.conf", "a") as settings:
        settings.write(f"hot_standby = off\nrestore_command = '{RESTORE.format(hold=hold)}'\n")
    clock = SimpleNamespace(hours=0, monotonic=lambda: 3_600.0 * clock.hours, sleep=time.sleep)
    monkeypatch.setattr(embedded, "time", clock)

    def an_hour_later() -> None:
        clock.hours += server._is_recovering
        if clock.hours == 3:
            hold.unlink(missing_ok=True)

    server.start(an_hour_later)

    assert execute(server, "SELECT row FROM kept") == [(1,)]


def execute(server: EmbeddedPostgres, statement: str) -> list[tuple]:
    url = server.url.replace("+psycopg2", "")
    with contextlib.closing(psycopg2.connect(url)) as connection:
        connection.autocommit = True
        cursor = connection.cursor()
        cursor.execute(statement)
        return cursor.fetchall() if cursor.description else []
