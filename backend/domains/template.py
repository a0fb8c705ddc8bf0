"""What makes a template valid, and how an image is copied from it: pure rules."""

from collections import Counter

from pydantic import ValidationError

from backend.domains.credentials import unmask
from backend.errors.base import InvalidInput
from backend.schemas.domains.configuration import Fault
from backend.schemas.domains.templates import AgentTemplate, DomainTemplate
from backend.schemas.wire import READING
from backend.text import is_visible
from backend.types import JSON

DEFAULT_AGENT = "assistant"


def find_faults(template: DomainTemplate) -> list[Fault]:
    """Return where the parts of a template contradict each other."""
    names = Counter(agent.name.lower() for agent in template.agents)
    faults = []
    if twice := [name for name, count in names.items() if count > 1]:
        said = f"Two agents have one name: {', '.join(sorted(twice))}. Rename one."
        faults.append(Fault(path=["agents"], message=said))
    if template.manager and template.manager.name.lower() in _names(template):
        said = (
            f"The manager and an agent have one name: {template.manager.name}. Rename one of them."
        )
        faults.append(Fault(path=["manager", "name"], message=said))
    if not all(map(is_visible, template.models)):
        said = "One of the models that people may choose has no name. Name it, or leave it out."
        faults.append(Fault(path=["models"], message=said))
    if not is_visible(template.name):
        faults.append(Fault(path=["name"], message="A domain needs a name that can be seen."))
    return faults


def _names(template: DomainTemplate) -> set[str]:
    return {agent.name.lower() for agent in agents_of(template)}


def check_template(template: DomainTemplate) -> None:
    """Raise InvalidInput when the parts of a template contradict each other."""
    for fault in find_faults(template):
        raise InvalidInput(fault.message)


def said_by(template: DomainTemplate) -> JSON:
    """Return what a domain keeps of its template; what that does not say stays unsaid."""
    return template.model_dump(mode="json", exclude_defaults=True) | {"name": template.name}


def changed_template(stored: JSON, given: JSON) -> DomainTemplate:
    """Return the stored template with what is given in place of what it says.

    Raise InvalidInput for null where a template needs a value, and where one change would leave
    nothing of several things: that is a form that has lost its fields, not a person's wish.
    """
    try:
        before = DomainTemplate.model_validate(stored, context=READING, strict=False)
        if given.get("mcp_servers"):
            given = {**given, "mcp_servers": unmask(given["mcp_servers"], before.mcp_servers)}
        after = DomainTemplate.model_validate({**said_by(before), **given})
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(map(str, fault["loc"]))
        raise InvalidInput(f"{where}: {fault['msg'].removeprefix('Value error, ')}") from error
    lost = sorted(said_by(before).keys() - {"name"})
    if len(lost) > 1 and said_by(after).keys() == {"name"}:
        raise InvalidInput(
            f"This would empty the domain: nothing of its {', '.join(lost)} would be left, and"
            " nothing was saved. Clear one field at a time, or delete the domain."
        )
    return after


def image_of(template: DomainTemplate) -> JSON:
    """The copy of a template that a conversation keeps: all of it, whatever later defaults are."""
    return template.model_copy(update={"agents": agents_of(template)}).model_dump(mode="json")


def agents_of(template: DomainTemplate) -> list[AgentTemplate]:
    """Return the agents besides the manager.

    Without any, and without a manager, it is one with the domain's prompt and all its tools.
    """
    if template.agents or template.manager:
        return template.agents
    return [AgentTemplate(name=DEFAULT_AGENT)]


def template_of(image: JSON) -> DomainTemplate:
    """Return the template in a conversation's image; keys of another version are left aside."""
    return DomainTemplate.read(image)


def choose_model(template: DomainTemplate, agent: str, default_model: str, name: str) -> str | None:
    """Return the model of this name as the choice for an agent's turns; None for its default.

    `default_model` is that of the installation. Raise InvalidInput that lists the models when
    people may not choose this one.
    """
    models = {each.name: each.model for each in template.agents}
    if template.manager:
        models[template.manager.name] = template.manager.model
    own = models.get(agent)
    default = own or template.model or default_model
    if name == default:
        return None
    if name in template.models:
        return name
    offered = ", ".join(dict.fromkeys([default, *template.models]))
    raise InvalidInput(f"The model {name!r} cannot be chosen here. The models are {offered}.")
