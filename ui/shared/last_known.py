"""The service's last responses, used while it is unavailable, so that the page stays as it was.

What a run of the page will read can begin early: a page makes half a dozen calls, and waiting for
one after the other took half of the time in which it is drawn.
"""

from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, TypeVar, cast

from ui import state
from ui.client import ServiceUnavailable

T = TypeVar("T")
_threads = ThreadPoolExecutor(32, thread_name_prefix="reading")


@contextmanager
def reading_ahead() -> Iterator[None]:
    """Allow `begin` during the block; what nobody has read at its end is forgotten.

    Runs of a page overlap, so each has what it began for itself.
    """
    begun = state.memory().begun = {}
    try:
        yield
    finally:
        for one in list(begun.values()):
            one.answer.cancel()
        begun.clear()


def begin(what: Hashable, call: Callable[[], T], *, after: Hashable = None) -> None:
    """Start a reading call in the background; the same call by `read` in this run gets its result.

    The call is made in another thread, which knows nothing of the run; `after`: not before this
    other one has been answered.
    """
    begun = state.memory().begun
    earlier = begun.get(after)

    def read_in_order() -> T:
        if earlier is not None:
            earlier.answer.result()
        return call()

    begun[what] = state.Begun(_asked(partial(call)), _threads.submit(read_in_order))


def read(what: Hashable, call: Callable[..., T], *arguments: Any, **named: Any) -> T:
    """Make a reading call; if the service is unavailable, return what this tab read last.

    Once unavailable in a run, the service is not called again in that run. Raise ServiceUnavailable
    if this tab has never read it.
    """
    held = state.memory()
    known, begun = held.known.get(what), held.begun.pop(what, None)
    if held.is_away and known is not None:
        return cast(T, known)
    try:
        answer = _answer(begun, partial(call, *arguments, **named))
    except ServiceUnavailable:
        held.is_away = True
        if known is None:
            raise
        return cast(T, known)
    held.known.pop(what, None)  # the newest comes last
    held.known[what] = answer
    while len(held.known) > state.MAX_KNOWN:
        held.known.pop(next(iter(held.known)), None)
    return answer


def _answer(begun: state.Begun | None, call: partial[T]) -> T:
    """Return the answer of a call that was begun; make it here if it still waits for a thread."""
    if begun is not None and begun.asked == _asked(call) and not begun.answer.cancel():
        with suppress(CancelledError):  # of the call that it was to follow
            return cast(T, begun.answer.result())
    return call()


def _asked(call: partial[Any]) -> tuple[Any, ...]:
    """Return what makes two calls the same: what is called, and with what."""
    return call.func, call.args, call.keywords
