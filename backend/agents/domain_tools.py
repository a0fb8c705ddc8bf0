"""Which tools a domain's agents may have, apart from those of tool servers and policies. Pure."""

from backend.domains.team import everyone_in
from backend.schemas.domains.templates import AgentTemplate, DomainTemplate, ManagerTemplate
from backend.tools.planning import CALL_AGENT, RUN_PLAN
from backend.tools.registry import ARTIFACT_TOOLS, TOOLS


def makes_artifacts(image: DomainTemplate) -> bool:
    """Return whether there is a manager, or the domain or an agent names a tool of artifacts."""
    named = {name for agent in everyone_in(image) for name in agent.tools or ()}
    return image.manager is not None or bool(ARTIFACT_TOOLS & {*named, *(image.tools or ())})


def built_in_tools(image: DomainTemplate) -> list[str]:
    """Return the built-in tools of a domain; some are offered only where there are documents."""
    if image.tools is not None:
        return image.tools
    makes = makes_artifacts(image)
    return [name for name, spec in TOOLS.items() if makes or not spec.for_artifacts]


def tools_of(
    image: DomainTemplate, agent: AgentTemplate | ManagerTemplate | None = None
) -> list[str]:
    """Return the tools that this agent may have, or any agent of the domain."""
    named = agent.tools if agent else None
    own = built_in_tools(image) if named is None else named
    delegates = image.manager is not None and agent in (None, image.manager)
    return [*own, RUN_PLAN, CALL_AGENT] if delegates else own
