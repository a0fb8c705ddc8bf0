"""The services of B13, each started for a block: Colloquy, and the peer with its checkpointer."""

import asyncio
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from uuid import uuid4

import httpx
import psutil

from benchmarks.clients.b13_clients import Opened, Taken, open_session, open_thread, take_turns
from benchmarks.ground import Ground, plain_url
from benchmarks.model_process import answer, question
from tests.integration.scenes import make_domain, make_session
from tests.processes import free_port
from tests.stack import Stack

TOKENS, EVERY = 40, 2.5  # milliseconds from token to token
TOOL = "list_sources"
TURNS = 2  # per session
WARM_CLIENTS = 8
ASKED = [question(n, TOKENS, EVERY) + f" after {TOOL}" for n in range(TURNS)]
WANTED = [answer(n, TOKENS) + answer(n + 1, TOKENS) for n in range(TURNS)]


@dataclass(frozen=True)
class Run:
    """The cost of some turns: processor seconds of each part, and elapsed time."""

    cpu: Mapping[str, float]
    seconds: float
    taken: list[Taken]

    def milliseconds(self, part: str) -> float:
        """Return a part's processor time per turn."""
        return self.cpu[part] / len(self.taken) * 1e3


@dataclass
class Costs:
    """The cost of repeated runs with one number of clients; medians, in milliseconds."""

    runs: list[Run] = field(default_factory=list)

    @property
    def parts(self) -> dict[str, float]:
        """The processor time of each part per turn."""
        return {
            part: statistics.median(run.milliseconds(part) for run in self.runs)
            for part in self.runs[0].cpu
        }

    @property
    def cpu(self) -> float:
        """The processor time of all parts per turn."""
        return statistics.median(sum(map(run.milliseconds, run.cpu)) for run in self.runs)

    @property
    def rate(self) -> float:
        """Turns per second."""
        return statistics.median(len(run.taken) / run.seconds for run in self.runs)

    @property
    def p50(self) -> float:
        """The median duration of a turn."""
        return statistics.median(one.seconds for run in self.runs for one in run.taken) * 1e3


@dataclass(frozen=True)
class Service:
    """A service of turns: its processes by name, and how a client opens a new session."""

    processes: Mapping[str, Sequence[psutil.Process]]
    open: Callable[[], Opened]

    def warm_up(self) -> None:
        """Run some turns first, so that imports, connections and compilation are not measured."""
        self.run(WARM_CLIENTS, 1)

    def run(self, clients: int, sessions: int) -> Run:
        """Let each client go through `sessions` sessions. Raise AssertionError on a wrong text."""
        plan = [[(self.open(), ASKED) for _ in range(sessions)] for _ in range(clients)]
        before, started = self._cpu(), perf_counter()
        taken = asyncio.run(take_turns(plan))
        seconds = perf_counter() - started
        used = {part: cpu - before[part] for part, cpu in self._cpu().items()}
        texts = [one.text for one in taken]
        assert texts == WANTED * sessions * clients, "the texts are not those of the model"
        return Run(used, seconds, taken)

    def _cpu(self) -> dict[str, float]:
        return {part: sum(map(_family_cpu, each)) for part, each in self.processes.items()}


@contextmanager
def colloquy_service(
    ground: Ground, model_url: str, workers: int = 1
) -> Iterator[tuple[Service, str]]:
    """Run an API and workers, with a domain of one tool; yield also that tool's result."""
    with ground.stack(model_url, WORKER_TURNS=str(100 // workers)) as stack:
        postgres, redis = ground.server_pids
        assert stack.api
        for _ in range(workers - 1):
            stack.start_worker()
        stack.wait_for(lambda: count_workers(stack) == workers, "not all workers are there")
        domain = make_domain(stack, tools=[TOOL])["name"]
        pids = {
            "worker": [one.pid for one in stack.workers],
            "API": [stack.api.pid],
            "PostgreSQL": [postgres],
            "Redis": [redis],
        }
        service = Service(
            {part: [psutil.Process(pid) for pid in each] for part, each in pids.items()},
            lambda: open_session(stack.api_port, make_session(stack, domain)),
        )
        service.warm_up()
        session_id = make_session(stack, domain)
        stack.chat(ASKED[0], session_id)
        said = stack.state(session_id)["messages"]
        yield service, next(str(one["content"]) for one in said if one["role"] == "tool")


@contextmanager
def peer_service(
    ground: Ground, model_url: str, result: str, has_database: bool
) -> Iterator[Service]:
    """Run a LangChain agent behind FastAPI whose tool returns `result`."""
    port = free_port()
    arguments = ["-m", "benchmarks.peers.b13_peer", "--port", str(port), "--model", model_url]
    arguments += ["--result", result]
    if has_database:
        arguments += ["--database", plain_url(ground.new_database())]
    stack = ground.stack(model_url)
    with ExitStack() as parts:
        parts.callback(stack.__exit__)
        peer = stack.start(*arguments)
        stack.others.append(peer)
        stack.wait_for(lambda: _answers(port), "the peer does not answer")
        processes = {"process": [psutil.Process(peer.pid)]}
        if has_database:
            processes["PostgreSQL"] = [psutil.Process(ground.server_pids[0])]
        service = Service(processes, lambda: open_thread(port, str(uuid4())))
        service.warm_up()
        yield service


def count_workers(stack: Stack) -> int:
    """Return how many workers the API knows of."""
    return int(stack.client.get("/server").json()["workers"])


def _answers(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/openapi.json", timeout=2).status_code == 200
    except httpx.HTTPError:
        return False


def _family_cpu(process: psutil.Process) -> float:
    """Return the processor seconds of a process and its children, including ended ones."""
    family = [process, *process.children(recursive=True)]
    return sum(float(sum(one.cpu_times()[:4])) for one in family)
