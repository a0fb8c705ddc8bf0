"""Errors about tools and tool servers."""

from backend.errors.base import AppError


class ToolVersionNotFound(AppError):
    """There is no such version of a tool. It may have changed again: reload the list."""

    status = 404


class ToolServersNotChecked(AppError):
    """No worker has looked at the tool servers. Check that a worker and Redis run, then retry."""

    status = 503
    retry_after = 5


class ToolNotGiven(AppError):
    """No agent of this session may query sources, so you cannot query them here either."""

    status = 403


class ToolServerUnavailable(AppError):
    """A tool server (MCP) cannot be used. Turns continue without its tools; check that it runs."""
