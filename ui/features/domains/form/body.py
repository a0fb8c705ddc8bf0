"""A domain's template as the form and the YAML edit it: only what it says, no defaults. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from types import NoneType
from typing import Any

from backend.schemas.domains.configuration import Fault
from backend.schemas.domains.templates import DomainTemplate
from backend.types import JSON
from ui.shared.text.markdown import plain

Path = tuple[str | int, ...]

FIELDS = tuple(DomainTemplate.model_fields)
# Named where a person makes a domain; a domain made by the API has none unless it says so.
FIRST_MIDDLEWARE = ("summarization", "title")
_DEFAULTS: JSON = DomainTemplate(name="any").model_dump(mode="json")
_NOTHING_IF_EMPTY = {"limits", "headers", "env", "mcp_servers"}


def said_by(template: DomainTemplate) -> JSON:
    """Return what a template says, as people write it: without what is as by default."""
    said = template.model_dump(mode="json", include=set(FIELDS), exclude_defaults=True)
    return in_order({"name": template.name, **said})


def in_order(body: JSON) -> JSON:
    """Return the fields in the order in which people read them; unknown ones come last."""
    return {**{name: body[name] for name in FIELDS if name in body}, **body}


def new_body() -> JSON:
    """Return what a new domain begins with."""
    return {"middleware": list(FIRST_MIDDLEWARE)}


def changed_fields(before: JSON, body: JSON) -> set[str]:
    """Return the template's fields that say something else than before."""
    return {name for name in {*before, *body} if before.get(name) != body.get(name)}


def change_of(before: JSON, body: JSON) -> JSON:
    """Return what is to be sent where this was changed; what is not said any more is as default."""
    return {name: body.get(name, _DEFAULTS.get(name)) for name in changed_fields(before, body)}


def get(body: Any, path: Path, default: Any = None) -> Any:
    """Return what stands at a path, or the default."""
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
    """Return the body with a value at the path; None takes the field out."""
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
        here[part] = {rest[0]: {}}  # a policy by its name alone is given a setting
    elif isinstance(here, dict) and not isinstance(here.get(part), dict | list):
        here[part] = {}
    _put(here[part], rest, value)
    if isinstance(here, list) and here[part] == {rest[0]: {}}:
        here[part] = rest[0]
    elif part in _NOTHING_IF_EMPTY and here[part] == {}:
        del here[part]


def renamed(mapping: JSON, old: str, new: str) -> JSON:
    """Return the same in the same order, with another name for one of them."""
    return {new if name == old else name: value for name, value in mapping.items()}


def at(faults: Sequence[Fault], path: Path) -> list[Fault]:
    """Return the faults that are said of just this place."""
    return [fault for fault in faults if tuple(fault.path) == path]


def place_words(path: Sequence[str | int]) -> str:
    """Return where something stands, as people count: agents / 2 / name."""
    return " / ".join(plain(str(part + 1 if isinstance(part, int) else part), 80) for part in path)


def policy_name(entry: Any) -> str:
    """Return the name of a policy in a list of middleware; empty where it has none."""
    if isinstance(entry, dict):
        return str(next(iter(entry), ""))
    return entry if isinstance(entry, str) else ""


def find_policy(entries: Any, name: str) -> int | None:
    """Return where a policy stands in a list of middleware."""
    for place, entry in enumerate(entries if isinstance(entries, list) else ()):
        if policy_name(entry) == name:
            return place
    return None


def misshapen(body: JSON) -> Iterator[str]:
    """Give the fields that a form cannot show, since another kind of value stands there."""
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
