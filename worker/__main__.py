"""A worker process: `python -m worker` runs turns in threads until it is told to stop.

`python -m worker TURN` runs this turn only.
"""

import gc
import logging
import os
import sys
from importlib import import_module
from typing import NoReturn
from uuid import UUID, uuid4

from backend.bootstrap import bootstrap, require_installation
from backend.configuration import read_settings
from backend.connections.providers import Providers
from backend.data.sources import PRELOADED, Sources
from backend.errors.base import ConfigurationError
from backend.files.origins import fetcher
from backend.logs.setup import own_name, set_up_logs
from backend.privacy import hide_process
from backend.settings import Settings
from backend.telemetry import tracing
from backend.tools.mcp.servers import ToolServers
from backend.turns.process.agent_loop import AgentLoop
from backend.turns.run.lease import LeaseKeeper
from backend.turns.run.runner import Runtime, Suspects
from db.roles import DatabaseRole
from worker.alone import SuspectProcesses, SuspectWorker
from worker.jobs import set_runtime
from worker.process import WorkerProcess
from worker.signals import StopSignals
from worker.watchdog import EXIT_CODE

# Modules that libraries import on first use, which would delay the first turns.
IMPORTED_LATE = ("anyio._backends._asyncio", "httpcore", "openai.resources.chat.chat")
GARBAGE_EVERY = 10_000  # new objects; a starting turn creates thousands
WATCHDOG_SECONDS = 60.0  # no turn may block all others for nearly this long
DATABASE_PATIENCE = 30.0  # hundreds of turns may end together, and no person waits for this

log = logging.getLogger("worker")


def main(watchdog_seconds: float = WATCHDOG_SECONDS, turn_id: UUID | None = None) -> int:
    """Run until SIGTERM or SIGINT, or until the agents' loop has been blocked for this long.

    With a turn, run only this one, which may be what ends workers. Return the exit status.
    """
    hide_process()
    try:
        settings = read_settings()
        name = f"{own_name()}.{uuid4().hex[:6]}"
        set_up_logs("worker", settings.log_level, settings.log_format, name)
        tracing.start("worker", name)
        runtime = make_runtime(settings, name, SuspectProcesses() if turn_id is None else None)
        require_installation(runtime.services, wait=True)
        process = (
            WorkerProcess(runtime, watchdog_seconds)
            if turn_id is None
            else SuspectWorker(runtime, watchdog_seconds, turn_id)
        )
    except ConfigurationError as error:
        sys.stderr.write(f"{error.detail}\n")
        return 2
    set_runtime(runtime)
    for name in IMPORTED_LATE:
        import_module(name)
    # Garbage collection blocks all turns: do it rarely, and not over modules, which stay.
    gc.freeze()
    gc.set_threshold(GARBAGE_EVERY)
    StopSignals(process.stop).start()
    try:
        process.run()
    except Exception:  # the edge: threads that go on must not keep this process
        log.exception("The worker failed")
        return EXIT_CODE
    finally:
        tracing.close()
    return 0


def leave(code: int) -> NoReturn:
    """Exit immediately: Python would wait for a tool's thread, even one that hangs."""
    logging.shutdown()
    sys.stderr.flush()
    os._exit(code)


def make_runtime(settings: Settings, name: str, suspects: Suspects | None) -> Runtime:
    """Build what this process needs to run turns. Raise ConfigurationError."""
    services = bootstrap(
        settings,
        threads=settings.worker_turns,
        database_patience=DATABASE_PATIENCE,
        preload=PRELOADED,
        role=DatabaseRole.WORKER,
    )
    return Runtime(
        name=name,
        services=services,
        models=Providers(services.database, settings),
        sources=Sources(
            settings.data_dir, settings.source_urls, services.sandbox, fetcher(services.files)
        ),
        loop=AgentLoop(threads=settings.worker_turns),
        leases=LeaseKeeper(services.database, name, settings.lease_seconds),
        servers=ToolServers.of(settings, services.database),
        suspects=suspects,
    )


if __name__ == "__main__":
    leave(main(turn_id=UUID(sys.argv[1]) if sys.argv[1:] else None))
