"""How plans are drawn: places, words, and which call has started which plan."""

from datetime import UTC, datetime
from itertools import pairwise
from uuid import uuid4

import pytest

from backend.schemas.tasks import Plan, PlanStatus, Task, TaskStatus
from ui.features.plans.layout import HEIGHT, WIDTH, lay_out
from ui.features.plans.matching import Call, match_plans
from ui.features.plans.words import LOOKS, answer_text, plan_words, task_words

NOW = datetime(2026, 11, 23, 5, tzinfo=UTC)


def task(temp_id, *before, status=TaskStatus.PENDING, **fields):
    values = {
        "id": uuid4(), "plan_id": uuid4(), "parent_id": uuid4(), "temp_id": temp_id,
        "name": temp_id, "description": "", "agent": "Reconciler", "depends_on": list(before),
        "input": None, "on_failure": "retry", "status": status, "tries": 1, "session_id": None,
        "turn_id": None, "output": None, "error": None, "started_at": None, "finished_at": None,
    } | fields  # fmt: skip
    return Task(**values)


def plan(*tasks, turn_id=None, call_id="call_1", kind="plan"):
    return Plan(
        id=uuid4(), session_id=uuid4(), turn_id=turn_id or uuid4(), call_id=call_id, kind=kind,
        name="Reconcile", reasoning="", status=PlanStatus.RUNNING, tasks=list(tasks),
        created_at=NOW, finished_at=None,
    )  # fmt: skip


def test_each_task_stands_right_of_all_that_it_depends_on():
    tasks = [task("d", "b", "c"), task("a"), task("b", "a"), task("c", "a"), task("e", "a", "d")]

    picture = lay_out(tasks)

    for one in tasks:
        for before in one.depends_on:
            assert picture.places[before][0] + WIDTH < picture.places[one.temp_id][0]
    assert len(picture.lines) == 6


def test_no_two_tasks_overlap_and_all_are_in_the_picture():
    tasks = [task("root"), *(task(f"t{n}", "root") for n in range(50))]
    tasks += [task(f"u{n}", f"t{n % 50}") for n in range(149)]

    picture = lay_out(tasks)

    assert len(picture.places) == 200
    columns = {}
    for x, y in picture.places.values():
        columns.setdefault(x, []).append(y)
        assert x + WIDTH < picture.width
        assert y + HEIGHT < picture.height
    assert all(low + HEIGHT < high for ys in columns.values() for low, high in pairwise(sorted(ys)))


@pytest.mark.parametrize(
    "tasks", [[], [task("a", "a")], [task("a", "b"), task("b", "a")], [task("a", "unknown")]]
)
def test_what_no_plan_may_be_is_drawn_all_the_same(tasks):
    assert len(lay_out(tasks).places) == len(tasks)


def test_a_plan_says_how_far_it_is():
    done, asks = task("a", status=TaskStatus.SUCCEEDED), task("b", status=TaskStatus.ASKING)

    assert plan_words(plan(done, asks, task("c"))) == "1 of 3 tasks done · 1 waiting · 1 asks you"
    assert plan_words(plan(done)) == "1 of 1 task done"


def test_a_task_says_how_far_it_is():
    running = task("a", status=TaskStatus.RUNNING, steps=3, tries=2, started_at=NOW)

    assert task_words(running, NOW) == "Reconciler · running · step 3 · try 2 · 0.0 s"


def test_every_status_has_a_word_and_a_sign_of_its_own():
    assert set(LOOKS) == set(TaskStatus)
    assert len({look.word for look in LOOKS.values()}) == len(LOOKS)
    assert len({look.sign for look in LOOKS.values()}) == len(LOOKS)


@pytest.mark.parametrize(
    ("output", "text"),
    [("said", "said"), ({"text": "said"}, "said"), ({"rows": [1]}, None), ([1], None)],
)
def test_what_a_task_has_said_is_found_in_its_output(output, text):
    assert answer_text(output) == text


def test_each_call_has_the_plan_that_it_started():
    turn_id, other = uuid4(), uuid4()
    first, second = plan(turn_id=turn_id, call_id="1"), plan(turn_id=turn_id, call_id="2")
    agent = plan(turn_id=turn_id, call_id="3", kind="sub_agent")
    elsewhere = plan(turn_id=other, call_id="2")
    calls = [
        Call(uuid4(), turn_id, "run_plan", "0", is_error=True),
        Call(uuid4(), turn_id, "run_plan", "2"),
        Call(uuid4(), turn_id, "run_plan", "1"),
        Call(uuid4(), turn_id, "call_agent", "3", is_error=True),
        Call(uuid4(), None, "run_plan", "1"),
    ]

    found = match_plans(calls, [elsewhere, first, second, agent])

    assert found == {calls[1].row_id: second, calls[2].row_id: first, calls[3].row_id: agent}


def test_calls_that_a_model_names_alike_have_their_plans_in_order():
    turn_id = uuid4()
    first, second = (plan(turn_id=turn_id, call_id="call_0") for _ in range(2))
    refused, *ran = (
        Call(uuid4(), turn_id, "run_plan", "call_0", is_error=number == 0) for number in range(3)
    )

    found = match_plans([refused, *ran], [first, second])

    assert found == {ran[0].row_id: first, ran[1].row_id: second}
