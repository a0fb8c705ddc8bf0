"""The shared parts that turns depend on; created once per process by `backend.bootstrap`."""

from dataclasses import dataclass

from redis import Redis

from backend.artifacts.service import Artifacts
from backend.events.stream import EventStream
from backend.files.store import FileStore
from backend.sandbox.sandbox import Sandbox
from backend.settings import Settings
from backend.turns.process.announcer import Announcer
from backend.turns.process.limits import Limits
from backend.turns.process.queue import TurnQueue
from db.session import Database


@dataclass(frozen=True)
class Services:
    """What the API and the worker share."""

    settings: Settings
    database: Database
    redis: Redis
    status_redis: Redis  # with short timeouts, for callers that only ask for the status
    queue: TurnQueue
    events: EventStream
    announcer: Announcer
    limits: Limits
    sandbox: Sandbox
    files: FileStore
    artifacts: Artifacts
