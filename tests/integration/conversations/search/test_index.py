"""The search after a crash of PostgreSQL, which empties the tables that it does not log."""

import os
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event

import pytest
from sqlalchemy import text

from backend.conversations.search import index
from backend.types import JSON
from db.session import Database
from tests.conftest import make_stack
from tests.fakes import ScriptedModel
from tests.processes import kill_process
from tests.stack import Servers, Stack


class Own:
    """A stack with a PostgreSQL that may be killed; its worker has gone with it."""

    def __init__(self, servers: Servers, stack: Stack) -> None:
        self.servers, self.stack = servers, stack

    def crash(self) -> None:
        for worker in self.stack.workers:
            kill_process(worker)
        process = self.servers.postgres.process
        assert process
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        self.servers.postgres.start()
        self.stack.wait_for(
            lambda: self.stack.client.get("/search", params={"q": "x"}).status_code == 200,
            "the API does not find the database again",
        )

    def search(self, q: str) -> tuple[int, bool]:
        """How many messages are found, and whether all were searched."""
        answer = self.stack.client.get("/search", params={"q": q, "limit": 50})
        page: JSON = answer.raise_for_status().json()
        return len(page["items"]), page["is_complete"]


@pytest.fixture
def own(model: ScriptedModel) -> Iterator[Own]:
    with TemporaryDirectory(prefix="colloquy-") as home:
        Path(home).chmod(0o711)
        with Servers(Path(home)) as servers, make_stack(servers, model, Path(home)) as stack:
            yield Own(servers, stack)


def test_after_a_crash_a_worker_makes_the_entries_again(own: Own, model: ScriptedModel) -> None:
    model.steps = [{"text": "The pelican is here."}] * 2
    own.stack.chat("Where is the first pelican?")
    own.stack.chat("Where is the second pelican?")
    assert own.search("pelican") == (4, True)

    own.crash()

    assert own.search("pelican") == (0, False)
    code, said = own.stack.run("-m", "backend.operations.integrity")
    assert code == 0, said
    assert "search index: it is incomplete since a crash of the database" in said

    own.stack.start_worker()

    own.stack.wait_for(lambda: own.search("pelican") == (4, True), "the entries do not come back")
    code, said = own.stack.run("-m", "backend.operations.integrity")
    assert (code, "search index" in said) == (0, False), said


def test_batches_go_on_where_the_last_one_ended_beside_new_messages(
    own: Own, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "BATCH", 3)
    model.steps = [{"text": "A heron."}] * 6
    for number in range(5):
        own.stack.chat(f"Heron number {number}?")
    own.crash()
    with closing(Database(own.stack.database_url)) as database:
        with database.transaction() as session:
            assert index.add_batch(session)
        with database.transaction() as one, database.transaction() as other:
            assert index.add_batch(one)
            assert not index.add_batch(other)  # one at a time
        with database.transaction() as session:
            session.execute(_SAY_MORE)
        assert own.search("stork") == (5, False)

        index.recreate_entries(database, Event())

        with database.transaction() as session:
            assert not index.add_batch(session)
            assert session.scalar(_UNKNOWN) == 0
    assert own.search("heron") == (10, True)
    assert own.search("stork") == (5, True)


_SAY_MORE = text(
    """INSERT INTO display_messages
         (conversation_id, position, message_type, content_type, status, content)
       SELECT conversation_id, 100, 'user', 'text', 'completed', '{"text": "A stork"}'
       FROM display_messages WHERE content ->> 'text' LIKE 'Heron%'"""
)
_UNKNOWN = text(
    """SELECT count(*) FROM display_messages
       LEFT JOIN search_entries USING (conversation_id, position) WHERE words IS NULL"""
)
