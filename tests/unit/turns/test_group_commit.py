"""Group commit: who comes while one commits goes with the next, and hears what became of it."""

import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait

import pytest

from backend.turns.process.group_commit import GroupCommit

SECONDS = 10


class Desk:
    """Commits numbers, when it is let; gives ten times each."""

    def __init__(self, most: int = 64, gather_seconds: float = 0.001) -> None:
        self.group: GroupCommit[int, int] = GroupCommit(most, gather_seconds)
        self.commits: list[list[int]] = []
        self.may_commit = threading.Event()
        self.has_come = threading.Semaphore(0)

    def bring(self, number: int) -> int:
        return self.group.bring(number, self._commit)

    def _commit(self, numbers: Sequence[int]) -> list[int]:
        self.commits.append(list(numbers))
        self.has_come.release()
        assert self.may_commit.wait(SECONDS)
        if 13 in numbers:
            raise ValueError("thirteen")
        return [10 * number for number in numbers]

    def waiting(self, count: int) -> None:
        """Return when so many wait behind the one that commits."""
        while len(self.group._waiting) < count:
            threading.Event().wait(0.001)


def come(desk: Desk, threads: ThreadPoolExecutor, *numbers: int) -> list[Future[int]]:
    """One begins to commit, then the others come, one after the other."""
    first, *others = numbers
    futures = [threads.submit(desk.bring, first)]
    assert desk.has_come.acquire(timeout=SECONDS)
    for place, number in enumerate(others, 1):
        futures.append(threads.submit(desk.bring, number))
        desk.waiting(place)
    return futures


def test_who_comes_while_one_commits_goes_with_the_next() -> None:
    desk = Desk()
    with ThreadPoolExecutor() as threads:
        futures = come(desk, threads, 1, 2, 3, 4)
        desk.may_commit.set()
        outcomes = [future.result(SECONDS) for future in futures]

    assert outcomes == [10, 20, 30, 40]
    assert desk.commits == [[1], [2, 3, 4]]


def test_who_was_served_lately_is_waited_for() -> None:
    desk = Desk(gather_seconds=SECONDS)
    with ThreadPoolExecutor() as threads:
        futures = come(desk, threads, 1, 2)
        desk.may_commit.set()
        assert futures[0].result(SECONDS) == 10
        again = threads.submit(desk.bring, 3)
        wait([*futures, again], SECONDS)

    assert desk.commits == [[1], [2, 3]]


def test_a_group_has_a_largest_size() -> None:
    desk = Desk(most=2)
    with ThreadPoolExecutor() as threads:
        futures = come(desk, threads, 1, 2, 3, 4)
        desk.may_commit.set()
        wait(futures, SECONDS)

    assert desk.commits == [[1], [2, 3], [4]]


def test_a_failed_commit_is_heard_by_its_group_alone() -> None:
    desk = Desk(most=2)
    with ThreadPoolExecutor() as threads:
        futures = come(desk, threads, 1, 2, 13, 4)
        desk.may_commit.set()
        wait(futures, SECONDS)

    for future in futures[1:3]:
        with pytest.raises(ValueError, match="thirteen"):
            future.result()
    assert [futures[0].result(), futures[3].result()] == [10, 40]
