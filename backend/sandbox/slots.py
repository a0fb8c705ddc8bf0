"""Bounds how much runs concurrently: first come, first served, and no key takes all slots."""

from collections import Counter, deque
from concurrent.futures import Future
from threading import Lock


class Slots:
    """Slots for work; one key, such as a session, may take at most `most_of_one` of them."""

    def __init__(self, most: int, most_of_one: int) -> None:
        self._free = most
        self._most_of_one = most_of_one
        self._held: Counter[str] = Counter()
        self._waiting: deque[tuple[str, Future[None]]] = deque()
        self._lock = Lock()

    def take(self, key: str) -> "Future[None]":
        """Return a future that is done once a slot is taken; an empty key has no bound."""
        place: Future[None] = Future()
        with self._lock:
            self._waiting.append((key, place))
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

    def _grant(self) -> None:
        granted = []
        with self._lock:
            for key, place in tuple(self._waiting):
                if not self._free:
                    break
                if key and self._held[key] >= self._most_of_one:
                    continue
                self._waiting.remove((key, place))
                if place.set_running_or_notify_cancel():
                    self._free -= 1
                    self._held[key] += 1
                    granted.append(place)
        for place in granted:
            place.set_result(None)
