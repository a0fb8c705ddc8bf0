"""Figures for Prometheus, read from the database and Redis at each scrape."""

from collections.abc import Iterator

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from redis.exceptions import RedisError
from sqlalchemy import func, select
from sqlalchemy.exc import SQLAlchemyError

from backend.turns.lifecycle import UNFINISHED
from backend.turns.presence import count_workers
from backend.turns.services import Services
from db.models.turn import TurnRow

CONTENT_TYPE = CONTENT_TYPE_LATEST


def write_metrics(services: Services) -> bytes:
    """The text that a scrape gets; a part that does not answer has `up` 0 and no figures."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collector(services))
    return generate_latest(registry)


class _Collector(Collector):
    def __init__(self, services: Services) -> None:
        self._services = services

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

    def _turns(self) -> Iterator[Metric]:
        turns = GaugeMetricFamily(
            "colloquy_turns", "Turns that are not finished.", labels=["status"]
        )
        age = GaugeMetricFamily("colloquy_oldest_turn_seconds", "Age of the oldest of them.")
        unfinished = TurnRow.status.in_(UNFINISHED)
        oldest = func.extract("epoch", func.now() - func.min(TurnRow.created_at))
        with self._services.database.read() as session:
            by_status = session.execute(
                select(TurnRow.status, func.count()).where(unfinished).group_by(TurnRow.status)
            )
            counts = dict(by_status.tuples().all())
            seconds = session.scalar(select(oldest).where(unfinished))
        for status in sorted(UNFINISHED):
            turns.add_metric([status], counts.get(status, 0))
        age.add_metric([], float(seconds or 0))
        yield from (turns, age)

    def _workers(self) -> Iterator[Metric]:
        redis = self._services.redis
        yield GaugeMetricFamily(
            "colloquy_workers", "Worker processes alive.", value=count_workers(redis)
        )
        yield GaugeMetricFamily(
            "colloquy_queued_jobs", "Jobs waiting in Redis.", value=self._services.queue.rq.count
        )
