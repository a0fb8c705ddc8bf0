"""What plans and tasks are called."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from backend.schemas.tasks import Plan, PlanStatus, Task, TaskStatus
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
