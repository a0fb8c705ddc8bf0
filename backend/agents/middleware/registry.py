"""The table of all named policies: a domain names them, this module builds them for one turn."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from pydantic import ValidationError

from backend.agents.middleware.recent_messages import RecentMessages, RecentMessagesSettings
from backend.errors import InvalidInput
from backend.schemas.wire import JSON

Policy = AgentMiddleware[Any, Any]

MIDDLEWARE: Mapping[str, Callable[[JSON], Policy]] = {
    "recent_messages": lambda settings: RecentMessages(RecentMessagesSettings(**settings)),
}


def build_middleware(named: Sequence[str | JSON]) -> list[Policy]:
    """Return the named policies in order; InvalidInput names an unknown one or a wrong setting."""
    return [_build(*_name_and_settings(entry)) for entry in named]


def check_middleware_names(named: Sequence[str | JSON]) -> None:
    """Raise InvalidInput unless every policy is known, given once, and its settings are right."""
    build_middleware(named)
    names = [_name_and_settings(entry)[0] for entry in named]
    if len(set(names)) != len(names):
        raise InvalidInput("A middleware is named twice.")


def _name_and_settings(entry: str | JSON) -> tuple[str, JSON]:
    if isinstance(entry, str):
        return entry, {}
    if len(entry) == 1 and isinstance(settings := next(iter(entry.values())), dict):
        return next(iter(entry)), settings
    raise InvalidInput("A middleware is a name, or {name: {setting: value}}.")


def _build(name: str, settings: JSON) -> Policy:
    if name not in MIDDLEWARE:
        known = ", ".join(MIDDLEWARE)
        raise InvalidInput(f"There is no middleware {name!r}. There are: {known}.")
    try:
        return MIDDLEWARE[name](settings)
    except (ValidationError, TypeError) as error:
        reason = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        raise InvalidInput(f"The middleware {name}: {reason}.") from error
