"""PostgreSQL is away for a while: a clean refusal at once, and everything goes on by itself."""

import os
import re
import socket
import time
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import httpx
import psutil
import psycopg2
import pytest
from redis import Redis
from sqlalchemy import text

from backend.turns.process.queue import TurnQueue
from backend.types import JSON
from db.session import Database
from db.watch import SILENT_SECONDS
from launch import parts
from tests.conftest import make_stack
from tests.fakes import ScriptedModel, script
from tests.integration.scenes import check_problem, check_views, texts, wait_for_event
from tests.processes import free_port
from tests.stack import Servers, Stack

WORDS = "word " * 40
AT_ONCE_SECONDS = 10  # well below any client's patience; the server is refused within milliseconds
READY_SECONDS = 5  # what asks for readiness gives up soon itself
NO_TIME = 1
HELD_UP = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
DOES_NOT_ANSWER = re.compile("The API waits, the database does not answer|The database at .*")
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")  # each entry begins with one


class Mortal:
    """A stack on servers of its own, whose database can be away."""

    def __init__(self, stack: Stack, servers: Servers, keeper: Executor) -> None:
        self.stack = stack
        self._postgres, self._keeper = servers.postgres, keeper

    @contextmanager
    def without_database(self) -> Iterator[None]:
        """The database is stopped for the block."""
        self._keeper.submit(self._postgres.stop).result(timeout=60)
        yield
        # From a thread that outlives it: the server dies with the thread that has started it.
        self._keeper.submit(self._postgres.start).result(timeout=60)

    @contextmanager
    def frozen_database(self) -> Iterator[None]:
        """The database takes connections for the block, as its system does, and says nothing."""
        assert self._postgres.process
        postmaster = psutil.Process(self._postgres.process.pid)
        postmaster.suspend()  # first, so that it starts no more of them
        frozen = [postmaster, *postmaster.children(recursive=True)]
        for process in frozen:
            with suppress(psutil.NoSuchProcess):  # one that had done its work
                process.suspend()
        try:
            yield
        finally:
            for process in frozen:
                with suppress(psutil.NoSuchProcess):
                    process.resume()


@pytest.fixture(scope="module")
def mortal(model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mortal]:
    with (
        TemporaryDirectory(prefix="colloquy-away-") as home,
        ThreadPoolExecutor(1) as keeper,
    ):
        Path(home).chmod(0o711)
        with Servers(Path(home)) as servers:
            folder = tmp_path_factory.mktemp("away")
            with make_stack(servers, model, folder, LEASE_SECONDS="10") as stack:
                yield Mortal(stack, servers, keeper)


def test_a_server_that_is_cut_off_is_given_up_soon(servers: Servers) -> None:
    with closing(Database(servers.new_database())) as database, database.read() as session:
        wire: Any = session.connection().connection.dbapi_connection
        with closing(socket.socket(fileno=os.dup(wire.fileno()))) as own:
            seconds = own.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) / 1000

    assert 0 < seconds <= AT_ONCE_SECONDS


def test_what_cannot_be_stored_is_refused_at_once(mortal: Mortal) -> None:
    stack = mortal.stack
    session_id = stack.chat("hello")["session_id"]
    before = stack.messages(session_id)
    key = {"Idempotency-Key": "until it works", "Prefer": "respond-async"}

    with mortal.without_database():
        posted = _ask(stack, "POST", "/chat", json={"message": "lost?"}, headers=key)
        read = _ask(stack, "GET", f"/sessions/{session_id}/messages")
        ready = httpx.get(f"{stack.base_url}/readyz")
        alive = httpx.get(f"{stack.base_url}/healthz")

    for answer in (posted, read):
        assert "database" in check_problem(answer, 503)["detail"].lower()
        assert int(answer.headers["Retry-After"]) > 0
    assert (ready.status_code, alive.status_code) == (503, 200)
    assert stack.messages(session_id) == before
    turn = stack.wait_for(lambda: _submit(stack, "lost?", key), "the API does not come back")
    assert stack.finished(turn["turn_id"])["status"] == "succeeded"


def test_a_sweep_that_waits_is_one_line_of_the_log(mortal: Mortal) -> None:
    stack = mortal.stack
    with mortal.without_database():
        stack.wait_for(lambda: "The sweeper waits" in stack.log.read_text(), "nothing is logged")

    lines = stack.log.read_text().splitlines()
    after = [later for line, later in pairwise(lines) if "The sweeper waits" in line]
    assert [line for line in after if not line.startswith(LEVELS)] == []


def test_a_worker_says_on_its_port_that_it_is_away(mortal: Mortal) -> None:
    stack, port = mortal.stack, free_port()
    stack.workers.append(stack.start("-m", "worker", PROBE_PORT=str(port)))

    def answers(status: int) -> httpx.Response | None:
        with suppress(httpx.ConnectError):
            answer = httpx.get(f"http://127.0.0.1:{port}/readyz")
            return answer if answer.status_code == status else None
        return None

    stack.wait_for(lambda: answers(200), "it is never ready")
    with mortal.without_database():
        away = stack.wait_for(lambda: answers(503), "it stays ready")
        assert httpx.get(f"http://127.0.0.1:{port}/healthz").status_code == 200

    assert away.json()["database"].startswith("no answer for ")
    stack.wait_for(lambda: answers(200), "it does not come back")
    stack.workers.pop().terminate()


@pytest.mark.chaos
def test_an_api_that_is_started_again_meanwhile_waits(mortal: Mortal) -> None:
    stack = mortal.stack
    with mortal.without_database():
        stack.kill_api()
        command = parts.api("127.0.0.1", stack.api_port, {}, waits=True).command
        stack.api = stack.start(*command[1:])
        stack.wait_for(lambda: "The API waits" in stack.log.read_text(), "nothing is logged")
        assert stack.api.poll() is None

    stack.wait_ready()
    assert stack.log.read_text().count("The API waits") == 1


@pytest.mark.chaos
@pytest.mark.parametrize("waits", [True, False], ids=["waits", "ends"])
def test_an_api_whose_database_goes_away_while_it_starts_says_so(
    mortal: Mortal, waits: bool
) -> None:
    stack, logged = mortal.stack, len(mortal.stack.log.read_text())
    stack.kill_api()
    with closing(psycopg2.connect(stack.database_url.replace("+psycopg2", ""))) as holder:
        # What the API asks after it has found the schema.
        holder.cursor().execute("LOCK TABLE domains")
        command = parts.api("127.0.0.1", stack.api_port, {}, waits=waits).command
        stack.api = stack.start(*command[1:])
        stack.wait_for(lambda: stack.query(HELD_UP), "the API does not ask")
        with mortal.without_database():
            said = stack.wait_for(lambda: DOES_NOT_ANSWER.search(_log(stack, logged)), "no word")
            ended = None if waits else stack.api.wait(timeout=60)
            assert stack.api.poll() == ended == (None if waits else 2)

    assert said[0].startswith("The API waits") == waits
    if not waits:
        stack.start_api()
    stack.wait_ready()
    assert "Traceback" not in _log(stack, logged)


def test_a_turn_that_cannot_be_claimed_is_one_line_of_the_log(mortal: Mortal) -> None:
    stack, turn_id = mortal.stack, uuid4()
    with mortal.without_database(), Redis.from_url(stack.redis_url) as redis:
        TurnQueue(redis).wake(turn_id)
        logged = stack.wait_for(
            lambda: [line for line in stack.log.read_text().splitlines() if str(turn_id) in line],
            "the job is not taken",
        )

    assert len(logged) == 1
    assert f"Turn {turn_id} cannot be claimed: (" in logged[0]


def test_a_turn_goes_on_where_it_was_when_the_database_is_back(mortal: Mortal) -> None:
    stack = mortal.stack
    turn = stack.submit(script({"text": WORDS, "delay": 0.05}))
    wait_for_event(stack, turn["session_id"], "text_delta")

    with mortal.without_database():
        pass

    assert stack.finished(turn["turn_id"], 60)["status"] == "succeeded"
    rows, _ = check_views(stack, turn["session_id"])
    assert [said.strip() for said in texts(rows, "assistant")] == [WORDS.strip()]
    assert all(worker.poll() is None for worker in stack.workers)


def test_an_answer_that_ends_while_the_database_is_away_is_saved_later(
    mortal: Mortal, model: ScriptedModel
) -> None:
    stack = mortal.stack
    turn = stack.submit(script({"text": WORDS, "delay": 0.02}))
    wait_for_event(stack, turn["session_id"], "text_delta")
    asked = len(model.requests)

    with mortal.without_database():
        stack.wait_for(lambda: not model.open_streams, "the answer does not end")

    ended = stack.finished(turn["turn_id"], 60)
    assert (ended["status"], ended["attempts"]) == ("succeeded", 1)
    assert len(model.requests) == asked


def test_a_database_that_stands_still_is_told_at_once_and_nothing_hangs(mortal: Mortal) -> None:
    stack = mortal.stack
    session_id = stack.chat("hello")["session_id"]
    before = stack.messages(session_id)
    key = {"Idempotency-Key": "until it moves", "Prefer": "respond-async"}

    with mortal.frozen_database():
        asked = time.monotonic()
        ready = httpx.get(f"{stack.base_url}/readyz", timeout=READY_SECONDS)
        noticed = time.monotonic() - asked
        with ThreadPoolExecutor(60) as crowd:
            answers = list(crowd.map(lambda _: _ask(stack, "GET", "/sessions"), range(60)))
        asked = time.monotonic()
        posted = _ask(stack, "POST", "/chat", json={"message": "lost?"}, headers=key)
        read = _ask(stack, "GET", f"/sessions/{session_id}/messages")
        metrics = httpx.get(f"{stack.base_url}/metrics", timeout=READY_SECONDS)
        again = httpx.get(f"{stack.base_url}/readyz", timeout=READY_SECONDS)
        later = time.monotonic() - asked

    assert noticed < READY_SECONDS
    assert later < 4 * NO_TIME
    assert (ready.status_code, again.status_code) == (503, 503)
    assert "database" in ready.json()
    assert 'colloquy_up{part="database"} 0.0' in metrics.text
    for answer in (*answers, posted, read):
        check_problem(answer, 503)
        assert int(answer.headers["Retry-After"]) > 0
    turn = stack.wait_for(lambda: _submit(stack, "lost?", key), "the API does not come back")
    assert stack.finished(turn["turn_id"])["status"] == "succeeded"
    assert stack.messages(session_id) == before


@pytest.mark.chaos
def test_what_waits_already_when_the_database_stops_to_answer_is_ended(mortal: Mortal) -> None:
    stack = mortal.stack
    turn = stack.submit(script({"text": WORDS, "delay": 0.05}))
    wait_for_event(stack, turn["session_id"], "text_delta")

    with ThreadPoolExecutor(20) as crowd:
        asked = [crowd.submit(_ask, stack, "GET", "/sessions") for _ in range(20)]
        with mortal.frozen_database():
            answers = [one.result(timeout=AT_ONCE_SECONDS) for one in asked]
            time.sleep(5)

    assert {answer.status_code for answer in answers} <= {200, 503}
    stack.wait_ready()
    assert stack.finished(turn["turn_id"], 60)["status"] == "succeeded"
    rows, _ = check_views(stack, turn["session_id"])
    assert [said.strip() for said in texts(rows, "assistant")] == [WORDS.strip()]
    assert all(worker.poll() is None for worker in stack.workers)


@pytest.mark.chaos
def test_a_statement_may_be_slow_while_the_database_answers(servers: Servers) -> None:
    slow = text("SELECT pg_sleep(:seconds)")
    with closing(Database(servers.new_database())) as database, database.read() as session:
        session.execute(slow, {"seconds": 3 * SILENT_SECONDS})

        assert session.scalar(text("SELECT 1")) == 1


def _log(stack: Stack, start: int) -> str:
    return stack.log.read_text()[start:]


def _ask(stack: Stack, method: str, path: str, **options: object) -> httpx.Response:
    """A request whose answer must come before a client would give up."""
    return stack.client.request(method, path, timeout=AT_ONCE_SECONDS, **options)


def _submit(stack: Stack, message: str, headers: dict[str, str]) -> JSON | None:
    answer = stack.client.post("/chat", json={"message": message}, headers=headers)
    return answer.json() if answer.is_success else None
