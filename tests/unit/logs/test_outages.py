"""One line for one fault: what is written while a part is away."""

import logging

import pytest

from backend.logs.outages import DATABASE, REDIS, SETTLE_SECONDS, Outages, away, back, while_away


class Log:
    """What passes, and a clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0
        self._filter = Outages(lambda: self.now)

    def passes(self, extra=None, name="colloquy.any") -> logging.LogRecord | None:
        logger = logging.getLogger(name)
        record = logger.makeRecord(name, logging.INFO, "f", 1, "m", (), None, None, extra)
        return record if self._filter.filter(record) else None


@pytest.fixture
def log() -> Log:
    return Log()


def test_it_is_said_once_that_a_part_is_away_and_once_that_it_is_back(log):
    assert log.passes(away(DATABASE))
    assert not log.passes(away(DATABASE))
    assert not log.passes(while_away(DATABASE))
    log.now = 12.34
    told = log.passes(back(DATABASE))

    assert (told.seconds, told.left_out) == (12.3, 2)
    assert not log.passes(back(DATABASE))


def test_what_has_nothing_to_do_with_it_is_written(log):
    log.passes(away(DATABASE))

    assert log.passes()
    assert log.passes(while_away(REDIS))
    assert log.passes(name="rq.worker")
    log.passes(away(REDIS))
    assert not log.passes(name="rq.worker")


def test_what_fails_while_nothing_is_away_is_written(log):
    assert log.passes(while_away(DATABASE))
    assert not log.passes(back(DATABASE))


def test_what_had_waited_for_it_says_nothing_anew_and_the_next_outage_is_said(log):
    log.passes(away(REDIS))
    log.passes(back(REDIS))

    assert not log.passes(while_away(REDIS))
    assert log.passes(away(REDIS))
    assert log.passes(back(REDIS)).left_out == 0
    log.now = SETTLE_SECONDS
    assert log.passes(while_away(REDIS))
