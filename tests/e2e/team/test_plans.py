"""A person watches a plan: its picture lives, a failed task asks, each opens and leads back."""

import re
from threading import Event

import pytest
from playwright.sync_api import Locator, expect

from backend.types import JSON
from tests.e2e.desk import Desk
from tests.fakes import ScriptedModel
from tests.integration.plans.team import Team, plan, task
from tests.stack import Stack

FAILING: JSON = {"status": 400}


@pytest.fixture
def mended() -> Event:
    return Event()


@pytest.fixture
def session(stack: Stack, model: ScriptedModel, mended: Event) -> str:
    """A session whose plan waits: one of its tasks has failed, and asks."""

    def reply(temp_id: str) -> JSON:
        is_failing = temp_id == "asks" and not mended.is_set()
        return FAILING if is_failing else {"text": f"All of **{temp_id}** is done."}

    team = Team(stack, model, reply)
    turn = team.ask(plan(task("first"), task("asks", onFailure="ask"), task("last", "asks")))
    return str(turn["session_id"])


def node(desk: Desk, name: str, word: str) -> Locator:
    """A task in the picture of its plan."""
    return desk.main.get_by_role("button", name=f"Task {name}, Analyst, {word}")


@pytest.mark.journey
def test_a_plan_lives_asks_opens_its_tasks_and_goes_on(
    desk: Desk, session: str, mended: Event
) -> None:
    desk.open(f"?session={session}")
    expect(node(desk, "first", "done")).to_be_visible()
    expect(node(desk, "asks", "asks you")).to_be_visible()
    expect(node(desk, "last", "waiting")).to_be_visible()
    desk.sees("Waiting for its tasks…")  # of which none runs
    node(desk, "first", "done").press("Enter")
    desk.sees("All of first is done.")

    mended.set()
    desk.press("Retry")

    expect(node(desk, "last", "done")).to_be_visible()
    desk.sees("3 of 3 tasks done", "all done", "All of first is done.")
    node(desk, "last", "done").click()
    desk.sees("After Task asks")

    desk.main.get_by_role("link", name="Open", exact=True).click()
    desk.sees("work last;", "All of last is done.")
    expect(desk.composer).to_have_count(0)
    desk.main.get_by_role("link", name="A task of").click()
    expect(node(desk, "asks", "done")).to_be_visible()


def test_a_call_of_a_task_is_decided_in_the_session_that_its_plan_opens(
    desk: Desk, stack: Stack, model: ScriptedModel
) -> None:
    rules = [{"tools": "list_sources", "action": "ask", "description": "Lists the sources."}]
    asking = {"tools": ["list_sources"], "middleware": [{"approvals": {"rules": rules}}]}
    call: JSON = {"tools": [{"name": "list_sources", "args": {}}]}
    team = Team(stack, model, lambda _: call, asking)
    turn = team.ask(plan(task("t1")))
    desk.open(f"?session={turn['session_id']}")
    node(desk, "t1", "needs approval").click()

    desk.main.get_by_role("link", name="Open", exact=True).click()
    desk.sees("Waiting for you: 1 call to decide")
    desk.press("Approve")

    desk.sees("approved by you", "done")
    assert stack.finished(turn["turn_id"])["status"] == "succeeded"


@pytest.mark.journey
def test_the_page_of_tasks_has_what_is_active_first_and_hears_of_what_becomes_of_it(
    desk: Desk, session: str, stack: Stack, mended: Event
) -> None:
    desk.open("tasks")
    expect(desk.main.get_by_text("Task asks has failed.").first).to_be_visible()
    expect(desk.main.get_by_text("All of first is done.")).to_have_count(0)
    desk.main.get_by_role("link", name="Open the task").first.click()
    desk.sees("work asks;")

    desk.open("tasks")
    expect(desk.main.get_by_text("Task asks has failed.").first).to_be_visible()
    (shown,) = stack.client.get(f"/sessions/{session}/tasks").json()["items"]
    ids = {one["temp_id"]: one["id"] for one in shown["tasks"]}
    card = desk.main.locator(f".st-key-task-{ids['last']}")
    expect(card).to_contain_text("Waiting")

    mended.set()
    answer = stack.client.post(f"/tasks/{ids['asks']}/decision", json={"decision": "retry"})
    assert answer.status_code == 200, answer.text
    expect(card).to_contain_text("Done")


def test_agents_of_tasks_speak_at_once_on_the_page_of_their_plan_also_after_a_reload(
    desk: Desk, stack: Stack, model: ScriptedModel
) -> None:
    said = {"a": "First I compare the ledgers.", "b": "Meanwhile I draw the chart."}
    goes_on = {name: Event() for name in said}
    team = Team(stack, model, lambda name: {"text": said[name], "until": goes_on[name]})
    turn = team.ask(plan(task("a"), task("b", agent="Writer")))
    stack.wait_for(lambda: team.asked.total() == len(said), "the tasks do not run")
    desk.open(f"?session={turn['session_id']}")
    drafts = desk.drafts
    both = [
        re.compile("Analyst · Task a.*First I compare", re.DOTALL),
        re.compile("Writer · Task b.*Meanwhile I draw", re.DOTALL),
    ]

    for _ in range(2):
        for one in both:
            expect(drafts.filter(has_text=one)).to_have_count(1)
        expect(drafts).to_have_count(2)
        expect(node(desk, "a", "running")).to_be_visible()
        desk.page.reload()

    goes_on["a"].set()
    expect(node(desk, "a", "done")).to_be_visible()
    expect(drafts).to_have_text(both[1:])
    goes_on["b"].set()
    desk.sees("2 of 2 tasks done", "all done")
    desk.is_idle()
