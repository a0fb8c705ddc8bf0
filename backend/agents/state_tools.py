"""Tools that only change the agent state: harmless to repeat, and not in the journal."""

from langchain_core.tools import BaseTool

from backend.tools.registry import Effect

EFFECT = "effect"  # in a tool's metadata


def mark_state_only(tool: BaseTool) -> BaseTool:
    """Mark a policy's own tool: what it changes is saved or lost together with its result."""
    tool.metadata = {**(tool.metadata or {}), EFFECT: Effect.READ_ONLY}
    return tool


def marked_effect(tool: BaseTool) -> Effect | None:
    """Return the effect that a tool is marked with, if it is."""
    marked = (getattr(tool, "metadata", None) or {}).get(EFFECT)
    return Effect(marked) if marked else None
