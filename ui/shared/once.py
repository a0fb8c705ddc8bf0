"""Does once what is clicked twice, even if the second click comes while the first is handled.

For a click, Streamlit starts another run immediately, while the previous one continues to its next
element: the callbacks of both overlap. So the second waits here, and gets the first one's result.
"""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from ui import state

T = TypeVar("T")


def once(what: Hashable, act: Callable[..., T], *arguments: Any) -> T:
    """Call `act`, or return its earlier result. An `act` that raised may be tried again."""
    held = state.memory()
    with held.acting:
        if what not in held.done:
            held.done[what] = act(*arguments)
        given: T = held.done[what]
    return given


def is_done(what: Hashable) -> bool:
    """Return whether this tab has already done it."""
    return what in state.memory().done
