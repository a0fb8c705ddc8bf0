"""The names of OpenTelemetry's conventions for generative AI, as far as spans here have them."""

from backend.telemetry.spans import Attributes

OPERATION, PROVIDER = "gen_ai.operation.name", "gen_ai.provider.name"
CONVERSATION, AGENT = "gen_ai.conversation.id", "gen_ai.agent.name"
MODEL, STREAM = "gen_ai.request.model", "gen_ai.request.stream"
TOOL, TOOL_TYPE, TOOL_CALL = "gen_ai.tool.name", "gen_ai.tool.type", "gen_ai.tool.call.id"


def used(given: int, made: int, cached: int = 0, reasoning: int = 0) -> Attributes:
    """Return tokens; cached ones are among those given, reasoning among those made."""
    return {
        "gen_ai.usage.input_tokens": given,
        "gen_ai.usage.output_tokens": made,
        "gen_ai.usage.cache_read.input_tokens": cached,
        "gen_ai.usage.reasoning.output_tokens": reasoning,
    }
