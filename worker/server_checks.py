"""Looks at tool servers when administrators ask: on the agents' loop, beside the turns."""

import asyncio
import json
import logging
import threading
from concurrent.futures import Future
from typing import cast

from pydantic import ValidationError
from redis.exceptions import RedisError
from sqlalchemy.exc import SQLAlchemyError

from backend.auth.scope import Role, Scope
from backend.domains import service as domains
from backend.domains.allowed import Allowed
from backend.errors import AppError
from backend.llm.clean import clean
from backend.operations.server_checks import (
    ANSWER,
    KEPT_SECONDS,
    LISTEN_SECONDS,
    QUESTIONS,
    Question,
)
from backend.schemas.servers import ServerReport, ServersReport
from backend.tools.mcp.probe import probe_servers
from backend.turns.run.runner import Runtime

AT_ONCE = 4
ITSELF = Scope("colloquy", Role.ADMIN)  # who asked was checked by the API
log = logging.getLogger(__name__)


class ServerChecks:
    """One thread of a worker process that takes such questions; the agents' loop looks."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._closing = threading.Event()
        self._free = threading.Semaphore(AT_ONCE)
        self._thread = threading.Thread(target=self._listen, name="server checks", daemon=True)

    def start(self) -> None:
        """Begin to listen."""
        self._thread.start()

    def close(self) -> None:
        """Take no more questions."""
        self._closing.set()
        self._thread.join(timeout=5)

    def _listen(self) -> None:
        redis = self._runtime.services.redis
        while not self._closing.is_set():
            try:
                taken = redis.blpop([QUESTIONS], timeout=LISTEN_SECONDS)
                if taken:
                    self._take(Question.model_validate_json(cast(list[bytes], taken)[1]))
            except RedisError:
                self._closing.wait(LISTEN_SECONDS)
            except (AppError, SQLAlchemyError, ValidationError) as error:
                log.warning("A check of tool servers is given up: %s", type(error).__name__)
            except Exception:  # the edge: one question that fails must not be the last
                log.exception("A check of tool servers failed")

    def _take(self, question: Question) -> None:
        """Look in the background; a few at once, so that nobody's question waits for one server."""
        services, servers = self._runtime.services, self._runtime.servers
        with services.database.read() as session:
            template = domains.get(session, ITSELF, question.domain_id)
        allowed = Allowed.of(services.settings)
        memory = servers.tools.of(question.domain_id)
        self._free.acquire()
        looking = asyncio.run_coroutine_threadsafe(
            probe_servers(template.mcp_servers, allowed, servers.health, memory),
            self._runtime.loop.loop,
        )
        looking.add_done_callback(lambda done: self._answer(question, done))

    def _answer(self, question: Question, done: "Future[list[ServerReport]]") -> None:
        self._free.release()
        try:
            report = ServersReport(worker=self._runtime.name, items=done.result())
            body = json.dumps(clean(report.model_dump(mode="json")))
            with self._runtime.services.redis.pipeline() as pipeline:
                pipeline.rpush(f"{ANSWER}{question.id}", body)
                pipeline.expire(f"{ANSWER}{question.id}", KEPT_SECONDS)
                pipeline.execute()
        except (RedisError, SQLAlchemyError):
            log.warning("A check of tool servers reaches nobody")
        except Exception:  # the edge: whoever asked is told that nobody has answered
            log.exception("A check of tool servers failed")
