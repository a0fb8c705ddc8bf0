"""A worker process: `python -m worker` runs turns in threads until it is told to end."""

import logging
import os
import signal
import socket
import sys
import threading
from types import FrameType
from typing import Protocol
from uuid import uuid4

from backend.bootstrap import bootstrap
from backend.configuration import read_settings
from backend.data.sources import Sources
from backend.errors import ConfigurationError
from backend.llm.provider import ModelProvider
from backend.logs import set_up_logs
from backend.settings import Settings
from backend.turns.feed import AgentLoop
from backend.turns.lease import LeaseKeeper
from backend.turns.presence import Presence
from backend.turns.runner import Runtime
from worker.jobs import set_runtime
from worker.sweeper import Sweeper
from worker.worker import ThreadWorker

GRACE_SECONDS = 8  # how long turns in hand may go on after SIGTERM; then others take them over
log = logging.getLogger("worker")


class _Part(Protocol):
    def start(self) -> None: ...


def main() -> int:
    """Run until SIGTERM or SIGINT."""
    try:
        settings = read_settings()
        set_up_logs(settings.log_level)
        runtime = make_runtime(settings)
    except ConfigurationError as error:
        sys.stderr.write(f"{error.detail}\n")
        return 2
    set_runtime(runtime)
    stopping = threading.Event()
    _obey_signals(stopping)
    _work(runtime, stopping)
    return 0


def make_runtime(settings: Settings) -> Runtime:
    """Make what this process runs turns with. Raises ConfigurationError."""
    services = bootstrap(settings, threads=settings.worker_turns)
    name = f"{socket.gethostname()}.{os.getpid()}.{uuid4().hex[:6]}"
    return Runtime(
        name=name,
        services=services,
        models=ModelProvider(settings),
        sources=Sources(settings.data_dir, settings.source_urls),
        loop=AgentLoop(threads=settings.worker_turns),
        leases=LeaseKeeper(services.database, name, settings.lease_seconds),
    )


def _work(runtime: Runtime, stopping: threading.Event) -> None:
    services = runtime.services
    sweeper, presence = Sweeper(services), Presence(services.redis, runtime.name)
    workers = [
        ThreadWorker(services.queue.rq, f"{runtime.name}.{number}")
        for number in range(services.settings.worker_turns)
    ]
    threads = [
        threading.Thread(target=worker.work_until, args=(stopping,), daemon=True)
        for worker in workers
    ]
    parts: list[_Part] = [runtime.loop, runtime.leases, sweeper, presence, *threads]
    for part in parts:
        part.start()
    log.info("Worker %s runs up to %s turns at once", runtime.name, len(workers))
    stopping.wait()
    for worker in workers:
        worker.stop()
    presence.close()
    sweeper.close()
    _drain(threads)
    runtime.sources.close()
    runtime.leases.close()
    runtime.loop.close()


def _drain(threads: list[threading.Thread]) -> None:
    """Give the turns in hand a while to end; daemon threads do not hold the process after it."""
    for thread in threads:
        thread.join(timeout=GRACE_SECONDS / len(threads))


def _obey_signals(stopping: threading.Event) -> None:
    def stop(number: int, frame: FrameType | None) -> None:
        stopping.set()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)


if __name__ == "__main__":
    sys.exit(main())
