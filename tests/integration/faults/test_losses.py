"""Which turns that keep losing their workers go on, and which are given up."""

import os
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from backend.types import JSON
from tests.chaos.staging.reviving import reviving
from tests.conftest import make_stack
from tests.fakes import ScriptedModel, script
from tests.integration.scenes import check_views
from tests.stack import Servers, Stack

BEFORE_SAVING, BEHIND_SAVING = "step.before_save", "step.after_save"
CALLS = [[{"name": "list_sources", "args": {}, "id": f"call_{n}"}] for n in range(5)]
STEPS = [{"text": f"looking {n}", "tools": calls} for n, calls in enumerate(CALLS)]


@pytest.fixture
def killed_at(servers: Servers, model: ScriptedModel, tmp_path: Path):
    """A stack whose workers die each time they come to a failpoint, and are started again."""

    @contextmanager
    def start(failpoint: str) -> Iterator[Stack]:
        model.clear()
        model.steps = ()
        quick = {"LEASE_SECONDS": "2", "SWEEP_SECONDS": "0.3"}
        stack = make_stack(servers, model, tmp_path, FAILPOINTS=f"{failpoint}=kill", **quick)
        with stack, reviving(stack):
            yield stack

    return start


@pytest.mark.chaos
def test_a_turn_that_saves_a_step_before_each_loss_goes_on_to_its_end(killed_at) -> None:
    with killed_at(BEHIND_SAVING) as stack:
        turn = stack.submit(script(*STEPS, {"text": "done"}))

        ended = stack.finished(turn["turn_id"], seconds=200)

        assert (ended["status"], ended["error"]) == ("succeeded", None)
        assert ended["losses"] == len(STEPS) + 1
        rows, _ = check_views(stack, turn["session_id"])
        lost = [row for row in rows if row["content_type"] == "notice"]
        assert len(lost) == ended["losses"]
        assert "colloquy_hour_lost_workers 6.0" in metrics(stack)


def test_a_turn_that_kills_its_worker_at_the_same_step_is_given_up_after_three(killed_at) -> None:
    with killed_at(BEFORE_SAVING) as stack:
        turn = stack.submit(script({"text": "poison"}))

        ended = stack.finished(turn["turn_id"], seconds=200)

        assert (ended["status"], ended["losses"], ended["attempts"]) == ("failed", 3, 3)
        assert ended["error"]["title"] == "Worker lost"
        assert "3 times in a row at the same step" in ended["error"]["detail"]
        check_views(stack, turn["session_id"])
        assert "colloquy_hour_lost_workers 3.0" in metrics(stack)


@pytest.mark.chaos
def test_a_turn_lost_beside_one_that_ends_workers_is_not_given_up(
    servers: Servers, model: ScriptedModel, tmp_path: Path
) -> None:
    """The third time, each runs alone: in a process that is not the worker's."""
    asked: Counter[str] = Counter()

    def say(messages: list[JSON], _: JSON) -> JSON:
        asked[question := messages[-1]["content"]] += 1
        is_slow = question == "poison" or asked[question] <= 2
        return {"text": "fine", "wait": 600 if is_slow else 0}

    model.clear()
    model.steps = say
    quick = {"LEASE_SECONDS": "60", "SWEEP_SECONDS": "0.3"}
    with make_stack(servers, model, tmp_path, **quick) as stack:
        poison, bystander = (stack.submit(text)["turn_id"] for text in ("poison", "bystander"))
        for times in (1, 2):
            stack.wait_for(
                lambda n=times: asked["poison"] >= n <= asked["bystander"], "not asked", 60
            )
            stack.kill_workers()
            worker = stack.start_worker()
        stack.wait_for(lambda: asked["poison"] == 3, "the suspect does not run", 200)
        process = process_of(stack, poison)
        ended = stack.finished(bystander, seconds=200)
        os.kill(process, signal.SIGKILL)
        given_up = stack.finished(poison, seconds=200)

        assert (ended["status"], ended["losses"]) == ("succeeded", 2)
        assert (given_up["status"], given_up["losses"]) == ("failed", 3)
        assert process != worker.pid
        assert worker.poll() is None


def process_of(stack: Stack, turn_id: str) -> int:
    (row,) = stack.query("SELECT worker FROM turns WHERE id = :id", id=turn_id)
    return int(row.worker.split(".")[-2])


def metrics(stack: Stack) -> str:
    return stack.client.get(f"{stack.base_url}/metrics").text
