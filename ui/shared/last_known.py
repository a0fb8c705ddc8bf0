"""The service's last responses, used while it is unavailable, so that the page stays as it was."""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

from ui import state
from ui.client import ServiceUnavailable

T = TypeVar("T")


def read(what: Hashable, call: Callable[..., T], *arguments: Any, **named: Any) -> T:
    """Make a reading call; if the service is unavailable, return what this tab read last.

    Once unavailable in a run, the service is not called again in that run. Raise ServiceUnavailable
    if this tab has never read it.
    """
    held = state.memory()
    known = held.known.get(what)
    if held.is_away and known is not None:
        return cast(T, known)
    try:
        told = call(*arguments, **named)
    except ServiceUnavailable:
        held.is_away = True
        if known is None:
            raise
        return cast(T, known)
    held.known.pop(what, None)  # the newest comes last
    held.known[what] = told
    while len(held.known) > state.MAX_KNOWN:
        held.known.pop(next(iter(held.known)))
    return told
