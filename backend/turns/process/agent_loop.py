"""The one event loop of a process on which all agents run."""

import asyncio
import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor

TICK_SECONDS = 0.5

log = logging.getLogger(__name__)


class AgentLoop:
    """Runs all agents of a process in its own thread."""

    def __init__(self, threads: int) -> None:
        self.loop = asyncio.new_event_loop()
        # Synchronous tools run here; asyncio's few default threads let turns delay each other.
        self.loop.set_default_executor(ThreadPoolExecutor(threads, thread_name_prefix="tools"))
        self._thread = threading.Thread(target=self._run, name="agents", daemon=True)
        self._ticked_at = time.monotonic()

    def start(self) -> None:
        """Start the loop."""
        self.loop.call_soon(self._tick)
        self._thread.start()

    @property
    def silence(self) -> float:
        """Return for how many seconds the loop has been blocked. Call it from any thread."""
        return max(time.monotonic() - self._ticked_at - TICK_SECONDS, 0.0)

    @property
    def thread_id(self) -> int | None:
        """Return the thread that the loop runs in, to find what blocks it."""
        return self._thread.ident

    def close(self) -> None:
        """Stop the loop; what still runs on it is abandoned."""
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(timeout=5)

    def _tick(self) -> None:
        self._ticked_at = time.monotonic()
        self.loop.call_later(TICK_SECONDS, self._tick)

    def _run(self) -> None:
        """Run until closed, also when a task's sys.exit() breaks out of asyncio's loop."""
        while True:
            try:
                return self.loop.run_forever()
            except (SystemExit, KeyboardInterrupt):
                log.exception("A task tried to exit the process; the others go on")
