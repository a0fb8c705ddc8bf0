"""Decide when a crashed part is restarted, and when it is given up."""

from collections import deque

WINDOW_SECONDS = 60.0
MOST_CRASHES = 5
FIRST_DELAY_SECONDS = 0.2
LONGEST_DELAY_SECONDS = 5.0


class RestartPolicy:
    """Counts one part's crashes: single ones lead to a restart, five within a minute to giving up.

    An end by a signal or by draining is deliberate: the part is restarted, and it does not count.
    """

    def __init__(self) -> None:
        self._crashes: deque[float] = deque()

    def delay_after_end(self, status: int, now: float) -> float | None:
        """Return the seconds to wait before restarting the part; None: give it up.

        `status` is a process's exit status: negative if a signal has ended it.
        """
        if status <= 0:
            return FIRST_DELAY_SECONDS
        self._crashes.append(now)
        while self._crashes[0] < now - WINDOW_SECONDS:
            self._crashes.popleft()
        if len(self._crashes) >= MOST_CRASHES:
            return None
        delay: float = FIRST_DELAY_SECONDS * 2 ** (len(self._crashes) - 1)
        return min(delay, LONGEST_DELAY_SECONDS)
