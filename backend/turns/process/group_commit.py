"""Group commit: what threads bring at the same time is committed in one transaction."""

import threading
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")
MOST = 64
GATHER_SECONDS = 0.001


class GroupCommit(Generic[T, R]):
    """Who comes first commits at once; who comes meanwhile goes with the next commit.

    The first of those who wait makes it, for all of them, in its own thread. Those who were served
    just now may come again at once, so it waits a moment until as many are there as lately: a
    commit of eight costs little more than one of three.
    """

    def __init__(self, most: int = MOST, gather_seconds: float = GATHER_SECONDS) -> None:
        self._most = most
        self._gather_seconds = gather_seconds
        self._door = threading.Condition()
        self._waiting: list[_Place[T, R]] = []
        self._is_busy = False
        self._lately = 1

    def bring(self, one: T, commit: Callable[[Sequence[T]], Sequence[R]]) -> R:
        """Let it be committed with others; give its outcome, or raise what `commit` has raised.

        `commit` gives an outcome for each, in order.
        """
        place = _Place[T, R](one)
        if not self._leads(place):
            place.wait()
        if not place.is_done:
            self._serve(commit)
        return place.outcome()

    def _serve(self, commit: Callable[[Sequence[T]], Sequence[R]]) -> None:
        group = self._gather()
        try:
            outcomes = commit([place.one for place in group])
            for place, outcome in zip(group, outcomes, strict=True):
                place.result = outcome
        except Exception as error:  # noqa: BLE001  (each of the group hears of it)
            for place in group:
                place.error = error
        self._hand_over(len(group))
        for place in group:
            place.end()

    def _leads(self, place: "_Place[T, R]") -> bool:
        with self._door:
            self._waiting.append(place)
            leads, self._is_busy = not self._is_busy, True
            if self._all_are_here():
                self._door.notify()
        return leads

    def _gather(self) -> list["_Place[T, R]"]:
        with self._door:
            self._door.wait_for(self._all_are_here, self._gather_seconds)
            group, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
        return group

    def _all_are_here(self) -> bool:
        return len(self._waiting) >= self._lately

    def _hand_over(self, served: int) -> None:
        with self._door:
            self._lately = min(served + len(self._waiting), self._most)
            self._is_busy = bool(self._waiting)
            if self._waiting:
                self._waiting[0].wake()


class _Place(Generic[T, R]):
    """One who waits, until it is served or has to serve."""

    def __init__(self, one: T) -> None:
        self.one = one
        self.result: R
        self.error: Exception | None = None
        self.is_done = False
        self._sleep = threading.Lock()
        self._sleep.acquire()

    def wait(self) -> None:
        """Sleep until woken."""
        self._sleep.acquire()

    def wake(self) -> None:
        """End its sleep."""
        self._sleep.release()

    def end(self) -> None:
        """Tell that it is served."""
        self.is_done = True
        self.wake()

    def outcome(self) -> R:
        """What has come of it. Raises what the commit has raised."""
        if self.error is not None:
            raise self.error
        return self.result
