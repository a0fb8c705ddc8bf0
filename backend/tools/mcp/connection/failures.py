"""Why a tool server is unavailable, without quoting its output, which may hold secrets."""

from collections.abc import Iterator

import httpx
from mcp.shared.exceptions import McpError
from mcp.types import CONNECTION_CLOSED

from backend.errors.outgoing import AddressRefused
from backend.errors.tools import ToolServerUnavailable


def failure_of(error: BaseException | None, seconds: float) -> str:
    """Return why it did not connect, as the end of a sentence; without an error, a timeout."""
    if error is None:
        return f"it did not answer within {seconds:g} seconds"
    if is_refused(error):
        return _refusal_of(error)
    if status := said_of_status(error):
        return f"it {status}"
    for cause in _causes(error):
        if isinstance(cause, ToolServerUnavailable):
            return cause.detail
        if isinstance(cause, FileNotFoundError):
            return "its command does not exist on the worker's machine"
        if isinstance(cause, PermissionError):
            return "the worker may not run its command"
        if isinstance(cause, McpError) and cause.error.code == CONNECTION_CLOSED:
            return "it ended, or broke the connection, before it had answered"
        if isinstance(cause, httpx.UnsupportedProtocol | httpx.InvalidURL):
            return "its url cannot be read"
    return f"it does not speak MCP as expected ({type(next(_causes(error), error)).__name__})"


def is_refused(error: BaseException | None) -> bool:
    """Return whether nothing has reached the server."""
    kinds = (httpx.ConnectError, httpx.ConnectTimeout, AddressRefused)
    return any(isinstance(cause, kinds) for cause in _causes(error))


def _refusal_of(error: BaseException | None) -> str:
    refused = next((c for c in _causes(error) if isinstance(c, AddressRefused)), None)
    return refused.reason if refused else "nothing answers at its address; check that it runs"


def said_of_status(error: BaseException | None) -> str | None:
    """Return a sentence about a failing HTTP status and what to do; None without one."""
    found = next((c for c in _causes(error) if isinstance(c, httpx.HTTPStatusError)), None)
    if found is None:
        return None
    if found.response.is_redirect:
        return (
            "answered with a redirect to another address, which is not followed: its headers are"
            " for the address in the domain; change that to the new one if it is right"
        )
    return f"answered with the status {found.response.status_code}; check its url and headers"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield the error, or the members of a group."""
    if isinstance(error, BaseExceptionGroup):
        for part in error.exceptions:
            yield from _causes(part)
    elif error is not None:
        yield error
