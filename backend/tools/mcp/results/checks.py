"""Checking what tool servers return against their own schemas, in the sandbox."""

from dataclasses import dataclass

from langchain_core.tools import ToolException

from backend.sandbox.errors import SandboxError, TooBusy
from backend.sandbox.sandbox import Sandbox
from backend.tools.mcp.server import Server
from backend.tools.validation import BOUNDS, find_misfit
from backend.types import JSON


@dataclass(frozen=True)
class ResultChecks:
    """The checks of one run's results; `asker` is the person for whom the run works."""

    sandbox: Sandbox
    asker: str

    async def find_misfit(self, server: Server, schema: JSON, structured: JSON) -> str | None:
        """Return why a result does not fit; None if it does. Raise ToolException if unknown.

        The tool has run, so its result is not given up because others are being computed: the check
        waits for a slot as long as the call itself might have taken.
        """
        try:
            return await self.sandbox.run(
                find_misfit,
                schema,
                structured,
                bounds=BOUNDS,
                key=self.asker,
                wait_seconds=server.call_seconds,
            )
        except TooBusy:
            why = "because too much else was being computed"
        except SandboxError:
            why = f"against its own schema within {BOUNDS.seconds:g} seconds"
        raise ToolException(
            f"The tool server {server.name!r} gave a result that could not be checked {why}; "
            "the tool has run, but its result cannot be used."
        )
