"""Plans in the chat: drawn in place of their call, with what asks a person."""

import pytest

from backend.schemas.artifacts import ArtifactKind
from backend.schemas.conversations.turns import ErrorSummary, TurnStatus
from backend.schemas.tasks import TaskStatus
from colloquy_kit.messages.kinds import ContentType, MessageType
from tests.ui.seen import html, words

FAILURE = ErrorSummary(title="The model gave no answer", detail="It was asked three times.")


@pytest.fixture
def turn(store):
    turn = store.add_turn(store.add_session("Reconcile"), "Reconcile FI and BPC")
    store.start(turn)
    return turn


def test_a_plan_stands_in_place_of_its_call(open_page, store, turn):
    plan = store.plans.start(turn, {"a": [], "b": ["a"]})
    store.plans.update(plan, "a", TaskStatus.SUCCEEDED)

    page = open_page(session=turn.session_id)

    assert not page.exception
    assert "**Reconcile FI and BPC**" in words(page)
    assert "1 of 2 tasks done · 1 waiting" in words(page)
    assert "run\\_plan" not in words(page)


def test_a_failed_task_asks_and_is_answered_once(open_page, store, turn):
    plan = store.plans.start(turn, {"a": [], "b": ["a"]})
    task = store.plans.update(plan, "a", TaskStatus.ASKING, error=FAILURE, tries=1)
    page = open_page(session=turn.session_id)
    assert "**Task a** has failed." in words(page)
    assert "It was asked three times." in words(page).replace("\\", "")

    retry = next(button for button in page.button if button.key.startswith("retry-ask"))
    retry.click().run()

    assert store.plans.decisions == [(task.id, "retry")]
    assert "**Task a** has failed." not in words(page)


def test_the_call_of_a_sub_agent_is_one_line_with_its_answer(open_page, store, turn):
    plan = store.plans.start(turn, {"a": []}, kind="sub_agent")
    output = {"text": "All is **well**."}
    store.plans.update(plan, "a", TaskStatus.SUCCEEDED, output=output)

    page = open_page(session=turn.session_id)

    assert any("**Reconciler** · Does a" in one.label for one in page.expander)
    assert any("All is <strong>well</strong>." in part for part in html(page))


def test_a_task_s_answer_says_that_a_newer_version_exists(open_page, store, turn):
    session = store.sessions[turn.session_id]
    payload = store.artifacts.add(session, ArtifactKind.JSON, "Payload", {"value": 1})
    store.artifacts.revise(payload, {"value": 2})
    plan = store.plans.start(turn, {"a": []}, kind="sub_agent")
    output = {"text": f"It is [1](artifact:{payload.id}@1)."}
    store.plans.update(plan, "a", TaskStatus.SUCCEEDED, output=output)

    page = open_page(session=turn.session_id)

    assert any('"Version 1; a newer version exists"' in part for part in html(page))


def test_whoever_only_reads_decides_nothing(open_page, store, turn):
    plan = store.plans.start(turn, {"a": []})
    store.plans.update(plan, "a", TaskStatus.ASKING, error=FAILURE)

    page = open_page(session=turn.session_id, view="read")

    assert "The owner decides how to continue." in words(page)
    assert not [button for button in page.button if button.key.startswith("retry-ask")]


def test_a_call_without_a_plan_is_drawn_as_those_of_all_tools(open_page, store, turn):
    store.plans.start(turn, {"a": []})
    store.plans.plans.clear()

    page = open_page(session=turn.session_id)

    assert not page.exception
    assert any("run" in one.label for one in page.expander)


def test_the_session_of_a_task_leads_back_to_its_plan_and_takes_no_message(open_page, store, turn):
    child = store.add_session("Compare", parent_id=turn.session_id)
    failed = store.add_turn(child, "Compare FI and BPC")
    store.start(failed)
    store.add_row(child, "system", "error", {"title": "It failed", "detail": "So."}, failed)
    store.finish(failed, TurnStatus.FAILED)

    page = open_page(session=child.id)

    links = [link.proto.label for link in page.get("page_link")]
    assert "A task of **Reconcile**" in links
    assert not page.chat_input
    offered = {button.label for button in page.button}
    assert not offered & {"Retry", "Edit", "Another answer"}


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ('{"taskComplete": false, "message": "No <b>ledger</b>."}', "**Not done.** No <b>ledger"),
        ('{"taskComplete": false}', "No reason was given."),
        ('{"taskComplete": true, "message": "x"}', '{"taskComplete": true'),
        ('{"taskComplete": fal', '{"taskComplete": fal'),
    ],
)
def test_an_answer_that_a_task_is_not_done_is_said_in_words(open_page, store, answer, shown):
    session = store.add_session("Task")
    turn = store.add_turn(session, "Compare")
    store.add_row(session, MessageType.ASSISTANT, ContentType.TEXT, {"text": answer}, turn)
    store.finish(turn)

    assert shown in words(open_page(session=session.id)).replace("\\", "")
