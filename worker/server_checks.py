"""Checking tool servers when administrators ask, on the agents' loop, besides the turns.

It also runs dry runs: what the agent of an unsaved domain would send its model first.
"""

import asyncio
import json
import logging
import threading
from concurrent.futures import Future
from typing import cast
from uuid import uuid4

from pydantic import ValidationError
from redis.exceptions import RedisError
from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError

from backend.agents.factory import AgentRecipe, names_of_policies
from backend.auth.callers import scope_of
from backend.auth.rights import read_rights
from backend.auth.scope import Scope
from backend.connections.store import NEWEST_NUMBER
from backend.domains import service as domains
from backend.domains.allowed import Allowed
from backend.domains.team import specialists_for
from backend.errors.base import AppError
from backend.files.origins import finder
from backend.files.rows import has_documents
from backend.operations.first_request import make_first_request
from backend.operations.sealed_questions import QuestionRefused, spend, unseal
from backend.operations.server_checks import (
    ANSWER,
    KEPT_SECONDS,
    LISTEN_SECONDS,
    QUESTIONS,
    DryRunRequest,
    Question,
)
from backend.schemas.domains.dry_runs import FirstRequest
from backend.schemas.domains.servers import ServersReport
from backend.schemas.domains.templates import DomainTemplate
from backend.schemas.people.rights import Resource, Role
from backend.tools.asker import KnownAsker
from backend.tools.context import ToolContext
from backend.tools.mcp.probe import probe_servers
from backend.tools.mcp.stored_versions import ToolMemory
from backend.turns.plan.start import TurnPlans
from backend.turns.run.runner import Runtime
from colloquy_kit.messages.clean import clean
from worker.background import Background

AT_ONCE = 4
ITSELF = Scope("colloquy", Role.ADMIN)  # the API has checked the caller
log = logging.getLogger(__name__)


class ServerChecks(Background):
    """The thread takes the questions; the agents' loop does the checks."""

    name = "server checks"

    def __init__(self, runtime: Runtime) -> None:
        super().__init__()
        self._runtime = runtime
        self._free = threading.Semaphore(AT_ONCE)

    def _run(self) -> None:
        redis = self._runtime.services.redis
        while not self._closing.is_set():
            try:
                taken = redis.blpop([QUESTIONS], timeout=LISTEN_SECONDS)
                if taken:
                    self._take(self._opened(cast(list[bytes], taken)[1]))
            except RedisError:
                self._closing.wait(LISTEN_SECONDS)
            except QuestionRefused as refused:
                log.warning("A question about tool servers in Redis is refused: %s", refused)
            except (AppError, SQLAlchemyError, ValidationError) as error:
                log.warning("A check of tool servers is given up: %s", type(error).__name__)
            except Exception:  # the edge: one failed question must not end the thread
                log.exception("A check of tool servers failed")

    def _opened(self, sealed: bytes) -> Question:
        """Return a question that the API has asked, for the first time. Raise QuestionRefused."""
        services = self._runtime.services
        question = Question.model_validate_json(unseal(services.settings, sealed, KEPT_SECONDS))
        with services.database.transaction() as session:
            spend(session, str(question.id))
        return question

    def _take(self, question: Question) -> None:
        """Check in the background, a few concurrently, so that a slow server delays no one else."""
        template = self._template(question)
        asked, memory = question.asked, self._memory(question)
        recipe = self._recipe(template, asked, memory) if asked else None
        self._free.acquire()
        looking = asyncio.run_coroutine_threadsafe(
            self._look(question, template, memory, recipe), self._runtime.loop.loop
        )
        looking.add_done_callback(lambda done: self._answer(question, done))

    def _template(self, question: Question) -> DomainTemplate:
        if question.draft is not None:
            return question.draft
        assert question.domain_id is not None  # noqa: S101  # one of them is there
        with self._runtime.services.database.read() as session:
            return domains.get(session, ITSELF, question.domain_id)

    def _memory(self, question: Question) -> ToolMemory:
        """Return what is stored of the servers' tools; a draft adds nothing to it."""
        tools = self._runtime.servers.tools
        return (tools.seen if question.draft else tools.of)(question.domain_id)

    async def _look(
        self,
        question: Question,
        template: DomainTemplate,
        memory: ToolMemory,
        recipe: AgentRecipe | None,
    ) -> ServersReport | FirstRequest:
        runtime = self._runtime
        if question.asked and recipe:
            return await make_first_request(recipe, question.asked.question, question.seconds)
        allowed = Allowed.of(runtime.services.settings)
        found = await probe_servers(
            template.mcp_servers,
            allowed,
            runtime.servers.health,
            memory,
            names_of_policies(template),
        )
        return ServersReport(worker=runtime.name, items=found)

    def _recipe(
        self, template: DomainTemplate, asked: DryRunRequest, memory: ToolMemory
    ) -> AgentRecipe:
        """Return what a turn in a new session of the caller would be built from."""
        runtime, services, session_id = self._runtime, self._runtime.services, uuid4()
        with services.database.read() as session:
            number = session.scalar(select(NEWEST_NUMBER))
            scope = scope_of(session, asked.user_id)
            reads = has_documents(session, scope, session_id)
            rights = read_rights(session, scope)
        files = finder(services.database, services.files, lambda: scope, session_id)
        sources = runtime.sources.without(lambda: rights.withheld_of(Resource.SOURCE))
        turn_id, role = uuid4(), scope.role
        names = [agent.name for agent in specialists_for(template, role)]
        context = ToolContext(
            sources.beside(files),
            session_id,
            turn_id,
            scope,
            # Nothing starts a plan: no tool is called.
            plans=TurnPlans(services, session_id, turn_id, 0, names) if template.manager else None,
            has_documents=reads,
            asking=KnownAsker(rights),
        )
        return AgentRecipe(
            image=template,
            agent_name=asked.agent or "",
            models=runtime.models.of(number),
            role=role,
            tool_context=context,
            allowed=Allowed.of(services.settings),
            health=runtime.servers.health,
            memory=memory,
            sandbox=services.sandbox,
        )

    def _answer(self, question: Question, done: "Future[ServersReport | FirstRequest]") -> None:
        self._free.release()
        try:
            body = json.dumps(clean(done.result().model_dump(mode="json")))
            with self._runtime.services.redis.pipeline() as pipeline:
                pipeline.rpush(f"{ANSWER}{question.id}", body)
                pipeline.expire(f"{ANSWER}{question.id}", KEPT_SECONDS)
                pipeline.execute()
        except (RedisError, SQLAlchemyError):
            log.warning("A check of tool servers reaches nobody")
        except Exception:  # the edge: the caller gets an error for a missing answer
            log.exception("A check of tool servers failed")
