"""A running Colloquy for tests: real servers, real API and worker processes, a client."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
from sqlalchemy import Engine, create_engine, make_url, text

from backend.types import JSON
from db.migrate import migrate
from launch.servers.postgres import EmbeddedPostgres
from launch.servers.redis import EmbeddedRedis
from tests.processes import ROOT, Process, free_port, kill_process, launch, stop_process

PATIENCE_SECONDS = 90  # of a busy machine
# Each look costs the parts that are looked at; what takes long is looked for less often.
FIRST_PAUSE, LONGEST_PAUSE = 0.02, 0.2  # seconds
# What tests let domains start: real programs, and one `c` that nobody has.
PROGRAMS = Path(sys.executable).parent
STDIO_COMMANDS = f"{sys.executable}, sleep, c, {PROGRAMS / 'mcp-server-time'}"
# Commits still outlive every process that tests kill. Vacuum visits each database within its nap.
LIGHT_SETTINGS = {"fsync": "off", "full_page_writes": "off", "autovacuum_naptime": "'10min'"}


class Servers:
    """PostgreSQL and Redis, really running, in a folder of their own."""

    def __init__(self, home: Path, settings: Mapping[str, str] = LIGHT_SETTINGS) -> None:
        self.home, self._settings = home, settings
        self.postgres = EmbeddedPostgres(home)
        self._redis: list[EmbeddedRedis] = []
        self._migrated: str | None = None

    def __enter__(self) -> "Servers":
        self.postgres.start()
        for name, value in self._settings.items():
            self._administer(f"ALTER SYSTEM SET {name} = {value}")
        self._administer("SELECT pg_reload_conf()")
        return self

    def __exit__(self, *_: object) -> None:
        for redis in self._redis:
            redis.stop()
        self.postgres.stop()

    @property
    def newest_redis(self) -> EmbeddedRedis:
        return self._redis[-1]

    def new_redis(self) -> str:
        """Start a Redis for one stack; on a shared one stacks take each other's jobs."""
        redis = EmbeddedRedis(self.home / f"redis-{len(self._redis)}")
        redis.start()
        self._redis.append(redis)
        return redis.url

    def stop_redis(self, url: str) -> None:
        """Stop one: a hundred that do nothing take a tenth of two processors."""
        next(one for one in self._redis if one.url == url).stop()

    def new_database(self, *, migrated: bool = True) -> str:
        """Make an empty database, a copy of one that the migrations have built; give its URL."""
        owner = make_url(self.postgres.url)
        if not migrated:
            name = self._create("template1")
            return owner.set(database=name).render_as_string(hide_password=False)
        if self._migrated is None:
            self._migrated = self._create("template1")
            migrate(owner.set(database=self._migrated).render_as_string(hide_password=False))
        name = self._create(self._migrated)
        return owner.set(database=name).render_as_string(hide_password=False)

    def _create(self, template: str) -> str:
        name, owner = f"test_{uuid4().hex[:10]}", make_url(self.postgres.url).username
        self._administer(f'CREATE DATABASE "{name}" OWNER "{owner}" TEMPLATE "{template}"')
        return name

    def _administer(self, sql: str) -> None:
        admin = create_engine(self.postgres.superuser_url, isolation_level="AUTOCOMMIT")
        with admin.connect() as connection:
            connection.execute(text(sql))
        admin.dispose()


class Stack:
    """API and worker processes over a database, with the environment that a test wants."""

    launch = staticmethod(launch)  # how parts start; the tests fork them

    def __init__(
        self, database_url: str, redis_url: str, data_dir: Path, **environment: str
    ) -> None:
        self.api_port = free_port()
        self.base_url = f"http://127.0.0.1:{self.api_port}"
        self.database_url, self.redis_url = database_url, redis_url
        self.environment = {
            **os.environ,
            "DATABASE_URL": database_url,
            "REDIS_URL": redis_url,
            "DATA_DIR": str(data_dir),
            "WORKER_TURNS": "8",
            "STDIO_COMMANDS": STDIO_COMMANDS,
            "API_URL": self.base_url,
            "PYTHONPATH": str(ROOT),
            **environment,
        }
        self.api_probe_port = ""  # PROBE_PORT is the worker's
        self.log = data_dir / "processes.log"
        self.api: Process | None = None
        self.workers: list[Process] = []
        self.others: list[Process] = []
        self.ends_with_it = ExitStack()
        self.client = httpx.Client(base_url=f"{self.base_url}/api/v1", timeout=60)

    def __enter__(self) -> "Stack":
        self.start_api()
        self.start_worker()
        self.wait_ready()
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()
        self._engine.dispose()
        for process in [*self.workers, *self.others, *([self.api] if self.api else [])]:
            kill_process(process)
        self.ends_with_it.close()

    def start(self, *arguments: str, **environment: str) -> Process:
        """Start a part: `python ARGUMENTS`, its words in the log file."""
        return Stack.launch(arguments, {**self.environment, **environment}, self.log)

    def start_api(self) -> None:
        """Start the API and wait until it answers."""
        options = ("--port", str(self.api_port))
        self.api = self.start("-m", "backend.api", *options, PROBE_PORT=self.api_probe_port)
        self.wait_for(lambda: _answers(f"{self.base_url}/healthz"), "the API does not answer")

    def start_worker(self) -> Process:
        """Start one more worker process."""
        self.workers.append(self.start("-m", "worker"))
        return self.workers[-1]

    def start_demo_model(self) -> None:
        """Start the demo model and let the parts started later use it."""
        options = ("--port", str(port := free_port()), "--delay-ms", "0")
        self.others.append(self.start("-m", "backend.demo_model", *options))
        url = f"http://127.0.0.1:{port}"
        self.environment["DEMO_MODEL_URL"] = url
        self.wait_for(lambda: _answers(f"{url}/healthz"), "the demo model does not answer")

    def start_ui(self, *options: str, port: int | None = None) -> str:
        """Start the pages; give their URL."""
        options = ("--port", str(port := port or free_port()), *options)
        self.others.append(self.start("-m", "ui", *options))
        url = f"http://127.0.0.1:{port}"
        self.wait_for(lambda: _answers(f"{url}/_stcore/health"), "the pages do not answer")
        return url

    def run(self, *arguments: str) -> tuple[int, str]:
        """Run `python ARGUMENTS` to its end; give how it ended and all that it said."""
        said = self.log.with_name(f"run-{uuid4().hex[:8]}.log")
        ended = Stack.launch(arguments, self.environment, said).wait(timeout=60)
        return ended, said.read_text()

    def kill_api(self) -> None:
        """SIGKILL the API."""
        assert self.api is not None
        kill_process(self.api)

    def kill_workers(self) -> None:
        """SIGKILL every worker process."""
        for process in self.workers:
            kill_process(process)
        self.workers.clear()

    def kill_worker(self, index: int) -> None:
        """SIGKILL one worker process."""
        kill_process(self.workers.pop(index))

    def restart_worker(self) -> None:
        """End the workers politely and start a new one."""
        for process in self.workers:
            stop_process(process)
        self.workers.clear()
        self.start_worker()
        self.wait_ready()

    def wait_ready(self) -> None:
        """Wait until the API says that all parts are there."""
        self.wait_for(lambda: _answers(f"{self.base_url}/readyz"), "the stack is not ready")

    def wait_for(
        self, is_so: Callable[[], Any], complaint: str, seconds: float = PATIENCE_SECONDS
    ) -> Any:
        """Wait until `is_so` gives something true, and give that."""
        deadline = time.monotonic() + seconds
        pause = FIRST_PAUSE
        while not (value := is_so()):
            if time.monotonic() > deadline:
                tail = self.log.read_text(errors="replace")[-4000:] if self.log.exists() else ""
                raise AssertionError(f"{complaint}\n{tail}")
            time.sleep(pause)
            pause = min(1.3 * pause, LONGEST_PAUSE)
        return value

    # What a program does with the API.

    def chat(self, message: str, session_id: str | None = None, **body: Any) -> JSON:
        """Send a message and wait for the answer."""
        target = f"/sessions/{session_id}/chat" if session_id else "/chat"
        answer = self.client.post(target, json={"message": message, **body})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def submit(self, message: str, session_id: str | None = None, **headers: str) -> JSON:
        """Send a message without waiting."""
        target = f"/sessions/{session_id}/chat" if session_id else "/chat"
        headers = {"Prefer": "respond-async", **headers}
        answer = self.client.post(target, json={"message": message}, headers=headers)
        assert answer.status_code in (200, 202), answer.text
        return answer.json()

    def turn(self, turn_id: str) -> JSON:
        """One turn, as it stands."""
        answer = self.client.get(f"/turns/{turn_id}")
        assert answer.status_code == 200, answer.text
        return answer.json()

    def finished(self, turn_id: str, seconds: float = PATIENCE_SECONDS) -> JSON:
        """The turn once it has ended."""

        def turn() -> JSON | None:
            now = self.turn(turn_id)
            return now if now["status"] in ("succeeded", "failed", "stopped") else None

        return self.wait_for(turn, f"turn {turn_id} does not end", seconds)

    def messages(self, session_id: str, **only: str) -> list[JSON]:
        """All display messages of a session, page by page; `only`: the API's filters."""
        rows: list[JSON] = []
        after: int | None = 0
        while after is not None:
            params: JSON = {"after": after, "limit": 200, **only}
            page = self.client.get(f"/sessions/{session_id}/messages", params=params).json()
            rows += page["items"]
            after = page["next_after"]
        return rows

    def state(self, session_id: str) -> JSON:
        """What the model reads next."""
        return self.client.get(f"/sessions/{session_id}/state").json()

    @contextmanager
    def events(self, session_id: str, **headers: str) -> Iterator[Iterator[JSON]]:
        """Follow a session: `{id, event, data}`, as they come."""
        url = f"/sessions/{session_id}/events"
        with self.client.stream("GET", url, headers=headers, timeout=30) as response:
            assert response.status_code == 200, response.read()
            lines = response.iter_lines()
            assert next(lines).startswith(":")  # it has its place: what follows is live
            yield read_events(lines)

    def query(self, sql: str, **parameters: Any) -> list[Any]:
        """Look into the database, as a host application may."""
        with self._engine.connect() as connection:
            return list(connection.execute(text(sql), parameters))

    def query_and_commit(self, sql: str, **parameters: Any) -> None:
        """Change the database behind the stack's back."""
        with self._engine.begin() as connection:
            connection.execute(text(sql), parameters)

    @cached_property
    def _engine(self) -> Engine:
        """Kept, since a connection of PostgreSQL takes longer than most queries."""
        return create_engine(self.database_url, pool_pre_ping=True)


def read_events(lines: Iterator[str]) -> Iterator[JSON]:
    """Parse Server-Sent Events; comments are passed over."""
    event: JSON = {}
    for line in lines:
        if not line and event:
            yield event
            event = {}
        name, _, value = line.partition(": ")
        if name in ("id", "event"):
            event[name] = value
        elif name == "data":
            event["data"] = json.loads(value)


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=2).status_code == 200
    except httpx.HTTPError:
        return False
