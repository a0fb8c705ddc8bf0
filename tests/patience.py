"""Ends what would not end by itself: for tests of what must not hang, whatever the machine does."""

import contextlib
import signal


class Hangs(AssertionError):
    """It has not ended by far."""


@contextlib.contextmanager
def ends_within(seconds: float):
    """Raise Hangs in the block when it takes more processor time; also within a regular expression.

    Processor time: other work on the machine does not count. What waits without working is ended
    by the limit of each test.
    """

    def stop(*_):
        raise Hangs(f"not done after {seconds} seconds of processor time")

    before = signal.signal(signal.SIGPROF, stop)
    left, _ = signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, left)
        signal.signal(signal.SIGPROF, before)
