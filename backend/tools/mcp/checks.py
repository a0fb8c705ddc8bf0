"""Checking by a tool server's own schemas what its tools are called with and what they return.

In the sandbox: see `backend/tools/validation`.
"""

from dataclasses import dataclass

from langchain_core.tools import ToolException
from mcp.types import CallToolResult

from backend.sandbox.errors import OutOfTime, SandboxBusy, SandboxError
from backend.sandbox.sandbox import Sandbox
from backend.tools.mcp.server import Server
from backend.tools.validation import BOUNDS, find_misfit
from backend.types import JSON

_ALLOWS_ALL = frozenset({"type", "title", "description", "$schema"})  # of a schema of arguments


@dataclass(frozen=True)
class SchemaChecks:
    """The checks of one run; `asker` is the person for whom the run works."""

    sandbox: Sandbox
    asker: str

    async def check_arguments(self, server: Server, schema: JSON, arguments: JSON) -> None:
        """Raise ToolException, before the tool is called, unless its arguments fit its schema."""
        if not _restricts(schema):
            return
        try:
            misfit = await self._find_misfit(server, schema, arguments)
        except SandboxError as error:
            raise ToolException(
                f"The arguments could not be checked {_why(error)}; the tool was not called."
            ) from None
        if misfit:
            raise ToolException(
                f"The arguments do not fit the tool's schema ({misfit}); the tool was not called."
            )

    async def check_result(
        self, server: Server, schema: JSON, result: CallToolResult
    ) -> str | None:
        """Return, as the end of a sentence, why a result's structured content is not to be used.

        None if it fits its tool's schema. The tool has acted, so nothing is raised.
        """
        if result.structuredContent is None:
            return "is missing, although the tool's own schema promises it"
        try:
            misfit = await self._find_misfit(server, schema, result.structuredContent)
        except SandboxError as error:
            return f"could not be checked {_why(error)}"
        return f"does not fit the tool's own schema ({misfit})" if misfit else None

    async def _find_misfit(self, server: Server, schema: JSON, value: JSON) -> str | None:
        """Return why the value does not fit; None if it does. Raise SandboxError if unknown.

        A call is not given up because others are being computed: the check waits for a slot as long
        as the call itself may take.
        """
        return await self.sandbox.run(
            find_misfit,
            schema,
            value,
            bounds=BOUNDS,
            key=self.asker,
            wait_seconds=server.call_seconds,
        )


def _why(error: SandboxError) -> str:
    if isinstance(error, SandboxBusy):
        return "because too much else was being computed"
    if isinstance(error, OutOfTime):
        return f"against the tool's own schema within {BOUNDS.seconds:g} seconds"
    return "against the tool's own schema"


def _restricts(schema: JSON) -> bool:
    """Return whether a schema of an object allows less than any object."""
    rules = [rule for name, rule in schema.items() if name not in _ALLOWS_ALL]
    return any(rule is not True and rule not in ({}, []) for rule in rules)
