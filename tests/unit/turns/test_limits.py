"""Limits are checked by all at once: a database that is away refuses each as fast as the first."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import pytest
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm import Session

from backend.auth.scope import LOCAL_USER
from backend.settings import Settings
from backend.turns.process.limits import Limits

SECONDS = 30


def test_who_waits_for_a_database_that_is_away_keeps_nobody_waiting() -> None:
    limits = Limits(Settings(_env_file=None))
    both = threading.Barrier(2, timeout=SECONDS)

    class Away:
        def connection(self, *_: Any) -> None:
            both.wait()
            raise PoolTimeout

        execute = connection

    def check() -> None:
        with pytest.raises(PoolTimeout):
            limits.check(cast(Session, Away()), LOCAL_USER)

    with ThreadPoolExecutor(2) as threads:
        for checked in [threads.submit(check) for _ in range(2)]:
            checked.result(2 * SECONDS)
