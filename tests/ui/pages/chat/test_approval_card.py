"""Calls that wait for a person, in the chat: shown, decided, and what came of it."""

from datetime import UTC, datetime

import pytest

from backend.schemas.approvals import Decision, DecisionType, EditedAction
from backend.schemas.conversations.turns import TurnStatus
from colloquy_kit.messages.kinds import ContentType, MessageStatus
from tests.ui.seen import words
from ui.features.approvals.fields import JSON_FIELD
from ui.features.approvals.view import from_approval, from_row

ANN = {"to": "ann@example.com", "amount": 12}


@pytest.fixture
def session(store):
    return store.add_session("Orders")


@pytest.fixture
def turn(store, session):
    turn = store.add_turn(session, "Order it")
    store.start(turn)
    return turn


@pytest.fixture
def approval(store, turn):
    return store.approvals.ask(turn, ANN)


def press(page, approval, name):
    return page.button(key=f"call-{name}-{approval.id}").click().run()


def argument(page, approval, number):
    kinds = (page.text_area, page.text_input)
    key = f"call-argument{number}-{approval.id}"
    return next(one for kind in kinds for one in kind if one.key == key)


def labels(page):
    return [button.label for button in page.button]


def test_a_call_that_waits_is_shown_as_it_would_run(open_page, session, approval):
    page = open_page(session=session.id)

    assert not page.exception
    shown = words(page)
    assert "Runs send" in shown and "ann@example.com" in shown and "12" in shown
    assert "Waiting for you: 1 call to decide" in shown
    assert {"Approve", "Edit", "Reject", "Respond"} <= set(labels(page))
    assert "shimmer" not in shown


def test_only_what_is_allowed_is_offered(open_page, store, session, turn):
    store.approvals.ask(turn, ANN, allowed_decisions=["approve", "reject"])

    page = open_page(session=session.id)

    ways = [b.key for b in page.button if b.key and b.key.startswith("call-")]
    assert [key.split("-")[1] for key in ways] == ["approve", "reject"]


def test_approving_runs_it_and_says_who_did(open_page, store, session, approval):
    page = open_page(session=session.id)

    press(page, approval, "approve")

    (decision,) = store.approvals.decisions
    assert decision.type is DecisionType.APPROVE and not decision.remember
    assert decision.arguments_hash == approval.arguments_hash
    assert "approved by you" in page.expander[0].label
    assert "Approve" not in labels(page)


def test_approving_can_allow_the_tool_for_the_conversation(open_page, store, session, approval):
    page = open_page(session=session.id)
    page.checkbox(key=f"call-remember-{approval.id}").check().run()

    press(page, approval, "approve")

    assert store.approvals.allowed == {session.id: ["send_mail"]}


def test_an_edit_opens_with_what_was_asked_and_shows_before_and_after(
    open_page, store, session, approval
):
    page = press(open_page(session=session.id), approval, "edit")
    assert argument(page, approval, 0).value == "ann@example.com"
    argument(page, approval, 0).set_value("bob@example.com").run()

    press(page, approval, "send")

    (decision,) = store.approvals.decisions
    assert decision.edited_action.args == {"to": "bob@example.com", "amount": 12}
    card = page.expander[0]
    assert "edited by you" in card.label and card.proto.expanded
    assert "bob" in card.label and "ann" not in card.label
    assert [text.value for text in page.text][-2:] == ["ann@example.com", "→ bob@example.com"]


def test_a_number_that_is_none_is_said_at_its_field_and_nothing_is_sent(
    open_page, store, session, approval
):
    page = press(open_page(session=session.id), approval, "edit")
    argument(page, approval, 0).set_value("bob@example.com").run()
    argument(page, approval, 1).set_value("a dozen").run()

    press(page, approval, "send")

    assert "Enter a whole number" in words(page)
    assert store.approvals.decisions == []
    assert argument(page, approval, 0).value == "bob@example.com"
    assert argument(page, approval, 1).value == "a dozen"


def test_arguments_that_are_no_simple_fields_are_edited_as_json(open_page, store, session, turn):
    nested = {"filter": {"id": [4711]}}
    approval = store.approvals.ask(turn, nested, schema={"type": "object"})
    page = press(open_page(session=session.id), approval, "edit")
    area = page.text_area(key=f"call-{JSON_FIELD}-{approval.id}")
    page = press(area.set_value('{"filter": ').run(), approval, "send")
    assert "Not valid JSON" in words(page) and store.approvals.decisions == []

    area = page.text_area(key=f"call-{JSON_FIELD}-{approval.id}")
    press(area.set_value('{"filter": {"id": [1]}}').run(), approval, "send")

    assert store.approvals.decisions[0].edited_action.args == {"filter": {"id": [1]}}


def test_a_reason_goes_with_a_rejection_and_is_shown(open_page, store, session, approval):
    page = press(open_page(session=session.id), approval, "reject")
    page.text_area(key=f"call-reason-{approval.id}").set_value("not to her").run()

    press(page, approval, "send")

    assert store.approvals.decisions[0].message == "not to her"
    assert "rejected by you" in page.expander[0].label
    assert page.expander[0].icon == ":material/block:"
    assert "not to her" in words(page)


def test_an_answer_needs_words(open_page, store, session, approval):
    page = press(open_page(session=session.id), approval, "respond")
    press(page, approval, "send")
    assert "Enter the result for the agent" in words(page) and store.approvals.decisions == []

    page.text_area(key=f"call-answer-{approval.id}").set_value("sent by hand").run()
    press(page, approval, "send")

    assert store.approvals.decisions[0].message == "sent by hand"


def test_what_was_written_outlives_an_error_and_another_page(open_page, store, session, approval):
    page = press(open_page(session=session.id), approval, "reject")
    page.text_area(key=f"call-reason-{approval.id}").set_value("not to her").run()
    store.approvals.items[approval.id] = approval.model_copy(update={"arguments_hash": "other"})
    press(page, approval, "send")
    assert "These are not the arguments" in words(page)

    page.switch_page("app_pages/inbox.py").run()

    assert page.text_area(key=f"call-reason-{approval.id}").value == "not to her"


def test_who_comes_too_late_is_told_and_sees_what_was_decided(open_page, store, session, approval):
    page = press(open_page(session=session.id), approval, "reject")
    page.text_area(key=f"call-reason-{approval.id}").set_value("no").run()
    store.approvals.decide(approval, Decision(type=DecisionType.APPROVE), by="ada")

    # The page that was drawn before still has its button; Streamlit runs its callback first.
    press(page, approval, "send")

    assert len(store.approvals.decisions) == 1
    assert "ada has already decided" in words(page)
    assert "approved by ada" in page.expander[0].label


def test_several_calls_are_decided_one_by_one(open_page, store, session, turn):
    first, second = (store.approvals.ask(turn, {"to": name}) for name in ("ann", "bob"))
    page = open_page(session=session.id)
    assert "Waiting for you: 2 calls to decide" in words(page)

    press(page, second, "approve")

    assert page.expander[0].icon == ":material/schedule:"
    assert "running" not in page.expander[0].label
    assert "Waiting for you: 1 call to decide" in words(page)
    assert turn.status is TurnStatus.WAITING
    press(page, first, "approve")
    assert turn.status is TurnStatus.SUCCEEDED


def test_all_are_approved_with_one_click(open_page, store, session, turn):
    for name in ("ann", "bob"):
        store.approvals.ask(turn, {"to": name})
    page = open_page(session=session.id)

    page.button(key=f"approve-all-{turn.id}").click().run()

    assert [one.type for one in store.approvals.decisions] == [DecisionType.APPROVE] * 2
    assert turn.status is TurnStatus.SUCCEEDED


def test_who_only_reads_decides_nothing(open_page, session, approval):
    page = open_page(session=session.id, view="read")

    assert "ann@example.com" in words(page)
    assert "Waiting for its owner: 1 call to decide" in words(page)
    assert not [b for b in page.button if b.key and b.key.startswith("call-")]


def test_a_question_whose_call_is_on_an_earlier_page_stands_alone(open_page, store, session, turn):
    approval = store.approvals.ask(turn, ANN)
    for row in list(store.rows[session.id]):
        if row.content_type is ContentType.TOOL_CALL:
            store.rows[session.id].remove(row)

    assert "Approve" in labels(open_page(session=session.id))
    assert approval.id in store.approvals.items


@pytest.mark.parametrize(
    ("outcome", "said"),
    [("expired", "without a decision"), ("withdrawn", "withdrawn at")],
)
def test_calls_that_nobody_decided_say_why(open_page, store, session, turn, outcome, said):
    store.approvals.ask(turn, ANN)
    row = store.rows[session.id][-1]
    row.status = MessageStatus.STOPPED
    row.metadata = {"outcome": outcome, "decided_at": datetime.now(UTC).isoformat()}
    store.finish(turn)

    page = open_page(session=session.id)

    assert said in page.expander[0].label


def test_signs_that_are_not_seen_are_written_out(open_page, store, session, turn):
    store.approvals.ask(turn, {"to": "ann\u202egnp.exe\u200b"})

    page = open_page(session=session.id)

    assert '"ann\\u202egnp.exe\\u200b"' in [code.value for code in page.code]


def test_changes_name_what_came_and_what_went(store, turn):
    approval = store.approvals.ask(turn, ANN)
    action = EditedAction(name="send_mail", args={"to": "bob", "urgent": True})
    store.approvals.decide(approval, Decision(type=DecisionType.EDIT, edited_action=action))

    call = from_approval(approval)

    assert [change[0] for change in call.changes] == ["to", "amount", "urgent"]
    assert from_row(store.rows[turn.session_id][-1]) == call
