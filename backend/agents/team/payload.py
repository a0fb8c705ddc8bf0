"""The payload: structured results that a conversation carries from turn to turn. Pure."""

from collections.abc import Mapping
from typing import Any

from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

from backend.planning.written import Written
from backend.types import JSON

PAYLOAD = "payload"  # the key of the agent state
SPECIALIST = "specialist"  # another one: the agent besides the manager that spoke last
TASK_GRAPH, INVOKE_AGENT = "taskGraph", "invokeAgent"
FOLLOWED = (TASK_GRAPH, INVOKE_AGENT)  # removed from the payload when acted upon


class PayloadConflict(ValueError):
    """A change does not fit the current payload; none of it is applied."""


class Part(Written):
    """A part of what models write, in their spelling; unknown fields are ignored."""

    model_config = ConfigDict(
        extra="ignore", alias_generator=to_camel, populate_by_name=True, allow_inf_nan=False
    )


class Element(Part):
    """One entry of the payload."""

    key: str
    value: Any = None


class PayloadChange(Part):
    """An agent's requested change of the payload."""

    new_elements: list[Element] = []
    update_elements: list[Element] = []
    remove_elements: list[Element] = []


def changed_payload(payload: Mapping[str, Any], change: PayloadChange | None) -> JSON:
    """Return the payload after a change. Raise PayloadConflict that names each conflict."""
    if change is None:
        return dict(payload)
    conflicts = [
        *(f"{e.key!r} is there already" for e in change.new_elements if e.key in payload),
        *(f"{e.key!r} to update is not there" for e in _missing(payload, change.update_elements)),
        *(f"{e.key!r} to remove is not there" for e in _missing(payload, change.remove_elements)),
        *(f"{key!r} is named twice" for key in _twice(change)),
    ]
    if conflicts:
        raise PayloadConflict("; ".join(conflicts))
    removed = {element.key for element in change.remove_elements}
    set_now = {e.key: e.value for e in (*change.new_elements, *change.update_elements)}
    return {key: value for key, value in payload.items() if key not in removed} | set_now


def without_followed(payload: Mapping[str, Any]) -> JSON:
    """Return the payload to carry forward: without the parts acted upon now."""
    return {key: value for key, value in payload.items() if key not in FOLLOWED}


def _missing(payload: Mapping[str, Any], elements: list[Element]) -> list[Element]:
    return [element for element in elements if element.key not in payload]


def _twice(change: PayloadChange) -> list[str]:
    keys = [
        element.key
        for elements in (change.new_elements, change.update_elements, change.remove_elements)
        for element in elements
    ]
    return sorted({key for key in keys if keys.count(key) > 1})
