"""Signals to stop, heard by a thread of their own, whatever the main thread does just then."""

import signal
import socket
import threading
from collections.abc import Callable
from types import FrameType

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class StopSignals:
    """Calls `on_stop` for each SIGTERM and SIGINT, in a thread that holds no lock of others.

    A handler interrupts the main thread anywhere, also in a handler: a lock that it took could be
    one that the main thread holds, and would never be released. The interpreter therefore writes
    the signal's number into a socket, which this thread reads.
    """

    def __init__(self, on_stop: Callable[[], None]) -> None:
        self._on_stop = on_stop
        self._heard, self._told = socket.socketpair()
        self._thread = threading.Thread(target=self._listen, name="signals", daemon=True)

    def start(self) -> None:
        """Listen from now on; call it from the main thread. Before, these signals end the process.

        Programs that the process starts get them as usual.
        """
        self._told.setblocking(False)
        signal.set_wakeup_fd(self._told.fileno(), warn_on_full_buffer=False)
        for number in STOP_SIGNALS:
            signal.signal(number, _do_nothing)
        self._thread.start()

    def _listen(self) -> None:
        while numbers := self._heard.recv(64):
            if not set(STOP_SIGNALS).isdisjoint(numbers):
                self._on_stop()


def _do_nothing(number: int, frame: FrameType | None) -> None:
    """Take the place of the default, which would end the process at once."""
