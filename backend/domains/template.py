"""What makes a template valid, and how an image is made from it: pure rules."""

from collections import Counter

from pydantic import ValidationError

from backend.errors.base import InvalidInput
from backend.schemas.domains.configuration import Fault
from backend.schemas.domains.templates import AgentTemplate, DomainTemplate
from backend.schemas.wire import READING
from backend.text import is_visible, same_name
from backend.types import JSON

DEFAULT_AGENT = "assistant"


def find_faults(template: DomainTemplate) -> list[Fault]:
    """Return faults where the parts of a template contradict each other."""
    names = Counter(same_name(agent.name) for agent in template.agents)
    faults = []
    if twice := [name for name, count in names.items() if count > 1]:
        message = f"Two agents have the same name: {', '.join(sorted(twice))}. Rename one of them."
        faults.append(Fault(path=["agents"], message=message))
    if template.manager and same_name(template.manager.name) in _names(template):
        message = (
            f"The manager and an agent have the same name: {template.manager.name}. Rename one."
        )
        faults.append(Fault(path=["manager", "name"], message=message))
    if not all(map(is_visible, template.models)):
        message = (
            "One of the models that people may choose has no name. Enter its name, or remove it."
        )
        faults.append(Fault(path=["models"], message=message))
    for place, agent in enumerate(template.agents):
        if not all(map(is_visible, agent.roles or ())):
            message = "One of the roles has no name. Enter its name, or remove it."
            faults.append(Fault(path=["agents", place, "roles"], message=message))
    if not is_visible(template.name):
        faults.append(Fault(path=["name"], message="A domain needs a visible name."))
    return faults


def _names(template: DomainTemplate) -> set[str]:
    return {same_name(agent.name) for agent in agents_of(template)}


def check_template(template: DomainTemplate) -> None:
    """Raise InvalidInput if the parts of a template contradict each other."""
    for fault in find_faults(template):
        raise InvalidInput(fault.message)


def said_by(template: DomainTemplate) -> JSON:
    """Return the fields of a template that were given; a domain stores no others."""
    return template.model_dump(mode="json", exclude_defaults=True) | {"name": template.name}


def changed_template(stored: JSON, given: JSON) -> DomainTemplate:
    """Return the stored template with the given fields changed.

    Raise InvalidInput for null where a template needs a value, and if one change would empty
    several fields: then a form has lost its fields, which no person intends.
    """
    try:
        before = DomainTemplate.model_validate(stored, context=READING, strict=False)
        after = DomainTemplate.model_validate({**said_by(before), **given})
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(map(str, fault["loc"]))
        raise InvalidInput(f"{where}: {fault['msg'].removeprefix('Value error, ')}") from error
    lost = sorted(said_by(before).keys() - {"name"})
    if len(lost) > 1 and said_by(after).keys() == {"name"}:
        raise InvalidInput(
            f"This change would clear all of the domain's {', '.join(lost)}, so nothing was saved."
            " Clear one field at a time, or delete the domain."
        )
    return after


def image_of(template: DomainTemplate) -> JSON:
    """Return a conversation's copy of a template, complete and so independent of later defaults."""
    return template.model_copy(update={"agents": agents_of(template)}).model_dump(mode="json")


def agents_of(template: DomainTemplate) -> list[AgentTemplate]:
    """Return the agents besides the manager.

    Without any, and without a manager, this is one with the domain's prompt and all its tools.
    """
    if template.agents or template.manager:
        return template.agents
    return [AgentTemplate(name=DEFAULT_AGENT)]


def template_of(image: JSON) -> DomainTemplate:
    """Return the template in a conversation's image; keys of other versions are ignored."""
    return DomainTemplate.read(image)


def choose_model(template: DomainTemplate, agent: str, default_model: str, name: str) -> str | None:
    """Return the chosen model for an agent's turns, or None if the name is its default.

    `default_model` is the installation's. Raise InvalidInput, which lists the models, if this one
    may not be chosen.
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
    raise InvalidInput(f"The model {name!r} is not offered here. The models are {offered}.")
