"""A running Colloquy with a proxy on each of its wires, and servers that a test may kill."""

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import redis
from sqlalchemy import make_url

from launch.servers.postgres import EmbeddedPostgres
from launch.servers.redis import EmbeddedRedis
from tests.chaos.staging.effects import Effects
from tests.chaos.staging.model import Script
from tests.chaos.staging.proxy import Proxies, Proxy, Wire
from tests.chaos.staging.records import History
from tests.chaos.staging.reviving import revive
from tests.chaos.staging.witness import Witness
from tests.fakes import ScriptedModel
from tests.processes import Process
from tests.stack import Servers, Stack

LOCAL = "127.0.0.1"
WIRES = (
    "client-api", "api-postgres", "api-redis", "worker-postgres", "worker-redis", "worker-model",
    "worker-tools",
)  # fmt: skip


class Stage(Stack):
    """API and workers whose every connection goes through a proxy of its own."""

    def __init__(
        self,
        servers: Servers,
        wires: dict[str, Proxy],
        model: ScriptedModel,
        effects: Effects,
        keeper: Executor,
        home: Path,
        **environment: str,
    ) -> None:
        redis_url = servers.newest_redis.url
        super().__init__(servers.new_database(), redis_url, home, **environment)
        self.servers, self.wires, self.model, self.effects = servers, wires, model, effects
        self.has_proxies = True
        self._keeper = keeper
        self.history = History()
        self.witness = Witness(self.database_url)
        self.redis = redis.Redis.from_url(redis_url, socket_timeout=5)
        self.environment |= {"OPENAI_API_KEY": "test", "MODEL": "scripted"}
        self.environment["OPENAI_BASE_URL"] = f"http://{LOCAL}:{wires['worker-model'].port}/v1"

    @property
    def public_url(self) -> str:
        """Where clients find the API: behind a proxy."""
        return f"http://{LOCAL}:{self.wires['client-api'].port}/api/v1"

    def start(self, *arguments: str, **environment: str) -> Process:
        """Start a part whose servers are behind its own proxies."""
        part = "api" if "backend.api" in arguments else "worker"
        urls = {
            "DATABASE_URL": _through(self.database_url, self.wires[f"{part}-postgres"]),
            "REDIS_URL": _through(self.redis_url, self.wires[f"{part}-redis"]),
        }
        return super().start(*arguments, **(urls if self.has_proxies else {}), **environment)

    def make_domain(self, summarise_from: int) -> None:
        """Let every new session have the tools that count their effects; to pay asks people."""
        url = f"http://{LOCAL}:{self.wires['worker-tools'].port}/mcp"
        template = {
            "name": "chaos",
            "tools": [],
            "middleware": [
                {"approvals": {"rules": [{"tools": "pay", "action": "ask"}]}},
                {"summarization": {"trigger_messages": summarise_from}},
            ],
            "mcp_servers": {"effects": {"transport": "streamable_http", "url": url}},
        }
        made = self.client.post("/domains", json=template)
        assert made.status_code == 201, made.text

    def start_server(self, server: EmbeddedPostgres | EmbeddedRedis) -> None:
        """Start a server that was killed, from a thread that outlives it: it dies with that."""
        self._keeper.submit(server.start).result(timeout=90)

    def settle(self, seconds: float = 60) -> None:
        """Heal every wire, revive every part, and wait until all turns have ended."""
        for wire in self.wires.values():
            wire.set_wire(Wire.PASS)
        deadline = time.monotonic() + seconds
        revive(self)
        while self.witness.unfinished() and time.monotonic() < deadline:
            revive(self)
            time.sleep(0.1)

    def collect(self) -> History:
        """The history of the run, complete."""
        self.history.ran = list(self.effects.ran)
        self.witness.fill(self.history)
        self.history.unopened = [
            session_id
            for session_id in {str(row["conversation_id"]) for row in self.history.turns}
            if self.client.get(f"/sessions/{session_id}/state").status_code != 200
            or self.client.get(f"/sessions/{session_id}/messages").status_code != 200
        ]
        return self.history

    def shut(self) -> None:
        """End what this stage has opened; processes are ended by the stack."""
        for process in [*self.workers, *([self.api] if self.api else [])]:
            if process.poll() is None:
                os.kill(process.pid, signal.SIGCONT)
        self.witness.close()
        self.redis.close()


@contextmanager
def open_stage(
    home: Path,
    seed: int = 0,
    workers: int = 2,
    mishaps: float = 0.0,
    has_proxies: bool = True,
    summarise_from: int = 40,
    **environment: str,
) -> Iterator[Stage]:
    """A stage of its own: PostgreSQL, Redis, model, tools, proxies, API and workers.

    Where times are measured, database and Redis are reached without the proxies of this process.
    From so many messages on, conversations are summarised: more than one turn ever has.
    """
    with ExitStack() as parts:
        # Not one of pytest's folders: as root, PostgreSQL runs as a user who may not enter those.
        folder = Path(parts.enter_context(TemporaryDirectory(prefix="colloquy-chaos-")))
        folder.chmod(0o711)
        keeper = parts.enter_context(ThreadPoolExecutor(1))
        servers = parts.enter_context(Servers(folder, settings={}))
        servers.new_redis()
        proxies = parts.enter_context(Proxies())
        model = parts.enter_context(ScriptedModel())
        effects = parts.enter_context(Effects())
        wires = _open_wires(servers, proxies, model, effects)
        stage = Stage(servers, wires, model, effects, keeper, home, **environment)
        stage.has_proxies = has_proxies
        wires["client-api"] = proxies.open(LOCAL, stage.api_port)
        model.steps = Script(seed, stage.history, mishaps)
        stage.witness.install()
        parts.callback(stage.shut)
        parts.enter_context(_running(stage, workers))
        stage.make_domain(summarise_from)
        yield stage


def _open_wires(
    servers: Servers, proxies: Proxies, model: ScriptedModel, effects: Effects
) -> dict[str, Proxy]:
    targets = {
        "postgres": servers.postgres.port,
        "redis": servers.newest_redis.port,
        "model": urlsplit(model.url).port,
        "tools": urlsplit(effects.server.url).port,
    }
    return {
        name: proxies.open(LOCAL, targets[name.partition("-")[2]] or 0)
        for name in WIRES
        if name != "client-api"
    }


@contextmanager
def _running(stage: Stage, workers: int) -> Iterator[None]:
    try:
        processes = [stage.start_worker() for _ in range(workers)]
        stage.start_api()
        stage.wait_ready()
        stage.wait_for(
            lambda: len(stage.redis.keys("colloquy:worker:*")) >= len(processes),
            "not all workers are there",
        )
        yield
    finally:
        for process in stage.workers:
            if process.poll() is None:
                os.kill(process.pid, signal.SIGCONT)
        stage.__exit__()


def _through(url: str, proxy: Proxy) -> str:
    """The URL of a server, behind a proxy."""
    if url.startswith("redis"):
        parts = urlsplit(url)
        return url.replace(f"{LOCAL}:{parts.port}", f"{LOCAL}:{proxy.port}")
    changed = make_url(url).set(host=LOCAL, port=proxy.port)
    return changed.render_as_string(hide_password=False)
