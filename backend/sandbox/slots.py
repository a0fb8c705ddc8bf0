"""Bounds how much runs concurrently, and divides it fairly among those who ask."""

from collections import Counter
from concurrent.futures import Future
from threading import Lock


class Slots:
    """Slots for work; one key, such as a person, may take at most `most_of_one` of them.

    Among the waiters, one whose key holds the fewest slots comes first. The last `spare` free slots
    are for keys that hold none, so that nobody has to wait for what a few others have begun.
    """

    def __init__(self, most: int, most_of_one: int, spare: int = 0) -> None:
        self._free = most
        self._most_of_one = most_of_one
        self._spare = spare
        self._held: Counter[str] = Counter()
        self._waiting: dict[Future[None], str] = {}  # in the order of asking
        self._lock = Lock()

    def take(self, key: str) -> "Future[None]":
        """Return a future that is done once a slot is taken."""
        place: Future[None] = Future()
        with self._lock:
            self._waiting[place] = key
        self._grant()
        return place

    def give_back(self, key: str) -> None:
        """Free a slot for the next waiter that may take it."""
        with self._lock:
            self._free += 1
            self._held[key] -= 1
            if not self._held[key]:
                del self._held[key]
        self._grant()

    def leave(self, key: str, place: "Future[None]") -> None:
        """Give up a slot that is taken or waited for."""
        if not place.cancel():
            self.give_back(key)
            return
        with self._lock:
            self._waiting.pop(place, None)

    def _grant(self) -> None:
        granted = []
        with self._lock:
            while place := self._next():
                key = self._waiting.pop(place)
                if place.set_running_or_notify_cancel():
                    self._free -= 1
                    self._held[key] += 1
                    granted.append(place)
        for place in granted:
            place.set_result(None)

    def _next(self) -> "Future[None] | None":
        """Return the waiter that comes first among those that may take a slot now."""
        most = self._most_of_one if self._free > self._spare else 1
        may = [place for place, key in self._waiting.items() if self._held[key] < most]
        if not self._free or not may:
            return None
        return min(may, key=lambda place: self._held[self._waiting[place]])
