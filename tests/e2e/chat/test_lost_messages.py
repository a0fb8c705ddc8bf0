"""A message that is lost between the browser and the pages comes back to where it was written."""

from playwright.sync_api import WebSocketRoute, expect

from tests.e2e.desk import Desk
from tests.fakes import ScriptedModel
from tests.integration.scenes import texts
from tests.stack import Stack

LOST = "What did the north spend in March?"


def test_a_message_that_is_lost_on_its_way_comes_back_to_the_composer(
    own_desk: Desk, model: ScriptedModel, stack: Stack
):
    model.steps = lambda messages, body: {"text": "An answer."}
    lost: list[bytes] = []

    def lose(wire: WebSocketRoute) -> None:
        pages = wire.connect_to_server()

        def pass_on(frame: str | bytes) -> None:
            if isinstance(frame, bytes) and LOST.encode() in frame and not lost:
                lost.append(frame)
            else:
                pages.send(frame)

        wire.on_message(pass_on)

    own_desk.context.route_web_socket("**/_stcore/stream", lose)
    own_desk.open()

    own_desk.ask(LOST)

    expect(own_desk.composer).to_have_value("")
    expect(own_desk.composer).to_have_value(LOST)
    assert lost
    own_desk.composer.press("Enter")
    own_desk.sees("An answer.")
    assert texts(stack.messages(own_desk.session_id), "user") == [LOST]


def test_a_message_that_has_arrived_does_not_come_back(desk: Desk, model: ScriptedModel):
    model.steps = lambda messages, body: {"text": "An answer."}

    desk.ask("**Which** of them, `north` or south? <b>All</b>")
    desk.sees("An answer.")
    desk.is_idle()

    desk.page.wait_for_timeout(4_500)  # longer than a lost one takes to come back
    expect(desk.composer).to_have_value("")


def test_a_message_does_not_come_back_when_its_key_is_let_go_late(desk: Desk, model: ScriptedModel):
    model.steps = lambda messages, body: {"text": "An answer."}
    desk.composer.fill("Which of them, north or south?")

    desk.page.keyboard.down("Enter")
    desk.sees("An answer.")
    desk.is_idle()
    desk.is_at_rest()
    desk.page.keyboard.up("Enter")

    desk.page.wait_for_timeout(1_000)  # several looks of the script that brings drafts back
    expect(desk.composer).to_have_value("")


def test_a_message_that_was_sent_is_no_draft_even_before_its_key_is_let_go(
    desk: Desk, model: ScriptedModel
):
    model.steps = lambda messages, body: {"text": "An answer."}
    desk.composer.fill("Which of them, north or south?")
    desk.page.keyboard.down("Enter")
    desk.sees("An answer.")
    desk.is_idle()
    session_id = desk.session_id

    desk.new_chat()
    desk.row(session_id).click()

    desk.sees("An answer.")
    desk.is_at_rest()
    desk.page.wait_for_timeout(1_000)  # several looks of the script that brings drafts back
    expect(desk.composer).to_have_value("")
