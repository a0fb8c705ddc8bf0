"""Checking whether agents can be built from a domain: everything it names must exist."""

from collections.abc import Callable, Sequence
from typing import Any

from pydantic import ValidationError

from backend.agents.middleware.registry import (
    check_middleware_names,
    find_policy_faults,
    find_unknown_tools,
)
from backend.agents.roster import AnyAgent, tools_of
from backend.domains import template as templates
from backend.domains.allowed import Allowed
from backend.domains.credentials import find_credentials
from backend.domains.fault_words import faults_of
from backend.domains.prices import Prices, find_unpriced
from backend.domains.secrets import check_secrets
from backend.domains.tool_servers import check_servers
from backend.errors.base import InvalidInput
from backend.schemas.domains.configuration import Fault, TemplateCheck
from backend.schemas.domains.templates import DomainTemplate
from backend.text import listed
from backend.tools.registry import TOOLS, check_tool_names
from backend.types import JSON

Path = Sequence[str | int]
FindWrong = Callable[[Path, Sequence[str | JSON]], list[Fault]]


def check_image(image: DomainTemplate, allowed: Allowed) -> None:
    """Raise InvalidInput for the first fault; a missing secret is not one."""
    for fault in [
        *find_faults(image, allowed),
        *check_secrets(image.mcp_servers, allowed.secrets)[0],
        *find_credentials(image.mcp_servers),
    ]:
        raise InvalidInput(fault.message)


def check_body(body: JSON, allowed: Allowed, prices: Prices | None = None) -> TemplateCheck:
    """Return what a template would become, or all of its faults; nothing is stored.

    With `prices`, limits on the cost of models without a price are warned of.
    """
    try:
        template = DomainTemplate.model_validate(body)
    except ValidationError as error:
        faults = faults_of([], error.errors(include_url=False))
        faults += _policies_beside(body, faults)
        return TemplateCheck(faults=faults, warnings=[], image=None)
    refused, warnings = check_secrets(template.mcp_servers, allowed.secrets)
    known = find_faults(template, allowed, find_policy_faults)
    faults = [*templates.find_faults(template), *known, *refused]
    faults += find_credentials(template.mcp_servers)
    warnings += _find_idle_tools(template)
    warnings += find_unpriced(template, prices) if prices and not faults else []
    image = None if faults else templates.image_of(template)
    return TemplateCheck(faults=faults, warnings=warnings, image=image)


def find_faults(
    image: DomainTemplate, allowed: Allowed, find_wrong: FindWrong | None = None
) -> list[Fault]:
    """Return the faults: unknown tools or middleware, invalid settings or tool servers.

    The tools of MCP servers are known only once the servers are asked, so the tools that agents and
    policies name are checked here only if the domain has no such server. `find_wrong` checks
    middleware; by default it finds only the first fault.
    """
    find_wrong = find_wrong or _first_wrong
    faults = _check(["tools"], check_tool_names, image.tools)
    faults += _policy_faults([], image, None, find_wrong)
    for place, agent in enumerate(image.agents):
        faults += _policy_faults(["agents", place], image, agent, find_wrong)
        faults += _tool_faults(["agents", place], image, agent)
    if manager := image.manager:
        faults += _policy_faults(["manager"], image, manager, find_wrong)
        faults += _tool_faults(["manager"], image, manager)
    return [*faults, *check_servers(image.mcp_servers, allowed)]


def _first_wrong(path: Path, named: Sequence[str | JSON]) -> list[Fault]:
    return _check(list(path), check_middleware_names, named)


def _policy_faults(
    path: Path, image: DomainTemplate, agent: AnyAgent | None, find_wrong: FindWrong
) -> list[Fault]:
    """Return the faults of an agent's own policies, or of the domain's."""
    here = [*path, "middleware"]
    named = (agent or image).middleware or ()
    if (wrong := find_wrong(here, named)) or image.mcp_servers:
        return wrong
    return find_unknown_tools(here, named, tools_of(image, agent))


def _tool_faults(path: Path, image: DomainTemplate, agent: AnyAgent) -> list[Fault]:
    """Return the faults of an agent's tools: unknown ones, or those that its domain withholds."""
    if image.mcp_servers:
        return []
    here = [*path, "tools"]
    if unknown := _check(here, check_tool_names, agent.tools):
        return unknown
    own = list(TOOLS) if image.tools is None else image.tools
    foreign = [repr(name) for name in agent.tools or () if name not in own]
    if not foreign:
        return []
    message = (
        f"{agent.name} names {listed(foreign)}, but the tools of its domain are"
        f" {', '.join(own) or 'none'}. Add that to the domain's tools, or remove it here."
    )
    return [Fault(path=here, message=message)]


def _find_idle_tools(template: DomainTemplate) -> list[Fault]:
    """Return a warning at each field with tools that no agent has."""
    if template.agents or template.manager is None or template.manager.tools:
        return []
    message = (
        "No agent has these tools: the domain has a manager only, which has those that its own"
        " `tools` name. Name them there, or add an agent."
    )
    fields = ("tools", "mcp_servers")
    return [Fault(path=[name], message=message) for name in fields if getattr(template, name)]


def _policies_beside(body: JSON, faults: Sequence[Fault]) -> list[Fault]:
    """Return the middleware's faults in a template that has other faults."""
    named = body.get("middleware")
    fits = isinstance(named, list) and all(isinstance(each, str | dict) for each in named)
    is_said = any(fault.path[0] == "middleware" for fault in faults)
    return find_policy_faults(["middleware"], named) if fits and named and not is_said else []


def _check(path: list[str | int], check: Callable[[Any], None], named: Any) -> list[Fault]:
    try:
        check(named or ())
    except InvalidInput as error:
        return [Fault(path=path, message=error.detail)]
    return []
