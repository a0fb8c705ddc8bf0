"""Ends what would not end by itself: for tests of what must not hang, whatever the machine does."""

import contextlib
import signal


class Hangs(AssertionError):
    """It has not ended by far."""


@contextlib.contextmanager
def ends_within(seconds: float):
    """Raise Hangs in the block when it has not ended; also within a regular expression."""

    def stop(*_):
        raise Hangs(f"not done after {seconds} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    left, _ = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, left)
        signal.signal(signal.SIGALRM, before)
