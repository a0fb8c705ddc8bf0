"""When a part that crashed is started again, and when it is given up."""

from collections import deque

WINDOW_SECONDS = 60.0
MOST_CRASHES = 5
FIRST_DELAY_SECONDS = 0.2
LONGEST_DELAY_SECONDS = 5.0


class RestartPolicy:
    """Counts one part's crashes: a crash is an accident, five within a minute are a fault.

    Whoever kills a part, or drains a worker, wants it back: those ends are not its own fault.
    """

    def __init__(self) -> None:
        self._crashes: deque[float] = deque()

    def delay_after_end(self, status: int, now: float) -> float | None:
        """Seconds to wait before the part is started again; None: give it up.

        `status` is that of a process: negative when a signal has ended it.
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
