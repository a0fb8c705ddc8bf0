"""What can be wrong with tools and the servers that give them."""

from backend.errors.base import AppError


class ToolVersionNotFound(AppError):
    """There is no such version of a tool. It may have changed again: load the list anew."""

    status = 404


class ToolServersNotChecked(AppError):
    """No worker has looked at the tool servers. Check that one runs, and Redis, then try again."""

    status = 503
    retry_after = 5


class ToolNotGiven(AppError):
    """No agent of this session may query sources, so neither can you here."""

    status = 403


class ToolServerUnavailable(AppError):
    """A tool server (MCP) cannot be used. Turns continue without its tools; check that it runs."""
