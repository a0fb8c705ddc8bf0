"""The page of all tasks: what is active first, by status, of everyone for administrators."""

import pytest

from backend.schemas.conversations.turns import ErrorSummary
from backend.schemas.tasks import TaskStatus
from tests.ui.seen import words

FAILURE = ErrorSummary(title="No answer", detail="It was asked three times.")


@pytest.fixture
def open_tasks(open_page):
    def open_it():
        return open_page().switch_page("app_pages/tasks.py").run()

    return open_it


@pytest.fixture
def plan(store):
    session = store.add_session("Reconcile")
    turn = store.add_turn(session, "Reconcile FI and BPC")
    store.start(turn)
    plan = store.plans.start(turn, {"a": [], "b": ["a"], "c": ["a"]})
    own = store.add_session(parent_id=session.id)
    store.plans.update(plan, "a", TaskStatus.SUCCEEDED, session_id=own.id)
    store.plans.update(plan, "b", TaskStatus.RUNNING, steps=2, tries=1)
    return plan


def names(page):
    return [one.value.strip("*") for one in page.markdown if one.value.startswith("**Task ")]


def is_read_only(page, label):
    (link,) = [one for one in page.get("page_link") if one.proto.label == label]
    return "view=read" in link.proto.query_string


def test_no_task_is_said_in_words(open_tasks):
    page = open_tasks()

    assert not page.exception
    assert "No tasks yet." in words(page)


def test_what_is_active_comes_first_with_its_session(open_tasks, plan):
    page = open_tasks()

    assert names(page) == ["Task b", "Task c", "Task a"]
    assert "Reconciler · step 2" in words(page)
    assert "Reconcile" in [link.proto.label for link in page.get("page_link")]


def test_the_list_is_narrowed_to_a_status(open_tasks, plan):
    page = open_tasks()

    page.button_group(key="tasks-status").set_value(TaskStatus.SUCCEEDED).run()

    assert names(page) == ["Task a"]


def test_tasks_of_others_are_listed_where_an_administrator_asks(open_tasks, plan, store):
    store.sessions[plan.session_id].owner = "ann"
    page = open_tasks()
    assert names(page) == []

    page.toggle(key="tasks-of-everyone").set_value(True).run()

    assert len(names(page)) == 3
    assert is_read_only(page, "Open the task")


def test_one_s_own_task_opens_to_be_decided_in(open_tasks, plan):
    assert not is_read_only(open_tasks(), "Open the task")


def test_a_task_that_asks_is_answered_there(open_tasks, plan, store):
    task = store.plans.update(plan, "c", TaskStatus.ASKING, error=FAILURE, tries=1)
    page = open_tasks()

    next(button for button in page.button if button.key.startswith("skip-")).click().run()

    assert store.plans.decisions == [(task.id, "skip")]


def test_a_task_that_waits_for_an_approval_leads_to_the_inbox(open_tasks, plan, store):
    store.plans.update(plan, "b", TaskStatus.RUNNING, waiting_for_approval=True)
    page = open_tasks()

    assert not page.exception
    assert "**Task b** waits for a decision on a tool call." in words(page)
    assert "Decide in the Inbox" in [link.proto.label for link in page.get("page_link")]
