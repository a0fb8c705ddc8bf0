"""PostgreSQL is away for a while: a clean refusal at once, and everything goes on by itself."""

import os
import re
import socket
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
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
from backend.turns.process.turn_job import QUEUE
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
AWAY = re.compile(r"api \S+ db.watch: The database does not answer")
REFUSED = re.compile("The database at DATABASE_URL does not answer: .*")


class Mortal:
    """A stack on servers of its own, whose database can be away."""

    def __init__(self, stack: Stack, servers: Servers, keeper: Executor) -> None:
        self.stack = stack
        self._postgres, self._keeper = servers.postgres, keeper

    @contextmanager
    def without_database(self) -> Iterator[None]:
        """The database is stopped for the block."""
        self._keeper.submit(self._postgres.stop).result(timeout=60)
        try:
            yield
        finally:
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


def test_it_is_said_once_by_each_process_that_it_is_away_and_once_that_it_is_back(
    mortal: Mortal,
) -> None:
    stack, logged = mortal.stack, len(mortal.stack.log.read_text())
    with mortal.without_database(), Redis.from_url(stack.redis_url) as redis:
        TurnQueue(redis).wake(uuid4())  # which cannot be claimed
        stack.wait_for(lambda: not redis.llen(f"rq:queue:{QUEUE}"), "the job is not taken")
        for _ in range(3):
            _ask(stack, "GET", "/sessions")
        stack.wait_for(lambda: len(_said(stack, logged, "does not answer")) == 2, "not said")

    stack.wait_ready()
    stack.wait_for(lambda: len(_said(stack, logged, "answers again")) == 2, "not said that it is")
    # That a session of the test before got no title may come late.
    lines = [one for one in _log(stack, logged).splitlines() if ": No title" not in one]
    assert len(lines) == 4, lines
    assert Counter(line.split()[2] for line in lines) == {"api": 2, "worker": 2}


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
        logged = len(stack.log.read_text())
        command = parts.api("127.0.0.1", stack.api_port, {}, waits=True).command
        stack.api = stack.start(*command[1:])
        stack.wait_for(lambda: AWAY.search(_log(stack, logged)), "nothing is logged")
        assert stack.api.poll() is None

    stack.wait_ready()
    assert len(AWAY.findall(_log(stack, logged))) == 1


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
            said = AWAY if waits else REFUSED
            stack.wait_for(lambda: said.search(_log(stack, logged)), "no word")
            ended = None if waits else stack.api.wait(timeout=60)
            assert stack.api.poll() == ended == (None if waits else 2)

    if not waits:
        stack.start_api()
    stack.wait_ready()
    assert "Traceback" not in _log(stack, logged)


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


def _said(stack: Stack, start: int, words: str) -> list[str]:
    return [line for line in _log(stack, start).splitlines() if words in line]


def _ask(stack: Stack, method: str, path: str, **options: object) -> httpx.Response:
    """A request whose answer must come before a client would give up."""
    return stack.client.request(method, path, timeout=AT_ONCE_SECONDS, **options)


def _submit(stack: Stack, message: str, headers: dict[str, str]) -> JSON | None:
    answer = stack.client.post("/chat", json={"message": message}, headers=headers)
    return answer.json() if answer.is_success else None
