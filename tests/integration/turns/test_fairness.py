"""When more turns wait than can run, each runs once, and nobody waits for all of another's."""

import re
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from backend.types import JSON
from tests.conftest import make_stack
from tests.fakes import ScriptedModel
from tests.integration.people.people import Accounts, accounts_of
from tests.stack import Servers, Stack

MANY = 120
AT_ONCE = 50  # the default of USER_TURNS_AT_ONCE
LATER = {"Prefer": "respond-async"}
STARTED = "SELECT count(*) FROM turns WHERE owner_id = :owner AND started_at IS NOT NULL"
ENDED = "SELECT count(*) FROM turns WHERE owner_id = :owner AND finished_at IS NOT NULL"


@pytest.mark.chaos
def test_a_backlog_runs_to_its_end_with_one_attempt_each(
    stack: Stack, model: ScriptedModel
) -> None:
    model.steps = [{"text": "done", "delay": 0.02}]

    turns = [stack.submit(f"message {number}") for number in range(40)]

    ended = [stack.finished(turn["turn_id"]) for turn in turns]
    assert {turn["status"] for turn in ended} == {"succeeded"}
    assert {turn["attempts"] for turn in ended} == {1}


class Crowd:
    """A person with many turns, whose answers wait until they are let go on; and another person."""

    def __init__(self, stack: Stack, model: ScriptedModel, accounts: Accounts) -> None:
        self._stack = stack
        self.goes_on: dict[str, threading.Event] = defaultdict(threading.Event)
        self.owner, self._many = accounts.person()
        _, self._other = accounts.person()
        model.steps = self._answer
        for number in range(MANY):
            send(self._many, f"many {number}.")

    def _answer(self, messages: list[JSON], _: JSON) -> JSON:
        found = re.search(r"many \d+\.", str(messages[-1]["content"]))
        return {"text": "late", "until": self.goes_on[found[0]]} if found else {"text": "at once"}

    def asks(self) -> str:
        """Let the other person ask one thing; give the turn."""
        return send(self._other, "one thing")

    def begins(self, times: int) -> None:
        """Wait until so many of the many have asked the model; no more of them have begun."""
        self._stack.wait_for(lambda: len(self.goes_on) == times, f"not {times} turns run")
        assert self.started == times

    @property
    def started(self) -> int:
        return self._stack.query(STARTED, owner=self.owner)[0][0]

    @property
    def ended(self) -> int:
        return self._stack.query(ENDED, owner=self.owner)[0][0]


def send(person: TestClient, message: str) -> str:
    answer = person.post("/chat", json={"message": message}, headers=LATER)
    assert answer.status_code == 202, answer.text
    return answer.json()["turn_id"]


@contextmanager
def crowd_of(
    servers: Servers, model: ScriptedModel, folder: Path, workers: int, turns: int
) -> Iterator[tuple[Stack, Crowd]]:
    with make_stack(servers, model, folder, WORKER_TURNS=str(turns)) as stack:
        for _ in range(workers - 1):
            stack.start_worker()
        with accounts_of(stack, folder / "accounts") as accounts:
            yield stack, Crowd(stack, model, accounts)


def test_where_there_is_room_one_waits_for_none_of_anothers_many_turns(
    servers: Servers, model: ScriptedModel, tmp_path: Path
) -> None:
    with crowd_of(servers, model, tmp_path, workers=2, turns=30) as (stack, crowd):
        crowd.begins(AT_ONCE)

        turn = stack.finished(crowd.asks())

        assert (turn["status"], turn["attempts"]) == ("succeeded", 1)
        assert (crowd.started, crowd.ended) == (AT_ONCE, 0)


def test_where_all_threads_are_taken_one_gets_the_next_that_is_free(
    servers: Servers, model: ScriptedModel, tmp_path: Path
) -> None:
    with crowd_of(servers, model, tmp_path, workers=2, turns=4) as (stack, crowd):
        crowd.begins(8)
        asked = crowd.asks()

        next(iter(crowd.goes_on.values())).set()
        turn = stack.finished(asked)

        before = stack.query(
            f"{STARTED} AND started_at < (SELECT started_at FROM turns WHERE id = :id)",
            owner=crowd.owner,
            id=asked,
        )
        assert (turn["status"], turn["attempts"]) == ("succeeded", 1)
        assert before[0][0] == 8
