"""One connection to an MCP server: opening, calls and how it ends."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

import anyio
from langchain_core.tools import ToolException
from langchain_mcp_adapters.sessions import create_session
from mcp import ClientSession
from mcp.shared.exceptions import McpError
from mcp.types import CONNECTION_CLOSED, CallToolResult, ReadResourceResult, Tool
from pydantic import AnyUrl, ValidationError

from backend.domains.allowed import Allowed
from backend.schemas.domains.templates import McpServer, StdioServer, StreamableHttpServer
from backend.tools.mcp.connection.cancel import cancel_requests
from backend.tools.mcp.connection.failures import failure_of, is_refused, said_of_status
from backend.tools.mcp.connection.progress import ProgressLine
from backend.tools.mcp.connection.reading import call_tool, list_tools
from backend.tools.mcp.connection.rescue import rescue
from backend.tools.mcp.connection.stdio import stdio_session
from backend.tools.mcp.connection.task import Note, run_as_task
from backend.tools.mcp.connection.wire import HttpWatch
from backend.tools.mcp.own_secrets import OwnSecrets
from backend.types import JSON

MARGIN_SECONDS = 10.0  # so that the caller times out first
SIGN_SECONDS = 3.0
UNCERTAIN = "so this call may or may not have taken effect"
SESSION_TERMINATED = 32600

T = TypeVar("T")
Ask = Callable[[ClientSession, Note], Awaitable[T]]

logger = logging.getLogger(__name__)


class NotDelivered(Exception):
    """The server has not received the call: repeating it is harmless."""


class Session:
    """One connection, opened and closed by its own task, as anyio demands.

    `known`: the tools, if the server has just listed them; otherwise it is asked.
    """

    def __init__(
        self,
        name: str,
        server: McpServer,
        call_seconds: float,
        allowed: Allowed,
        own: OwnSecrets,
        known: Sequence[Tool] = (),
    ) -> None:
        self._name = name
        self._known = known
        url = "" if isinstance(server, StdioServer) else server.url
        self._http = HttpWatch(self._fail, url, allowed.outgoing)
        self._opening = (
            stdio_session(server, allowed.commands, own, self._take_aside)
            if isinstance(server, StdioServer)
            else self._http_session(server, call_seconds)
        )
        self._ready: asyncio.Future[list[Tool]] = asyncio.get_running_loop().create_future()
        self._session: ClientSession | None = None
        self._closing = asyncio.Event()
        self._call_seconds = call_seconds
        self._calls: dict[Any, asyncio.Future[Any]] = {}
        self._task: asyncio.Task[None] | None = None
        self._error: BaseException | None = None
        self._is_suspect = False
        self._has_complained = False

    @property
    def is_open(self) -> bool:
        """Return whether it is connected."""
        return (
            self._session is not None
            and self._task is not None
            and not self._task.done()
            and not self._closing.is_set()
        )

    async def open(self, tasks: set[asyncio.Task[None]], seconds: float) -> list[Tool] | None:
        """Connect and return the tools; None when the server does not answer in time."""
        self._task = asyncio.create_task(self._keep_open())
        tasks.add(self._task)
        self._task.add_done_callback(tasks.discard)
        waited: set[asyncio.Future[Any]] = {self._task, self._ready}
        await asyncio.wait(waited, timeout=seconds, return_when="FIRST_COMPLETED")
        return self._ready.result() if self._ready.done() else None

    def failure(self, seconds: float) -> str:
        """Return why it did not open within `seconds`, in words."""
        return failure_of(self._error, seconds)

    async def is_usable(self) -> bool:
        """Return whether calls may use it; ping it if a call has failed or its answer was late."""
        if self._is_suspect and self._session is not None and self.is_open:
            try:
                async with asyncio.timeout(SIGN_SECONDS):
                    await self._session.send_ping()
            except (TimeoutError, McpError, anyio.ClosedResourceError, anyio.BrokenResourceError):
                return False
            self._is_suspect = False
        return self.is_open

    async def call(
        self,
        tool: str,
        arguments: JSON,
        meta: JSON | None,
        line: ProgressLine,
        *,
        as_task: bool = False,
    ) -> CallToolResult:
        """Call a tool; its progress goes to `line`."""
        asked = 0

        async def ask(session: ClientSession, note: Note) -> CallToolResult:
            def count() -> None:
                nonlocal asked
                asked += 1
                note()

            if as_task:
                return await run_as_task(
                    session, tool, arguments, meta,
                    seconds=self._call_seconds, note=count, say=line.say,
                )  # fmt: skip
            count()
            return await call_tool(session, tool, arguments, meta, line.count)

        try:
            return await self._request(ask, as_task=as_task)
        except NotDelivered:
            if asked > 1:  # the undelivered request concerns a task that has begun
                raise self._broken() from None
            raise

    async def read(self, uri: AnyUrl) -> ReadResourceResult | None:
        """Read a resource; None if the server says that it has none."""
        capabilities = self._session.get_server_capabilities() if self._session else None
        if capabilities is None or capabilities.resources is None:
            return None

        async def ask(session: ClientSession, note: Note) -> ReadResourceResult:
            note()
            return await session.read_resource(uri)

        return await self._request(ask)

    async def _request(self, ask: Ask[T], *, as_task: bool = False) -> T:
        """Send a request; it fails immediately if the server dies.

        A request is identified by the id that the session assigns it when `note` is called.
        """
        assert self._session is not None and self._task is not None  # noqa: S101  # is open
        session = self._session
        aside: asyncio.Future[T] = asyncio.get_running_loop().create_future()

        def note() -> None:
            self._calls[session._request_id] = aside

        async def listen_and_ask() -> T:
            await self._http.listen()
            return await ask(session, note)

        call = asyncio.ensure_future(listen_and_ask())
        try:
            waited: set[asyncio.Future[Any]] = {call, aside, self._task}
            await asyncio.wait(waited, return_when="FIRST_COMPLETED")
            if call.done():
                return call.result()
            if aside.done():
                return aside.result()
            raise self._lost()
        except asyncio.CancelledError:
            self._is_suspect = True  # the caller has gone: stopped, or a timeout
            if not as_task:  # tasks cancel themselves
                cancel_requests(session, [k for k, v in self._calls.items() if v is aside])
            raise
        except McpError as error:
            raise self._explain(error) from error
        except (anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
            raise NotDelivered from error
        except (RuntimeError, ValidationError) as error:
            raise ToolException(
                f"The tool server {self._name!r} gave a result that does not fit its own schema; "
                "the tool has run, but its result cannot be used."
            ) from error
        finally:
            self._forget(aside)
            call.cancel()

    def close(self) -> None:
        """Ask the task to end, or cancel it if it has not connected yet."""
        self._closing.set()
        if self._task is not None and self._session is None:
            self._task.cancel()

    def _forget(self, aside: asyncio.Future[Any]) -> None:
        self._calls = {key: value for key, value in self._calls.items() if value is not aside}
        if aside.done():
            aside.exception()
        else:
            aside.cancel()

    def _fail(self, request_id: Any, reason: str) -> bool:
        """Fail a call for which no result will come; return whether it had waited for one."""
        aside = self._calls.get(request_id)
        if aside is None or aside.done():
            return False
        self._is_suspect = True
        message = f"The tool server {self._name!r} failed: {reason}, {UNCERTAIN}."
        aside.set_exception(ToolException(message))
        return True

    async def _take_aside(self, message: Any) -> None:
        """Handle what the SDK could not read; a result in it still reaches its call."""
        if not isinstance(message, Exception) or type(message) is RuntimeError:
            return  # the latter: an answer to a call that was cancelled
        request_id, result = rescue(message)
        aside = self._calls.get(request_id)
        if aside is None or aside.done():
            if not self._has_complained:
                fields = {"server": self._name}
                logger.warning("tool server sent something that is not a message", extra=fields)
            self._has_complained = True
        elif result is None:
            self._fail(request_id, "its answer cannot be read")
        else:
            aside.set_result(result)

    def _explain(self, error: McpError) -> Exception:
        code, message = error.error.code, error.error.message
        if (code, message) == (CONNECTION_CLOSED, "Connection closed"):
            self.close()
            return self._lost()
        if (code, message) == (SESSION_TERMINATED, "Session terminated"):
            return NotDelivered()
        return ToolException(f"The tool server {self._name!r} says: {error}")

    def _lost(self) -> Exception:
        return NotDelivered() if is_refused(self._error) else self._broken()

    def _broken(self) -> ToolException:
        reason = said_of_status(self._error) or "has broken the connection"
        return ToolException(f"The tool server {self._name!r} {reason}, {UNCERTAIN}.")

    def _http_session(
        self, server: StreamableHttpServer, call_seconds: float
    ) -> AbstractAsyncContextManager[ClientSession]:
        return create_session(
            {
                "transport": "streamable_http",
                "url": server.url,
                "headers": server.headers,
                "sse_read_timeout": call_seconds + MARGIN_SECONDS,
                "httpx_client_factory": self._http.client,
                "session_kwargs": {"message_handler": self._take_aside},
            }
        )

    async def _keep_open(self) -> None:
        try:
            async with self._opening as session:
                await session.initialize()
                tools = list(self._known or await list_tools(session))
                self._session = session
                self._ready.set_result(tools)
                await self._closing.wait()
        except Exception as error:  # noqa: BLE001  # an edge: callers see that the connection ended
            self._error = error
            fields = {"server": self._name, "error": type(error).__name__}
            logger.warning("tool server lost", extra=fields)
