"""Several who want a turn at one moment: one writes, the others are told or wait their time."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from backend.auth.scope import LOCAL_USER
from backend.conversations import service as conversations
from backend.conversations.service import Image
from backend.conversations.state.writer import create_state
from backend.errors.base import AppError
from backend.errors.turns import LeaseLost
from backend.tools.journal import CallKey
from backend.tools.registry import Effect
from backend.turns.run import runner
from backend.turns.run.claim import Claim, claim_turn
from backend.turns.run.journal import TurnJournal
from backend.turns.run.lease import LeaseKeeper
from backend.types import JSON
from colloquy_kit.messages.state import empty_state
from db.models.turns.turn import TurnRow
from db.session import Database
from tests.stack import Servers

AT_ONCE = 10
KEY = CallKey("message", 0)
CALL = {"id": "c", "type": "function", "function": {"name": "act", "arguments": "{}"}}
SECONDS = 20


@pytest.fixture(scope="module")
def database(servers: Servers) -> Iterator[Database]:
    with closing(Database(servers.new_database())) as opened:
        yield opened


def make_turn(database: Database, *messages: JSON) -> UUID:
    """A queued turn of a conversation of its own, whose model reads `messages`."""
    with database.transaction() as session:
        made = conversations.create(session, LOCAL_USER, Image(None, "d", {"name": "d"}), None)
        create_state(session, made, {**empty_state(), "messages": list(messages)})
        turn = TurnRow(
            id=uuid4(),
            conversation_id=made,
            owner_id="local",
            agent="assistant",
            message="go",
            message_position=1 if messages else None,
        )
        session.add(turn)
    return turn.id


def claim(database: Database, turn_id: UUID, lease_seconds: float = 60) -> Claim:
    with database.transaction() as session:
        claimed = claim_turn(session, turn_id, "worker", lease_seconds, AT_ONCE)
    assert isinstance(claimed, Claim)
    return claimed


def calling(message_id: str) -> JSON:
    return {"role": "assistant", "content": None, "id": message_id, "tool_calls": [CALL]}


class FreezesBeforeCommit:
    """A database for a process that stands still between a write and its commit."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.is_frozen, self.thaw = threading.Event(), threading.Event()

    def retry_transaction(self, write: Callable[[Session], Any], seconds: float) -> None:
        with self._database.transaction() as session:
            write(session)
            self.is_frozen.set()
            assert self.thaw.wait(SECONDS)


def test_a_call_that_an_old_attempt_begins_is_known_to_the_next_or_refused(
    database: Database,
) -> None:
    turn_id = make_turn(database, calling("message"))
    old = claim(database, turn_id, lease_seconds=0)
    freezing = FreezesBeforeCommit(database)
    journal = TurnJournal(cast(Database, freezing), turn_id, old.attempt, {}, patience=1)

    def begin() -> bool:
        try:
            asyncio.run(journal.started(KEY, "act", Effect.ACTS))
        except LeaseLost:
            return False
        return True

    with ThreadPoolExecutor(2) as threads:
        begun = threads.submit(begin)
        assert freezing.is_frozen.wait(SECONDS)
        new = threads.submit(claim, database, turn_id)
        time.sleep(0.5)
        freezing.thaw.set()

        assert new.result(SECONDS).attempt == old.attempt + 1
        assert begun.result(SECONDS) is (KEY in new.result().journal)


def test_a_claim_reads_of_the_journal_what_the_state_does_not_hold(database: Database) -> None:
    result = {"role": "tool", "content": "done", "tool_call_id": "c"}
    turn_id = make_turn(database, calling("saved"), result, calling("message"))
    old = claim(database, turn_id, lease_seconds=0)
    journal = TurnJournal(database, turn_id, old.attempt, {}, patience=1)
    for key in (CallKey("saved", 0), KEY):
        asyncio.run(journal.finished(key, "act", Effect.ACTS, result, None))

    assert set(claim(database, turn_id).journal) == {KEY}


def test_workers_that_fall_back_on_each_others_turns_do_not_block_each_other(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = make_turn(database), make_turn(database)
    both = threading.Barrier(2, timeout=SECONDS)
    for turn_id in (one, other):
        claim(database, turn_id)

    def refuse(session: Session, turn_id: UUID, *values: Any, **named: Any) -> Any:
        claimed = claim_turn(session, turn_id, *values, **named)
        both.wait()
        return claimed

    def choose_other(session: Session, turn_id: UUID, at_once: int) -> UUID:
        return other if turn_id == one else one

    monkeypatch.setattr(runner, "choose_fairly", choose_other)
    monkeypatch.setattr(runner, "claim_turn", refuse)
    queue = SimpleNamespace(has_backlog=lambda: True, requeue=lambda turn_id: True)
    settings = SimpleNamespace(lease_seconds=10, user_turns_at_once=AT_ONCE)
    services = SimpleNamespace(database=database, queue=queue, settings=settings)
    runtime = cast(
        runner.Runtime, SimpleNamespace(name="another", services=services, suspects=object())
    )

    with ThreadPoolExecutor(2) as threads:
        claims = [threads.submit(runner._claim, runtime, turn_id) for turn_id in (one, other)]

        assert [claimed.result(SECONDS) for claimed in claims] == [None, None]


def test_a_turn_that_somebody_holds_does_not_cost_the_others_their_leases(
    database: Database,
) -> None:
    held, free = make_turn(database), make_turn(database)
    ended: list[AppError] = []
    keeper = LeaseKeeper(database, "worker", lease_seconds=2)
    claims = [claim(database, turn_id, lease_seconds=2) for turn_id in (held, free)]
    keeper.start()
    try:
        with (
            keeper.hold(held, claims[0].attempt, lambda reason: None),
            keeper.hold(free, claims[1].attempt, ended.append),
            database.transaction() as session,
        ):
            session.execute(text("SELECT FROM turns WHERE id = :id FOR UPDATE"), {"id": held})
            time.sleep(3)

            over = text("SELECT lease_until < clock_timestamp() FROM turns WHERE id = :id")
            assert session.scalar(over, {"id": free}) is False
    finally:
        keeper.close()
    assert ended == []


def test_a_turn_is_let_go_when_the_database_hangs_longer_than_its_lease(
    database: Database,
) -> None:
    turn_id = make_turn(database)
    claimed = claim(database, turn_id, lease_seconds=1)
    let_go = threading.Event()
    keeper = LeaseKeeper(database, "worker", lease_seconds=1)
    keeper.start()
    try:
        with (
            keeper.hold(turn_id, claimed.attempt, lambda reason: let_go.set()),
            database.transaction() as session,
        ):
            session.execute(text("LOCK TABLE turns IN ACCESS EXCLUSIVE MODE"))

            assert let_go.wait(SECONDS)
    finally:
        keeper.close()
