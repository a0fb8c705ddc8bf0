"""A domain's template as the form and the YAML edit it: without defaults. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from types import NoneType
from typing import Any

from backend.schemas.domains.configuration import Fault
from backend.schemas.domains.templates import DomainTemplate
from backend.types import JSON

Path = tuple[str | int, ...]

FIELDS = tuple(DomainTemplate.model_fields)
# Written out for domains made on the page; domains made by the API have none unless they say so.
FIRST_MIDDLEWARE = ("summarization", "title")
_DEFAULTS: JSON = DomainTemplate(name="any").model_dump(mode="json")
_NOTHING_IF_EMPTY = {"limits", "headers", "env", "mcp_servers"}


def said_by(template: DomainTemplate) -> JSON:
    """Return the fields of a template as people write them: without default values."""
    settings = template.model_dump(mode="json", include=set(FIELDS), exclude_defaults=True)
    return in_order({"name": template.name, **settings})


def in_order(body: JSON) -> JSON:
    """Return the fields in reading order; unknown ones come last."""
    return {**{name: body[name] for name in FIELDS if name in body}, **body}


def new_body() -> JSON:
    """Return the initial body of a new domain."""
    return {"middleware": list(FIRST_MIDDLEWARE)}


def changed_fields(before: JSON, body: JSON) -> set[str]:
    """Return the template's fields that differ from before."""
    return {name for name in {*before, *body} if before.get(name) != body.get(name)}


def change_of(before: JSON, body: JSON) -> JSON:
    """Return the change to send; removed fields are reset to their defaults."""
    return {name: body.get(name, _DEFAULTS.get(name)) for name in changed_fields(before, body)}


def get(body: Any, path: Path, default: Any = None) -> Any:
    """Return the value at a path, or the default."""
    part: Any
    for part in path:
        if (isinstance(body, dict) and part in body) or (
            isinstance(body, list) and isinstance(part, int) and part < len(body)
        ):
            body = body[part]
        else:
            return default
    return body


def put(body: JSON, path: Path, value: Any) -> JSON:
    """Return the body with a value at the path; None removes the field."""
    changed: JSON = deepcopy(body)
    _put(changed, path, value)
    return changed


def _put(here: Any, path: Path, value: Any) -> None:
    part: Any = path[0]
    rest = path[1:]
    if not rest:
        if value is not None or isinstance(here, list):
            here[part] = value
        else:
            here.pop(part, None)
        return
    if isinstance(here, list) and here[part] == rest[0]:
        here[part] = {rest[0]: {}}  # a policy given by name alone gets a setting
    elif isinstance(here, dict) and not isinstance(here.get(part), dict | list):
        here[part] = {}
    _put(here[part], rest, value)
    if isinstance(here, list) and here[part] == {rest[0]: {}}:
        here[part] = rest[0]
    elif part in _NOTHING_IF_EMPTY and here[part] == {}:
        del here[part]


def renamed(mapping: JSON, old: str, new: str) -> JSON:
    """Return the mapping with one key renamed, in the same order."""
    return {new if name == old else name: value for name, value in mapping.items()}


def at(faults: Sequence[Fault], path: Path) -> list[Fault]:
    """Return the faults at exactly this path."""
    return [fault for fault in faults if tuple(fault.path) == path]


def place_words(path: Sequence[str | int]) -> str:
    """Return a path as text, counting from one: agents / 2 / name."""
    return " / ".join(str(part + 1 if isinstance(part, int) else part) for part in path)


def policy_name(entry: Any) -> str:
    """Return the name of a policy in a list of middleware; empty where it has none."""
    if isinstance(entry, dict):
        return str(next(iter(entry), ""))
    return entry if isinstance(entry, str) else ""


def find_policy(entries: Any, name: str) -> int | None:
    """Return the index of a policy in a list of middleware."""
    for place, entry in enumerate(entries if isinstance(entries, list) else ()):
        if policy_name(entry) == name:
            return place
    return None


def misshapen(body: JSON) -> Iterator[str]:
    """Yield the fields that the form cannot show because their value has another type."""
    for name, kind in _KINDS.items():
        if name in body and not isinstance(body[name], kind):
            yield name
    for name, kinds in _ENTRIES.items():
        entries = body.get(name, [])
        if isinstance(entries, list) and not all(isinstance(each, kinds) for each in entries):
            yield name
    servers = body.get("mcp_servers", {})
    if isinstance(servers, dict) and not all(isinstance(s, dict) for s in servers.values()):
        yield "mcp_servers"


_ENTRIES: Mapping[str, tuple[type, ...]] = {
    "agents": (dict,),
    "models": (str,),
    "middleware": (str, dict),
    "suggestions": (str,),
}
_KINDS: Mapping[str, type | tuple[type, ...]] = {
    "agents": list,
    "models": list,
    "middleware": list,
    "suggestions": list,
    "mcp_servers": dict,
    "limits": dict,
    "manager": (dict, NoneType),
}
