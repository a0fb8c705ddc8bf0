"""An open page hears of what happens elsewhere, and runs nothing while nothing does."""

import pytest
from playwright.sync_api import Request, WebSocket, expect

from tests.e2e.desk import Desk
from tests.fakes import ScriptedModel
from tests.integration.scenes import make_session
from tests.stack import Stack

LOOK = "/colloquy/api/sessions?"  # the list's, which is on all pages
UNSENT = "What I was about to ask"


def is_look(request: Request) -> bool:
    return LOOK in request.url


@pytest.mark.journey
def test_what_happens_elsewhere_comes_to_a_page_that_nobody_touches(
    desk: Desk, stack: Stack, model: ScriptedModel
) -> None:
    model.steps = lambda messages, body: {"text": "Answered."}
    desk.ask("Tell me")
    desk.sees("Answered.")
    desk.is_idle()
    desk.is_at_rest()

    session_id = make_session(stack)
    stack.client.patch(f"/sessions/{session_id}", json={"title": "Made elsewhere"})
    expect(desk.sidebar.get_by_text("Made elsewhere")).to_be_visible()

    stack.client.patch(f"/sessions/{desk.session_id}", json={"title": "Another name"})
    desk.sees("Another name")


def leave_unsent(desk: Desk, stack: Stack) -> str:
    """Write in a session without sending; give its id."""
    session_id = make_session(stack)
    desk.open(f"?session={session_id}")
    desk.composer.fill(UNSENT)
    return session_id


def test_a_session_that_is_deleted_elsewhere_is_told_and_its_unsent_text_is_kept_for_a_new_chat(
    desk: Desk, stack: Stack
) -> None:
    for is_reloaded in (False, True):
        session_id = leave_unsent(desk, stack)

        stack.client.delete(f"/sessions/{session_id}")
        if is_reloaded:
            desk.page.reload()

        desk.sees("There is no such session, or it was deleted.")
        expect(desk.item(session_id)).to_have_count(0)
        desk.main.get_by_role("link", name="Start a new chat").click()
        expect(desk.composer).to_have_value(UNSENT)
        desk.composer.fill("")

    kept = desk.page.evaluate("Object.keys(sessionStorage)")
    assert [name for name in kept if name.startswith("colloquy-draft-")] == []


@pytest.mark.parametrize("path", ["?session={0}", "inbox"])
def test_a_page_that_nobody_touches_runs_no_script(desk: Desk, stack: Stack, path: str) -> None:
    said: list[str] = []

    def listen(socket: WebSocket) -> None:
        if "_stcore" in socket.url:
            socket.on("framesent", lambda frame: said.append("asked"))
            socket.on("framereceived", lambda frame: said.append("told"))

    session_id = make_session(stack)
    page = desk.context.new_page()
    page.on("websocket", listen)
    page.goto(f"{desk.url}/{path.format(session_id)}")
    desk.page = page
    with page.expect_event("request", is_look):
        desk.is_at_rest()
    before = len(said)

    for _ in range(2):
        with page.expect_event("response", lambda response: LOOK in response.url) as looked:
            pass
        assert looked.value.status == 200

    assert before
    assert said[before:] == []


def test_a_dialog_stays_open_whatever_happens_elsewhere(desk: Desk, stack: Stack) -> None:
    desk.is_at_rest()
    desk.press("Keyboard shortcuts")
    dialog = desk.page.get_by_role("dialog")
    expect(dialog).to_be_visible()

    session_id = make_session(stack, title="Made meanwhile")
    expect(desk.item(session_id)).to_have_count(1)
    desk.is_at_rest()

    expect(dialog).to_be_visible()
    desk.page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(desk.row(session_id)).to_be_visible()
