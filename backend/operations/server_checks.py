"""Checks of tool servers by a worker, because only workers start servers and hold secrets.

Administrators also check domains that are not stored yet, and see their first request. Questions
and answers travel through Redis, which drops both within a minute; questions are sealed. Stored
credentials do not travel: they are masked in the edited template, and the worker reads them itself.
"""

from collections.abc import Mapping
from typing import TypeVar, cast
from uuid import UUID, uuid4

from pydantic import BaseModel, ValidationError
from redis import Redis
from redis.exceptions import RedisError

from backend.agents.check import check_image
from backend.auth.scope import Scope
from backend.domains import service as domains
from backend.domains.allowed import Allowed
from backend.domains.template import check_template
from backend.errors.tools import ToolServersNotChecked
from backend.operations.sealed_questions import seal
from backend.operations.workers import count_workers
from backend.schemas.domains.dry_runs import FirstRequest, RequestTrial, ServersTrial
from backend.schemas.domains.servers import ServersReport
from backend.schemas.domains.templates import DomainTemplate, McpServer
from backend.schemas.people.rights import Permission
from backend.settings import Settings
from backend.turns.process.services import Services

Answer = TypeVar("Answer", ServersReport, FirstRequest)

QUESTIONS = "colloquy:servers:questions"
ANSWER = "colloquy:servers:answer:"
KEPT_SECONDS = 60
LISTEN_SECONDS = 1
MARGIN_SECONDS = 5.0


class DryRunRequest(BaseModel):
    """A question whose first request is to be shown, the agent, and the person who would ask."""

    agent: str | None
    question: str
    user_id: str


class Question(BaseModel):
    """What to check: the servers of a stored domain, or of a draft.

    With `asked`, the first request of the draft's agent is built instead.
    """

    id: UUID
    domain_id: UUID | None
    draft: DomainTemplate | None = None
    asked: DryRunRequest | None = None
    seconds: float = KEPT_SECONDS


def check_servers(services: Services, scope: Scope, domain_id: UUID) -> ServersReport:
    """Make a worker check a domain's servers.

    Raise NotAllowed, DomainNotFound, or ToolServersNotChecked if no worker answers.
    """
    scope.require(Permission.MANAGE_SERVERS)
    with services.database.read() as session:
        servers = domains.get(session, scope, domain_id).mcp_servers
    question = Question(id=uuid4(), domain_id=domain_id)
    return _ask(services, question, _patience(services.settings, servers), ServersReport)


def try_servers(services: Services, scope: Scope, trial: ServersTrial) -> ServersReport:
    """Make a worker check the servers of an unsaved domain; nothing is stored.

    Raise like `check_servers`, and InvalidInput if the domain could not be stored.
    """
    return _ask(services, *_question(services, scope, trial, None), ServersReport)


def try_request(services: Services, scope: Scope, trial: RequestTrial) -> FirstRequest:
    """Make a worker build an agent's first request; it is not sent. Raise like `try_servers`."""
    asked = DryRunRequest(agent=trial.agent, question=trial.question, user_id=scope.user_id)
    return _ask(services, *_question(services, scope, trial, asked), FirstRequest)


def _question(
    services: Services, scope: Scope, trial: ServersTrial, asked: DryRunRequest | None
) -> tuple[Question, float]:
    """Return the question and its time limit, after the checks that saving would make."""
    scope.require(Permission.MANAGE_SERVERS)
    if trial.domain_id:
        with services.database.read() as session:
            domains.get(session, scope, trial.domain_id)
    check_template(trial.template)
    check_image(trial.template, Allowed.of(services.settings))
    seconds = _patience(services.settings, trial.template.mcp_servers)
    question = Question(
        id=uuid4(),
        domain_id=trial.domain_id,
        draft=trial.template,
        asked=asked,
        seconds=seconds - MARGIN_SECONDS / 2,  # so that the answer comes while it is waited for
    )
    return question, seconds


def _patience(settings: Settings, servers: Mapping[str, McpServer]) -> float:
    own = (server.connect_seconds or 0.0 for server in servers.values())
    return max(settings.mcp_connect_seconds, *own, 0.0) + MARGIN_SECONDS


def _ask(services: Services, question: Question, seconds: float, answer: type[Answer]) -> Answer:
    sealed = seal(services.settings, question)
    try:
        return answer.read(_wait(services.redis, question.id, sealed, seconds))
    except (RedisError, ValidationError) as error:
        raise ToolServersNotChecked from error


def _wait(redis: Redis, question_id: UUID, sealed: str, seconds: float) -> bytes:
    """Wait for an answer in short periods: Redis disconnects clients that wait for long."""
    if not count_workers(redis):
        raise ToolServersNotChecked
    redis.rpush(QUESTIONS, sealed)
    redis.expire(QUESTIONS, KEPT_SECONDS)
    for _ in range(int(seconds / LISTEN_SECONDS) + 1):
        taken = redis.blpop([f"{ANSWER}{question_id}"], timeout=LISTEN_SECONDS)
        if taken:
            return cast(list[bytes], taken)[1]
    redis.lrem(QUESTIONS, 0, sealed)
    raise ToolServersNotChecked
