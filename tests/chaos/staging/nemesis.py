"""Breaks things by a schedule that a seed makes: processes, servers and the wires between."""

import os
import random
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from redis.exceptions import RedisError
from sqlalchemy.exc import SQLAlchemyError

from tests.chaos.staging.proxy import Wire
from tests.chaos.staging.records import Disturbed
from tests.chaos.staging.reviving import revive_worker
from tests.chaos.staging.stage import WIRES, Stage
from tests.processes import stop_process

LATENCY_SECONDS = 0.05


@dataclass(frozen=True)
class Fault:
    """What to do, `at` seconds after the start, to whom, and for how long."""

    at: float
    kind: str
    target: int = 0
    seconds: float = 0.0


def plan_faults(seed: int, seconds: float, kinds: Sequence[str], every: float = 2.0) -> list[Fault]:
    """A schedule: the same for the same seed. Each kind comes once before any comes again."""
    dice = random.Random(f"nemesis {seed}")
    faults: list[Fault] = []
    waiting: list[str] = []
    at = every
    while at < seconds:
        if not waiting:
            waiting = dice.sample(list(kinds), len(kinds))
        kind = waiting.pop()
        lasts = dice.uniform(*LASTS.get(kind.partition(" ")[0], (0.2, 1.0)))
        faults.append(Fault(round(at, 2), kind, dice.randrange(1_000), round(lasts, 2)))
        at += dice.uniform(0.5, 1.5) * every
    return faults


class Nemesis:
    """Carries out a schedule in a thread; what it breaks it also mends."""

    def __init__(self, stage: Stage, faults: Iterable[Fault]) -> None:
        self._stage = stage
        self._faults = list(faults)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._rage, name="nemesis", daemon=True)
        self.complaints: list[str] = []

    def __enter__(self) -> "Nemesis":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._thread.join(timeout=90)

    def wait(self) -> None:
        """Wait until the schedule is done."""
        self._thread.join()

    def _rage(self) -> None:
        begun = time.monotonic()
        for fault in self._faults:
            if self._closing.wait(max(0.0, begun + fault.at - time.monotonic())):
                return
            self.strike(fault)

    def strike(self, fault: Fault) -> None:
        """Do one fault, and write down when it began and ended, and who died of it."""
        name, _, rest = fault.kind.partition(" ")
        started = time.time()
        try:
            victims = DEEDS[name](self._stage, fault, rest)
        except (OSError, RedisError, SQLAlchemyError, AssertionError) as error:
            self.complaints.append(f"{fault}: {type(error).__name__}: {error}"[:500])
            victims = ()
        record = Disturbed(fault.kind, str(fault.target), started, time.time(), tuple(victims))
        self._stage.history.add(record)


Deed = Callable[[Stage, Fault, str], Sequence[str]]


def _choose(stage: Stage, fault: Fault) -> subprocess.Popen[bytes]:
    return stage.workers[fault.target % len(stage.workers)]


def _kill_worker(stage: Stage, fault: Fault, _: str) -> Sequence[str]:
    process = _choose(stage, fault)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    revive_worker(stage, process)
    return (str(process.pid),)


def _kill_workers(stage: Stage, fault: Fault, _: str) -> Sequence[str]:
    victims = list(stage.workers)
    for process in victims:
        os.killpg(process.pid, signal.SIGKILL)
    for process in victims:
        process.wait()
        revive_worker(stage, process)
    return [str(process.pid) for process in victims]


def _freeze_worker(stage: Stage, fault: Fault, _: str) -> Sequence[str]:
    process = _choose(stage, fault)
    os.kill(process.pid, signal.SIGSTOP)
    time.sleep(fault.seconds)
    os.kill(process.pid, signal.SIGCONT)
    return (str(process.pid),)


def _end_worker(stage: Stage, fault: Fault, _: str) -> Sequence[str]:
    """SIGTERM; a new one stands beside it at once, as when a new version is rolled out."""
    process = _choose(stage, fault)
    stage.start_worker()
    stage.workers.remove(process)
    stop_process(process)
    return (str(process.pid),)


def _kill_api(stage: Stage, fault: Fault, _: str) -> Sequence[str]:
    if stage.api is None:
        return ()
    os.killpg(stage.api.pid, signal.SIGKILL)
    stage.api.wait()
    pid = str(stage.api.pid)
    time.sleep(fault.seconds)
    stage.start_api()
    return (pid,)


def _flush_redis(stage: Stage, fault: Fault, _: str) -> Sequence[str]:
    stage.redis.flushall()
    return ()


def _restart_redis(stage: Stage, fault: Fault, _: str) -> Sequence[str]:
    server = stage.servers.newest_redis
    if server.process is not None:
        server.process.kill()
        server.process.wait()
    time.sleep(fault.seconds)
    stage.start_server(server)
    return ()


def _restart_postgres(stage: Stage, fault: Fault, _: str) -> Sequence[str]:
    """An immediate shutdown: no checkpoint, the log is replayed at the start."""
    server = stage.servers.postgres
    if server.process is not None:
        server.process.send_signal(signal.SIGQUIT)
        server.process.wait()
    time.sleep(fault.seconds)
    stage.start_server(server)
    return ()


def _cut_backends(stage: Stage, fault: Fault, _: str) -> Sequence[str]:
    stage.witness.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE application_name LIKE 'colloquy%' AND datname = current_database()"
    )
    return ()


def _wire(wire: Wire, seconds: float = 0.0) -> Deed:
    def deed(stage: Stage, fault: Fault, name: str) -> Sequence[str]:
        proxy = stage.wires[name]
        proxy.set_wire(wire, seconds)
        time.sleep(fault.seconds)
        proxy.set_wire(Wire.PASS)
        return ()

    return deed


DEEDS: Mapping[str, Deed] = {
    "kill-worker": _kill_worker,
    "kill-workers": _kill_workers,
    "freeze-worker": _freeze_worker,
    "end-worker": _end_worker,
    "kill-api": _kill_api,
    "flush-redis": _flush_redis,
    "restart-redis": _restart_redis,
    "restart-postgres": _restart_postgres,
    "cut-backends": _cut_backends,
    "blackhole": _wire(Wire.BLACKHOLE),
    "latency": _wire(Wire.LATENCY, LATENCY_SECONDS),
    "reset": _wire(Wire.RESET),
}

# How long a fault lasts, in seconds: from, to.
LASTS: Mapping[str, tuple[float, float]] = {
    "freeze-worker": (1.0, 12.0),
    "kill-api": (0.0, 1.0),
    "restart-redis": (0.0, 3.0),
    "restart-postgres": (0.0, 3.0),
    "blackhole": (0.5, 6.0),
    "latency": (0.5, 3.0),
    "reset": (0.1, 1.0),
}

KINDS = (
    *(name for name in DEEDS if name not in ("blackhole", "latency", "reset")),
    "kill-worker", "kill-worker", "kill-worker",
    *(f"{kind} {wire}" for kind in ("blackhole", "latency", "reset") for wire in WIRES),
)  # fmt: skip
