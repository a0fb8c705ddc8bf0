"""The check of plans: each disagreement is found, said in a line, and mended where that can be."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from backend.types import JSON
from tests.conftest import make_stack
from tests.fakes import ScriptedModel
from tests.integration.plans.team import FAILING, Team, plan, task
from tests.stack import Servers, Stack

COLUMNS = {"plans": "status, finished_at", "tasks": "status, turn_id",
           "turns": "status, waits_for, decided_at"}  # fmt: skip


@dataclass(frozen=True)
class Ended:
    """A plan that has ended: `t1` has succeeded, `t2` has failed. No worker runs any more."""

    stack: Stack
    session_id: str
    turn: str
    plan: str
    tasks: dict[str, JSON]

    def damage(self, *statements: str) -> None:
        """Change rows: {turn}, {plan}, {t1}, {t2} and {t1_turn} are ids."""
        ids = {name: one["id"] for name, one in self.tasks.items()}
        for statement in statements:
            given = {**ids, "t1_turn": self.tasks["t1"]["turn_id"]}
            self.stack.query_and_commit(statement.format(turn=self.turn, plan=self.plan, **given))

    def check(self, *arguments: str) -> tuple[int, list[str]]:
        """Return how the check ends, and what it finds of plans."""
        ended, said = self.stack.run(
            "-m", "backend.operations.integrity", "--session", self.session_id, *arguments
        )
        return ended, [one for one in said.splitlines() if one.startswith(("plan", "task", "turn"))]

    def one(self, sql: str) -> object:
        """Return the one value that a query gives."""
        [(value,)] = self.stack.query(sql.format(turn=self.turn, plan=self.plan))
        return value


@pytest.fixture(scope="module")
def story(
    servers: Servers, model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Ended]:
    with make_stack(servers, model, tmp_path_factory.mktemp("plans")) as stack:
        team = Team(stack, model, lambda name: FAILING if name == "t2" else {"text": "fine"})
        turn = team.ask(plan(task("t1"), task("t2", onFailure="skip")))
        stack.finished(turn["turn_id"])
        (only,) = team.plans(turn["session_id"])
        stack.kill_workers()
        tasks = {one["temp_id"]: one for one in only["tasks"]}
        yield Ended(stack, turn["session_id"], turn["turn_id"], only["id"], tasks)


@pytest.fixture
def ended(story: Ended) -> Iterator[Ended]:
    """The plan, which is as it was after each test."""
    before = {
        table: story.stack.query(f"SELECT id, {columns} FROM {table}")
        for table, columns in COLUMNS.items()
    }
    yield story
    for table, rows in before.items():
        names = COLUMNS[table].split(", ")
        changes = ", ".join(f"{name} = :{name}" for name in names)
        for row in rows:
            values = dict(zip(("id", *names), row, strict=True))
            story.stack.query_and_commit(f"UPDATE {table} SET {changes} WHERE id = :id", **values)


def test_a_plan_that_has_ended_is_as_it_should_be(ended: Ended) -> None:
    assert ended.check() == (0, [])


WAITS = (
    "UPDATE turns SET status = 'waiting', waits_for = 'tasks', decided_at = NULL"
    " WHERE id = '{turn}'"
)
RUNS = "UPDATE plans SET status = 'running', finished_at = NULL WHERE id = '{plan}'"


@pytest.mark.parametrize(
    ("statement", "name", "said"),
    [
        (
            "UPDATE tasks SET turn_id = gen_random_uuid() WHERE id = '{t1}'",
            "t1",
            "it is succeeded, and its turn is gone; proposed: restore the session",
        ),
        (
            "UPDATE tasks SET status = 'running', turn_id = gen_random_uuid() WHERE id = '{t1}'",
            "t1",
            "it is running, and its turn is gone; proposed: start a worker",
        ),
        (
            "UPDATE tasks SET status = 'running' WHERE id = '{t1}'",
            "t1",
            "it is running, and its turn is succeeded; proposed: start a worker",
        ),
        (
            "UPDATE tasks SET status = 'succeeded' WHERE id = '{t2}'",
            "t2",
            "it is succeeded, and its turn is failed; proposed: restore the session",
        ),
        (
            "UPDATE turns SET status = 'running' WHERE id = '{t1_turn}'",
            "t1",
            "it is succeeded, and its turn is running; proposed: restore the session",
        ),
    ],
)
def test_a_task_that_disagrees_with_its_turn_is_found(
    ended: Ended, statement: str, name: str, said: str
) -> None:
    ended.damage(statement)

    status, lines = ended.check("--repair")

    assert status == 1
    assert [one for one in lines if one.startswith(f"task {ended.tasks[name]['id']}: {said}")], (
        lines
    )


def test_a_plan_whose_tasks_are_all_over_goes_on(ended: Ended) -> None:
    ended.damage(RUNS, WAITS)
    _, found = ended.check()
    status, mended = ended.check("--repair")

    line = f"plan {ended.plan}: it is running, and all of its tasks are over"
    assert found == [f"{line}; proposed: let the plan go on"]
    assert (status, mended) == (0, [f"{line}; done: let the plan go on"])
    assert ended.one("SELECT status FROM plans WHERE id = '{plan}'") == "failed"
    assert ended.one("SELECT decided_at FROM turns WHERE id = '{turn}'") is not None


def test_a_plan_whose_turn_has_ended_is_ended(ended: Ended) -> None:
    ended.damage(RUNS, "UPDATE tasks SET status = 'pending' WHERE id = '{t2}'")
    _, found = ended.check()
    status, mended = ended.check("--repair")

    line = f"plan {ended.plan}: it is running, and the turn that waits for it has ended"
    assert found == [f"{line}; proposed: end the plan and its tasks"]
    assert (status, mended) == (0, [f"{line}; done: end the plan and its tasks"])
    assert ended.one("SELECT status FROM plans WHERE id = '{plan}'") == "stopped"


def test_a_task_that_an_ended_plan_has_left_behind_is_ended(ended: Ended) -> None:
    ended.damage("UPDATE tasks SET status = 'asking' WHERE id = '{t2}'")
    _, found = ended.check()
    status, mended = ended.check("--repair")

    line = f"plan {ended.plan}: it is failed, and a task of it has not ended"
    assert found == [f"{line}; proposed: end the plan and its tasks"]
    assert (status, mended) == (0, [f"{line}; done: end the plan and its tasks"])
    left = "SELECT count(*) FROM tasks WHERE plan_id = '{plan}' AND status = 'stopped'"
    assert ended.one(left) == 1


def test_a_turn_that_waits_for_nothing_goes_on(ended: Ended) -> None:
    ended.damage(WAITS)
    _, found = ended.check()
    status, mended = ended.check("--repair")

    line = f"turn {ended.turn}: it waits, and there is nothing that it waits for"
    assert found == [f"{line}; proposed: let the turn go on"]
    assert (status, mended) == (0, [f"{line}; done: let the turn go on"])
    assert ended.one("SELECT decided_at FROM turns WHERE id = '{turn}'") is not None
