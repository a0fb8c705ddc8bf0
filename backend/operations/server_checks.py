"""Administrators ask how tool servers are, a worker looks: only workers start them, hold secrets.

The question travels through Redis as ids, the answer comes back the same way; both are forgotten
within a minute. Whoever asks waits no longer than servers may take.
"""

from typing import cast
from uuid import UUID, uuid4

from pydantic import BaseModel, ValidationError
from redis.exceptions import RedisError

from backend.auth.scope import Scope
from backend.domains import service as domains
from backend.errors import NotAllowed, ToolServersNotChecked
from backend.operations.workers import count_workers
from backend.schemas.servers import ServersReport
from backend.turns.process.services import Services

QUESTIONS = "colloquy:servers:questions"
ANSWER = "colloquy:servers:answer:"
KEPT_SECONDS = 60
LISTEN_SECONDS = 1
MARGIN_SECONDS = 5.0


class Question(BaseModel):
    """Which domain's servers are to be looked at."""

    id: UUID
    domain_id: UUID


def check_servers(services: Services, scope: Scope, domain_id: UUID) -> ServersReport:
    """Let a worker look at a domain's servers.

    Raise NotAllowed, DomainNotFound, ToolServersNotChecked when no worker answers.
    """
    if not scope.is_admin:
        raise NotAllowed
    with services.database.read() as session:
        servers = domains.get(session, scope, domain_id).mcp_servers
    own = (server.connect_seconds or 0.0 for server in servers.values())
    seconds = max(services.settings.mcp_connect_seconds, *own, 0.0) + MARGIN_SECONDS
    question = Question(id=uuid4(), domain_id=domain_id)
    try:
        return ServersReport.read(_ask(services, question, seconds))
    except (RedisError, ValidationError) as error:
        raise ToolServersNotChecked from error


def _ask(services: Services, question: Question, seconds: float) -> bytes:
    """Wait for an answer in short spells: Redis cuts off who waits for long."""
    redis, body = services.redis, question.model_dump_json()
    if not count_workers(redis):
        raise ToolServersNotChecked
    redis.rpush(QUESTIONS, body)
    redis.expire(QUESTIONS, KEPT_SECONDS)
    for _ in range(int(seconds / LISTEN_SECONDS) + 1):
        taken = redis.blpop([f"{ANSWER}{question.id}"], timeout=LISTEN_SECONDS)
        if taken:
            return cast(list[bytes], taken)[1]
    redis.lrem(QUESTIONS, 0, body)
    raise ToolServersNotChecked
