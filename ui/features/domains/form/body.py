"""A domain's template as the fields of a form, and back. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from backend.schemas.configuration import Fault
from backend.schemas.domains import DomainTemplate, Limits
from backend.types import JSON
from ui.shared.text import yaml_text

Values = Mapping[str, Any]

TEXTS = ("name", "description", "system_prompt")
WRITTEN = ("middleware", "agents", "mcp_servers")  # as YAML
EMPTY: Mapping[str, Any] = {"middleware": [], "agents": [], "mcp_servers": {}}
ALL_TOOLS = "all_tools"
LIMITS = tuple(Limits.model_fields)
LIMIT = "limits."


@dataclass(frozen=True)
class Read:
    """What the fields say: a body for the API, and what cannot be read of it."""

    body: JSON
    faults: list[Fault]


def to_values(template: DomainTemplate) -> JSON:
    """Return what the fields hold for a template."""
    body = template.model_dump(mode="json")
    plain = template.model_dump(mode="json", exclude_defaults=True)
    values: JSON = {name: body[name] for name in TEXTS}
    values["model"] = body["model"] or ""
    values[ALL_TOOLS] = body["tools"] is None
    values["tools"] = body["tools"] or []
    values |= {name: yaml_text.write(plain.get(name)) for name in WRITTEN}
    values |= {LIMIT + name: body["limits"][name] for name in LIMITS}
    values["suggestions"] = "\n".join(body["suggestions"])
    values["retention_days"] = body["retention_days"]
    return values


def to_body(values: Values) -> Read:
    """Return the template's fields that the values say; what cannot be read is left out."""
    body: JSON = {name: values[name] for name in (*TEXTS, "retention_days")}
    body["model"] = values["model"] or None
    body["suggestions"] = [line for line in values["suggestions"].splitlines() if line.strip()]
    body["tools"] = None if values[ALL_TOOLS] else list(values["tools"])
    faults = []
    for name in WRITTEN:
        try:
            said = yaml_text.read(values[name])
        except ValueError as error:
            faults.append(Fault(path=[name], message=str(error)))
        else:
            body[name] = EMPTY[name] if said is None else said
    limits = {name: values[LIMIT + name] for name in LIMITS}
    # A field that is left empty says nothing where a limit needs a value.
    defaults = Limits().model_dump()
    body["limits"] = {n: defaults[n] if v is None else v for n, v in limits.items()}
    return Read(body, faults)


def changed_body(body: JSON, changed: set[str]) -> JSON:
    """Return what is to be sent when these fields were changed."""
    names = {"tools" if n == ALL_TOOLS else n.partition(".")[0] for n in changed}
    return {name: value for name, value in body.items() if name in names}


def faults_at(faults: list[Fault], field: str) -> list[str]:
    """Return what is wrong with one field, in sentences; with the place within it."""
    wanted = field.split(".")
    said = []
    for fault in faults:
        path = [str(part) for part in fault.path]
        if path[: len(wanted)] == wanted:
            # Lists begin with 1 for people.
            within = [
                str(part + 1) if isinstance(part, int) else part
                for part in fault.path[len(wanted) :]
            ]
            said.append(f"{' / '.join(within)}: {fault.message}" if within else fault.message)
    return said
