"""How an image differs from its current domain: pure rules.

Lists of named things (agents, tools, middleware) are compared by name, so that an insertion does
not change all that follows; a different order is reported separately.
"""

from collections.abc import Iterator
from typing import Any

from backend.domains.template import agents_of
from backend.schemas.domains.configuration import DriftChange
from backend.schemas.domains.templates import DomainTemplate
from backend.types import JSON

Path = tuple[str, ...]

UNSAID = DomainTemplate(name="unsaid")
NAMED = {"agents", "tools", "middleware"}
ORDER = "(order)"  # not a valid name of an agent, tool or middleware


def diff_templates(image: DomainTemplate, domain: DomainTemplate) -> list[DriftChange]:
    """Return the changes from the image to the domain, by path; empty if they are equal."""
    return [
        DriftChange(
            path=change.path,
            kind=change.kind,
            image=as_list(change.image),
            domain=as_list(change.domain),
        )
        for change in diff(by_name(plain(image)), by_name(plain(domain)))
    ]


def plain(template: DomainTemplate) -> JSON:
    """Return a template in the form people read; default values are left out."""
    fields = template.model_dump(mode="json", exclude_defaults=True)
    if template.agents == agents_of(UNSAID):
        del fields["agents"]  # an image also names the agent that its domain may leave implicit
    return fields


def by_name(value: Any, key: str = "") -> Any:
    """Return the value with lists of named things as mappings, including their order."""
    if isinstance(value, dict):
        return {name: by_name(item, name) for name, item in value.items()}
    if not isinstance(value, list) or key not in NAMED:
        return value
    named = dict(map(_named, value))
    if len(named) != len(value):
        return value  # a name occurs twice: compare the list as it is
    return {ORDER: list(named), **named}


def as_list(value: Any) -> Any:
    """Return the value with mappings of named things as lists again, for people to read."""
    if not isinstance(value, dict):
        return value
    entries = {name: as_list(item) for name, item in value.items()}
    order = entries.pop(ORDER, None)
    if order is None:
        return entries
    return [{name: entries[name]} if entries[name] else name for name in order]


def diff(old: JSON, new: JSON, path: Path = ()) -> Iterator[DriftChange]:
    """Yield the differences of two mappings, by path, in the order of their keys."""
    for key in dict.fromkeys([*old, *new]):
        here = [*path, key]
        if key not in old:
            yield DriftChange(path=here, kind="added", domain=new[key])
        elif key not in new:
            yield DriftChange(path=here, kind="removed", image=old[key])
        elif isinstance(old[key], dict) and isinstance(new[key], dict):
            yield from diff(old[key], new[key], (*path, key))
        elif key == ORDER and not _is_reordered(old[key], new[key]):
            continue  # additions and removals are reported by themselves
        elif not _same(old[key], new[key]):
            yield DriftChange(path=here, kind="changed", image=old[key], domain=new[key])


def _named(entry: Any) -> tuple[str, Any]:
    """Return the name of a tool, middleware or agent, and its settings."""
    if isinstance(entry, str):
        return entry, {}
    if isinstance(entry, dict) and "name" in entry:
        rest = {key: by_name(value, key) for key, value in entry.items() if key != "name"}
        return str(entry["name"]), rest
    if isinstance(entry, dict) and len(entry) == 1:
        name, settings = next(iter(entry.items()))
        return str(name), settings
    return repr(entry), entry


def _is_reordered(old: list[str], new: list[str]) -> bool:
    """Return whether the names in both lists are in a different order."""
    return [name for name in old if name in new] != [name for name in new if name in old]


def _same(one: Any, other: Any) -> bool:
    """Return whether both are equal in JSON, where true is not 1."""
    return type(one) is type(other) and bool(one == other)
