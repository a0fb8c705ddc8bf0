"""Whether a domain can be built into agents: all that it names must exist."""

from backend.agents.middleware.registry import check_middleware_names
from backend.schemas.domains import DomainTemplate
from backend.tools.registry import check_tool_names


def check_image(image: DomainTemplate) -> None:
    """Raise InvalidInput that names the first tool or middleware that does not exist.

    The tools of MCP servers are known only once they are asked, so that an agent's tools are
    checked here only where the domain has no such server.
    """
    check_tool_names(image.tools or ())
    check_middleware_names(image.middleware)
    for agent in image.agents:
        check_middleware_names(agent.middleware or ())
        if not image.mcp_servers:
            check_tool_names(agent.tools or ())
