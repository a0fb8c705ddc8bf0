"""One MCP server during a run: its connection, opened when a call finds none or a lost one."""

import asyncio
import logging
from collections.abc import Sequence

from langchain_core.tools import ToolException
from mcp.types import CallToolResult, ReadResourceResult, Tool
from pydantic import AnyUrl

from backend.domains.allowed import Allowed
from backend.domains.secrets import expand_secrets, named_secrets, names_of_secrets
from backend.errors.tools import ToolServerUnavailable
from backend.schemas.domains.templates import McpServer
from backend.tools.mcp.connection.progress import ProgressLine
from backend.tools.mcp.connection.session import UNCERTAIN, NotDelivered, Session
from backend.tools.mcp.health import ServerHealth
from backend.tools.mcp.own_secrets import OwnSecrets
from backend.types import JSON

logger = logging.getLogger(__name__)


class Server:
    """A server by its name; each call finds an open connection or opens one.

    `key` identifies the server across domains. `call_seconds`: how long it may be silent within a
    call, unless the server's own template says otherwise. `tools`: what it has listed, here or to
    another turn at the same time. Raise SecretMissing or SecretForbidden.
    """

    def __init__(
        self,
        name: str,
        template: McpServer,
        allowed: Allowed,
        health: ServerHealth,
        call_seconds: float,
    ) -> None:
        self.name = name
        self.key = template.model_dump_json()
        self.tools: Sequence[Tool] = ()
        self.is_connecting = False
        self.secrets = names_of_secrets(template)
        self._server = expand_secrets(template, allowed.secrets)
        self._own = OwnSecrets(named_secrets(template, allowed.secrets))
        self._health = health
        self._allowed = allowed
        self._call_seconds = template.call_seconds or call_seconds
        self._is_bounded = template.call_seconds is not None
        self._current: Session | None = None
        self._connecting = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def call_seconds(self) -> float:
        """Return how many seconds it may be silent within a call."""
        return self._call_seconds

    @property
    def connect_seconds(self) -> float:
        """Return how many seconds it may take to connect."""
        return self._server.connect_seconds or self._health.connect_seconds

    async def connect(self, known: Sequence[Tool] = ()) -> list[Tool]:
        """Open the connection and return the tools. Raise ToolServerUnavailable that says why not.

        With `known` tools, the server is not asked for them.
        """
        since = self._health.connecting(self.key)
        self.is_connecting = True
        session = Session(
            self.name, self._server, self._call_seconds, self._allowed, self._own, known
        )
        self._current = session
        try:
            tools = await session.open(self._tasks, self.connect_seconds)
        except asyncio.CancelledError:
            session.close()
            self._health.given_up(self.key)
            raise
        finally:
            self.is_connecting = False
        if tools is None:
            reason = session.failure(self.connect_seconds)
            session.close()
            self._health.failed(self.key, since, reason, self.connect_seconds)
            raise ToolServerUnavailable(reason)
        self._health.connected(self.key, since)
        return [self._own.hide_in(tool) for tool in tools]

    async def call(
        self,
        tool: str,
        arguments: JSON,
        meta: JSON | None,
        line: ProgressLine,
        *,
        as_task: bool = False,
    ) -> CallToolResult:
        """Call a tool. Raise ToolException that says how it failed, and whether it may have acted.

        A connection that was lost before the call is opened again, once.
        """
        for _ in range(2):
            session = await self._open_session()
            try:
                async with asyncio.timeout(self._call_seconds if self._is_bounded else None):
                    result = await session.call(tool, arguments, meta, line, as_task=as_task)
                return self._own.hide_in(result)
            except NotDelivered:
                session.close()
            except ToolException as error:
                raise self._own.in_error(error) from error
            except TimeoutError as error:
                raise ToolException(
                    f"The tool server {self.name!r} has not answered within "
                    f"{self._call_seconds:g} seconds, its limit, {UNCERTAIN}."
                ) from error
        raise self._unreachable()

    async def read(self, uri: AnyUrl) -> ReadResourceResult | None:
        """Read what a result links to; None if the server has no resources.

        Raise ToolException that says why it cannot be read.
        """
        if self._current is None or not self._current.is_open:
            return None
        try:
            resource = await self._current.read(uri)
        except NotDelivered:
            return None
        except ToolException as error:
            raise self._own.in_error(error) from error
        return resource and self._own.hide_in(resource)

    def hide(self, text: str) -> str:
        """Return a text from the server without its own secrets."""
        return self._own.hide(text)

    def close(self) -> set[asyncio.Task[None]]:
        """Ask all connections to end and return the tasks that close them."""
        if self._current is not None:
            self._current.close()
        return self._tasks

    async def _open_session(self) -> Session:
        async with self._connecting:
            if self._current is None:
                await self._connect(self.tools)
            elif not await self._current.is_usable():
                self._current.close()
                await self._connect()
                logger.warning("tool server connected again", extra={"server": self.name})
        assert self._current is not None  # noqa: S101  # connect() has set it
        return self._current

    async def _connect(self, known: Sequence[Tool] = ()) -> None:
        try:
            await self.connect(known)
        except ToolServerUnavailable:
            raise self._unreachable() from None

    def _unreachable(self) -> ToolException:
        return ToolException(
            f"The tool server {self.name!r} has broken the connection and cannot be reached; "
            "nothing was run."
        )
