"""Turns are told of after the answer: in order, and whatever becomes of one of them."""

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from uuid import UUID

import orjson
import pytest

from backend.auth.scope import LOCAL_USER
from backend.bootstrap import bootstrap
from backend.domains.catalog import ensure_bundled_domains
from backend.events.stream import STREAM
from backend.settings import Settings
from backend.turns.control.stop import stop_turn
from backend.turns.process.announcer import Accepted
from backend.turns.process.services import Services
from backend.turns.submit.service import Submission, submit
from tests.stack import Servers


@pytest.fixture
def services(servers: Servers) -> Iterator[Services]:
    """What an API holds; no worker takes a turn here."""
    settings = Settings(
        _env_file=None, database_url=servers.new_database(), redis_url=servers.new_redis()
    )
    services = bootstrap(settings, threads=2)
    with services.database.transaction() as session:
        ensure_bundled_domains(session)
    yield services
    services.announcer.settle()
    services.database.close()
    services.redis.close()


def told(services: Services, session_id: UUID) -> list[str]:
    """The names of the session's events, in order."""
    entries: Any = services.redis.xrange(f"{STREAM}{session_id}")
    return [orjson.loads(fields[b"e"])["event"] for _, fields in entries]


def test_a_turn_that_is_stopped_at_once_is_told_to_be_queued_before_it_has_ended(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    announce = services.announcer._announce

    def announce_late(batch: list[Accepted]) -> None:
        time.sleep(0.2)  # longer than it takes to stop a turn
        announce(batch)

    monkeypatch.setattr(services.announcer, "_announce", announce_late)

    turn = submit(services, LOCAL_USER, Submission("at once"))
    stop_turn(services, LOCAL_USER, turn.id)

    queued = ["turn_queued", "message_added"]
    assert told(services, turn.session_id) == [*queued, "message_added", "turn_finished"]


def test_who_is_told_together_wakes_a_worker_for_each(services: Services) -> None:
    turns = [submit(services, LOCAL_USER, Submission(f"number {number}")) for number in range(30)]
    services.announcer.settle()

    assert services.queue.rq.job_ids == [str(turn.id) for turn in turns]


def test_a_turn_that_cannot_be_told_of_keeps_no_other_from_being_told(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    queued: list[Accepted] = []
    with monkeypatch.context() as patched:
        patched.setattr(services.announcer, "tell", queued.extend)
        first, second = (submit(services, LOCAL_USER, Submission(text)) for text in ("one", "two"))

    services.announcer.tell([replace(queued[0], turn=None)])  # type: ignore[arg-type]
    services.announcer.settle()
    services.announcer.tell([queued[1]])
    services.announcer.settle()

    assert services.queue.rq.job_ids == [str(second.id)]
    assert told(services, first.session_id) == []
    assert told(services, second.session_id) == ["turn_queued", "message_added"]
