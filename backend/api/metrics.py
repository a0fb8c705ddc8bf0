"""Metrics for Prometheus, read from the database and Redis at each scrape."""

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from redis.exceptions import RedisError
from sqlalchemy.exc import SQLAlchemyError

from backend.auth.acting import as_system
from backend.operations.metrics import QUANTILES, read_last_hour, read_present
from backend.operations.workers import list_workers
from backend.schemas.operations.work import WorkerInfo
from backend.telemetry.figures import describe_process
from backend.turns.process.services import Services
from backend.usage.totals import ModelTotal, Totals

CONTENT_TYPE = CONTENT_TYPE_LATEST

# One gauge for each field of the figures: its name and its help text.
PRESENT = {
    "oldest_seconds": (
        "colloquy_oldest_turn_seconds",
        "Age of the oldest unfinished turn, without those that wait for people.",
    ),
    "oldest_waiting_seconds": (
        "colloquy_oldest_waiting_seconds",
        "How long the oldest turn has been waiting for nothing but a worker.",
    ),
    "oldest_held_back_seconds": (
        "colloquy_oldest_held_back_seconds",
        "How long the oldest turn has been waiting because its owner's others are running.",
    ),
    "longest_silence_seconds": (
        "colloquy_longest_silence_seconds",
        "Longest time since the last heartbeat of a running turn.",
    ),
    "overdue_leases": (
        "colloquy_overdue_leases",
        "Running turns whose lease ended over 10 s ago and that no worker has taken over.",
    ),
    "stopping": ("colloquy_stopping_turns", "Running turns that were asked to stop."),
    "waiting_for_model": (
        "colloquy_turns_waiting_for_model",
        "Running turns that wait because their model's provider asked them to.",
    ),
    "pending_approvals": ("colloquy_pending_approvals", "Calls that await a person's decision."),
    "oldest_approval_seconds": (
        "colloquy_oldest_approval_seconds",
        "How long the oldest undecided call has been waiting.",
    ),
}
LAST_HOUR = {
    "attempts": ("colloquy_hour_attempts", "Attempts at turns of the last hour."),
    "lost_workers": ("colloquy_hour_lost_workers", "Workers lost by turns of the last hour."),
    "model_retries": ("colloquy_hour_model_retries", "Retried model calls of these turns."),
    "unknown_outcomes": (
        "colloquy_hour_unknown_outcomes",
        "Tool calls of these turns that may or may not have taken effect.",
    ),
}


@dataclass(frozen=True)
class OpenRequests:
    """The requests that this process holds open: waiting for turns, and streaming events."""

    waiting: int
    streams: int


class Metrics:
    """The figures of one API process: of itself, and of the installation.

    `problems`: how many errors it has returned, by status; `count_open`: what it holds open.
    """

    def __init__(
        self,
        services: Services,
        problems: Mapping[int, int],
        count_open: Callable[[], OpenRequests],
        own: CollectorRegistry,
    ) -> None:
        describe_process(own)
        own.register(_Collector(services, problems, count_open))
        self._own = own

    def write(self) -> bytes:
        """Return the text of a scrape; a part that does not answer has `up` 0 and no figures."""
        return generate_latest(self._own)


class _Collector(Collector):
    def __init__(
        self,
        services: Services,
        problems: Mapping[int, int],
        count_open: Callable[[], OpenRequests],
    ) -> None:
        self._services = services
        self._problems = problems
        self._count_open = count_open
        self._totals = Totals()
        self._dropped = Dropped()

    def describe(self) -> Iterator[Metric]:
        """Say nothing: what there is, is read at each scrape."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        up = GaugeMetricFamily("colloquy_up", "1 when the part answers.", labels=["part"])
        try:
            yield from self._turns()
            up.add_metric(["database"], 1)
        except SQLAlchemyError:
            up.add_metric(["database"], 0)
        try:
            yield from self._workers()
            up.add_metric(["redis"], 1)
        except RedisError:
            up.add_metric(["redis"], 0)
        yield up
        open_requests = self._count_open()
        says = "Requests to this API process that are waiting for a turn to end."
        yield GaugeMetricFamily("colloquy_waiting_requests", says, value=open_requests.waiting)
        says = "Event streams that this API process holds open."
        yield GaugeMetricFamily("colloquy_event_streams", says, value=open_requests.streams)
        yield from self._resources()
        yield _labelled(
            CounterMetricFamily(
                "colloquy_problems", "Errors that this API process returned.", labels=["status"]
            ),
            {str(status): count for status, count in self._problems.items()},
        )

    def _resources(self) -> Iterator[Metric]:
        database = self._services.database
        says = "Connections to the database that this API process keeps, and that are in use."
        connections = GaugeMetricFamily("colloquy_database_connections", says, labels=["state"])
        yield _labelled(connections, {"kept": database.kept, "used": database.in_use})
        says = "Free bytes of the disk of this process's DATA_DIR."
        free = shutil.disk_usage(self._services.settings.data_dir).free
        yield GaugeMetricFamily("colloquy_disk_free_bytes", says, value=free)

    def _usage(self, totals: Mapping[str, ModelTotal]) -> Iterator[Metric]:
        says = "Requests that models have answered."
        calls = CounterMetricFamily("colloquy_model_calls", says, labels=["model"])
        says = "Cost by the prices that were set at the time."
        cost = CounterMetricFamily("colloquy_cost", says, labels=["model"])
        yield _labelled(calls, {name: one.model_calls for name, one in totals.items()})
        yield _labelled(cost, {name: one.cost for name, one in totals.items()})
        says = "Tokens; cached ones are among the input, reasoning among the output."
        tokens = CounterMetricFamily("colloquy_tokens", says, labels=["model", "kind"])
        for name, one in totals.items():
            for kind in ("input", "cached", "output", "reasoning"):
                tokens.add_metric([name, kind], getattr(one, f"{kind}_tokens"))
        yield tokens

    def _turns(self) -> Iterator[Metric]:
        at_once = self._services.settings.user_turns_at_once
        with self._services.database.read() as session, as_system(session):
            present, hour = read_present(session, at_once), read_last_hour(session)
            totals = self._totals.read(session)
        yield from self._usage(totals)
        turns = GaugeMetricFamily("colloquy_turns", "Unfinished turns.", labels=["status"])
        yield _labelled(turns, present.by_status)
        says = "Accepted turns that do not run, each by what it waits for."
        waiting = GaugeMetricFamily("colloquy_waiting_turns", says, labels=["reason"])
        yield _labelled(waiting, present.waiting)
        for figures, gauges in ((present, PRESENT), (hour, LAST_HOUR)):
            for field, (name, says) in gauges.items():
                yield GaugeMetricFamily(name, says, value=getattr(figures, field))
        says = "Turns accepted in the last hour, by status."
        accepted = GaugeMetricFamily("colloquy_hour_turns", says, labels=["status"])
        yield _labelled(accepted, hour.by_status)
        says = "Failed turns of the last hour, by reason."
        failures = GaugeMetricFamily("colloquy_hour_failures", says, labels=["reason"])
        yield _labelled(failures, hour.by_failure)
        says = "From a lost worker's last heartbeat until its turn was resumed; last hour."
        recovery = GaugeMetricFamily("colloquy_hour_recovery_seconds", says, labels=["quantile"])
        yield _labelled(recovery, _by_quantile(hour.recovery_seconds))
        says = "From the request to stop a running turn until it ended; last hour."
        stop = GaugeMetricFamily("colloquy_hour_stop_seconds", says, labels=["quantile"])
        yield _labelled(stop, _by_quantile(hour.stop_seconds))

    def _workers(self) -> Iterator[Metric]:
        workers = list_workers(self._services.status_redis)
        yield GaugeMetricFamily("colloquy_workers", "Worker processes alive.", value=len(workers))
        for field, says in (
            ("turns", "Turns that workers are running."),
            ("capacity", "Turns that workers can run at once."),
        ):
            total = sum(getattr(worker, field) for worker in workers)
            yield GaugeMetricFamily(f"colloquy_worker_{field}", says, value=total)
        yield GaugeMetricFamily(
            "colloquy_queued_jobs", "Jobs waiting in Redis.", value=self._services.queue.rq.count
        )
        says = "For how long the agents' loop of a worker has been blocked; of the worst."
        silence = max((worker.loop_silence_seconds for worker in workers), default=0.0)
        yield GaugeMetricFamily("colloquy_worker_loop_silence_seconds", says, value=silence)
        says = "Live events that Redis did not accept; viewers got stored rows instead."
        events = CounterMetricFamily("colloquy_events_dropped", says, labels=["process"])
        dropped = {"api": self._services.events.dropped, "worker": self._dropped.add(workers)}
        yield _labelled(events, dropped)


class Dropped:
    """Adds up the events that workers could not send: each begins at none, and leaves one day.

    A label with their names would make new series with each restart.
    """

    def __init__(self) -> None:
        self._by_worker: dict[str, int] = {}
        self._before: int | None = None

    def add(self, workers: Iterable[WorkerInfo]) -> int:
        """Note what workers report by now; return how much it is since the first time."""
        self._by_worker |= {worker.name: worker.events_dropped for worker in workers}
        total = sum(self._by_worker.values())
        self._before = total if self._before is None else self._before
        return total - self._before


def _labelled(
    family: GaugeMetricFamily | CounterMetricFamily, values: Mapping[str, float]
) -> Metric:
    for label, value in values.items():
        family.add_metric([label], value)
    return family


def _by_quantile(seconds: tuple[float, ...]) -> dict[str, float]:
    return {f"{share:g}": value for share, value in zip(QUANTILES, seconds, strict=True)}
