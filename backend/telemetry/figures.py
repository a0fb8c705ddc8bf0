"""What a process counts of its own work, for Prometheus: how long turns and their calls take.

No label names a process, a host, a session or a person, and each has few values: Prometheus itself
adds which process it has asked. So there are as many series after a hundred restarts as before.
"""

import threading
from collections.abc import Sequence

from prometheus_client import (
    CollectorRegistry,
    Gauge,
    Histogram,
    PlatformCollector,
    ProcessCollector,
)

from backend.version import VERSION

MOST_NAMES = 100
OTHER = "other"
TURNS = (1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 180.0, 600.0, 3_600.0)
FIRST_TOKENS = (0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
MODELS = (0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 180.0)
TOOLS = (0.01, 0.1, 0.5, 1.0, 5.0, 30.0, 60.0, 300.0)


def describe_process(registry: CollectorRegistry) -> None:
    """Add what there is to say of any process: its version, memory, processor time, files."""
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    build = Gauge("colloquy_build_info", "This process's version.", ["version"], registry=registry)
    build.labels(VERSION).set(1)


class Names:
    """The values of a label that others choose: the first so many, and `other` for all further."""

    def __init__(self, most: int = MOST_NAMES) -> None:
        self._most = most
        self._known: set[str] = set()
        self._lock = threading.Lock()

    def bounded(self, name: str) -> str:
        """Return the name, or `other` if there are too many already."""
        with self._lock:
            if name not in self._known and len(self._known) < self._most:
                self._known.add(name)
            return name if name in self._known else OTHER


class WorkFigures:
    """The figures of the turns that a process runs. Call it from any thread."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        says = "From the acceptance of a turn to its end, of turns that this worker ended."
        self._turns = self._seconds("turn", says, ["status"], TURNS)
        says = "From the acceptance of a turn to the first words that people see, first attempts."
        self._first = self._seconds("first_token", says, (), FIRST_TOKENS)
        says = "From a request to a model to its answer, with what was repeated in between."
        self._models = self._seconds("model_call", says, ["model", "result"], MODELS)
        says = "Calls of tools; those of servers under mcp: and the server's name."
        self._tools = self._seconds("tool_call", says, ["tool", "result"], TOOLS)
        self._model_names, self._tool_names = Names(), Names()

    def turn_ended(self, status: str, seconds: float) -> None:
        """Count a turn that has ended so long after it was accepted."""
        self._turns.labels(status).observe(seconds)

    def first_token(self, seconds: float) -> None:
        """Count a turn of which people have seen the first words, so long after its acceptance."""
        self._first.observe(seconds)

    def model_called(self, model: str, result: str, seconds: float) -> None:
        """Count a call of a model."""
        self._models.labels(self._model_names.bounded(model), result).observe(seconds)

    def tool_called(self, tool: str, result: str, seconds: float) -> None:
        """Count a call of a tool."""
        self._tools.labels(self._tool_names.bounded(tool), result).observe(seconds)

    def _seconds(
        self, of: str, says: str, labels: Sequence[str], buckets: Sequence[float]
    ) -> Histogram:
        name = f"colloquy_{of}_seconds"
        return Histogram(name, says, labels, registry=self.registry, buckets=buckets)


WORK = WorkFigures()
