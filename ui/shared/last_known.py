"""What the service told last, for while it is away: what was on the page stays on the page."""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

from ui import state
from ui.client import ServiceUnavailable

T = TypeVar("T")


def read(what: Hashable, call: Callable[..., T], *arguments: Any, **named: Any) -> T:
    """Make a call that reads; where the service is away, give what this tab read before.

    Once it was away in a run, it is not asked again in that run. Raise ServiceUnavailable where
    this tab has never read it.
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
    held.known.pop(what, None)  # the newest stands last
    held.known[what] = told
    while len(held.known) > state.MAX_KNOWN:
        held.known.pop(next(iter(held.known)))
    return told
