"""What is clicked twice is done once, also when the second click comes while the first is at work.

Streamlit begins another run for a click at once, and the run before goes on to its next element:
callbacks of both run side by side. So the second waits here, and takes what the first has got.
"""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from ui import state

T = TypeVar("T")


def once(what: Hashable, act: Callable[..., T], *arguments: Any) -> T:
    """Do it, or give what it gave before. What raises is not done, and may be tried again."""
    held = state.memory()
    with held.acting:
        if what not in held.done:
            held.done[what] = act(*arguments)
        given: T = held.done[what]
    return given


def is_done(what: Hashable) -> bool:
    """Return whether this tab has done it."""
    return what in state.memory().done
